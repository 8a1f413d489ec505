/** Runs tasks of different jobs on threads. The caller must run stages in order. */

import { namesOf, optionsOf, type Signal } from "../../../core/foreign.ts";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { TensorError } from "../../../core/errors.ts";
import { freeSpaceOf, type FreeSpace } from "../job/disk.ts";
import { checkCount } from "../job/request.ts";
import { shareOf } from "../stages/budget.ts";
import type { JobContext } from "../stages/context.ts";
import type { StageName } from "../job/spec.ts";
import { checkRoots, type Roots } from "../job/roots.ts";
import { Presence, type Taker } from "../job/workers.ts";
import { Runner } from "./tasks.ts";
import { receiveError } from "./sent-error.ts";
import type { ReplyMessage, TaskMessage, WorkerOptions } from "./worker.ts";

/** Options of `startPool`. */
export interface PoolOptions {
  /** The number of threads; by default, the number of cores. With 0 threads, tasks run in the calling thread. */
  readonly threads?: number | undefined;
  /** The memory limit of the whole process, in bytes; 1 GiB by default. */
  readonly memory?: number | undefined;
  /** The folders and addresses that jobs and their arrays may use; null, the default, allows all. */
  readonly roots?: Roots | null | undefined;
  /** The kind of process that `workersOf` reports; `run` by default. */
  readonly by?: Taker | undefined;
}

const POOL_OPTIONS = namesOf<PoolOptions>({ threads: true, memory: true, roots: true, by: true });

/** Threads that run the tasks of jobs. */
export interface TaskPool {
  readonly threads: number;
  /**
   * Runs a task as soon as a thread is free. Rejects with the task's error, or with the signal's reason if it aborts
   * before the task begins.
   * @param id the expected id of the job; otherwise the folder's job is refused
   */
  run(folder: string, stage: StageName, task: number, signal?: Signal, id?: string): Promise<void>;
  /** Ends the threads and their running tasks. */
  end(): Promise<void>;
}

export const DEFAULT_MEMORY = 2 ** 30;

/**
 * The size of a thread's young generation, in MB. With Node's default of 48 MB, garbage exceeded a thread's share by up
 * to 75 MB. With 6 MB, the excess was 35 MB and the time the same.
 */
const YOUNG = 6;

/** The path of the worker script, relative to this file or, in the package, to the bundle that contains this file. */
const WORKER = "./worker.js";

interface Pending {
  readonly message: TaskMessage;
  readonly signal: Signal | undefined;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Starts threads that run jobs' tasks.
 * @param options the number of threads, the memory, and the allowed folders
 * @throws TensorError `attribute` unless `memory` and `threads` are positive integers, or `threads` is 0, and for
 *   `roots` that are not two lists
 *
 * @example
 * ```ts
 * await createJob(request); // the request of createJob
 * const pool = startPool({ threads: 0 });
 * await pool.run("job", "partition", 0);
 * await pool.end();
 * console.log(await remainingTasks(await openJob("job"), "partition")); // []
 * ```
 */
export const startPool = (options: PoolOptions = {}): TaskPool => startPoolWith(options);

/**
 * Starts a pool like `startPool`. `freeOf` measures free disk space, and `opened` is a job that is already open, for a
 * pool without threads.
 */
export function startPoolWith(
  options: PoolOptions,
  freeOf: FreeSpace = freeSpaceOf,
  opened?: JobContext,
): TaskPool {
  const {
    threads = availableParallelism(),
    memory = DEFAULT_MEMORY,
    roots = null,
    by = "run",
  } = optionsOf(options, POOL_OPTIONS, {}) as PoolOptions;
  checkCount("memory", memory);
  checkRoots(roots);
  if (threads !== 0) checkCount("threads", threads);
  const presence = new Presence(by, Math.max(1, threads), roots);
  if (threads === 0)
    return poolHere(new Runner(shareOf(memory, 1), roots, freeOf, opened), presence);
  const waiting: Pending[] = [];
  const share = shareOf(memory, threads);
  const slots = Array.from({ length: threads }, () => new Slot({ share, roots }, () => next()));
  let isOver = false;
  const next = (): void => {
    for (const slot of slots) {
      while (slot.task === null && waiting.length > 0) {
        const pending = waiting.shift() as Pending;
        if (pending.signal?.aborted === true) pending.reject(pending.signal.reason);
        else slot.start(pending);
      }
    }
  };
  return {
    threads,
    run: (folder, stage, task, signal, id) =>
      presence.during(folder, id, () => {
        return new Promise((resolve, reject) => {
          if (isOver) return reject(new TensorError("engine", "the thread pool was shut down"));
          const message = { folder, stage, task, id };
          waiting.push({ message, signal, resolve, reject });
          next();
        });
      }),
    async end() {
      isOver = true;
      for (const { reject } of waiting.splice(0)) {
        reject(new TensorError("engine", "the thread pool was shut down"));
      }
      await Promise.all([presence.end(), ...slots.map((slot) => slot.end())]);
    },
  };
}

/** Returns a pool without threads. */
const poolHere = (runner: Runner, presence: Presence): TaskPool => ({
  threads: 1,
  async run(folder, stage, task, signal, id) {
    signal?.throwIfAborted();
    await presence.during(folder, id, () => runner.run(folder, stage, task, id));
  },
  end: () => presence.end(),
});

/** A thread, which starts for its first task and restarts if it is lost. */
class Slot {
  readonly #options: WorkerOptions;
  readonly #onFree: () => void;
  #worker: Worker | null = null;
  /** The running task, or null if the thread is free. */
  task: Pending | null = null;

  constructor(options: WorkerOptions, onFree: () => void) {
    this.#options = options;
    this.#onFree = onFree;
  }

  start(task: Pending): void {
    this.task = task;
    this.#worker ??= this.#make();
    this.#worker.ref();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
    this.#worker.postMessage(task.message);
  }

  async end(): Promise<void> {
    await this.#worker?.terminate();
  }

  #make(): Worker {
    const worker = new Worker(new URL(WORKER, import.meta.url), {
      workerData: this.#options,
      // Node's arguments are not inherited, because `--input-type`, for example, is an error for a program in a file.
      execArgv: [],
      // The option is omitted in Bun, which would print a warning.
      ...(!("bun" in process.versions) && { resourceLimits: { maxYoungGenerationSizeMb: YOUNG } }),
    });
    worker.on("message", ({ error }: ReplyMessage) => {
      const task = this.task;
      this.task = null;
      // An idle thread does not keep the process alive.
      worker.unref();
      if (error === undefined) task?.resolve();
      else task?.reject(receiveError(error));
      this.#onFree();
    });
    worker.on("error", (cause) => this.#lose(cause));
    worker.on("exit", () => this.#lose(undefined));
    return worker;
  }

  #lose(cause: unknown): void {
    const task = this.task;
    this.#worker = null;
    this.task = null;
    const sentence = "a thread ended in the middle of a task";
    task?.reject(new TensorError("engine", sentence, {}, { cause }));
    if (task !== null) this.#onFree();
  }
}
