/**
 * Converts elements from the byte order and axis order of a file to those of a tensor. The elements are copied as
 * integers, so NaN payloads are preserved.
 */

import type { NumericStorage } from "../../core/tensor/dtype.ts";

/** Reverses the bytes of each unit in place, even in unaligned memory. The size `unit` must be 1, 2, 4 or 8 bytes. */
export function swapBytes(array: NumericStorage, unit: number): void {
  const { buffer, byteOffset, byteLength } = array;
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

/**
 * Copies elements of `bytes` bytes from column-major (Fortran) order to row-major order. `source` and `target` must
 * have the same length and must not overlap.
 */
export function toRowMajor(
  source: NumericStorage,
  target: NumericStorage,
  shape: readonly number[],
  bytes: number,
): void {
  const from = cellsOf(source, bytes);
  const to = cellsOf(target, bytes);
  // Axes of size 1 do not affect positions. In the source, the first of the remaining axes varies fastest.
  const axes = shape.filter((dim) => dim !== 1);
  if (axes.length < 2) return to.set(from);
  const words = bytes / from.BYTES_PER_ELEMENT;
  const strides = axes.map((_, axis) => axes.slice(0, axis).reduce((a, b) => a * b, words));
  const coordinates = axes.map(() => 0);
  const last = axes.length - 1;
  const row = axes[last];
  const step = strides[last];
  let start = 0;
  for (let out = 0; out < to.length;) {
    for (let i = 0, at = start; i < row; i++, at += step) {
      for (let word = 0; word < words; word++) to[out++] = from[at + word];
    }
    let axis = last - 1;
    // The loop ends before the first coordinate can overflow, so this coordinate is not checked.
    for (; axis > 0 && ++coordinates[axis] === axes[axis]; axis--) {
      start -= (axes[axis] - 1) * strides[axis];
      coordinates[axis] = 0;
    }
    start += strides[axis];
  }
}

/**
 * Views storage as words of 1, 2 or 4 bytes, with the largest size that divides an element. There are only three word
 * sizes, because a loop over five typed-array classes takes 28 ns per element instead of 2 ns.
 */
function cellsOf(
  { buffer, byteOffset, byteLength }: NumericStorage,
  bytes: number,
): Uint8Array | Uint16Array | Uint32Array {
  if (bytes === 1) return new Uint8Array(buffer, byteOffset, byteLength);
  if (bytes === 2) return new Uint16Array(buffer, byteOffset, byteLength / 2);
  return new Uint32Array(buffer, byteOffset, byteLength / 4);
}
