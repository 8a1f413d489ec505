/**
 * Runs a complete call: resolves the operator (`call.ts`), reads the inputs (`inputs.ts`), checks everything except
 * index values (`prepare.ts`), creates the Plan, and executes it (`execute.ts`).
 *
 * All checks come before the first write, in this order: operator, attributes and reduction, data types, ranks, axis,
 * shapes, `out`, indices, duplicates.
 */

import { defaultExecutor } from "../engines/default.ts";
import type { Executor, Session } from "../engines/executor.ts";
import { factOf, isArray, printValue, TensorError, type ErrorContext } from "../errors.ts";
import type { Inputs, Operator } from "../operators/operator.ts";
import type { Plan } from "../plan/plan.ts";
import type { RuntimeTensor, Tensor } from "../tensor/tensor.ts";
import { callOf, callOfKnown, MEANT_OPTIONS, nodeFrom, type Call, type NodeSpec } from "./call.ts";
import { checkDuplicates } from "./duplicates.ts";
import {
  callNow,
  executeAsync,
  gatherExecution,
  gatherNow,
  scatterExecution,
  scatterNow,
  type Execution,
} from "./execute.ts";
import { tensorsOf, tensorsOrLists } from "./inputs.ts";
import { withOrder } from "./order.ts";
import { optionsOf } from "../tensor/options.ts";
import { checkOut } from "./out.ts";
import { knownForm, plainCallOf } from "./plain-call.ts";
import { policiesOf } from "./policies.ts";
import { checkMemory, formOf, type Form } from "./prepare.ts";

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
  const policies = policiesOf(call.operator, { duplicates }, call.fields);
  const tensors = tensorsOf(call, inputs);
  const executor = engine === undefined ? byDefault() : executorOf(engine, call.fields);
  try {
    return [runChecked(checked(executor, formOf(call, policies, tensors), tensors, out))];
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
export const runCall = (call: Call, inputs: readonly unknown[], out?: Tensor): Tensor =>
  runRead(call, tensorsOf(call, inputs), out);

const runRead = (call: Call, tensors: Inputs<Tensor>, out: Tensor | undefined): Tensor =>
  runChecked(checked(defaultExecutor(), formOf(call, {}, tensors), tensors, out));

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
  return runChecked(checkedPlain(executor, operator, inputs, options));
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
  const { fields } = call.form.call;
  const check = (): void => checkMemory(call.form.call, call.tensors, call.out);
  const use = (session: Session<Promise<void> | void>): Execution => executionOf(session, call);
  return executor.queue.enqueue(() => executeAsync(executor, fields, check, use));
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
  const { known, out } = plainCallOf(operator, options);
  const tensors = tensorsOrLists(known.call, inputs);
  try {
    return checked(executor, knownForm(known, tensors), tensors, out);
  } catch (error) {
    throw withOrder(error, known.call, tensors, inputs);
  }
}

function checked(
  executor: Executor,
  form: Form,
  tensors: Inputs<Tensor>,
  out: unknown,
): CheckedCall {
  if (out === undefined) return { executor, form, tensors, out };
  const { shape, inPlace, call } = form;
  const { dtype } = tensors[form.data] as Tensor;
  const names = call.signature.inputs;
  const own = checkOut(out, dtype, shape, names, tensors, inPlace, call.fields);
  return { executor, form, tensors, out: own };
}

const runChecked = (call: CheckedCall): Tensor =>
  callNow(call.executor, call.form.call.fields, executeCall, call);

function executeCall(session: Session<void>, call: CheckedCall): Tensor {
  const { executor, form, tensors, out } = call;
  const plan = planOf(session, call, form.updates < 0);
  // The casts below are safe: every version requires data, and every scatter requires updates.
  const data = tensors[form.data] as Tensor;
  if (form.updates < 0) return gatherNow(session, executor, plan, data, form.shape, form.size, out);
  const updates = tensors[form.updates] as Tensor;
  return scatterNow(session, executor, plan, data, updates, form.call.settings, out);
}

function executionOf(session: Session<unknown>, call: CheckedCall): Execution {
  const { executor, form, tensors, out } = call;
  const plan = planOf(session, call, form.updates < 0);
  const data = tensors[form.data] as Tensor;
  if (form.updates < 0) return gatherExecution(executor, plan, data, form.shape, form.size, out);
  const updates = tensors[form.updates] as Tensor;
  return scatterExecution(executor, plan, data, updates, form.call.settings, out);
}

/**
 * Reads the indices and creates the Plan. After the Plan is created, a call can fail only if memory runs out or an
 * engine fails.
 * @param isToGather true if only the session's next gather uses the Plan
 */
export function planOf(
  session: Session<unknown>,
  { form, tensors }: Pick<CheckedCall, "form" | "tensors">,
  isToGather = false,
): Plan {
  const indices = (tensors[form.indices] ?? form.defaultIndices) as Tensor;
  const read = (isToGather && session.readToGather) || session.readIndices;
  const plan = form.planner(indices, read);
  if (form.refusesRepeats) checkDuplicates(plan, form.call, { ...form.shapes, indices });
  return plan;
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
