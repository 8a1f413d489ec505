/**
 * Runs a complete call: resolves the operator (`call.ts`), reads the inputs (`inputs.ts`), checks everything except
 * index values (`check.ts`), creates the Plan, and performs its steps (`steps.ts`) on an executor.
 *
 * All checks come before the first write, in this order: operator, attributes and reduction, data types, ranks, axis,
 * shapes, `out`, indices, duplicates.
 */

import { defaultExecutor } from "../engines/choice.ts";
import type { Executor, Session, SyncSession } from "../engines/executor.ts";
import { hasCode, TensorError, type ErrorContext } from "../errors.ts";
import { factOf, isArray, optionsOf, printValue } from "../foreign.ts";
import { divide } from "../kernels/divide.ts";
import type { Inputs, Operator } from "../operators/operator.ts";
import type { ReadIndices } from "../plan/indices.ts";
import type { Plan } from "../plan/plan.ts";
import { isNumericStorage, type Storage } from "../tensor/dtype.ts";
import { isSame } from "../tensor/memory.ts";
import { clear, copy } from "../tensor/storage.ts";
import { Tensor, type RuntimeTensor } from "../tensor/tensor.ts";
import {
  callOf,
  callOfKnown,
  keepForm,
  MEANT_OPTIONS,
  nodeFrom,
  plainCallOf,
  plainOptions,
  policiesOf,
  recentForm,
  type Call,
  type Form,
  type NodeSpec,
} from "./call.ts";
import { checkDuplicates, checkMemory, formOf } from "./check.ts";
import { checkOut, tensorsOf, tensorsOrLists, withOrder } from "./inputs.ts";
import { scatterSteps, singleStepOf, type Reducing } from "./steps.ts";

/** Options of `run`. */
export interface RunOptions {
  /** Tensor to write the result to; `run` returns this tensor. A scatter may write to `data` itself. */
  readonly out?: Tensor | RuntimeTensor | undefined;
  /**
   * Treatment of repeated targets if the reduction is `none`: `last`, the default, keeps the last update; `error`
   * throws.
   */
  readonly duplicates?: "last" | "error" | undefined;
  /** Engine that runs the node; by default, the engine that the plain functions use. */
  readonly engine?: EngineLike | undefined;
}

/** Key under which an engine stores its executor. */
export const EXECUTOR: unique symbol = Symbol("executor");

export interface EngineLike {
  readonly [EXECUTOR]: Executor;
}

/**
 * Runs a node, following exactly the rules of its operator version.
 *
 * @param node the node: operator, opset, domain and attributes
 * @param inputs tensors in the order of the version's inputs; `undefined` for an omitted optional input
 * @param options `out`, the treatment of repeated targets, and the engine
 * @returns a list with one tensor, because every operator has one output
 * @throws TensorError any error code except the codes for files; `out` is unchanged after an error
 *
 * @example
 * ```ts
 * const inputs = [tensor("float32", [3], [1, 2, 3]), tensor("int64", [1, 1], [2]), tensor("float32", [1], [10])];
 * const [output] = run({ op: "ScatterND", opset: 18, attributes: { reduction: "add" } }, inputs);
 * console.log(output.toArray()); // [1, 2, 13]
 * ```
 */
export const run = (
  node: NodeSpec,
  inputs: readonly unknown[],
  options: RunOptions = {},
): [Tensor] => runOn(defaultExecutor, node, inputs, options);

/** Runs a node like `run`, with the given default executor. */
export const runOn = (
  byDefault: () => Executor,
  node: NodeSpec,
  inputs: readonly unknown[],
  options: RunOptions,
): [Tensor] => runParsed(byDefault, callOfKnown(node), inputs, options);

/** Runs a node of a model like `run`, at any opset: a model may be newer than this package. */
export const runNode = (
  node: NodeSpec,
  inputs: readonly unknown[],
  options: RunOptions = {},
): [Tensor] => runParsed(defaultExecutor, readCall(node), inputs, options);

function runParsed(
  byDefault: () => Executor,
  call: Call,
  inputs: readonly unknown[],
  options: RunOptions,
): [Tensor] {
  // The inputs are checked before the options, because `run(node, data, indices)` passes an input as the options.
  if (!isArray(inputs)) tensorsOf(call, inputs);
  const { out, duplicates, engine } = optionsOf(
    options,
    ["out", "duplicates", "engine"],
    call.fields,
    "options",
    MEANT_OPTIONS,
  );
  const policies =
    duplicates === undefined
      ? call.policies
      : policiesOf(call.operator, { duplicates }, call.fields);
  const tensors = tensorsOf(call, inputs);
  const executor = engine === undefined ? byDefault() : executorOf(engine, call.fields);
  try {
    const form = formOf({ ...call, policies }, tensors);
    return [runNow({ executor, form, tensors, out: outOf(form, tensors, out) })];
  } catch (error) {
    throw withOrder(error, call, tensors, tensors);
  }
}

/**
 * Parses a node for `runCall`. Callers that run a node many times should parse the node once, because parsing takes
 * half the time of a small call.
 */
export const readCall = (node: NodeSpec): Call => callOf(nodeFrom(node));

/** Runs a node that `readCall` has parsed. */
export function runCall(call: Call, inputs: readonly unknown[], out?: Tensor): Tensor {
  const tensors = tensorsOf(call, inputs);
  const form = formOf(call, tensors);
  return runNow({ executor: defaultExecutor(), form, tensors, out: outOf(form, tensors, out) });
}

/**
 * Runs an operator as its plain function, which accepts int32 or int64 indices, every data type and reduction, and
 * nested lists for indices and updates. `options` holds the attributes with camelCase names, `out` and the policies.
 */
export function runPlain(
  executor: Executor,
  operator: Operator,
  inputs: Inputs<unknown>,
  options?: unknown,
): Tensor {
  return runNow(checkedPlain(executor, operator, inputs, options));
}

/**
 * Runs an operator like `runPlain`, for callers that must not block. Checks that do not depend on earlier calls run
 * immediately. The indices are read when all earlier asynchronous calls of the executor have ended.
 */
export async function runPlainAsync(
  executor: Executor,
  operator: Operator,
  inputs: Inputs<unknown>,
  options?: unknown,
): Promise<Tensor> {
  const call = checkedPlain(executor, operator, inputs, options);
  return executor.queue.enqueue(() => runQueued(call));
}

/** Runs a call whose actions may continue after they return. */
async function runQueued({ executor, form, tensors, out }: CheckedCall): Promise<Tensor> {
  // Users may transfer memory while the call or one of its actions is pending.
  const check = (): void => checkMemory(form.call, tensors, out);
  const session = executor.beginAsync();
  try {
    check();
    const plan = planOf(form, tensors, session.readIndices);
    const { positions } = form;
    const data = tensors[positions.data] as Tensor;
    const updates = positions.updates < 0 ? undefined : tensors[positions.updates];
    const { settings } = form.call;
    const result = out ?? executor.newTensor(data.dtype, form.shape, form.size);
    for (const done of actionsOf(session, plan, data, updates, settings, result)) {
      if (done === undefined) continue;
      // oxlint-disable-next-line no-await-in-loop -- actions run one after the other
      await done;
      check();
    }
    return result;
  } catch (error) {
    throw withOperator(error, form.call.fields);
  } finally {
    session.end();
  }
}

/** A call after all checks except those of the index values. */
interface CheckedCall {
  readonly executor: Executor;
  readonly form: Form;
  readonly tensors: Inputs<Tensor>;
  readonly out: Tensor | undefined;
}

function checkedPlain(
  executor: Executor,
  operator: Operator,
  inputs: Inputs<unknown>,
  options: unknown,
): CheckedCall {
  const given = plainOptions(operator, options);
  const call = plainCallOf(operator, given);
  const tensors = tensorsOrLists(call, inputs);
  try {
    const form = recentForm(call, tensors) ?? keepForm(call, formOf(call, tensors), tensors);
    const { out } = given;
    return { executor, form, tensors, out: out === undefined ? out : outOf(form, tensors, out) };
  } catch (error) {
    throw withOrder(error, call, tensors, inputs);
  }
}

/** Returns the checked tensor that the result is written to; undefined for a new tensor. */
function outOf(form: Form, tensors: Inputs<Tensor>, out: unknown): Tensor | undefined {
  const { shape, inPlace, call, positions } = form;
  const { dtype } = tensors[positions.data] as Tensor;
  return checkOut(out, dtype, shape, call.signature.inputs, tensors, inPlace, call.fields);
}

function runNow({ executor, form, tensors, out }: CheckedCall): Tensor {
  const { positions, shape, size, step, call } = form;
  const isGather = positions.updates < 0;
  const session = executor.begin();
  try {
    const read = isGather ? session.readToGather : session.readIndices;
    const plan = planOf(form, tensors, read);
    // The casts below are safe: every version requires data, and every scatter requires updates.
    const data = tensors[positions.data] as Tensor;
    if (isGather) return gatherNow(session, executor, plan, data, shape, size, out);
    const updates = tensors[positions.updates] as Tensor;
    return scatterNow(session, executor, plan, data, updates, call.settings, out, step);
  } catch (error) {
    throw withOperator(error, call.fields);
  } finally {
    session.end();
  }
}

/**
 * Reads the indices and creates the Plan. After the Plan is created, a call can fail only if memory runs out or an
 * engine fails.
 */
export function planOf(form: Form, tensors: Inputs<Tensor>, read: ReadIndices): Plan {
  const indices = (tensors[form.positions.indices] ?? form.defaultIndices) as Tensor;
  const plan = form.planner(indices, read);
  if (form.refusesRepeats) checkDuplicates(plan, form.call, { ...form.shapes, indices });
  return plan;
}

/** Calls `use` with the session of a synchronous call, and returns its result. */
export function callNow<T>(
  executor: Executor,
  fields: ErrorContext,
  use: (session: SyncSession) => T,
): T {
  const session = executor.begin();
  try {
    return use(session);
  } catch (error) {
    throw withOperator(error, fields);
  } finally {
    session.end();
  }
}

/** Adds the call's operator name to an engine error that has none. */
export function withOperator(error: unknown, fields: ErrorContext): unknown {
  if (!hasCode(error) || error.op !== undefined) return error;
  return new TensorError(error.code, error.message, { ...error, ...fields }, { cause: error });
}

/**
 * Performs the actions that fill `result`, which may be `data`, and yields what each action returns. The result of a
 * gather has the slices of `data` that the Plan addresses, and 0 at positions that the Plan omits. The result of a
 * scatter is data with the updates applied at the Plan's targets.
 */
function* actionsOf<Done>(
  session: Session<Done>,
  plan: Plan,
  data: Tensor,
  updates: Tensor | undefined,
  reducing: Reducing,
  result: Tensor,
): Generator<Done> {
  const { dtype } = data;
  if (updates === undefined) {
    if (plan.source !== undefined) clear(result.data);
    yield session.gather(plan, dtype, data.data, result.data);
    return;
  }
  // A string can exceed the maximum string length midway through a scatter, so the result is first built in a copy.
  const isText = !isNumericStorage(result.data);
  const out: Storage = isText ? Array.from(result.data) : result.data;
  let from = isText ? data.data : sourceOf(data, result);
  const { parts, division } = scatterSteps(plan, reducing, dtype);
  for (const { plan: some, step } of parts) {
    yield session.scatter(some, dtype, step, from, updates.data, out);
    from = out;
  }
  if (division !== null) {
    divide(dtype, out, plan.slice, division.targets.offsets, division.divisors);
  }
  if (isText) copy(out, result.data);
}

/**
 * Returns the array of `result` if it has the same memory as `data`, and the array of `data` otherwise. Engines then
 * see one array instead of two views, and need not compare memory.
 */
const sourceOf = (data: Tensor, result: Tensor): Storage =>
  isSame(Tensor.memoryOf(result), Tensor.memoryOf(data)) ? result.data : data.data;

/** Gathers into `out` or a new tensor of `shape`. */
export function gatherNow(
  session: SyncSession,
  executor: Executor,
  plan: Plan,
  data: Tensor,
  shape: readonly number[],
  size: number,
  out: Tensor | undefined,
): Tensor {
  const result = out ?? executor.newTensor(data.dtype, shape, size);
  if (plan.source !== undefined) clear(result.data);
  session.gather(plan, data.dtype, data.data, result.data);
  return result;
}

/**
 * Scatters into `out`, which may be `data`, or into a new tensor.
 * @param step the step of all updates; null if first updates are treated differently or a division follows
 */
export function scatterNow(
  session: SyncSession,
  executor: Executor,
  plan: Plan,
  data: Tensor,
  updates: Tensor,
  reducing: Reducing,
  out: Tensor | undefined,
  step = singleStepOf(reducing, data.dtype),
): Tensor {
  const result = out ?? executor.newLike(data);
  if (step !== null) {
    // Most calls are a single action, which takes 20% less time without a generator.
    const from = out === undefined ? data.data : sourceOf(data, out);
    session.scatter(plan, data.dtype, step, from, updates.data, result.data);
    return result;
  }
  const actions = actionsOf(session, plan, data, updates, reducing, result);
  while (actions.next().done !== true);
  return result;
}

/**
 * Returns the executor of an engine.
 * @throws TensorError `engine` if the value is not an engine
 */
export function executorOf(engine: unknown, fields: ErrorContext): Executor {
  try {
    const executor: unknown = Reflect.get(Object(engine), EXECUTOR);
    if (typeof executor === "object" && executor !== null) return executor as Executor;
  } catch {
    // A Proxy that throws is not an engine.
  }
  const got = printValue(engine);
  throw new TensorError("engine", `engine must come from createEngine, got ${got}`, {
    ...fields,
    key: "engine",
    got: factOf(engine),
  });
}
