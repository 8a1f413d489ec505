/**
 * The internal part of an engine: an executor carries out Plans and owns memory. An executor checks nothing, and does
 * not depend on operators.
 *
 * A session chooses for each action: JavaScript handles small actions, and all actions of an engine without
 * WebAssembly. JavaScript also finds the first bad index, so errors are the same on every engine.
 */

import { scatterCombine } from "../kernels/combine.ts";
import { gatherMove, scatterMove } from "../kernels/move.ts";
import { readIndices } from "../kernels/read-indices.ts";
import { OFFSETS, POOL, type WasmLimits } from "../limits.ts";
import type { ElementJob, IndexJob, ReadIndices } from "../plan/indices.ts";
import { coarsen, type Plan } from "../plan/plan.ts";
import { MEMORY } from "../resources.ts";
import {
  allocate,
  DTYPES,
  isNumericStorage,
  viewOf,
  type DType,
  type NumericStorage,
  type Step,
  type Storage,
} from "../tensor/dtype.ts";
import { part } from "../tensor/shape.ts";
import { bytesOf, copy, isUnshared } from "../tensor/storage.ts";
import { Tensor } from "../tensor/tensor.ts";
import { BufferPool, type MemorySource } from "./pool.ts";
import type { Arena } from "./wasm/arena.ts";
import type { Kernel, KernelSource } from "./wasm/kernels.ts";

/** A call on an executor. The call owns its scratch memory until `end`. */
export interface Session<Done> {
  /**
   * Converts indices to the offsets of a Plan, which are valid until the next call of `readIndices`, or until `end`.
   */
  readonly readIndices: ReadIndices;
  /** Computes `out[p] = data[offset p]`, bit for bit. The arrays must not overlap. */
  gather(plan: Plan, dtype: DType, data: Storage, out: Storage): Done;
  /**
   * Copies `data`, or zeros for null, into `out`, then computes `out[offset p] = f(out[offset p], updates[p])` in the
   * order of p, where f is the step in the arithmetic of `dtype`. `out` and `data` must be the same array or not
   * overlap.
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
  /** Releases the scratch memory of the call. */
  end(): void;
}

/** Additional kernels by name, and the call's scratch memory in the memory that the kernels work on. */
export interface Extension {
  readonly arena: Arena;
  readonly kernels: Readonly<Record<string, Kernel>>;
}

/** WebAssembly as an executor uses it; `wasm/engine.ts` implements this interface. */
export interface Wasm {
  readonly limits: WasmLimits;
  /** True if WebAssembly is known to be unavailable. */
  readonly isNone: boolean;
  readonly kind: "js" | "wasm";
  /** Number of threads that work while the caller waits; 1 in a page, which must not block. */
  readonly threads: number;
  /** Number of threads that work on an asynchronous call. */
  readonly asyncThreads: number;
  /** Reports an action that JavaScript performs, for tests. */
  readonly trace: ((path: "js" | "indices js") => void) | null;
  begin(): WasmActions;
  /** Begins a call whose large actions the worker pool performs. Returns null for an engine with one thread. */
  beginAsync(executor: Executor): Session<Promise<void> | void> | null;
  /** Allocates zeroed storage in the engine's own memory; returns null if only JavaScript can allocate it. */
  alloc(dtype: DType, size: number): Storage | null;
  /** Returns the function that frees storage from `alloc`; null for other storage. */
  freeing(data: NumericStorage): (() => void) | null;
  /** Ends the threads. */
  stop(): void;
}

/** The large actions of a call. An action returns false or null if JavaScript must perform it. */
export interface WasmActions {
  readIndices(job: IndexJob): Uint32Array | null;
  /** Returns true if `gatherByIndices` can follow a job's indices without offsets, unless one is negative. */
  isDirect(job: IndexJob): job is ElementJob;
  /** Checks indices in the engine's memory; returns false if one is outside its axis or negative, or elsewhere. */
  checkIndices(job: ElementJob): boolean;
  /** Checks indices and gathers, block by block; `out` is partly written if the result is false. */
  gatherByIndices(followed: Followed, dtype: DType, data: Storage, out: Storage): boolean;
  /**
   * Performs a scatter of `sequential` to `random` like `Session.scatter`; a gather from `random` to `sequential` if
   * `step` is null.
   */
  perform(
    plan: Plan,
    dtype: DType,
    step: Step | null,
    data: Storage | null,
    random: Storage,
    sequential: Storage,
  ): boolean;
  extend(source: KernelSource, bytes: number, arrays: NumericStorage[]): Extension | null;
  end(): void;
}

/**
 * Returns true if a Plan has at least `least` elements and no `source`. Plans that omit offsets have a `source`, which
 * only JavaScript handles.
 */
export const isEnough = ({ batches, count, slice, source }: Plan, least: number): boolean =>
  source === undefined && batches * count * slice >= least;

/** Indices whose offsets were not computed. */
export interface Followed {
  readonly job: ElementJob;
  readonly isChecked: boolean;
  /** Stands for the offsets: its contents are arbitrary, and only its length and its identity count. */
  readonly offsets: Uint32Array;
}

/** A synchronous call. */
export class SyncSession implements Session<void> {
  readonly #executor: Executor;
  readonly #wasm: Wasm | null;
  /** The large actions of this session; null until the first large action. */
  #large: WasmActions | null;
  #scratch = new Uint32Array(0);
  /** View of the start of `#scratch`, with the length of the last job. */
  #offsets = this.#scratch;
  /** The indices that the next gather follows without offsets. */
  #followed: Followed | null = null;
  /** True if the last gather was not performed, because indices that `readToFill` had not checked are bad. */
  wasRefused = false;

  constructor(executor: Executor, large: WasmActions | null = null) {
    this.#executor = executor;
    this.#wasm = executor.wasm;
    this.#large = large;
  }

  readonly readIndices: ReadIndices = (job) => {
    const wasm = this.#wasm;
    const { count } = job;
    if (wasm !== null && count >= Math.max(wasm.limits.indices, 1)) {
      const offsets = this.#begun(wasm)?.readIndices(job);
      if (offsets) return offsets;
    }
    wasm?.trace?.("indices js");
    const most = OFFSETS.scratch;
    if (count > most) return readIndices(job);
    if (this.#scratch.length < most) this.#scratch = new Uint32Array(most);
    if (this.#offsets.length !== count) this.#offsets = this.#scratch.subarray(0, count);
    return readIndices(job, this.#offsets);
  };

  /**
   * Reads indices like `readIndices`, but only this session's next gather may use the result: if kernels have only
   * checked the indices, the result stands for the offsets and has arbitrary contents (see `#followed`).
   */
  readonly readToGather: ReadIndices = (job) => this.#follow(job, true) ?? this.readIndices(job);

  /**
   * Reads indices like `readToGather`, but perhaps checks them only while the next gather fills its result, whose
   * contents nobody needs if an index is bad. The caller must look at `wasRefused` after the gather.
   */
  readonly readToFill: ReadIndices = (job) => this.#follow(job, false) ?? this.readIndices(job);

  #follow(job: IndexJob, isChecked: boolean): Uint32Array | null {
    const wasm = this.#wasm;
    const large =
      wasm !== null && job.count >= Math.max(wasm.limits.indices, 1) ? this.#begun(wasm) : null;
    if (!large?.isDirect(job) || (isChecked && !large.checkIndices(job))) return null;
    const offsets = new Uint32Array(job.words.buffer, 0, job.count);
    this.#followed = { job, isChecked, offsets };
    return offsets;
  }

  gather(given: Plan, dtype: DType, data: Storage, out: Storage): void {
    const wasm = this.#wasm;
    let plan = given;
    if (given.offsets === this.#followed?.offsets) {
      if (this.#large?.gatherByIndices(this.#followed, dtype, data, out)) return;
      const offsets = this.readIndices(this.#followed.job);
      this.wasRefused = "bad" in offsets;
      if ("bad" in offsets) return;
      plan = { ...given, offsets };
    }
    if (wasm !== null) {
      const isLarge = isEnough(plan, wasm.limits.work);
      if (isLarge && this.#begun(wasm)?.perform(plan, dtype, null, data, data, out)) return;
      wasm.trace?.("js");
    }
    gatherMove(coarsen(plan), data, out);
  }

  scatter(
    plan: Plan,
    dtype: DType,
    step: Step,
    data: Storage | null,
    updates: Storage,
    out: Storage,
  ): void {
    const wasm = this.#wasm;
    if (wasm !== null) {
      const isLarge = isEnough(plan, wasm.limits.work);
      if (isLarge && this.#begun(wasm)?.perform(plan, dtype, step, data, out, updates)) return;
      wasm.trace?.("js");
    }
    // Data is copied as a whole, because copying batch by batch only pays off if kernels keep a batch in the cache.
    if (out !== data) copy(data, out);
    const coarse = coarsen(plan);
    if (step === "none") scatterMove(coarse, updates, out);
    else scatterCombine(coarse, dtype, step, updates, out);
  }

  /**
   * Loads additional kernels for the memory that holds one of the arrays, or for scratch memory of the given size.
   * Returns null if memory is too small, or if JavaScript does all work.
   */
  extend(source: KernelSource, bytes: number, ...arrays: NumericStorage[]): Extension | null {
    const wasm = this.#wasm;
    return wasm && (this.#begun(wasm)?.extend(source, bytes, arrays) ?? null);
  }

  end(): void {
    MEMORY.onRelease?.(bytesOf(this.#scratch));
    this.#large?.end();
    this.#followed = null;
    this.wasRefused = false;
    this.#executor.idle = this;
  }

  #begun(wasm: Wasm): WasmActions | null {
    return wasm.isNone ? null : (this.#large ??= wasm.begin());
  }
}

export class Executor {
  /** Queue that orders asynchronous calls, and actions that must wait until all pending calls have ended. */
  readonly queue: Queue = new Queue();
  /** A session that has ended, for reuse by the next call, because creating a session takes a tenth of a small call. */
  idle: SyncSession | null = null;
  /** Performs large actions; null if JavaScript performs all actions. */
  readonly wasm: Wasm | null;
  /** Memory of disposed results; null until a result is disposed of. */
  #pool: BufferPool | null = null;
  readonly #reserve: MemorySource | undefined;

  /**
   * Creates an executor.
   * @param reserve the source of memory for results if no disposed result has left memory
   */
  constructor(wasm: Wasm | null = null, reserve?: MemorySource) {
    this.wasm = wasm;
    this.#reserve = reserve;
  }

  /**
   * Allocates storage for the `size` elements of a result. The contents are uninitialized: the caller must write every
   * element.
   * @throws TensorError `too-large` if the elements do not fit in memory
   */
  allocate(dtype: DType, size: number): Storage {
    const bytes = size * DTYPES[dtype].bytes;
    if (bytes < POOL.least) return allocate(dtype, size);
    const buffer = this.#pool?.take(bytes) ?? this.#reserve?.take(bytes);
    return buffer === undefined ? allocate(dtype, size) : viewOf(dtype, buffer);
  }

  /** Allocates a tensor like `allocate`. */
  newTensor(dtype: DType, shape: readonly number[], size: number): Tensor {
    return new Tensor(dtype, part(shape, 0), size, this.allocate(dtype, size), this);
  }

  /** Allocates a tensor with the data type and shape of another like `allocate`. */
  newLike(tensor: Tensor): Tensor {
    return Tensor.like(tensor, this.allocate(tensor.dtype, tensor.size), this);
  }

  /**
   * Allocates zeroed storage that this executor uses without copying.
   * @throws TensorError `too-large`
   */
  alloc(dtype: DType, size: number): Storage {
    return this.wasm?.alloc(dtype, size) ?? allocate(dtype, size);
  }

  /**
   * Frees storage from `allocate` or `alloc` after all pending calls have ended. Views of ordinary memory of 4 kB or
   * more become empty.
   */
  recycle(data: Storage): void {
    if (!isNumericStorage(data)) return;
    const free = this.wasm?.freeing(data) ?? null;
    if (free !== null) return this.queue.afterPending(free);
    // The length is tested first, because reading the buffer of a small new array takes 0.3 µs.
    if (data.byteLength < POOL.least) return;
    const { buffer } = data;
    if (isUnshared(buffer))
      this.queue.afterPending(() => (this.#pool ??= new BufferPool()).give(buffer));
  }

  /** Begins a call on this thread. If the executor has a worker pool, the thread waits for the pool. */
  begin(): SyncSession {
    const session = this.idle ?? new SyncSession(this);
    this.idle = null;
    return session;
  }

  /** Begins a call whose large work the worker pool does while this thread continues; returns null without a pool. */
  beginAsync(): Session<Promise<void> | void> | null {
    return this.wasm?.beginAsync(this) ?? null;
  }

  /** Ends the threads and frees the memory of recycled results. An executor remains usable after `dispose`. */
  dispose(): void {
    this.wasm?.stop();
    this.#pool?.clear();
    this.#reserve?.clear();
  }
}

/**
 * Runs tasks one at a time, in the order in which they were enqueued. All asynchronous calls of an engine use one
 * queue, regardless of their size, so they take effect as if each had been awaited.
 */
export class Queue {
  #pending = 0;
  /** Promise that is fulfilled when the last task has ended, even if the task failed. */
  #tail: Promise<void> = Promise.resolve();

  /** Runs `task` when all earlier tasks have ended. If no task is pending, `task` starts before `enqueue` returns. */
  enqueue<T>(task: () => Promise<T>): Promise<T> {
    const earlier = this.#pending++;
    const result = earlier === 0 ? task() : this.#tail.then(task);
    const end = (): void => void this.#pending--;
    this.#tail = result.then(end, end);
    return result;
  }

  /** Runs `action` when all pending tasks have ended; immediately if no task is pending. */
  afterPending(action: () => void): void {
    if (this.#pending === 0) action();
    else void this.enqueue(async () => action());
  }
}
