/**
 * Elements as ONNX's `raw_data` and OpenVINO's `.bin` hold them: one after the other, little-endian as in memory. Only
 * elements of fewer than 8 bits differ: a byte holds several, the first in its lowest bits. NPY files have their own
 * layout, and Zarr gives each element a byte.
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

/** Bytes of `size` elements in a file, for any type except string. */
export function packedBytes(dtype: DType, size: number): number {
  const { bytes, bits } = rowOf(dtype);
  return bits === undefined ? size * bytes : Math.ceil((size * bits) / 8);
}

/**
 * The bytes for a file: a view of `data` if memory and file agree, otherwise a copy; spare bits of the last byte are 0.
 */
export function pack(dtype: DType, data: NumericStorage): Uint8Array {
  const { bits } = rowOf(dtype);
  return bits === undefined ? bytesOf(data) : packBits(bytesOf(data), bits);
}

/** Packs the low `bits` of each byte: a byte of the result holds several, the first in its lowest bits. */
export function packBits(bytes: Uint8Array, bits: number): Uint8Array {
  const packed = new Uint8Array(Math.ceil((bytes.length * bits) / 8));
  const mask = 2 ** bits - 1;
  const perByte = 8 / bits;
  for (let p = 0; p < bytes.length; p++) {
    packed[Math.floor(p / perByte)] |= (bytes[p] & mask) << (bits * (p % perByte));
  }
  return packed;
}

/**
 * New storage with `size` elements of `packed`, which holds {@link packedBytes} bytes and need not be aligned.
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

/** Undoes {@link packBits}. @param hasSign true if the highest bit is a sign, which is then extended */
export function unpackBits(
  packed: Uint8Array,
  into: Uint8Array,
  bits: number,
  hasSign: boolean,
): void {
  const perByte = 8 / bits;
  for (let p = 0; p < into.length; p++) {
    into[p] = packed[Math.floor(p / perByte)] >> (bits * (p % perByte));
  }
  keepBits(into, bits, hasSign);
}

/** Keeps the low `bits` of each byte, and extends their sign if `hasSign`. */
export function keepBits(bytes: Uint8Array, bits: number, hasSign: boolean): void {
  const shift = 32 - bits;
  if (hasSign) for (let i = 0; i < bytes.length; i++) bytes[i] = (bytes[i] << shift) >> shift;
  else for (let i = 0; i < bytes.length; i++) bytes[i] = (bytes[i] << shift) >>> shift;
}

/** The position of the first byte that is neither 0 nor 1 and thus not a bool; -1 if all bytes are valid. */
export const findNonBool = (bytes: Uint8Array): number => bytes.findIndex((byte) => byte > 1);
