/**
 * Shares a job with other processes, on this machine or others. A process claims each task with an empty file in the
 * job's folder, which exists while the task runs. Claims are only hints, because a process that is killed leaves its
 * claims behind: a claimed task is put off, and runs again if its process takes too long.
 */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Signal } from "../../../core/foreign.ts";
import { isCode } from "../../boxes/file.ts";
import { isTensorError } from "../../../core/errors.ts";
import { CHUNKED } from "../../../core/limits.ts";
import { remainingTasks, WORKERS, type Job } from "../job/job.ts";
import type { StageName } from "../job/spec.ts";
import { hasSeveralWorkers } from "../job/workers.ts";

/** The number of checks for other processes per renewal interval of their records. */
const LOOKS = 20;

/** The time between looks at a task that another process runs, in ms. */
const POLL = 20;

export interface SharedTasks {
  /** The number of tasks that run at once. */
  readonly threads: number;
  /** Returns true for a task that is done, or is null if a task may be marked before it has ended. */
  readonly isDone: ((task: number) => Promise<boolean>) | null;
  /** Runs a task, or only counts a task that another process has done. */
  run(task: number, isDoneElsewhere: boolean): Promise<void>;
}

/**
 * Runs tasks of a stage together with other processes. After an error, no more tasks begin, and the error is thrown when
 * the running tasks have ended.
 */
export async function shareTasks(
  sharing: Sharing,
  stage: StageName,
  tasks: readonly number[],
  { threads, isDone, run }: SharedTasks,
): Promise<void> {
  let [left, next] = [sharing.isShared ? shuffled(tasks) : tasks, 0];
  const claimed: number[] = [];
  /** The number of tasks of this process, and their time together, in ms. */
  let [own, spent] = [0, 0];
  const runOne = async (task: number): Promise<void> => {
    const isDoneElsewhere = sharing.isShared && isDone !== null && (await isDone(task));
    const start = performance.now();
    await run(task, isDoneElsewhere);
    if (!isDoneElsewhere) [own, spent] = [own + 1, spent + performance.now() - start];
  };
  /** Waits until another process has done a task, for as long as a task takes here. */
  const untilDone = async (task: number): Promise<void> => {
    const until = performance.now() + (own === 0 ? 0 : spent / own);
    for (;;) {
      if (isDone === null || performance.now() >= until || (await isDone(task))) return;
      await sleep(POLL);
    }
  };
  const work = async (): Promise<void> => {
    while (next < left.length) {
      if (await sharing.begins()) [left, next] = [shuffled(left.slice(next)), 0];
      const task = left[next++];
      // Another lane may have taken the last task meanwhile.
      if (task === undefined) return;
      if (!sharing.isShared) await runOne(task);
      else if (await sharing.claim(stage, task))
        await runOne(task).finally(() => sharing.release(stage, task));
      else claimed.push(task);
    }
    for (let task = claimed.shift(); task !== undefined; task = claimed.shift()) {
      await untilDone(task);
      await runOne(task);
    }
  };
  const workers = Array.from({ length: threads }, work);
  try {
    await Promise.all(workers);
  } catch (error) {
    next = left.length;
    claimed.length = 0;
    await Promise.allSettled(workers);
    throw error;
  }
}

/** Notices other processes that run the same job, and claims tasks as soon as the first one is noticed. */
export class Sharing {
  readonly job: Job;
  readonly #claims = new Set<string>();
  #next = 0;
  /** The time until the next look, in ms. The first looks follow each other closely, because runs often begin together. */
  #wait = 1;
  /** True if another process works on the job. */
  isShared = false;

  constructor(job: Job) {
    this.job = job;
  }

  /** Returns true once, as soon as another process records that it works on the job. */
  async begins(): Promise<boolean> {
    if (this.isShared || performance.now() < this.#next) return false;
    this.#wait = Math.min(2 * this.#wait, CHUNKED.record / LOOKS);
    this.#next = performance.now() + this.#wait;
    if (!(await hasSeveralWorkers(this.job)) || this.isShared) return false;
    this.isShared = true;
    return true;
  }

  /** Claims a task. Returns false if another process has claimed it. */
  async claim(stage: StageName, task: number): Promise<boolean> {
    if (stage === "finish") return true;
    try {
      // A link could lead out of the job's folder.
      if (!(await fs.lstat(path.join(this.job.folder, WORKERS))).isDirectory()) return true;
      const file = this.#fileOf(stage, task);
      await fs.writeFile(file, "", { flag: "wx" });
      this.#claims.add(file);
    } catch (error) {
      // The folder is gone if the job is done.
      return !isCode(error, "EEXIST");
    }
    return true;
  }

  /** Ends the claim of a task that has ended. A claim that cannot be removed only delays other processes. */
  async release(stage: StageName, task: number): Promise<void> {
    const file = this.#fileOf(stage, task);
    if (this.#claims.delete(file)) await fs.rm(file).catch(() => {});
  }

  readonly #fileOf = (stage: StageName, task: number): string =>
    path.join(this.job.folder, WORKERS, `${stage}-${task}`);
}

/**
 * Returns tasks in random order. Processes that share a job then rarely claim the same task, and a task that another
 * process has done takes little time.
 */
function shuffled(tasks: readonly number[]): number[] {
  const order = [...tasks];
  for (let last = order.length - 1; last > 0; last--) {
    const at = Math.floor(Math.random() * (last + 1));
    [order[at], order[last]] = [order[last], order[at]];
  }
  return order;
}

/**
 * Runs the last task, which fails while a listing does not show tasks of the other stages. A network file system may
 * take a minute to list the files that other machines have written, so the task is repeated for as long.
 */
export async function untilListed(
  job: Job,
  run: () => Promise<void>,
  signal: Signal | undefined,
): Promise<void> {
  for (let pause = CHUNKED.unlisted / 64; ; pause *= 2) {
    try {
      return await run();
    } catch (error) {
      const isListed = pause >= CHUNKED.unlisted || (await areListed(job));
      if (!isTensorError(error, "engine") || isListed) throw error;
      await sleep(pause, undefined, signal === undefined ? {} : { signal });
    }
  }
}

/** Returns true if a listing shows all tasks before the last stage. */
async function areListed(job: Job): Promise<boolean> {
  for (const { name } of job.stages.slice(0, -1))
    if ((await remainingTasks(job, name)).length > 0) return false;
  return true;
}
