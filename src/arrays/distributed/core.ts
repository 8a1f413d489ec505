/**
 * Declares the functions that engines need to run a job: one lists the remaining tasks, and one runs a task. The
 * interface is independent of queues, and engines need not know what a task does.
 */

import type { Roots } from "../chunked/job/roots.ts";
import type { Job, Stage, StageName } from "../chunked/job/job.ts";
import type { Taker } from "../chunked/job/workers.ts";
import type { TaskPool } from "../chunked/run/pool.ts";
import type { TensorError } from "../../core/errors.ts";

/** Functions on job folders. The folder is the only state of a job, so any state in an engine is only a hint. */
export interface Core {
  /** The version of ndscatter, which must be the same on all machines that work on a job. */
  readonly version: string;
  openJob(folder: string): Promise<Job>;
  /** Returns true if this machine can see the folder. */
  isSeen(folder: string): Promise<boolean>;
  /** Lists the numbers of unfinished tasks in ascending order. */
  remainingTasks(job: Job, stage: StageName): Promise<readonly number[]>;
  /**
   * Returns the error of a bad index, or null if no bad index has been found so far. After the stage that checks
   * indices, the error is that of the first bad index.
   */
  jobFailure(job: Job): Promise<TensorError | null>;
  startPool(options: {
    readonly threads: number;
    readonly memory: number;
    readonly roots: Roots | null;
    readonly by?: Taker;
  }): Pick<TaskPool, "run" | "end">;
}

/** The current stage of a job. */
export interface CurrentStage {
  readonly stage: Stage;
  /** The numbers of the remaining tasks; never empty. */
  readonly remaining: readonly number[];
}

/** Returns the current stage of a job, or null if the job is done. */
export async function currentStage(
  { remainingTasks }: Pick<Core, "remainingTasks">,
  job: Job,
): Promise<CurrentStage | null> {
  const last = job.stages.at(-1);
  // The last stage is checked first, because after it files of earlier stages may be missing.
  if (last === undefined || (await remainingTasks(job, last.name)).length === 0) return null;
  for (const stage of job.stages) {
    // A stage begins only after the previous stage is done.
    // oxlint-disable-next-line no-await-in-loop
    const remaining = await remainingTasks(job, stage.name);
    if (remaining.length > 0) return { stage, remaining };
  }
  return null;
}

/**
 * Returns the error with which a job ends. The error is final once the stage that checks indices is done and the next
 * stage begins.
 */
export const finalFailure = async (
  { jobFailure }: Pick<Core, "jobFailure">,
  job: Job,
  { stage, remaining }: CurrentStage,
): Promise<TensorError | null> => (remaining.length === stage.tasks ? await jobFailure(job) : null);
