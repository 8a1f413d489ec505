/** Implements `ndscatter run --plan`, which prints upper bounds for a job's work, and an estimated running time. */

import { printAmount, printCount } from "../../core/foreign.ts";
import { planJob, printShortage, type JobRequest } from "../../entries/chunked.ts";
import type { Io } from "../io.ts";
import { printJson, printTable } from "../text/layout.ts";
import { printSeconds } from "./job-report.ts";

export async function printPlan(io: Io, request: JobRequest, isJson: boolean): Promise<void> {
  const plan = await planJob(request);
  if (isJson) return void (await io.stdout.write(`${printJson(plan)}\n`));
  const { chunks, chunksPerTask, growth, read, stages, taskBytes, threads, written } = plan;
  const { diskRate: rate, seconds, shortage } = plan;
  const { shuffle, ...inputs } = read;
  const perTask = chunksPerTask === 1 ? "" : `, ${chunksPerTask} in each task`;
  const reads = Object.entries(inputs).flatMap(([name, bytes]) =>
    bytes > 0 ? [`${printAmount(bytes)} of ${name}`] : [],
  );
  const rows = [
    ...stages.map(({ name, tasks }) => [name, printCount(tasks, "task")]),
    ["chunks", `${chunks} of data${perTask}`],
    [
      "memory",
      `at most ${printAmount(plan.memory)}: Node and ${printCount(threads, "thread")}, with tasks of ${printAmount(taskBytes)}`,
    ],
    ["reads", `at most ${[...reads, `${printAmount(shuffle)} of intermediate data`].join(", ")}`],
    [
      "writes",
      `at most ${printAmount(written.output)} of the output, ${printAmount(written.shuffle)} of intermediate data`,
    ],
    [
      "disk",
      `${printAmount(plan.disk)} must be free${growth === 0 ? "" : `; data may grow by ${printAmount(growth)}`}`,
    ],
    [
      "time",
      `at least ${printSeconds(seconds.least)}, about ${printSeconds(seconds.likely)}, at ${printAmount(rate)}/s, the disk's present speed`,
    ],
    ...(shortage === null ? [] : [["note", printShortage(shortage)]]),
  ];
  await io.stdout.write(`${printTable(rows)}\n`);
}
