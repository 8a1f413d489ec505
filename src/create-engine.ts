/** Engines that their user configures: the plain functions over an executor and memory of their own. */

import type { DType, Reduction } from "./tensor/dtype.ts";
import { createExecutor, ENGINE_KINDS, type EngineKind } from "./engines/choice.ts";
import type { Executor } from "./engines/executor.ts";
import { printValue, TensorError } from "./errors.ts";
import { allocTensor } from "./call/execute.ts";
import type {
  gather,
  gatherElements,
  gatherND,
  planGather,
  planGatherElements,
  planGatherND,
  planScatterElements,
  planScatterND,
  scatter,
  scatterElements,
  scatterND,
  tensorScatter,
  TensorScatterOptions,
} from "./functions.ts";
import { keepPlan } from "./call/kept-plan.ts";
import { gatherElements as gatherElementsOperator } from "./operators/gather-elements.ts";
import { gatherND as gatherNDOperator } from "./operators/gather-nd.ts";
import { gather as gatherOperator } from "./operators/gather.ts";
import type { Operator } from "./operators/operator.ts";
import { scatterElements as scatterElementsOperator } from "./operators/scatter-elements.ts";
import { scatterND as scatterNDOperator } from "./operators/scatter-nd.ts";
import { scatter as scatterOperator } from "./operators/scatter.ts";
import { tensorScatter as tensorScatterOperator } from "./operators/tensor-scatter.ts";
import type { Mutable, RuntimeTensor, Tensor } from "./tensor/tensor.ts";
import type { AxisOption } from "./typed-shape.ts";
import type { Nested, ScalarInput } from "./tensor/values.ts";
import { optionsOf } from "./call/options.ts";
import type { Policies } from "./call/policies.ts";
import { EXECUTOR, runPlain, type EngineLike } from "./call/run.ts";

const MOST_THREADS = 64;

export interface EngineOptions {
  /** `"auto"`, the default, takes WebAssembly where it is to be had and pays, and JavaScript else. */
  readonly kind?: EngineKind | undefined;
  /** How many threads may work on tensors that the engine has allocated; 1 by default. */
  readonly threads?: number | undefined;
}

/** Tensors or nested lists, as the functions take them; their shapes are checked when they run. */
type Indices = Tensor | RuntimeTensor | Nested<number | bigint>;
type Updates = Tensor | RuntimeTensor | Nested<ScalarInput>;

/** Options of the functions, as far as they are shared; `out` is what the promise gives. */
type Options<O extends object> = O & Policies & { readonly out?: Tensor | undefined };

/**
 * The functions for callers that may not wait, such as a page. Everything is checked and the indices are read before a
 * function returns its promise; the work is left to threads where there are two or more and it is worth that. Until the
 * promise is settled data, updates and `out` must be left alone. Work is done in the order of the calls.
 */
export interface AsyncFunctions {
  /** How many threads work while the caller goes on; with 1 the work is done before the promise is returned. */
  readonly threads: number;
  /** {@link scatterND}; @throws (rejects) as that, and `engine` when a worker dies */
  scatterND<D extends DType, S extends readonly number[]>(
    data: Tensor<D, S> | RuntimeTensor,
    indices: Indices,
    updates: Updates,
    options?: Options<{ readonly reduction?: Reduction | undefined }>,
  ): Promise<Tensor<D, S>>;
  /** {@link scatterElements} */
  scatterElements<D extends DType, S extends readonly number[]>(
    data: Tensor<D, S> | RuntimeTensor,
    indices: Indices,
    updates: Updates,
    options?: Options<AxisOption & { readonly reduction?: Reduction | undefined }>,
  ): Promise<Tensor<D, S>>;
  /** {@link gatherND} */
  gatherND<D extends DType>(
    data: Tensor<D> | RuntimeTensor,
    indices: Indices,
    options?: Options<{ readonly batchDims?: number | undefined }>,
  ): Promise<Tensor<D>>;
  /** {@link gatherElements} */
  gatherElements<D extends DType>(
    data: Tensor<D> | RuntimeTensor,
    indices: Indices,
    options?: Options<AxisOption>,
  ): Promise<Tensor<D>>;
  /** {@link gather} */
  gather<D extends DType>(
    data: Tensor<D> | RuntimeTensor,
    indices: Indices,
    options?: Options<AxisOption & { readonly batchDims?: number | undefined }>,
  ): Promise<Tensor<D>>;
  /** {@link scatter} */
  scatter: AsyncFunctions["scatterElements"];
  /** {@link tensorScatter} */
  tensorScatter<D extends DType, S extends readonly number[]>(
    pastCache: Tensor<D, S> | RuntimeTensor,
    update: Updates,
    writeIndices?: Indices,
    options?: TensorScatterOptions,
  ): Promise<Tensor<D, S>>;
}

/** An engine; also what `run` takes as its option `engine`. */
export interface Engine extends EngineLike {
  /** What really runs. */
  readonly kind: Executor["kind"];
  /** How many threads work while the caller waits; 1 in a page, which may not. */
  readonly threads: number;
  readonly async: AsyncFunctions;
  readonly scatterND: typeof scatterND;
  readonly scatterElements: typeof scatterElements;
  readonly gatherND: typeof gatherND;
  readonly gatherElements: typeof gatherElements;
  readonly gather: typeof gather;
  readonly scatter: typeof scatter;
  readonly tensorScatter: typeof tensorScatter;
  readonly planScatterND: typeof planScatterND;
  readonly planScatterElements: typeof planScatterElements;
  readonly planGatherND: typeof planGatherND;
  readonly planGatherElements: typeof planGatherElements;
  readonly planGather: typeof planGather;
  /**
   * A tensor of zeros in memory that this engine uses without copying. On WebAssembly its `data` is backed by a
   * SharedArrayBuffer, and the memory is free only after its `dispose()`; a view that is kept shows another tensor then.
   * @throws TensorError as `zeros`; `too-large` when the engine's memory is full
   */
  alloc<D extends DType, const S extends readonly number[]>(
    dtype: D,
    shape: S,
  ): Tensor<D, Mutable<S>>;
  /** Gives the memory of disposed results back. The engine can still be used. */
  dispose(): void;
}

/**
 * An engine of its own, with its own memory for results.
 * @throws TensorError `attribute` for an option that there is not
 */
export function createEngine(options: EngineOptions = {}): Engine {
  const { kind = "auto", threads = 1 } = optionsOf(options, ["kind", "threads"], {});
  if (!isKind(kind)) {
    const range = ENGINE_KINDS.join(", ");
    throw new TensorError("attribute", `kind must be one of ${range}, got ${printValue(kind)}`);
  }
  if (!isThreads(threads)) {
    const range = `an integer from 1 to ${MOST_THREADS}`;
    throw new TensorError("attribute", `threads must be ${range}, got ${printValue(threads)}`);
  }
  return engineOf(createExecutor(kind, threads));
}

const isKind = (kind: unknown): kind is EngineKind => ENGINE_KINDS.some((one) => one === kind);

const isThreads = (threads: unknown): threads is number =>
  Number.isSafeInteger(threads) && Number(threads) >= 1 && Number(threads) <= MOST_THREADS;

/** The functions of the package over an executor. */
export function engineOf(executor: Executor): Engine {
  const scatterBy =
    (operator: Operator) =>
    (data: unknown, indices: unknown, updates: unknown, options?: unknown) =>
      runPlain(executor, operator, [data, indices, updates], options);
  const gatherBy = (operator: Operator) => (data: unknown, indices: unknown, options?: unknown) =>
    runPlain(executor, operator, [data, indices], options);
  const keep =
    (operator: Operator): typeof planScatterND =>
    (dataShape, indices, options) =>
      keepPlan(executor, operator, dataShape, indices, options);
  return {
    kind: executor.kind,
    threads: executor.threads,
    scatterND: scatterBy(scatterNDOperator) as typeof scatterND,
    scatterElements: scatterBy(scatterElementsOperator) as typeof scatterElements,
    gatherND: gatherBy(gatherNDOperator) as typeof gatherND,
    gatherElements: gatherBy(gatherElementsOperator) as typeof gatherElements,
    gather: gatherBy(gatherOperator) as typeof gather,
    scatter: scatterBy(scatterOperator) as typeof scatterElements,
    tensorScatter: scatterBy(tensorScatterOperator) as typeof tensorScatter,
    async: asyncOf(executor),
    planScatterND: keep(scatterNDOperator),
    planScatterElements: keep(scatterElementsOperator),
    planGatherND: keep(gatherNDOperator),
    planGatherElements: keep(gatherElementsOperator),
    planGather: keep(gatherOperator),
    alloc: (dtype, shape) => allocTensor(executor, dtype, shape),
    dispose: () => executor.dispose(),
    [EXECUTOR]: executor,
  };
}

function asyncOf(executor: Executor): AsyncFunctions {
  const later =
    (operator: Operator, count: number) =>
    async (...args: unknown[]): Promise<Tensor<never, never>> => {
      const left = executor.later?.();
      const result = runPlain(
        left?.executor ?? executor,
        operator,
        args.slice(0, count),
        args[count],
      );
      await left?.done();
      return result as Tensor<never, never>;
    };
  return {
    threads: executor.laterThreads,
    scatterND: later(scatterNDOperator, 3),
    scatterElements: later(scatterElementsOperator, 3),
    gatherND: later(gatherNDOperator, 2),
    gatherElements: later(gatherElementsOperator, 2),
    gather: later(gatherOperator, 2),
    scatter: later(scatterOperator, 3),
    tensorScatter: later(tensorScatterOperator, 3),
  };
}
