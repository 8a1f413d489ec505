/**
 * From a call to a result: resolve, check, infer, plan, execute. The only file that knows operators and engines.
 *
 * Everything is checked before the first write, in this order: operator, attributes and reduction, data types, ranks,
 * axis, shapes, `out`, indices, duplicates.
 */

import { defaultExecutor } from "./engines/default.ts";
import type { Executor } from "./engines/executor.ts";
import { printValue, TensorError, type ErrorFields } from "./errors.ts";
import { executeGather, executeScatter } from "./execute.ts";
import { checkDTypes, settingsOf, type Attributes } from "./operators/call.ts";
import type { Operator, OperatorVersion, Settings, TensorType } from "./operators/operator.ts";
import { lookUp, type OperatorId } from "./operators/registry.ts";
import { objectOf, optionsOf } from "./options.ts";
import { checkOut } from "./out.ts";
import { split, type Plan } from "./plan.ts";
import { checkRankLimit, coordinatesOf, isKnown, printShape, sizeOf } from "./shape.ts";
import { asTensor, checkDType, fromNested, type Tensor } from "./tensor.ts";
import { isList } from "./values.ts";

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

/** One call of one version, with everything decided but the tensors. */
interface Call {
  readonly operator: Operator;
  readonly version: OperatorVersion;
  readonly settings: Settings;
  /** Who speaks in errors. */
  readonly fields: ErrorFields;
}

/**
 * Runs one node by the rules of exactly its version.
 *
 * @param inputs tensors in the order of the version's inputs
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
  checkDuplicatesOption(options.duplicates, call.operator, call.fields);
  checkInputCount(call, inputs);
  const tensors = call.version.inputs.map(({ name }, position) =>
    asTensor(inputs[position], call.fields, name),
  );
  return [execute(call, tensors, options, executorOf(options.engine, call.fields))];
}

/**
 * The types of a node's outputs from what is known of its inputs' types. What is certainly wrong is an error, what is
 * unknown stays unknown.
 *
 * @throws TensorError as {@link run}, as far as types and shapes tell
 */
export function infer(node: NodeSpec, inputTypes: readonly TensorType[]): TensorType[] {
  const call = callOf(node);
  checkInputCount(call, inputTypes);
  for (const [position, { name: input }] of call.version.inputs.entries()) {
    checkType(inputTypes[position], { ...call.fields, input });
  }
  return [inferType(call, inputTypes)];
}

/**
 * Runs an operator without a version: int32 or int64 indices, every data type and reduction, and nested lists for
 * indices and updates. `options` holds the attributes, in JavaScript's spelling, beside `out` and `duplicates`.
 */
export function runPlain(
  executor: Executor,
  operator: Operator,
  inputs: readonly unknown[],
  options: unknown = {},
): Tensor {
  const version = operator.plain;
  const fields = { op: version.name };
  const own: RunOptions & Attributes = objectOf("options", options, fields);
  const settings = settingsOf(version, [version], own, fields, ["out", "duplicates"]);
  checkDuplicatesOption(own.duplicates, operator, fields);
  const [given, indices, updates] = inputs;
  const data = asTensor(given, fields, "data");
  const tensors = [data, listOrTensor("int64", indices, fields, "indices")];
  if (operator.kind === "scatter") {
    tensors.push(listOrTensor(data.dtype, updates, fields, "updates"));
  }
  const call = { operator, version, settings, fields };
  return execute(call, tensors, own, executor);
}

function callOf(node: NodeSpec): Call {
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

/** @throws TensorError `attribute` for duplicates that are neither word, or where nothing is scattered. */
function checkDuplicatesOption(duplicates: unknown, { kind }: Operator, fields: ErrorFields): void {
  if (duplicates === undefined) return;
  if (kind === "gather") {
    throw new TensorError(
      "attribute",
      "duplicates is for scatters: a gather has no targets that could repeat",
      fields,
    );
  }
  if (duplicates === "last" || duplicates === "error") return;
  throw new TensorError(
    "attribute",
    `duplicates must be "last" or "error", got ${printValue(duplicates)}`,
    fields,
  );
}

/** Checks in the fixed order, then plans, then writes. */
function execute(
  call: Call,
  inputs: readonly Tensor[],
  { out, duplicates }: RunOptions,
  executor: Executor,
): Tensor {
  const { operator, version, settings, fields } = call;
  const { dtype, shape: inferred } = inferType(call, inputs);
  // Of tensors every dimension is known.
  const shape = inferred as readonly number[];
  const [data, indices, updates] = inputs;
  const inPlace = operator.kind === "scatter" ? "data" : null;
  const target =
    out === undefined
      ? undefined
      : checkOut(out, { dtype, shape }, { data, indices, updates }, inPlace, fields);
  const rules = {
    negative: version.negativeIndices,
    // Which of them repeat is told of indices one by one.
    merge: duplicates !== "error",
    read: executor.readIndices,
  };
  return executor.scope(() => {
    const plan = operator.plan(data.shape, indices, settings, rules, fields);
    if (operator.kind === "gather") return executeGather(executor, plan, data, shape, target);
    if (duplicates === "error" && settings.reduction === "none") {
      checkDuplicates(plan, operator, indices, data, fields);
    }
    return executeScatter(executor, plan, data, updates, settings.reduction, target, fields);
  });
}

function inferType(
  { operator, version, settings, fields }: Call,
  inputs: readonly TensorType[],
): TensorType {
  checkDTypes(version, operator.versions, inputs, settings.reduction, fields);
  const shapes = inputs.map(({ shape }) => shape);
  const shape = operator.inferShape(shapes, settings, fields);
  if (isKnown(shape)) sizeOf(shape, fields);
  return { dtype: inputs[0].dtype, shape };
}

function executorOf(engine: unknown, fields: ErrorFields): Executor {
  if (engine === undefined) return defaultExecutor();
  if (typeof engine === "object" && engine !== null && EXECUTOR in engine) {
    return (engine as EngineLike)[EXECUTOR];
  }
  const got = printValue(engine);
  throw new TensorError("engine", `engine must come from createEngine, got ${got}`, fields);
}

function checkInputCount({ version, fields }: Call, inputs: unknown): void {
  const names = version.inputs.map(({ name }) => name);
  const got = Array.isArray(inputs) ? inputs.length : undefined;
  if (got === names.length) return;
  throw new TensorError(
    "shape-mismatch",
    `there must be a list of ${names.length} inputs (${names.join(", ")}), got ${got ?? printValue(inputs)}`,
    { ...fields, got },
  );
}

function checkType(type: unknown, fields: ErrorFields): void {
  if (typeof type !== "object" || type === null || !("dtype" in type && "shape" in type)) {
    const must = "must be a type with a dtype and a shape";
    throw new TensorError("dtype", `${fields.input} ${must}, got ${printValue(type)}`, fields);
  }
  const { dtype, shape } = type;
  checkDType(dtype, fields);
  if (shape === null) return;
  if (Array.isArray(shape)) checkRankLimit(shape, fields);
  const isShape =
    Array.isArray(shape) &&
    shape.every(
      (dim) => dim === null || typeof dim === "string" || (Number.isSafeInteger(dim) && dim >= 0),
    );
  if (isShape) return;
  throw new TensorError(
    "shape-mismatch",
    `${fields.input} must have a shape of non-negative integers, names and nulls, or null for an unknown rank`,
    fields,
  );
}

/** @throws TensorError `duplicate-index` at the first index whose target an earlier one has. */
function checkDuplicates(
  plan: Plan,
  operator: Operator,
  indices: Tensor,
  data: Tensor,
  fields: ErrorFields,
): void {
  const { first, later } = split(plan);
  if (later.source === undefined || first.source === undefined || later.count === 0) return;
  const target = later.offsets[0];
  const positions = operator.indexing === "tuples" ? indices.shape.slice(0, -1) : indices.shape;
  const at = coordinatesOf(later.source[0], positions);
  const earlier = coordinatesOf(first.source[first.offsets.indexOf(target)], positions);
  const cell = coordinatesOf(target, data.shape);
  const addressed =
    operator.indexing === "tuples" ? cell.slice(0, indices.shape[indices.shape.length - 1]) : cell;
  const where = addressed.length === 0 ? "" : printShape(addressed);
  throw new TensorError(
    "duplicate-index",
    `indices${printShape(at)} has the target of indices${printShape(earlier)}, data${where}`,
    { ...fields, input: "indices", at },
  );
}
