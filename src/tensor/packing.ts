/**
 * Elements as ONNX's `raw_data` and OpenVINO's `.bin` hold them: one after the other, little-endian as in memory. Only
 * elements of 4 bits differ: a byte holds two of them, the first in its low half. NPY files have their own layout.
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

/** How many bytes `size` elements take in a file, for any type but string. */
export function packedBytes(dtype: DType, size: number): number {
  const { bytes, bits } = rowOf(dtype);
  return bits === undefined ? size * bytes : Math.ceil((size * bits) / 8);
}

/** The bytes for a file: a view of `data` where memory and file agree, else a copy; a spare last half byte is 0. */
export function pack(dtype: DType, data: NumericStorage): Uint8Array {
  if (rowOf(dtype).bits === undefined) return bytesOf(data);
  const packed = new Uint8Array(packedBytes(dtype, data.length));
  for (let p = 0; p < data.length; p++) packed[p >> 1] |= (Number(data[p]) & 15) << (4 * (p & 1));
  return packed;
}

/**
 * New storage with `size` elements of `packed`, which holds {@link packedBytes} bytes and need not be aligned.
 * @throws TensorError `too-large`
 */
export function unpack(dtype: DType, size: number, packed: Uint8Array): Storage {
  const data = allocate(dtype, size);
  if (!isNumericStorage(data)) return data;
  if (rowOf(dtype).bits === undefined) {
    bytesOf(data).set(packed);
    return data;
  }
  const isSigned = data instanceof Int8Array;
  for (let p = 0; p < size; p++) {
    const bits = (packed[p >> 1] >> (4 * (p & 1))) & 15;
    data[p] = isSigned ? (bits << 28) >> 28 : bits;
  }
  return data;
}

/** Where the first byte is that is neither 0 nor 1, which no bool may be; -1 where there is none. */
export const findNonBool = (bytes: Uint8Array): number => bytes.findIndex((byte) => byte > 1);
