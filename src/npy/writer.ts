/** Tensors to NPY files. */

import { allocate, isNumericStorage } from "../tensor/dtype.ts";
import { bytesOf } from "../tensor/storage.ts";
import { asTensor, type RuntimeTensor, type Tensor } from "../tensor/tensor.ts";
import { CHARACTER, printDescr } from "./descr.ts";
import { printHeader } from "./header.ts";
import { encodeText, lengthOfText } from "./text.ts";

/**
 * The bytes of an NPY file that holds `tensor`: version 1.0, C order, little-endian, the very bytes that `np.save`
 * writes (NEP 1, `numpy.lib.format`).
 *
 * Text is `<U` with the greatest length in code points, at least 1. bfloat16 is `<V2`, as ml_dtypes writes it; NumPy
 * alone reads that as raw bytes. float16 and bfloat16 are bits and keep those.
 *
 * @throws TensorError `dtype` for text that ends in a NUL, which the format cannot keep, and for what is no tensor;
 * `disposed` for a tensor whose memory is gone; `too-large` when memory does not hold the file.
 */
export function writeNpy(tensor: Tensor | RuntimeTensor): Uint8Array<ArrayBuffer> {
  const { dtype, shape, data } = asTensor(tensor, {}, "tensor");
  const length = isNumericStorage(data) ? 0 : lengthOfText(data, shape);
  const header = printHeader(printDescr(dtype, length), shape);
  const bytes = isNumericStorage(data) ? data.byteLength : data.length * length * CHARACTER;
  const file = new Uint8Array(allocate("uint8", header.length + bytes).buffer as ArrayBuffer);
  file.set(header);
  if (isNumericStorage(data)) {
    file.set(bytesOf(data), header.length);
  } else {
    // The header ends on a multiple of 64, so the characters are aligned.
    encodeText(data, length, new Uint32Array(file.buffer, header.length));
  }
  return file;
}
