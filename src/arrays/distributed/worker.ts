/** A worker takes jobs from a queue, one at a time, and runs their unfinished tasks together with other workers. */

import { access } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { namesOf, optionsOf } from "../../core/foreign.ts";
import { isError, isTensorError, messageOf, TensorError } from "../../core/errors.ts";
import { DISTRIBUTED } from "../../core/limits.ts";
import { checkCount, checkRunOptions } from "../chunked/job/request.ts";
import { checkFolderIn, rootsFrom, type Roots } from "../chunked/job/roots.ts";
import type { StageName } from "../chunked/job/spec.ts";
import { runWithin, type WorkOptions } from "../chunked/run/run-job.ts";
import { HOST } from "../chunked/job/temporary.ts";
import {
  printFailure,
  printWorker,
  QUEUE,
  readEntry,
  withdrawnKey,
  type EntryData,
} from "./entries.ts";
import { connect, QUEUE_OPTIONS } from "./redis.ts";
import type { Processor, QueueEntry, QueueOptions, QueueWorker, Redis } from "./redis.ts";
import { checkConnection, isLocal, printAddress } from "./redis-url.ts";

/** The finished tasks that a worker reports. */
export interface TasksDone {
  readonly folder: string;
  readonly stage: StageName;
  /** The number of the task. */
  readonly tasks: string;
  readonly seconds: number;
}

/** Options of `createWorker`. */
export interface WorkerOptions extends QueueOptions {
  /** The number of tasks that run at the same time. */
  readonly threads: number;
  /** The memory for all threads together, in bytes. */
  readonly memory: number;
  /**
   * The folders and addresses, such as `s3://bucket/prefix`, in which jobs may read and write. A job outside these
   * roots is refused. Roots are required unless the queue is on this machine, because anyone with access to the queue
   * can name jobs.
   */
  readonly roots?: readonly string[] | undefined;
  /** Called after each task that this worker has run. */
  readonly onDone?: ((tasks: TasksDone) => void) | undefined;
}

const WORKER_OPTIONS = namesOf<WorkerOptions>({
  ...QUEUE_OPTIONS,
  ...{ threads: true, memory: true, roots: true, onDone: true },
});

/** A running worker. */
export interface JobWorker {
  /**
   * Ends the worker. Running tasks finish, and the job returns to the queue.
   * @param patience the time, in ms, after which running tasks are given up; unlimited by default
   */
  close(patience?: number): Promise<void>;
}

/** See `createWorker`. */
export async function startWorker(options: WorkerOptions): Promise<JobWorker> {
  optionsOf(options, WORKER_OPTIONS, {});
  const { connection, roots } = options;
  checkConnection(connection);
  checkCount("threads", options.threads);
  checkCount("memory", options.memory);
  checkRunOptions(options);
  if (roots === undefined && !isLocal(connection)) {
    const sentence =
      `a worker of the queue at ${printAddress(connection)} needs roots, the folders that its jobs may use ` +
      "(ndscatter job worker --root FOLDER), because anyone who can write to the queue can name jobs";
    throw new TensorError("attribute", sentence, { key: "roots" });
  }
  const found = roots === undefined ? null : await rootsFrom(roots);
  return new QueueWork(options, found, await connect(options));
}

class QueueWork implements JobWorker {
  readonly #options: WorkerOptions;
  readonly #roots: Roots | null;
  readonly #redis: Redis;
  readonly #worker: QueueWorker;
  readonly #stop = new AbortController();
  readonly #kill = new AbortController();
  /** The run of the current job, which never rejects. */
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: WorkerOptions, roots: Roots | null, redis: Redis) {
    const { queue = QUEUE, onNote = () => {} } = options;
    this.#options = options;
    this.#roots = roots;
    this.#redis = redis;
    const process: Processor = (entry, token = "") => this.#process(entry, token);
    this.#worker = new redis.bullmq.Worker(queue, process, {
      connection: redis.client,
      lockDuration: DISTRIBUTED.lock,
      stalledInterval: DISTRIBUTED.stalled,
      maxStalledCount: DISTRIBUTED.lost,
      runRetryDelay: 1000,
    });
    // The Redis client reports a lost connection.
    this.#worker.on("error", (error) => {
      if (isError(error) && !("syscall" in error)) onNote(`BullMQ: ${error.message}`);
    });
    this.#worker.on("stalled", () => onNote("a worker has disappeared; others run its tasks"));
  }

  /** Runs the job of an entry until the job is done. Throws an error with the reason of a failure as its message. */
  async #process(entry: QueueEntry, token: string): Promise<void> {
    const { threads, memory, onDone, onNote } = this.#options;
    const { bullmq, client } = this.#redis;
    const withdrawal = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, withdrawal.signal]);
    let timer: NodeJS.Timeout | undefined;
    try {
      const job = readEntry(entry);
      const look = async (): Promise<void> => {
        // A command would wait while Redis is unreachable.
        if (client.status === "ready" && (await client.get(withdrawnKey(job))) !== null)
          withdrawal.abort();
      };
      timer = setInterval(() => void look().catch(() => {}), DISTRIBUTED.withdrawn);
      const work = workOn(job, {
        ...{ threads, memory, signal, onNote, roots: this.#roots, kill: this.#kill.signal },
        by: "queue",
        onTask: (stage, task, seconds) =>
          onDone?.({ folder: job.folder, stage, tasks: String(task), seconds }),
      });
      this.#running = work.catch(() => {});
      await work;
    } catch (error) {
      // The folder contains the error of a bad index.
      const isRecorded = isTensorError(error, "index-out-of-range", "duplicate-index");
      if (withdrawal.signal.aborted || isRecorded) return;
      if (this.#stop.signal.aborted) {
        await entry.moveToWait(token);
        throw new bullmq.WaitingError();
      }
      onNote?.(messageOf(error));
      await sleep(DISTRIBUTED.blind, undefined, { signal }).catch(() => {});
      throw new Error(printFailure(error), { cause: error });
    } finally {
      clearInterval(timer);
    }
  }

  async close(patience = Infinity): Promise<void> {
    this.#stop.abort();
    const late = patience === Infinity ? undefined : setTimeout(() => this.#kill.abort(), patience);
    // The call also waits for Redis. If Redis stays unreachable, the lock of the entry expires.
    const closed = this.#worker.close().catch(() => {});
    await this.#running;
    clearTimeout(late);
    const over = new AbortController();
    await Promise.race([closed, sleep(DISTRIBUTED.goodbye, undefined, over).catch(() => {})]);
    over.abort();
    this.#redis.disconnect();
    // `worker.close` ends with this call, which would never happen while Redis is unreachable.
    await this.#worker.lockManager?.close();
  }
}

/**
 * Runs the unfinished tasks of a job. Throws an `engine` error for errors of this machine, which other machines may not
 * have.
 */
async function workOn({ folder, id }: EntryData, options: WorkOptions): Promise<void> {
  const worker = printWorker(HOST, process.pid);
  if (options.roots) await checkFolderIn(options.roots, folder);
  await access(folder).catch((cause: unknown) => {
    const sentence = `${worker} cannot see ${folder}; all workers need this folder at the same path`;
    throw new TensorError("engine", sentence, {}, { cause });
  });
  await runWithin(folder, options, id).catch((cause: unknown) => {
    if (isTensorError(cause) && cause.code !== "engine") throw cause;
    const sentence = `the job failed on ${worker}: ${messageOf(cause)}`;
    throw new TensorError("engine", sentence, {}, { cause });
  });
}
