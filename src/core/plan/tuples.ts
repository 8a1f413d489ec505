/** Plans from index tuples: ScatterND, GatherND and their kin. */

import type { ErrorFields } from "../errors.ts";
import { product } from "../tensor/shape.ts";
import { Tensor } from "../tensor/tensor.ts";
import { readOffsets } from "./bounds.ts";
import { indexAxis, indexWordsOf, type IndexAxis, type IndexRules } from "./index-job.ts";
import { without, type Plan } from "./plan.ts";

/**
 * The Plan in which each tuple `indices[..., :]` addresses the slice `data[batch..., tuple...]`. The first `batchDims`
 * axes of data and indices are batches. Shapes must have been checked.
 * @throws TensorError `index-out-of-range`
 */
export function planTuples(
  indices: Tensor,
  dataShape: readonly number[],
  batchDims: number,
  rules: IndexRules,
  fields: ErrorFields,
): Plan {
  const shape = Tensor.dimsOf(indices);
  const last = shape.length - 1;
  const k = shape[last];
  const slice = product(dataShape, batchDims + k);
  // Indices of shape [2^32 - 1, 0] cost no memory, but an offset for each would. Where slices are empty too, the
  // offsets would do nothing, so there are none.
  const count = k === 0 && slice === 0 ? 0 : product(shape, 0, last);
  const axes: IndexAxis[] = k === 0 ? [] : [indexAxis(dataShape, batchDims, rules)];
  for (let j = 1; j < k; j++) axes.push(indexAxis(dataShape, batchDims + j, rules));
  const { words, step } = indexWordsOf(indices);
  const { offsets, outside } = readOffsets(
    { kind: "tuples", words, step, count, axes },
    rules,
    indices,
    dataShape,
    batchDims,
    fields,
  );
  const batches = product(dataShape, 0, batchDims);
  const plan = {
    offsets,
    slice,
    count: batches === 0 ? 0 : count / batches,
    size: product(dataShape),
    batches,
    span: product(dataShape, batchDims),
  };
  return outside === null ? plan : without(plan, outside);
}
