/**
 * Boxes that are read one after the other, axis by axis, and the number of chunks they overlap. A job's plan computes
 * from these counts how many bytes will be read, without a list of what may be millions of boxes.
 */

import { greatestCommonDivisor } from "../../core/tensor/shape.ts";

/** The sides of a grid of boxes along one axis. Boxes do not overlap. */
export interface AxisBoxes {
  /** The coordinate at which the first box begins. */
  readonly start: number;
  /** The distance from the beginning of the first box to the end of the last. */
  readonly extent: number;
  readonly count: number;
  /** The length of the longest box. */
  readonly length: number;
  /** True if each box begins where the previous one ends, and all but the last have the same length. */
  readonly isTiled: boolean;
}

/** Boxes of one length that cover an axis; the last may be shorter. */
export const tiled = (dim: number, length: number, start = 0): AxisBoxes => ({
  start,
  extent: dim,
  count: Math.ceil(dim / length),
  length: Math.min(length, dim),
  isTiled: true,
});

/**
 * The number of pairs of a box and a chunk that share a coordinate. Chunks have one length, and the first begins at 0.
 */
export function pairsAlong(
  { start, extent, count, length, isTiled }: AxisBoxes,
  chunk: number,
): number {
  if (extent === 0 || count === 0) return 0;
  const chunks = Math.floor((start + extent - 1) / chunk) - Math.floor(start / chunk) + 1;
  // Each chunk boundary cuts at most one box in two, and none if a box ends at the boundary.
  const isAligned = isTiled && start % chunk === 0;
  const common = isAligned ? Math.floor((extent - 1) / leastMultiple(length, chunk)) : 0;
  return count + chunks - 1 - common;
}

/** True if every box that overlaps a chunk covers all of it. */
export const coversChunks = (
  { start, extent, count, length, isTiled }: AxisBoxes,
  chunk: number,
): boolean =>
  isTiled && start % chunk === 0 && extent % chunk === 0 && (count === 1 || length % chunk === 0);

const leastMultiple = (a: number, b: number): number => (a / greatestCommonDivisor(a, b)) * b;
