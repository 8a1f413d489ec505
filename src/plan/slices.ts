/** Plans of slices along one axis: Gather and ScatterUpdate. */

import type { ErrorFields } from "../errors.ts";
import { product } from "../tensor/shape.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { outOfRange, readOffsets, type Read } from "./bounds.ts";
import { indexAxis, wordsOf, type IndexRules } from "./index-job.ts";
import { without, type Plan } from "./plan.ts";

/**
 * The Plan of slices along one axis: each index stands for a slice `data[..., index, ...]` in every place before the
 * axis. The first `batchDims` axes of both, at most those before the axis, are batches. Shapes must have been checked.
 * @throws TensorError `index-out-of-range`
 */
export function planSlices(
  indices: Tensor,
  dataShape: readonly number[],
  axis: number,
  batchDims: number,
  rules: IndexRules,
  fields: ErrorFields,
): Plan {
  const slice = product(dataShape, axis + 1);
  const read = readOffsets(
    {
      kind: "tuples",
      ...wordsOf(indices),
      count: indices.size,
      axes: [indexAxis(dataShape, axis, rules)],
    },
    rules,
    (bad) => outOfRange(indices, bad, dataShape, axis, rules, fields),
  );
  const batches = product(dataShape, 0, axis);
  // Empty slices cost no memory, so there could be any number of them; they do nothing.
  const isEmpty = batches === 0 || slice === 0;
  const count = isEmpty ? 0 : product(indices.shape, batchDims);
  const between = product(dataShape, batchDims, axis);
  // Places between the batch axes and the axis share their offsets, which one Plan says only of all batches.
  const isShared = batchDims === 0 || between === 1 || isEmpty;
  const { offsets, outside } = isShared ? read : repeatRuns(read, count, between);
  const plan = {
    offsets: isEmpty ? new Uint32Array() : offsets,
    slice,
    count,
    size: product(dataShape),
    batches,
    span: product(dataShape, axis),
  };
  return outside === null ? plan : without(plan, outside);
}

/** Every run of `length` offsets `times` times, one after the other. */
function repeatRuns({ offsets, outside }: Read, length: number, times: number): Read {
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
