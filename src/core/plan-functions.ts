/** Kept plans: the indices of a call are compiled once, for the plain functions that take them. */

import { keepPlan, type KeptPlan } from "./call/kept-plan.ts";
import { defaultExecutor } from "./engines/default.ts";
import { gather as gatherOperator } from "./operators/gather.ts";
import { gatherElements as gatherElementsOperator } from "./operators/gather-elements.ts";
import { gatherND as gatherNDOperator } from "./operators/gather-nd.ts";
import { scatterElements as scatterElementsOperator } from "./operators/scatter-elements.ts";
import { scatterND as scatterNDOperator } from "./operators/scatter-nd.ts";
import type { RuntimeTensor, Tensor } from "./tensor/tensor.ts";
import type { Nested } from "./tensor/values.ts";
import type { AxisOption, BatchOption } from "./typed-shape.ts";

type Indices = Tensor | RuntimeTensor | Nested<number | bigint>;

/**
 * The Plan of ScatterND's indices into data of `dataShape`, to be applied many times. A Plan can gather as well as
 * scatter.
 *
 * @param dataShape the shape of the data of later calls
 * @param indices a tensor of int32 or int64 whose last axis holds index tuples, or a nested list
 * @param options none: an empty object
 * @throws TensorError as {@link scatterND}, for what the indices and the shape of data determine
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
): KeptPlan => keepPlan(defaultExecutor(), scatterNDOperator, dataShape, indices, options);

/**
 * {@link planScatterND} for {@link scatterElements}; `options` holds `axis`.
 *
 * @param dataShape the shape of the data of later calls
 * @param indices a tensor of int32 or int64 with the rank of data, or a nested list
 * @param options `axis`, 0 by default
 * @throws TensorError as {@link scatterElements}
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
): KeptPlan => keepPlan(defaultExecutor(), scatterElementsOperator, dataShape, indices, options);

/**
 * {@link planScatterND} for {@link gatherND}; `options` holds `batchDims`.
 *
 * @param dataShape the shape of the data of later calls
 * @param indices a tensor of int32 or int64 whose last axis holds index tuples, or a nested list
 * @param options `batchDims`, 0 by default
 * @throws TensorError as {@link gatherND}
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
): KeptPlan => keepPlan(defaultExecutor(), gatherNDOperator, dataShape, indices, options);

/**
 * {@link planScatterND} for {@link gatherElements}; `options` holds `axis`.
 *
 * @param dataShape the shape of the data of later calls
 * @param indices a tensor of int32 or int64 with the rank of data, or a nested list
 * @param options `axis`, 0 by default
 * @throws TensorError as {@link gatherElements}
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
): KeptPlan => keepPlan(defaultExecutor(), gatherElementsOperator, dataShape, indices, options);

/**
 * {@link planScatterND} for {@link gather}; `options` holds `axis` and `batchDims`.
 *
 * @param dataShape the shape of the data of later calls
 * @param indices a tensor of int32 or int64 of any shape, or a nested list
 * @param options `axis` and `batchDims`, both 0 by default
 * @throws TensorError as {@link gather}
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
): KeptPlan => keepPlan(defaultExecutor(), gatherOperator, dataShape, indices, options);
