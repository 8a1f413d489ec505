/** Engines configured by the user: the functions of the package on an executor that has its own memory and threads. */

import { allocTensor } from "./call/execute.ts";
import { splitArguments, type NodeSpec } from "./call/call.ts";
import type { GradientOptions } from "./call/gradient-options.ts";
import { keepPlan } from "./call/kept-plan.ts";
import { optionsOf } from "./tensor/options.ts";
import { EXECUTOR, runPlain, runPlainAsync, type EngineLike } from "./call/run.ts";
import type { FunctionSpec } from "./call/function-spec.ts";
import { vjpAsync } from "./call/vjp.ts";
import { chooseExecutor } from "./engines/choice.ts";
import { threadsOf } from "./engines/wasm/threads.ts";
import type { Executor } from "./engines/executor.ts";
import { ENGINE_KINDS, type Choice, type EngineKind } from "./engines/kinds.ts";
import { printValue, TensorError } from "./errors.ts";
import type * as plain from "./functions.ts";
import type * as plans from "./plan-functions.ts";
import { forEach, FUNCTIONS, PLAN_FUNCTIONS } from "./operators/plain.ts";
import type { DType } from "./tensor/dtype.ts";
import type { Mutable, RuntimeTensor, Tensor } from "./tensor/tensor.ts";
import type { Nested, ScalarInput } from "./tensor/values.ts";
import type { AxisOption, BatchOption, GatherChoices, ScatterChoices } from "./typed-shape.ts";

const MOST_THREADS = 64;

/** Options of {@link createEngine}. */
export interface EngineOptions {
  /** `"auto"`, the default, uses WebAssembly where it is available and faster, and JavaScript otherwise. */
  readonly kind?: EngineKind | undefined;
  /**
   * Maximum number of threads for tensors that the engine allocated, and for long gathers of other tensors; 1 by
   * default. With more than 1, an extra Node worker prepares memory for the next result if results of more than 32 MB
   * and equal length follow each other without being disposed of. The worker holds one buffer, freed after a second
   * without such results.
   */
  readonly threads?: number | undefined;
}

/** Tensors or nested lists, as the functions take them; their shapes are checked when they run. */
type Indices = Tensor | RuntimeTensor | Nested<number | bigint>;
type Updates = Tensor | RuntimeTensor | Nested<ScalarInput>;

interface OutOption {
  /** The tensor that the result is written to, and which the promise gives. */
  readonly out?: Tensor | RuntimeTensor | undefined;
}

/**
 * The functions for callers that must not block, such as a page: the worker pool does large work while the caller
 * continues.
 *
 * Calls take effect in the order in which they were made, as if each had been awaited, whatever their sizes, policies
 * and the memory of their tensors. The output of an earlier call may be an input. A call runs the checks that need no
 * index values at once, and reads lists at once; it reads tensors when its turn comes. Until the promise settles, use
 * the call's tensors only in asynchronous calls of the same engine: plain calls do not wait. `dispose()` of a tensor
 * takes effect after all calls made before it.
 */
export interface AsyncFunctions {
  /** Number of threads that work while the caller continues; with 1 the caller's own thread does the work. */
  readonly threads: number;
  /**
   * {@link scatterND}; rejects with the errors that `scatterND` throws, with `disposed` if memory was transferred
   * before the call ended, and with `engine` when a worker dies or makes no progress for 5 seconds (`out` is
   * half-written then).
   */
  scatterND<D extends DType, S extends readonly number[]>(
    data: Tensor<D, S> | RuntimeTensor,
    indices: Indices,
    updates: Updates,
    options?: ScatterChoices & OutOption,
  ): Promise<Tensor<D, S>>;
  /** {@link scatterElements} */
  scatterElements<D extends DType, S extends readonly number[]>(
    data: Tensor<D, S> | RuntimeTensor,
    indices: Indices,
    updates: Updates,
    options?: ScatterChoices & AxisOption & OutOption,
  ): Promise<Tensor<D, S>>;
  /** {@link gatherND} */
  gatherND<D extends DType>(
    data: Tensor<D> | RuntimeTensor,
    indices: Indices,
    options?: GatherChoices & BatchOption & OutOption,
  ): Promise<Tensor<D>>;
  /** {@link gatherElements} */
  gatherElements<D extends DType>(
    data: Tensor<D> | RuntimeTensor,
    indices: Indices,
    options?: GatherChoices & AxisOption & OutOption,
  ): Promise<Tensor<D>>;
  /** {@link gather} */
  gather<D extends DType>(
    data: Tensor<D> | RuntimeTensor,
    indices: Indices,
    options?: GatherChoices & AxisOption & BatchOption & OutOption,
  ): Promise<Tensor<D>>;
  /** {@link scatter} */
  scatter: AsyncFunctions["scatterElements"];
  /** {@link tensorScatter} */
  tensorScatter<D extends DType, S extends readonly number[]>(
    pastCache: Tensor<D, S> | RuntimeTensor,
    update: Updates,
    writeIndices?: Indices,
    options?: plain.TensorScatterOptions,
  ): Promise<Tensor<D, S>>;
  /**
   * The gradients of a call's inputs: {@link vjp} of `ndscatter`, in turn with the other calls. Gradients are computed
   * on the calling thread, which works until they are done.
   *
   * @param node a node, as `run` takes it, or a plain function with its options: `{ function: "scatterND", options }`
   * @param outputGradient of data's type and the output's shape
   * @returns a list with a gradient for each input of the version, of the input's type and shape; null for indices, for
   * an axis, and for gradients that were not requested
   * @throws TensorError (as rejections) as `vjp`, `disposed` and `engine` as {@link AsyncFunctions.scatterND}
   *
   * @example
   * ```ts
   * const table = tensor("float32", [3], [1, 2, 3]);
   * const ones = tensor("float32", [2], [1, 1]);
   * const [gradient] = await engine.async.vjp({ function: "gather" }, [table, [2, 2]], ones); // holds [0, 0, 2]
   * ```
   */
  vjp(
    node: NodeSpec | FunctionSpec,
    inputs: readonly unknown[],
    outputGradient: Tensor | RuntimeTensor,
    options?: GradientOptions,
  ): Promise<(Tensor | null)[]>;
}

/** An engine; also what `run` takes as its option `engine`. */
export interface Engine extends EngineLike {
  /** The kind of engine that runs: a fallback if the platform lacks the requested one. */
  readonly kind: Executor["kind"];
  /** Number of threads that work while the caller waits; 1 in a page, which must not block. */
  readonly threads: number;
  /** The reason for another kind or fewer threads than requested; null if the request was met. */
  readonly reason: string | null;
  readonly async: AsyncFunctions;
  readonly scatterND: typeof plain.scatterND;
  readonly scatterElements: typeof plain.scatterElements;
  readonly gatherND: typeof plain.gatherND;
  readonly gatherElements: typeof plain.gatherElements;
  readonly gather: typeof plain.gather;
  readonly scatter: typeof plain.scatter;
  readonly tensorScatter: typeof plain.tensorScatter;
  readonly planScatterND: typeof plans.planScatterND;
  readonly planScatterElements: typeof plans.planScatterElements;
  readonly planGatherND: typeof plans.planGatherND;
  readonly planGatherElements: typeof plans.planGatherElements;
  readonly planGather: typeof plans.planGather;
  /**
   * A tensor of zeros in memory that this engine uses without copying. On WebAssembly its `data` is backed by a
   * SharedArrayBuffer, and the memory is free only after its `dispose()`; a view kept longer shows another tensor.
   * @throws TensorError as `zeros`; `too-large` when the engine's memory is full
   */
  alloc<D extends DType, const S extends readonly number[]>(
    dtype: D,
    shape: S,
  ): Tensor<D, Mutable<S>>;
  /**
   * Ends the engine's threads and frees the memory of disposed results, after all pending asynchronous calls. The engine
   * can still be used: threads start again when they are needed. An engine that is dropped ends its threads too.
   */
  dispose(): void;
}

/**
 * Creates an engine with its own memory for results.
 *
 * @param options the kind of engine and the number of threads
 * @throws TensorError `attribute` for an unknown option
 *
 * @example
 * ```ts
 * const engine = createEngine({ threads: 2 });
 * const data = engine.alloc("float32", [4, 2]);
 * await engine.async.scatterND(data, [[1], [1]], [[1, 2], [3, 4]], { reduction: "add", out: data });
 * console.log(data.toArray()); // [[0, 0], [4, 6], [0, 0], [0, 0]]
 * await engine.dispose();
 * ```
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
  return engineOf(chooseExecutor(kind, threads === 1 ? null : threadsOf(threads)));
}

const isKind = (kind: unknown): kind is EngineKind => ENGINE_KINDS.some((one) => one === kind);

const isThreads = (threads: unknown): threads is number =>
  Number.isSafeInteger(threads) && Number(threads) >= 1 && Number(threads) <= MOST_THREADS;

/** The functions of the package over an executor. */
export function engineOf({ executor, why }: Choice): Engine {
  const functions = forEach(
    FUNCTIONS,
    (operator) =>
      (...args: readonly unknown[]) =>
        runPlain(executor, operator, ...splitArguments(operator, args)),
  );
  const asyncFunctions = forEach(
    FUNCTIONS,
    (operator) =>
      (...args: readonly unknown[]) =>
        runPlainAsync(executor, operator, ...splitArguments(operator, args)),
  );
  const planFunctions = forEach(
    PLAN_FUNCTIONS,
    (operator) => (dataShape: readonly number[], indices: Indices, options?: object) =>
      keepPlan(executor, operator, dataShape, indices, options),
  );
  return {
    ...(functions as PlainFunctions),
    ...planFunctions,
    get kind() {
      return executor.kind;
    },
    get threads() {
      return executor.threads;
    },
    get reason() {
      return why();
    },
    async: {
      ...(asyncFunctions as Omit<AsyncFunctions, "threads" | "vjp">),
      vjp: (node, inputs, outputGradient, options = {}) =>
        vjpAsync(executor, node, inputs, outputGradient, options),
      get threads() {
        return executor.asyncThreads;
      },
    },
    alloc: (dtype, shape) => allocTensor(executor, dtype, shape),
    dispose: () => executor.queue.afterPending(() => executor.dispose()),
    [EXECUTOR]: executor,
  };
}

type PlainFunctions = Pick<Engine, keyof typeof FUNCTIONS>;
