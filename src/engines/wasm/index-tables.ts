/** The tables that the kernels which read indices are given: how each axis is addressed. See `assembly/offsets.ts`. */

import type { ElementJob, IndexAxis } from "../../plan/index-job.ts";

/** Bytes of an Axis in a table, of what a Grid has beyond an Axis, and of each of a Grid's outer axes. */
export const AXIS_BYTES = 24;
const GRID_BYTES = 8;
const OUTER_BYTES = 12;

/** Writes the table of `tuples` for these axes. */
export function writeAxes(
  buffer: ArrayBufferLike,
  pointer: number,
  axes: readonly IndexAxis[],
): void {
  const table = new DataView(buffer, pointer, AXIS_BYTES * axes.length);
  for (const [j, axis] of axes.entries()) writeAxis(table, AXIS_BYTES * j, axis, 0);
}

/** The bytes of the table of `elements` and `rows` for indices of that rank. */
export const gridBytes = (rank: number): number =>
  AXIS_BYTES + GRID_BYTES + OUTER_BYTES * (rank - 1);

/** Writes the table of `elements` and `rows`, which then begin at `firstRow` of the indices. */
export function writeGrid(
  buffer: ArrayBufferLike,
  pointer: number,
  job: ElementJob,
  firstRow: number,
): void {
  const { axis, shape, steps } = job;
  const last = shape.length - 1;
  const table = new DataView(buffer, pointer, gridBytes(shape.length));
  writeAxis(table, 0, axis, steps[last]);
  let place = 0;
  for (let d = last - 1, rest = firstRow; d >= 0; rest = Math.floor(rest / shape[d]), d--) {
    const counter = rest % shape[d];
    place += counter * steps[d];
    const at = AXIS_BYTES + GRID_BYTES + OUTER_BYTES * d;
    table.setUint32(at, shape[d], true);
    table.setUint32(at + 4, steps[d], true);
    table.setUint32(at + 8, counter, true);
  }
  table.setUint32(AXIS_BYTES, place, true);
  table.setUint32(AXIS_BYTES + 4, last, true);
}

function writeAxis(table: DataView, at: number, axis: IndexAxis, step: number): void {
  table.setBigInt64(at, BigInt(axis.dim), true);
  table.setBigInt64(at + 8, BigInt(axis.wrap), true);
  table.setUint32(at + 16, axis.stride, true);
  table.setUint32(at + 20, step, true);
}
