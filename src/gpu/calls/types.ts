/** Declares the public types of `ndscatter/webgpu`: tensors on a GPU, the engine, and its kept plans. */

import type { NodeSpec } from "../../core/call/call.ts";
import type { FunctionSpec } from "../../core/call/vjp.ts";
import type { FunctionName } from "../../core/operators/registry.ts";
import type { GradientOptions } from "../../core/call/gradient-options.ts";
import type { RepeatedTarget } from "../../core/call/kept-plan.ts";
import type { GpuBuffer, GpuDevice } from "../kernels/webgpu.ts";
import type { DType, Reduction } from "../../core/tensor/dtype.ts";
import type { RuntimeTensor, Tensor } from "../../core/tensor/tensor.ts";
import type { IndexLists, UpdateLists } from "../../core/tensor/arguments.ts";
import type {
  AxisOption,
  BatchOption,
  GatherChoices,
  ScatterChoices,
} from "../../core/typed-shape.ts";

/** Options of `createGpuEngine`. */
export interface GpuEngineOptions {
  /**
   * An existing `GPUDevice`, such as the device of onnxruntime-web, whose tensors are then used without a copy. The
   * engine never destroys this device. By default, the engine requests a device with the largest available limits from
   * the browser.
   */
  readonly device?: GpuDevice | undefined;
}

/**
 * A tensor in GPU memory. The elements are in row-major order, in the layout of `Tensor.data`, and begin at the first
 * byte of the buffer.
 */
export interface GpuTensor<D extends DType = DType> {
  readonly dtype: D;
  /** The dimensions, which are `[]` for a scalar. */
  readonly shape: readonly number[];
  /** The number of elements. */
  readonly size: number;
  /** The buffer, whose size is at least that of the elements, rounded up to 4 bytes. */
  readonly buffer: GpuBuffer;
  /**
   * Waits for all earlier calls, and reads the elements into a tensor on the heap.
   * @throws TensorError the error of the failed call that should have written the elements; `disposed`; `engine` if the
   *   device is lost; `too-large` if memory is exhausted
   */
  read(): Promise<Tensor<D>>;
  /** Releases the tensor when all earlier calls are finished. The user's own buffers are not destroyed. */
  dispose(): void;
  readonly isDisposed: boolean;
}

/**
 * Indices or updates: tensors on the GPU, including tensors of onnxruntime-web, or tensors and nested lists in memory,
 * which are uploaded.
 */
type Indices = GpuTensor | Tensor | RuntimeTensor | IndexLists;
type Updates<D extends DType> = GpuTensor<D> | Tensor<D> | RuntimeTensor | UpdateLists;

interface OutOption {
  /** The tensor that receives the result and is returned. A scatter may write into `data` itself. */
  readonly out?: GpuTensor | undefined;
}

/** `GradientOptions` for tensors on the GPU. */
export interface GpuGradientOptions extends Omit<GradientOptions, "out"> {
  /**
   * The tensors that receive the gradients, in input order; null for a new tensor. In a scatter, the tensor for the
   * gradient of data may be `outputGradient` itself.
   */
  readonly out?: readonly (GpuTensor | null | undefined)[] | undefined;
}

/** Checked indices on the GPU for data of one shape: see `KeptPlan`. */
export interface GpuPlan {
  /** The shape of data. */
  readonly dataShape: readonly number[];
  /** The shape of a scatter's updates, and of a gather's result. */
  readonly shape: readonly number[];
  /**
   * Returns a copy of data with the updates applied, like `KeptPlan.scatter`.
   * @throws TensorError the errors of `KeptPlan.scatter`, and `engine`
   */
  scatter<D extends DType>(
    data: GpuTensor<D>,
    updates: Updates<D>,
    options?: { readonly reduction?: Reduction | undefined; readonly out?: GpuTensor | undefined },
  ): GpuTensor<D>;
  /**
   * Returns the elements or slices of data that the indices address, like `KeptPlan.gather`.
   * @throws TensorError the errors of `KeptPlan.gather`, and `engine`
   */
  gather<D extends DType>(
    data: GpuTensor<D>,
    options?: { readonly out?: GpuTensor | undefined },
  ): GpuTensor<D>;
  /**
   * Returns the gradients of data and updates in `scatter`, like `KeptPlan.scatterVjp`, for the data types and
   * reductions of `GpuEngine.vjp`.
   * @throws TensorError like `scatter`; `dtype` and `reduction` like `GpuEngine.vjp`
   */
  scatterVjp<D extends DType>(
    data: GpuTensor<D>,
    updates: Updates<D>,
    outputGradient: GpuTensor<D>,
    options?: GpuGradientOptions & { readonly reduction?: Reduction | undefined },
  ): [data: GpuTensor<D> | null, updates: GpuTensor<D> | null];
  /**
   * Returns the gradient of data in `gather`, like `KeptPlan.gatherVjp`, for the data types of `GpuEngine.vjp`.
   * @throws TensorError like `gather`; `dtype` like `GpuEngine.vjp`
   */
  gatherVjp<D extends DType>(
    outputGradient: GpuTensor<D>,
    options?: { readonly out?: GpuTensor | undefined },
  ): GpuTensor<D>;
  /** Returns the repeated targets, in the order in which they repeat for the first time. */
  duplicates(): RepeatedTarget[];
  /** Frees the GPU memory of the plan. */
  dispose(): void;
}

/** A function that keeps the indices of a call, which must be on the host, as a plan. */
type PlanFunction<O extends object> = (
  dataShape: readonly number[],
  indices: Tensor | RuntimeTensor | IndexLists,
  options?: O,
) => GpuPlan;

/**
 * The package's functions on GPU tensors. Calls return immediately and take effect in order. Shapes, data types and
 * indices on the host are checked before a call returns. Indices on the GPU are checked there before anything is
 * written. A bad index leaves `out` unchanged, and its error rejects `done` and `read`.
 */
export interface GpuEngine {
  readonly device: GpuDevice;
  /**
   * Creates a tensor over a buffer of the same device. The buffer's usage must include STORAGE, COPY_SRC and COPY_DST.
   * @throws TensorError `shape-mismatch` for a buffer that is too short, `attribute` for a buffer with other usage,
   *   `dtype` for text
   */
  fromBuffer<D extends DType>(buffer: GpuBuffer, dtype: D, shape: readonly number[]): GpuTensor<D>;
  /** Copies a tensor to the GPU. @throws TensorError `dtype` for text, `too-large`, `disposed`, `engine` */
  upload<D extends DType>(tensor: Tensor<D> | RuntimeTensor): GpuTensor<D>;
  /** Creates a tensor of zeros. @throws TensorError the errors of `upload` */
  alloc<D extends DType>(dtype: D, shape: readonly number[]): GpuTensor<D>;
  scatterND<D extends DType>(
    data: GpuTensor<D>,
    indices: Indices,
    updates: Updates<D>,
    options?: ScatterChoices & OutOption,
  ): GpuTensor<D>;
  scatterElements<D extends DType>(
    data: GpuTensor<D>,
    indices: Indices,
    updates: Updates<D>,
    options?: ScatterChoices & AxisOption & OutOption,
  ): GpuTensor<D>;
  readonly scatter: GpuEngine["scatterElements"];
  tensorScatter<D extends DType>(
    pastCache: GpuTensor<D>,
    update: Updates<D>,
    writeIndices?: Indices,
    options?: AxisOption & {
      readonly mode?: "linear" | "circular" | undefined;
      readonly out?: GpuTensor | undefined;
    },
  ): GpuTensor<D>;
  gatherND<D extends DType>(
    data: GpuTensor<D>,
    indices: Indices,
    options?: GatherChoices & BatchOption & OutOption,
  ): GpuTensor<D>;
  gatherElements<D extends DType>(
    data: GpuTensor<D>,
    indices: Indices,
    options?: GatherChoices & AxisOption & OutOption,
  ): GpuTensor<D>;
  gather<D extends DType>(
    data: GpuTensor<D>,
    indices: Indices,
    options?: GatherChoices & AxisOption & BatchOption & OutOption,
  ): GpuTensor<D>;
  readonly planScatterND: PlanFunction<Readonly<Record<string, never>>>;
  readonly planScatterElements: PlanFunction<AxisOption>;
  readonly planGatherND: PlanFunction<BatchOption>;
  readonly planGatherElements: PlanFunction<AxisOption>;
  readonly planGather: PlanFunction<AxisOption & BatchOption>;
  /**
   * Returns the gradients of a call's inputs from the gradient of its output, bit-identical to `vjp` in `ndscatter`.
   * Like the call itself, the function returns immediately. The function supports gathers, and scatters with `none`,
   * `add`, `sub` or `mean`, of float16, bfloat16 and float32. For other data types with gradients, it supports only
   * scatters with `none` or `add`, whose gradients are moved. The host computes all other gradients.
   *
   * @param node a node, as for `run`, or a plain function with its options: `{ function: "scatterND", options }`
   * @param inputs the inputs of the call: data on the GPU, indices and updates on the GPU or in memory
   * @param outputGradient a tensor on the GPU, with data's type and the output's shape
   * @returns a list with a gradient for each input of the version, in order, with the input's type and shape; null for
   *   indices, for an axis, and for gradients that were not requested
   * @throws TensorError like the functions, and like `vjp` in `ndscatter` for data types, `outputGradient` and options;
   *   `reduction` for `mul`, `max` and `min`; `dtype` for gradients that need arithmetic on float64 or complex numbers
   *
   * @example
   * ```ts
   * const table = engine.alloc("float32", [3, 2]);
   * const ones = engine.upload(tensor("float32", [2, 2], [1, 1, 1, 1]));
   * const [gradient] = engine.vjp({ function: "gather" }, [table, [2, 2]], ones);
   * console.log(await gradient.read()); // row 2 holds [2, 2]
   * ```
   */
  vjp(
    node: NodeSpec | FunctionSpec | FunctionName,
    inputs: readonly unknown[],
    outputGradient: GpuTensor,
    options?: GpuGradientOptions,
  ): (GpuTensor | null)[];
  /**
   * Compiles kernels in advance, without blocking. Without compiled kernels, a call waits for the driver, which may
   * take seconds. While `calls` runs, calls on this engine and its plans are checked but not executed: `out` is
   * unchanged, and new results have no elements, so reading a new result rejects. The compiled kernels serve all calls
   * with the same options, data types and kinds of sizes.
   * @throws TensorError the errors of the calls; `attribute` unless `calls` is a synchronous function; `engine` for a
   *   kernel that the driver cannot compile, `disposed`
   */
  compile(calls: () => void): Promise<void>;
  /**
   * Resolves when all earlier calls have taken effect.
   * @throws TensorError the error of the first failed call since the last `done`, after which errors of later calls are
   *   not reported; `engine` if the device is lost, `disposed`
   */
  done(): Promise<void>;
  /**
   * Ends the engine after all earlier calls and waits. A device that the engine requested is destroyed. Later calls and
   * waits fail with `disposed`, while tensors keep their buffers until their own `dispose`.
   */
  dispose(): void;
}
