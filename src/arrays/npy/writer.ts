/** Writes tensors as NPY files. */

import { allocate, isNumericStorage } from "../../core/tensor/dtype.ts";
import { bytesOf } from "../../core/tensor/storage.ts";
import { asTensor, type RuntimeTensor, type Tensor } from "../../core/tensor/tensor.ts";
import { BYTES_PER_CHARACTER, printDescr } from "./descr.ts";
import { printNpyHeader } from "./header.ts";
import { encodeUcs4, longestText } from "./text.ts";

/**
 * `Uint8Array<ArrayBuffer>`, which `Blob` and `fetch` accept, expressed so that TypeScript before 5.7 compiles it too.
 */
type OwnBytes = ReturnType<typeof Uint8Array.of>;

/**
 * The bytes of an NPY file that holds `tensor`: version 1.0, C order, little-endian, byte for byte as `np.save` writes
 * it (NEP 1, `numpy.lib.format`).
 *
 * Text is `<U` with the greatest length in code points, at least 1. bfloat16 is `<V2`, as ml_dtypes writes it; NumPy
 * without ml_dtypes reads that as raw bytes. All bits are kept.
 *
 * @param tensor of any data type but int4, uint4 and other types that NPY lacks
 * @throws TensorError `dtype` for text that ends in a NUL, which the format cannot keep, for a data type that NPY lacks
 *   and for an argument that is not a tensor; `disposed` for a tensor whose memory was released; `too-large` if memory
 *   does not suffice for the file.
 *
 * @example
 * ```ts
 * import { writeFileSync } from "node:fs";
 *
 * writeFileSync("x.npy", writeNpy(tensor("float32", [2], [1, 2])));
 * console.log(readNpy(writeNpy(tensor("int8", [2], [1, 2]))).toArray()); // [ 1, 2 ]
 * ```
 */
export function writeNpy(tensor: Tensor | RuntimeTensor): OwnBytes {
  const { dtype, shape, data } = asTensor(tensor, {}, "tensor");
  const length = isNumericStorage(data) ? 0 : longestText(data, shape);
  const header = printNpyHeader(printDescr(dtype, length), shape);
  const bytes = isNumericStorage(data)
    ? data.byteLength
    : data.length * length * BYTES_PER_CHARACTER;
  const file = new Uint8Array(allocate("uint8", header.length + bytes).buffer as ArrayBuffer);
  file.set(header);
  if (isNumericStorage(data)) {
    file.set(bytesOf(data), header.length);
  } else {
    // The header ends on a multiple of 64, so the characters are aligned.
    encodeUcs4(data, length, new Uint32Array(file.buffer, header.length));
  }
  return file;
}
