/** Prints the progress of a job's stages. */

import { printAmount, printCount } from "../../core/foreign.ts";
import {
  remainingTasks,
  taskRate,
  type Job,
  type JobFacts,
  type Stage,
} from "../../entries/chunked.ts";

export interface StageStatus extends Stage {
  readonly done: number;
  /** Average number of tasks per second; null if unknown. */
  readonly rate: number | null;
  /** Estimated remaining time, in seconds; null if unknown. */
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

/** Compares the resources used by a job's tasks with the job's plan. */
export function printTook({ planned, took }: Pick<JobFacts, "planned" | "took">): string[] {
  if (took === null) return [];
  const rows = [
    ["read", took.read, planned?.read],
    ["written", took.written, planned?.written],
  ] as const;
  return rows.map(([name, bytes, most]) => {
    const limit = most === undefined ? "" : `, at most ${printAmount(most)} planned`;
    return `${name}: ${printAmount(bytes)} by ${printCount(took.tasks, "task")}${limit}`;
  });
}
