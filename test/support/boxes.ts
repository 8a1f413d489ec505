/** Boxes of row-major arrays, element by element: the definition that the package's boxes are compared with. */

import { product } from "../../src/core/tensor/shape.ts";

/** The bytes of a box, element by element. */
export function boxOf(
  bytes: Uint8Array,
  shape: readonly number[],
  start: readonly number[],
  box: readonly number[],
  width: number,
): number[] {
  const result: number[] = [];
  const visit = (axis: number, position: number): void => {
    if (axis === shape.length) {
      result.push(...bytes.subarray(position * width, (position + 1) * width));
      return;
    }
    for (let i = 0; i < box[axis]; i++) visit(axis + 1, position * shape[axis] + start[axis] + i);
  };
  visit(0, 0);
  return result;
}

/** Replaces the box of an array by the elements of `from`. */
export function replaceBox(
  bytes: Uint8Array,
  shape: readonly number[],
  start: readonly number[],
  box: readonly number[],
  from: Uint8Array,
  width: number,
): void {
  const numbers = Uint8Array.from(boxOf(numbered(shape), shape, start, box, 4));
  for (const [at, place] of new Uint32Array(numbers.buffer).entries()) {
    bytes.set(from.subarray(at * width, (at + 1) * width), place * width);
  }
}

/** The number of each element, as bytes. */
const numbered = (shape: readonly number[]): Uint8Array =>
  new Uint8Array(Uint32Array.from({ length: product(shape) }, (_, at) => at).buffer);
