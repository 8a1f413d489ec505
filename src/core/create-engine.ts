/** Engines that their user configures: the functions of the package over an executor with memory and threads of its own. */

import { allocTensor } from "./call/execute.ts";
import { splitArguments } from "./call/call.ts";
import { keepPlan } from "./call/kept-plan.ts";
import { optionsOf } from "./tensor/options.ts";
import { EXECUTOR, runPlain, runPlainAsync, type EngineLike } from "./call/run.ts";
import { chooseExecutor } from "./engines/choice.ts";
import { threadsOf } from "./engines/wasm/threads.ts";
import type { Executor } from "./engines/executor.ts";
import { ENGINE_KINDS, type Choice, type EngineKind } from "./engines/kinds.ts";
import { printValue, TensorError } from "./errors.ts";
import type * as plain from "./functions.ts";
import { forEach, FUNCTIONS, PLAN_FUNCTIONS } from "./operators/plain.ts";
import type { DType } from "./tensor/dtype.ts";
import type { Mutable, RuntimeTensor, Tensor } from "./tensor/tensor.ts";
import type { Nested, ScalarInput } from "./tensor/values.ts";
import type { AxisOption, BatchOption, GatherChoices, ScatterChoices } from "./typed-shape.ts";

const MOST_THREADS = 64;

export interface EngineOptions {
  /** `"auto"`, the default, takes WebAssembly where it is to be had and pays, and JavaScript else. */
  readonly kind?: EngineKind | undefined;
  /**
   * How many threads may work on tensors that the engine has allocated, and on long gathers of others; 1 by default. With
   * more than 1, a further worker of Node makes memory ready for the next result where results of more than 32 MB and one
   * length follow each other and nobody disposes of them: one buffer, which is freed after a second without such results.
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
 * The functions for callers that may not wait, such as a page: the worker pool does large work while the caller goes on.
 *
 * Calls take effect in the order in which they were made, as if each had been awaited: whatever their sizes, the memory
 * that their tensors live in, and their policies. An input may be what an earlier call writes to. What a call checks
 * without the values of its indices it checks at once; lists are read at once, tensors when it is the call's turn. So
 * until the promise is settled use the call's tensors in asynchronous calls of the same engine only: plain calls do not
 * wait. `dispose()` of a tensor takes effect after all calls that were made before it.
 */
export interface AsyncFunctions {
  /** How many threads work while the caller goes on; with 1 the caller's own thread does the work. */
  readonly threads: number;
  /**
   * {@link scatterND}; rejects as that throws, with `disposed` where memory was transferred before the call ended, and with
   * `engine` when a worker dies or makes no progress for 5 seconds (`out` is half-written then).
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
}

/** An engine; also what `run` takes as its option `engine`. */
export interface Engine extends EngineLike {
  /** What runs: not what was asked for where the platform does not have that. */
  readonly kind: Executor["kind"];
  /** How many threads work while the caller waits; 1 in a page, which may not wait. */
  readonly threads: number;
  /** Why another kind or fewer threads run than were asked for; null where all is as asked. */
  readonly reason: string | null;
  readonly async: AsyncFunctions;
  readonly scatterND: typeof plain.scatterND;
  readonly scatterElements: typeof plain.scatterElements;
  readonly gatherND: typeof plain.gatherND;
  readonly gatherElements: typeof plain.gatherElements;
  readonly gather: typeof plain.gather;
  readonly scatter: typeof plain.scatter;
  readonly tensorScatter: typeof plain.tensorScatter;
  readonly planScatterND: typeof plain.planScatterND;
  readonly planScatterElements: typeof plain.planScatterElements;
  readonly planGatherND: typeof plain.planGatherND;
  readonly planGatherElements: typeof plain.planGatherElements;
  readonly planGather: typeof plain.planGather;
  /**
   * A tensor of zeros in memory that this engine uses without copying. On WebAssembly its `data` is backed by a
   * SharedArrayBuffer, and the memory is free only after its `dispose()`; a view that is kept shows another tensor then.
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
      ...(asyncFunctions as Omit<AsyncFunctions, "threads">),
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
