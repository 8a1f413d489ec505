/**
 * Functions that engines need to run a job: list the remaining tasks, and run a task. This file does not refer to
 * queues, and engines do not know what a task does.
 */

import type { Roots } from "../chunked/job/roots.ts";
import type { Job, Stage, StageName } from "../chunked/job/job.ts";
import type { Taker } from "../chunked/job/workers.ts";
import type { TaskPool } from "../chunked/run/pool.ts";
import type { TensorError } from "../../core/errors.ts";

/** Functions on jobs' folders. A job's folder is the only state; an engine's own knowledge of a job is a hint. */
export interface Core {
  /** The ndscatter version, which must be the same on all machines that work on a job. */
  readonly version: string;
  openJob(folder: string): Promise<Job>;
  /** Returns true if this machine can see the folder. */
  isSeen(folder: string): Promise<boolean>;
  /** Lists the numbers of unfinished tasks, in ascending order. */
  remainingTasks(job: Job, stage: StageName): Promise<readonly number[]>;
  /**
   * Returns the error of a bad index; null if none has been found so far. When the stage that finds bad indices is
   * done, this is the error of the first bad index.
   */
  jobFailure(job: Job): Promise<TensorError | null>;
  startPool(options: {
    readonly threads: number;
    readonly memory: number;
    readonly roots: Roots | null;
    readonly by?: Taker;
  }): Pick<TaskPool, "run" | "end">;
}

/** Current stage of a job. */
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
  // The last stage is checked first, because files of earlier stages may be gone when it is done.
  if (last === undefined || (await remainingTasks(job, last.name)).length === 0) return null;
  for (const stage of job.stages) {
    // A stage begins after the previous one is done.
    // oxlint-disable-next-line no-await-in-loop
    const remaining = await remainingTasks(job, stage.name);
    if (remaining.length > 0) return { stage, remaining };
  }
  return null;
}

/**
 * Returns the error that ends a job. The error is final when the stage that finds bad indices is done, that is, when
 * the next stage begins.
 */
export const finalFailure = async (
  { jobFailure }: Pick<Core, "jobFailure">,
  job: Job,
  { stage, remaining }: CurrentStage,
): Promise<TensorError | null> => (remaining.length === stage.tasks ? await jobFailure(job) : null);
