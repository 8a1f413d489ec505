/**
 * Reads the files of a test case, such as the output of `ndscatter capture`. A test case contains one model
 * `node.onnx`, a `.npy` file named after each input, and the runtime's output `runtime.0.npy` if the runtime succeeded.
 */

import { resolve } from "ndscatter/operators";
import { lastOf, MODEL, TENSOR } from "./file-kinds.ts";
import {
  fromFile,
  isZerosRemark,
  zerosRemark,
  type FileChoice,
  type FileContent,
} from "./from-file.ts";
import { assigned, withAssignment, type NamedTensor } from "./named.ts";
import type { NamedFile } from "./npz.ts";
import type { TensorText } from "../values/state.ts";

/** The name of the runtime's first output. All operators on the page have one output. */
const RUNTIME = "runtime.0";

/**
 * Returns the model's nodes, with tensors from the files as inputs. The node of a single-node model also gets the
 * runtime's output. Unused files are named in the remarks. The function never throws, even if the files are damaged.
 */
export async function fromCase(files: readonly NamedFile[]): Promise<FileContent> {
  const model = files.find(({ name }) => MODEL.test(name));
  if (model === undefined) return { error: "the files do not include a model" };
  const { tensors, remarks } = await tensorsOf(files);
  const given = new CaseTensors(tensors, lastOf(model.name).replace(MODEL, ""));
  const content = await fromFile(lastOf(model.name), model.bytes, files, given);
  if ("error" in content) return content;
  const isOnly = content.choices.length === 1;
  const choices = content.choices.map((choice) => {
    // A test case has a single node, which produced the runtime's output.
    if (!isOnly || choice.kind !== "node") return choice;
    const filled = given.rest(choice);
    const actual = given.output();
    return actual === undefined ? filled : { ...filled, actual };
  });
  for (const name of given.unused()) {
    remarks.push(
      given.inputs.includes(name)
        ? `None of these nodes reads the model's input ${name} directly.`
        : `No node has an input ${name}, so the file is not used.`,
    );
  }
  return { choices, remarks: [...remarks, ...content.remarks] };
}

type NodeChoice = Extract<FileChoice, { kind: "node" }>;

/**
 * Returns the file names, without extensions, that the tensor of a model's value may have. `number` is the position
 * among the model's inputs, or -1. `stem` is the file name of the model without its extension.
 */
export function spellingsOf(name: string, number: number, stem: string): readonly string[] {
  const safe = name.replaceAll(/[^\w.-]/g, "_");
  const own = [name, safe, `${stem}.${name}`, `${stem}_${name}`, `${stem}-${name}`];
  return number === -1 ? own : [...own, `input_${number}`];
}

/** The test case's tensors, by the names of the model's values. This class records which tensors were used. */
class CaseTensors {
  readonly tensors: readonly NamedTensor[];
  readonly stem: string;
  readonly used = new Set<NamedTensor>();
  inputs: readonly string[] = [];

  constructor(tensors: readonly NamedTensor[], stem: string) {
    this.tensors = tensors;
    this.stem = stem;
  }

  /** Receives the names of the model's inputs in order, because `input_0.pb` belongs to the first input. */
  begin(inputs: readonly string[]): void {
    this.inputs = inputs;
  }

  get(name: string): TensorText | undefined {
    const spellings = spellingsOf(name, this.inputs.indexOf(name), this.stem);
    return this.take((one) => spellings.includes(one.name));
  }

  /** Returns the runtime's output, written by `ndscatter capture` or part of an ONNX test folder. */
  output(): TensorText | undefined {
    return this.take(isOutput);
  }

  take(isIt: (one: NamedTensor) => boolean): TensorText | undefined {
    const found = this.tensors.find(isIt);
    if (found !== undefined) this.used.add(found);
    return found?.input;
  }

  /**
   * Returns the node with the remaining tensors as its unknown inputs, or the same node if names and shapes are
   * ambiguous.
   */
  rest(choice: NodeChoice): NodeChoice {
    const left = this.tensors.filter((one) => !this.used.has(one) && !isOutput(one));
    const { open = [] } = choice;
    if (left.length === 0 || open.length === 0) return choice;
    const { assignment, isSure } = assigned(left, choice.state, open);
    if (!isSure) return choice;
    for (const one of left) this.used.add(one);
    const names = choice.state.inputs.map((_, position) => assignment[position] ?? null);
    const still = open.filter((position) => names[position] === null);
    const { inputs } = resolve(choice.state);
    const made = withAssignment(choice.state, left, assignment);
    return {
      ...choice,
      state: made.state,
      open: still,
      remarks: [
        ...made.remarks,
        ...choice.remarks.filter((one) => !isZerosRemark(one)),
        ...(still.length === 0
          ? []
          : [zerosRemark(still.map((position) => inputs[position].name))]),
      ],
    };
  }

  unused(): string[] {
    return this.tensors.filter((one) => !this.used.has(one)).map(({ name }) => name);
  }
}

const isOutput = ({ name }: NamedTensor): boolean => name === RUNTIME || name === "output_0";

/** Returns the files' tensors, named without extensions. */
export async function tensorsOf(
  files: readonly NamedFile[],
): Promise<{ tensors: NamedTensor[]; remarks: string[] }> {
  const tensors: NamedTensor[] = [];
  const remarks: string[] = [];
  const some = files.filter(({ name }) => TENSOR.test(name));
  const read = await Promise.all(some.map(({ name, bytes }) => fromFile(lastOf(name), bytes)));
  for (const [position, found] of read.entries()) {
    const name = lastOf(some[position].name);
    if ("error" in found) remarks.push(`${name} cannot be read: ${found.error}`);
    else {
      const [choice] = found.choices;
      if (choice.kind === "tensor")
        tensors.push({ name: name.replace(TENSOR, ""), input: choice.input });
    }
  }
  return { tensors, remarks };
}
