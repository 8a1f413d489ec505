/** The public types of the entry: tensors on a GPU, the engine that works on them, and its kept plans. */

import type { RepeatedTarget } from "../../core/call/kept-plan.ts";
import type { GpuBuffer, GpuDevice } from "../kernels/webgpu.ts";
import type { DType, Reduction } from "../../core/tensor/dtype.ts";
import type { RuntimeTensor, Tensor } from "../../core/tensor/tensor.ts";
import type { Nested, ScalarInput } from "../../core/tensor/values.ts";
import type {
  AxisOption,
  BatchOption,
  GatherChoices,
  ScatterChoices,
} from "../../core/typed-shape.ts";

export interface GpuEngineOptions {
  /**
   * A `GPUDevice`, such as the one of onnxruntime-web, whose tensors are then reached without a copy. It is never
   * destroyed here. By default the engine asks the browser for a device of its own, with the largest limits there are.
   */
  readonly device?: GpuDevice | undefined;
}

/** A tensor in the memory of a GPU: elements in row-major order, as `Tensor.data` has them, from the first byte on. */
export interface GpuTensor<D extends DType = DType> {
  readonly dtype: D;
  /** The dimensions; `[]` is a scalar. */
  readonly shape: readonly number[];
  /** The number of elements. */
  readonly size: number;
  /** At least as long as the elements, rounded up to 4 bytes. */
  readonly buffer: GpuBuffer;
  /**
   * The elements as a tensor on the heap, when all earlier calls have taken effect.
   * @throws TensorError that of the bad call which should have made the elements; `disposed`; `engine`, `too-large`
   */
  read(): Promise<Tensor<D>>;
  /** Ends the use of the tensor, after all calls that were made before. A buffer that was given is not destroyed. */
  dispose(): void;
  readonly isDisposed: boolean;
}

/**
 * Values for indices and updates: tensors on the GPU, also those of onnxruntime-web; or tensors and nested lists in memory,
 * which are uploaded.
 */
type Indices = GpuTensor | Tensor | RuntimeTensor | Nested<number | bigint>;
type Updates<D extends DType> = GpuTensor<D> | Tensor<D> | RuntimeTensor | Nested<ScalarInput>;

interface OutOption {
  /** Where the result goes, which then is this tensor; a scatter may write into `data` itself. */
  readonly out?: GpuTensor | undefined;
}

/** Checked indices into data of one shape, on the GPU: see `KeptPlan`. */
export interface GpuPlan {
  /** The shape of data. */
  readonly dataShape: readonly number[];
  /** The shape of the updates of a scatter, and of the result of a gather. */
  readonly shape: readonly number[];
  /**
   * A copy of data with the updates applied.
   * @throws TensorError `attribute`, `reduction`, `dtype`, `shape-mismatch`, `overlap`, `disposed`, `too-large`, `engine`
   */
  scatter<D extends DType>(
    data: GpuTensor<D>,
    updates: Updates<D>,
    options?: { readonly reduction?: Reduction | undefined; readonly out?: GpuTensor | undefined },
  ): GpuTensor<D>;
  /**
   * What the indices address.
   * @throws TensorError `attribute`, `dtype`, `shape-mismatch`, `overlap`, `disposed`, `too-large`, `engine`
   */
  gather<D extends DType>(
    data: GpuTensor<D>,
    options?: { readonly out?: GpuTensor | undefined },
  ): GpuTensor<D>;
  /** The targets that repeat, in the order in which they do so first. */
  duplicates(): RepeatedTarget[];
  /** Frees what the plan keeps on the GPU. */
  dispose(): void;
}

/** Keeps the indices of a call, which are on the host, as a plan. */
type PlanFunction<O extends object> = (
  dataShape: readonly number[],
  indices: Tensor | RuntimeTensor | Nested<number | bigint>,
  options?: O,
) => GpuPlan;

/**
 * The functions of the package on tensors of a GPU. Calls return at once and take effect in order. What shapes, data types
 * and indices of the host tell is checked before the call returns. Indices on the GPU are checked there, before anything
 * is written; a bad one leaves `out` untouched, and `done` and `read` reject with its error.
 */
export interface GpuEngine {
  readonly device: GpuDevice;
  /**
   * A tensor over a buffer of the same device, whose usage includes STORAGE, COPY_SRC and COPY_DST.
   * @throws TensorError `shape-mismatch` for a buffer that is too short, `attribute` for one of other usage, `dtype`
   */
  fromBuffer<D extends DType>(buffer: GpuBuffer, dtype: D, shape: readonly number[]): GpuTensor<D>;
  /** A copy of a tensor. @throws TensorError `dtype` for text, `too-large`, `disposed`, `engine` */
  upload<D extends DType>(tensor: Tensor<D> | RuntimeTensor): GpuTensor<D>;
  /** A tensor of zeros. @throws TensorError as {@link upload} */
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
   * Compiles kernels before calls need them, and does not block: a call whose kernels are missing waits for them itself,
   * which takes a driver up to seconds. The calls of this engine and of its plans that `calls` makes before it returns are
   * checked and not run: `out` stays as it is, and a new result has no elements, so that `read` of it rejects. Their kernels
   * serve calls with the same options and data types, whose sizes are of the same kind.
   * @throws TensorError those of the calls; `attribute` unless `calls` is a function that returns no promise; `engine` for a
   * kernel that the driver cannot compile, `disposed`
   */
  compile(calls: () => void): Promise<void>;
  /**
   * Fulfilled when all calls so far have taken effect.
   * @throws TensorError that of the first bad call since the last `done`, which stands for all later ones; `engine` when
   * the device is lost, `disposed`
   */
  done(): Promise<void>;
  /**
   * Ends the engine, after all calls and waits that were begun before, and destroys its device unless the device was given.
   * Later calls and waits are `disposed`; tensors keep their buffers until their own `dispose`.
   */
  dispose(): void;
}
