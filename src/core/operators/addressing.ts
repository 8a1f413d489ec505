/**
 * The three ways in which operators address data: by index tuples, by slices along an axis, and by single elements.
 * Each way is a pair of functions, `planner` and `layout`, which several operators share.
 *
 * `src/core/plan/` computes the offsets; this file reads the axis and the batch axes from the settings.
 */

import { elementPlanner } from "../plan/elements.ts";
import { slicePlanner } from "../plan/slices.ts";
import { tuplePlanner } from "../plan/tuples.ts";
import { normalizeAxis, normalizeBatchDims } from "./checks.ts";
import type { Operator, OperatorCall } from "./operator.ts";

type Addressing = Pick<Operator, "planner" | "layout">;

/**
 * Addressing by ScatterND, GatherND and their variants: the last axis of indices holds tuples, which address the axes
 * after the batch axes.
 */
export const byTuples: Addressing = {
  planner: ({ data, indices }, { settings, fields }, rules) =>
    tuplePlanner(indices, data, settings.batchDims, rules, fields),

  layout({ indices }, { settings: { batchDims } }) {
    const k = indices.shape[indices.shape.length - 1];
    return {
      positions: indices.shape.slice(0, -1),
      indexAt: (position) => position,
      addressed: batchDims + k,
      axes: Array.from({ length: k }, (_, j) => batchDims + j),
    };
  },
};

/**
 * Addressing by Gather and ScatterUpdate: each index addresses a slice along the axis, once for each position on the
 * axes before it.
 */
export const bySlices: Addressing = {
  planner: ({ data, indices }, call, rules) =>
    slicePlanner(
      indices,
      data,
      axisOfCall(data, call),
      batchDimsOfCall(indices, call),
      rules,
      call.fields,
    ),

  layout(inputs, call) {
    const axis = axisOfCall(inputs.data, call);
    const batchDims = batchDimsOfCall(inputs.indices.shape, call);
    return {
      positions: [...inputs.data.slice(0, axis), ...inputs.indices.shape.slice(batchDims)],
      indexAt: (position) => [...position.slice(0, batchDims), ...position.slice(axis)],
      addressed: axis + 1,
      axes: [axis],
    };
  },
};

/**
 * Addressing by ScatterElements, GatherElements and their variants: the value of an index replaces the index's
 * coordinate along the axis.
 */
export const byElements: Addressing = {
  planner: ({ data, indices }, call, rules) =>
    elementPlanner(indices, data, axisOfCall(data, call), rules, call.fields),

  layout: (inputs, call) => ({
    positions: inputs.indices.shape,
    indexAt: (position) => position,
    addressed: inputs.data.length,
    axes: [axisOfCall(inputs.data, call)],
  }),
};

/**
 * Returns the axis of a call, which is always known before a Plan is created, because an axis input has become a
 * setting by then.
 */
const axisOfCall = (data: readonly number[], { settings, fields }: OperatorCall): number =>
  normalizeAxis(Number(settings.axis), data.length, fields);

const batchDimsOfCall = (indices: readonly number[], { settings }: OperatorCall): number =>
  Number(normalizeBatchDims(settings.batchDims, indices));
