/**
 * The WebAssembly engine, which performs the large actions of an executor. If all tensors of an action are in the
 * engine's shared memory, kernels work on them directly, on all threads. Other tensors pass through windows of scratch
 * memory on one thread or, in large gathers, through windows of the shared memory on all threads.
 *
 * Its files, by the question that each answers:
 *
 *     engine.ts                                    does an action go to JavaScript, to windows or to threads?
 *     plan-work.ts, split-work.ts                  how does a Plan become calls, and which share has each thread?
 *     index-reader.ts                              how are indices read?
 *     windows.ts, heap-gather.ts                   when and how do tensors of the heap get to the kernels?
 *     threads.ts                                   what do only engines of several threads load?
 *     worker-pool.ts, worker.ts, spawn.ts          how do workers get their work, and what if one vanishes?
 *     calls.ts, kernels.ts                         what is a call, and which kernel does it run?
 *     kernel-memory.ts, arena.ts, reserve.ts       who owns which memory, and gets it ready?
 *     platform.ts                                  what do all engines of a process share?
 */

import { WASM, type WasmLimits } from "../../limits.ts";
import type { ElementJob, IndexJob } from "../../plan/indices.ts";
import type { Plan } from "../../plan/plan.ts";
import {
  DTYPES,
  isNumericStorage,
  viewOf,
  type DType,
  type NumericStorage,
  type Step,
  type Storage,
} from "../../tensor/dtype.ts";
import { clear, copy } from "../../tensor/storage.ts";
import type { Executor, Extension, Followed, Session, Wasm, WasmActions } from "../executor.ts";
import { Arena } from "./arena.ts";
import { runCalls, type Call } from "./calls.ts";
import {
  bytesForRows,
  checkIndices,
  gatherByIndices,
  isDirect,
  readByKernels,
  type IndexReader,
} from "./index-reader.ts";
import { attempt, type KernelMemory } from "./kernel-memory.ts";
import type { KernelSource } from "./kernels.ts";
import { areEqualOrDisjoint, withCopies, workOf, type KernelJob, type Work } from "./plan-work.ts";
import type { WasmPlatform } from "./platform.ts";
import {
  blockOf,
  copyWork,
  isPartitionable,
  partitionWork,
  restOf,
  splitWork,
  wholeOf,
  type Split,
} from "./split-work.ts";
import { bytesFor, runThroughWindows, windowsPay } from "./windows.ts";
import type { WorkerPool } from "./worker-pool.ts";

/** The path that part of a call took, for tests. */
export type Path =
  | "js"
  | "windows"
  | "shared windows"
  | "one thread"
  | Split
  | `indices ${"js" | "windows" | number}`;

/** Code that only engines with several threads load, from threads.ts. */
export interface Threading {
  readonly pool: WorkerPool;
  /** True if this thread may block while the pool works. */
  readonly mayWait: boolean;
  /** Begins a call whose large work the pool does while the caller continues. */
  beginAsync(engine: WasmEngine, executor: Executor): Session<Promise<void> | void>;
  /**
   * Gathers from or to a tensor outside the engine's memory, if the pool is ready and threads pay off. Returns false if
   * nothing was written.
   */
  gather(
    engine: WasmEngine,
    session: WasmSession,
    plan: Plan,
    dtype: DType,
    data: NumericStorage,
    out: NumericStorage,
  ): boolean;
}

export interface WasmParts {
  /** Returns the compiled kernels and scratch memory, which all engines share, and which are created when needed. */
  readonly platform: () => WasmPlatform;
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

export class WasmEngine implements Wasm {
  readonly limits: WasmLimits;
  readonly threading: Threading | null;
  readonly trace: ((path: Path) => void) | null;
  readonly #platform: () => WasmPlatform;
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
    return this.#platform().isNone;
  }

  get kind(): "js" | "wasm" {
    return this.#platform().whyNone === null ? "wasm" : "js";
  }

  /** Memory for the engine's tensors; null until it is created. */
  get shared(): KernelMemory | null {
    return this.#shared ?? null;
  }

  get threads(): number {
    return this.threading?.mayWait === true ? this.asyncThreads : 1;
  }

  get asyncThreads(): number {
    const pool = this.threading?.pool;
    return pool === undefined || pool.whyUnavailable !== null ? 1 : pool.size;
  }

  /**
   * Returns memory for heap tensors.
   * @param bytes an upper bound for the memory that a call needs
   * @throws TensorError `too-large` if the platform refuses memory
   */
  scratch(bytes: number): KernelMemory {
    return this.#platform().scratch(bytes);
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

/** Calls for each thread, round by round. A round begins when the previous round has ended. */
export type Rounds = readonly (readonly (readonly Call[])[])[];

/** The large actions of a call, for which this class chooses the memory and the number of threads. */
export class WasmSession implements WasmActions, IndexReader {
  readonly limits: WasmLimits;
  readonly #engine: WasmEngine;
  readonly #arenas: Arena[] = [];
  /** Number of threads that read the indices in place; 0 if indices were read through a window. */
  #indexThreads = 0;

  constructor(engine: WasmEngine) {
    this.#engine = engine;
    this.limits = engine.limits;
  }

  /** Reads indices; returns null if memory is too small, or if an index is bad, which JavaScript then finds. */
  readIndices(job: IndexJob): Uint32Array | null {
    return attempt(() => {
      const arena = this.arenaOf(Uint32Array.BYTES_PER_ELEMENT * job.count, job.words);
      this.#indexThreads = 0;
      const offsets = readByKernels(this, arena, job);
      const way = this.#indexThreads === 0 ? "windows" : this.#indexThreads;
      if (offsets !== null) this.#engine.trace?.(`indices ${way}`);
      return offsets;
    });
  }

  readonly isDirect = isDirect;

  checkIndices(job: ElementJob): boolean {
    const { shared, trace } = this.#engine;
    if (!shared?.has(job.words) || !checkIndices(this, this.arenaIn(shared), job)) return false;
    trace?.(`indices ${this.#indexThreads}`);
    return true;
  }

  gatherByIndices(followed: Followed, dtype: DType, data: Storage, out: Storage): boolean {
    if (!isNumericStorage(data) || !isNumericStorage(out)) return false;
    const { job } = followed;
    const bytes = bytesForRows(job, this.limits);
    const arenaOf = (): Arena => this.arenaOf(bytes, job.words, data, out);
    const done = attempt(() => gatherByIndices(this, arenaOf(), followed, dtype, data, out));
    if (done === true) this.#engine.trace?.("positions");
    return done ?? false;
  }

  perform(
    plan: Plan,
    dtype: DType,
    step: Step | null,
    data: Storage | null,
    random: Storage,
    sequential: Storage,
  ): boolean {
    if (!isNumericStorage(random) || !isNumericStorage(sequential)) return false;
    const { limits, shared, threading, trace } = this.#engine;
    const isGather = step === null;
    const isHere = shared?.has(random) === true;
    const areHere = isHere && shared?.has(sequential) === true;
    // A kernel needs data in its own memory, so data is copied in and out. JavaScript copies data once, or not at all
    // if the result replaces data.
    const copies = isHere ? 0 : !isGather && data === random ? 2 : 1;
    if (!areHere && !windowsPay(plan, dtype, step ?? "none", copies, limits)) return false;
    if (isGather && threading?.gather(this.#engine, this, plan, dtype, random, sequential))
      return true;
    const done = attempt(() => {
      // Kernels can be looked up in any memory, so a larger memory is created only after a kernel was found. Every
      // gather has a kernel.
      const known = isGather ? null : (shared ?? this.#engine.scratch(0));
      if (known !== null && known.kernels().of(dtype, step) === undefined) return false;
      const arena = this.arenaOf(bytesFor(plan, dtype), sequential, random);
      const kernel = arena.memory.kernels().of(dtype, step) as number;
      const from = data as NumericStorage | null;
      const job = { kernel, dtype, isGather, random, data: from, sequential };
      if (plan.batches * plan.count * plan.slice === 0) {
        if (from !== random) copy(from, random);
      } else if (areHere) {
        const rounds = this.roundsOf(arena, plan, job, (bytes) => this.#poolFor(bytes));
        for (const lists of rounds) this.run(arena.memory, lists);
      } else {
        trace?.("windows");
        runThroughWindows(arena, limits, plan, job);
      }
      return true;
    });
    return done ?? false;
  }

  extend(source: KernelSource, bytes: number, arrays: NumericStorage[]): Extension | null {
    return attempt(() => {
      const arena = this.arenaOf(bytes, ...arrays);
      return { arena, kernels: arena.memory.extension(source) };
    });
  }

  end(): void {
    // A session that kept its arena would also keep scratch memory after a larger memory replaced it.
    if (this.#arenas.length > 0) for (const arena of this.#arenas.splice(0)) arena.release();
  }

  /**
   * Returns scratch memory for this call: in the memory that holds one of the arrays, or in a memory for heap tensors
   * with the given number of bytes.
   */
  arenaOf(bytes: number, ...arrays: NumericStorage[]): Arena {
    const { shared } = this.#engine;
    const isShared = shared !== null && arrays.some((array) => shared.has(array));
    return this.arenaIn(isShared ? shared : this.#engine.scratch(bytes));
  }

  arenaIn(memory: KernelMemory): Arena {
    const known = this.#arenas.find((arena) => arena.memory === memory);
    if (known !== undefined) return known;
    const arena = new Arena(memory);
    this.#arenas.push(arena);
    return arena;
  }

  /**
   * Returns the rounds for a job whose tensors are all in the arena's memory: a round that copies data, then a round
   * that runs the kernel; a single round if data is not copied as a whole.
   * @param poolFor returns the pool if it is worth waking for the given number of bytes
   */
  roundsOf(
    arena: Arena,
    plan: Plan,
    job: KernelJob,
    poolFor: (bytes: number) => WorkerPool | null,
  ): Rounds {
    const { random, data } = job;
    const { memory } = arena;
    const work = workOf(arena, plan, job);
    const threadsFor = (bytes: number): number => poolFor(bytes)?.size ?? 1;
    const { byteLength } = random;
    const from = data !== random && data && memory.has(data) ? data.byteOffset : null;
    if (data !== random && from === null) copy(data, random);
    const rest = from === null ? null : restOf(arena, work, from, byteLength, this.limits);
    const moved = work.batches * work.slices.count * work.slices.slice * work.bytes;
    const known = rest === null ? work : { ...work, isDistinct: rest.isDistinct };
    const lists = this.#listsOf(arena, known, threadsFor(moved));
    if (from === null) return [lists];
    if (rest !== null) {
      const copies = rest.copyWork(lists.length);
      return [lists.map((list, thread) => [...(copies[thread] ?? []), ...list])];
    }
    const kernel = memory.kernels().find("copy_bytes");
    return [copyWork(kernel, random.byteOffset, from, byteLength, threadsFor(byteLength)), lists];
  }

  threadsFor(bytes: number): number {
    return (this.#indexThreads = this.#poolFor(bytes)?.size ?? 1);
  }

  /** Returns the calls for each thread; a single list if the work cannot be split. */
  #listsOf(arena: Arena, work: Work, threads: number): readonly (readonly Call[])[] {
    const { memory } = arena;
    const isWhole = (slices: Work["slices"]): boolean => {
      const { offsets, count } = slices;
      const length = work.sharesOffsets ? count : count * work.batches;
      return areEqualOrDisjoint(memory.wordsAt(offsets, length), slices);
    };
    let split = threads === 1 ? null : splitWork(work, threads, isWhole);
    const isFar = work.span * work.bytes >= this.limits.partition;
    if (threads > 1 && split === null && isPartitionable(work) && isFar) {
      const block = blockOf(work.slices.count);
      const buffers = Array.from(
        { length: threads },
        () => [arena.allocate(4 * block), arena.allocate(work.bytes * block)] as const,
      );
      split = partitionWork(work, memory.kernels().find("partition", work.bytes), buffers);
    }
    this.#engine.trace?.(split?.by ?? "one thread");
    return withCopies(arena, work, split?.lists ?? [[wholeOf(work)]]);
  }

  /**
   * Returns the pool if it is ready and worth waking for the given number of bytes. Workers are started when they are
   * first worthwhile.
   */
  #poolFor(bytes: number): WorkerPool | null {
    const { threading, limits } = this.#engine;
    if (threading === null || !threading.mayWait || bytes < limits.share) return null;
    const { pool } = threading;
    pool.start();
    return pool.isReady ? pool : null;
  }

  /** Runs lists of calls, on the pool's threads if there are several lists. */
  run(memory: KernelMemory, lists: readonly (readonly Call[])[]): boolean {
    const { threading } = this.#engine;
    if (threading !== null && lists.length > 1) return threading.pool.run(lists);
    return lists.every((list) => runCalls(memory.kernels().all, list));
  }
}
