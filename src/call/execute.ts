/** A Plan, tensors and an executor: the two ways to get a result, once everything has been checked. */

import { isNumericStorage, type DType, type Step, type Storage } from "../tensor/dtype.ts";
import type { Executor } from "../engines/executor.ts";
import { isTensorError, TensorError, type ErrorFields } from "../errors.ts";
import { divide } from "../kernels/divide.ts";
import type { Settings } from "../operators/operator.ts";
import { countTargets, split, type Plan } from "../plan/plan.ts";
import { sizeOf } from "../tensor/shape.ts";
import { bytesOf, copy } from "../tensor/storage.ts";
import { checkDType, Tensor, type Mutable } from "../tensor/tensor.ts";

/** `out`, or a new tensor of `shape`, with the slices of `data` that the Plan points at, and 0 where it leaves some out. */
export function executeGather(
  executor: Executor,
  plan: Plan,
  data: Tensor,
  shape: readonly number[],
  out: Tensor | undefined,
): Tensor {
  const result = out ?? fresh(executor, data.dtype, shape, sizeOf(shape));
  if (plan.source !== undefined) clear(result.data);
  executor.gather(plan, data.dtype, data.data, result.data);
  return result;
}

function clear(data: Storage): void {
  if (isNumericStorage(data)) bytesOf(data).fill(0);
  else data.fill("");
}

/** How updates meet what is there. */
export type Meeting = Pick<Settings, "reduction" | "includeSelf">;

/** What the first update of a target does to it, what later ones do, and whether a division by their number follows. */
export function stepsOf({ reduction, includeSelf }: Meeting): {
  readonly first: Step;
  readonly later: Step;
  readonly divides: boolean;
} {
  const step = reduction === "mean" ? "add" : reduction;
  return { first: includeSelf ? step : "none", later: step, divides: reduction === "mean" };
}

/** What a mean is divided by, after that many updates. */
export const divisorOf = ({ includeSelf }: Meeting, updates: number): number =>
  includeSelf ? updates + 1 : updates;

/** `out`, which may be `data`, or a new tensor: data with the updates applied where the Plan points. */
export function executeScatter(
  executor: Executor,
  plan: Plan,
  data: Tensor,
  updates: Tensor,
  meeting: Meeting,
  out: Tensor | undefined,
  fields: ErrorFields,
): Tensor {
  const result = out ?? fresh(executor, data.dtype, data.shape, data.size);
  // Text can outgrow what a string holds, half-way through: it is put together aside.
  const work = isNumericStorage(result.data) ? result.data : Array.from(result.data);
  try {
    scatter(executor, plan, data, updates, meeting, work);
  } catch (cause) {
    if (!isTensorError(cause)) throw cause;
    throw new TensorError(cause.code, cause.message, fields, { cause });
  }
  if (work !== result.data) copy(work, result.data);
  return result;
}

/**
 * One run of the Plan, or two where the first update of a target is no like the others, or is counted: the Plan of the
 * first updates, and that of all later ones.
 */
function scatter(
  executor: Executor,
  plan: Plan,
  { dtype, data }: Tensor,
  { data: updates }: Tensor,
  meeting: Meeting,
  out: Storage,
): void {
  const steps = stepsOf(meeting);
  if (steps.first === steps.later && !steps.divides) {
    executor.scatter(plan, dtype, steps.later, data, updates, out);
    return;
  }
  const { first, later } = split(plan);
  executor.scatter(first, dtype, steps.first, data, updates, out);
  executor.scatter(later, dtype, steps.later, out, updates, out);
  if (steps.divides) {
    const counts = countTargets(first, later).map((count) => divisorOf(meeting, count));
    divide(dtype, out, plan.slice, first.offsets, counts);
  }
}

const fresh = (executor: Executor, dtype: DType, shape: readonly number[], size: number): Tensor =>
  new Tensor(dtype, shape, size, executor.allocate(dtype, size), executor);

/** A tensor of zeros in the executor's own memory. */
export function allocTensor<D extends DType, S extends readonly number[]>(
  executor: Executor,
  dtype: D,
  shape: S,
): Tensor<D, Mutable<S>> {
  checkDType(dtype, {});
  const size = sizeOf(shape);
  const data = executor.alloc(dtype, size) as Storage<D>;
  return new Tensor(dtype, [...shape], size, data, executor);
}
