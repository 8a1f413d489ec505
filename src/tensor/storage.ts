/** Arrays of elements as memory: when two are one, and copies between them. */

import { isNumericStorage, type NumericStorage, type Storage } from "./dtype.ts";

/** Whether writing one array changes the other. */
export function overlaps(a: Storage, b: Storage): boolean {
  if (!isNumericStorage(a) || !isNumericStorage(b)) return a === b && a.length > 0;
  return (
    a.buffer === b.buffer &&
    a.byteLength > 0 &&
    b.byteLength > 0 &&
    a.byteOffset < b.byteOffset + b.byteLength &&
    b.byteOffset < a.byteOffset + a.byteLength
  );
}

/** Whether two arrays are the same elements. */
export function isSameMemory(a: Storage, b: Storage): boolean {
  if (!isNumericStorage(a) || !isNumericStorage(b)) return a === b;
  return a.buffer === b.buffer && a.byteOffset === b.byteOffset && a.byteLength === b.byteLength;
}

/** Copies all elements between arrays of one class; `set` keeps the bits. */
export function copy(from: Storage, to: Storage): void {
  if (isNumericStorage(to)) to.set(from as never);
  else for (let p = 0; p < to.length; p++) to[p] = String(from[p]);
}

/** The bytes that a typed array covers, without a copy. */
export const bytesOf = (data: NumericStorage): Uint8Array =>
  new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
