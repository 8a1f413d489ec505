/**
 * Describes grids of boxes axis by axis, and counts the chunks that the boxes overlap. A job plan computes the number
 * of bytes to read from these counts, because a list of all boxes could have millions of entries.
 */

import { greatestCommonDivisor } from "../../core/tensor/shape.ts";

/** The extents of a box grid along one axis. Boxes do not overlap. */
export interface AxisBoxes {
  /** The coordinate at which the first box begins. */
  readonly start: number;
  /** The distance from the start of the first box to the end of the last. */
  readonly extent: number;
  readonly count: number;
  /** The length of the longest box. */
  readonly length: number;
  /** True if each box begins where the previous one ends, and all but the last have the same length. */
  readonly isTiled: boolean;
}

/** Returns boxes of equal length that cover an axis; the last may be shorter. */
export const tiled = (dim: number, length: number, start = 0): AxisBoxes => ({
  start,
  extent: dim,
  count: Math.ceil(dim / length),
  length: Math.min(length, dim),
  isTiled: true,
});

/** Counts the pairs of a box and a chunk that overlap. Chunks have equal lengths, and the first begins at 0. */
export function pairsAlong(
  { start, extent, count, length, isTiled }: AxisBoxes,
  chunk: number,
): number {
  if (extent === 0 || count === 0) return 0;
  const chunks = Math.floor((start + extent - 1) / chunk) - Math.floor(start / chunk) + 1;
  // Each chunk boundary cuts at most one box, and cuts none if a box ends exactly at the boundary.
  const isAligned = isTiled && start % chunk === 0;
  const common = isAligned ? Math.floor((extent - 1) / leastMultiple(length, chunk)) : 0;
  return count + chunks - 1 - common;
}

/** Returns true if each box consists of whole chunks. */
export const coversChunks = (
  { start, extent, count, length, isTiled }: AxisBoxes,
  chunk: number,
): boolean =>
  isTiled && start % chunk === 0 && extent % chunk === 0 && (count === 1 || length % chunk === 0);

const leastMultiple = (a: number, b: number): number => (a / greatestCommonDivisor(a, b)) * b;
