/**
 * The operators as plain functions: without versions, so with every data type, int32 or int64 indices and every
 * reduction. The compiler checks the shapes that it knows (`typed-shape.ts`), the rest is checked when they run.
 *
 * All of them check everything before the first write: after an error `out` is what it was.
 */

import type { DType } from "./dtype.ts";
import { defaultExecutor } from "./engines/default.ts";
import { keepPlan, type KeptPlan } from "./kept-plan.ts";
import { gatherElements as gatherElementsOperator } from "./operators/gather-elements.ts";
import { gatherND as gatherNDOperator } from "./operators/gather-nd.ts";
import { scatterElements as scatterElementsOperator } from "./operators/scatter-elements.ts";
import { scatterND as scatterNDOperator } from "./operators/scatter-nd.ts";
import { runPlain } from "./run.ts";
import type { RuntimeTensor, Tensor } from "./tensor.ts";
import type {
  AxisOption,
  ElementsIndicesMust,
  ElementsUpdatesMust,
  GatherNDIndicesMust,
  GatherNDShape,
  GatherOptions,
  ScatterNDIndicesMust,
  ScatterNDUpdatesMust,
  ScatterOptions,
  Shape,
} from "./typed-shape.ts";
import type { Nested, ScalarInput } from "./values.ts";

/**
 * A copy of `data` in which each index tuple's element or slice is replaced by, or combined with, its update.
 * Tuples are applied in row-major order: of repeated ones the last wins, and a reduction sees all of them.
 *
 * @param data rank r >= 1, any data type
 * @param indices int32 or int64 tensor or nested list of rank q >= 1; its last axis holds tuples of k <= r indices,
 * each in [-s, s-1] of its axis of size s
 * @param updates of data's type and the shape `indices.shape[:-1] ++ data.shape[k:]`
 * @returns `options.out`, or a new tensor of data's type and shape
 * @throws TensorError `attribute`, `reduction`, `dtype`, `rank`, `shape-mismatch`, `overlap`, `disposed`,
 * `index-out-of-range`, `duplicate-index`, `too-large`
 * @see ScatterND-18 of ai.onnx, Summary
 */
export function scatterND<
  D extends DType,
  S extends Shape,
  DI extends DType,
  I extends Shape,
  DU extends DType,
  U extends Shape,
  DO extends DType,
  O extends Shape,
>(
  data: Tensor<D, S> | RuntimeTensor,
  indices:
    | (Tensor<DI, I> & ScatterNDIndicesMust<S, DI, I>)
    | Nested<number | bigint>
    | RuntimeTensor,
  updates:
    | (Tensor<DU, U> & ScatterNDUpdatesMust<D, S, I, DU, U>)
    | Nested<ScalarInput<NoInfer<D>>>
    | RuntimeTensor,
  options?: ScatterOptions<NoInfer<D>, S, DO, O>,
): Tensor<NoInfer<D>, S>;
export function scatterND(
  data: unknown,
  indices: unknown,
  updates: unknown,
  options?: object,
): Tensor {
  return runPlain(defaultExecutor(), scatterNDOperator, [data, indices, updates], options);
}

/**
 * A copy of `data` in which each update replaces, or is combined with, the element at its own coordinates, but along
 * `axis` at its index: `output[indices[i][j]][j] = updates[i][j]` for axis 0 of two. Applied in row-major order.
 *
 * @param data rank r >= 1, any data type
 * @param indices int32 or int64 tensor or nested list of rank r, in [-s, s-1] of the axis of size s; off the axis not
 * larger than data
 * @param updates of data's type and the shape of indices
 * @param options `axis` in [-r, r-1], 0 by default
 * @returns `options.out`, or a new tensor of data's type and shape
 * @throws TensorError as {@link scatterND}, and `axis`
 * @see ScatterElements-18 of ai.onnx, Summary
 */
export function scatterElements<
  D extends DType,
  S extends Shape,
  DI extends DType,
  I extends Shape,
  DU extends DType,
  U extends Shape,
  DO extends DType,
  O extends Shape,
>(
  data: Tensor<D, S> | RuntimeTensor,
  indices:
    | (Tensor<DI, I> & ElementsIndicesMust<S, DI, I>)
    | Nested<number | bigint>
    | RuntimeTensor,
  updates:
    | (Tensor<DU, U> & ElementsUpdatesMust<D, S, I, DU, U>)
    | Nested<ScalarInput<NoInfer<D>>>
    | RuntimeTensor,
  options?: ScatterOptions<NoInfer<D>, S, DO, O> & AxisOption,
): Tensor<NoInfer<D>, S>;
export function scatterElements(
  data: unknown,
  indices: unknown,
  updates: unknown,
  options?: object,
): Tensor {
  return runPlain(defaultExecutor(), scatterElementsOperator, [data, indices, updates], options);
}

/**
 * The elements or slices of `data` that the index tuples address, batch by batch.
 *
 * @param data rank r >= 1, any data type
 * @param indices int32 or int64 tensor or nested list of rank q >= 1; its last axis holds tuples of k indices,
 * 1 <= k <= r - b, each in [-s, s-1] of its axis of size s
 * @param options `batchDims` b, below q and r, 0 by default: the first b axes of data and indices are equal, and each
 * tuple addresses its own batch
 * @returns `options.out`, or a new tensor of data's type and the shape `indices.shape[:-1] ++ data.shape[b+k:]`
 * @throws TensorError as {@link scatterND}, but for those of reductions and duplicates
 * @see GatherND-13 of ai.onnx, Summary
 */
export function gatherND<
  D extends DType,
  S extends Shape,
  DI extends DType,
  I extends Shape,
  DO extends DType,
  O extends Shape,
  B extends number = 0,
>(
  data: Tensor<D, S> | RuntimeTensor,
  indices:
    | (Tensor<DI, I> & GatherNDIndicesMust<S, DI, I, B>)
    | Nested<number | bigint>
    | RuntimeTensor,
  options?: GatherOptions<NoInfer<D>, GatherNDShape<S, I, B>, DO, O> & {
    /** How many leading axes of data and indices are batches; 0 by default. */
    readonly batchDims?: B | undefined;
  },
): Tensor<NoInfer<D>, GatherNDShape<S, I, B>>;
export function gatherND(data: unknown, indices: unknown, options?: object): Tensor {
  return runPlain(defaultExecutor(), gatherNDOperator, [data, indices], options);
}

/**
 * For each index the element of `data` at the index's own coordinates, but along `axis` at the index:
 * `output[i][j] = data[indices[i][j]][j]` for axis 0 of two.
 *
 * @param data rank r >= 1, any data type
 * @param indices int32 or int64 tensor or nested list of rank r, in [-s, s-1] of the axis of size s; off the axis not
 * larger than data
 * @param options `axis` in [-r, r-1], 0 by default
 * @returns `options.out`, or a new tensor of data's type and the shape of indices
 * @throws TensorError as {@link gatherND}, and `axis`
 * @see GatherElements-13 of ai.onnx, Summary
 */
export function gatherElements<
  D extends DType,
  S extends Shape,
  DI extends DType,
  I extends Shape,
  DO extends DType,
  O extends Shape,
>(
  data: Tensor<D, S> | RuntimeTensor,
  indices:
    | (Tensor<DI, I> & ElementsIndicesMust<S, DI, I>)
    | Nested<number | bigint>
    | RuntimeTensor,
  options?: GatherOptions<NoInfer<D>, I, DO, O> & AxisOption,
): Tensor<NoInfer<D>, I>;
export function gatherElements(data: unknown, indices: unknown, options?: object): Tensor {
  return runPlain(defaultExecutor(), gatherElementsOperator, [data, indices], options);
}

type Indices = Tensor | RuntimeTensor | Nested<number | bigint>;

/**
 * The Plan of ScatterND's indices into data of `dataShape`, to be applied many times. It gathers as well.
 * @throws TensorError as {@link scatterND}, as far as the indices and the shape of data tell
 */
export const planScatterND = (
  dataShape: readonly number[],
  indices: Indices,
  options?: object,
): KeptPlan => keepPlan(defaultExecutor(), scatterNDOperator, dataShape, indices, options);

/** {@link planScatterND} for {@link scatterElements}; `options` holds `axis`. */
export const planScatterElements = (
  dataShape: readonly number[],
  indices: Indices,
  options?: AxisOption,
): KeptPlan => keepPlan(defaultExecutor(), scatterElementsOperator, dataShape, indices, options);

/** {@link planScatterND} for {@link gatherND}; `options` holds `batchDims`. */
export const planGatherND = (
  dataShape: readonly number[],
  indices: Indices,
  options?: { readonly batchDims?: number | undefined },
): KeptPlan => keepPlan(defaultExecutor(), gatherNDOperator, dataShape, indices, options);

/** {@link planScatterND} for {@link gatherElements}; `options` holds `axis`. */
export const planGatherElements = (
  dataShape: readonly number[],
  indices: Indices,
  options?: AxisOption,
): KeptPlan => keepPlan(defaultExecutor(), gatherElementsOperator, dataShape, indices, options);
