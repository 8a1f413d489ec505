/** Runs the tasks that a worker takes from the queue. */

import * as os from "node:os";
import type { StageName } from "../chunked/job/job.ts";
import { MOST_TASKS } from "../chunked/job/spec.ts";
import { isTensorError, messageOf, TensorError, type ErrorCode } from "../../core/errors.ts";
import { DISTRIBUTED } from "../../core/limits.ts";
import type { Clock } from "./clock.ts";
import type { Core } from "./core.ts";
import type { Bullmq, QueuedJob, RedisClient } from "./packages.ts";
import { parseNumbers } from "./ranges.ts";
import { isTakenBack, isWorthRetry, type TaskData } from "./steps.ts";

/** The finished tasks that a worker reports. */
export interface TasksDone {
  readonly folder: string;
  readonly stage: StageName;
  /** A list of task numbers, such as `0-3,7`. */
  readonly tasks: string;
  readonly seconds: number;
}

/** The callbacks of a worker. */
export interface TaskOptions {
  readonly onDone?: ((tasks: TasksDone) => void) | undefined;
  /** Called with a message for each error after which work is repeated. */
  readonly onNote?: ((sentence: string) => void) | undefined;
}

/** Dependencies of a task runner. */
export interface TaskParts {
  readonly core: Core;
  readonly bullmq: Bullmq;
  readonly pool: ReturnType<Core["startPool"]>;
  readonly client: RedisClient;
  readonly clock: Clock;
}

export class TaskRunner {
  readonly #parts: TaskParts;
  readonly #options: TaskOptions;
  readonly #aborted = new AbortController();
  #isStopped = false;
  #running = 0;

  constructor(parts: TaskParts, options: TaskOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /** True while a task is running. */
  get isBusy(): boolean {
    return this.#running > 0;
  }

  get wasAborted(): boolean {
    return this.#aborted.signal.aborted;
  }

  /** Prevents more tasks from beginning. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Aborts the running tasks. */
  abort(): void {
    this.#isStopped = true;
    this.#aborted.abort();
  }

  /** Runs the tasks of a queue entry sequentially. If a finished task runs again, nothing happens. */
  async run(job: QueuedJob, token: string): Promise<void> {
    const { bullmq, client, clock } = this.#parts;
    const { WaitingError, UnrecoverableError } = bullmq;
    const start = clock.now();
    const { folder, stage, tasks, run } = job.data as TaskData;
    const numbers = parseNumbers(tasks, MOST_TASKS);
    if (numbers === null) {
      throw new UnrecoverableError(`the entry ${job.id} of the queue must be a job of ndscatter`);
    }
    const { signal } = this.#aborted;
    for (const task of numbers) {
      // The tasks of one entry run sequentially, while different entries run concurrently.
      // oxlint-disable-next-line no-await-in-loop
      if (await isTakenBack(client, run)) return;
      // oxlint-disable-next-line no-await-in-loop
      await this.#runOne(job, folder, stage, task, signal);
      if (this.#isStopped && (signal.aborted || task !== numbers.at(-1))) {
        // oxlint-disable-next-line no-await-in-loop
        await job.moveToWait(token);
        throw new WaitingError();
      }
    }
    const seconds = (clock.now() - start) / 1000;
    this.#options.onDone?.({ folder, stage, tasks, seconds });
  }

  async #runOne(
    job: QueuedJob,
    folder: string,
    stage: StageName,
    task: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { bullmq, clock, core, pool } = this.#parts;
    this.#running++;
    try {
      // The queue may still contain tasks of a removed job whose folder now contains another job.
      await pool.run(folder, stage, task, signal, (job.data as TaskData).id);
    } catch (error) {
      if (signal.aborted) return;
      await checkSeen(core, clock, folder, error);
      const sentence = sentenceOf(error, stage, task);
      if (isWorthRetry(error)) {
        this.#options.onNote?.(sentence);
        throw new TensorError("engine", sentence, {}, { cause: error });
      }
      const code: ErrorCode = isTensorError(error) ? error.code : "engine";
      await job.updateData({ ...(job.data as object), code });
      throw new bullmq.UnrecoverableError(sentence);
    } finally {
      this.#running--;
    }
  }
}

/**
 * If this machine cannot see the job's folder, the call fails after a delay. Without the delay, this machine would take
 * all tasks before other machines do. The failed task is repeated, perhaps on another machine.
 */
export async function checkSeen(
  core: Pick<Core, "isSeen">,
  clock: Clock,
  folder: string,
  cause: unknown,
): Promise<void> {
  if (await core.isSeen(folder)) return;
  await clock.sleep(DISTRIBUTED.blind);
  const sentence = `${os.hostname()} cannot see ${folder}; all workers need this folder at the same path`;
  throw new TensorError("engine", sentence, {}, { cause });
}

/** Returns the message of an error. If the machine may be the cause, the message names the task and the machine. */
function sentenceOf(error: unknown, stage: StageName, task: number): string {
  const message = messageOf(error);
  return isTensorError(error) && error.code !== "engine"
    ? message
    : `task ${task} of ${stage} failed on ${os.hostname()}: ${message}`;
}
