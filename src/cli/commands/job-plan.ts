/** `ndscatter run ... --plan`: what a job would do, and how long the disk alone would take for it. */

import * as path from "node:path";
import { diskRate, planJob, type JobPlan, type JobRequest } from "../../entries/chunked.ts";
import type { Io } from "../io.ts";
import { printCount, printJson, printTable } from "../text/layout.ts";
import { printAmount, printSeconds } from "./job-report.ts";

export async function printPlan(io: Io, request: JobRequest, isJson: boolean): Promise<void> {
  const plan = await planJob(request);
  // The folder of the job may not be there yet.
  const rate = await diskRate(path.dirname(request.folder));
  const seconds = bytesOf(plan) / rate;
  if (isJson)
    return void (await io.stdout.write(`${printJson({ ...plan, diskRate: rate, seconds })}\n`));
  const { chunks, chunksPerTask, read, stages, taskBytes, threads, written } = plan;
  const perTask = chunksPerTask === 1 ? "" : `, ${chunksPerTask} of them in a task`;
  const inputs = Object.entries(read).filter(([, bytes]) => bytes > 0);
  const rows = [
    ...stages.map(({ name, tasks }) => [name, printCount(tasks, "task")]),
    ["chunks", `${chunks} of data${perTask}`],
    [
      "memory",
      `${printCount(threads, "thread")}, at most ${printAmount(taskBytes)} each beside Node's own`,
    ],
    ["reads", inputs.map(([name, bytes]) => `${printAmount(bytes)} of ${name}`).join(", ")],
    [
      "writes",
      `${printAmount(written.output)} of the output, ${printAmount(written.shuffle)} between the stages`,
    ],
    ["disk", `${printAmount(plan.disk)} must be free`],
    [
      "time",
      `at least ${printSeconds(seconds)}, at the ${printAmount(rate)}/s that the disk takes now`,
    ],
  ];
  await io.stdout.write(`${printTable(rows)}\n`);
}

/** What is read and written: what lies between the stages is both. */
const bytesOf = ({ read, written }: JobPlan): number =>
  read.data + read.indices + read.updates + 2 * written.shuffle + written.output;
