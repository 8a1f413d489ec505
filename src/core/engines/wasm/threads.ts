/**
 * The threads of an engine, and its asynchronous calls, in which the worker pool does large work while the caller
 * continues. `createEngine` passes this code to the engine, so bundlers omit it from pages that create no engine.
 */

import type { WasmLimits } from "../../limits.ts";
import { transferred } from "../../tensor/memory.ts";
import type { ReadIndices } from "../../plan/indices.ts";
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
import { bytesOf } from "../../tensor/storage.ts";
import type { WantedThreads } from "../choice.ts";
import { isEnough, SyncSession, type Executor, type Session } from "../executor.ts";
import type { Arena } from "./arena.ts";
import { gatherFromHeap } from "./heap-gather.ts";
import type { KernelMemory } from "./kernel-memory.ts";
import { attempt, scatterKernel } from "./pays.ts";
import { Reserve } from "./reserve.ts";
import type { Rounds, Threading, WasmEngine, WasmSession } from "./engine.ts";
import { mayWait, whyNoWorkers } from "./spawn.ts";
import { WorkerPool } from "./worker-pool.ts";

/** Returns an object that creates `count` threads for a single engine. */
export const threadsOf = (count: number): WantedThreads => ({
  whyNone: whyNoWorkers,
  make: (memory) => new Threads(new WorkerPool(count, memory), memory),
  reserve: new Reserve(),
});

export class Threads implements Threading {
  readonly pool: WorkerPool;
  readonly mayWait: boolean = mayWait();
  readonly #memory: KernelMemory;

  /**
   * Creates the threading of an engine.
   * @param memory the shared memory of the pool and the engine
   */
  constructor(pool: WorkerPool, memory: KernelMemory) {
    this.pool = pool;
    this.#memory = memory;
  }

  beginAsync(engine: WasmEngine, executor: Executor): Session<Promise<void> | void> {
    const large = engine.begin();
    const now = new SyncSession(executor, engine, large);
    return new AsyncSession(engine.limits, this.#memory, this.pool, large, now);
  }

  gather(
    { limits, trace }: WasmEngine,
    session: WasmSession,
    plan: Plan,
    dtype: DType,
    data: NumericStorage,
    out: NumericStorage,
  ): boolean {
    const { pool, mayWait } = this;
    const memory = this.#memory;
    if (!mayWait || out.byteLength < limits.heap || (memory.has(data) && memory.has(out)))
      return false;
    pool.start();
    if (!pool.isReady) return false;
    const isDone = attempt(() => {
      const kernel = memory.kernels().gather(DTYPES[dtype].bytes);
      const job = { kernel, dtype, isGather: true, random: data, data, sequential: out };
      gatherFromHeap(session.arenaIn(memory), pool, limits, plan, job);
      return true;
    });
    if (isDone === true) trace?.("shared windows");
    return isDone === true;
  }
}

/** Work for the pool, and the address to copy the result from; null if the result is already in place. */
interface Submission {
  readonly rounds: Rounds;
  readonly result: { readonly from: NumericStorage; readonly to: NumericStorage } | null;
}

/**
 * An asynchronous call. Heap tensors are copied to the shared memory, and the result is copied back. All other steps
 * work as in a synchronous call.
 */
class AsyncSession implements Session<Promise<void> | void> {
  readonly #limits: WasmLimits;
  readonly #shared: KernelMemory;
  readonly #pool: WorkerPool;
  readonly #large: WasmSession;
  readonly #now: SyncSession;
  readonly readIndices: ReadIndices;

  /**
   * Creates the session of a call.
   * @param large the large actions of `now`, which performs all actions that the pool does not perform
   */
  constructor(
    limits: WasmLimits,
    shared: KernelMemory,
    pool: WorkerPool,
    large: WasmSession,
    now: SyncSession,
  ) {
    this.#limits = limits;
    this.#shared = shared;
    this.#pool = pool;
    this.#large = large;
    this.#now = now;
    this.readIndices = now.readIndices;
  }

  gather(plan: Plan, dtype: DType, data: Storage, out: Storage): Promise<void> | void {
    const submission =
      isNumericStorage(data) && isNumericStorage(out) && isEnough(plan, this.#limits.submit)
        ? attempt(() => this.#submitGather(plan, dtype, data, out))
        : null;
    return submission ? this.#run(submission) : this.#now.gather(plan, dtype, data, out);
  }

  scatter(
    plan: Plan,
    dtype: DType,
    step: Step,
    data: Storage | null,
    updates: Storage,
    out: Storage,
  ): Promise<void> | void {
    const submission =
      isNumericStorage(data) &&
      isNumericStorage(updates) &&
      isNumericStorage(out) &&
      isEnough(plan, this.#limits.submit)
        ? attempt(() => this.#submitScatter(plan, dtype, step, data, updates, out))
        : null;
    return submission
      ? this.#run(submission)
      : this.#now.scatter(plan, dtype, step, data, updates, out);
  }

  end(): void {
    this.#now.end();
  }

  #submitGather(
    plan: Plan,
    dtype: DType,
    data: NumericStorage,
    out: NumericStorage,
  ): Submission | null {
    const arena = this.#large.arenaIn(this.#shared);
    const kernel = this.#shared.kernels().gather(DTYPES[dtype].bytes);
    const sequential = this.#shared.has(out) ? out : emptyLike(arena, dtype, out);
    const random = copyIn(arena, dtype, data);
    const job = { kernel, dtype, isGather: true, random, data: random, sequential };
    const rounds = this.#large.roundsOf(arena, plan, job, () => this.#pool);
    return { rounds, result: sequential === out ? null : { from: sequential, to: out } };
  }

  #submitScatter(
    plan: Plan,
    dtype: DType,
    step: Step,
    data: NumericStorage,
    updates: NumericStorage,
    out: NumericStorage,
  ): Submission | null {
    const kernel = scatterKernel(this.#shared, dtype, step);
    if (kernel === undefined) return null;
    const arena = this.#large.arenaIn(this.#shared);
    const from = copyIn(arena, dtype, data);
    // The copy of data is scratch memory, so it can also be the target; data in the engine's memory must stay
    // unchanged.
    const scratch = (): NumericStorage => (from === data ? emptyLike(arena, dtype, out) : from);
    const target = this.#shared.has(out) ? out : scratch();
    const job = {
      kernel,
      dtype,
      random: target,
      data: from,
      sequential: copyIn(arena, dtype, updates),
    };
    const rounds = this.#large.roundsOf(arena, plan, job, () => this.#pool);
    return { rounds, result: target === out ? null : { from: target, to: out } };
  }

  async #run({ rounds, result }: Submission): Promise<void> {
    for (const lists of rounds) {
      // oxlint-disable-next-line no-await-in-loop -- a round begins when the previous round has ended
      await this.#pool.runAsync(lists);
    }
    if (result === null) return;
    const { from, to } = result;
    if (to.byteLength !== from.byteLength) {
      throw transferred("out", {});
    }
    bytesOf(to).set(bytesOf(from));
  }
}

/** Returns an array that is in the arena's memory unchanged; copies any other array into the arena's memory. */
function copyIn(arena: Arena, dtype: DType, array: NumericStorage): NumericStorage {
  if (arena.memory.has(array)) return array;
  const copied = emptyLike(arena, dtype, array);
  bytesOf(copied).set(bytesOf(array));
  return copied;
}

function emptyLike(
  arena: Arena,
  dtype: DType,
  { byteLength, length }: NumericStorage,
): NumericStorage {
  const pointer = arena.allocate(byteLength);
  return viewOf(dtype, arena.memory.buffer, pointer, length) as NumericStorage;
}
