/**
 * Resolves the call of a job, which is stored as plain data. A chunked call is a node or a plain function, which the
 * same functions as for `run` resolve and check.
 */

import { checkNames, factOf, printValue, wrongOption } from "../../../core/foreign.ts";
import {
  callOf,
  nodeFrom,
  plainCallOf,
  plainOptions,
  policiesOf,
  type Call,
  type NodeSpec,
} from "../../../core/call/call.ts";
import { refusesRepeats, settle } from "../../../core/call/check.ts";
import { oneOf, TensorError } from "../../../core/errors.ts";
import type { Layout, TensorType } from "../../../core/operators/operator.ts";
import { FUNCTIONS, type FunctionName } from "../../../core/operators/registry.ts";
import { rolesOf } from "../../../core/operators/signature.ts";
import { allocate } from "../../../core/tensor/dtype.ts";
import { tensor, Tensor } from "../../../core/tensor/tensor.ts";
import type { ArrayType } from "../../boxes/array.ts";

/** A node, with the axis if it is an input; or a plain function and its options. */
export type CallSpec =
  | {
      readonly node: NodeSpec;
      readonly axis?: number | undefined;
      readonly duplicates?: "last" | "error" | undefined;
    }
  | { readonly function: string; readonly options: Readonly<Record<string, unknown>> };

/** A call whose inputs have been checked, except for the index values. */
export interface ResolvedCall {
  readonly call: Call;
  /** The shape of the output. */
  readonly shape: readonly number[];
  readonly layout: Layout;
}

/** The data types and shapes of the inputs, which are known before any element is read. */
export interface CallTypes {
  readonly data: Pick<ArrayType, "dtype" | "shape">;
  readonly indices: Pick<ArrayType, "dtype" | "shape">;
  readonly updates?: Pick<ArrayType, "dtype" | "shape"> | undefined;
}

/** Throws the errors that `run` throws before it reads elements. */
export function resolveCall(spec: CallSpec, types: CallTypes): ResolvedCall {
  const unsettled = callFrom(spec);
  const { version, operator, fields } = unsettled;
  if (version.indexForm === "sequences" || version.fusesBatches === true) {
    const sentence = "this version cannot run chunk by chunk; use the operator's newest opset";
    throw new TensorError("unknown-operator", sentence, { ...fields, key: "opset" });
  }
  const isGather = operator.kind === "gather";
  if (isGather !== (types.updates === undefined)) {
    const sentence = isGather ? "a gather takes no updates" : "a scatter needs updates";
    throw new TensorError("dtype", sentence, { ...fields, input: "updates" });
  }
  const axis = "node" in spec && spec.axis !== undefined ? axisTensor(spec.axis) : undefined;
  const takesAxis = unsettled.signature.positions.axis >= 0;
  if (takesAxis !== (axis !== undefined)) {
    const sentence = takesAxis ? "axis, an input, must be given" : "axis is not an input; omit it";
    throw new TensorError("axis", sentence, {
      ...fields,
      input: "axis",
      got: "axis" in spec ? (spec.axis ?? null) : null,
    });
  }
  const inputs = unsettled.signature.inputs.map(({ role }): TensorType | undefined =>
    role === "axis" ? axis : types[role],
  );
  const shapes = {
    data: types.data.shape,
    indices: types.indices.shape,
    updates: types.updates?.shape ?? null,
  };
  const settled = settle(unsettled, inputs, rolesOf(unsettled.signature, inputs), shapes);
  const { call } = settled;
  const layout = operator.layout(
    { data: shapes.data, indices: shapeOnly(types.indices), updates: types.updates?.shape },
    call,
  );
  return { call, shape: settled.shape as readonly number[], layout };
}

/** Returns true if repeated targets are an error. */
export const refusesDuplicates = ({ call }: ResolvedCall): boolean => refusesRepeats(call);

/**
 * Checks the parts of a call that do not depend on its arrays. Throws `unknown-operator`, `attribute` or `reduction`
 * errors.
 */
export function checkCall(spec: CallSpec): void {
  if (typeof spec !== "object" || spec === null) {
    throw wrongOption("call", 'an object such as { function: "scatterND", options: {} }', spec);
  }
  const known = "node" in spec ? ["node", "axis", "duplicates"] : ["function", "options"];
  checkNames("key of a call", spec, known, {});
  callFrom(spec);
}

function callFrom(spec: CallSpec): Call {
  if ("node" in spec) {
    const call = callOf(nodeFrom(spec.node));
    const { duplicates } = spec;
    return { ...call, policies: policiesOf(call.operator, { duplicates }, call.fields) };
  }
  const name = spec.function;
  if (!Object.hasOwn(FUNCTIONS, name)) {
    const allowed = Object.keys(FUNCTIONS);
    const sentence = `the function must be ${oneOf(allowed)}, got ${printValue(name)}`;
    throw new TensorError("unknown-operator", sentence, {
      key: "function",
      got: factOf(name),
      allowed,
    });
  }
  const operator = FUNCTIONS[name as FunctionName];
  return plainCallOf(operator, plainOptions(operator, spec.options));
}

function axisTensor(axis: number): Tensor {
  if (Number.isSafeInteger(axis)) return tensor("int64", [], BigInt64Array.of(BigInt(axis)));
  throw wrongOption("axis", "an integer", axis);
}

/**
 * Returns a tensor without elements that stands for the indices in layout checks. The shape may be too large for a
 * tensor in memory.
 */
const shapeOnly = ({ dtype, shape }: CallTypes["indices"]): Tensor =>
  new Tensor(dtype, [...shape], 0, allocate(dtype, 0));
