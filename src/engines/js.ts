/** The executor in plain JavaScript. */

import { allocate, DTYPES, isNumericStorage, viewOf } from "../tensor/dtype.ts";
import { scatterCombine } from "../kernels/combine.ts";
import { gatherMove, scatterMove } from "../kernels/move.ts";
import { readIndices } from "../kernels/read-indices.ts";
import { coarsen } from "../plan/plan.ts";
import { copy, isSameMemory } from "../tensor/storage.ts";
import type { Executor } from "./executor.ts";
import { BufferPool } from "./pool.ts";

export function createJs(): Executor {
  const pool = new BufferPool();
  return {
    kind: "js",
    threads: 1,
    laterThreads: 1,
    allocate(dtype, size) {
      const buffer = pool.take(size * DTYPES[dtype].bytes);
      return buffer === undefined ? allocate(dtype, size) : viewOf(dtype, buffer);
    },
    alloc: allocate,
    recycle(data) {
      if (isNumericStorage(data) && data.buffer instanceof ArrayBuffer) pool.give(data.buffer);
    },
    scope: (action) => action(),
    readIndices,
    gather(plan, _dtype, data, out) {
      gatherMove(coarsen(plan), data, out);
    },
    scatter(plan, dtype, reduction, data, updates, out) {
      if (!isSameMemory(out, data)) copy(data, out);
      const coarse = coarsen(plan);
      if (reduction === "none") scatterMove(coarse, updates, out);
      else scatterCombine(coarse, dtype, reduction, updates, out);
    },
    dispose() {
      pool.clear();
    },
  };
}
