/** A Plan, tensors and an executor: the two ways to get a result, once everything has been checked. */

import { isNumericStorage, type DType, type Reduction, type Storage } from "./dtype.ts";
import type { Executor } from "./engines/executor.ts";
import { isTensorError, TensorError, type ErrorFields } from "./errors.ts";
import type { Plan } from "./plan.ts";
import { sizeOf } from "./shape.ts";
import { copy } from "./storage.ts";
import { checkDType, Tensor, type Mutable } from "./tensor.ts";

/** `out`, or a new tensor of `shape`, with the slices of `data` that the Plan points at. */
export function executeGather(
  executor: Executor,
  plan: Plan,
  data: Tensor,
  shape: readonly number[],
  out: Tensor | undefined,
): Tensor {
  const result = out ?? fresh(executor, data.dtype, shape, sizeOf(shape));
  executor.gather(plan, data.dtype, data.data, result.data);
  return result;
}

/** `out`, which may be `data`, or a new tensor: data with the updates applied where the Plan points. */
export function executeScatter(
  executor: Executor,
  plan: Plan,
  data: Tensor,
  updates: Tensor,
  reduction: Reduction,
  out: Tensor | undefined,
  fields: ErrorFields,
): Tensor {
  const result = out ?? fresh(executor, data.dtype, data.shape, data.size);
  // Text can outgrow what a string holds, half-way through: it is put together aside.
  const work = isNumericStorage(result.data) ? result.data : Array.from(result.data);
  try {
    executor.scatter(plan, data.dtype, reduction, data.data, updates.data, work);
  } catch (cause) {
    if (!isTensorError(cause)) throw cause;
    throw new TensorError(cause.code, cause.message, fields, { cause });
  }
  if (work !== result.data) copy(work, result.data);
  return result;
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
