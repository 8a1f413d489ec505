/**
 * The threads of an engine. `createEngine` passes this code to the engine, so bundlers omit it from pages that create
 * no engine.
 */

import type { Plan } from "../../plan/plan.ts";
import { DTYPES, type DType, type NumericStorage } from "../../tensor/dtype.ts";
import type { WantedThreads } from "../choice.ts";
import type { Session } from "../executor.ts";
import { AsyncWasmSession } from "./async-session.ts";
import { gatherFromHeap } from "./heap-gather.ts";
import type { KernelMemory } from "./kernel-memory.ts";
import { Reserve } from "./reserve.ts";
import { attempt, type SessionParts, type Threading, type WasmSession } from "./session.ts";
import { whyNoWorkers } from "./spawn.ts";
import { WorkerPool } from "./worker-pool.ts";

/** Returns an object that creates `count` threads for a single engine. */
export const threadsOf = (count: number): WantedThreads => ({
  whyNone: whyNoWorkers,
  make: (memory) => new Threads(new WorkerPool(count, memory), memory),
  reserve: new Reserve(),
});

export class Threads implements Threading {
  readonly pool: WorkerPool;
  readonly #memory: KernelMemory;

  /**
   * Creates the threading of an engine.
   * @param memory the shared memory of the pool and the engine
   */
  constructor(pool: WorkerPool, memory: KernelMemory) {
    this.pool = pool;
    this.#memory = memory;
  }

  beginAsync(parts: SessionParts): Session<Promise<void> | void> {
    return new AsyncWasmSession(parts, this.#memory, this.pool);
  }

  gather(
    { limits, mayWait, trace }: SessionParts,
    session: WasmSession,
    plan: Plan,
    dtype: DType,
    data: NumericStorage,
    out: NumericStorage,
  ): boolean {
    const { pool } = this;
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
    if (isDone === true) trace("shared windows");
    return isDone === true;
  }
}
