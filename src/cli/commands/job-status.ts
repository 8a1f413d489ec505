/** How far the stages of a job are. */

import { remainingTasks, taskRate, type Job, type Stage } from "../../entries/chunked.ts";

export interface StageStatus extends Stage {
  readonly done: number;
  /** Tasks a second, so far; null where that is not known. */
  readonly rate: number | null;
  /** Seconds; null where that is not known. */
  readonly left: number | null;
}

export async function statusOf(job: Job): Promise<StageStatus[]> {
  return Promise.all(
    job.stages.map(async ({ name, tasks }) => {
      const { length: remaining } = await remainingTasks(job, name);
      const rate = await taskRate(job, name);
      const left = remaining === 0 ? 0 : rate === null ? null : remaining / rate;
      return { name, tasks, done: tasks - remaining, rate, left };
    }),
  );
}
