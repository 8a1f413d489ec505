/**
 * From a call to a result: resolve, check, infer, plan, execute.
 *
 * Everything is checked before the first write, in this order: operator, attributes and reduction, data types, ranks,
 * axis, shapes, `out`, indices, duplicates.
 */

import { defaultExecutor } from "../engines/default.ts";
import type { Executor } from "../engines/executor.ts";
import { printValue, TensorError, type ErrorFields } from "../errors.ts";
import { roleOf, type Inputs, type Operator, type OperatorVersion } from "../operators/operator.ts";
import { settingsOf, type Attributes } from "../operators/settings.ts";
import { asTensor, type Tensor } from "../tensor/tensor.ts";
import { callOf, plainOf, type Call, type NodeSpec } from "./call.ts";
import { checkDuplicates } from "./duplicates.ts";
import { executeGather, executeScatter } from "./execute.ts";
import { listOrTensor, tensorsOf } from "./inputs.ts";
import { objectOf, optionsOf } from "./options.ts";
import { checkOut } from "./out.ts";
import { POLICY_NAMES, policiesOf, type Policies } from "./policies.ts";
import { prepare, rulesOf } from "./prepare.ts";

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

function executorOf(engine: unknown, fields: ErrorFields): Executor {
  if (engine === undefined) return defaultExecutor();
  if (typeof engine === "object" && engine !== null && EXECUTOR in engine) {
    return (engine as EngineLike)[EXECUTOR];
  }
  const got = printValue(engine);
  throw new TensorError("engine", `engine must come from createEngine, got ${got}`, fields);
}
