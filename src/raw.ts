/**
 * Elements as the bytes of a file: row-major and little-endian, which is also how every platform that runs JavaScript
 * keeps them. How many bytes elements take in a file, and how those are packed, is known here alone.
 */

import {
  allocate,
  DTYPES,
  integerRange,
  isNumericStorage,
  type DType,
  type NumericStorage,
  type Storage,
} from "./dtype.ts";
import { malformed, type TensorError } from "./errors.ts";
import { printShape } from "./shape.ts";
import { bytesOf } from "./storage.ts";

/** The bytes that `size` elements take; of text none are fixed. */
export const rawLength = (dtype: DType, size: number): number => size * DTYPES[dtype].bytes;

/** The bytes of elements; a view of them where they lie in memory as in a file. */
export const encodeRaw = (_dtype: DType, data: NumericStorage): Uint8Array => bytesOf(data);

/**
 * Elements from the bytes that they take, copied: a file promises no alignment, and its memory is the caller's.
 * @param what has the bytes, in errors
 * @throws TensorError `malformed-file` for more or fewer bytes, and for values that `dtype` does not have
 */
export function decodeRaw(
  dtype: Exclude<DType, "string">,
  shape: readonly number[],
  size: number,
  raw: Uint8Array,
  what: string,
): Storage {
  const needed = rawLength(dtype, size);
  if (raw.length !== needed) throw wrongLength(what, dtype, shape, needed, raw.length);
  if (dtype === "bool") {
    const wrong = raw.find((byte) => byte > 1);
    if (wrong !== undefined) throw wrongValue(what, dtype, wrong);
  }
  const data: Storage = allocate(dtype, size);
  if (isNumericStorage(data)) bytesOf(data).set(raw);
  return data;
}

export const wrongLength = (
  what: string,
  dtype: DType,
  shape: readonly number[],
  needed: number,
  found: number,
): TensorError =>
  malformed(`${what}, ${dtype}${printShape(shape)}, needs ${needed} bytes, but ${found} are there`);

export function wrongValue(what: string, dtype: DType, value: unknown): TensorError {
  const range = dtype === "bool" ? [0, 1] : integerRange(dtype);
  const takes = range === null ? "" : `, which is not in ${range[0]}..${range[1]}`;
  return malformed(`${what} of ${dtype} holds ${String(value)}${takes}`);
}
