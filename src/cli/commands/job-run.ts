/** Runs jobs here or in queue workers, with their progress, and prints what jobs plan and what they took. */

import * as path from "node:path";
import { CLI } from "../../core/limits.ts";
import { printAmount, printCount } from "../../core/foreign.ts";
import type { SubmitProgress } from "../../entries/bullmq.ts";
import {
  planJob,
  printShortage,
  runJob,
  type JobFacts,
  type JobProgress,
  type JobRequest,
  type StageName,
} from "../../entries/chunked.ts";
import { printNote, untilInterrupted, type Io } from "../io.ts";
import { printJson, printTable } from "../text/layout.ts";
import { ProgressLine } from "../text/progress.ts";

export interface LocalRun {
  /** Memory limit for all tasks, in bytes. */
  readonly memory?: number;
  readonly threads?: number;
}

export interface RedisRun {
  /** The Redis server URL. */
  readonly redis: string;
  readonly queue?: string | undefined;
  readonly attempts?: number | undefined;
}

/** Duration and data volume of a finished stage. */
export interface StageTimes {
  readonly stage: StageName;
  readonly tasks: number;
  /** Bytes that the stage's tasks have read and written in this run. */
  readonly bytes: number;
  readonly seconds: number;
}

/** Runs a job in this process, and returns the times of its stages. Throws a `Failure` if a signal stops the job. */
export async function runHere(
  io: Io,
  folder: string,
  { memory, threads = io.threads }: LocalRun,
): Promise<StageTimes[]> {
  const stages: StageTimes[] = [];
  const line = new ProgressLine(io.stderr, undefined, true);
  const onProgress = (progress: JobProgress): void => {
    const { stage, done, tasks, taskBytes, before, seconds } = progress;
    if (done === tasks && stage !== "finish") {
      const bytes = Math.round((done - before) * taskBytes);
      stages.push({ stage, tasks: done - before, bytes, seconds });
    }
    line.show(() => printProgress(progress, io.stderr.isTTY));
  };
  const place = path.relative(io.cwd, folder) || folder;
  const stopped = `stopped; the finished tasks are kept in ${place}; run the same command again to continue`;
  const onNote = noteBeside(io, line);
  await untilInterrupted(io, stopped, (signal) =>
    runJob(folder, { memory, threads, signal, onProgress, onNote }),
  ).finally(() => line.clear());
  return stages;
}

/** Returns a function that prints notes without a line of progress. */
export const noteBeside =
  (io: Io, line: ProgressLine) =>
  (sentence: string): void => {
    line.clear();
    void printNote(io, sentence);
  };

/**
 * Submits a job to a queue and shows its progress until the job is done. Throws a `Failure` if a signal stops the
 * command, which also withdraws the job from the queue.
 */
export async function runWithRedis(
  io: Io,
  folder: string,
  { redis, queue, attempts }: RedisRun,
): Promise<void> {
  const { submitJob } = await import("../../entries/bullmq.ts");
  const line = new ProgressLine(io.stderr);
  const how = {
    connection: redis,
    ...(queue !== undefined && { queue }),
    ...(attempts !== undefined && { attempts }),
    from: io.cwd,
    onProgress: printer(io, line),
    onNote: noteBeside(io, line),
  };
  const stopped = `stopped, and the job was removed from the queue; run the same command again to finish the job in ${folder}`;
  await untilInterrupted(io, stopped, (signal) =>
    submitJob(path.resolve(io.cwd, folder), { ...how, signal }),
  ).finally(() => line.clear());
}

/** Prints a job's progress. A terminal shows a single updating line; other outputs get a new line at intervals. */
function printer({ stderr }: Io, line: ProgressLine): (progress: SubmitProgress) => void {
  let printedAt = -Infinity;
  let printed = "";
  return ({ stage, done, tasks, workers }) => {
    const far = `${stage}: ${done} of ${printCount(tasks, "task")}`;
    const by =
      workers === 0
        ? "waiting for a worker (ndscatter job worker)"
        : printCount(workers ?? 0, "worker");
    const text = workers === null ? far : `${far}, ${by}`;
    if (stderr.isTTY) return line.show(() => text);
    const isDue = performance.now() - printedAt >= CLI.lines;
    if (!isDue || text === printed) return;
    printedAt = performance.now();
    printed = text;
    void stderr.write(`${text}\n`);
  };
}

/** Width of a progress bar, in characters. */
const BAR = 20;

/** Formats a line such as `apply [#######     ] 22 of 60, 610 MB/s, 12 s left`. */
export function printProgress(
  { stage, done, tasks, taskBytes, before, seconds }: JobProgress,
  hasBar: boolean,
): string {
  const filled = tasks === 0 ? BAR : Math.floor((BAR * done) / tasks);
  const bar = hasBar ? ` [${"#".repeat(filled).padEnd(BAR)}]` : ":";
  const far = `${stage}${bar} ${done} of ${tasks}`;
  const own = done - before;
  if (own === 0 || seconds === 0) return far;
  const rate = taskBytes > 0 ? `, ${printAmount((own * taskBytes) / seconds)}/s` : "";
  return `${far}${rate}, ${printSeconds(((tasks - done) * seconds) / own)} left`;
}

/** Returns a text such as `12 s`, `3 min 20 s` or `2 h 5 min`. */
export function printSeconds(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${seconds < 10 ? seconds.toFixed(1) : whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** Returns true if the stages took so long that their cost is of interest. */
export const isLong = (stages: readonly StageTimes[]): boolean =>
  stages.reduce((sum, { seconds }) => sum + seconds, 0) > CLI.long;

/** Formats a line for each stage that took at least a second. */
export const stageLines = (stages: readonly StageTimes[]): string[] =>
  stages
    .filter(({ seconds }) => seconds >= CLI.stage)
    .map(({ stage, tasks, bytes, seconds }) => {
      const rate = `${printAmount(bytes)} in ${printSeconds(seconds)}, ${printAmount(bytes / seconds)}/s`;
      return `  ${stage}: ${printCount(tasks, "task")}, ${rate}`;
    });

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

/** Implements `ndscatter run --plan`, which prints upper bounds for a job's work, and an estimated running time. */
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
