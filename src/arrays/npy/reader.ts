/** Reads NPY files into tensors. */

import {
  allocate,
  type DType,
  type NumericStorage,
  type Storage,
} from "../../core/tensor/dtype.ts";
import { malformed } from "../../core/errors.ts";
import { bytesOf, findNonBool } from "../../core/tensor/storage.ts";
import { coordinatesOf, printShape } from "../../core/tensor/shape.ts";
import { plainBytes, type Bytes } from "../../core/tensor/bytes.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import { BYTES_PER_CHARACTER } from "./descr.ts";
import { readNpyHeader, type NpyContents } from "./header.ts";
import { swapBytes, toRowMajor } from "./layout.ts";
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
 *   or 1, or text that is not Unicode. `unsupported-file` for another format, version or data type, such as structured
 *   types, Python objects and dates. `too-large` for more than 2^32 - 1 elements, or if memory is exhausted. `disposed`
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
  const contents = readNpyHeader(file);
  const { type, shape, size } = contents;
  const { dtype } = type;
  if (dtype === "string") {
    const length = type.bytes / BYTES_PER_CHARACTER;
    const codes = copyElements(file, contents, "uint32", size * length);
    return new Tensor(dtype, shape, size, decodeUcs4(codes, length, size, shape));
  }
  const data: NumericStorage = copyElements(file, contents, dtype, size);
  if (dtype === "bool") checkBools(data, shape);
  return new Tensor(dtype, shape, size, data);
}

/** Copies elements to `count` values of type `cells` (characters for text) in little-endian, row-major order. */
function copyElements<D extends Exclude<DType, "string">>(
  file: Uint8Array,
  { type, shape, fortranOrder, start, end }: NpyContents,
  cells: D,
  count: number,
): Storage<D>;
function copyElements(
  file: Uint8Array,
  { type, shape, fortranOrder, start, end }: NpyContents,
  cells: Exclude<DType, "string">,
  count: number,
): NumericStorage {
  const data = allocate(cells, count);
  bytesOf(data).set(file.subarray(start, end));
  if (type.bigEndian) swapBytes(data, type.unit);
  if (!fortranOrder) return data;
  const ordered = allocate(cells, count);
  toRowMajor(data, ordered, shape, type.bytes);
  return ordered;
}

function checkBools(data: NumericStorage, shape: readonly number[]): void {
  const position = findNonBool(bytesOf(data));
  if (position === -1) return;
  const at = coordinatesOf(position, shape);
  const got = Number(data[position]);
  throw malformed(
    `the NPY file has the byte ${got} at ${printShape(at)} where a bool must be 0 or 1`,
    {
      at,
      got,
    },
  );
}
