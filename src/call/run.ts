/**
 * From a call to a result: resolve, check, infer, plan, execute. The only file that knows operators and engines.
 *
 * Everything is checked before the first write, in this order: operator, attributes and reduction, data types, ranks,
 * axis, shapes, `out`, indices, duplicates.
 */

import { defaultExecutor } from "../engines/default.ts";
import type { Executor } from "../engines/executor.ts";
import { printValue, TensorError, type ErrorFields } from "../errors.ts";
import { executeGather, executeScatter } from "./execute.ts";
import type { IndexRules } from "../plan/index-job.ts";
import { axisOf, checkDTypes, settingsOf, type Attributes } from "../operators/call.ts";
import {
  byRole,
  roleOf,
  type ByRole,
  type Inputs,
  type Operator,
  type OperatorCall,
  type OperatorVersion,
  type PlanInputs,
  type TensorType,
} from "../operators/operator.ts";
import { lookUp, type OperatorId } from "../operators/registry.ts";
import { objectOf, optionsOf } from "./options.ts";
import { checkOut } from "./out.ts";
import { split, type Plan } from "../plan/plan.ts";
import { POLICY_NAMES, policiesOf, type Policies } from "./policies.ts";
import { checkRankLimit, coordinatesOf, isKnown, printShape, sizeOf } from "../tensor/shape.ts";
import { asTensor, checkDType, fromNested, type Tensor } from "../tensor/tensor.ts";
import { isList } from "../tensor/values.ts";

/** A node of a model: an operator at an opset, and the attributes that it is called with. */
export interface NodeSpec extends OperatorId {
  /** By the names and words of the version's document, such as `batch_dims` or `prod`. */
  readonly attributes?: Attributes | undefined;
}

export interface RunOptions {
  /** Where the result goes, which then is this tensor. A scatter may write into `data` itself. */
  readonly out?: Tensor | undefined;
  /** Whether two updates of one target are an error where the reduction is `none`; by default the last one wins. */
  readonly duplicates?: "last" | "error" | undefined;
  /** What carries it out; by default the engine behind the plain functions. */
  readonly engine?: EngineLike | undefined;
}

/** Under it an engine keeps its executor. */
export const EXECUTOR: unique symbol = Symbol("executor");

export interface EngineLike {
  readonly [EXECUTOR]: Executor;
}

/** One call of one operator's version, with everything decided but the tensors. */
export interface Call extends OperatorCall {
  readonly operator: Operator;
}

/**
 * Runs one node by the rules of exactly its version.
 *
 * @param inputs tensors in the order of the version's inputs; `undefined` for an optional one that is left out
 * @returns the outputs; one for every operator there is so far
 * @throws TensorError any code but those of files; `out` is untouched then
 */
export function run(
  node: NodeSpec,
  inputs: readonly unknown[],
  options: RunOptions = {},
): Tensor[] {
  const call = callOf(node);
  optionsOf(options, ["out", "duplicates", "engine"], call.fields);
  const { out, duplicates } = options;
  const policies = policiesOf(call.operator, { duplicates }, call.fields);
  const tensors = tensorsOf(call, inputs);
  return [execute(call, tensors, policies, out, executorOf(options.engine, call.fields))];
}

/** The inputs of a call as tensors; `undefined` for one that is left out. */
export function tensorsOf(call: Call, inputs: unknown): Inputs<Tensor> {
  const given = checkInputCount(call, inputs);
  return call.version.inputs.map(({ name }, position) =>
    given[position] === undefined ? undefined : asTensor(given[position], call.fields, name),
  );
}

/**
 * The types of a node's outputs from what is known of its inputs' types. What is certainly wrong is an error, what is
 * unknown stays unknown.
 *
 * @param inputTypes in the order of the version's inputs; `undefined` for an optional one that is left out. A tensor
 * stands for its type, and where the input is an axis also for its value.
 * @throws TensorError as {@link run}, as far as types and shapes tell
 */
export function infer(
  node: NodeSpec,
  inputTypes: readonly (TensorType | undefined)[],
): TensorType[] {
  const call = callOf(node);
  const given = checkInputCount(call, inputTypes);
  const types = call.version.inputs.map(({ name: input }, position) =>
    given[position] === undefined
      ? undefined
      : checkType(given[position], { ...call.fields, input }),
  );
  return [settle(call, types, byRole(call.version, types)).type];
}

/**
 * Runs an operator without a version: int32 or int64 indices, every data type and reduction, and nested lists for
 * indices and updates. `options` holds the attributes, in JavaScript's spelling, beside `out` and the policies.
 */
export function runPlain(
  executor: Executor,
  operator: Operator,
  inputs: readonly unknown[],
  options: unknown = {},
): Tensor {
  const version = plainOf(operator);
  const fields = { op: version.name };
  const own: RunOptions & Attributes = objectOf("options", options, fields);
  const policies = policiesOf(operator, own, fields);
  const others = ["out", ...POLICY_NAMES];
  const settings = {
    ...settingsOf(version, [version], own, fields, others),
    includeSelf: policies.includeSelf ?? true,
  };
  let data: Tensor | undefined;
  const tensors = version.inputs.map((schema, position) => {
    const { name, optional } = schema;
    const given = inputs[position];
    if (given === undefined && optional === true) return undefined;
    if (data === undefined) return (data = asTensor(given, fields, name));
    const dtype = roleOf(schema) === "indices" ? "int64" : data.dtype;
    return listOrTensor(dtype, given, fields, name);
  });
  return execute({ operator, version, settings, fields }, tensors, policies, own.out, executor);
}

/** The version behind the plain function of an operator that has one. */
export function plainOf({ plain, versions }: Operator): OperatorVersion {
  if (plain !== undefined) return plain;
  throw new Error(`${versions[0].name} of ${versions[0].domain} has no plain function`);
}

export function callOf(node: NodeSpec): Call {
  const { operator, version } = lookUp(node);
  const fields = { op: version.name, opset: version.sinceVersion };
  const { attributes: given = {} } = node;
  const attributes = objectOf("attributes", given, fields);
  const settings = settingsOf(version, operator.versions, attributes, fields);
  return { operator, version, settings, fields };
}

/** A tensor, or a nested list as one of `dtype`. */
export const listOrTensor = (
  dtype: Tensor["dtype"],
  value: unknown,
  who: ErrorFields,
  input: string,
): Tensor =>
  isList(value) || typeof value !== "object"
    ? fromNested(dtype, value, { ...who, input })
    : asTensor(value, who, input);

/** Checks in the fixed order, then plans, then writes. */
function execute(
  unsettled: Call,
  tensors: Inputs<Tensor>,
  policies: Policies,
  out: Tensor | undefined,
  executor: Executor,
): Tensor {
  const { call, shape, data, updates, made } = prepare(unsettled, tensors);
  const { operator, version, settings, fields } = call;
  const inPlace = operator.kind === "scatter" ? version.inputs[0].name : null;
  const target =
    out === undefined
      ? undefined
      : checkOut(out, { dtype: data.dtype, shape }, named(version, tensors), inPlace, fields);
  const isPlainScatter = settings.includeSelf && settings.reduction !== "mean";
  const { negative, bounds, read } = rulesOf(version, executor);
  const rules = {
    negative: policies.negative === undefined ? negative : policies.negative === "wrap",
    bounds: policies.bounds ?? bounds,
    // Which of them repeat is told of indices one by one.
    merge: policies.duplicates !== "error" && isPlainScatter,
    read,
  };
  return executor.scope(() => {
    const plan = operator.plan(made, call, rules);
    if (updates === undefined) return executeGather(executor, plan, data, shape, target);
    if (policies.duplicates === "error" && settings.reduction === "none") {
      checkDuplicates(plan, call, made);
    }
    return executeScatter(executor, plan, data, updates, settings, target, fields);
  });
}

/** Inputs under their names. */
function named({ inputs }: OperatorVersion, tensors: Inputs<Tensor>): Record<string, Tensor> {
  const record: Record<string, Tensor> = {};
  for (let p = 0; p < inputs.length; p++) {
    const tensor = tensors[p];
    if (tensor !== undefined) record[inputs[p].name] = tensor;
  }
  return record;
}

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
function settle(
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

function executorOf(engine: unknown, fields: ErrorFields): Executor {
  if (engine === undefined) return defaultExecutor();
  if (typeof engine === "object" && engine !== null && EXECUTOR in engine) {
    return (engine as EngineLike)[EXECUTOR];
  }
  const got = printValue(engine);
  throw new TensorError("engine", `engine must come from createEngine, got ${got}`, fields);
}

/** The list of inputs, of which optional ones at the end may be missing. */
function checkInputCount({ version, fields }: Call, inputs: unknown): readonly unknown[] {
  const most = version.inputs.length;
  const least = version.inputs.filter(({ optional }) => optional !== true).length;
  const isList = Array.isArray(inputs);
  const got = isList ? inputs.length : undefined;
  if (isList && inputs.length >= least && inputs.length <= most) {
    const missing = version.inputs.findIndex(
      ({ optional }, position) => optional !== true && inputs[position] === undefined,
    );
    if (missing === -1) return inputs;
    const input = version.inputs[missing].name;
    throw new TensorError("shape-mismatch", `${input} is left out, but may not be`, {
      ...fields,
      input,
    });
  }
  const names = version.inputs.map(({ name, optional }) => (optional === true ? `${name}?` : name));
  const many = least === most ? `${most}` : `${least} to ${most}`;
  throw new TensorError(
    "shape-mismatch",
    `there must be a list of ${many} inputs (${names.join(", ")}), got ${got ?? printValue(inputs)}`,
    { ...fields, got },
  );
}

function checkType(type: unknown, fields: ErrorFields): TensorType {
  if (typeof type !== "object" || type === null || !("dtype" in type && "shape" in type)) {
    const must = "must be a type with a dtype and a shape";
    throw new TensorError("dtype", `${fields.input} ${must}, got ${printValue(type)}`, fields);
  }
  const { dtype, shape } = type;
  checkDType(dtype, fields);
  if (Array.isArray(shape)) checkRankLimit(shape, fields);
  const isShape =
    shape === null ||
    (Array.isArray(shape) &&
      shape.every(
        (dim) => dim === null || typeof dim === "string" || (Number.isSafeInteger(dim) && dim >= 0),
      ));
  if (isShape) return type as TensorType;
  throw new TensorError(
    "shape-mismatch",
    `${fields.input} must have a shape of non-negative integers, names and nulls, or null for an unknown rank`,
    fields,
  );
}

/** @throws TensorError `duplicate-index` at the first index whose target an earlier one has. */
function checkDuplicates(plan: Plan, call: Call, inputs: PlanInputs): void {
  const { first, later } = split(plan);
  if (later.source === undefined || first.source === undefined || later.count === 0) return;
  const { positions, indexAt, addressed } = call.operator.layout(inputs, call);
  const target = later.offsets[0];
  const at = indexAt(coordinatesOf(later.source[0], positions));
  const earlier = indexAt(coordinatesOf(first.source[first.offsets.indexOf(target)], positions));
  const cell = coordinatesOf(target, inputs.data).slice(0, addressed);
  const where = cell.length === 0 ? "" : printShape(cell);
  throw new TensorError(
    "duplicate-index",
    `indices${printShape(at)} has the target of indices${printShape(earlier)}, data${where}`,
    { ...call.fields, input: "indices", at },
  );
}
