/** The large actions of a call, for which this file chooses the memory and the number of threads. */

import type { WasmLimits } from "../../limits.ts";
import type { ElementJob, IndexJob } from "../../plan/indices.ts";
import type { Plan } from "../../plan/plan.ts";
import { hasCode } from "../../errors.ts";
import {
  DTYPES,
  isNumericStorage,
  type DType,
  type NumericStorage,
  type Step,
  type Storage,
} from "../../tensor/dtype.ts";
import { copy } from "../../tensor/storage.ts";
import type { Executor, Extension, Session, Wasm, WasmActions } from "../executor.ts";
import type { KernelSource } from "./kernels.ts";
import { runCalls, type Call } from "./calls.ts";
import { checkIndices, gatherByIndices, readByKernels, type IndexReader } from "./index-reader.ts";
import { Arena } from "./arena.ts";
import type { KernelMemory } from "./kernel-memory.ts";
import { windowsPay } from "./pays.ts";
import { areEqualOrDisjoint, workOf, type KernelJob, type Work } from "./plan-work.ts";
import {
  blockOf,
  copyWork,
  isPartitionable,
  partitionWork,
  splitWork,
  wholeOf,
  type Split,
} from "./split-work.ts";
import { runThroughWindows } from "./windows.ts";
import type { WorkerPool } from "./worker-pool.ts";

/** The path that part of a call took, for tests. */
export type Path =
  | "js"
  | "windows"
  | "shared windows"
  | "one thread"
  | "by indices"
  | Split
  | `indices ${"js" | "windows" | number}`;

/** Parts of an engine that its sessions use. */
export interface SessionParts extends Wasm {
  /**
   * Returns memory for heap tensors.
   * @param bytes an upper bound for the memory that a call needs
   * @throws TensorError `too-large` if the platform refuses memory
   */
  scratch(bytes: number): KernelMemory;
  /** Memory for the engine's tensors; null until it is created. */
  readonly shared: KernelMemory | null;
  /** Code for several threads; null for a single thread. */
  readonly threading: Threading | null;
  /** True if this thread may block while the pool works. */
  readonly mayWait: boolean;
  readonly trace: ((path: Path) => void) | null;
  begin(): WasmSession;
}

/** Code that only engines with several threads load, from threads.ts. */
export interface Threading {
  readonly pool: WorkerPool;
  /** Begins a call whose large work the pool does while the caller continues. */
  beginAsync(parts: SessionParts, executor: Executor): Session<Promise<void> | void>;
  /**
   * Gathers from or to a tensor outside the engine's memory, if the pool is ready and threads pay off. Returns false if
   * nothing was written.
   */
  gather(
    parts: SessionParts,
    session: WasmSession,
    plan: Plan,
    dtype: DType,
    data: NumericStorage,
    out: NumericStorage,
  ): boolean;
}

/** Calls for each thread, round by round. A round begins when the previous round has ended. */
export type Rounds = readonly (readonly (readonly Call[])[])[];

export class WasmSession implements WasmActions, IndexReader {
  readonly #parts: SessionParts;
  readonly #arenas: Arena[] = [];
  /** Number of threads that read the indices in place; 0 if indices were read through a window. */
  #indexThreads = 0;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** Reads indices; returns null if memory is too small, or if an index is bad, which JavaScript then finds. */
  readIndices(job: IndexJob): Uint32Array | null {
    return attempt(() => {
      const arena = this.arenaOf(Uint32Array.BYTES_PER_ELEMENT * job.count, job.words);
      this.#indexThreads = 0;
      const offsets = readByKernels(this, arena, job);
      const threads = this.#indexThreads;
      if (offsets !== null)
        this.#parts.trace?.(threads === 0 ? "indices windows" : `indices ${threads}`);
      return offsets;
    });
  }

  checkIndices(job: IndexJob): boolean {
    const { shared, trace } = this.#parts;
    if (!shared?.has(job.words) || !checkIndices(this, this.arenaIn(shared), job)) return false;
    trace?.(`indices ${this.#indexThreads}`);
    return true;
  }

  /** Gathers without offsets if data is in the engine's memory; returns false if nothing was written. */
  gatherByIndices(job: ElementJob, dtype: DType, data: Storage, out: Storage): boolean {
    const { shared, limits, threading, trace } = this.#parts;
    if (!isNumericStorage(data) || !isNumericStorage(out) || !shared?.has(data)) return false;
    // Several threads gather a large result for the heap.
    if (threading !== null && out.byteLength >= limits.heap && !shared.has(out)) return false;
    const { bytes } = DTYPES[dtype];
    const arena = this.arenaIn(shared);
    const isDone = attempt(() => gatherByIndices(this, arena, job, data, out, bytes));
    if (isDone === true) trace?.("by indices");
    return isDone === true;
  }

  gather(plan: Plan, dtype: DType, data: Storage, out: Storage): boolean {
    if (!isNumericStorage(data) || !isNumericStorage(out)) return false;
    if (!this.#pays(plan, dtype, "none", data, out, false)) return false;
    const { threading } = this.#parts;
    if (threading?.gather(this.#parts, this, plan, dtype, data, out)) return true;
    const isDone = attempt(() => {
      const arena = this.arenaOf(bytesFor(plan, dtype), data, out);
      const kernel = arena.memory.kernels().gather(DTYPES[dtype].bytes);
      const job = { kernel, dtype, isGather: true, random: data, data, sequential: out };
      return this.#carryOut(arena, plan, job);
    });
    return isDone === true;
  }

  scatter(
    plan: Plan,
    dtype: DType,
    step: Step,
    data: Storage | null,
    updates: Storage,
    out: Storage,
  ): boolean {
    if (!isNumericStorage(updates) || !isNumericStorage(out)) return false;
    if (!this.#pays(plan, dtype, step, out, updates, data === out)) return false;
    const isDone = attempt(() => {
      // Every memory can look up kernels, so a memory that is large enough for the call is created only if a kernel
      // exists.
      const known = this.#parts.shared ?? this.#parts.scratch(0);
      const kernel = scatterKernel(known, dtype, step);
      if (kernel === undefined) return false;
      const arena = this.arenaOf(bytesFor(plan, dtype), updates, out);
      const from = data as NumericStorage | null;
      const job = { kernel, dtype, random: out, data: from, sequential: updates };
      return this.#carryOut(arena, plan, job);
    });
    return isDone === true;
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
    const { shared } = this.#parts;
    const isShared = shared !== null && arrays.some((array) => shared.has(array));
    return this.arenaIn(isShared ? shared : this.#parts.scratch(bytes));
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
   * that runs the kernel.
   * @param poolFor returns the pool if it is worth waking for the given number of bytes
   */
  roundsOf(
    arena: Arena,
    plan: Plan,
    job: KernelJob,
    poolFor: (bytes: number) => WorkerPool | null,
  ): Rounds {
    const { random, data } = job;
    const work = workOf(arena, plan, job);
    const rounds: (readonly (readonly Call[])[])[] = [];
    if (data !== random) {
      const { byteLength } = random;
      if (data && arena.memory.has(data)) {
        const { copyBytes } = arena.memory.kernels();
        const threads = poolFor(byteLength)?.size ?? 1;
        rounds.push(copyWork(copyBytes, random.byteOffset, data.byteOffset, byteLength, threads));
      } else {
        copy(data, random);
      }
    }
    const { count, slice } = work.slices;
    const pool = poolFor(work.batches * count * slice * work.bytes);
    rounds.push(this.#listsOf(arena, work, pool?.size ?? 1));
    return rounds;
  }

  get limits(): WasmLimits {
    return this.#parts.limits;
  }

  threadsFor(bytes: number): number {
    return (this.#indexThreads = this.#poolFor(bytes)?.size ?? 1);
  }

  /**
   * Returns true if WebAssembly pays off for a job of sufficient size, which is always the case if both tensors are in
   * the engine's memory, because nothing is copied.
   */
  #pays(
    plan: Plan,
    dtype: DType,
    step: Step,
    random: NumericStorage,
    sequential: NumericStorage,
    isInPlace: boolean,
  ): boolean {
    const { limits, shared } = this.#parts;
    const isHere = shared?.has(random);
    if (isHere && shared?.has(sequential)) return true;
    // A kernel needs data in its own memory, so data is copied in and out. JavaScript copies data once, or not at all
    // if the result replaces data.
    const copies = isHere ? 0 : isInPlace ? 2 : 1;
    return windowsPay(plan, dtype, step, copies, limits);
  }

  #carryOut(arena: Arena, plan: Plan, job: KernelJob): true {
    const { random, data, sequential } = job;
    const { memory } = arena;
    if (plan.batches * plan.count * plan.slice === 0) {
      if (data !== random) copy(data, random);
    } else if (memory.has(random) && memory.has(sequential)) {
      const rounds = this.roundsOf(arena, plan, job, (bytes) => this.#poolFor(bytes));
      for (const lists of rounds) this.run(memory, lists);
    } else {
      this.#parts.trace?.("windows");
      runThroughWindows(arena, this.limits, plan, job);
    }
    return true;
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
      split = partitionWork(work, memory.kernels().partition(work.bytes), buffers);
    }
    this.#parts.trace?.(split?.by ?? "one thread");
    return split?.lists ?? [[wholeOf(work)]];
  }

  /**
   * Returns the pool if it is ready and worth waking for the given number of bytes. Workers are started when they are
   * first worthwhile.
   */
  #poolFor(bytes: number): WorkerPool | null {
    const { threading, limits, mayWait } = this.#parts;
    if (threading === null || !mayWait || bytes < limits.share) return null;
    const { pool } = threading;
    pool.start();
    return pool.isReady ? pool : null;
  }

  /** Runs lists of calls, on the pool's threads if there are several lists. */
  run(memory: KernelMemory, lists: readonly (readonly Call[])[]): boolean {
    const { threading } = this.#parts;
    if (threading !== null && lists.length > 1) return threading.pool.run(lists);
    return lists.every((list) => runCalls(memory.kernels().all, list));
  }
}

/** Returns the kernel for a scatter; undefined if JavaScript must do the work. */
export const scatterKernel = (memory: KernelMemory, dtype: DType, step: Step): number | undefined =>
  step === "none"
    ? memory.kernels().scatter(DTYPES[dtype].bytes)
    : memory.kernels().combine(dtype, step);

/**
 * Returns the scratch bytes that a Plan needs: a batch of the random side, a merged slice of up to that length, and the
 * offsets before and after merging.
 */
const bytesFor = ({ span, offsets }: Plan, dtype: DType): number =>
  2 * (span * DTYPES[dtype].bytes + offsets.byteLength);

/** Returns the result of `action`, or null if memory is too small and JavaScript must do the work. */
export function attempt<T>(action: () => T): T | null {
  try {
    return action();
  } catch (error) {
    if (hasCode(error, "too-large")) return null;
    throw error;
  }
}
