/**
 * Runs a complete call: resolves the operator (`call.ts`), reads the inputs (`inputs.ts`), checks everything except
 * index values (`check.ts`), creates the Plan, and performs its steps (`steps.ts`) on an executor.
 *
 * All checks come before the first write, in this order: operator, attributes and reduction, data types, ranks, axis,
 * shapes, `out`, indices, duplicates.
 */

import type { Executor } from "../engines/executor.ts";
import type { ErrorContext } from "../errors.ts";
import { isArray, optionsOf, wrongValue } from "../foreign.ts";
import type { Inputs, Operator } from "../operators/operator.ts";
import type { ReadIndices } from "../plan/indices.ts";
import type { Plan } from "../plan/plan.ts";
import { sameShape } from "../tensor/shape.ts";
import { Tensor, type RuntimeTensor } from "../tensor/tensor.ts";
import {
  keep,
  MEANT_OPTIONS,
  plainCallOf,
  plainOptions,
  policiesOf,
  type Call,
  type Form,
  type PlainCall,
  type RecentForm,
} from "./call.ts";
import { checkDuplicates, checkMemory, formOf } from "./check.ts";
import { checkOut, tensorsBy, tensorsOf, withOrder } from "./inputs.ts";
import { actionsOf, gatherNow, scatterNow, withOperator } from "./steps.ts";

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
 * Runs a parsed node, with the given default executor.
 * @throws TensorError as `run`
 */
export function runOn(
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
  const own =
    duplicates === undefined
      ? call
      : { ...call, policies: policiesOf(call.operator, { duplicates }, call.fields) };
  const tensors = tensorsOf(call, inputs);
  const executor = engine === undefined ? byDefault() : executorOf(engine, call.fields);
  try {
    const form = formOf(own, tensors);
    return [runNow({ executor, form, tensors, out: outOf(form, tensors, out) })];
  } catch (error) {
    throw withOrder(error, call, tensors, tensors);
  }
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

/** Runs a call whose actions may continue after they return, if the executor has a worker pool. */
async function runQueued(given: CheckedCall): Promise<Tensor> {
  const { executor, form, tensors, out } = given;
  const { call, positions } = form;
  // Users may transfer memory while the call or one of its actions is pending.
  checkMemory(call, tensors, out);
  const session = executor.beginAsync();
  if (session === null) return runNow(given);
  try {
    const plan = planOf(form, tensors, session.readIndices);
    const data = tensors[positions.data] as Tensor;
    const updates = positions.updates < 0 ? undefined : tensors[positions.updates];
    const result = out ?? executor.newTensor(data.dtype, form.shape, form.size);
    for (const done of actionsOf(session, plan, data, updates, call.settings, result)) {
      if (done === undefined) continue;
      // oxlint-disable-next-line no-await-in-loop -- actions run one after the other
      await done;
      checkMemory(call, tensors, out);
    }
    return result;
  } catch (error) {
    throw withOperator(error, call.fields);
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
  const tensors = tensorsBy(call, inputs, true);
  try {
    const form = knownFormOf(call, tensors);
    const { out } = given;
    return { executor, form, tensors, out: out === undefined ? out : outOf(form, tensors, out) };
  } catch (error) {
    throw withOrder(error, call, tensors, inputs);
  }
}

/**
 * Returns the form of a call; a recent form of a plain function if it fits the data types and shapes of the tensors.
 */
export function knownFormOf(call: Call | PlainCall, tensors: Inputs<Tensor>): Form {
  if (!("forms" in call)) return formOf(call, tensors);
  const { forms } = call;
  for (let f = 0; f < forms.length; f++) if (fits(forms[f], tensors)) return forms[f].form;
  const form = formOf(call, tensors);
  const dtypes = tensors.map((tensor) => tensor?.dtype);
  const dims = tensors.map((tensor) => tensor && Tensor.dimsOf(tensor));
  keep(forms, { form, dtypes, dims });
  return form;
}

function fits({ dtypes, dims }: RecentForm, tensors: Inputs<Tensor>): boolean {
  for (let position = 0; position < dims.length; position++) {
    const tensor = tensors[position];
    const shape = dims[position];
    if (tensor === undefined || shape === undefined) {
      if (tensor !== shape) return false;
    } else if (tensor.dtype !== dtypes[position]) {
      return false;
    } else {
      const own = Tensor.dimsOf(tensor);
      if (own !== shape && !sameShape(own, shape)) return false;
    }
  }
  return true;
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
    const readToGather = out === undefined ? session.readToFill : session.readToGather;
    const plan = planOf(form, tensors, isGather ? readToGather : session.readIndices);
    // The casts below are safe: every version requires data, and every scatter requires updates.
    const data = tensors[positions.data] as Tensor;
    if (isGather) {
      const result = gatherNow(session, executor, plan, data, shape, size, out);
      if (!session.wasRefused) return result;
      const other = planOf(form, tensors, session.readIndices);
      return gatherNow(session, executor, other, data, shape, size, result);
    }
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
  const must = "engine must come from createEngine";
  throw wrongValue("engine", must, engine, { ...fields, key: "engine" });
}
