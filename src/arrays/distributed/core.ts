/**
 * The functions of a job that engines need: the remaining tasks, and running one. Nothing here refers to a queue, and
 * no engine knows what a task does.
 */

import type { Roots } from "../chunked/job/roots.ts";
import type { Job, Stage, StageName } from "../chunked/job/job.ts";
import type { Taker } from "../chunked/job/workers.ts";
import type { TaskPool } from "../chunked/run/pool.ts";
import type { TensorError } from "../../core/errors.ts";

/** Jobs as folders. The folder is the only truth: an engine's own memory of a job is a hint. */
export interface Core {
  /** The version of ndscatter. All machines that work on a job have the same. */
  readonly version: string;
  openJob(folder: string): Promise<Job>;
  /** True if this machine sees the folder. */
  isSeen(folder: string): Promise<boolean>;
  /** The numbers of the tasks that are not done, ascending. */
  remainingTasks(job: Job, stage: StageName): Promise<readonly number[]>;
  /**
   * The error of a bad index, null if none is found so far. Among several it is the first once the stage that finds
   * them is done.
   */
  jobFailure(job: Job): Promise<TensorError | null>;
  startPool(options: {
    readonly threads: number;
    readonly memory: number;
    readonly roots: Roots | null;
    readonly by?: Taker;
  }): Pick<TaskPool, "run" | "end">;
}

/** The present stage of a job. */
export interface CurrentStage {
  readonly stage: Stage;
  /** The numbers of the remaining tasks, at least one. */
  readonly remaining: readonly number[];
}

/** The stage that a job is in, or null if the job is done. */
export async function currentStage(
  { remainingTasks }: Pick<Core, "remainingTasks">,
  job: Job,
): Promise<CurrentStage | null> {
  const last = job.stages.at(-1);
  // Once the last stage is done, files of earlier stages may be gone.
  if (last === undefined || (await remainingTasks(job, last.name)).length === 0) return null;
  for (const stage of job.stages) {
    // A stage begins after the previous one is done.
    // oxlint-disable-next-line no-await-in-loop
    const remaining = await remainingTasks(job, stage.name);
    if (remaining.length > 0) return { stage, remaining };
  }
  return null;
}

/** The error that ends a job: known when the stage that may find one is done, which is when the next one begins. */
export const finalFailure = async (
  { jobFailure }: Pick<Core, "jobFailure">,
  job: Job,
  { stage, remaining }: CurrentStage,
): Promise<TensorError | null> => (remaining.length === stage.tasks ? await jobFailure(job) : null);
