/** Plans of single elements: the …Elements operators. */

import type { ErrorFields } from "../errors.ts";
import { product, stridesOf } from "../tensor/shape.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { outOfRange, readOffsets } from "./bounds.ts";
import { indexAxis, wordsOf, type IndexRules } from "./index-job.ts";
import { without, type Plan } from "./plan.ts";

/**
 * The Plan of single elements: each index replaces the coordinate of its own place along `axis`. Shapes must have
 * been checked.
 * @throws TensorError `index-out-of-range`
 */
export function planElements(
  indices: Tensor,
  dataShape: readonly number[],
  axis: number,
  rules: IndexRules,
  fields: ErrorFields,
): Plan {
  const { shape, size: count } = indices;
  const strides = stridesOf(dataShape);
  const batchAxes = countBatchAxes(shape, dataShape, axis);
  // Within a batch the axis counts by the index and the batch axes not at all; the other axes count by themselves.
  const steps = strides.map((stride, d) => (d < batchAxes || d === axis ? 0 : stride));
  const along = indexAxis(dataShape, axis, rules);
  const { merge } = rules;
  const { offsets, outside } = readOffsets(
    { kind: "elements", ...wordsOf(indices), count, shape, steps, axis: along, merge },
    rules,
    (bad) => outOfRange(indices, bad, dataShape, axis, rules, fields),
  );
  const batches = product(shape, 0, batchAxes);
  const slice = offsets.length === 0 ? 1 : count / offsets.length;
  const plan = {
    offsets,
    slice,
    count: batches === 0 ? 0 : offsets.length / batches,
    size: product(dataShape),
    batches,
    span: product(dataShape, batchAxes),
    // Elements with other coordinates behind the axis are other elements.
    ...(slice === 1 && { lanes: product(shape, axis + 1) }),
  };
  return outside === null ? plan : without(plan, outside);
}

/**
 * How many leading axes can be batches: those before `axis` on which batches lie one after the other in data, that
 * is, on which the indices cover data, but for the first.
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
