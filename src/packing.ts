/**
 * Elements as files hold them one after the other: little-endian as in memory. One place for the formats that do so
 * (ONNX's `raw_data`, the `.bin` of OpenVINO).
 */

import {
  allocate,
  DTYPES,
  isNumericStorage,
  type DType,
  type NumericStorage,
  type Storage,
} from "./dtype.ts";
import { bytesOf } from "./storage.ts";

/** How many bytes of a file `size` elements take; `dtype` is not string. */
export const packedBytes = (dtype: DType, size: number): number => size * DTYPES[dtype].bytes;

/** The bytes of a file: a view of `data` where memory holds the same. */
export const pack = (_dtype: DType, data: NumericStorage): Uint8Array => bytesOf(data);

/**
 * Storage of its own for `size` elements of `packed`, which has {@link packedBytes} of them and no alignment.
 * @throws TensorError `too-large`
 */
export function unpack(dtype: DType, size: number, packed: Uint8Array): Storage {
  const data: Storage = allocate(dtype, size);
  if (isNumericStorage(data)) bytesOf(data).set(packed);
  return data;
}
