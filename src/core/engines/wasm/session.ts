/** A synchronous call on the WebAssembly executor: chooses its memory and its number of threads. */

import type { WasmLimits } from "../../limits.ts";
import type { IndexJob, ReadIndices } from "../../plan/index-job.ts";
import type { Plan } from "../../plan/plan.ts";
import { isTensorError } from "../../errors.ts";
import {
  DTYPES,
  isNumericStorage,
  type DType,
  type NumericStorage,
  type Step,
  type Storage,
} from "../../tensor/dtype.ts";
import { copy } from "../../tensor/storage.ts";
import type { Executor, Extension, Session } from "../executor.ts";
import type { KernelSource } from "./kernels.ts";
import { runCalls, type Call } from "./calls.ts";
import { readByKernels, type IndexReader } from "./index-reader.ts";
import { Arena } from "./arena.ts";
import type { KernelMemory } from "./kernel-memory.ts";
import { isEnough, windowsPay } from "./pays.ts";
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

/** The path that a part of a call took; tests examine it. */
export type Path =
  | "js"
  | "windows"
  | "shared windows"
  | "one thread"
  | Split
  | `indices ${"js" | "windows" | number}`;

/** The parts of an executor that its sessions use. */
export interface SessionParts {
  readonly js: Executor;
  readonly limits: WasmLimits;
  /**
   * Memory for tensors of the heap.
   * @param bytes upper bound of what a call will take
   * @throws TensorError `too-large` if the platform has none
   */
  scratch(bytes: number): KernelMemory;
  /** Memory for tensors of the engine; null until created. */
  readonly shared: KernelMemory | null;
  readonly pool: WorkerPool | null;
  /** Null for one thread. */
  readonly threading: Threading | null;
  /** True if this thread may wait for the pool. */
  readonly mayWait: boolean;
  readonly trace: (path: Path) => void;
  /** Takes back a session that has ended. */
  ended(session: WasmSession): void;
}

/** Code that only engines of several threads load: see threads.ts. */
export interface Threading {
  readonly pool: WorkerPool;
  /** Begins a call whose large work the pool does while the caller goes on. */
  beginAsync(parts: SessionParts): Session<Promise<void> | void>;
  /**
   * Does a gather with a tensor outside the engine's memory, if the pool is ready and threads pay off.
   * @returns true if done; otherwise nothing was written
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

/** Calls for each thread, round by round: a round begins when the one before has ended. */
export type Rounds = readonly (readonly (readonly Call[])[])[];

export class WasmSession implements Session<void>, IndexReader {
  readonly #parts: SessionParts;
  readonly #js: Session<void>;
  readonly #arenas: Arena[] = [];
  /** Number of threads that read the indices in place; 0 if the indices were read through a window. */
  #indexThreads = 0;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#js = parts.js.begin();
  }

  readonly readIndices: ReadIndices = (job) => {
    const { limits, trace } = this.#parts;
    if (job.count >= Math.max(limits.indices, 1)) {
      const offsets = attempt(() => this.#readByKernels(job));
      if (offsets) return offsets;
    }
    // JavaScript finds the first bad index.
    trace("indices js");
    return this.#js.readIndices(job);
  };

  gather(plan: Plan, dtype: DType, data: Storage, out: Storage): void {
    const { limits, trace, threading } = this.#parts;
    const isDone =
      // Tested first because most calls are small.
      isEnough(plan, limits.work) &&
      isNumericStorage(data) &&
      isNumericStorage(out) &&
      this.#pays(plan, dtype, "none", data, out, false) &&
      (threading?.gather(this.#parts, this, plan, dtype, data, out) ||
        attempt(() => {
          const arena = this.arenaOf(bytesFor(plan, dtype), data, out);
          const kernel = arena.memory.kernels().gather(DTYPES[dtype].bytes);
          return this.#carryOut(arena, plan, {
            kernel,
            dtype,
            isGather: true,
            random: data,
            data,
            sequential: out,
          });
        }));
    if (isDone === true) return;
    trace("js");
    this.#js.gather(plan, dtype, data, out);
  }

  scatter(
    plan: Plan,
    dtype: DType,
    step: Step,
    data: Storage | null,
    updates: Storage,
    out: Storage,
  ): void {
    const { limits, trace } = this.#parts;
    const isDone =
      isEnough(plan, limits.work) &&
      isNumericStorage(updates) &&
      isNumericStorage(out) &&
      this.#pays(plan, dtype, step, out, updates, data === out) &&
      attempt(() => {
        // Any memory knows its kernels; a memory large enough for the call is created only if a kernel exists.
        const known = this.#parts.shared ?? this.#parts.scratch(0);
        const kernel = scatterKernel(known, dtype, step);
        if (kernel === undefined) return false;
        const arena = this.arenaOf(bytesFor(plan, dtype), updates, out);
        const job = {
          kernel,
          dtype,
          random: out,
          data: data as NumericStorage | null,
          sequential: updates,
        };
        return this.#carryOut(arena, plan, job);
      });
    if (isDone === true) return;
    trace("js");
    this.#js.scatter(plan, dtype, step, data, updates, out);
  }

  extend(source: KernelSource, bytes: number, ...arrays: NumericStorage[]): Extension | null {
    return attempt(() => {
      const arena = this.arenaOf(bytes, ...arrays);
      return { arena, kernels: arena.memory.extension(source) };
    });
  }

  end(): void {
    // An arena that was kept would keep scratch memory that a larger one has replaced.
    if (this.#arenas.length > 0) for (const arena of this.#arenas.splice(0)) arena.release();
    this.#parts.ended(this);
  }

  /**
   * Scratch memory of this call: in the memory that holds one of the arrays, or of that many bytes for tensors of the
   * heap.
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
   * The rounds of a job whose tensors are all in the arena's memory: the copy of data, then the kernel.
   * @param poolFor the pool, where it is worth waking for that many bytes
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

  #readByKernels(job: IndexJob): Uint32Array | null {
    const arena = this.arenaOf(Uint32Array.BYTES_PER_ELEMENT * job.count, job.words);
    this.#indexThreads = 0;
    const offsets = readByKernels(this, arena, job);
    const threads = this.#indexThreads;
    if (offsets !== null)
      this.#parts.trace(threads === 0 ? "indices windows" : `indices ${threads}`);
    return offsets;
  }

  get limits(): WasmLimits {
    return this.#parts.limits;
  }

  threadsFor(bytes: number): number {
    return (this.#indexThreads = this.#poolFor(bytes)?.size ?? 1);
  }

  /**
   * True if WebAssembly pays off for a large enough job: always if tensors are in the engine's memory, so that nothing
   * is copied.
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
    const isHere = shared?.has(random) === true;
    if (isHere && shared.has(sequential)) return true;
    // Kernels need data copied in and out. In place JavaScript copies nothing; else it copies data once as well.
    const copies = isHere ? 0 : isInPlace ? 2 : 1;
    return windowsPay(plan, dtype, step, copies, limits);
  }

  #carryOut(arena: Arena, plan: Plan, job: KernelJob): true {
    const { random, data, sequential } = job;
    const { limits, trace } = this.#parts;
    const { memory } = arena;
    if (plan.batches * plan.count * plan.slice === 0) {
      if (data !== random) copy(data, random);
    } else if (memory.has(random) && memory.has(sequential)) {
      const rounds = this.roundsOf(arena, plan, job, (bytes) => this.#poolFor(bytes));
      for (const lists of rounds) this.run(memory, lists);
    } else {
      trace("windows");
      runThroughWindows(arena, limits, plan, job);
    }
    return true;
  }

  /** The calls of each thread; all in one list where the work cannot be split. */
  #listsOf(arena: Arena, work: Work, threads: number): readonly (readonly Call[])[] {
    const { limits, trace } = this.#parts;
    const { memory } = arena;
    const isWhole = (slices: Work["slices"]): boolean => {
      const { offsets, count } = slices;
      const length = work.sharesOffsets ? count : count * work.batches;
      return areEqualOrDisjoint(memory.wordsAt(offsets, length), slices);
    };
    let split = threads === 1 ? null : splitWork(work, threads, isWhole);
    const isFar = work.span * work.bytes >= limits.partition;
    if (threads > 1 && split === null && isPartitionable(work) && isFar) {
      const block = blockOf(work.slices.count);
      const buffers = Array.from(
        { length: threads },
        () => [arena.allocate(4 * block), arena.allocate(work.bytes * block)] as const,
      );
      split = partitionWork(work, memory.kernels().partition(work.bytes), buffers);
    }
    trace(split?.by ?? "one thread");
    return split?.lists ?? [[wholeOf(work)]];
  }

  /** The pool, if it is ready and worth waking for that many bytes. Workers start when first worth it. */
  #poolFor(bytes: number): WorkerPool | null {
    const { pool, limits, mayWait } = this.#parts;
    if (pool === null || !mayWait || bytes < limits.share) return null;
    pool.start();
    return pool.isReady ? pool : null;
  }

  /** Runs lists of calls, on the pool's threads if given more than one list. */
  run(memory: KernelMemory, lists: readonly (readonly Call[])[]): boolean {
    const { pool } = this.#parts;
    if (pool !== null && lists.length > 1) return pool.run(lists);
    return lists.every((list) => runCalls(memory.kernels().all, list));
  }
}

/** The kernel of a scatter; undefined if JavaScript must do it. */
export const scatterKernel = (memory: KernelMemory, dtype: DType, step: Step): number | undefined =>
  step === "none"
    ? memory.kernels().scatter(DTYPES[dtype].bytes)
    : memory.kernels().combine(dtype, step);

/** A batch of the random side, a merged slice that may be as long, and the offsets before and after they are merged. */
const bytesFor = ({ span, offsets }: Plan, dtype: DType): number =>
  2 * (span * DTYPES[dtype].bytes + offsets.byteLength);

/** The result of `action`; null if memory does not suffice, so JavaScript must do the work. */
export function attempt<T>(action: () => T): T | null {
  try {
    return action();
  } catch (error) {
    if (isTensorError(error, "too-large")) return null;
    throw error;
  }
}
