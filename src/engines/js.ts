/** The executor in plain JavaScript: the engine that is always there, and what the others leave small work to. */

import { scatterCombine } from "../kernels/combine.ts";
import { gatherMove, scatterMove } from "../kernels/move.ts";
import { readIndices } from "../kernels/read-indices.ts";
import { coarsen } from "../plan/plan.ts";
import { allocate, DTYPES, isNumericStorage, viewOf } from "../tensor/dtype.ts";
import { copy } from "../tensor/storage.ts";
import type { Executor, Session } from "./executor.ts";
import { BufferPool } from "./pool.ts";
import { Queue } from "./queue.ts";

/** JavaScript needs no scratch memory, so that one session serves every call. */
const SESSION: Session<void> = {
  readIndices,
  gather(plan, _dtype, data, out) {
    gatherMove(coarsen(plan), data, out);
  },
  scatter(plan, dtype, step, data, updates, out) {
    if (out !== data) copy(data, out);
    const coarse = coarsen(plan);
    if (step === "none") scatterMove(coarse, updates, out);
    else scatterCombine(coarse, dtype, step, updates, out);
  },
  end() {},
};

export function createJs(): Executor {
  const pool = new BufferPool();
  const queue = new Queue();
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
      if (!isNumericStorage(data) || !(data.buffer instanceof ArrayBuffer)) return;
      const { buffer } = data;
      queue.afterPending(() => pool.give(buffer));
    },
    begin: () => SESSION,
    beginAsync: () => SESSION,
    dispose() {
      pool.clear();
    },
  };
}
