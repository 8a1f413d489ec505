/** Reads NPY files into tensors. */

import { allocate, type NumericStorage } from "../../core/tensor/dtype.ts";
import { bytesOf } from "../../core/tensor/storage.ts";
import { plainBytes, type Bytes } from "../../core/tensor/bytes.ts";
import { stridesOf } from "../../core/tensor/shape.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import { copyStrided } from "../boxes/boxes.ts";
import { BYTES_PER_CHARACTER } from "./descr.ts";
import { parseNpyHeader } from "./header.ts";
import { columnMajor, toMemory } from "./layout.ts";
import { decodeUcs4 } from "./text.ts";

/**
 * Reads the tensor in an NPY file of version 1.0, 2.0 or 3.0, in C or Fortran order and either byte order (NEP 1,
 * `numpy.lib.format`).
 *
 * Supported `descr` values are `f2 f4 f8 c8 c16 i1 i2 i4 i8 u1 u2 u4 u8 b1` and `U` with a length; `V2` is bfloat16.
 * All bits are kept, including NaN payloads. Trailing NULs in text are removed, as in NumPy. The elements are copied,
 * so the caller may reuse `bytes`. Bytes after the last element are ignored, as in `np.load`. Memory is allocated only
 * after checking that the file contains all elements that its header declares.
 *
 * @param bytes the whole file
 * @throws TensorError `malformed-file` for bytes that violate the format, such as a truncated file, a bool other than 0
 *   or 1, or text that is not Unicode. `unsupported-file` for another format or version. `unsupported-dtype` for structured
 *   types, Python objects, dates and others. `too-large` for more than 2^32 - 1 elements, or if memory is exhausted. `disposed`
 *   if the memory of `bytes` was released
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 *
 * const ids = readNpy(readFileSync("ids.npy"));
 * console.log(ids.dtype, ids.shape); // int64 [ 3, 1 ]
 * ```
 */
export function readNpy(bytes: Bytes): Tensor {
  const file = plainBytes(bytes, "readNpy takes", true);
  const { type, shape, size, fortranOrder, start, end } = parseNpyHeader(file);
  const { dtype } = type;
  const length = type.bytes / BYTES_PER_CHARACTER;
  const data: NumericStorage =
    dtype === "string" ? allocate("uint32", size * length) : allocate(dtype, size);
  const [elements, own] = [file.subarray(start, end), bytesOf(data)];
  if (fortranOrder) {
    const into = { bytes: own, at: 0, strides: stridesOf(shape) };
    copyStrided(columnMajor(elements, shape), into, shape, type.bytes);
  } else own.set(elements);
  toMemory(own, type, shape);
  const storage =
    data instanceof Uint32Array && dtype === "string"
      ? decodeUcs4(data, length, size, shape)
      : data;
  return new Tensor(dtype, shape, size, storage);
}
