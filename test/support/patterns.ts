/** Patterns of indices. Random indices alone never form runs, overlap in part, or repeat in blocks. */

import { allocate } from "../../src/core/tensor/dtype.ts";
import { product } from "../../src/core/tensor/shape.ts";
import { Tensor } from "../../src/core/tensor/tensor.ts";
import { randomFrom, type Random } from "./random.ts";

/** `count` indices into an axis of `dim` elements, counted from the front. */
export type Pattern = (count: number, dim: number) => number[];

const filled = (count: number, at: (p: number) => number): number[] =>
  Array.from({ length: count }, (_, p) => at(p));

export const PATTERNS: Readonly<Record<string, Pattern>> = {
  random(count, dim) {
    const random = randomFrom(count);
    return filled(count, () => random(dim));
  },
  "in order": (count, dim) => filled(count, (p) => p % dim),
  reversed: (count, dim) => filled(count, (p) => dim - 1 - (p % dim)),
  "one index": (count, dim) => filled(count, () => dim >> 1),
  /** The second half starts again before the end of the first: two runs with a partial overlap. */
  "runs that overlap": (count, dim) =>
    filled(count, (p) => (p < count / 2 ? p : p - Math.floor(count / 4)) % dim),
  /** Overlap-add: windows of 8 that begin every 4. */
  windows: (count, dim) => filled(count, (p) => (4 * Math.floor(p / 8) + (p % 8)) % dim),
  /** Windows of 4 that do not overlap, and whose starts are not multiples of one length. */
  "runs apart": (count, dim) =>
    filled(count, (p) => (5 * Math.floor(p / 4) + (Math.floor(p / 4) % 2) + (p % 4)) % dim),
  "blocks that repeat": (count, dim) => filled(count, (p) => (p % 8) % dim),
  "sorted, each twice": (count, dim) => filled(count, (p) => Math.floor(p / 2) % dim),
};

/** Indices of a pattern; those of tuples address `dims` in turn, and some are counted from the back. */
export function indicesOf(
  dtype: "int32" | "int64",
  pattern: Pattern,
  shape: readonly number[],
  dims: readonly number[],
  random: Random,
): Tensor {
  const size = product(shape);
  const data = allocate(dtype, size);
  const places = dims.map((dim) => pattern(size / dims.length, dim));
  const fromBack = random(3) === 0;
  for (let p = 0; p < size; p++) {
    const axis = p % dims.length;
    const place = places[axis][Math.floor(p / dims.length)];
    const index = fromBack && random(2) === 0 ? place - dims[axis] : place;
    data[p] = dtype === "int64" ? BigInt(index) : index;
  }
  return new Tensor(dtype, shape, size, data);
}
