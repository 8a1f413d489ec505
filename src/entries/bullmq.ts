/**
 * Jobs of `ndscatter/chunked` on many machines, by BullMQ on Redis: workers take the tasks, and the submitter of a job
 * waits for its result. All machines see the job's folder and its arrays under the same paths. `bullmq` and `ioredis`
 * are optional packages, which are looked up when one of these functions is called.
 *
 * @example
 * ```ts
 * import { createWorker, submitJob } from "ndscatter/bullmq";
 *
 * // On each machine, for jobs and arrays in one folder that all machines see:
 * const worker = await createWorker({
 *   connection: "redis://queue:6379",
 *   roots: ["/shared"],
 *   threads: 8,
 *   memory: 2 ** 33, // bytes
 * });
 * await submitJob("/shared/job", { connection: "redis://queue:6379" });
 * ```
 *
 * @module
 */

import { packageVersion } from "../arrays/chunked/job/package-version.ts";
import { jobFailure, openJob, remainingTasks } from "../arrays/chunked/job/job.ts";
import { startPool } from "../arrays/chunked/run/pool.ts";
import { isThere } from "../arrays/boxes/file.ts";
import type { Core } from "../arrays/distributed/core.ts";
import { submit, type SubmitOptions } from "../arrays/distributed/submit.ts";
import { startWorker, type JobWorker, type WorkerOptions } from "../arrays/distributed/worker.ts";

export type { Connection } from "../arrays/distributed/packages.ts";
export type { SubmitOptions, SubmitProgress } from "../arrays/distributed/submit.ts";
export type { TasksDone } from "../arrays/distributed/task-runner.ts";
export type { JobWorker, WorkerOptions } from "../arrays/distributed/worker.ts";

/** True if the folder can be read; false for every reason why it cannot. */
const isSeen = (folder: string): Promise<boolean> => isThere(folder).catch(() => false);

const CORE: Core = {
  get version() {
    return packageVersion();
  },
  openJob,
  isSeen,
  remainingTasks,
  jobFailure,
  startPool,
};

/**
 * Submits the job in a folder, and waits until it is done. Several submitters of one job share its tasks. Finished
 * tasks are not repeated, so resubmit a job that was interrupted, or lost with its Redis.
 *
 * @param folder the path of the job, which all workers see
 * @param options the connection to Redis, and the number of attempts
 * @throws TensorError of the first bad index; `malformed-file` for a folder that holds no job; `engine` for a task that
 *   failed as often as it may, a Redis that cannot be reached, packages that are missing; the signal's reason
 *
 * @example
 * ```ts
 * await submitJob("/shared/job", { connection: "redis://127.0.0.1:6379" });
 * ```
 */
export const submitJob = (folder: string, options: SubmitOptions): Promise<void> =>
  submit(CORE, folder, options);

/**
 * Starts a worker in this process, for all jobs of a queue.
 *
 * @param options the connection to Redis, threads, memory and allowed folders
 * @throws TensorError `attribute` for `roots` that are not folders, or missing `roots` with a queue on another machine;
 *   `engine` for a Redis that cannot be reached, and packages that are missing
 *
 * @example
 * ```ts
 * const worker = await createWorker({
 *   connection: "redis://127.0.0.1:6379",
 *   roots: ["/shared"],
 *   threads: 8,
 *   memory: 2 ** 33,
 * });
 * process.once("SIGTERM", () => worker.close());
 * ```
 */
export const createWorker = (options: WorkerOptions): Promise<JobWorker> =>
  startWorker(CORE, options);
