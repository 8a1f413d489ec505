/** Compares two tensors of the same data type and shape, bit by bit. */

import {
  DTYPES,
  isNumericStorage,
  type DType,
  type NumericStorage,
  type Storage,
} from "./dtype.ts";
import { bytesOf } from "./storage.ts";

interface Elements {
  readonly dtype: DType;
  readonly data: Storage;
}

/** Returns the position of the first element in which two tensors of the same data type and shape differ, or -1. */
export function differenceAt({ dtype, data }: Elements, other: Elements): number {
  if (!isNumericStorage(data)) {
    return data.findIndex((text, position) => text !== other.data[position]);
  }
  const left = bytesOf(data);
  const right = bytesOf(other.data as NumericStorage);
  for (let at = 4 * equalWords(left, right); at < left.length; at++) {
    if (left[at] !== right[at]) return Math.floor(at / DTYPES[dtype].bytes);
  }
  return -1;
}

/** Returns the number of equal 4-byte words before the first difference; 0 if an address is not a multiple of 4. */
function equalWords(a: Uint8Array, b: Uint8Array): number {
  if (a.byteOffset % 4 !== 0 || b.byteOffset % 4 !== 0) return 0;
  const count = Math.floor(a.length / 4);
  const left = new Uint32Array(a.buffer, a.byteOffset, count);
  const right = new Uint32Array(b.buffer, b.byteOffset, count);
  let at = 0;
  while (at < count && left[at] === right[at]) at++;
  return at;
}
