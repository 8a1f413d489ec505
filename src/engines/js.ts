/** The executor in plain JavaScript: the engine that is always there, and what the others leave small work to. */

import { scatterCombine } from "../kernels/combine.ts";
import { gatherMove, scatterMove } from "../kernels/move.ts";
import { readIndices } from "../kernels/read-indices.ts";
import { coarsen } from "../plan/plan.ts";
import { allocate, DTYPES, isNumericStorage, viewOf } from "../tensor/dtype.ts";
import { copy } from "../tensor/storage.ts";
import type { Executor, Session } from "./executor.ts";
import { BufferPool, LEAST_BYTES } from "./pool.ts";
import { Queue } from "./queue.ts";

/** Up to this many offsets live in scratch memory: to make an array of 64 takes 0.2 µs, of 256 it takes 0.5. */
const FEW_OFFSETS = 2 ** 10;

/** @param ended takes the session back */
function createSession(ended: (session: Session<void>) => void): Session<void> {
  const scratch = new Uint32Array(FEW_OFFSETS);
  /** The beginning of it, as long as the last job was. */
  let offsets = scratch;
  return {
    readIndices(job) {
      const { count } = job;
      if (count > FEW_OFFSETS) return readIndices(job);
      if (offsets.length !== count) offsets = scratch.subarray(0, count);
      return readIndices(job, offsets);
    },
    gather(plan, _dtype, data, out) {
      gatherMove(coarsen(plan), data, out);
    },
    scatter(plan, dtype, step, data, updates, out) {
      if (out !== data) copy(data, out);
      const coarse = coarsen(plan);
      if (step === "none") scatterMove(coarse, updates, out);
      else scatterCombine(coarse, dtype, step, updates, out);
    },
    end() {
      ended(this);
    },
  };
}

export function createJs(): Executor {
  const pool = new BufferPool();
  const queue = new Queue();
  // A session that has ended serves the next call.
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
      const buffer = pool.take(size * DTYPES[dtype].bytes);
      return buffer === undefined ? allocate(dtype, size) : viewOf(dtype, buffer);
    },
    alloc: allocate,
    recycle(data) {
      // First, because to ask a small new array for its buffer takes 0.3 µs.
      if (!isNumericStorage(data) || data.byteLength < LEAST_BYTES) return;
      if (!(data.buffer instanceof ArrayBuffer)) return;
      const { buffer } = data;
      queue.afterPending(() => pool.give(buffer));
    },
    begin,
    beginAsync: begin,
    dispose() {
      pool.clear();
    },
  };
}
