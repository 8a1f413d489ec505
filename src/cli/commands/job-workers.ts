/** Lists the processes that work on a job, for `ndscatter job status`. */

import { printCount } from "../../core/foreign.ts";
import type { JobWorkerFacts, Taker } from "../../entries/chunked.ts";
import { printTable } from "../text/layout.ts";
import { printSeconds } from "./job-report.ts";

const TAKERS: Readonly<Record<string, string>> = {
  run: "run here",
  queue: "worker of a queue",
  task: "job task",
};

/** Returns a table of the job's worker processes, or an empty string if no process has reported. */
export function printWorkers(workers: readonly JobWorkerFacts[]): string {
  if (workers.length === 0) return "";
  const rows = workers.map(({ host, process, by, threads, done, seconds, rate, age }) => [
    `${host}, process ${process}`,
    TAKERS[by] ?? by,
    printCount(threads, "thread"),
    `${printCount(done, "task")} in ${printSeconds(seconds)}`,
    rate === null ? "" : `${rate.toPrecision(2)} a second`,
    `${printSeconds(age)} ago`,
  ]);
  const table = printTable([["at work", "as", "", "done", "rate", "last sign"], ...rows]);
  return `${table}\n`;
}

/**
 * Returns the type of the process that runs `ndscatter job task`: an element of a Slurm job array, or another process.
 */
export function takerOf(env: Readonly<Record<string, string | undefined>>): Taker {
  const { SLURM_ARRAY_JOB_ID: job, SLURM_ARRAY_TASK_ID: element, SLURM_JOB_ID: single } = env;
  const id = job === undefined || element === undefined ? single : `${job}_${element}`;
  return id !== undefined && /^\d{1,20}(?:_\d{1,20})?$/.test(id) ? `slurm ${id}` : "task";
}
