/** Submits a job to a queue, and waits until the job's folder shows that it is done. */

import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { namesOf, optionsOf, type Signal } from "../../core/foreign.ts";
import type { TensorError } from "../../core/errors.ts";
import { DISTRIBUTED } from "../../core/limits.ts";
import { checkCount, checkPath, checkRunOptions } from "../chunked/job/request.ts";
import { jobFailure, openJob, remainingTasks, type Job } from "../chunked/job/job.ts";
import type { StageName } from "../chunked/job/spec.ts";
import { workersOf, type JobWorkerFacts } from "../chunked/job/workers.ts";
import { failureOf, keyOf, printWorker, QUEUE, withdrawnKey, workerIn } from "./entries.ts";
import type { EntryData } from "./entries.ts";
import { connect, QUEUE_OPTIONS, type JobQueue, type QueueOptions, type Redis } from "./redis.ts";
import { checkConnection, printAddress } from "./redis-url.ts";

/** The progress of a job. */
export interface SubmitProgress {
  readonly stage: StageName;
  /** The number of finished tasks in the stage, out of `tasks`. */
  readonly done: number;
  readonly tasks: number;
  /** The number of processes that work on the job, or null before it is known. */
  readonly workers: number | null;
}

/** Options of `submitJob`. */
export interface SubmitOptions extends QueueOptions {
  /**
   * The number of times that workers may fail, for example because a disk is full, before the job fails; 3 by default.
   * The count begins again when a task is finished, and pauses while another worker is at work. A bad index or a damaged
   * file ends the job at once.
   */
  readonly attempts?: number | undefined;
  /**
   * A signal that withdraws the job: running tasks finish, and no further tasks begin unless another submitter waits
   * for the job.
   */
  readonly signal?: Signal | undefined;
  readonly onProgress?: ((progress: SubmitProgress) => void) | undefined;
}

const SUBMIT_OPTIONS = namesOf<SubmitOptions>({
  ...QUEUE_OPTIONS,
  ...{ attempts: true, signal: true, onProgress: true },
});

/** The maximum fraction of time for listing the folder, because NFS takes long to list 10,000 tasks. */
const SHARE = 0.1;

/** See `submitJob`. */
export async function submit(folder: string, options: SubmitOptions): Promise<void> {
  optionsOf(options, SUBMIT_OPTIONS, {});
  const { connection, queue: name = QUEUE, attempts = 3 } = options;
  checkCount("attempts", attempts);
  checkPath(folder);
  checkConnection(connection);
  checkRunOptions(options);
  // Workers receive an absolute path, because they may run in other folders.
  const job = await openJob(path.resolve(folder));
  const { bullmq, client, disconnect } = await connect(options);
  const queue = new bullmq.Queue(name, { connection: client });
  queue.on("error", () => {});
  try {
    const all = { onNote: () => {}, ...options, attempts };
    const submission = new Submission({ job, queue, client, options: all });
    await submission.wait().finally(() => submission.end());
  } finally {
    // The connection does not belong to the queue, so both must be closed.
    disconnect();
    await queue.close().catch(() => {});
  }
}

type Progress = Omit<SubmitProgress, "workers">;

/** Returns the progress of a job, or null if the job is done. Throws the error of the first bad index. */
async function progressOf(job: Job): Promise<Progress | null> {
  for (const { name: stage, tasks } of job.stages) {
    // oxlint-disable-next-line no-await-in-loop -- a few stages
    const { length: left } = await remainingTasks(job, stage);
    if (left === 0) continue;
    // The error is final when the stage that checks indices is done, and the next stage has not begun.
    // oxlint-disable-next-line no-await-in-loop
    const failure = left === tasks ? await jobFailure(job) : null;
    if (failure !== null) throw failure;
    return { stage, done: tasks - left, tasks };
  }
  return null;
}

const LEFT_BEHIND =
  "the job could not be withdrawn, because Redis did not answer; its tasks in the queue continue";

interface Parts {
  readonly job: Job;
  readonly queue: JobQueue;
  readonly client: Redis["client"];
  readonly options: SubmitOptions & Required<Pick<SubmitOptions, "attempts" | "onNote">>;
}

class Submission {
  readonly #parts: Parts;
  readonly #ids: readonly string[];
  #progress: Progress | null = null;
  #workers: number | null = null;
  /** The current look at the queue, if any. */
  #looking: Promise<void> | null = null;
  #lookedAt = 0;
  #failure: { readonly error: unknown } | null = null;
  /** The progress at the last failure, the workers that have failed since then, and the number of failures. */
  #failedAt = "";
  readonly #failed = new Set<string | null>();
  #failures = 0;
  #idle = 0;

  constructor(parts: Parts) {
    const { job } = parts;
    this.#parts = parts;
    const length = Math.min(DISTRIBUTED.entries, Math.max(...job.stages.map(({ tasks }) => tasks)));
    // With fixed ids, the queue contains each entry only once, no matter how often and by whom it is added.
    this.#ids = Array.from({ length }, (_, nth) => `${keyOf(job)}-${nth}`);
  }

  async wait(): Promise<void> {
    const { signal, onProgress } = this.#parts.options;
    for (;;) {
      /* oxlint-disable no-await-in-loop */
      const start = performance.now();
      signal?.throwIfAborted();
      this.#progress = await progressOf(this.#parts.job);
      if (this.#progress === null) return;
      if (this.#failure !== null) throw this.#failure.error;
      onProgress?.({ ...this.#progress, workers: this.#workers });
      // The folder and the signal must be checked even if the connection is lost, so the look is not awaited.
      const isDue = this.#lookedAt === 0 || start - this.#lookedAt >= DISTRIBUTED.look;
      if (this.#looking === null && isDue)
        this.#looking = this.#look()
          .catch((error: unknown) => void (this.#failure = { error }))
          .finally(() => {
            this.#looking = null;
            this.#lookedAt = performance.now();
          });
      const pause = Math.max(DISTRIBUTED.period, (performance.now() - start) / SHARE);
      await sleep(pause, undefined, signal === undefined ? {} : { signal }).catch(() => {});
      /* oxlint-enable no-await-in-loop */
    }
  }

  /** Adds the entries that the queue does not contain, and checks why workers have failed. */
  async #look(): Promise<void> {
    const { job, queue, client, options } = this.#parts;
    const all = await queue.getFailed(0, -1);
    const failed = all.filter(({ id = "" }) => this.#ids.includes(id));
    const here = await workersOf(job).catch(() => []);
    // Entries that failed before this submission are replaced.
    if (failed.length > 0 && this.#lookedAt > 0) this.#count(failed.map(failureOf), here);
    await Promise.all(failed.map(({ id = "" }) => queue.remove(id)));
    if (options.signal?.aborted) return;
    await client.del(withdrawnKey(job));
    const { folder, id } = job;
    const entries = this.#ids.map((jobId) => ({
      name: "job",
      data: { folder, id } satisfies EntryData,
      opts: { jobId, removeOnComplete: true, removeOnFail: { age: 7 * 24 * 3600, count: 1000 } },
    }));
    await queue.addBulk(entries);
    await this.#noteIdle(here.length);
  }

  /**
   * Throws an error that ends the job. Other errors are reported, and counted unless a worker that has not failed is at
   * work, because its task may take long.
   */
  #count(errors: readonly TensorError[], here: readonly JobWorkerFacts[]): void {
    const { attempts, onNote } = this.#parts.options;
    const error = errors.find(({ code }) => code !== "engine") ?? errors[0];
    if (error === undefined) return;
    if (error.code !== "engine") throw error;
    const now = JSON.stringify(this.#progress);
    if (now !== this.#failedAt) {
      [this.#failures, this.#failedAt] = [0, now];
      this.#failed.clear();
    }
    const names = errors.map(({ message }) => workerIn(message));
    for (const name of names) this.#failed.add(name);
    const isAlone = here.every(({ host, process }) => this.#failed.has(printWorker(host, process)));
    if (isAlone || names.includes(null)) this.#failures++;
    if (this.#failures >= attempts) throw error;
    onNote(error.message);
  }

  /** Reports once that no process works on the job. */
  async #noteIdle(workers: number): Promise<void> {
    const { connection, queue: name = QUEUE, onNote } = this.#parts.options;
    this.#workers = workers;
    this.#idle = workers === 0 ? this.#idle + 1 : 0;
    // Workers may just be about to take their entries.
    if (this.#idle !== 2) return;
    const where = `the queue ${name} of Redis at ${printAddress(connection)}`;
    onNote(
      (await this.#parts.queue.isPaused())
        ? `${where} is paused, so workers take no jobs until it is resumed`
        : `no worker of ${where} works on the job; start one (ndscatter job worker), or wait until one is free`,
    );
  }

  /** Removes the entries that no worker holds. If the signal has aborted, Redis records it, so that workers stop. */
  async end(): Promise<void> {
    const { job, queue, client, options } = this.#parts;
    const isWithdrawn = options.signal?.aborted ?? false;
    const remove = async (): Promise<boolean> => {
      // Entries that are just being added must also be removed.
      await this.#looking;
      if (isWithdrawn) await client.set(withdrawnKey(job), "", "PX", DISTRIBUTED.takenBack);
      await Promise.all(this.#ids.map((id) => queue.remove(id)));
      return true;
    };
    const late = sleep(DISTRIBUTED.withdrawal, false, { ref: false });
    const isRemoved = await Promise.race([remove().catch(() => false), late]);
    if (isWithdrawn && !isRemoved) options.onNote(LEFT_BEHIND);
  }
}
