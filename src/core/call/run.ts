/**
 * From a call to a result, top to bottom: which operator (`call.ts`), its inputs (`inputs.ts`), what can be checked without
 * the values of indices (`prepare.ts`), the Plan, and what an executor does with it (`execute.ts`).
 *
 * Everything is checked before the first write, in this order: operator, attributes and reduction, data types, ranks,
 * axis, shapes, `out`, indices, duplicates.
 */

import { defaultExecutor } from "../engines/default.ts";
import type { Executor, Session } from "../engines/executor.ts";
import { printValue, TensorError, type ErrorFields } from "../errors.ts";
import type { Inputs, Operator } from "../operators/operator.ts";
import type { RuntimeTensor, Tensor } from "../tensor/tensor.ts";
import { callOf, nodeFrom, plainCallOf, type Call, type NodeSpec } from "./call.ts";
import { checkDuplicates, refusesRepeats } from "./duplicates.ts";
import {
  callNow,
  execute,
  executeAsync,
  gatherExecution,
  scatterExecution,
  type Execution,
} from "./execute.ts";
import { tensorsOf, tensorsOrLists } from "./inputs.ts";
import { optionsOf } from "../tensor/options.ts";
import { checkOut } from "./out.ts";
import { policiesOf, type Policies } from "./policies.ts";
import { checkMemory, prepare, rulesOf, type PreparedCall } from "./prepare.ts";

export interface RunOptions {
  /** Where the result goes, which then is this tensor. A scatter may write into `data` itself. */
  readonly out?: Tensor | RuntimeTensor | undefined;
  /** Whether two updates of one target are an error where the reduction is `none`; by default the last one wins. */
  readonly duplicates?: "last" | "error" | undefined;
  /** The engine that does it; by default the one behind the plain functions. */
  readonly engine?: EngineLike | undefined;
}

/** The key under which an engine keeps its executor. */
export const EXECUTOR: unique symbol = Symbol("executor");

export interface EngineLike {
  readonly [EXECUTOR]: Executor;
}

/**
 * Runs one node by the rules of exactly its version.
 *
 * @param inputs tensors in the order of the version's inputs; `undefined` for an optional one that is left out
 * @returns the outputs: one, as every operator has
 * @throws TensorError any code but those of files; `out` is untouched then
 */
export const run = (
  node: NodeSpec,
  inputs: readonly unknown[],
  options: RunOptions = {},
): [Tensor] => runOn(defaultExecutor, node, inputs, options);

/** {@link run} where another executor than the package's is the one by default. */
export function runOn(
  byDefault: () => Executor,
  node: NodeSpec,
  inputs: readonly unknown[],
  options: RunOptions,
): [Tensor] {
  const call = callOf(nodeFrom(node));
  const { out, duplicates, engine } = optionsOf(
    options,
    ["out", "duplicates", "engine"],
    call.fields,
  );
  const policies = policiesOf(call.operator, { duplicates }, call.fields);
  const tensors = tensorsOf(call, inputs);
  const executor = engine === undefined ? byDefault() : executorOf(engine, call.fields);
  return [runChecked(checked(executor, call, tensors, policies, out))];
}

/** A node as {@link runCall} takes it, for callers that run it many times: reading a node takes half the time of a small call. */
export const readCall = (node: NodeSpec): Call => callOf(nodeFrom(node));

/** {@link run} for a node that was read before. */
export const runCall = (call: Call, inputs: readonly unknown[], out?: Tensor): Tensor =>
  runChecked(checked(defaultExecutor(), call, tensorsOf(call, inputs), {}, out));

/**
 * Runs an operator without a version: int32 or int64 indices, every data type and reduction, and nested lists for
 * indices and updates. `options` holds the attributes, in JavaScript's spelling, beside `out` and the policies.
 */
export function runPlain(
  executor: Executor,
  operator: Operator,
  inputs: Inputs<unknown>,
  options?: unknown,
): Tensor {
  return runChecked(checkedPlain(executor, operator, inputs, options));
}

/**
 * {@link runPlain} for callers that may not wait. What does not depend on earlier calls is checked at once; indices are
 * read, and the work is done, when all earlier asynchronous calls of the executor have ended.
 */
export async function runPlainAsync(
  executor: Executor,
  operator: Operator,
  inputs: Inputs<unknown>,
  options?: unknown,
): Promise<Tensor> {
  const call = checkedPlain(executor, operator, inputs, options);
  const { fields } = call.prepared.call;
  const check = (): void => checkMemory(call.prepared, call.out);
  const use = (session: Session<Promise<void> | void>): Execution => executionOf(session, call);
  return executor.queue.enqueue(() => executeAsync(executor, fields, check, use));
}

/** A call of which everything is checked but the values of its indices. */
interface CheckedCall {
  readonly executor: Executor;
  readonly prepared: PreparedCall;
  readonly policies: Policies;
  readonly out: Tensor | undefined;
}

function checkedPlain(
  executor: Executor,
  operator: Operator,
  inputs: Inputs<unknown>,
  options: unknown,
): CheckedCall {
  const { call, out } = plainCallOf(operator, options);
  return checked(executor, call, tensorsOrLists(call, inputs), call.policies, out);
}

function checked(
  executor: Executor,
  call: Call,
  tensors: Inputs<Tensor>,
  policies: Policies,
  out: unknown,
): CheckedCall {
  const prepared = prepare(call, tensors);
  if (out === undefined) return { executor, prepared, policies, out };
  const { shape, data, inPlace, tensors: inputs } = prepared;
  const names = call.signature.inputs;
  const own = checkOut(out, data.dtype, shape, names, inputs, inPlace, call.fields);
  return { executor, prepared, policies, out: own };
}

const runChecked = (call: CheckedCall): Tensor =>
  callNow(call.executor, call.prepared.call.fields, executeCall, call);

const executeCall = (session: Session<void>, call: CheckedCall): Tensor =>
  execute(session, executionOf(session, call));

/** Reads the indices; what is left to do cannot fail but for memory and engines. */
function executionOf(
  session: Session<unknown>,
  { executor, prepared, policies, out }: CheckedCall,
): Execution {
  const { call, shape, size, data, updates, planInputs } = prepared;
  const { operator, settings } = call;
  const plan = operator.plan(planInputs, call, rulesOf(call, policies, session.readIndices));
  if (updates === undefined) return gatherExecution(executor, plan, data, shape, size, out);
  if (refusesRepeats(call, policies)) checkDuplicates(plan, call, planInputs);
  return scatterExecution(executor, plan, data, updates, settings, out);
}

function executorOf(engine: unknown, fields: ErrorFields): Executor {
  try {
    const executor: unknown = Reflect.get(Object(engine), EXECUTOR);
    if (typeof executor === "object" && executor !== null) return executor as Executor;
  } catch {
    // A Proxy that throws is no engine either.
  }
  const got = printValue(engine);
  throw new TensorError("engine", `engine must come from createEngine, got ${got}`, fields);
}
