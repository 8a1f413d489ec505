/** Checks a call before its indices are read: data types, ranks, axis and shapes. */

import { checkDTypes } from "../operators/dtypes.ts";
import type {
  Inputs,
  InputShapes,
  PlanInputs,
  PlanShapes,
  TensorType,
} from "../operators/operator.ts";
import { axisFrom } from "../operators/settings.ts";
import { rolesOf, type ByRole } from "../operators/signature.ts";
import type { IndexRules } from "../plan/index-job.ts";
import type { Planner } from "../plan/plan.ts";
import { sizeOf, type PartialShape } from "../tensor/shape.ts";
import { Tensor } from "../tensor/tensor.ts";
import { transferred } from "../tensor/memory.ts";
import type { Call } from "./call.ts";
import type { Policies } from "./policies.ts";

/** Properties of a call that depend on data types and shapes, not on the values of tensors. */
interface FormOfTensors {
  readonly call: Call;
  /** Shape of the output. */
  readonly shape: readonly number[];
  readonly size: number;
  /** Name of the input that a scatter may write to; null for a gather. */
  readonly inPlace: string | null;
}

/** A form with the rules for its indices: everything known about a call before its tensors are read. */
export interface Form extends FormOfTensors {
  /** Position of data among the inputs. */
  readonly data: number;
  /** Position of indices among the inputs. */
  readonly indices: number;
  /** Position of updates among the inputs; -1 for a gather. */
  readonly updates: number;
  readonly shapes: PlanShapes;
  readonly planner: Planner;
  /** Indices to use if the call omits them. */
  readonly defaultIndices: Tensor | undefined;
  readonly refusesRepeats: boolean;
}

/** A call whose inputs have been checked, except for the index values. */
export interface PreparedCall extends FormOfTensors {
  readonly data: Tensor;
  /** Updates of a scatter; undefined for a gather. */
  readonly updates: Tensor | undefined;
  readonly planInputs: PlanInputs;
  /** Tensors that the caller passed, in the order of the version's inputs. */
  readonly tensors: Inputs<Tensor>;
}

/**
 * Checks a call and its tensors, except for the index values.
 * @throws TensorError for wrong data types, ranks, axis or shapes, in this order
 */
export function prepare(unsettled: Call, tensors: Inputs<Tensor>): PreparedCall {
  const roles = rolesOf(unsettled.signature, tensors);
  const { indices, updates } = roles;
  // The casts below are safe: every version requires data, and every dimension of a tensor is known.
  const data = roles.data as Tensor;
  const shapes = {
    data: Tensor.dimsOf(data),
    indices: indices === undefined ? null : Tensor.dimsOf(indices),
    updates: updates === undefined ? null : Tensor.dimsOf(updates),
  };
  const settled = settle(unsettled, tensors, roles, shapes);
  const { call } = settled;
  const { kind, defaultIndices } = call.operator;
  const shape = settled.shape as readonly number[];
  return {
    call,
    shape,
    size: shape === shapes.data ? data.size : sizeOf(shape, call.fields),
    data,
    updates,
    planInputs: {
      data: shapes.data,
      indices: indices ?? (defaultIndices?.(shapes.data) as Tensor),
      updates: shapes.updates ?? undefined,
    },
    tensors,
    inPlace: kind === "scatter" ? call.version.inputs[0].name : null,
  };
}

/**
 * Checks a call like `prepare`, and returns only the parts that also apply to other tensors of the same types and
 * shapes.
 */
export function formOf(unsettled: Call, policies: Policies, tensors: Inputs<Tensor>): Form {
  const { call, shape, size, inPlace, planInputs } = prepare(unsettled, tensors);
  const { indices } = planInputs;
  const shapes = { ...planInputs, indices: Tensor.dimsOf(indices) };
  const { positions } = call.signature;
  return {
    call,
    data: positions.data,
    indices: positions.indices,
    updates: positions.updates,
    shapes,
    shape,
    size,
    inPlace,
    planner: call.operator.planner(shapes, call, rulesOf(call, policies)),
    defaultIndices: tensors.includes(indices) ? undefined : indices,
    refusesRepeats: refusesRepeats(call, policies),
  };
}

/**
 * Checks that no tensor's memory was transferred while a prepared call was queued. Tensors that were disposed of in the
 * meantime are still usable, because their memory is released after the call.
 * @throws TensorError `disposed`
 */
export function checkMemory(call: Call, tensors: Inputs<Tensor>, out: Tensor | undefined): void {
  const { inputs } = call.version;
  for (const [position, tensor] of [...tensors, out].entries()) {
    if (tensor === undefined || Tensor.memoryOf(tensor).isThere) continue;
    const input = position < tensors.length ? inputs[position].name : "out";
    throw transferred(input, call.fields);
  }
}

/** Returns true if repeated targets are an error in this call. */
export const refusesRepeats = ({ operator, settings }: Call, { duplicates }: Policies): boolean =>
  duplicates === "error" && settings.reduction === "none" && operator.kind === "scatter";

/** Returns the rules for reading a call's indices. */
export const rulesOf = (
  { version, settings }: Call,
  { negative, bounds, duplicates }: Policies,
): IndexRules => ({
  negative: negative === undefined ? version.negativeIndices : negative === "wrap",
  bounds: bounds ?? version.outOfRange ?? "error",
  // Merging rows would lose the individual indices, which duplicate detection, first updates and means need.
  merge: duplicates !== "error" && settings.includeSelf && settings.reduction !== "mean",
});

/**
 * Checks data types, then ranks, axis and shapes. Returns the call, with its axis if the axis is an input with a known
 * value, and the output shape, whose size is not checked.
 */
export function settle(
  call: Call,
  inputs: Inputs<TensorType>,
  roles: ByRole<TensorType>,
  shapes: InputShapes,
): { readonly call: Call; readonly shape: PartialShape } {
  const { operator, signature, settings, fields } = call;
  checkDTypes(signature, operator.versions, inputs, settings.reduction, fields);
  const settled = withAxis(call, roles);
  return { call: settled, shape: operator.inferShape(shapes, settled) };
}

/**
 * Returns the call with the value of its axis input as a setting; returns the call unchanged if it has no axis input.
 */
export function withAxis(call: Call, { axis }: ByRole<TensorType>): Call {
  const { settings, fields } = call;
  return axis === undefined
    ? call
    : { ...call, settings: { ...settings, axis: axisFrom(axis, fields) } };
}
