/**
 * The internal part of an engine: an executor runs Plans and owns memory. An executor checks nothing, and does not
 * depend on operators.
 */

import type { ReadIndices } from "../plan/index-job.ts";
import type { Plan } from "../plan/plan.ts";
import type { DType, NumericStorage, Step, Storage } from "../tensor/dtype.ts";
import type { Queue } from "./queue.ts";
import type { Arena } from "./wasm/arena.ts";
import type { Kernel, KernelSource } from "./wasm/kernels.ts";

export interface Executor {
  readonly kind: "js" | "wasm";
  /** Number of threads that work while the caller waits; 1 in a page, which must not block. */
  readonly threads: number;
  /** Number of threads that work on an asynchronous call. */
  readonly asyncThreads: number;
  /** Queue that orders asynchronous calls, and actions that must wait until all pending calls have ended. */
  readonly queue: Queue;
  /**
   * Allocates storage for the `size` elements of a result. The contents are uninitialized: the caller must write every
   * element.
   * @throws TensorError `too-large` if the elements do not fit in memory
   */
  allocate(dtype: DType, size: number): Storage;
  /**
   * Allocates zeroed storage that this executor uses without copying.
   * @throws TensorError `too-large`
   */
  alloc(dtype: DType, size: number): Storage;
  /**
   * Frees storage from `allocate` or `alloc` after all pending calls have ended. Views of ordinary memory of 4 kB or
   * more become empty.
   */
  recycle(data: Storage): void;
  /** Begins a call on this thread. If the executor has a worker pool, the thread waits for the pool. */
  begin(): Session<void>;
  /** Begins a call whose large work the worker pool does while this thread continues. */
  beginAsync(): Session<Promise<void> | void>;
  /** Ends the threads and frees the memory of recycled results. An executor remains usable after `dispose`. */
  dispose(): void;
}

/** A call on an executor. The call owns its scratch memory until `end`. */
export interface Session<Done> {
  /**
   * Converts indices to the offsets of a Plan, which are valid until the next call of `readIndices`, or until `end`.
   */
  readonly readIndices: ReadIndices;
  /**
   * Reads indices like `readIndices`, but only `gather` may use the offsets: an engine may check the indices without
   * computing offsets. Absent if the engine always computes offsets.
   */
  readonly readToGather?: ReadIndices;
  /** Computes `out[p] = data[offset p]`, bit for bit. The arrays must not overlap. */
  gather(plan: Plan, dtype: DType, data: Storage, out: Storage): Done;
  /**
   * Copies `data`, or zeros for null, into `out`, then computes `out[offset p] = f(out[offset p], updates[p])` in the
   * order of p, where f is the step in the arithmetic of `dtype`. `out` and `data` must be the same array or not overlap.
   * @throws TensorError `too-large` if text exceeds the maximum string length; `out` is then partly written
   */
  scatter(
    plan: Plan,
    dtype: DType,
    step: Step,
    data: Storage | null,
    updates: Storage,
    out: Storage,
  ): Done;
  /**
   * Loads additional kernels for the memory that holds one of the arrays, or for scratch memory of the given size.
   * Returns null if memory is too small. The method is absent if JavaScript does all work.
   */
  extend?(source: KernelSource, bytes: number, ...arrays: NumericStorage[]): Extension | null;
  /** Releases the scratch memory of the call. */
  end(): void;
}

/** Additional kernels by name, and the call's scratch memory in the memory that the kernels work on. */
export interface Extension {
  readonly arena: Arena;
  readonly kernels: Readonly<Record<string, Kernel>>;
}
