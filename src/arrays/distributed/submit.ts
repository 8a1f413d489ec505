/** Submits a job to a queue, and waits until the job's folder shows that it is done. */

import type { Signal } from "../../core/platform-types.ts";
import * as path from "node:path";
import { namesOf, optionsOf } from "../../core/tensor/options.ts";
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

/** Progress of a job. */
export interface SubmitProgress {
  readonly stage: StageName;
  /** The number of finished tasks of the stage, out of `tasks`. */
  readonly done: number;
  readonly tasks: number;
  /** The number of the queue's workers; null until it is known. */
  readonly workers: number | null;
}

/** Options of `submitJob`. */
export interface SubmitOptions {
  /** A URL such as `redis://host:6379`, or options of ioredis. */
  readonly connection: Connection;
  /** The name of the queue; `ndscatter` by default. */
  readonly queue?: string | undefined;
  /**
   * The number of attempts per task before the job fails; 3 by default. A task with a bad index is never tried again.
   */
  readonly attempts?: number | undefined;
  /**
   * The number of tasks that a worker takes at once and runs sequentially; by default 1, or more if the job has 10,000
   * tasks or more.
   */
  readonly tasksPerJob?: number | undefined;
  /** Withdraws the job: running tasks finish, and no others begin unless another submitter waits for the job. */
  readonly signal?: Signal | undefined;
  readonly onProgress?: ((progress: SubmitProgress) => void) | undefined;
  /** Called with a message for each error after which the work is tried again. */
  readonly onNote?: ((sentence: string) => void) | undefined;
  /** A folder whose `node_modules` may contain BullMQ if it is not installed next to this package. */
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

/** Maximum fraction of the time for listing the folder, because NFS takes long to list 10,000 tasks. */
const SHARE = 0.1;

/**
 * Submits the job and waits until it is done. All submitters of a job share its tasks. If Redis is emptied and the
 * queue loses tasks, they are submitted again, because the folder shows which tasks remain.
 * Throws the error that ends the job, such as the error of a bad index or of a task without remaining attempts.
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
  // The path is made absolute, because workers receive it and may run in other folders.
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
    // The queue does not own the connection, so each must be closed.
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
  /** True once the queue has the job. */
  #isBegun = false;
  /** True once Redis has recorded the withdrawal. */
  #isTakenBack = false;
  /** The check of the queue that is in progress, if any. */
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
      // A lost connection must not prevent checking the folder or the signal.
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

  /** Adds the root, after removing the root of an earlier attempt, because ids are fixed. */
  async #begin(): Promise<void> {
    const earlier = await this.#queue.getJob(this.#id);
    if (earlier !== undefined) await this.#clear(earlier);
    await this.#add();
  }

  async #clear(root: QueuedJob): Promise<void> {
    const state = await root.getState();
    if (state !== "failed" && state !== "completed") return;
    // Removal may fail because another submitter has removed the root, or added a new root, which can be used instead.
    await root.remove({ removeChildren: false }).catch(() => {});
  }

  /** Adds the root, unless the queue already has it. */
  async #add(): Promise<void> {
    const { attempts, tasksPerJob } = this.#options;
    const { folder, id } = this.#job;
    if (this.#options.signal?.aborted) return;
    const { version } = this.#core;
    const data: RootData = { folder, id, version, attempts, tasksPerJob };
    await this.#queue.add(ROOT, data, {
      jobId: this.#id,
      // The root has priority, because it only adds tasks, which queue behind tasks of other jobs.
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

  /** Checks the root in the queue: adds it again if Redis has lost it, and throws its error if it failed. */
  async #follow(): Promise<void> {
    if (this.#clock.now() - this.#countedAt > DISTRIBUTED.count) {
      this.#workers = await this.#watch.look();
      // The interval begins when Redis answers, because connections that Redis has lost are counted again a few seconds
      // later.
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
      // The job was read before its state, so its error may be missing.
      const failed = await this.#queue.getJob(this.#id);
      // Another submitter has submitted the job again in the meantime.
      if (failed?.failedReason === undefined) return;
      // The root has only the message of a bad index; the folder also has its coordinates.
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

  /** Records the withdrawal in Redis, so that no more tasks of the job begin, and removes the job from the queue. */
  async #withdraw(): Promise<void> {
    // If the root is being added, it is withdrawn as well.
    await this.#following;
    const first = await this.#queue.getJob(this.#id);
    if (first !== undefined)
      await this.#client.set(takenBack(runOf(first)), "", "PX", DISTRIBUTED.takenBack);
    this.#isTakenBack = true;
    // A root that a worker is running cannot be removed. The worker soon ends the root or makes it wait, so the next
    // attempt succeeds.
    /* oxlint-disable no-await-in-loop */
    for (let root = first; root !== undefined; root = await this.#queue.getJob(this.#id)) {
      // Another submitter has submitted the job in the meantime.
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
