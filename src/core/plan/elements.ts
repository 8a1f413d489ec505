/** Creates Plans for operators with one index per element: ScatterElements, GatherElements and their variants. */

import type { ErrorContext } from "../errors.ts";
import { product, stridesOf } from "../tensor/shape.ts";
import { readOffsets } from "./bounds.ts";
import { indexAxis, indexWordsOf, type IndexRules } from "./index-job.ts";
import { without, type Plan, type Planner } from "./plan.ts";

/**
 * Creates a planner for indices that each address one element of data. The element has the coordinates of the index,
 * except that the index's value replaces the coordinate along `axis`. Shapes must have been checked.
 * @param shape the shape of indices
 */
export function elementPlanner(
  shape: readonly number[],
  dataShape: readonly number[],
  axis: number,
  rules: IndexRules,
  fields: ErrorContext,
): Planner {
  const count = product(shape);
  const strides = stridesOf(dataShape);
  const batchAxes = countBatchAxes(shape, dataShape, axis);
  // Offsets are relative to their batch: batch axes add nothing, `axis` adds the index, and other axes add their
  // coordinates.
  const steps = strides.map((stride, d) => (d < batchAxes || d === axis ? 0 : stride));
  const along = indexAxis(dataShape, axis, rules);
  const { merge } = rules;
  const batches = product(shape, 0, batchAxes);
  const size = product(dataShape);
  const span = product(dataShape, batchAxes);
  // Elements of data whose coordinates differ on an axis after `axis` are different elements.
  const lanes = product(shape, axis + 1);
  return (indices, read) => {
    const { words, step } = indexWordsOf(indices);
    const { offsets, outside } = readOffsets(
      { kind: "elements", words, step, count, shape, steps, axis: along, merge },
      rules,
      indices,
      dataShape,
      axis,
      fields,
      read,
    );
    // If there are fewer offsets than indices, rows were merged.
    const slice = offsets.length === 0 ? 1 : count / offsets.length;
    const perBatch = batches === 0 ? 0 : offsets.length / batches;
    const merged: Plan = { offsets, slice, count: perBatch, size, batches, span };
    const plan = slice === 1 ? { ...merged, lanes } : merged;
    return outside === null ? plan : without(plan, outside);
  };
}

/**
 * Returns the number of leading axes that can be batch axes. Batch axes come before `axis`, and each batch must be
 * contiguous in data, so indices must cover data along every batch axis except the first.
 */
function countBatchAxes(
  shape: readonly number[],
  dataShape: readonly number[],
  axis: number,
): number {
  let axes = Math.min(axis, 1);
  while (axes > 0 && axes < axis && shape[axes] === dataShape[axes]) axes++;
  return axes;
}
