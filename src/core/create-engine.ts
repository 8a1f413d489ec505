/** Engines that users configure: the package's functions, run by an executor with its own memory and threads. */

import { oneOf } from "./errors.ts";
import { wrongOption, optionsOf } from "./foreign.ts";
import { splitArguments, type NodeSpec } from "./call/call.ts";
import type { GradientOptions } from "./call/gradient-options.ts";
import { keepPlan } from "./call/kept-plan.ts";
import { EXECUTOR, runPlain, runPlainAsync, type EngineLike } from "./call/run.ts";
import { vjpAsync, type FunctionSpec } from "./call/vjp.ts";
import { chooseExecutor, ENGINE_KINDS, type Choice, type EngineKind } from "./engines/choice.ts";
import { threadsOf } from "./engines/wasm/threads.ts";
import type * as plain from "./functions.ts";
import type * as plans from "./plan-functions.ts";
import { forEach, FUNCTIONS, PLAN_FUNCTIONS, type FunctionName } from "./operators/registry.ts";
import { checkDType, type DType, type Storage } from "./tensor/dtype.ts";
import { shapeOf } from "./tensor/shape.ts";
import { Tensor, type Mutable, type RuntimeTensor } from "./tensor/tensor.ts";
import type { IndexLists, UpdateLists } from "./tensor/arguments.ts";
import type { AxisOption, BatchOption, GatherChoices, ScatterChoices } from "./typed-shape.ts";

const MOST_THREADS = 64;

/** Options of `createEngine`. */
export interface EngineOptions {
  /**
   * Kind of engine: `"auto"`, the default, uses WebAssembly where it is available and faster, and JavaScript otherwise.
   */
  readonly kind?: EngineKind | undefined;
  /**
   * Maximum number of threads, 1 by default, for tensors that the engine allocated and for long gathers from other
   * tensors. If the count is above 1 and several results in a row have the same length, above 32 MB, and are not
   * disposed of, an extra Node worker prepares memory for the next result. The worker keeps one buffer, and frees the
   * buffer after a second without large results.
   */
  readonly threads?: number | undefined;
}

/** Tensors or nested lists, which all functions accept; their shapes are checked at run time. */
type Indices = Tensor | RuntimeTensor | IndexLists;
type Updates = Tensor | RuntimeTensor | UpdateLists;

interface OutOption {
  /** Tensor to write the result to; the promise resolves to this tensor. */
  readonly out?: Tensor | RuntimeTensor | undefined;
}

/**
 * Asynchronous functions for callers that must not block, such as a page: the worker pool does large work while the
 * caller continues.
 *
 * Calls take effect in the order in which they were made, as if each had been awaited, regardless of their sizes,
 * policies and where their tensors are stored. The output of an earlier call may be an input. A call immediately reads
 * lists and runs the checks that need no index values. The tensors are read after all earlier calls have ended. Until
 * the promise settles, the tensors of a call may be used only in asynchronous calls of the same engine, because
 * synchronous calls do not wait. Disposing of a tensor takes effect after all calls made before `dispose()`.
 */
export interface AsyncFunctions {
  /** Number of threads that work while the caller continues; with 1 thread, the caller's own thread does the work. */
  readonly threads: number;
  /**
   * Runs `scatterND` asynchronously. Rejects with the errors that `scatterND` throws, with `disposed` if memory
   * was transferred before the call ended, and with `engine` if a worker dies or makes no progress for 5 seconds, which
   * leaves `out` partly written.
   */
  scatterND<D extends DType, S extends readonly number[]>(
    data: Tensor<D, S> | RuntimeTensor,
    indices: Indices,
    updates: Updates,
    options?: ScatterChoices & OutOption,
  ): Promise<Tensor<D, S>>;
  /** Runs `scatterElements` asynchronously. */
  scatterElements<D extends DType, S extends readonly number[]>(
    data: Tensor<D, S> | RuntimeTensor,
    indices: Indices,
    updates: Updates,
    options?: ScatterChoices & AxisOption & OutOption,
  ): Promise<Tensor<D, S>>;
  /** Runs `gatherND` asynchronously. */
  gatherND<D extends DType>(
    data: Tensor<D> | RuntimeTensor,
    indices: Indices,
    options?: GatherChoices & BatchOption & OutOption,
  ): Promise<Tensor<D>>;
  /** Runs `gatherElements` asynchronously. */
  gatherElements<D extends DType>(
    data: Tensor<D> | RuntimeTensor,
    indices: Indices,
    options?: GatherChoices & AxisOption & OutOption,
  ): Promise<Tensor<D>>;
  /** Runs `gather` asynchronously. */
  gather<D extends DType>(
    data: Tensor<D> | RuntimeTensor,
    indices: Indices,
    options?: GatherChoices & AxisOption & BatchOption & OutOption,
  ): Promise<Tensor<D>>;
  /** Runs `scatter` asynchronously. */
  scatter: AsyncFunctions["scatterElements"];
  /** Runs `tensorScatter` asynchronously. */
  tensorScatter<D extends DType, S extends readonly number[]>(
    pastCache: Tensor<D, S> | RuntimeTensor,
    update: Updates,
    writeIndices?: Indices,
    options?: plain.TensorScatterOptions,
  ): Promise<Tensor<D, S>>;
  /**
   * Computes the gradients of a call's inputs, like `vjp`, in order with the other asynchronous calls. The
   * calling thread computes the gradients, and is blocked until they are complete.
   *
   * @param node a node, as in `run`, or a plain function with its options: `{ function: "scatterND", options }`
   * @param outputGradient the gradient of the output, with data's type and the output's shape
   * @returns one gradient for each input of the version, with the input's type and shape; null for indices, for an
   *   axis, and for gradients that were not requested
   * @throws TensorError as a rejection: the errors of `vjp`, and `disposed` and `engine` as in
   * `AsyncFunctions.scatterND`
   *
   * @example
   * ```ts
   * const table = tensor("float32", [3], [1, 2, 3]);
   * const ones = tensor("float32", [2], [1, 1]);
   * const [gradient] = await engine.async.vjp({ function: "gather" }, [table, [2, 2]], ones); // holds [0, 0, 2]
   * ```
   */
  vjp(
    node: NodeSpec | FunctionSpec | FunctionName,
    inputs: readonly unknown[],
    outputGradient: Tensor | RuntimeTensor,
    options?: GradientOptions,
  ): Promise<(Tensor | null)[]>;
}

/** An engine, which can also be passed to `run` as its `engine` option. */
export interface Engine extends EngineLike {
  /** Kind of engine in use, which is a fallback if the platform does not support the requested kind. */
  readonly kind: "js" | "wasm";
  /** Number of threads that work while the caller waits; always 1 in a page, which must not block. */
  readonly threads: number;
  /**
   * Reason why the engine has a different kind or fewer threads than requested; null if kind and threads are as
   * requested.
   */
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
   * Allocates a tensor of zeros in memory that this engine uses without copying. On WebAssembly, the tensor's `data` is
   * backed by a SharedArrayBuffer, and only the tensor's `dispose()` frees the memory. After `dispose()`, an old view
   * may show another tensor.
   * @throws TensorError the errors of `zeros`, and `too-large` if the engine's memory is full
   */
  alloc<D extends DType, const S extends readonly number[]>(
    dtype: D,
    shape: S,
  ): Tensor<D, Mutable<S>>;
  /**
   * Ends the engine's threads and frees the memory of disposed results, after all pending asynchronous calls. The
   * engine remains usable, and starts threads again when needed. The threads of an engine also end when it is
   * garbage-collected.
   */
  dispose(): void;
}

/**
 * Creates an engine that has its own memory for results.
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
  if (typeof options === "number") {
    throw wrongOption("options", `an object such as { threads: ${String(options)} }`, options);
  }
  const { kind = "auto", threads = 1 } = optionsOf(options, ["kind", "threads"], {});
  if (!isKind(kind)) {
    throw wrongOption("kind", oneOf(ENGINE_KINDS), kind, { allowed: ENGINE_KINDS });
  }
  if (!isThreads(threads)) {
    const must = `an integer from 1 to ${MOST_THREADS}`;
    throw wrongOption("threads", must, threads, { expected: [1, MOST_THREADS] });
  }
  return engineOf(chooseExecutor(kind, threads === 1 ? null : threadsOf(threads)));
}

const isKind = (kind: unknown): kind is EngineKind => ENGINE_KINDS.some((one) => one === kind);

const isThreads = (threads: unknown): threads is number =>
  Number.isSafeInteger(threads) && Number(threads) >= 1 && Number(threads) <= MOST_THREADS;

/** Creates an engine whose functions run on the given executor. */
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
      return executor.wasm?.kind ?? "js";
    },
    get threads() {
      return executor.wasm?.threads ?? 1;
    },
    get reason() {
      return why();
    },
    async: {
      ...(asyncFunctions as Omit<AsyncFunctions, "threads" | "vjp">),
      vjp: (node, inputs, outputGradient, options = {}) =>
        vjpAsync(executor, node, inputs, outputGradient, options),
      get threads() {
        return executor.wasm?.asyncThreads ?? 1;
      },
    },
    alloc(dtype, given) {
      checkDType(dtype, {});
      const { shape, size } = shapeOf(given);
      const data = executor.alloc(dtype, size) as Storage<typeof dtype>;
      return new Tensor(dtype, shape, size, data, executor);
    },
    dispose: () => executor.queue.afterPending(() => executor.dispose()),
    [EXECUTOR]: executor,
  };
}

type PlainFunctions = Pick<Engine, FunctionName>;
