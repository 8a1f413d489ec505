/**
 * Addressing of consecutive axes of data, which index tuples and slices along an axis share: a tuple of k indices
 * replaces the coordinates on the k axes from `first` on, once for each position on the axes between the batch axes and
 * `first`. The offsets count as batches what comes before `first`.
 */

import {
  indexAxis,
  indexWordsOf,
  readOffsets,
  type CheckedOffsets,
  type IndexAxis,
} from "../plan/indices.ts";
import { without } from "../plan/plan.ts";
import { product } from "../tensor/shape.ts";
import type { Operator, OperatorCall, PlanShapes } from "./operator.ts";

/** The axes of data that a call addresses. */
export interface Addressed {
  /** Shape of indices, without the axis of tuples. */
  readonly lead: readonly number[];
  readonly batchDims: number;
  /** First addressed axis of data. */
  readonly first: number;
  /** Number of addressed axes. */
  readonly k: number;
}

type AddressedBy = (shapes: PlanShapes, call: OperatorCall) => Addressed;

/** Returns the function that creates the planners of a family. */
export const plannerOf =
  (addressedBy: AddressedBy): Operator["planner"] =>
  (shapes, call, rules) => {
    const { data } = shapes;
    const { lead, batchDims, first, k } = addressedBy(shapes, call);
    const slice = product(data, first + k);
    const batches = product(data, 0, first);
    // Empty slices get no offsets, because a few indices may address any number of empty slices. Their indices are still
    // checked, except empty tuples: indices of shape [2^32 - 1, 0] take no memory, but reading them would.
    const isEmpty = batches === 0 || slice === 0;
    const indexCount = isEmpty && k === 0 ? 0 : product(lead);
    const count = isEmpty ? 0 : product(lead, batchDims);
    const axes: IndexAxis[] = [];
    for (let axis = first; axis < first + k; axis++) axes.push(indexAxis(data, axis, rules));
    const between = product(data, batchDims, first);
    // Every position on the axes before `first` is a batch of the Plan. A Plan can express that all batches share
    // offsets, which is the case without batch axes. A Plan cannot express that groups of batches share offsets, so
    // offsets are repeated if the call has batch axes.
    const isShared = batchDims === 0 || between === 1 || isEmpty;
    const size = product(data);
    const span = product(data, first);
    return (indices, read) => {
      const { words, step } = indexWordsOf(indices);
      const job = { kind: "tuples", words, step, count: indexCount, axes } as const;
      const checked = readOffsets(job, rules, indices, data, first, call.fields, read);
      const { offsets, outside } = isShared ? checked : repeatRuns(checked, count, between);
      const plan = { offsets: isEmpty ? NO_OFFSETS : offsets, slice, count, size, batches, span };
      return outside === null ? plan : without(plan, outside);
    };
  };

/** Returns the function that maps the offsets of a family's Plans to positions, indices and axes. */
export const layoutOf =
  (addressedBy: AddressedBy): Operator["layout"] =>
  ({ data, indices, updates }, call) => {
    const shapes = { data, indices: indices.shape, updates };
    const { lead, batchDims, first, k } = addressedBy(shapes, call);
    return {
      positions: [...data.slice(0, first), ...lead.slice(batchDims)],
      indexAt: (position) => [...position.slice(0, batchDims), ...position.slice(first)],
      addressed: first + k,
      axes: Array.from({ length: k }, (_, j) => first + j),
    };
  };

const NO_OFFSETS = new Uint32Array();

/** Repeats each run of `length` offsets, with its marks, `times` times. */
function repeatRuns(
  { offsets, outside }: CheckedOffsets,
  length: number,
  times: number,
): CheckedOffsets {
  const repeat = <T extends Uint32Array | Uint8Array>(from: T, to: T): T => {
    for (let begin = 0; begin < from.length; begin += length) {
      const run = from.subarray(begin, begin + length);
      for (let i = 0; i < times; i++) to.set(run, begin * times + i * length);
    }
    return to;
  };
  return {
    offsets: repeat(offsets, new Uint32Array(offsets.length * times)),
    outside: outside && repeat(outside, new Uint8Array(outside.length * times)),
  };
}
