/**
 * Elements as files hold them one after the other: little-endian as in memory, but types of 4 bits two to a byte, the
 * first in the low half. One place for the formats that do so (ONNX's `raw_data`, the `.bin` of OpenVINO).
 */

import {
  allocate,
  integerRange,
  isNumericStorage,
  rowOf,
  type DType,
  type NumericStorage,
  type Storage,
} from "./dtype.ts";
import { bytesOf } from "./storage.ts";

/** How many bytes of a file `size` elements take; `dtype` is not string. */
export function packedBytes(dtype: DType, size: number): number {
  const { bytes, bits } = rowOf(dtype);
  return bits === undefined ? size * bytes : Math.ceil((size * bits) / 8);
}

/** The bytes of a file: a view of `data` where memory holds the same, a last half byte filled with 0. */
export function pack(dtype: DType, data: NumericStorage): Uint8Array {
  if (rowOf(dtype).bits === undefined) return bytesOf(data);
  const packed = new Uint8Array(packedBytes(dtype, data.length));
  for (let p = 0; p < data.length; p++) packed[p >> 1] |= (Number(data[p]) & 15) << (4 * (p & 1));
  return packed;
}

/**
 * Storage of its own for `size` elements of `packed`, which has {@link packedBytes} of them and no alignment.
 * @throws TensorError `too-large`
 */
export function unpack(dtype: DType, size: number, packed: Uint8Array): Storage {
  const data = allocate(dtype, size);
  if (!isNumericStorage(data)) return data;
  if (rowOf(dtype).bits === undefined) {
    bytesOf(data).set(packed);
    return data;
  }
  const isSigned = (integerRange(dtype)?.[0] ?? 0n) < 0n;
  for (let p = 0; p < size; p++) {
    const bits = (packed[p >> 1] >> (4 * (p & 1))) & 15;
    data[p] = isSigned ? (bits << 28) >> 28 : bits;
  }
  return data;
}

/** Where the first byte is that is neither 0 nor 1, which no bool may be; -1 where there is none. */
export const findNonBool = (bytes: Uint8Array): number => bytes.findIndex((byte) => byte > 1);
