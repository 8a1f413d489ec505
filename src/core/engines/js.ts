/** The JavaScript executor, which is always available, and which other engines use for small work. */

import { OFFSETS, POOL } from "../limits.ts";
import { scatterCombine } from "../kernels/combine.ts";
import { gatherMove, scatterMove } from "../kernels/move.ts";
import { readIndices } from "../kernels/read-indices.ts";
import { coarsen } from "../plan/plan.ts";
import { allocate, DTYPES, isNumericStorage, viewOf } from "../tensor/dtype.ts";
import { MEMORY } from "../resources.ts";
import { bytesOf, copy, isUnshared } from "../tensor/storage.ts";
import type { Executor, Session } from "./executor.ts";
import { BufferPool, type MemorySource } from "./pool.ts";
import { Queue } from "./queue.ts";

/**
 * Creates a session.
 * @param ended called with the session when it ends, so that it can be reused
 */
function createSession(ended: (session: Session<void>) => void): Session<void> {
  let scratch = new Uint32Array(0);
  /** View of the start of `scratch`, with the length of the last job. */
  let offsets = scratch;
  return {
    readIndices(job) {
      const { count } = job;
      const most = OFFSETS.scratch;
      if (count > most) return readIndices(job);
      if (scratch.length < most) scratch = new Uint32Array(most);
      if (offsets.length !== count) offsets = scratch.subarray(0, count);
      return readIndices(job, offsets);
    },
    gather(plan, _dtype, data, out) {
      gatherMove(coarsen(plan), data, out);
    },
    scatter(plan, dtype, step, data, updates, out) {
      // Data is copied as a whole, because copying batch by batch only pays off if kernels keep a batch in the cache.
      if (out !== data) copy(data, out);
      const coarse = coarsen(plan);
      if (step === "none") scatterMove(coarse, updates, out);
      else scatterCombine(coarse, dtype, step, updates, out);
    },
    end() {
      MEMORY.onRelease?.(bytesOf(scratch));
      ended(this);
    },
  };
}

/**
 * Creates a JavaScript executor.
 * @param reserve the source of memory for results if no disposed result has left memory
 */
export function createJs(reserve?: MemorySource): Executor {
  const pool = new BufferPool();
  const queue = new Queue();
  // A session that has ended is reused by the next call.
  let idle: Session<void> | null = null;
  const ended = (session: Session<void>): void => {
    idle = session;
  };
  const begin = (): Session<void> => {
    const session = idle ?? createSession(ended);
    idle = null;
    return session;
  };
  return {
    kind: "js",
    threads: 1,
    asyncThreads: 1,
    queue,
    allocate(dtype, size) {
      const bytes = size * DTYPES[dtype].bytes;
      const buffer = pool.take(bytes) ?? reserve?.take(bytes);
      return buffer === undefined ? allocate(dtype, size) : viewOf(dtype, buffer);
    },
    alloc: allocate,
    recycle(data) {
      // The length is tested first, because reading the buffer of a small new array takes 0.3 µs.
      if (!isNumericStorage(data) || data.byteLength < POOL.least) return;
      const { buffer } = data;
      if (!isUnshared(buffer)) return;
      queue.afterPending(() => pool.give(buffer));
    },
    begin,
    beginAsync: begin,
    dispose() {
      pool.clear();
      reserve?.clear();
    },
  };
}
