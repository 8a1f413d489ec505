/** Creates Plans for operators with indices along one axis: Gather and ScatterUpdate. */

import type { ErrorContext } from "../errors.ts";
import { product } from "../tensor/shape.ts";
import { readOffsets, type CheckedOffsets } from "./bounds.ts";
import { indexAxis, indexWordsOf, type IndexRules } from "./index-job.ts";
import { without, type Planner } from "./plan.ts";

/**
 * Creates a planner in which each index addresses the slice `data[before..., index, ...]`, once for each position on
 * the axes before `axis`. The first `batchDims` axes of data and indices, which come before `axis`, are batch axes.
 * Shapes must have been checked.
 * @param shape the shape of indices
 */
export function slicePlanner(
  shape: readonly number[],
  dataShape: readonly number[],
  axis: number,
  batchDims: number,
  rules: IndexRules,
  fields: ErrorContext,
): Planner {
  const slice = product(dataShape, axis + 1);
  const indexCount = product(shape);
  const axes = [indexAxis(dataShape, axis, rules)];
  const batches = product(dataShape, 0, axis);
  // Empty slices get no offsets, because a few indices may address any number of empty slices.
  const isEmpty = batches === 0 || slice === 0;
  const count = isEmpty ? 0 : product(shape, batchDims);
  const between = product(dataShape, batchDims, axis);
  // Every position on the axes before `axis` is a batch of the Plan. A Plan can express that all batches share offsets,
  // which is the case without batch axes. A Plan cannot express that groups of batches share offsets, so offsets are
  // repeated if the call has batch axes.
  const isShared = batchDims === 0 || between === 1 || isEmpty;
  const size = product(dataShape);
  const span = product(dataShape, axis);
  return (indices, read) => {
    const { words, step } = indexWordsOf(indices);
    const checked = readOffsets(
      { kind: "tuples", words, step, count: indexCount, axes },
      rules,
      indices,
      dataShape,
      axis,
      fields,
      read,
    );
    const { offsets, outside } = isShared ? checked : repeatRuns(checked, count, between);
    const plan = { offsets: isEmpty ? NO_OFFSETS : offsets, slice, count, size, batches, span };
    return outside === null ? plan : without(plan, outside);
  };
}

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
