/** Divides a box of a row-major array into runs of contiguous elements. */

import { ARRAYS } from "../../core/limits.ts";
import { product, stridesOf } from "../../core/tensor/shape.ts";
import type { RowRuns } from "./array.ts";

/** A run of `length` elements at position `at` in the array and position `place` in the box. */
export interface Run {
  readonly at: number;
  readonly place: number;
  readonly length: number;
}

/**
 * Divides a box into its longest contiguous runs, in order. In an array with shape `shape`, the box has first
 * coordinates `start` and shape `box`.
 */
export function contiguousRuns(
  shape: readonly number[],
  start: readonly number[],
  box: readonly number[],
): Run[] {
  const size = product(box);
  if (size === 0) return [];
  const strides = stridesOf(shape);
  // Trailing axes that the box covers completely extend the run of the preceding axis.
  let axis = shape.length - 1;
  while (axis > 0 && box[axis] === shape[axis]) axis--;
  const length = product(box, Math.max(axis, 0));
  const coordinates = box.map(() => 0);
  let at = start.reduce((sum, from, d) => sum + from * strides[d], 0);
  const runs: Run[] = [];
  for (let place = 0; place < size; place += length) {
    runs.push({ at, place, length });
    for (let d = axis - 1; d >= 0; d--) {
      at += strides[d];
      if (++coordinates[d] < box[d]) break;
      at -= box[d] * strides[d];
      coordinates[d] = 0;
    }
  }
  return runs;
}

/** Reads or writes bytes of a file from position `at` on. */
export type MoveAt = (at: number, bytes: Uint8Array) => Promise<void>;

/** Byte ranges of a file, in ascending order. */
export interface Ranges {
  readonly starts: Float64Array;
  readonly lengths: Float64Array;
}

/** Returns the byte ranges of runs of rows, whose first row begins at byte `first`. Rows must be contiguous. */
export function rangesOf({ starts, counts }: RowRuns, first: number, rowBytes: number): Ranges {
  const [at, lengths] = [new Float64Array(starts.length), new Float64Array(starts.length)];
  for (let i = 0; i < starts.length; i++) {
    at[i] = first + starts[i] * rowBytes;
    lengths[i] = counts[i] * rowBytes;
  }
  return { starts: at, lengths };
}

/** Groups runs for reading: each group is a single long run, or several short runs that are close together. */
export function* groupsOf(runs: readonly Run[]): Generator<readonly Run[]> {
  const { fileRun, span: most } = ARRAYS;
  for (let first = 0, last = 0; first < runs.length; first = ++last) {
    if (runs[first].length < fileRun) {
      while (last + 1 < runs.length && spanOf(runs[first], runs[last + 1]) <= most) last++;
    }
    yield runs.slice(first, last + 1);
  }
}

const spanOf = (first: Run, last: Run): number => last.at + last.length - first.at;

/** Reads a group's runs into their positions in `into`. */
export async function readGroup(
  read: MoveAt,
  group: readonly Run[],
  into: Uint8Array,
): Promise<void> {
  const [{ at, place, length }] = group;
  if (group.length === 1) return read(at, into.subarray(place, place + length));
  const span = new Uint8Array(spanOf(group[0], group[group.length - 1]));
  await read(at, span);
  for (const run of group) {
    into.set(span.subarray(run.at - at, run.at - at + run.length), run.place);
  }
}
