/** Creates Plans for operators with index tuples: ScatterND, GatherND and their variants. */

import type { ErrorContext } from "../errors.ts";
import { product } from "../tensor/shape.ts";
import { readOffsets } from "./bounds.ts";
import { indexAxis, indexWordsOf, type IndexAxis, type IndexRules } from "./index-job.ts";
import { without, type Planner } from "./plan.ts";

/**
 * Creates a planner in which each tuple `indices[..., :]` addresses the slice `data[batch..., tuple...]`. The first
 * `batchDims` axes of data and indices are batch axes. Shapes must have been checked.
 * @param shape the shape of indices
 */
export function tuplePlanner(
  shape: readonly number[],
  dataShape: readonly number[],
  batchDims: number,
  rules: IndexRules,
  fields: ErrorContext,
): Planner {
  const last = shape.length - 1;
  const k = shape[last];
  const slice = product(dataShape, batchDims + k);
  // Indices of shape [2^32 - 1, 0] take no memory, but their offsets would. Empty slices get no offsets, because their
  // offsets would have no effect.
  const count = k === 0 && slice === 0 ? 0 : product(shape, 0, last);
  const axes: IndexAxis[] = k === 0 ? [] : [indexAxis(dataShape, batchDims, rules)];
  for (let j = 1; j < k; j++) axes.push(indexAxis(dataShape, batchDims + j, rules));
  const batches = product(dataShape, 0, batchDims);
  const perBatch = batches === 0 ? 0 : count / batches;
  const size = product(dataShape);
  const span = product(dataShape, batchDims);
  return (indices, read) => {
    const { words, step } = indexWordsOf(indices);
    const { offsets, outside } = readOffsets(
      { kind: "tuples", words, step, count, axes },
      rules,
      indices,
      dataShape,
      batchDims,
      fields,
      read,
    );
    const plan = { offsets, slice, count: perBatch, size, batches, span };
    return outside === null ? plan : without(plan, outside);
  };
}
