/**
 * The functions of the package, with its default engine. A plain function has no version, and accepts every data type,
 * int32 or int64 indices, and every reduction. The compiler checks known shapes (`typed-shape.ts`), and all other rules
 * are checked at run time.
 *
 * Every function completes all checks before its first write, so `out` is unchanged after an error.
 */

import type { DType } from "./tensor/dtype.ts";
import { defaultExecutor } from "./engines/choice.ts";
import * as elements from "./operators/elements.ts";
import * as sequences from "./operators/sequences.ts";
import * as slices from "./operators/slices.ts";
import * as tuples from "./operators/tuples.ts";
import { callOfKnown, readCall, type Call, type NodeSpec } from "./call/call.ts";
import { runOn, runPlain, type RunOptions } from "./call/run.ts";
import { vjpOn, type FunctionSpec, type VjpOptions } from "./call/vjp.ts";
import type { FunctionName } from "./operators/registry.ts";
import type { RuntimeTensor, Tensor } from "./tensor/tensor.ts";
import type {
  AxisOption,
  ElementsIndicesMust,
  ElementsUpdatesMust,
  GatherIndicesMust,
  GatherNDIndicesMust,
  GatherNDShape,
  GatherOptions,
  GatherShape,
  ScatterNDIndicesMust,
  ScatterNDUpdatesMust,
  ScatterOptions,
  Shape,
} from "./typed-shape.ts";
import type { IndexLists, UpdateLists } from "./tensor/arguments.ts";

/**
 * Returns a copy of `data` in which each index tuple's element or slice is replaced by, or combined with, its update.
 * Updates are applied in the row-major order of their tuples. If tuples repeat, the last update wins, or a reduction
 * combines all updates.
 *
 * @param data rank r >= 1, any data type
 * @param indices int32 or int64 tensor, typed array or nested list of rank q >= 1; its last axis holds tuples of k <= r
 *   indices, each in [-s, s-1] for an axis of size s
 * @param updates data's type and the shape `indices.shape[:-1] ++ data.shape[k:]`
 * @param options `reduction`, `"none"` by default; `duplicates`, `includeSelf`, `bounds`, `negative` and `out` as
 *   described in `ScatterOptions`
 * @returns `options.out`, or a new tensor of data's type and shape
 * @throws TensorError `attribute`, `reduction`, `dtype`, `rank`, `shape-mismatch`, `overlap`, `disposed`,
 *   `index-out-of-range`, `duplicate-index`, `too-large`
 * @see ScatterND-18 of ai.onnx, Summary
 *
 * @example
 * ```ts
 * const data = tensor("float32", [3, 2], [0, 0, 0, 0, 0, 0]);
 * scatterND(data, [[2], [0]], [[1, 2], [3, 4]]).toArray(); // [[3, 4], [0, 0], [1, 2]]
 * ```
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
  indices: (Tensor<DI, I> & ScatterNDIndicesMust<S, DI, I>) | IndexLists | RuntimeTensor,
  updates:
    | (Tensor<DU, U> & ScatterNDUpdatesMust<D, S, I, DU, U>)
    | UpdateLists<NoInfer<D>>
    | RuntimeTensor,
  options?: ScatterOptions<NoInfer<D>, S, DO, O>,
): Tensor<NoInfer<D>, S>;
export function scatterND(
  data: unknown,
  indices: unknown,
  updates: unknown,
  options?: object,
): Tensor {
  return runPlain(defaultExecutor(), tuples.scatterND, [data, indices, updates], options);
}

/**
 * Returns a copy of `data` in which each update replaces, or is combined with, one element. The element's coordinates
 * are those of the update, except that the index replaces the coordinate along `axis`: `output[indices[i][j]][j] =
 * updates[i][j]` for rank 2 and axis 0. Updates are applied in row-major order.
 *
 * @param data rank r >= 1, any data type
 * @param indices int32 or int64 tensor, typed array or nested list of rank r, with values in [-s, s-1] for an axis of
 *   size s; no larger than data along the other axes
 * @param updates data's type and the shape of indices
 * @param options `axis` in [-r, r-1], 0 by default, and the options of `scatterND`
 * @returns `options.out`, or a new tensor of data's type and shape
 * @throws TensorError the errors of `scatterND`, and `axis`
 * @see ScatterElements-18 of ai.onnx, Summary
 *
 * @example
 * ```ts
 * const data = tensor("int32", [2, 3], [0, 0, 0, 0, 0, 0]);
 * scatterElements(data, [[2], [0]], [[5], [7]], { axis: 1 }).toArray(); // [[0, 0, 5], [7, 0, 0]]
 * ```
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
  indices: (Tensor<DI, I> & ElementsIndicesMust<S, DI, I>) | IndexLists | RuntimeTensor,
  updates:
    | (Tensor<DU, U> & ElementsUpdatesMust<D, S, I, DU, U>)
    | UpdateLists<NoInfer<D>>
    | RuntimeTensor,
  options?: ScatterOptions<NoInfer<D>, S, DO, O> & AxisOption,
): Tensor<NoInfer<D>, S>;
export function scatterElements(
  data: unknown,
  indices: unknown,
  updates: unknown,
  options?: object,
): Tensor {
  return runPlain(defaultExecutor(), elements.scatterElements, [data, indices, updates], options);
}

/**
 * Returns the elements or slices of `data` that the index tuples address, batch by batch.
 *
 * @param data rank r >= 1, any data type
 * @param indices int32 or int64 tensor, typed array or nested list of rank q >= 1; its last axis holds tuples of k
 *   indices, 1 <= k <= r - b, each in [-s, s-1] for an axis of size s
 * @param options `batchDims` b, less than q and r, 0 by default: data and indices have equal sizes along the first b
 *   axes, and each tuple addresses its own batch; `bounds`, `negative` and `out` as described in `GatherOptions`
 * @returns `options.out`, or a new tensor of data's type and the shape `indices.shape[:-1] ++ data.shape[b+k:]`
 * @throws TensorError the errors of `scatterND`, except `reduction` and `duplicate-index`
 * @see GatherND-13 of ai.onnx, Summary
 *
 * @example
 * ```ts
 * const data = tensor("int32", [2, 2], [1, 2, 3, 4]);
 * gatherND(data, [[1, 0], [0, 1]]).toArray(); // [3, 2]
 * ```
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
  indices: (Tensor<DI, I> & GatherNDIndicesMust<S, DI, I, B>) | IndexLists | RuntimeTensor,
  options?: GatherOptions<NoInfer<D>, GatherNDShape<S, I, B>, DO, O> & {
    /** Number of leading axes of data and indices that are batch axes; 0 by default. */
    readonly batchDims?: B | undefined;
  },
): Tensor<NoInfer<D>, GatherNDShape<S, I, B>>;
export function gatherND(data: unknown, indices: unknown, options?: object): Tensor {
  return runPlain(defaultExecutor(), tuples.gatherND, [data, indices], options);
}

/**
 * Returns one element of `data` for each index. The element's coordinates are those of the index, except that the
 * index's value replaces the coordinate along `axis`: `output[i][j] = data[indices[i][j]][j]` for rank 2 and axis 0.
 *
 * @param data rank r >= 1, any data type
 * @param indices int32 or int64 tensor, typed array or nested list of rank r, with values in [-s, s-1] for an axis of
 *   size s; no larger than data along the other axes
 * @param options `axis` in [-r, r-1], 0 by default; `bounds`, `negative` and `out` as in `gatherND`
 * @returns `options.out`, or a new tensor of data's type and the shape of indices
 * @throws TensorError the errors of `gatherND`, and `axis`
 * @see GatherElements-13 of ai.onnx, Summary
 *
 * @example
 * ```ts
 * const data = tensor("int32", [2, 3], [1, 2, 3, 4, 5, 6]);
 * gatherElements(data, [[2], [0]], { axis: 1 }).toArray(); // [[3], [4]]
 * ```
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
  indices: (Tensor<DI, I> & ElementsIndicesMust<S, DI, I>) | IndexLists | RuntimeTensor,
  options?: GatherOptions<NoInfer<D>, I, DO, O> & AxisOption,
): Tensor<NoInfer<D>, I>;
export function gatherElements(data: unknown, indices: unknown, options?: object): Tensor {
  return runPlain(defaultExecutor(), elements.gatherElements, [data, indices], options);
}

/**
 * Returns one slice of `data` along `axis` for each index, such as rows of an embedding table selected by row number.
 *
 * @param data rank r >= 1, any data type
 * @param indices int32 or int64 tensor, typed array or nested list of any rank q, with values in [-s, s-1] for an axis
 *   of size s; a scalar index removes the axis
 * @param options `axis` in [-r, r-1], 0 by default; `batchDims` b, at most axis, 0 by default: data and indices have
 *   equal sizes along the first b axes, and each index selects from its own batch (a negative b counts from q);
 *   `bounds`, `negative` and `out` as in `gatherND`
 * @returns `options.out`, or a new tensor of data's type and the shape `data.shape[:axis] ++ indices.shape[b:] ++
 *   data.shape[axis+1:]`
 * @throws TensorError the errors of `gatherND`, and `axis`
 * @see Gather-13 of ai.onnx, Summary; for batchDims Gather-8 of openvino
 *
 * @example
 * ```ts
 * const table = tensor("float32", [3, 2], [0, 1, 2, 3, 4, 5]);
 * gather(table, [2, 0]).toArray(); // [[4, 5], [0, 1]]
 * ```
 */
export function gather<
  D extends DType,
  S extends Shape,
  DI extends DType,
  I extends Shape,
  DO extends DType,
  O extends Shape,
  A extends number = 0,
  B extends number = 0,
>(
  data: Tensor<D, S> | RuntimeTensor,
  indices: (Tensor<DI, I> & GatherIndicesMust<S, DI>) | IndexLists | RuntimeTensor,
  options?: GatherOptions<NoInfer<D>, GatherShape<S, I, A, B>, DO, O> & {
    /** Axis that the indices address, from -r to r - 1; 0 by default. */
    readonly axis?: A | undefined;
    /** Number of leading axes of data and indices that are batch axes; 0 by default. */
    readonly batchDims?: B | undefined;
  },
): Tensor<NoInfer<D>, GatherShape<S, I, A, B>>;
export function gather(data: unknown, indices: unknown, options?: object): Tensor {
  return runPlain(defaultExecutor(), slices.gather, [data, indices], options);
}

/**
 * Runs `scatterElements`. ONNX named this operator Scatter before version 11.
 *
 * @example
 * ```ts
 * const data = tensor("int32", [1, 3], [0, 0, 0]);
 * scatter(data, [[2]], [[5]], { axis: 1 }).toArray(); // [[0, 0, 5]]
 * ```
 */
export const scatter: typeof scatterElements = (
  data: unknown,
  indices: unknown,
  updates: unknown,
  options?: object,
): Tensor<never, never> =>
  runPlain(defaultExecutor(), elements.scatter, [data, indices, updates], options) as Tensor<
    never,
    never
  >;

/**
 * Returns a copy of a cache in which each sample b of the batch (axis 0) has a new sequence, written from position
 * `writeIndices[b]` of `axis`. Use `tensorScatter` for a transformer's KV cache if the samples have different lengths.
 *
 * @param pastCache shape (batch, ..., max sequence length, ...), any data type
 * @param update the cache's type and shape, except along `axis`, where its size is the sequence length, at most that of
 *   the cache
 * @param writeIndices int32 or int64 tensor, typed array or list of shape (batch); `undefined` means 0 for every sample
 * @param options `axis` in [-r, r-1] except 0, -2 by default; `mode`: `"linear"`, the default, requires sequences to
 *   fit, and `"circular"` wraps positions at the end of the axis
 * @returns `options.out`, which may be the cache itself, or a new tensor of the cache's type and shape
 * @throws TensorError `attribute`, `dtype`, `rank`, `axis`, `shape-mismatch`, `overlap`, `disposed`,
 *   `index-out-of-range`, `too-large`
 * @see TensorScatter-24 of ai.onnx, Summary
 *
 * @example
 * ```ts
 * const cache = zeros("float32", [1, 4, 2]); // batch, sequence, width
 * tensorScatter(cache, [[[1, 2]]], [3]).toArray(); // [[[0, 0], [0, 0], [0, 0], [1, 2]]]
 * ```
 */
export function tensorScatter<D extends DType, S extends Shape>(
  pastCache: Tensor<D, S> | RuntimeTensor,
  update: Tensor<NoInfer<D>> | RuntimeTensor | UpdateLists<NoInfer<D>>,
  writeIndices?: Tensor | RuntimeTensor | IndexLists | undefined,
  options?: TensorScatterOptions,
): Tensor<D, S>;
export function tensorScatter(
  pastCache: unknown,
  update: unknown,
  writeIndices?: unknown,
  options?: object,
): Tensor {
  const inputs = [pastCache, update, writeIndices];
  return runPlain(defaultExecutor(), sequences.tensorScatter, inputs, options);
}

/** Options of `tensorScatter`. */
export interface TensorScatterOptions {
  /** Axis of the sequence, from -r to r - 1 except 0, which is the batch axis; -2 by default. */
  readonly axis?: number | undefined;
  /**
   * Treatment of positions beyond the end of the axis: `"circular"` wraps them; `"linear"`, the default, requires
   * sequences to fit.
   */
  readonly mode?: "linear" | "circular" | undefined;
  /** Tensor to write the result to, with the cache's data type and shape; it may be the cache itself. */
  readonly out?: Tensor | RuntimeTensor | undefined;
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
): [Tensor] => runOn(defaultExecutor, callOfKnown(node), inputs, options);

/** Runs a node of a model like `run`, at any opset: a model may be newer than this package. */
export const runNode = (
  node: NodeSpec,
  inputs: readonly unknown[],
  options: RunOptions = {},
): [Tensor] => runOn(defaultExecutor, readCall(node), inputs, options);

/** Runs a node that `readCall` has parsed. */
export const runCall = (call: Call, inputs: readonly unknown[], out?: Tensor): Tensor =>
  runOn(defaultExecutor, call, inputs, { out })[0];

/**
 * The vector-Jacobian product of a call, as reverse-mode differentiation uses it: the gradients of the inputs from the
 * gradient of the output. The gradient of a scatter is a gather by the same Plan, and the gradient of a gather is a
 * scatter `add` into zeros. The section "Gradients" of `docs/semantics.md` defines the rules. Gradients have the same
 * bits on every engine and with any number of threads.
 *
 * @param node a node, as `run` takes it, or a plain function: its name, or `{ function: "scatterND", options }`
 * @param inputs as the node or the function takes them; data of float16, bfloat16, float32, float64, complex64 or
 *   complex128
 * @param outputGradient of data's type and the output's shape
 * @param options the inputs whose gradients are wanted, the treatment of ties, `out` and the engine
 * @returns a list with a gradient for each input of the version, in its order, of the input's type and shape; null for
 *   indices, for an axis, and for gradients that were not requested
 * @throws TensorError as `run`; `dtype` for data without gradients and for an `outputGradient` of another type;
 *   `shape-mismatch` for an `outputGradient` of another shape; `attribute` for `argnums`, `ties` or `out`; `overlap`
 *   for an `out` in the memory of an input
 *
 * @example
 * ```ts
 * const table = tensor("float32", [3], [1, 2, 3]);
 * const [gradient] = vjp("gather", [table, [2, 2]], tensor("float32", [2], [1, 1]));
 * console.log(gradient?.toArray()); // [0, 0, 2]
 * ```
 */
export const vjp = (
  node: NodeSpec | FunctionSpec | FunctionName,
  inputs: readonly unknown[],
  outputGradient: Tensor | RuntimeTensor,
  options: VjpOptions = {},
): (Tensor | null)[] => vjpOn(defaultExecutor, node, inputs, outputGradient, options);
