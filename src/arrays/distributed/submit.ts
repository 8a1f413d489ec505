/** Submits a job to a queue, and waits until the job's folder shows that it is done. */

import { namesOf, optionsOf, type Signal } from "../../core/foreign.ts";
import * as path from "node:path";
import { checkPath, checkRunOptions } from "../chunked/job/arguments.ts";
import type { Job, StageName } from "../chunked/job/job.ts";
import { checkCount } from "../chunked/stages/budget.ts";
import { TensorError } from "../../core/errors.ts";
import { DISTRIBUTED } from "../../core/limits.ts";
import type { Clock } from "./clock.ts";
import { currentStage, finalFailure, type Core } from "./core.ts";
import {
  SURROUNDINGS,
  type Connection,
  type JobQueue,
  type QueuedJob,
  type RedisClient,
  type Surroundings,
} from "./packages.ts";
import { checkConnection } from "./redis-url.ts";
import { WorkerWatch } from "./signs.ts";
import { isTakenBack, ROOT, rootId, runOf, takenBack, type RootData } from "./steps.ts";
import { QUEUE } from "./worker.ts";

/** The progress of a job. */
export interface SubmitProgress {
  readonly stage: StageName;
  /** The number of finished tasks in the stage, out of `tasks`. */
  readonly done: number;
  readonly tasks: number;
  /** The number of workers of the queue, or null before it is known. */
  readonly workers: number | null;
}

/** Options of `submitJob`. */
export interface SubmitOptions {
  /** A URL such as `redis://host:6379`, or ioredis options. */
  readonly connection: Connection;
  /** The queue's name; `ndscatter` by default. */
  readonly queue?: string | undefined;
  /** The number of attempts per task before the job fails; 3 by default. A task with a bad index is never repeated. */
  readonly attempts?: number | undefined;
  /**
   * The number of tasks that a worker takes together and runs sequentially; by default 1, or more for jobs with at
   * least 10,000 tasks.
   */
  readonly tasksPerJob?: number | undefined;
  /**
   * A signal that withdraws the job: running tasks finish, and no further tasks begin unless another submitter waits
   * for the job.
   */
  readonly signal?: Signal | undefined;
  readonly onProgress?: ((progress: SubmitProgress) => void) | undefined;
  /** Called with a message for each error after which work is repeated. */
  readonly onNote?: ((sentence: string) => void) | undefined;
  /** A folder whose `node_modules` contains BullMQ, if BullMQ is not installed next to this package. */
  readonly from?: string | undefined;
}

const SUBMIT_OPTIONS = namesOf<SubmitOptions>({
  connection: true,
  queue: true,
  attempts: true,
  tasksPerJob: true,
  signal: true,
  onProgress: true,
  onNote: true,
  from: true,
});

/** The maximum fraction of time for listing the folder, because NFS takes long to list 10,000 tasks. */
const SHARE = 0.1;

/**
 * Submits a job and waits until the job is done. All submitters of a job share its tasks. If the queue loses tasks
 * because Redis is emptied, the remaining tasks are submitted again. Throws the error that ends the job, such as the
 * error of a bad index or of a task without remaining attempts.
 */
export async function submit(
  core: Core,
  folder: string,
  options: SubmitOptions,
  surroundings: Surroundings = SURROUNDINGS,
): Promise<void> {
  optionsOf(options, SUBMIT_OPTIONS, {});
  const { connection, queue: name = QUEUE, from, onNote = () => {} } = options;
  const { attempts = 3, tasksPerJob = 1 } = options;
  checkCount("attempts", attempts);
  checkCount("tasksPerJob", tasksPerJob);
  checkPath(folder);
  checkConnection(connection);
  checkRunOptions(options);
  // Workers receive an absolute path, because they may run in other folders.
  const job = await core.openJob(path.resolve(folder));
  const bullmq = await surroundings.loadBullmq(from);
  const redis = await surroundings.connect(connection, from, onNote);
  const queue = new bullmq.Queue(name, { connection: redis.client });
  queue.on("error", () => {});
  try {
    const submitted = { ...options, attempts, tasksPerJob };
    const { clock } = surroundings;
    const { client } = redis;
    await new Submission({ core, job, queue, client, clock }, submitted).wait();
  } finally {
    // The connection does not belong to the queue, so both must be closed.
    redis.disconnect();
    await queue.close().catch(() => {});
  }
}

const LEFT_BEHIND =
  "the job could not be withdrawn, because Redis did not answer; its tasks in the queue continue";

type Submitted = SubmitOptions & Required<Pick<SubmitOptions, "attempts" | "tasksPerJob">>;

interface SubmissionParts {
  readonly core: Core;
  readonly job: Job;
  readonly queue: JobQueue;
  readonly client: RedisClient;
  readonly clock: Clock;
}

class Submission {
  readonly #core: Core;
  readonly #job: Job;
  readonly #queue: JobQueue;
  readonly #client: RedisClient;
  readonly #options: Submitted;
  readonly #clock: Clock;
  readonly #watch: WorkerWatch;
  readonly #id: string;
  #differences = 0;
  #workers: number | null = null;
  #countedAt = -Infinity;
  /** True as soon as the queue contains the job. */
  #isBegun = false;
  /** True as soon as Redis has recorded the withdrawal. */
  #isTakenBack = false;
  /** The current check of the queue, if any. */
  #following: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor({ core, job, queue, client, clock }: SubmissionParts, options: Submitted) {
    this.#core = core;
    this.#job = job;
    this.#queue = queue;
    this.#client = client;
    this.#options = options;
    this.#clock = clock;
    const { connection, queue: name = QUEUE, onNote = () => {} } = options;
    const { version } = core;
    this.#watch = new WorkerWatch({ queue, client, name, connection, version, onNote });
    this.#id = rootId(job);
  }

  async wait(): Promise<void> {
    const { signal } = this.#options;
    const current = await currentStage(this.#core, this.#job);
    if (current === null) return;
    const failure = await finalFailure(this.#core, this.#job, current);
    if (failure !== null) throw failure;
    for (;;) {
      /* oxlint-disable no-await-in-loop */
      const start = this.#clock.now();
      if (signal?.aborted) {
        const late = this.#clock.sleep(DISTRIBUTED.withdrawal);
        await Promise.race([this.#withdraw().catch(() => {}), late]);
        if (!this.#isTakenBack) this.#options.onNote?.(LEFT_BEHIND);
        signal.throwIfAborted();
      }
      // The folder and the signal must be checked even if the connection is lost.
      this.#following ??= this.#lookAtQueue();
      if (await this.#isDone()) return;
      const pause = Math.max(DISTRIBUTED.period, (this.#clock.now() - start) / SHARE);
      await this.#clock.sleep(pause, signal).catch(() => {});
      if (this.#failure !== null) throw this.#failure.error;
      /* oxlint-enable no-await-in-loop */
    }
  }

  async #lookAtQueue(): Promise<void> {
    try {
      if (this.#isBegun) await this.#follow();
      else await this.#begin();
      this.#isBegun = true;
    } catch (error) {
      this.#failure = { error };
    }
    this.#following = null;
  }

  /** Adds the root after removing the root of an earlier attempt, because both have the same id. */
  async #begin(): Promise<void> {
    const earlier = await this.#queue.getJob(this.#id);
    if (earlier !== undefined) await this.#clear(earlier);
    await this.#add();
  }

  async #clear(root: QueuedJob): Promise<void> {
    const state = await root.getState();
    if (state !== "failed" && state !== "completed") return;
    // The removal may fail because another submitter has removed the root or added a new root, which can then be used.
    await root.remove({ removeChildren: false }).catch(() => {});
  }

  /** Adds the root unless the queue already contains it. */
  async #add(): Promise<void> {
    const { attempts, tasksPerJob } = this.#options;
    const { folder, id } = this.#job;
    if (this.#options.signal?.aborted) return;
    const { version } = this.#core;
    const data: RootData = { folder, id, version, attempts, tasksPerJob };
    await this.#queue.add(ROOT, data, {
      jobId: this.#id,
      // The root has priority, because it only adds tasks, which are queued behind the tasks of other jobs.
      lifo: true,
      attempts: 3,
      backoff: { type: "exponential", delay: 1000 },
      removeOnComplete: { count: 100 },
      removeOnFail: { count: 100 },
    });
  }

  async #isDone(): Promise<boolean> {
    const current = await currentStage(this.#core, this.#job);
    if (current === null) return true;
    const { stage, remaining } = current;
    const done = stage.tasks - remaining.length;
    const workers = this.#workers;
    this.#options.onProgress?.({ stage: stage.name, done, tasks: stage.tasks, workers });
    return false;
  }

  /** Checks the root in the queue, adds it again if Redis has lost it, and throws its error if it failed. */
  async #follow(): Promise<void> {
    if (this.#clock.now() - this.#countedAt > DISTRIBUTED.count) {
      this.#workers = await this.#watch.look();
      // The interval begins when Redis answers, because reconnecting workers are counted a few seconds later.
      this.#countedAt = this.#clock.now();
    }
    const root = await this.#queue.getJob(this.#id);
    const state = await root?.getState();
    if (root === undefined || state === "unknown") {
      this.#options.onNote?.("the queue has lost the job; the remaining tasks are submitted again");
      await this.#add();
    } else if (state === "failed") {
      const current = await currentStage(this.#core, this.#job);
      if (current === null) return;
      // The job was read before its state changed, so its error may be missing.
      const failed = await this.#queue.getJob(this.#id);
      // Another submitter has already submitted the job again.
      if (failed?.failedReason === undefined) return;
      // The root contains only the message about a bad index, while the folder also contains the coordinates.
      throw (
        (await finalFailure(this.#core, this.#job, current)) ??
        failureOf(failed, failed.failedReason)
      );
    } else if (state === "completed") {
      const isBack = await isTakenBack(this.#client, runOf(root));
      if (!isBack && ++this.#differences <= DISTRIBUTED.differences) return;
      this.#differences = 0;
      await this.#begin();
    }
  }

  /** Records the withdrawal in Redis, so that no further tasks begin, and removes the job from the queue. */
  async #withdraw(): Promise<void> {
    // A root that is just being added must also be withdrawn.
    await this.#following;
    const first = await this.#queue.getJob(this.#id);
    if (first !== undefined)
      await this.#client.set(takenBack(runOf(first)), "", "PX", DISTRIBUTED.takenBack);
    this.#isTakenBack = true;
    // While a worker runs the root, the root cannot be removed. The worker soon finishes this step of the root, so the
    // next attempt succeeds.
    /* oxlint-disable no-await-in-loop */
    for (let root = first; root !== undefined; root = await this.#queue.getJob(this.#id)) {
      // Another submitter has already submitted the job.
      if (runOf(root) !== runOf(first as QueuedJob)) return;
      await root.removeUnprocessedChildren();
      const isRemoved = await root.remove({ removeChildren: false }).then(
        () => true,
        () => false,
      );
      if (isRemoved) return;
      await this.#clock.sleep(100);
    }
    /* oxlint-enable no-await-in-loop */
  }
}

function failureOf({ data }: QueuedJob, sentence: string): TensorError {
  const { code = "engine" } = data as RootData;
  return new TensorError(code, sentence);
}
