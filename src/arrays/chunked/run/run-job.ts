/** Runs a job's remaining tasks, stage by stage, on threads of this process. */

import { readFileSync } from "node:fs";
import { namesOf, optionsOf, printAmount, type Signal } from "../../../core/foreign.ts";
import { availableParallelism } from "node:os";
import { checkCount, checkPath, checkRunOptions } from "../job/request.ts";
import { threadsFor } from "../stages/budget.ts";
import { fileOf, FOLDERS } from "../stages/task-files.ts";
import { isBrief, type JobContext } from "../stages/context.ts";
import { beginOutput, renewOutput } from "../job/begin-output.ts";
import { abandon, cleanUpDone, withdraw, forgetDamaged } from "../job/finish.ts";
import {
  checkStageFolders,
  checkUnchanged,
  CHECKING,
  jobFailure,
  jobOf,
  openContext,
  remainingTasks,
} from "../job/job.ts";
import type { Stage, StageName } from "../job/spec.ts";
import { isThere, placeError } from "../../boxes/file.ts";
import { checkStageDisk, freeSpaceOf, type FreeSpace } from "../job/disk.ts";
import { checkId, isDone, openSpec, type BegunJob } from "../job/spec-file.ts";
import { checkFolderIn, checkJobIn, guardOf, type Roots } from "../job/roots.ts";
import type { Taker } from "../job/workers.ts";
import { DEFAULT_MEMORY, startPoolWith, type TaskPool } from "./pool.ts";
import { shareTasks, Sharing, untilListed } from "./sharing.ts";

/** Progress of a stage. */
export interface JobProgress {
  readonly stage: StageName;
  /** The number of finished tasks, out of `tasks`. */
  readonly done: number;
  readonly tasks: number;
  /** The time since the stage began or was resumed, in s. */
  readonly seconds: number;
  /** The number of tasks that were finished before the stage began or was resumed. */
  readonly before: number;
}

/** Options of `runJob`, and of the chunked functions. */
export interface RunJobOptions {
  /**
   * The number of threads; by default, the number of cores, or fewer if memory is short, or 0 for a scatter of few
   * updates into few chunks. With 0 threads, tasks run in the calling thread.
   */
  readonly threads?: number | undefined;
  /** The memory limit of the whole process without file pages, in bytes; 1 GiB by default. */
  readonly memory?: number | undefined;
  /** A signal that ends the run as soon as the running tasks are finished. */
  readonly signal?: Signal | undefined;
  readonly onProgress?: ((progress: JobProgress) => void) | undefined;
  /**
   * Called with a message at most once, when the memory of the process exceeds the limit by a quarter.
   */
  readonly onNote?: ((sentence: string) => void) | undefined;
  /** The kind of process that `workersOf` reports; `run` by default. */
  readonly by?: Taker | undefined;
}

const RUN_OPTIONS = namesOf<RunJobOptions>({
  threads: true,
  memory: true,
  signal: true,
  onProgress: true,
  onNote: true,
  by: true,
});

/** Options of a run for a queue. */
export interface WorkOptions extends RunJobOptions {
  /** The folders and addresses that the job and its arrays may use; null allows all. */
  readonly roots?: Roots | null;
  /** A signal that ends the run together with its running tasks. */
  readonly kill?: AbortSignal;
  /** Called after each task that this process has run. */
  readonly onTask?: (stage: StageName, task: number, seconds: number) => void;
}

/**
 * Runs the remaining tasks of the job in a folder, on threads of this process.
 *
 * @param folder the path of the job's folder
 * @param options the threads, the memory, a signal, and a function that receives the progress
 * @throws TensorError the error of the first bad index. `attribute` if an input has changed since a task read it.
 *   `too-large` for a chunk that does not fit in memory. The signal's reason, or a file system error
 *
 * @example
 * ```ts
 * await createJob(request); // the request of createJob
 * const lines: string[] = [];
 * await runJob("job", {
 *   threads: 0,
 *   onProgress: ({ stage, done, tasks }) => lines.push(`${stage}: ${done} of ${tasks}`),
 * });
 * console.log(lines.at(-1)); // finish: 1 of 1
 * ```
 */
export async function runJob(folder: string, options: RunJobOptions = {}): Promise<void> {
  checkPath(folder);
  optionsOf(options, RUN_OPTIONS, {});
  checkRunOptions(options);
  await runWithin(folder, options);
}

/**
 * Runs a job like `runJob`. Throws an `attribute` error for a job outside the roots of the options, and unless the job
 * has the expected id.
 */
export async function runWithin(folder: string, options: WorkOptions, id?: string): Promise<void> {
  const { roots = null } = options;
  if (roots !== null) await checkFolderIn(roots, folder);
  const job = await openSpec(folder, roots === null ? undefined : guardOf(roots));
  try {
    if (roots !== null) await checkJobIn(roots, folder, job.spec);
    checkId(folder, job.spec.id, id);
    await runBegun(job, options, false);
  } finally {
    await job.close();
  }
}

/**
 * Runs an open job like `runJob`. Another run may finish the job and remove its folder at any time. `freeOf` measures
 * free disk space if tasks run in this thread. `isChecked` is false if the inputs may have changed after tasks read
 * them.
 */
export async function runBegun(
  job: BegunJob,
  options: WorkOptions,
  isChecked = true,
  freeOf: FreeSpace = freeSpaceOf,
): Promise<void> {
  const { folder, spec } = job;
  const { roots = null } = options;
  try {
    if (await isDone(folder)) return await cleanUpDone(folder, spec);
    await checkStageFolders(folder, spec);
    if (!isChecked) await renewOutput(job, true);
    // The run that created the job may have been killed before it claimed the array.
    if (!isChecked && spec.inPlace && !(await job.isComplete())) await beginOutput(job);
    const guard = roots === null ? undefined : guardOf(roots);
    const context = await openContext(folder, spec, { inputs: await job.inputs(), guard });
    if (!isChecked) {
      await forgetDamaged(context);
      await checkUnchanged(context);
    }
    await runStages(context, options, freeOf);
  } catch (error) {
    if (!(await job.isComplete().catch(() => false))) throw placeError(error);
    // Another run has completed the job, or this run failed after that: then the array is still claimed.
    await withdraw(spec);
  }
}

/** The interval between memory checks, in ms. */
const LOOK = 1000;

/**
 * Calls `onNote` once if the process exceeds its memory limit by a quarter. Returns a function that ends the memory
 * checks.
 */
export function watchMemory(memory: number, onNote: (sentence: string) => void): () => void {
  const timer = setInterval(() => {
    const taken = processMemory();
    if (taken <= 1.25 * memory) return;
    clearInterval(timer);
    const [got, most] = [taken, memory].map(printAmount);
    onNote(`the process takes ${got} of memory, but the job was planned for ${most} (memory)`);
  }, LOOK).unref();
  return () => clearInterval(timer);
}

async function runStages(
  context: JobContext,
  options: WorkOptions,
  freeOf: FreeSpace,
): Promise<void> {
  const { memory = DEFAULT_MEMORY, signal, roots, by, kill } = options;
  checkCount("memory", memory);
  if (options.threads !== undefined && options.threads !== 0)
    checkCount("threads", options.threads);
  const wanted = options.threads ?? (isBrief(context) ? 0 : availableParallelism());
  const threads = threadsFor(
    memory,
    Math.max(1, wanted),
    context.needs.needed,
    context.data.chunkShape,
  );
  const settings = { threads: wanted === 0 ? 0 : threads, memory, roots, by };
  const pool = startPoolWith(settings, freeOf, context);
  kill?.addEventListener("abort", () => void pool.end());
  const { onNote } = options;
  const endWatch = onNote === undefined ? () => {} : watchMemory(memory, onNote);
  const job = jobOf(context);
  const sharing = new Sharing(job);
  try {
    for (const stage of job.stages) {
      signal?.throwIfAborted();
      // The last stage repeats this check, but then the array may already have changed.
      if (stage.name === "apply" && context.spec.inPlace)
        await checkUnchanged(context, ["partition"]);
      await runStage(context, sharing, stage, pool, options, freeOf);
      const failure = CHECKING.has(stage.name) ? await jobFailure(job) : null;
      if (failure === null) continue;
      await abandon(context.spec);
      throw failure;
    }
  } finally {
    endWatch();
    await pool.end();
  }
}

async function runStage(
  context: JobContext,
  sharing: Sharing,
  { name, tasks }: Stage,
  pool: TaskPool,
  { signal, onProgress, onTask }: WorkOptions,
  freeOf: FreeSpace,
): Promise<void> {
  const { job } = sharing;
  const { folder, id } = job;
  const left = await remainingTasks(job, name);
  await checkStageDisk(context, name, left.length / Math.max(1, tasks), freeOf);
  const before = tasks - left.length;
  const begin = performance.now();
  let done = before;
  /** The number of the first block with a bad index; later blocks do not affect the job's error. */
  let end = Infinity;
  const report = (): void => {
    const seconds = (performance.now() - begin) / 1000;
    onProgress?.({ stage: name, done, tasks, seconds, before });
  };
  // A task that changes chunks in place may be marked before it has ended.
  const isMarked = name !== "finish" && !(name === "apply" && context.spec.inPlace);
  const isDone = isMarked
    ? (task: number): Promise<boolean> => isThere(fileOf.task(context, FOLDERS[name], task))
    : null;
  const run = async (task: number, isDoneElsewhere: boolean): Promise<void> => {
    if (task > end) return;
    signal?.throwIfAborted();
    if (!isDoneElsewhere) {
      const start = performance.now();
      if (name !== "finish") await pool.run(folder, name, task, signal, id);
      else await untilListed(job, () => pool.run(folder, name, task, signal, id), signal);
      onTask?.(name, task, (performance.now() - start) / 1000);
    }
    done++;
    report();
    if (name !== "partition") return;
    if (await isThere(`${fileOf.task(context, FOLDERS[name], task)}.bad`))
      end = Math.min(end, task);
  };
  report();
  await shareTasks(sharing, name, left, { threads: pool.threads, isDone, run });
}

/**
 * Returns the memory of this process, in bytes. On Linux, the result excludes file pages, such as those of the Node
 * executable (47 MB), because the system frees them when memory is short.
 */
export function processMemory(): number {
  try {
    const status = readFileSync("/proc/self/status", "utf8");
    const [, kilobytes] = /^RssAnon:\s*(\d+) kB$/m.exec(status) ?? [];
    if (kilobytes !== undefined) return 1024 * Number(kilobytes);
  } catch {
    // Only Linux has this file.
  }
  return process.memoryUsage.rss();
}
