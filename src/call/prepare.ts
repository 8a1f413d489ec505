/** What of a call is checked before its indices are read: data types, ranks, axis and shapes. */

import { TensorError } from "../errors.ts";
import { checkDTypes } from "../operators/dtypes.ts";
import {
  byRole,
  type ByRole,
  type Inputs,
  type PlanInputs,
  type TensorType,
} from "../operators/operator.ts";
import { axisFrom } from "../operators/settings.ts";
import type { IndexRules, ReadIndices } from "../plan/index-job.ts";
import { isKnown, sizeOf } from "../tensor/shape.ts";
import { hasMemory, type Tensor } from "../tensor/tensor.ts";
import type { Call } from "./call.ts";
import type { Policies } from "./policies.ts";

/** A call whose inputs fit, except for the values of its indices. */
export interface PreparedCall {
  readonly call: Call;
  /** Of the output. */
  readonly shape: readonly number[];
  readonly data: Tensor;
  /** Of a scatter. */
  readonly updates: Tensor | undefined;
  readonly planInputs: PlanInputs;
  /** The tensors that were given, in the order of the version's inputs. */
  readonly tensors: Inputs<Tensor>;
  /** The name of the input that a scatter may write to; null for a gather. */
  readonly inPlace: string | null;
}

/** @throws TensorError for data types, ranks, an axis and shapes, in this order */
export function prepare(unsettled: Call, tensors: Inputs<Tensor>): PreparedCall {
  const roles = byRole(unsettled.version, tensors);
  const { call, type } = settle(unsettled, tensors, roles);
  const { data, indices, updates } = roles;
  const { kind, defaultIndices } = call.operator;
  const { inputs } = call.version;
  // The version demands data, and of tensors every dimension is known.
  const given = data as Tensor;
  return {
    call,
    shape: type.shape as readonly number[],
    data: given,
    updates,
    planInputs: {
      data: given.shape,
      indices: indices ?? (defaultIndices?.(given.shape) as Tensor),
      updates: updates?.shape,
    },
    tensors,
    inPlace: kind === "scatter" ? inputs[0].name : null,
  };
}

/**
 * A prepared call may wait for others before it runs. Memory that was transferred in the meantime is gone; tensors that
 * were disposed of are still there, because their memory is released after the call.
 * @throws TensorError `disposed`
 */
export function checkMemory({ call, tensors }: PreparedCall, out: Tensor | undefined): void {
  const { inputs } = call.version;
  for (const [position, tensor] of [...tensors, out].entries()) {
    if (tensor === undefined || hasMemory(tensor)) continue;
    const input = position < tensors.length ? inputs[position].name : "out";
    const sentence = `the memory of ${input} was transferred before the call ended`;
    throw new TensorError("disposed", sentence, { ...call.fields, input });
  }
}

/** How the indices of a call are read. */
export const rulesOf = (
  { version, settings }: Call,
  { negative, bounds, duplicates }: Policies,
  read: ReadIndices,
): IndexRules => ({
  negative: negative === undefined ? version.negativeIndices : negative === "wrap",
  bounds: bounds ?? version.outOfRange ?? "error",
  // Duplicates are detected, first updates found and means counted per index, so rows must not be merged before.
  merge: duplicates !== "error" && settings.includeSelf && settings.reduction !== "mean",
  read,
});

/**
 * A call with its axis where that is an input whose value is known, and the type of its output. Data types are checked
 * first, then ranks, axis and shapes.
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
    : { ...call, settings: { ...settings, axis: axisFrom(axis, fields) } };
}
