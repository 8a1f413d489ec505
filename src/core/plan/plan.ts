/**
 * The Plan: a validated set of flat offsets. Operators create Plans, and engines execute them:
 *
 *     gather:   out[p] = data[offset p]
 *     scatter:  out[offset p] = f(out[offset p], updates[p])
 *
 * where each step moves or combines one slice of contiguous elements, in the order of p. Offsets point into the random
 * side, which is a gather's data or a scatter's output; the sequential side, which is a scatter's updates or a gather's
 * output, is accessed in order. A Plan does not depend on data types, and the same Plan gathers and scatters. Every
 * index is checked before its offset is computed, so code that executes a Plan does not check bounds.
 */

import { greatestCommonDivisor } from "../tensor/shape.ts";

/**
 * A Plan, in which `slice`, `size` and `span` count elements, `count` counts offsets, and `source` counts slices.
 *
 * Invariant: any two slices of a Plan that an operator creates are equal or disjoint. Merged runs (`coarsen`) may
 * partly overlap, so code that divides the columns of slices among threads must use the unmerged Plan.
 */
export interface Plan {
  /**
   * Start of each slice on the random side, relative to its batch, in row-major order of the indices. The Plan has
   * `batches * count` offsets, or `count` offsets that all batches share.
   */
  readonly offsets: Uint32Array;
  /** Number of elements per offset. */
  readonly slice: number;
  /** Number of offsets per batch. */
  readonly count: number;
  /** Number of elements on the random side. */
  readonly size: number;
  /**
   * Number of batches. Batch b has the elements `b * span` to `(b + 1) * span` of the random side; no slice extends
   * beyond its batch.
   */
  readonly batches: number;
  readonly span: number;
  /**
   * Position of each offset's slice on the sequential side. If absent, slice p belongs to the p-th offset, batch after
   * batch. Only Plans with one batch have a source. The functions `split` (in targets.ts) and `without` create Plans
   * with a source.
   */
  readonly source?: Uint32Array;
  /**
   * Number such that two positions share a target only if they are equal modulo `lanes`. If absent, any two positions
   * may share a target.
   */
  readonly lanes?: number;
  /** True if the offsets never change and will be used again, so an engine may cache data derived from them. */
  readonly isKept?: boolean;
  /** Cached results of functions that compute their result once for a kept Plan, by function. */
  readonly derived?: Map<unknown, unknown>;
}

/**
 * Merges offsets that form contiguous runs of equal length, so that the Plan has fewer, longer slices. A
 * ScatterElements whose indices are equal along each row becomes a scatter of rows (200000 x 128 float32 takes 20 ms
 * instead of 50 ms).
 */
export function coarsen(plan: Plan): Plan {
  const { offsets, slice, count } = plan;
  if (plan.source !== undefined || slice === 0) return plan;
  // The longest common run length is the greatest common divisor of all positions at which a run ends. The divisor of
  // random offsets reaches 1 after a few steps, so the search costs almost nothing if the offsets form no runs.
  let run = count;
  for (let p = 1; p < offsets.length && run > 1; p++) {
    if (offsets[p] !== offsets[p - 1] + slice) run = greatestCommonDivisor(run, p);
  }
  if (run <= 1) return plan;
  const starts = new Uint32Array(offsets.length / run);
  for (let p = 0; p < starts.length; p++) starts[p] = offsets[p * run];
  const { size, batches, span, isKept } = plan;
  const [longer, fewer] = [slice * run, count / run];
  // Literals, because a record of the remaining fields takes longer than a small call.
  return isKept === true
    ? { offsets: starts, slice: longer, count: fewer, size, batches, span, lanes: 1, isKept }
    : { offsets: starts, slice: longer, count: fewer, size, batches, span, lanes: 1 };
}

/**
 * Returns the offsets of all batches, batch after batch, relative to the start of the random side. A Plan with one
 * batch already has absolute offsets, which are returned without a copy. The JavaScript kernels use absolute offsets,
 * because one loop is simpler than two, and computing them costs little compared with the moves. Plans store relative
 * offsets, so that other engines can process batches separately or assign them to threads.
 */
export function absoluteOffsets({ offsets, count, batches, span }: Plan): Uint32Array {
  // A Plan without offsets may have more batches than a loop can count: a shape such as [2^32 - 1, 0] costs no memory.
  if (batches === 1 || count === 0) return offsets;
  const absolute = new Uint32Array(batches * count);
  const isShared = offsets.length === count;
  for (let batch = 0, p = 0; batch < batches; batch++) {
    const first = isShared ? 0 : batch * count;
    const base = batch * span;
    for (let i = 0; i < count; i++, p++) absolute[p] = base + offsets[first + i];
  }
  return absolute;
}

/** Returns a Plan of one batch. */
export function planOf(
  offsets: Uint32Array,
  slice: number,
  size: number,
  source?: Uint32Array,
): Plan {
  // Two literals, because a spread takes as long as a small call.
  const { length: count } = offsets;
  return source === undefined
    ? { offsets, slice, count, size, batches: 1, span: size }
    : { offsets, source, slice, count, size, batches: 1, span: size };
}

/**
 * Returns the Plan without the offsets that `leftOut` marks with a nonzero byte. `leftOut` has a byte for each entry of
 * `plan.offsets`, so if batches share offsets, a mark applies to every batch. The result has one batch, and its
 * `source` lists the remaining slices of the sequential side.
 */
export function without(plan: Plan, leftOut: Uint8Array): Plan {
  const { slice, size, source } = plan;
  const offsets = absoluteOffsets(plan);
  const targets = new Uint32Array(offsets.length);
  const positions = new Uint32Array(offsets.length);
  let kept = 0;
  for (let p = 0, mark = 0; p < offsets.length; p++, mark++) {
    if (mark === leftOut.length) mark = 0;
    if (leftOut[mark] !== 0) continue;
    targets[kept] = offsets[p];
    positions[kept++] = source === undefined ? p : source[p];
  }
  return planOf(targets.slice(0, kept), slice, size, positions.slice(0, kept));
}
