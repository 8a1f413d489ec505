/**
 * The threads of an engine, and its asynchronous calls, in which the worker pool does large work while the caller
 * continues. `createEngine` passes this code to the engine, so bundlers omit it from pages that create no engine.
 */

import type { WasmLimits } from "../../limits.ts";
import { transferred } from "../../tensor/memory.ts";
import type { ReadIndices } from "../../plan/indices.ts";
import type { Plan } from "../../plan/plan.ts";
import {
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
import { attempt, type KernelMemory } from "./kernel-memory.ts";
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
    return new AsyncSession(engine, executor, this.#memory, this.pool);
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
      const kernel = memory.kernels().of(dtype, null) as number;
      const job = { kernel, dtype, isGather: true, random: data, data, sequential: out };
      gatherFromHeap(session.arenaIn(memory), pool, limits, plan, job);
      return true;
    });
    if (isDone === true) trace?.("shared windows");
    return isDone === true;
  }
}

/**
 * An asynchronous call. Heap tensors are copied to the shared memory, and the result is copied back. All other steps
 * work as in a synchronous call.
 */
class AsyncSession implements Session<Promise<void> | void> {
  readonly #limits: WasmLimits;
  readonly #memory: KernelMemory;
  readonly #pool: WorkerPool;
  readonly #large: WasmSession;
  /** Performs all actions that the pool does not perform, in the scratch memory of `#large`. */
  readonly #now: SyncSession;
  readonly readIndices: ReadIndices;

  constructor(engine: WasmEngine, executor: Executor, memory: KernelMemory, pool: WorkerPool) {
    this.#limits = engine.limits;
    this.#memory = memory;
    this.#pool = pool;
    this.#large = engine.begin();
    this.#now = new SyncSession(executor, this.#large);
    this.readIndices = this.#now.readIndices;
  }

  gather(plan: Plan, dtype: DType, data: Storage, out: Storage): Promise<void> | void {
    return (
      this.#submit(plan, dtype, null, data, data, out) ?? this.#now.gather(plan, dtype, data, out)
    );
  }

  scatter(
    plan: Plan,
    dtype: DType,
    step: Step,
    data: Storage | null,
    updates: Storage,
    out: Storage,
  ): Promise<void> | void {
    return (
      this.#submit(plan, dtype, step, data, out, updates) ??
      this.#now.scatter(plan, dtype, step, data, updates, out)
    );
  }

  end(): void {
    this.#now.end();
  }

  /** Submits an action, as in `WasmActions.perform`, to the pool if the action is large enough. */
  #submit(
    plan: Plan,
    dtype: DType,
    step: Step | null,
    data: Storage | null,
    random: Storage,
    sequential: Storage,
  ): Promise<void> | undefined {
    if (
      !isNumericStorage(data) ||
      !isNumericStorage(random) ||
      !isNumericStorage(sequential) ||
      !isEnough(plan, this.#limits.submit)
    ) {
      return undefined;
    }
    const memory = this.#memory;
    const isGather = step === null;
    const out = isGather ? sequential : random;
    const submitted = attempt(() => {
      const kernel = memory.kernels().of(dtype, step);
      if (kernel === undefined) return null;
      const arena = this.#large.arenaIn(memory);
      const from = copyIn(arena, dtype, data);
      // The copy of data is scratch memory, so it can also be the target of a scatter; data in the engine's memory must
      // stay unchanged.
      const isTarget = !isGather && from !== data;
      const own = memory.has(out) ? out : isTarget ? from : emptyLike(arena, dtype, out);
      const sides = isGather
        ? { random: from, sequential: own }
        : { random: own, sequential: copyIn(arena, dtype, sequential) };
      const job = { kernel, dtype, isGather, data: from, ...sides };
      return { own, rounds: this.#large.roundsOf(arena, plan, job, () => this.#pool) };
    });
    return submitted ? this.#run(submitted.rounds, submitted.own, out) : undefined;
  }

  /** Runs the rounds, and copies their result to `out` if it is elsewhere. */
  async #run(rounds: Rounds, own: NumericStorage, out: NumericStorage): Promise<void> {
    for (const lists of rounds) {
      // oxlint-disable-next-line no-await-in-loop -- a round begins when the previous round has ended
      await this.#pool.runAsync(lists);
    }
    if (own === out) return;
    if (out.byteLength !== own.byteLength) throw transferred("out", {});
    bytesOf(out).set(bytesOf(own));
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
