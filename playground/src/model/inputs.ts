/** Reads the dropped files: the model's bytes, with progress, and the tensors of its inputs. */

import type { Tensor } from "ndscatter";
import type { Model } from "ndscatter/onnx";
import { lastOf, MODEL, TENSOR } from "../reading/file-kinds.ts";
import { spellingsOf } from "../reading/from-model.ts";
import { tensorIn, unpacked } from "../reading/tensor-files.ts";

/** Returns a file's bytes. The callback receives the number of bytes read so far. */
export async function bytesOf(file: File, onRead: (bytes: number) => void): Promise<Uint8Array> {
  const bytes = new Uint8Array(file.size);
  let filled = 0;
  const write = (part: Uint8Array): void => {
    bytes.set(part, filled);
    filled += part.length;
    onRead(filled);
  };
  await file.stream().pipeTo(new WritableStream({ write }));
  return bytes;
}

export interface Given {
  readonly tensors: ReadonlyMap<string, Tensor>;
  /** Remarks about files that are not inputs of the model. */
  readonly remarks: readonly string[];
}

/**
 * Returns the tensors in files by the names of the model's inputs. `data` has the names of the files with the model's
 * external data.
 */
export async function givenIn(
  files: readonly File[],
  { graph }: Model,
  data: readonly string[],
): Promise<Given> {
  const stem = lastOf(files.find(({ name }) => MODEL.test(name))?.name ?? "").replace(MODEL, "");
  const some = files.filter(({ name }) => TENSOR.test(name));
  const read = some.map(async (file) =>
    unpacked({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) }),
  );
  const tensors = new Map<string, Tensor>();
  const remarks = files
    .filter((one) => ![MODEL, TENSOR].some((kind) => kind.test(one.name)))
    .filter(({ name }) => !data.includes(name))
    .map(({ name }) => `${name} is neither a tensor nor data of the model, so it is not used.`);
  const constants = new Set(graph.constants.map(({ name }) => name));
  const names = graph.inputs.map(({ name }) => name);
  // A test case numbers the inputs that have no default value.
  const needed = names.filter((name) => !constants.has(name));
  for (const file of (await Promise.all(read)).flat()) {
    const own = lastOf(file.name).replace(TENSOR, "");
    const input = names.find((name) => spellingsOf(name, needed.indexOf(name), stem).includes(own));
    // oxlint-disable-next-line no-await-in-loop
    const tensor = input === undefined ? null : await tensorIn(file);
    if (input === undefined)
      remarks.push(`The model has no input ${own}, so the file is not used.`);
    else if (tensor === null || "error" in tensor) remarks.push(`${file.name} cannot be read.`);
    else tensors.set(input, tensor);
  }
  return { tensors, remarks };
}
