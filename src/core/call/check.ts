/**
 * Checks a call before its indices are read: data types, then ranks, axis and shapes. After the indices are read,
 * `checkDuplicates` checks that no target is repeated, if repeats are an error.
 */

import { named, TensorError, type ErrorContext } from "../errors.ts";
import { readForeign, wrongValue } from "../foreign.ts";
import { readIndices } from "../kernels/read-indices.ts";
import {
  planIndices,
  type Inputs,
  type InputShapes,
  type PlanInputs,
  type TensorType,
} from "../operators/operator.ts";
import { axisFrom } from "../operators/settings.ts";
import { checkDTypes, rolesOf, type ByRole } from "../operators/signature.ts";
import type { IndexRules } from "../plan/indices.ts";
import { absoluteOffsets, type Plan } from "../plan/plan.ts";
import { firstRepeat, type Repeat } from "../plan/targets.ts";
import { checkDType } from "../tensor/dtype.ts";
import { transferred } from "../tensor/memory.ts";
import {
  coordinatesOf,
  isKnown,
  partialShapeOf,
  printShape,
  sizeOf,
  type PartialShape,
} from "../tensor/shape.ts";
import { Tensor } from "../tensor/tensor.ts";
import { callOfKnown, readCall, type Call, type Form, type NodeSpec } from "./call.ts";
import { checkInputCount, readInputs, tensorsOf } from "./inputs.ts";
import { singleStepOf } from "./steps.ts";

/**
 * Checks the tensors of a call, except for the index values.
 * @throws TensorError for wrong data types, ranks, axis or shapes, in this order
 */
export function formOf(unsettled: Call, tensors: Inputs<Tensor>): Form {
  const roles = rolesOf(unsettled.signature, tensors);
  const { indices: given, updates } = roles;
  // The casts below are safe: every version requires data, and every dimension of a tensor is known.
  const data = roles.data as Tensor;
  const dims = {
    data: Tensor.dimsOf(data),
    indices: given === undefined ? null : Tensor.dimsOf(given),
    updates: updates === undefined ? null : Tensor.dimsOf(updates),
  };
  const settled = settle(unsettled, tensors, roles, dims);
  const { call } = settled;
  const { operator, version, signature, settings, fields } = call;
  const shape = settled.shape as readonly number[];
  const size = shape === dims.data ? data.size : sizeOf(shape, fields);
  const indices = given ?? (operator.defaultIndices?.(dims.data) as Tensor);
  const shapes = {
    data: dims.data,
    indices: Tensor.dimsOf(indices),
    updates: dims.updates ?? undefined,
  };
  return {
    call,
    positions: signature.positions,
    shape,
    size,
    inPlace: operator.kind === "scatter" ? version.inputs[0].name : null,
    shapes,
    planner: operator.planner(shapes, call, rulesOf(call)),
    defaultIndices: given === undefined ? indices : undefined,
    refusesRepeats: refusesRepeats(call),
    step: updates === undefined ? null : singleStepOf(settings, data.dtype),
  };
}

/** A form and its tensors, for code that does more with a call than run it. */
export interface PreparedCall extends Form {
  readonly data: Tensor;
  /** Updates of a scatter; undefined for a gather. */
  readonly updates: Tensor | undefined;
  readonly planInputs: PlanInputs;
  /** Tensors that the caller passed, in the order of the version's inputs. */
  readonly tensors: Inputs<Tensor>;
}

/** Checks the tensors of a call like `formOf`. */
export function prepare(unsettled: Call, tensors: Inputs<Tensor>): PreparedCall {
  const form = formOf(unsettled, tensors);
  const { shapes, positions, defaultIndices } = form;
  const indices = (tensors[positions.indices] ?? defaultIndices) as Tensor;
  const data = tensors[positions.data] as Tensor;
  const updates = positions.updates < 0 ? undefined : tensors[positions.updates];
  return { ...form, data, updates, planInputs: { ...shapes, indices }, tensors };
}

/**
 * Checks that no tensor's memory was transferred while a prepared call was queued. Tensors that were disposed of in the
 * meantime are still usable, because their memory is released after the call.
 * @throws TensorError `disposed`
 */
export function checkMemory(call: Call, tensors: Inputs<Tensor>, out: Tensor | undefined): void {
  const { inputs } = call.version;
  for (let position = 0; position <= tensors.length; position++) {
    const tensor = position < tensors.length ? tensors[position] : out;
    if (tensor === undefined || Tensor.memoryOf(tensor).isThere) continue;
    const input = position < tensors.length ? inputs[position].name : "out";
    throw transferred(input, call.fields);
  }
}

/** Returns true if repeated targets are an error in this call. */
export const refusesRepeats = ({ operator, settings, policies }: Call): boolean =>
  policies.duplicates === "error" && settings.reduction === "none" && operator.kind === "scatter";

/** Returns the rules for reading a call's indices. */
export function rulesOf({ version, settings, policies }: Call): IndexRules {
  const { negative, bounds, duplicates } = policies;
  return {
    negative: negative === undefined ? version.negativeIndices : negative === "wrap",
    bounds: bounds ?? version.outOfRange ?? "error",
    // Merging rows would lose the individual indices, which duplicate detection, first updates and means need.
    merge: duplicates !== "error" && settings.includeSelf && settings.reduction !== "mean",
  };
}

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

/**
 * Infers the types of a node's outputs from its input types, which may be partly unknown. Unknown dimensions stay
 * unknown; a contradiction is an error only if no value of an unknown dimension could resolve it.
 *
 * @param node the node: operator, opset, domain and attributes
 * @param inputTypes types in the order of the version's inputs; `undefined` for an omitted optional input. A tensor is
 *   accepted as its own type; a tensor for an `axis` input also supplies the axis.
 * @throws TensorError the same type and shape errors as `run`
 *
 * @example
 * ```ts
 * const inputs = [{ dtype: "float32", shape: [100, 64] }, { dtype: "int64", shape: ["N"] }] as const;
 * infer({ op: "Gather", opset: 13 }, inputs); // [{ dtype: "float32", shape: ["N", 64] }]
 * ```
 */
export function infer(
  node: NodeSpec,
  inputTypes: readonly (TensorType | undefined)[],
): TensorType[] {
  const call = callOfKnown(node);
  const given = checkInputCount(call, readInputs(call.signature, inputTypes, call.fields));
  const types = call.signature.inputs.map(({ name }, position) =>
    given[position] === undefined ? undefined : checkType(given[position], call.fields, name),
  );
  const roles = rolesOf(call.signature, types);
  const { data, indices, updates } = roles;
  const shapes = {
    data: data?.shape ?? null,
    indices: indices?.shape ?? null,
    updates: updates?.shape ?? null,
  };
  const { shape } = settle(call, types, roles, shapes);
  if (isKnown(shape)) sizeOf(shape, call.fields);
  return [{ dtype: (data as TensorType).dtype, shape }];
}

function checkType(type: unknown, who: ErrorContext, input: string): TensorType {
  // A tensor is accepted as its own type; as an axis input it also supplies the axis.
  if (Tensor.isTensor(type)) return type;
  const fields = { ...who, input };
  const must = `${input} must be a type with a dtype and a shape`;
  const read = (): { dtype: unknown; shape: unknown } | null =>
    typeof type === "object" && type !== null && "dtype" in type && "shape" in type
      ? { dtype: type.dtype, shape: type.shape }
      : null;
  const parts = readForeign(read, "dtype", `${must} that can be read`, "type", fields);
  if (parts === null) {
    throw wrongValue("dtype", must, type, named(fields, "type"));
  }
  const { dtype, shape } = parts;
  checkDType(dtype, fields);
  return { dtype, shape: partialShapeOf(shape, input, fields) };
}

/**
 * Returns true if two updates of a call have the same target, regardless of the reduction.
 * @throws TensorError as `run`
 */
export function hasRepeats(node: NodeSpec, inputs: readonly unknown[]): boolean {
  const isScatter = readCall(node).operator.kind === "scatter";
  return isScatter && firstRepeat(planOfNode(node, inputs)) !== null;
}

/**
 * Returns the slices of data that the indices of a call address: the start of each, and their length, in elements. Uses
 * the shape of data, not its values.
 * @throws TensorError as `run`
 */
export function slicesOf(
  node: NodeSpec,
  inputs: readonly unknown[],
): { readonly starts: Uint32Array; readonly length: number } {
  const plan = planOfNode(node, inputs);
  return { starts: absoluteOffsets(plan), length: plan.slice };
}

function planOfNode(node: NodeSpec, inputs: readonly unknown[]): Plan {
  const unsettled = readCall(node);
  const { call, planInputs } = prepare(unsettled, tensorsOf(unsettled, inputs));
  return planIndices(planInputs, call, { ...rulesOf(call), merge: false }, readIndices);
}

/**
 * Checks that a Plan has no repeated targets.
 * @throws TensorError `duplicate-index` at the first index whose target an earlier index already has
 */
export function checkDuplicates(plan: Plan, call: Call, inputs: PlanInputs): void {
  const repeat = firstRepeat(plan);
  if (repeat !== null) throw repeatError(repeat, call, inputs);
}

/** Creates the error for a repeated target in a call's Plan. */
export function repeatError(repeat: Repeat, call: Call, inputs: PlanInputs): TensorError {
  const { positions, indexAt, addressed } = call.operator.layout(inputs, call);
  const at = indexAt(coordinatesOf(repeat.position, positions));
  const earlier = indexAt(coordinatesOf(repeat.earlier, positions));
  const cell = coordinatesOf(repeat.target, inputs.data).slice(0, addressed);
  return duplicateError(at, earlier, cell, call.fields);
}

/**
 * Creates the error for two indices with the same target.
 * @param at the position of the later index in `indices`
 * @param earlier the position of the earlier index in `indices`
 * @param cell the coordinates of the shared target in data
 */
export const duplicateError = (
  at: readonly number[],
  earlier: readonly number[],
  cell: readonly number[],
  fields: ErrorContext,
): TensorError =>
  new TensorError(
    "duplicate-index",
    `indices${printShape(at)} has the same target as indices${printShape(earlier)}, data` +
      (cell.length === 0 ? "" : printShape(cell)),
    { ...fields, input: "indices", at, earlier, target: cell },
  );
