/** Functions that compile the indices of a plain function once, into a kept plan. */

import { keepPlan, type KeptPlan } from "./call/kept-plan.ts";
import { defaultExecutor } from "./engines/choice.ts";
import * as elements from "./operators/elements.ts";
import * as slices from "./operators/slices.ts";
import * as tuples from "./operators/tuples.ts";
import type { RuntimeTensor, Tensor } from "./tensor/tensor.ts";
import type { IndexLists } from "./tensor/arguments.ts";
import type { AxisOption, BatchOption } from "./typed-shape.ts";

type Indices = Tensor | RuntimeTensor | IndexLists;

/**
 * Compiles ScatterND indices into a plan that can be applied many times to data of shape `dataShape`. A plan can gather
 * as well as scatter.
 *
 * @param dataShape the shape of data in later calls
 * @param indices an int32 or int64 tensor, or a nested list, whose last axis holds index tuples
 * @param options an empty object, because ScatterND has no options that affect its indices
 * @throws TensorError the errors of `scatterND` that depend only on the indices and the shape of data
 *
 * @example
 * ```ts
 * const plan = planScatterND([3], [[2], [0]]);
 * plan.scatter(tensor("int32", [3], [1, 2, 3]), tensor("int32", [2], [7, 8])).toArray(); // [8, 2, 7]
 * ```
 */
export const planScatterND = (
  dataShape: readonly number[],
  indices: Indices,
  options?: Readonly<Record<string, never>>,
): KeptPlan => keepPlan(defaultExecutor(), tuples.scatterND, dataShape, indices, options);

/**
 * Compiles the indices of `scatterElements` into a plan that can be applied many times, like
 * `planScatterND`.
 *
 * @param dataShape the shape of data in later calls
 * @param indices an int32 or int64 tensor, or a nested list, with the rank of data
 * @param options `axis`, which is 0 by default
 * @throws TensorError the errors of `scatterElements` that depend only on the indices and the shape of data
 *
 * @example
 * ```ts
 * const plan = planScatterElements([3], [1, 1]);
 * const data = tensor("int32", [3], [0, 0, 0]);
 * plan.scatter(data, [5, 7], { reduction: "add" }).toArray(); // [0, 12, 0]
 * ```
 */
export const planScatterElements = (
  dataShape: readonly number[],
  indices: Indices,
  options?: AxisOption,
): KeptPlan => keepPlan(defaultExecutor(), elements.scatterElements, dataShape, indices, options);

/**
 * Compiles the indices of `gatherND` into a plan that can be applied many times, like `planScatterND`.
 *
 * @param dataShape the shape of data in later calls
 * @param indices an int32 or int64 tensor, or a nested list, whose last axis holds index tuples
 * @param options `batchDims`, which is 0 by default
 * @throws TensorError the errors of `gatherND` that depend only on the indices and the shape of data
 *
 * @example
 * ```ts
 * const plan = planGatherND([2, 2], [[1, 0], [0, 1]]);
 * plan.gather(tensor("int32", [2, 2], [1, 2, 3, 4])).toArray(); // [3, 2]
 * ```
 */
export const planGatherND = (
  dataShape: readonly number[],
  indices: Indices,
  options?: BatchOption,
): KeptPlan => keepPlan(defaultExecutor(), tuples.gatherND, dataShape, indices, options);

/**
 * Compiles the indices of `gatherElements` into a plan that can be applied many times, like
 * `planScatterND`.
 *
 * @param dataShape the shape of data in later calls
 * @param indices an int32 or int64 tensor, or a nested list, with the rank of data
 * @param options `axis`, which is 0 by default
 * @throws TensorError the errors of `gatherElements` that depend only on the indices and the shape of data
 *
 * @example
 * ```ts
 * const plan = planGatherElements([2, 2], [[1], [0]], { axis: 1 });
 * plan.gather(tensor("int32", [2, 2], [1, 2, 3, 4])).toArray(); // [[2], [3]]
 * ```
 */
export const planGatherElements = (
  dataShape: readonly number[],
  indices: Indices,
  options?: AxisOption,
): KeptPlan => keepPlan(defaultExecutor(), elements.gatherElements, dataShape, indices, options);

/**
 * Compiles the indices of `gather` into a plan that can be applied many times, like `planScatterND`.
 *
 * @param dataShape the shape of data in later calls
 * @param indices an int32 or int64 tensor, or a nested list, of any shape
 * @param options `axis` and `batchDims`, both 0 by default
 * @throws TensorError the errors of `gather` that depend only on the indices and the shape of data
 *
 * @example
 * ```ts
 * const plan = planGather([3], [2, 0]);
 * plan.gather(tensor("int32", [3], [10, 20, 30])).toArray(); // [30, 10]
 * ```
 */
export const planGather = (
  dataShape: readonly number[],
  indices: Indices,
  options?: AxisOption & BatchOption,
): KeptPlan => keepPlan(defaultExecutor(), slices.gather, dataShape, indices, options);
