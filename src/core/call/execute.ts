/** Turns a Plan and checked tensors into a result, as a list of actions. */

import type { Executor, Session } from "../engines/executor.ts";
import { hasCode, TensorError, type ErrorContext } from "../errors.ts";
import { divide } from "../kernels/divide.ts";
import type { Plan } from "../plan/plan.ts";
import { countTargets, split } from "../plan/targets.ts";
import {
  isNumericStorage,
  type DType,
  type Step,
  type Storage,
  checkDType,
} from "../tensor/dtype.ts";
import { part, shapeOf } from "../tensor/shape.ts";
import { clear, copy } from "../tensor/storage.ts";
import { isSame } from "../tensor/memory.ts";
import { Tensor, type Mutable } from "../tensor/tensor.ts";
import { divisorOf, isOneStep, stepOf, stepsOf, type Reducing } from "./steps.ts";

/** A result tensor, and the actions that fill it, in the order in which they must run. */
export interface Execution {
  readonly result: Tensor;
  readonly actions: readonly Action[];
}

/**
 * An action that a session or this file performs. Actions are records, because creating closures measurably slows down
 * small calls.
 */
type Action =
  | {
      readonly plan: Plan;
      readonly dtype: DType;
      /** Reduction step; null for a gather. */
      readonly step: Step | null;
      /** Updates of a scatter; null for a gather. */
      readonly updates: Storage | null;
      readonly data: Storage;
      readonly out: Storage;
    }
  | { readonly plan: null; readonly local: () => void };

/**
 * Runs an action, which is complete when this function returns or, if it returns a promise, when the promise is
 * fulfilled.
 */
export function act<Done>(session: Session<Done>, action: Action): Done | void {
  if (action.plan === null) return action.local();
  const { plan, dtype, step, data, updates, out } = action;
  return step === null || updates === null
    ? session.gather(plan, dtype, data, out)
    : session.scatter(plan, dtype, step, data, updates, out);
}

const local = (action: () => void): Action => ({ plan: null, local: action });

/**
 * Prepares a gather into `out` or a new tensor of `shape`. The result holds the slices of `data` that the Plan
 * addresses, and 0 at positions that the Plan omits.
 */
export function gatherExecution(
  executor: Executor,
  plan: Plan,
  data: Tensor,
  shape: readonly number[],
  size: number,
  out: Tensor | undefined,
): Execution {
  const { dtype } = data;
  const result = out ?? newResult(executor, dtype, shape, size);
  const gather = { plan, dtype, step: null, data: data.data, updates: null, out: result.data };
  const actions = plan.source === undefined ? [gather] : [local(() => clear(result.data)), gather];
  return { result, actions };
}

/** Allocates a new tensor with uninitialized contents. */
export const newResult = (
  executor: Executor,
  dtype: DType,
  shape: readonly number[],
  size: number,
): Tensor => new Tensor(dtype, part(shape, 0), size, executor.allocate(dtype, size), executor);

/**
 * Prepares a scatter into `out`, which may be `data`, or into a new tensor. The result is data with the updates applied
 * at the Plan's targets.
 */
export function scatterExecution(
  executor: Executor,
  plan: Plan,
  data: Tensor,
  updates: Tensor,
  reducing: Reducing,
  out: Tensor | undefined,
): Execution {
  const result = out ?? newLike(executor, data);
  if (isNumericStorage(result.data)) {
    const actions = scatterActions(plan, sourceOf(data, out), updates, reducing, result.data);
    return { result, actions };
  }
  // A string can exceed the maximum string length midway through a scatter, so the result is first built in a copy.
  const work: Storage = Array.from(result.data);
  const actions = scatterActions(plan, data, updates, reducing, work);
  return { result, actions: actions.concat(local(() => copy(work, result.data))) };
}

/** A new tensor of the data type and shape of another, whose contents are arbitrary. */
export const newLike = (executor: Executor, data: Tensor): Tensor =>
  Tensor.like(data, executor.allocate(data.dtype, data.size), executor);

/**
 * Returns `out` if it has the same memory as `data`, and `data` otherwise. Engines then see one array instead of two
 * views, and need not compare memory.
 */
const sourceOf = (data: Tensor, out: Tensor | undefined): Tensor =>
  out !== undefined && isSame(Tensor.memoryOf(out), Tensor.memoryOf(data)) ? out : data;

/**
 * Returns the actions of a scatter. The Plan stays whole, unless first updates are treated differently or updates are
 * counted: then first and later updates have separate Plans.
 */
export function scatterActions(
  plan: Plan,
  { dtype, data }: Tensor,
  { data: updates }: Tensor,
  reducing: Reducing,
  out: Storage,
): Action[] {
  if (isOneStep(reducing)) {
    return [{ plan, dtype, step: stepOf(reducing, dtype), data, updates, out }];
  }
  const steps = stepsOf(reducing, dtype);
  const { first, later } = split(plan);
  const actions: Action[] = [
    { plan: first, dtype, step: steps.first, data, updates, out },
    { plan: later, dtype, step: steps.later, data: out, updates, out },
  ];
  if (!steps.divides) return actions;
  const counts = countTargets(first, later).map((count) => divisorOf(reducing, count));
  return actions.concat(local(() => divide(dtype, out, plan.slice, first.offsets, counts)));
}

/**
 * Runs a synchronous call: calls `use` with a session and returns its result.
 * @param what the second argument for `use`, so that `use` need not be a closure
 */
export function callNow<W, T>(
  executor: Executor,
  fields: ErrorContext,
  use: (session: Session<void>, what: W) => T,
  what: W,
): T {
  const session = executor.begin();
  try {
    return use(session, what);
  } catch (error) {
    throw withOperator(error, fields);
  } finally {
    session.end();
  }
}

/** Runs the actions of an execution synchronously, and returns the result. */
export function execute(session: Session<void>, { result, actions }: Execution): Tensor {
  for (let i = 0; i < actions.length; i++) act(session, actions[i]);
  return result;
}

/**
 * Runs a gather like `gatherExecution`, but immediately. Most calls are a single action, which takes 20% less
 * time without an action record.
 */
export function gatherNow(
  session: Session<void>,
  executor: Executor,
  plan: Plan,
  data: Tensor,
  shape: readonly number[],
  size: number,
  out: Tensor | undefined,
): Tensor {
  if (plan.source !== undefined) {
    return execute(session, gatherExecution(executor, plan, data, shape, size, out));
  }
  const { dtype } = data;
  const result = out ?? newResult(executor, dtype, shape, size);
  session.gather(plan, dtype, data.data, result.data);
  return result;
}

/** Runs a scatter like `scatterExecution`, but immediately. */
export function scatterNow(
  session: Session<void>,
  executor: Executor,
  plan: Plan,
  data: Tensor,
  updates: Tensor,
  reducing: Reducing,
  out: Tensor | undefined,
): Tensor {
  const { dtype } = data;
  if (dtype === "string" || !isOneStep(reducing)) {
    return execute(session, scatterExecution(executor, plan, data, updates, reducing, out));
  }
  const result = out ?? newLike(executor, data);
  const from = sourceOf(data, out);
  session.scatter(plan, dtype, stepOf(reducing, dtype), from.data, updates.data, result.data);
  return result;
}

/** Creates and runs an execution inside `callNow`, because allocating memory for the result may fail. */
export const executeMade = (session: Session<void>, make: () => Execution): Tensor =>
  execute(session, make());

/**
 * Runs an execution whose actions may continue after they return, and returns the result.
 * @param check a function that throws if a tensor's memory is gone, because users may transfer memory while an action
 *   is pending
 */
export async function executeAsync(
  executor: Executor,
  fields: ErrorContext,
  check: () => void,
  use: (session: Session<Promise<void> | void>) => Execution,
): Promise<Tensor> {
  const session = executor.beginAsync();
  try {
    check();
    const { result, actions } = use(session);
    for (const action of actions) {
      const done = act(session, action);
      if (done === undefined) continue;
      // oxlint-disable-next-line no-await-in-loop -- actions run one after the other
      await done;
      check();
    }
    return result;
  } catch (error) {
    throw withOperator(error, fields);
  } finally {
    session.end();
  }
}

/** Adds the call's operator name to an engine error that has none. */
function withOperator(error: unknown, fields: ErrorContext): unknown {
  if (!hasCode(error) || error.op !== undefined) return error;
  return new TensorError(error.code, error.message, { ...error, ...fields }, { cause: error });
}

/** Allocates a tensor of zeros in the executor's own memory. */
export function allocTensor<D extends DType, S extends readonly number[]>(
  executor: Executor,
  dtype: D,
  shape: S,
): Tensor<D, Mutable<S>> {
  checkDType(dtype, {});
  const { shape: own, size } = shapeOf(shape);
  const data = executor.alloc(dtype, size) as Storage<D>;
  return new Tensor(dtype, own, size, data, executor);
}
