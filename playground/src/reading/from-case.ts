/**
 * Several files at once: a case written by `ndscatter capture`. A case is a folder with one model, `node.onnx`, a
 * `.npy` for each input, named after the input, and the runtime's output `runtime.0.npy`, if it produced one.
 */

import { resolve } from "ndscatter";
import { BIN, MODEL, TENSOR } from "./file-kinds.ts";
import {
  fromFile,
  isZerosRemark,
  zerosRemark,
  type FileChoice,
  type FileContent,
} from "./from-file.ts";
import { assigned, withAssignment, type NamedTensor } from "./named.ts";
import type { TensorText } from "../values/state.ts";

/** A file by its name; the folders before the name do not matter. */
export interface NamedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The name without the folders before it. */
const lastOf = (name: string): string => name.replace(/^.*[/\\]/s, "");

/** The first output of the runtime. All operators of the page have one output. */
const RUNTIME = "runtime.0";

/**
 * The nodes of the model, with the tensors of the files as inputs, and with the runtime's output. Never throws,
 * whatever the bytes are. Files that are not used are named in the remarks.
 */
export async function fromCase(files: readonly NamedFile[]): Promise<FileContent> {
  const model = files.find(({ name }) => MODEL.test(name));
  if (model === undefined) return { error: "there is no model among the files" };
  const bin = files.find(({ name }) => BIN.test(name));
  const { tensors, remarks } = await tensorsOf(files);
  const given = new CaseTensors(tensors, lastOf(model.name).replace(MODEL, ""));
  const content = await fromFile(lastOf(model.name), model.bytes, bin?.bytes, given);
  if ("error" in content) return content;
  const isOnly = content.choices.length === 1;
  const choices = content.choices.map((choice) => {
    // The model of a case has one node, so the runtime's output is the output of that node.
    if (!isOnly || choice.kind !== "node") return choice;
    const filled = given.rest(choice);
    const actual = given.output();
    return actual === undefined ? filled : { ...filled, actual };
  });
  for (const name of given.unused()) {
    remarks.push(`the node has no input ${name}, so the file is not used`);
  }
  return { choices, remarks: [...remarks, ...content.remarks] };
}

type NodeChoice = Extract<FileChoice, { kind: "node" }>;

/** The tensors of a case by the names of the model's values; records which were used. */
class CaseTensors {
  readonly tensors: readonly NamedTensor[];
  readonly stem: string;
  readonly used = new Set<NamedTensor>();
  inputs: readonly string[] = [];

  constructor(tensors: readonly NamedTensor[], stem: string) {
    this.tensors = tensors;
    this.stem = stem;
  }

  /** Receives the names of the model's inputs, in order: `input_0.pb` is the first of them. */
  begin(inputs: readonly string[]): void {
    this.inputs = inputs;
  }

  get(name: string): TensorText | undefined {
    const number = this.inputs.indexOf(name);
    const safe = name.replaceAll(/[^\w.-]/g, "_");
    const spellings = [
      name,
      safe,
      `${this.stem}.${name}`,
      `${this.stem}_${name}`,
      `${this.stem}-${name}`,
    ];
    if (number !== -1) spellings.push(`input_${number}`);
    return this.take((one) => spellings.includes(one.name));
  }

  /** The runtime's output: of `ndscatter capture`, or of a test folder of ONNX. */
  output(): TensorText | undefined {
    return this.take(({ name }) => name === RUNTIME || name === "output_0");
  }

  take(isIt: (one: NamedTensor) => boolean): TensorText | undefined {
    const found = this.tensors.find(isIt);
    if (found !== undefined) this.used.add(found);
    return found?.input;
  }

  /** The node with the remaining tensors in its unknown inputs; unchanged if names and shapes are ambiguous. */
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
    return {
      ...choice,
      state: withAssignment(choice.state, left, assignment),
      open: still,
      remarks: [
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

/** The tensors of the files, named without their endings. */
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
