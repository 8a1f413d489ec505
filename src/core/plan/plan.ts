/**
 * The Plan: a validated set of flat offsets. Operators make Plans, and engines carry them out:
 *
 *     gather:   out[p] = data[offset p]
 *     scatter:  out[offset p] = f(out[offset p], updates[p])
 *
 * where each step moves or combines one slice of contiguous elements, in the order of p. Data and the output of a
 * scatter are the random side, which offsets point into; updates and the output of a gather are the sequential side,
 * which is walked in order. A Plan does not depend on data types, and the same Plan gathers and scatters. Every index
 * is checked before its offset is made, so nothing behind a Plan checks bounds.
 */

import { greatestCommonDivisor } from "../tensor/shape.ts";
import type { Tensor } from "../tensor/tensor.ts";
import type { ReadIndices } from "./index-job.ts";

/**
 * `slice`, `size` and `span` count elements, `count` counts offsets, `source` counts slices.
 *
 * Invariant: two slices of a Plan as an operator makes it are equal or disjoint. Merged runs ({@link coarsen}) may
 * overlap in part, so code that divides the columns of slices among threads must use the unmerged Plan.
 */
export interface Plan {
  /**
   * The beginning of each slice on the random side, relative to its batch, in row-major order of the indices: `batches
   * * count` offsets, or `count` if all batches share them.
   */
  readonly offsets: Uint32Array;
  /** Elements per offset. */
  readonly slice: number;
  /** Offsets per batch. */
  readonly count: number;
  /** Elements of the random side. */
  readonly size: number;
  /** Batch b is the elements `b * span` to `(b + 1) * span` of the random side; no slice reaches out of its batch. */
  readonly batches: number;
  readonly span: number;
  /**
   * The position of each offset's slice on the sequential side. Without it, slice p belongs to the p-th offset, batch
   * after batch. Only Plans of one batch have a source; `split` (in repeats.ts) and {@link without} make such Plans.
   */
  readonly source?: Uint32Array;
  /** Two positions share a target only if they are equal modulo `lanes`. Without it, any two may. */
  readonly lanes?: number;
  /** True if the offsets never change and will be used again, so an engine may cache data derived from them. */
  readonly isKept?: boolean;
  /** Results of functions of a kept Plan, by the function, for functions that compute them once. */
  readonly derived?: Map<unknown, unknown>;
}

/**
 * Makes the Plans of all indices of one shape into data of one shape: the planner has already computed everything that
 * does not depend on the values of indices.
 * @throws TensorError `index-out-of-range`
 */
export type Planner = (indices: Tensor, read: ReadIndices) => Plan;

/**
 * The same Plan with fewer, longer slices if offsets form contiguous runs of one length: a ScatterElements whose
 * indices are equal along each row becomes a scatter of rows (measured on 200000 x 128 float32: from 50 to 20 ms).
 */
export function coarsen(plan: Plan): Plan {
  const { offsets, slice, count } = plan;
  if (plan.source !== undefined || slice === 0) return plan;
  // The longest common run is the greatest common divisor of all positions at which a run ends. With random offsets the
  // divisor is 1 after a few steps, so the search costs almost nothing if the offsets form no runs.
  let run = count;
  for (let p = 1; p < offsets.length && run > 1; p++) {
    if (offsets[p] !== offsets[p - 1] + slice) run = greatestCommonDivisor(run, p);
  }
  if (run <= 1) return plan;
  const starts = new Uint32Array(offsets.length / run);
  for (let p = 0; p < starts.length; p++) starts[p] = offsets[p * run];
  const { derived: _, ...rest } = plan;
  return { ...rest, offsets: starts, slice: slice * run, count: count / run, lanes: 1 };
}

/**
 * The offsets of all batches, batch after batch, from the beginning of the random side. A Plan of one batch has them
 * already, and they are not copied. The kernels in JavaScript take these, because one loop is simpler than two and this costs
 * little beside the moves. Plans stay relative, so that another engine can work batch by batch, or give batches to threads.
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

/**
 * The Plan without the offsets that `leftOut` marks with a byte other than 0. `leftOut` has a byte for each entry of
 * `plan.offsets`, so the marks of offsets that batches share hold for every batch. The result has one batch, and its
 * `source` lists the remaining slices of the sequential side.
 */
export function without(plan: Plan, leftOut: Uint8Array): Plan {
  const offsets = absoluteOffsets(plan);
  const targets = new Uint32Array(offsets.length);
  const positions = new Uint32Array(offsets.length);
  let kept = 0;
  for (let p = 0; p < offsets.length; p++) {
    if (leftOut[p % leftOut.length] !== 0) continue;
    targets[kept] = offsets[p];
    positions[kept++] = p;
  }
  const { slice, size } = plan;
  return {
    offsets: targets.slice(0, kept),
    source: positions.slice(0, kept),
    slice,
    count: kept,
    size,
    batches: 1,
    span: size,
  };
}
