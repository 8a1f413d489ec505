/**
 * The WebAssembly engine, which performs the large actions of an executor. If all tensors of an action are in the
 * engine's shared memory, kernels work on them directly, on all threads. Other tensors pass through windows of scratch
 * memory on one thread or, in large gathers, through windows of the shared memory on all threads.
 *
 * Its files, by the question that each answers:
 *
 *     session.ts, pays.ts                              does an action go to JavaScript, to windows or to threads?
 *     split-work.ts                                    which share does each thread have?
 *     index-reader.ts, index-tables.ts                 how are indices read?
 *     windows.ts, heap-gather.ts                       how do tensors of the heap get to the kernels?
 *     threads.ts                                       what do only engines of several threads load?
 *     worker-pool.ts, control.ts, worker.ts, spawn.ts  how do workers get their work, and what if one vanishes?
 *     kernel-memory.ts, allocator.ts                   who owns which memory?
 *     reserve.ts                                       how does the memory of large results get ready?
 *     arena.ts, block.ts                               what does one call take of it?
 *     platform.ts                                      what do all engines of a process share?
 */

import { WASM, type WasmLimits } from "../../limits.ts";
import {
  DTYPES,
  viewOf,
  type DType,
  type NumericStorage,
  type Storage,
} from "../../tensor/dtype.ts";
import { clear } from "../../tensor/storage.ts";
import type { Executor, Session, Wasm } from "../executor.ts";
import type { KernelMemory } from "./kernel-memory.ts";
import type { WasmPlatform } from "./platform.ts";
import { WasmSession, type Path, type SessionParts, type Threading } from "./session.ts";
import { mayWait } from "./spawn.ts";
import type { WorkerPool } from "./worker-pool.ts";

export interface WasmParts {
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

/** Ends the workers of engines that are garbage-collected without `dispose`. A pool must not refer to its engine. */
const dropped = new FinalizationRegistry<WorkerPool>((pool) => pool.stop());

export class WasmEngine implements Wasm, SessionParts {
  readonly limits: WasmLimits;
  readonly threading: Threading | null;
  readonly mayWait: boolean = mayWait();
  readonly trace: ((path: Path) => void) | null;
  readonly #platform: WasmPlatform;
  readonly #makeShared: () => KernelMemory | null;
  #shared: KernelMemory | null | undefined;

  constructor({ platform, makeShared, threading, limits = WASM, trace }: WasmParts) {
    this.#makeShared = makeShared;
    this.#platform = platform;
    this.threading = threading;
    this.limits = limits;
    this.trace = trace ?? null;
    if (threading !== null) dropped.register(this, threading.pool);
  }

  get isNone(): boolean {
    return this.#platform.isNone;
  }

  get kind(): "js" | "wasm" {
    return this.#platform.whyNone === null ? "wasm" : "js";
  }

  get shared(): KernelMemory | null {
    return this.#shared ?? null;
  }

  get threads(): number {
    return this.mayWait ? this.asyncThreads : 1;
  }

  get asyncThreads(): number {
    const pool = this.threading?.pool;
    return pool === undefined || pool.whyUnavailable !== null ? 1 : pool.size;
  }

  scratch(bytes: number): KernelMemory {
    return this.#platform.scratch(bytes);
  }

  begin(): WasmSession {
    return new WasmSession(this);
  }

  beginAsync(executor: Executor): Session<Promise<void> | void> | null {
    return this.threading?.beginAsync(this, executor) ?? null;
  }

  alloc(dtype: DType, size: number): Storage | null {
    if (dtype === "string") return null;
    if (this.#shared === undefined) this.#shared = this.#makeShared();
    const shared = this.#shared;
    if (shared === null) return null;
    const { bytes, lanes } = DTYPES[dtype];
    const pointer = shared.allocate(size * bytes);
    const data = viewOf(dtype, shared.buffer, pointer, size * lanes);
    clear(data);
    return data;
  }

  freeing(data: NumericStorage): (() => void) | null {
    const { shared } = this;
    if (shared === null || !shared.has(data)) return null;
    const { byteOffset } = data;
    return () => shared.free(byteOffset);
  }

  stop(): void {
    this.threading?.pool.stop();
  }
}
