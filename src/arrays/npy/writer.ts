/** Writes tensors as NPY files. */

import { allocate, isNumericStorage } from "../../core/tensor/dtype.ts";
import { bytesOf } from "../../core/tensor/storage.ts";
import { asTensor, type RuntimeTensor, type Tensor } from "../../core/tensor/tensor.ts";
import { BYTES_PER_CHARACTER, printDescr } from "./descr.ts";
import { printNpyHeader } from "./header.ts";
import { encodeUcs4, longestText } from "./text.ts";

/**
 * The type `Uint8Array<ArrayBuffer>`, which `Blob` and `fetch` require, in a form that TypeScript before 5.7 also
 * compiles.
 */
type OwnBytes = ReturnType<typeof Uint8Array.of>;

/**
 * Returns an NPY file with the elements of `tensor`: version 1.0, C order, little-endian, byte for byte as `np.save`
 * writes it (NEP 1, `numpy.lib.format`).
 *
 * Text is stored as `<U` with the length of the longest string in code points, but at least 1. The data type bfloat16
 * is stored as `<V2`, as in ml_dtypes; NumPy without ml_dtypes reads `<V2` as raw bytes. All bits are kept, including
 * NaN payloads.
 *
 * @param tensor of any data type that NPY supports; int4 and uint4, for example, are not supported
 * @throws TensorError `dtype` for text that ends in a NUL, which the format cannot keep, for a data type that NPY does
 *   not support, and for an argument that is not a tensor. `disposed` if the tensor's memory was released. `too-large`
 *   for a file that does not fit in memory.
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
    // The header's size is a multiple of 64, so the characters are aligned.
    encodeUcs4(data, length, new Uint32Array(file.buffer, header.length));
  }
  return file;
}
