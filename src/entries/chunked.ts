/**
 * Scatter and gather on arrays that are larger than memory, chunk by chunk, with the same bits as a single call in
 * memory.
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

export type { CallSpec } from "../arrays/chunked/job/request.ts";
export { gatherChunked, scatterChunked, type ChunkedOptions } from "../arrays/chunked/functions.ts";
export { gatherInMemory } from "../arrays/chunked/gather-in-memory.ts";
export {
  jobFailure,
  openJob,
  remainingTasks,
  taskRate,
  type Job,
} from "../arrays/chunked/job/job.ts";
export { type Stage, type StageName } from "../arrays/chunked/job/spec.ts";
export { startPool, type PoolOptions, type TaskPool } from "../arrays/chunked/run/pool.ts";
export { runJob, type JobProgress, type RunJobOptions } from "../arrays/chunked/run/run-job.ts";
export { createJob, planJob } from "../arrays/chunked/job/create-job.ts";
export { type JobRequest } from "../arrays/chunked/job/request.ts";
export type { JobPlan } from "../arrays/chunked/job/bounds.ts";
export {
  checkFree,
  describeJob,
  findJobs,
  type FoundJob,
  type JobFacts,
} from "../arrays/chunked/job/find-jobs.ts";
export { workersOf, type JobWorkerFacts, type Taker } from "../arrays/chunked/job/workers.ts";
export { removeJob } from "../arrays/chunked/job/job-folder.ts";
export { slurmScript, type SlurmOptions } from "../arrays/distributed/slurm.ts";
