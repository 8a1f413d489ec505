/** Reads tensor files, and unpacks `.npz` files, which are ZIP archives of `.npy` files. */

import type { Tensor } from "ndscatter";
import { attempt } from "../values/attempt.ts";
import { textOf } from "../values/tensor-text.ts";
import { lastOf, MOST_BYTES, NPZ, TENSOR } from "./file-kinds.ts";
import type { NamedTensor } from "./named.ts";
import type { Refusal } from "./offer.ts";

/** A file and its name; folders in the name are ignored. */
export interface NamedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Returns the tensor in a `.npy` or `.pb` file of any size. The function never rejects, even if the file is damaged. */
export async function tensorIn({ name, bytes }: NamedFile): Promise<Tensor | Refusal> {
  const { readNpy } = await import("ndscatter/npy");
  const { readTensor } = await import("./model-files.ts");
  const [, ending = ""] = /\.(npy|pb)$/i.exec(name) ?? [];
  if (ending === "") {
    return {
      error: `the name ${JSON.stringify(name)} must end in one of .npy, .pb, .onnx, .xml`,
    };
  }
  const read = ending.toLowerCase() === "pb" ? readTensor : readNpy;
  return attempt((): Tensor | Refusal => read(bytes));
}

/** Returns a file's tensor as text, unless the file cannot be read or shown. */
export async function textIn(file: NamedFile): Promise<Pick<NamedTensor, "input"> | Refusal> {
  const found = await tensorIn(file);
  return "error" in found ? found : attempt(() => ({ input: textOf(found, lastOf(file.name)) }));
}

/** Returns the files' tensors, named without extensions, with a remark about each other file. */
export async function textsIn(
  files: readonly NamedFile[],
): Promise<{ tensors: NamedTensor[]; remarks: string[] }> {
  const tensors: NamedTensor[] = [];
  const remarks: string[] = [];
  const texts = await Promise.all(files.map(textIn));
  for (const [number, found] of texts.entries()) {
    const name = lastOf(files[number].name);
    if ("error" in found) remarks.push(`${name} cannot be read: ${found.error}`);
    else tensors.push({ name: name.replace(TENSOR, ""), ...found });
  }
  return { tensors, remarks };
}

/** Returns an archive's members, named like `x.npz/ids.npy`. Any other file stays as it is. */
export async function unpacked(file: NamedFile): Promise<readonly NamedFile[]> {
  if (!NPZ.test(file.name)) return [file];
  try {
    return await Promise.all(membersOf(file));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Error(`${file.name} is not a complete ZIP archive`, { cause: error });
  }
}

const DEFLATED = 8;

/** Reads the archive's directory. Throws a `RangeError` if the archive is damaged. */
function membersOf({ name: archive, bytes }: NamedFile): Promise<NamedFile>[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let end = bytes.length - 22;
  while (view.getUint32(end, true) !== 0x06_05_4b_50) end--;
  let [entry, left] = [view.getUint32(end + 16, true), MOST_BYTES];
  return Array.from({ length: view.getUint16(end + 10, true) }, async () => {
    const [at, name, extra, comment] = [
      entry,
      ...[28, 30, 32].map((field) => view.getUint16(entry + field, true)),
    ];
    entry += 46 + name + extra + comment;
    const member = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + name));
    const [stored, size, start] = [20, 24, 42].map((field) => view.getUint32(at + field, true));
    left -= size;
    if (left < 0) throw new Error(`${archive} has more bytes than the page reads`);
    const from = start + 30 + view.getUint16(start + 26, true) + view.getUint16(start + 28, true);
    const part = bytes.subarray(from, from + stored);
    const isDeflated = view.getUint16(at + 10, true) === DEFLATED;
    const whole = isDeflated ? await inflated(part, size) : part;
    if (whole.length !== size) throw new RangeError(member);
    return { name: `${archive}/${member}`, bytes: whole };
  });
}

/** Decompresses a member, and stops at its declared size. */
async function inflated(stored: Uint8Array, size: number): Promise<Uint8Array> {
  const whole = new Uint8Array(size);
  let filled = 0;
  const write = (part: Uint8Array): void => {
    whole.set(part, filled);
    filled += part.length;
  };
  const stream = new Blob([stored.slice()]).stream();
  await stream
    .pipeThrough(new DecompressionStream("deflate-raw"))
    .pipeTo(new WritableStream({ write }));
  return whole.subarray(0, filled);
}
