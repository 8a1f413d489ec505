/** A worker takes tasks of any job from a queue and runs them in a thread pool. */

import * as os from "node:os";
import { namesOf, optionsOf } from "../../core/foreign.ts";
import { checkRunOptions } from "../chunked/job/arguments.ts";
import { checkCount } from "../chunked/stages/budget.ts";
import { checkFolderIn, rootsFrom, type Roots } from "../chunked/job/roots.ts";
import type { TaskPool } from "../chunked/run/pool.ts";
import { isError, messageOf, TensorError, type ErrorCode } from "../../core/errors.ts";
import { DISTRIBUTED } from "../../core/limits.ts";
import type { Clock } from "./clock.ts";
import type { Core } from "./core.ts";
import {
  printAddress,
  SURROUNDINGS,
  type Bullmq,
  type Connection,
  type RedisConnection,
  type JobQueue,
  type Processor,
  type QueuedJob,
  type QueueWorker,
  type Surroundings,
} from "./packages.ts";
import { checkConnection } from "./redis-url.ts";
import { isLocal } from "./probe.ts";
import { giveSigns, workerName } from "./signs.ts";
import { isEntry, ROOT, stepRoot, type RootData, type StepParts, type TaskData } from "./steps.ts";
import { checkSeen, TaskRunner, type TasksDone } from "./task-runner.ts";

/** The default queue name. */
export const QUEUE = "ndscatter";

/** Options of `createWorker`. */
export interface WorkerOptions {
  /** A URL such as `redis://host:6379`, or ioredis options. */
  readonly connection: Connection;
  /** The queue's name; `ndscatter` by default. */
  readonly queue?: string | undefined;
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
  /** A folder whose `node_modules` contains BullMQ, if BullMQ is not installed next to this package. */
  readonly from?: string | undefined;
  readonly onDone?: ((tasks: TasksDone) => void) | undefined;
  /** Called with a message for each error after which work is repeated. */
  readonly onNote?: ((sentence: string) => void) | undefined;
}

const WORKER_OPTIONS = namesOf<WorkerOptions>({
  connection: true,
  queue: true,
  threads: true,
  memory: true,
  roots: true,
  from: true,
  onDone: true,
  onNote: true,
});

/** A running worker. */
export interface JobWorker {
  /**
   * Ends the worker. Running tasks finish, and other tasks return to the queue.
   * @param patience the time, in ms, after which running tasks also return to the queue; unlimited by default
   */
  close(patience?: number): Promise<void>;
}

/**
 * The maximum number of workers that a task may lose, because machines may come and go. The number must be limited,
 * because a task that exceeds memory kills every worker that runs it.
 */
const MAX_STALLED_COUNT = 10;

export async function startWorker(
  core: Core,
  options: WorkerOptions,
  surroundings: Surroundings = SURROUNDINGS,
): Promise<JobWorker> {
  optionsOf(options, WORKER_OPTIONS, {});
  const { connection, queue: name = QUEUE, threads, memory, from, onNote = () => {} } = options;
  checkConnection(connection);
  checkCount("threads", threads);
  checkCount("memory", memory);
  checkRunOptions(options);
  const roots = await rootsOf(options);
  const { clock } = surroundings;
  const bullmq = await surroundings.loadBullmq(from);
  const redis = await surroundings.connect(connection, from, onNote);
  const { client } = redis;
  const pool = core.startPool({ threads, memory, roots, by: "queue" });
  const queue = new bullmq.Queue(name, { connection: client });
  const sign = workerName(core.version);
  const over = new AbortController();
  void giveSigns(client, sign, clock, over.signal);
  const runner = new TaskRunner({ core, bullmq, pool, client, clock }, options);
  const process: Processor = async (job, token = "") => {
    await checkEntry(core, bullmq, roots, job);
    return job.name === ROOT
      ? runRoot({ core, bullmq, queue, client, clock }, job, token)
      : runner.run(job, token);
  };
  const worker = new bullmq.Worker(name, process, {
    connection: client,
    name: sign,
    concurrency: threads,
    lockDuration: DISTRIBUTED.lock,
    stalledInterval: DISTRIBUTED.stalled,
    maxStalledCount: MAX_STALLED_COUNT,
    runRetryDelay: 1000,
  });
  noteErrors(worker, queue, onNote);
  const close = (patience: number): Promise<void> => {
    const closed = closeAll({ runner, worker, queue, pool, redis, clock }, patience);
    return closed.finally(() => over.abort());
  };
  return { close: (patience = Infinity) => close(patience) };
}

/** Throws an `attribute` error if roots are missing or invalid. */
async function rootsOf({ connection, roots }: WorkerOptions): Promise<Roots | null> {
  if (roots !== undefined) return rootsFrom(roots);
  if (isLocal(connection)) return null;
  const sentence =
    `a worker of the queue at ${printAddress(connection)} needs roots, the folders that its jobs may use ` +
    "(ndscatter job worker --root FOLDER), because anyone who can write to the queue can name jobs";
  throw new TensorError("attribute", sentence, { key: "roots" });
}

/**
 * Checks a queue entry before opening any file. Throws an UnrecoverableError for an invalid entry, and for a job
 * outside the roots.
 */
async function checkEntry(
  core: Core,
  { UnrecoverableError }: Bullmq,
  roots: Roots | null,
  job: QueuedJob,
): Promise<void> {
  if (!isEntry(job))
    throw new UnrecoverableError(`the entry ${job.id} of the queue must be a job of ndscatter`);
  const { folder, version } = job.data as TaskData & { readonly version?: unknown };
  if (version !== core.version) {
    await job.updateData({ ...(job.data as object), code: "engine" satisfies ErrorCode });
    throw new UnrecoverableError(otherVersion(core.version, version));
  }
  if (roots === null) return;
  try {
    await checkFolderIn(roots, folder);
  } catch (error) {
    await job.updateData({ ...(job.data as object), code: "attribute" });
    throw new UnrecoverableError(messageOf(error));
  }
}

/** `version` is the submitter's version, as an untrusted text. */
function otherVersion(own: string, version: unknown): string {
  const other =
    typeof version === "string" ? `ndscatter ${version.slice(0, 40)}` : "an older ndscatter";
  return (
    `the worker on ${os.hostname()} has ndscatter ${own}, but the job was submitted by ${other}; ` +
    "use one version on all machines"
  );
}

/** Reports the errors of a worker, except for a lost connection, which the Redis client reports. */
function noteErrors(worker: QueueWorker, queue: JobQueue, onNote: (sentence: string) => void) {
  for (const emitter of [worker, queue]) {
    emitter.on("error", (error) => {
      if (isError(error) && !("syscall" in error)) onNote(`BullMQ: ${error.message}`);
    });
  }
  worker.on("stalled", (id) =>
    onNote(`a worker has disappeared; its tasks will run again (${String(id)})`),
  );
}

interface Parts {
  readonly runner: TaskRunner;
  readonly worker: QueueWorker;
  readonly queue: JobQueue;
  readonly pool: Pick<TaskPool, "run" | "end">;
  readonly redis: RedisConnection;
  readonly clock: Clock;
}

async function closeAll({ runner, worker, queue, pool, redis, clock }: Parts, patience: number) {
  runner.stop();
  const giveUp = (): void => {
    runner.abort();
    void pool.end();
  };
  const over = new AbortController();
  if (patience !== Infinity) clock.sleep(patience, over.signal).then(giveUp, () => {});
  try {
    // The call that closes a worker waits for Redis. If Redis stays unreachable, the worker's locks expire.
    const closed = worker.close().then(() => queue.close());
    await Promise.race([closed, untilLost(redis, runner, clock, over.signal)]);
  } finally {
    over.abort();
    redis.disconnect();
    // `worker.close` ends with this call, which would never happen while Redis is unreachable.
    await worker.lockManager?.close();
    await pool.end();
  }
}

/** The interval between checks of a closing worker, in ms. */
const LOOK = 50;

/**
 * Waits until no task is running and Redis has been unreachable for `goodbye` ms. The limit for returning tasks to the
 * queue is the same.
 */
async function untilLost(
  redis: RedisConnection,
  runner: TaskRunner,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  let lastSeen = clock.now();
  while (clock.now() - lastSeen < DISTRIBUTED.goodbye && !signal.aborted) {
    // oxlint-disable-next-line no-await-in-loop
    await clock.sleep(LOOK);
    if (runner.isBusy || (redis.isReady && !runner.wasAborted)) lastSeen = clock.now();
  }
}

interface RootParts extends StepParts {
  readonly bullmq: Bullmq;
}

/** Throws an UnrecoverableError if every further attempt would fail in the same way. */
async function runRoot(
  { bullmq, ...parts }: RootParts,
  root: QueuedJob,
  token: string,
): Promise<void> {
  const { UnrecoverableError, WaitingChildrenError } = bullmq;
  const step = await stepRoot(parts, root, token).catch(async (error: unknown) => {
    await checkSeen(parts.core, parts.clock, (root.data as RootData).folder, error);
    throw error;
  });
  if (step === "done") return;
  if (step === "waiting") throw new WaitingChildrenError();
  const { sentence, code } = step;
  await root.updateData({ ...(root.data as object), code });
  throw new UnrecoverableError(sentence);
}
