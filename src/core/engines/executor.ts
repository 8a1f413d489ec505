/**
 * The inside of an engine: an executor runs Plans and owns memory. An executor checks nothing and knows no operators.
 */

import type { ReadIndices } from "../plan/index-job.ts";
import type { Plan } from "../plan/plan.ts";
import type { DType, NumericStorage, Step, Storage } from "../tensor/dtype.ts";
import type { Queue } from "./queue.ts";
import type { Arena } from "./wasm/arena.ts";
import type { Kernel, KernelSource } from "./wasm/kernels.ts";

export interface Executor {
  readonly kind: "js" | "wasm";
  /** Number of threads that work while the caller waits: 1 in a page, which must not block. */
  readonly threads: number;
  /** Number of threads that work on an asynchronous call. */
  readonly asyncThreads: number;
  /** Orders asynchronous calls, and actions that must wait until all pending calls have ended. */
  readonly queue: Queue;
  /**
   * Storage for the `size` elements of a result. Its contents are arbitrary: the caller writes every element.
   * @throws TensorError `too-large` where memory does not hold it
   */
  allocate(dtype: DType, size: number): Storage;
  /**
   * Zeroed storage that this executor uses without a copy.
   * @throws TensorError `too-large`
   */
  alloc(dtype: DType, size: number): Storage;
  /**
   * Takes back storage from `allocate` or `alloc`, after all pending calls. Views of ordinary memory of 4 kB and more
   * become empty.
   */
  recycle(data: Storage): void;
  /** Begins a call on this thread, which waits for the worker pool if the executor has a pool. */
  begin(): Session<void>;
  /** Begins a call whose large work the worker pool does while this thread goes on. */
  beginAsync(): Session<Promise<void> | void>;
  /** Ends threads and frees the memory of recycled results. The executor can still be used. */
  dispose(): void;
}

/** A call on an executor. Scratch memory allocated by the call belongs to it until `end`. */
export interface Session<Done> {
  /** Turns indices into the offsets of a Plan, which are valid until the next indices are read, or `end`. */
  readonly readIndices: ReadIndices;
  /** `out[p] = data[offset p]`, bit for bit. The arrays must not overlap. */
  gather(plan: Plan, dtype: DType, data: Storage, out: Storage): Done;
  /**
   * Copies `data`, or zeros for null, into `out`, then does `out[offset p] = f(out[offset p], updates[p])` in the order of p, where f is the
   * step in the arithmetic of `dtype`. `out` may be `data`, the very same array; otherwise the two must not overlap.
   * @throws TensorError `too-large` where text outgrows what a string holds; `out` is half-written then
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
   * Further kernels over a memory that holds one of the arrays, or over scratch memory of that many bytes; null if memory
   * does not suffice, absent where JavaScript does all work.
   */
  extend?(source: KernelSource, bytes: number, ...arrays: NumericStorage[]): Extension | null;
  /** Releases the scratch memory of the call. */
  end(): void;
}

/** Kernels by their names, and the scratch memory of the call in the memory that they work on. */
export interface Extension {
  readonly arena: Arena;
  readonly kernels: Readonly<Record<string, Kernel>>;
}
