/**
 * Converts elements to and from the layout of ONNX's `raw_data` and OpenVINO's `.bin`: contiguous and little-endian, as
 * in memory. Only elements of fewer than 8 bits differ: they form a stream of bits without gaps, lowest bits first. NPY
 * files have their own layout, and Zarr stores such elements in one byte each.
 */

import {
  allocate,
  isNumericStorage,
  rowOf,
  type DType,
  type NumericStorage,
  type Storage,
} from "./dtype.ts";
import { bytesOf } from "./storage.ts";

/** Returns the number of bytes that `size` elements take in a file, for any type except string. */
export function packedBytes(dtype: DType, size: number): number {
  const { bytes, bits } = rowOf(dtype);
  return bits === undefined ? size * bytes : Math.ceil((size * bits) / 8);
}

/**
 * Returns the bytes to write to a file: a view of `data` if the layouts in memory and in the file are equal, otherwise
 * a copy. Unused bits of the last byte are 0.
 */
export function pack(dtype: DType, data: NumericStorage): Uint8Array {
  const { bits } = rowOf(dtype);
  return bits === undefined ? bytesOf(data) : packBits(bytesOf(data), bits);
}

/** Packs the low `bits` of each byte as a stream of bits, lowest bits first, which may cross the bounds of bytes. */
export function packBits(bytes: Uint8Array, bits: number): Uint8Array {
  const packed = new Uint8Array(Math.ceil((bytes.length * bits) / 8));
  const { length } = bytes;
  const mask = 2 ** bits - 1;
  let [word, held, next] = [0, 0, 0];
  for (let p = 0; p < length; p++) {
    word |= (bytes[p] & mask) << held;
    held += bits;
    if (held < 8) continue;
    packed[next++] = word;
    word >>= 8;
    held -= 8;
  }
  if (held > 0) packed[next] = word;
  return packed;
}

/**
 * Creates storage with `size` elements from `packed`, which has `packedBytes` bytes and need not be aligned.
 * @throws TensorError `too-large`
 */
export function unpack(dtype: DType, size: number, packed: Uint8Array): Storage {
  const data = allocate(dtype, size);
  if (!isNumericStorage(data)) return data;
  const { bits, storage } = rowOf(dtype);
  const bytes = bytesOf(data);
  if (bits === undefined) bytes.set(packed);
  else unpackBits(packed, bytes, bits, storage === Int8Array);
  return data;
}

/**
 * Reverses `packBits`.
 * @param hasSign true if the highest bit of an element is a sign bit, which must be extended
 */
export function unpackBits(
  packed: Uint8Array,
  into: Uint8Array,
  bits: number,
  hasSign: boolean,
): void {
  const { length } = into;
  let [word, held, next] = [0, 0, 0];
  for (let p = 0; p < length; p++) {
    if (held < bits) {
      word |= packed[next++] << held;
      held += 8;
    }
    into[p] = word;
    word >>= bits;
    held -= bits;
  }
  keepBits(into, bits, hasSign);
}

/** Clears all but the low `bits` of each byte, or extends the sign bit into the other bits if `hasSign`. */
export function keepBits(bytes: Uint8Array, bits: number, hasSign: boolean): void {
  const shift = 32 - bits;
  if (hasSign) for (let i = 0; i < bytes.length; i++) bytes[i] = (bytes[i] << shift) >> shift;
  else for (let i = 0; i < bytes.length; i++) bytes[i] = (bytes[i] << shift) >>> shift;
}

/** Returns the position of the first byte that is not a valid bool (0 or 1); -1 if all bytes are valid. */
export const findNonBool = (bytes: Uint8Array): number => bytes.findIndex((byte) => byte > 1);
