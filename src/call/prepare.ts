/** What of a call is checked before its indices are read: data types, ranks, axis and shapes. */

import type { Executor } from "../engines/executor.ts";
import { axisOf, checkDTypes } from "../operators/settings.ts";
import {
  byRole,
  type ByRole,
  type Inputs,
  type OperatorVersion,
  type PlanInputs,
  type TensorType,
} from "../operators/operator.ts";
import type { IndexRules } from "../plan/index-job.ts";
import { isKnown, sizeOf } from "../tensor/shape.ts";
import type { Tensor } from "../tensor/tensor.ts";
import type { Call } from "./call.ts";

/** A call whose inputs fit, but for the values of its indices. */
export interface PreparedCall {
  readonly call: Call;
  /** Of the output. */
  readonly shape: readonly number[];
  readonly data: Tensor;
  /** Of a scatter. */
  readonly updates: Tensor | undefined;
  readonly made: PlanInputs;
}

/** @throws TensorError for data types, ranks, an axis and shapes, in this order */
export function prepare(unsettled: Call, tensors: Inputs<Tensor>): PreparedCall {
  const roles = byRole(unsettled.version, tensors);
  const { call, type } = settle(unsettled, tensors, roles);
  const { data, indices, updates } = roles;
  const given = data as Tensor;
  return {
    call,
    // Of tensors every dimension is known.
    shape: type.shape as readonly number[],
    data: given,
    updates,
    made: {
      data: given.shape,
      indices: indices ?? (call.operator.defaultIndices?.(given.shape) as Tensor),
      updates: updates?.shape,
    },
  };
}

/** How a version reads its indices, one by one. */
export const rulesOf = (version: OperatorVersion, executor: Executor): IndexRules => ({
  negative: version.negativeIndices,
  bounds: version.outOfRange ?? "error",
  merge: false,
  read: executor.readIndices,
});

/**
 * A call whose axis is known where it is an input that is, and the type of its output. Data types come first, then
 * ranks, axis and shapes.
 */
export function settle(
  call: Call,
  inputs: Inputs<TensorType>,
  roles: ByRole<TensorType>,
): { call: Call; type: TensorType } {
  const { operator, version, settings, fields } = call;
  checkDTypes(version, operator.versions, inputs, settings.reduction, fields);
  const { data, indices, updates } = roles;
  const settled = withAxis(call, roles);
  const shapes = {
    data: data?.shape ?? null,
    indices: indices?.shape ?? null,
    updates: updates?.shape ?? null,
  };
  const shape = operator.inferShape(shapes, settled);
  if (isKnown(shape)) sizeOf(shape, fields);
  return { call: settled, type: { dtype: (data as TensorType).dtype, shape } };
}

/** The call with the axis that is an input, where one is. */
export function withAxis(call: Call, { axis }: ByRole<TensorType>): Call {
  const { settings, fields } = call;
  return axis === undefined
    ? call
    : { ...call, settings: { ...settings, axis: axisOf(axis, fields) } };
}
