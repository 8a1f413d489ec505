/** Plans from indices along one axis: Gather and ScatterUpdate. */

import type { ErrorFields } from "../errors.ts";
import { product } from "../tensor/shape.ts";
import { readOffsets, type CheckedOffsets } from "./bounds.ts";
import { indexAxis, indexWordsOf, type IndexRules } from "./index-job.ts";
import { without, type Planner } from "./plan.ts";

/**
 * Makes Plans in which each index addresses the slice `data[before..., index, ...]`, once for each place before the axis.
 * The first `batchDims` axes of data and indices, which lie before `axis`, are batches. Shapes must have been checked.
 * @param shape of indices
 */
export function slicePlanner(
  shape: readonly number[],
  dataShape: readonly number[],
  axis: number,
  batchDims: number,
  rules: IndexRules,
  fields: ErrorFields,
): Planner {
  const slice = product(dataShape, axis + 1);
  const indexCount = product(shape);
  const axes = [indexAxis(dataShape, axis, rules)];
  const batches = product(dataShape, 0, axis);
  // Empty slices do nothing, and a few indices may stand for any number of them, so they get no offsets.
  const isEmpty = batches === 0 || slice === 0;
  const count = isEmpty ? 0 : product(shape, batchDims);
  const between = product(dataShape, batchDims, axis);
  // All places before the axis are batches of the Plan. Without batch axes they share their offsets, which a Plan can
  // say. With batch axes only the places of one batch share, which it cannot, so their offsets are repeated.
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

/** Each run of `length` offsets, and its marks, `times` times in a row. */
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
