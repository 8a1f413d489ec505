/**
 * Defines the steps of a reduction: how to apply the first update of a target, how to apply later updates, and whether
 * a mean is divided at the end. The functions below perform the steps on tensors, `diagnose/predict.ts` under the rules
 * of other systems, `chunked/stages/move.ts` chunk by chunk, and `gpu/kernels/scatter.ts` on a GPU.
 */

import type { Executor, Session, SyncSession } from "../engines/executor.ts";
import { hasCode, TensorError, type ErrorContext } from "../errors.ts";
import { divide } from "../kernels/divide.ts";
import type { Settings } from "../operators/operator.ts";
import type { Plan } from "../plan/plan.ts";
import { countTargets, split } from "../plan/targets.ts";
import {
  DTYPES,
  isNumericStorage,
  type DType,
  type Step,
  type Steps,
  type Storage,
} from "../tensor/dtype.ts";
import { isSame } from "../tensor/memory.ts";
import { clear, copy } from "../tensor/storage.ts";
import { Tensor } from "../tensor/tensor.ts";

/** A reduction, whether it starts with the value in data, and how max and min compare floats. */
export type Reducing = Pick<Settings, "reduction" | "includeSelf" | "stays">;

/** Returns the steps of a reduction of a data type. */
export function stepsOf(reducing: Reducing, dtype: DType): Steps {
  const step = stepOf(reducing, dtype);
  const first = reducing.includeSelf ? step : "none";
  return { first, later: step, divides: reducing.reduction === "mean" };
}

/** Returns the step with which a reduction combines a value and an update. */
export function stepOf({ reduction, stays }: Reducing, dtype: DType): Step {
  if (reduction === "mean") return "add";
  if (stays === undefined || (reduction !== "max" && reduction !== "min")) return reduction;
  return isFloat(dtype) ? `${reduction}_${stays}` : reduction;
}

/** Returns true for the types with NaN and signed zeros that a version with its own rule of comparison accepts. */
export const isFloat = (dtype: DType): boolean => {
  const { family } = DTYPES[dtype];
  return family === "float" || family === "half";
};

/**
 * Returns the step of a scatter that is a single action, as in most calls: every update performs the same step, no
 * division follows, and no text can exceed the maximum string length midway. Returns null for other scatters.
 */
export function singleStepOf(reducing: Reducing, dtype: DType): Step | null {
  return isOneStep(reducing) && dtype !== "string" ? stepOf(reducing, dtype) : null;
}

/** Returns true if every update performs the same step and no division follows. */
const isOneStep = ({ reduction, includeSelf }: Reducing): boolean =>
  includeSelf ? reduction !== "mean" : reduction === "none";

/** Returns the divisor of a target's mean after the given number of updates. */
export const divisorOf = ({ includeSelf }: Reducing, updates: number): number =>
  includeSelf ? updates + 1 : updates;

/** The parts of a scatter, in the order in which they are applied. */
export interface ScatterSteps {
  readonly parts: readonly { readonly plan: Plan; readonly step: Step }[];
  /** The targets of a mean, and the divisor of each; null for other reductions. */
  readonly division: { readonly targets: Plan; readonly divisors: Uint32Array } | null;
}

/**
 * Returns the steps of a scatter. The Plan stays whole, unless first updates are treated differently: then first and
 * later updates have separate Plans.
 */
export function scatterSteps(plan: Plan, reducing: Reducing, dtype: DType): ScatterSteps {
  if (isOneStep(reducing))
    return { parts: [{ plan, step: stepOf(reducing, dtype) }], division: null };
  const { first: step, later: laterStep, divides } = stepsOf(reducing, dtype);
  const { first, later } = split(plan);
  const parts =
    step === laterStep
      ? [{ plan, step }]
      : [
          { plan: first, step },
          { plan: later, step: laterStep },
        ];
  if (!divides) return { parts, division: null };
  const divisors = countTargets(first, later).map((count) => divisorOf(reducing, count));
  return { parts, division: { targets: first, divisors } };
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
export function* actionsOf<Done>(
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
