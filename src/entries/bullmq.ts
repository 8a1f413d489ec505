/**
 * Runs jobs of `ndscatter/chunked` on many machines, using BullMQ on Redis: workers run the tasks, and the submitter of
 * a job waits for its result. All machines must see the job's folder and its arrays under the same paths. `bullmq` and
 * `ioredis` are optional packages, which are loaded when one of these functions is called.
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

import { submit, type SubmitOptions } from "../arrays/distributed/submit.ts";
import { startWorker, type JobWorker, type WorkerOptions } from "../arrays/distributed/worker.ts";

export type { Connection } from "../arrays/distributed/redis-url.ts";
export type { SubmitOptions, SubmitProgress } from "../arrays/distributed/submit.ts";
export type { JobWorker, TasksDone, WorkerOptions } from "../arrays/distributed/worker.ts";

/**
 * Submits the job in a folder, and waits until it is complete. Several submitters of the same job share its tasks.
 * Finished tasks are not repeated, so resubmit a job that was interrupted or that Redis has lost.
 *
 * @param folder the path of the job folder, which all workers must see
 * @param options the connection to Redis, and the number of attempts
 * @throws TensorError for the first bad index; `malformed-file` if the folder does not contain a job; `engine` if
 *   workers have failed as often as allowed, Redis is unreachable or packages are missing; the signal's reason if the
 *   signal aborts
 *
 * @example
 * ```ts
 * await submitJob("/shared/job", { connection: "redis://127.0.0.1:6379" });
 * ```
 */
export const submitJob = (folder: string, options: SubmitOptions): Promise<void> =>
  submit(folder, options);

/**
 * Starts a worker in this process, for all jobs in a queue.
 *
 * @param options the connection to Redis, threads, memory and allowed folders
 * @throws TensorError `attribute` if `roots` are not folders, or are missing although the queue is on another machine;
 *   `engine` if Redis is unreachable or packages are missing
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
export const createWorker = (options: WorkerOptions): Promise<JobWorker> => startWorker(options);
