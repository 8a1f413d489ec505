/** A worker: takes tasks of all jobs of a queue, and runs them in its pool of threads. */

import * as fs from "node:fs/promises";
import * as os from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { StageName } from "../chunked/job/job.ts";
import { checkFolderIn, rootsFrom, type Roots } from "../chunked/job/roots.ts";
import { MOST_TASKS } from "../chunked/job/spec.ts";
import type { TaskPool } from "../chunked/run/pool.ts";
import { isTensorError, messageOf, TensorError, type ErrorCode } from "../../core/errors.ts";
import { DISTRIBUTED } from "../../core/limits.ts";
import type { Core } from "./core.ts";
import {
  connect,
  loadBullmq,
  printAddress,
  type Connection,
  type RedisConnection,
  type JobQueue,
  type Processor,
  type QueuedJob,
  type QueueWorker,
} from "./packages.ts";
import { isLocal } from "./probe.ts";
import { parseNumbers } from "./ranges.ts";
import {
  isEntry,
  isWorthRetry,
  otherJob,
  ROOT,
  stepRoot,
  type RootData,
  type TaskData,
} from "./steps.ts";

/** The name of the queue where none is given. */
export const QUEUE = "ndscatter";

/** Tasks that a worker has done. */
export interface TasksDone {
  readonly folder: string;
  readonly stage: StageName;
  /** Such as `0-3,7`. */
  readonly tasks: string;
  readonly seconds: number;
}

export interface WorkerOptions {
  /** A URL such as `redis://host:6379`, or options of ioredis. */
  readonly connection: Connection;
  /** The name of the queue; `ndscatter` by default. */
  readonly queue?: string;
  /** How many tasks run at once. */
  readonly threads: number;
  /** Bytes that all threads together may use. */
  readonly memory: number;
  /**
   * Folders that hold jobs and their arrays, and addresses such as `s3://bucket/prefix`: a job that lies or reads or writes
   * elsewhere is refused. Needed unless the queue is on this machine, because whoever can write to the queue names the jobs.
   */
  readonly roots?: readonly string[];
  /** A folder whose `node_modules` may hold BullMQ, where the package's own do not. */
  readonly from?: string;
  readonly onDone?: (tasks: TasksDone) => void;
  /** Called with a sentence about each error after which the work is tried again. */
  readonly onNote?: (sentence: string) => void;
}

export interface JobWorker {
  /**
   * Ends the worker: tasks that run are finished, those that have not begun go back to the queue.
   * @param patience milliseconds after which tasks that still run are given back as well; unlimited by default
   */
  close(patience?: number): Promise<void>;
}

/**
 * A task may lose its worker so many times, on machines that come and go. A task that needs more memory than there is
 * loses each, and must fail in the end.
 */
const MAX_STALLED_COUNT = 10;

type Bullmq = Awaited<ReturnType<typeof loadBullmq>>;

export async function startWorker(core: Core, options: WorkerOptions): Promise<JobWorker> {
  const { connection, queue: name = QUEUE, threads, memory, from, onNote = () => {} } = options;
  const roots = await rootsOf(options);
  const bullmq = await loadBullmq(from);
  const redis = await connect(connection, from, onNote);
  const { client } = redis;
  const pool = core.startPool({ threads, memory, roots });
  const queue = new bullmq.Queue(name, { connection: client });
  const runner = new TaskRunner(core, bullmq, pool, options);
  const process: Processor = async (job, token = "") => {
    await checkEntry(bullmq, roots, job);
    return job.name === ROOT ? runRoot(core, bullmq, queue, job, token) : runner.run(job, token);
  };
  const worker = new bullmq.Worker(name, process, {
    connection: client,
    concurrency: threads,
    lockDuration: DISTRIBUTED.lock,
    stalledInterval: DISTRIBUTED.stalled,
    maxStalledCount: MAX_STALLED_COUNT,
    runRetryDelay: 1000,
  });
  noteErrors(worker, queue, onNote);
  const close = (patience: number): Promise<void> =>
    closeAll({ runner, worker, queue, pool, redis }, patience);
  return { close: (patience = Infinity) => close(patience) };
}

/** @throws TensorError `attribute` for roots that are missing or wrong */
async function rootsOf({ connection, roots }: WorkerOptions): Promise<Roots | null> {
  if (roots !== undefined) return rootsFrom(roots);
  if (isLocal(connection)) return null;
  const sentence =
    `a worker of the queue at ${printAddress(connection)} needs roots, the folders that its jobs may use ` +
    "(ndscatter job worker --root FOLDER): whoever can write to the queue names the jobs";
  throw new TensorError("attribute", sentence);
}

/**
 * Looks at what the queue says before anything is opened.
 * @throws UnrecoverableError for an entry that is not of a job, or of one outside of the roots
 */
async function checkEntry(
  { UnrecoverableError }: Bullmq,
  roots: Roots | null,
  job: QueuedJob,
): Promise<void> {
  if (!isEntry(job))
    throw new UnrecoverableError(`the entry ${job.id} of the queue must be a job of ndscatter`);
  if (roots === null) return;
  const { folder } = job.data as TaskData;
  try {
    await checkFolderIn(roots, folder);
  } catch (error) {
    await job.updateData({ ...(job.data as object), code: "attribute" });
    throw new UnrecoverableError(messageOf(error));
  }
}

/** Losses of the connection are noted by the connection itself. */
function noteErrors(worker: QueueWorker, queue: JobQueue, onNote: (sentence: string) => void) {
  for (const emitter of [worker, queue]) {
    emitter.on("error", (error) => {
      if (error instanceof Error && !("syscall" in error)) onNote(`BullMQ: ${error.message}`);
    });
  }
  worker.on("stalled", (id) => onNote(`a worker is gone; its tasks are run again (${String(id)})`));
}

interface Parts {
  readonly runner: TaskRunner;
  readonly worker: QueueWorker;
  readonly queue: JobQueue;
  readonly pool: Pick<TaskPool, "run" | "end">;
  readonly redis: RedisConnection;
}

async function closeAll({ runner, worker, queue, pool, redis }: Parts, patience: number) {
  runner.stop();
  const giveUp = (): void => {
    runner.abort();
    void pool.end();
  };
  const alarm = patience === Infinity ? undefined : setTimeout(giveUp, patience);
  const over = new AbortController();
  try {
    // Closing a worker waits for Redis. If Redis is gone, the worker's locks expire by themselves.
    const closed = worker.close().then(() => queue.close());
    await Promise.race([closed, untilLost(redis, runner, over.signal)]);
  } finally {
    over.abort();
    clearTimeout(alarm);
    redis.disconnect();
    // `worker.close` does this last, so it never does it while Redis is gone.
    await worker.lockManager?.close();
    await pool.end();
  }
}

/** Milliseconds between two checks of a worker that is ending. */
const LOOK = 50;

/**
 * Waits until no task runs and Redis has been gone for `goodbye` milliseconds. A worker that gives tasks back has the same
 * time for it.
 */
async function untilLost(
  redis: RedisConnection,
  runner: TaskRunner,
  signal: AbortSignal,
): Promise<void> {
  let lastSeen = performance.now();
  while (performance.now() - lastSeen < DISTRIBUTED.goodbye && !signal.aborted) {
    // oxlint-disable-next-line no-await-in-loop
    await sleep(LOOK);
    if (runner.isBusy || (redis.isReady && !runner.wasAborted)) lastSeen = performance.now();
  }
}

/** @throws UnrecoverableError for what another attempt would meet too */
async function runRoot(
  core: Core,
  { UnrecoverableError, WaitingChildrenError }: Bullmq,
  queue: JobQueue,
  root: QueuedJob,
  token: string,
): Promise<void> {
  const step = await stepRoot(core, queue, root, token).catch(async (error: unknown) => {
    await checkSeen((root.data as RootData).folder, error);
    throw error;
  });
  if (step === "done") return;
  if (step === "waiting") throw new WaitingChildrenError();
  const { sentence, code } = step;
  await root.updateData({ ...(root.data as object), code });
  throw new UnrecoverableError(sentence);
}

class TaskRunner {
  readonly #core: Core;
  readonly #bullmq: Bullmq;
  readonly #pool: Pick<TaskPool, "run" | "end">;
  readonly #options: WorkerOptions;
  readonly #aborted = new AbortController();
  #isStopped = false;
  #running = 0;

  constructor(
    core: Core,
    bullmq: Bullmq,
    pool: Pick<TaskPool, "run" | "end">,
    options: WorkerOptions,
  ) {
    this.#core = core;
    this.#bullmq = bullmq;
    this.#pool = pool;
    this.#options = options;
  }

  /** True while a task runs. */
  get isBusy(): boolean {
    return this.#running > 0;
  }

  get wasAborted(): boolean {
    return this.#aborted.signal.aborted;
  }

  /** Begins no more tasks. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Gives up the tasks that run. */
  abort(): void {
    this.#isStopped = true;
    this.#aborted.abort();
  }

  /** Runs the tasks of a job, one after the other. A task that is done does nothing when it is run again. */
  async run(job: QueuedJob, token: string): Promise<void> {
    const { WaitingError, UnrecoverableError } = this.#bullmq;
    const start = performance.now();
    const { folder, stage, tasks } = job.data as TaskData;
    const numbers = parseNumbers(tasks, MOST_TASKS);
    if (numbers === null) {
      throw new UnrecoverableError(`the entry ${job.id} of the queue must be a job of ndscatter`);
    }
    const { signal } = this.#aborted;
    for (const task of numbers) {
      // Other tasks run beside this one in other jobs.
      // oxlint-disable-next-line no-await-in-loop
      await this.#runOne(job, folder, stage, task, signal);
      if (this.#isStopped && (signal.aborted || task !== numbers.at(-1))) {
        // oxlint-disable-next-line no-await-in-loop
        await job.moveToWait(token);
        throw new WaitingError();
      }
    }
    const seconds = (performance.now() - start) / 1000;
    this.#options.onDone?.({ folder, stage, tasks, seconds });
  }

  /** Refuses tasks of a job that was removed: the queue may still hold them, and the folder may hold another job by now. */
  async #checkJob({ folder, id }: TaskData): Promise<void> {
    const job = await this.#core.openJob(folder);
    if (job.id !== id) throw new TensorError("attribute", otherJob(folder, id));
  }

  async #runOne(
    job: QueuedJob,
    folder: string,
    stage: StageName,
    task: number,
    signal: AbortSignal,
  ): Promise<void> {
    this.#running++;
    try {
      await this.#checkJob(job.data as TaskData);
      await this.#pool.run(folder, stage, task, signal);
    } catch (error) {
      if (signal.aborted) return;
      await checkSeen(folder, error);
      const sentence = sentenceOf(error, stage, task);
      if (isWorthRetry(error)) {
        this.#options.onNote?.(sentence);
        throw new TensorError("engine", sentence, {}, { cause: error });
      }
      const code: ErrorCode = isTensorError(error) ? error.code : "engine";
      await job.updateData({ ...(job.data as object), code });
      throw new this.#bullmq.UnrecoverableError(sentence);
    } finally {
      this.#running--;
    }
  }
}

/**
 * A machine that does not see the folder fails at once, and would take all tasks before the others do. So it waits, and
 * the task is tried again, perhaps elsewhere.
 */
async function checkSeen(folder: string, cause: unknown): Promise<void> {
  try {
    await fs.access(folder);
  } catch {
    await sleep(DISTRIBUTED.blind);
    const sentence = `${os.hostname()} does not see ${folder}; workers need it under the same path`;
    throw new TensorError("engine", sentence, {}, { cause });
  }
}

/** The sentence of an error. One that may come from the machine names the task and the machine. */
function sentenceOf(error: unknown, stage: StageName, task: number): string {
  const message = messageOf(error);
  return isTensorError(error) && error.code !== "engine"
    ? message
    : `task ${task} of ${stage} failed on ${os.hostname()}: ${message}`;
}
