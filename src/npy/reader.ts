/** NPY files to tensors. */

import { allocate, type DType, type NumericStorage, type Storage } from "../tensor/dtype.ts";
import { TensorError } from "../errors.ts";
import { coordinatesOf, printShape } from "../tensor/shape.ts";
import { bytesOf } from "../tensor/storage.ts";
import { Tensor } from "../tensor/tensor.ts";
import { CHARACTER } from "./descr.ts";
import { readHeader, type Contents } from "./header.ts";
import { swapBytes, toRowMajor } from "./layout.ts";
import { decodeText } from "./text.ts";

/**
 * The tensor in an NPY file of version 1.0, 2.0 or 3.0, in C or Fortran order and either byte order, as NEP 1 and
 * `numpy.lib.format` specify it.
 *
 * The descr is one of `f2 f4 f8 c8 c16 i1 i2 i4 i8 u1 u2 u4 u8 b1` and `U` with a length; `V2` is bfloat16. Bits
 * are kept, those of a NaN too. Text loses the NULs at its end, as in NumPy. The elements are always copied, so
 * `bytes` may be reused; bytes behind the last element are ignored, as `np.load` does.
 *
 * @throws TensorError `malformed-file` when the bytes are not such a file (cut short, structured, of Python objects,
 * a bool that is neither 0 nor 1, text that is no Unicode), `too-large` above 2^32 - 1 elements or when memory does
 * not hold them. Nothing is allocated before the elements that the header promises were found to be there.
 */
export function readNpy(bytes: Uint8Array): Tensor {
  const file = plainBytes(bytes);
  const contents = readHeader(file);
  const { type, shape, size } = contents;
  const { dtype } = type;
  if (dtype === "string") {
    const length = type.bytes / CHARACTER;
    const codes = readElements(file, contents, "uint32", size * length);
    return new Tensor(dtype, shape, size, decodeText(codes, length, size, shape));
  }
  const data: NumericStorage = readElements(file, contents, dtype, size);
  if (dtype === "bool") checkBits(data, shape);
  return new Tensor(dtype, shape, size, data);
}

/** A Buffer's methods are not a Uint8Array's, so it is seen as one. */
function plainBytes(bytes: Uint8Array): Uint8Array {
  if (!ArrayBuffer.isView(bytes)) {
    throw new TensorError("malformed-file", `readNpy takes a Uint8Array, got ${typeof bytes}`);
  }
  // A view on a buffer that was transferred is empty too, and no other can be made on it.
  if (bytes.byteLength === 0) {
    throw new TensorError(
      "malformed-file",
      "an NPY file begins with \\x93NUMPY, but there are no bytes",
      { got: 0 },
    );
  }
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** `count` entries of `cells` (for text, characters), in little-endian bytes and row-major order. */
function readElements<D extends Exclude<DType, "string">>(
  file: Uint8Array,
  { type, shape, fortranOrder, start, end }: Contents,
  cells: D,
  count: number,
): Storage<D>;
function readElements(
  file: Uint8Array,
  { type, shape, fortranOrder, start, end }: Contents,
  cells: Exclude<DType, "string">,
  count: number,
): NumericStorage {
  const data = allocate(cells, count);
  bytesOf(data).set(file.subarray(start, end));
  if (type.bigEndian) swapBytes(data, type.unit);
  if (!fortranOrder || count === 0) return data;
  const ordered = allocate(cells, count);
  toRowMajor(data, ordered, shape, type.bytes);
  return ordered;
}

function checkBits(data: NumericStorage, shape: readonly number[]): void {
  const position = bytesOf(data).findIndex((byte) => byte > 1);
  if (position === -1) return;
  const at = coordinatesOf(position, shape);
  const got = Number(data[position]);
  throw new TensorError(
    "malformed-file",
    `the NPY file has the byte ${got} at ${printShape(at)}, but a bool is 0 or 1`,
    { at, got },
  );
}
