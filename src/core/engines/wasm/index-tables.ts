/**
 * Writes the tables that tell index-reading kernels how each axis is addressed; `assembly/offsets.ts` describes the
 * format.
 */

import type { ElementJob, IndexAxis } from "../../plan/indices.ts";

/** Number of words that an Axis takes in a table. */
export const AXIS_WORDS = 6;
/** Number of words that a Grid takes in addition to its Axis. */
const GRID_WORDS = 2;
/** Number of words that each outer axis of a Grid takes. */
const OUTER_WORDS = 3;

/** Writes the table that the kernel `tuples` needs for the given axes. */
export function writeAxes(table: Uint32Array, axes: readonly IndexAxis[]): void {
  for (let j = 0; j < axes.length; j++) writeAxis(table, AXIS_WORDS * j, axes[j], 0);
}

/** Returns the number of words in the table of the kernels `elements` and `rows`, for indices of the given rank. */
export const gridWords = (rank: number): number =>
  AXIS_WORDS + GRID_WORDS + OUTER_WORDS * (rank - 1);

/** Writes the table for the kernels `elements` and `rows`, so that they begin at row `firstRow` of the indices. */
export function writeGrid(table: Uint32Array, job: ElementJob, firstRow: number): void {
  const { axis, shape, steps } = job;
  const last = shape.length - 1;
  writeAxis(table, 0, axis, steps[last]);
  let place = 0;
  for (let d = last - 1, rest = firstRow; d >= 0; rest = Math.floor(rest / shape[d]), d--) {
    const counter = rest % shape[d];
    place += counter * steps[d];
    const at = AXIS_WORDS + GRID_WORDS + OUTER_WORDS * d;
    table[at] = shape[d];
    table[at + 1] = steps[d];
    table[at + 2] = counter;
  }
  table[AXIS_WORDS] = place;
  table[AXIS_WORDS + 1] = last;
}

/** Writes an axis. The dimension and the wrap have 64 bits in the table, although they are less than 2^32. */
function writeAxis(table: Uint32Array, at: number, axis: IndexAxis, step: number): void {
  table[at] = axis.dim;
  table[at + 1] = 0;
  table[at + 2] = axis.wrap;
  table[at + 3] = 0;
  table[at + 4] = axis.stride;
  table[at + 5] = step;
}
