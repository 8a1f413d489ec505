/**
 * Describes and changes the order in which a file stores elements. The bytes of elements are moved as integers, so NaN
 * payloads are preserved.
 */

import { malformed } from "../../core/errors.ts";
import { coordinatesOf, printShape, stridesOf } from "../../core/tensor/shape.ts";
import { findNonBool } from "../../core/tensor/storage.ts";
import type { Strided } from "../boxes/boxes.ts";
import type { ElementType } from "./descr.ts";

/** Describes memory that contains an array of shape `shape` in Fortran order. */
export const columnMajor = (bytes: Uint8Array, shape: readonly number[]): Strided => ({
  bytes,
  at: 0,
  strides: stridesOf(shape.toReversed()).toReversed(),
});

/**
 * Converts the elements of a box from the byte order of a file to that of memory, in place. The box has first
 * coordinates `start`. Throws a `malformed-file` error for a bool other than 0 or 1.
 */
export function toMemory(
  bytes: Uint8Array,
  { dtype, unit, bigEndian }: ElementType,
  shape: readonly number[],
  start?: readonly number[],
): void {
  if (bigEndian) swapBytes(bytes, unit);
  const position = dtype === "bool" ? findNonBool(bytes) : -1;
  if (position === -1) return;
  const at = coordinatesOf(position, shape).map((one, axis) => one + (start?.[axis] ?? 0));
  const got = bytes[position];
  const sentence = `the NPY file has the byte ${got} at ${printShape(at)} where a bool must be 0 or 1`;
  throw malformed(sentence, { at, got });
}

/** Reverses the bytes of each unit in place, even in unaligned memory. The size `unit` must be 1, 2, 4 or 8 bytes. */
export function swapBytes({ buffer, byteOffset, byteLength }: Uint8Array, unit: number): void {
  if (byteOffset % unit !== 0) {
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    const aligned = bytes.slice();
    swapBytes(aligned, unit);
    bytes.set(aligned);
  } else if (unit === 2) {
    const cells = new Uint16Array(buffer, byteOffset, byteLength / 2);
    for (let i = 0; i < cells.length; i++) cells[i] = (cells[i] << 8) | (cells[i] >>> 8);
  } else if (unit === 4) {
    const words = new Uint32Array(buffer, byteOffset, byteLength / 4);
    for (let i = 0; i < words.length; i++) words[i] = reversed(words[i]);
  } else if (unit === 8) {
    const words = new Uint32Array(buffer, byteOffset, byteLength / 4);
    for (let i = 0; i < words.length; i += 2) {
      const low = words[i];
      words[i] = reversed(words[i + 1]);
      words[i + 1] = reversed(low);
    }
  }
}

const reversed = (word: number): number =>
  (word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24);
