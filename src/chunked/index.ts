/**
 * Scatter and gather on arrays that are larger than memory, chunk by chunk: the bits are those of one call in memory.
 *
 * @example
 * ```ts
 * import { openArray } from "ndscatter/zarr";
 * import { scatterChunked } from "ndscatter/chunked";
 *
 * const [table, ids, rows] = await Promise.all(["table.zarr", "ids.npy", "rows.npy"].map((path) => openArray(path)));
 * await scatterChunked(table, ids, rows, { reduction: "add", out: "new.zarr", memory: 2 ** 30 });
 * ```
 *
 * @module
 */

export type { CallSpec } from "./call-spec.ts";
export { gatherChunked, scatterChunked, type ChunkedOptions } from "./functions.ts";
export {
  jobFailure,
  openJob,
  remainingTasks,
  taskRate,
  type Job,
  type Stage,
  type StageName,
} from "./job.ts";
export { startPool, type PoolOptions, type TaskPool } from "./pool.ts";
export { runJob, type JobProgress, type RunJobOptions } from "./run-job.ts";
export { diskRate } from "./disk.ts";
export { createJob, type JobRequest } from "./create-job.ts";
export { removeJob } from "./job-folder.ts";
export { slurmScript, type SlurmOptions } from "../distributed/slurm.ts";
