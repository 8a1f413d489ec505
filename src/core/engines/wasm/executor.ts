/**
 * The WebAssembly executor. If all tensors of a call are in its shared memory, kernels work on them directly, on all
 * threads. Other tensors pass through windows of scratch memory on one thread or, in large gathers, through windows of
 * the shared memory on all threads. JavaScript does the work for which WebAssembly does not pay off.
 *
 * Its files, by the question that each answers:
 *
 *     session.ts, pays.ts                              does a call go to JavaScript, to windows or to threads?
 *     split-work.ts                                    which share does each thread have?
 *     index-reader.ts, index-tables.ts                 how are indices read?
 *     windows.ts, heap-gather.ts                       how do tensors of the heap get to the kernels?
 *     threads.ts                                       what do only engines of several threads load?
 *     async-session.ts                                 what happens in an asynchronous call?
 *     worker-pool.ts, control.ts, worker.ts, spawn.ts  how do workers get their work, and what if one vanishes?
 *     kernel-memory.ts, allocator.ts                   who owns which memory?
 *     reserve.ts                                       how does the memory of large results get ready?
 *     arena.ts, block.ts                               what does one call take of it?
 *     platform.ts                                      what do all engines of a process share?
 */

import { WASM, type WasmLimits } from "../../limits.ts";
import { DTYPES, isNumericStorage, viewOf, type DType, type Storage } from "../../tensor/dtype.ts";
import { clear } from "../../tensor/storage.ts";
import type { Executor, Session } from "../executor.ts";
import type { Queue } from "../queue.ts";
import type { KernelMemory } from "./kernel-memory.ts";
import type { WasmPlatform } from "./platform.ts";
import { WasmSession, type Path, type SessionParts, type Threading } from "./session.ts";
import { mayWait } from "./spawn.ts";
import type { WorkerPool } from "./worker-pool.ts";

export interface WasmParts {
  /** JavaScript executor, which does small work and owns the memory of ordinary results. */
  readonly js: Executor;
  /** Compiled kernels and scratch memory, which all engines share. */
  readonly platform: WasmPlatform;
  /**
   * Creates the memory for the engine's tensors when the first tensor is allocated; returns null if the platform
   * refuses.
   */
  readonly makeShared: () => KernelMemory | null;
  /** Workers that use the shared memory, and the code for several threads; null for a single thread. */
  readonly threading: Threading | null;
  readonly limits?: WasmLimits;
  readonly trace?: (path: Path) => void;
}

/**
 * Ends the workers of executors that are garbage-collected without `dispose`. A pool must not refer to its executor.
 */
const dropped = new FinalizationRegistry<WorkerPool>((pool) => pool.stop());

export class WasmExecutor implements Executor, SessionParts {
  readonly queue: Queue;
  readonly js: Executor;
  readonly limits: WasmLimits;
  readonly threading: Threading | null;
  readonly mayWait: boolean = mayWait();
  readonly trace: (path: Path) => void;
  readonly #platform: WasmPlatform;
  readonly #makeShared: () => KernelMemory | null;
  #shared: KernelMemory | null | undefined;
  /** A session that has ended, for reuse by the next call, because creating a session takes a tenth of a small call. */
  #idle: WasmSession | null = null;

  constructor({ js, platform, makeShared, threading, limits = WASM, trace = () => {} }: WasmParts) {
    this.#makeShared = makeShared;
    this.js = js;
    this.queue = js.queue;
    this.#platform = platform;
    this.threading = threading;
    this.limits = limits;
    this.trace = trace;
    if (threading !== null) dropped.register(this, threading.pool);
  }

  get pool(): WorkerPool | null {
    return this.threading?.pool ?? null;
  }

  get kind(): "js" | "wasm" {
    return this.#platform.whyNone === null ? "wasm" : "js";
  }

  scratch(bytes: number): KernelMemory {
    return this.#platform.scratch(bytes);
  }

  get shared(): KernelMemory | null {
    return this.#shared ?? null;
  }

  get threads(): number {
    return this.mayWait ? this.asyncThreads : 1;
  }

  get asyncThreads(): number {
    const { pool } = this;
    return pool === null || pool.whyUnavailable !== null ? 1 : pool.size;
  }

  allocate(dtype: DType, size: number): Storage {
    return this.js.allocate(dtype, size);
  }

  alloc(dtype: DType, size: number): Storage {
    const { bytes, lanes } = DTYPES[dtype];
    const shared = this.#sharedMemory();
    if (dtype === "string" || shared === null) return this.js.alloc(dtype, size);
    const pointer = shared.allocate(size * bytes);
    const data = viewOf(dtype, shared.buffer, pointer, size * lanes);
    clear(data);
    return data;
  }

  recycle(data: Storage): void {
    const shared = this.shared;
    if (shared === null || !isNumericStorage(data) || !shared.has(data)) {
      this.js.recycle(data);
    } else {
      const { byteOffset } = data;
      this.queue.afterPending(() => shared.free(byteOffset));
    }
  }

  begin(): Session<void> {
    if (this.#platform.isNone) return this.js.begin();
    const session = this.#idle ?? new WasmSession(this);
    this.#idle = null;
    return session;
  }

  ended(session: WasmSession): void {
    this.#idle = session;
  }

  beginAsync(): Session<Promise<void> | void> {
    return this.threading?.beginAsync(this) ?? this.begin();
  }

  dispose(): void {
    this.pool?.stop();
    this.js.dispose();
  }

  #sharedMemory(): KernelMemory | null {
    if (this.#shared === undefined) this.#shared = this.#makeShared();
    return this.#shared;
  }
}
