/**
 * Several files at once: a case that `ndscatter capture` has written. It is a folder of one model, `node.onnx`, a `.npy`
 * for each input by the name of the input, and `runtime.0.npy`, which is what the runtime gave, if it gave anything.
 */

import { fromFile, type FileContent } from "./from-file.ts";
import type { TensorText } from "../values/state.ts";

/** A file by its name; the folders before the name do not matter. */
export interface NamedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const MODEL = /\.(?:onnx|xml)$/i;
const TENSOR = /\.(?:npy|pb)$/i;
const BIN = /\.bin$/i;

/** Whether files may be a case: one model, and tensors beside it. */
export const isCase = (names: readonly string[]): boolean =>
  names.filter((name) => MODEL.test(name)).length === 1 && names.some((name) => TENSOR.test(name));

/** The name without the folders before it. */
const lastOf = (name: string): string => name.replace(/^.*[/\\]/s, "");

/** The first output of the runtime. All operators of the page have one output. */
const RUNTIME = "runtime.0";

/**
 * The nodes of the model with the tensors of the files as their inputs, and with what the runtime gave. It never throws,
 * whatever the bytes are. Files that are not used are named in the remarks.
 */
export async function fromCase(files: readonly NamedFile[]): Promise<FileContent> {
  const model = files.find(({ name }) => MODEL.test(name));
  if (model === undefined) return { error: "there is no model among the files" };
  const bin = files.find(({ name }) => BIN.test(name));
  const { tensors, remarks } = await tensorsOf(files);
  const used = new Set<string>();
  const given = {
    get(name: string): TensorText | undefined {
      used.add(name);
      return tensors.get(name);
    },
  };
  const content = await fromFile(lastOf(model.name), model.bytes, bin?.bytes, given);
  if ("error" in content) return content;
  const choices = content.choices.map((choice) => {
    // The model of a case has one node, and what the runtime gave is the output of the node.
    const isOnly = content.choices.length === 1 && choice.kind === "node";
    const actual = isOnly ? given.get(RUNTIME) : undefined;
    return actual === undefined ? choice : { ...choice, actual };
  });
  for (const name of tensors.keys()) {
    if (!used.has(name)) remarks.push(`${name} is no input of the node, so it is not used`);
  }
  return { choices, remarks: [...remarks, ...content.remarks] };
}

/** The tensors of the files by their names without endings. */
async function tensorsOf(
  files: readonly NamedFile[],
): Promise<{ tensors: Map<string, TensorText>; remarks: string[] }> {
  const tensors = new Map<string, TensorText>();
  const remarks: string[] = [];
  const some = files.filter(({ name }) => TENSOR.test(name));
  const read = await Promise.all(some.map(({ name, bytes }) => fromFile(lastOf(name), bytes)));
  for (const [position, found] of read.entries()) {
    const name = lastOf(some[position].name);
    if ("error" in found) remarks.push(`${name} cannot be read: ${found.error}`);
    else {
      const [choice] = found.choices;
      if (choice.kind === "tensor") tensors.set(name.replace(TENSOR, ""), choice.input);
    }
  }
  return { tensors, remarks };
}
