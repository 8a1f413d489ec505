/**
 * Runs jobs here or in queue workers, with their progress, and prints plans. Implements `ndscatter job worker`, which
 * runs tasks from a job queue until the user stops the worker.
 */

import { once } from "node:events";
import * as os from "node:os";
import * as path from "node:path";
import type { Command } from "commander";
import { wrongUsage } from "../failure.ts";
import {
  DEFAULT_MEMORY,
  memoryOption,
  repeatable,
  wholeOption,
  isUrl,
} from "../input/arguments.ts";
import { printResult, type Io, printNote, untilInterrupted, ProgressLine } from "../io.ts";
import { printTable } from "../text/layout.ts";
import { printAmount, printCount } from "../../core/foreign.ts";
import { CLI } from "../../core/limits.ts";
import type { JobWorker, SubmitProgress, TasksDone } from "../../entries/bullmq.ts";
import {
  gatherInMemory,
  type JobProgress,
  type JobRequest,
  planJob,
  runJob,
  type RunJobOptions,
  type StageName,
} from "../../entries/chunked.ts";

export interface LocalRun {
  /** Memory limit for all tasks, in bytes. */
  readonly memory?: number;
  readonly threads?: number;
}

/** Duration and data volume of a finished stage. */
export interface StageTimes {
  readonly stage: StageName;
  readonly tasks: number;
  readonly seconds: number;
}

/** Runs a job in this process, and returns the times of its stages. Throws a `Failure` if a signal stops the job. */
export async function runHere(
  io: Io,
  folder: string,
  { memory, threads = io.threads }: LocalRun,
  by?: RunJobOptions["by"],
): Promise<readonly StageTimes[]> {
  const place = path.relative(io.cwd, folder) || folder;
  const stopped = `stopped; the finished tasks are kept in ${place}; run the same command again to continue`;
  const run = (options: RunJobOptions) => runJob(folder, { memory, threads, by, ...options });
  return (await withProgress(io, stopped, run)).stages;
}

/** Gathers without a job. Returns the times of the stages, or null if the request needs a job. */
export async function gatherHere(
  io: Io,
  request: JobRequest,
): Promise<readonly StageTimes[] | null> {
  const stopped = "stopped; nothing was written";
  const run = ({ signal, onProgress }: RunJobOptions) =>
    gatherInMemory(request, { signal, onProgress });
  const { result, stages } = await withProgress(io, stopped, run);
  return result ? stages : null;
}

/** Shows the progress of a run, and collects the times of its stages. */
async function withProgress<T>(
  io: Io,
  stopped: string,
  run: (options: RunJobOptions) => Promise<T>,
): Promise<{ readonly result: T; readonly stages: readonly StageTimes[] }> {
  const stages: StageTimes[] = [];
  const line = new ProgressLine(io.stderr, undefined, true);
  const onProgress = (progress: JobProgress): void => {
    const { stage, done, tasks, before, seconds } = progress;
    if (done === tasks && stage !== "finish") stages.push({ stage, tasks: done - before, seconds });
    line.show(() => printProgress(progress, io.stderr.isTTY));
  };
  const onNote = noteBeside(io, line);
  const result = await untilInterrupted(io, stopped, (signal) =>
    run({ signal, onProgress, onNote }),
  ).finally(() => line.clear());
  return { result, stages };
}

const noteBeside =
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
  { redis, queue }: { readonly redis: string; readonly queue?: string | undefined },
): Promise<void> {
  const { submitJob } = await import("../../entries/bullmq.ts");
  const line = new ProgressLine(io.stderr);
  const how = {
    connection: redis,
    ...(queue !== undefined && { queue }),
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

const BAR = 20;

/** Formats a line such as `apply [#######     ] 22 of 60, 12 s left`. */
export function printProgress(
  { stage, done, tasks, before, seconds }: JobProgress,
  hasBar: boolean,
): string {
  const filled = tasks === 0 ? BAR : Math.floor((BAR * done) / tasks);
  const bar = hasBar ? ` [${"#".repeat(filled).padEnd(BAR)}]` : ":";
  const far = `${stage}${bar} ${done} of ${tasks}`;
  const own = done - before;
  if (own === 0 || seconds === 0) return far;
  return `${far}, ${printSeconds(((tasks - done) * seconds) / own)} left`;
}

/** Returns a text such as `12 s`, `3 min 20 s` or `2 h 5 min`. */
export function printSeconds(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${seconds < 10 ? seconds.toFixed(1) : whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

export const stageLines = (stages: readonly StageTimes[]): string[] =>
  stages
    .filter(({ seconds }) => seconds >= CLI.stage)
    .map(
      ({ stage, tasks, seconds }) =>
        `  ${stage}: ${printCount(tasks, "task")} in ${printSeconds(seconds)}`,
    );

/** Implements `ndscatter run --plan`, which prints a job's tasks, and the most memory and disk space that they take. */
export async function printPlan(io: Io, request: JobRequest, isJson: boolean): Promise<void> {
  const plan = await planJob(request);
  if (isJson) return printResult(io, plan);
  const { chunks, chunksPerTask, stages, taskBytes, threads } = plan;
  const perTask = chunksPerTask === 1 ? "" : `, ${chunksPerTask} in each task`;
  const rows = [
    ...stages.map(({ name, tasks }) => [name, printCount(tasks, "task")]),
    ["chunks", `${chunks} of data${perTask}`],
    [
      "memory",
      `at most ${printAmount(plan.memory)}: Node and ${printCount(threads, "thread")}, with tasks of ${printAmount(taskBytes)}`,
    ],
    ["disk", `${printAmount(plan.disk)} must be free`],
  ];
  return printResult(io, printTable(rows));
}

interface WorkerCommand {
  readonly redis?: string;
  readonly queue?: string;
  readonly threads?: number;
  readonly memory?: number;
  readonly root?: readonly string[];
}

const HELP = `
Submit jobs with ndscatter run ... --job FOLDER --redis URL. A worker must see
the folder and the arrays under the same paths as the submitting command, and
needs the packages bullmq and ioredis (npm install bullmq ioredis). Without
--redis the URL is read from the environment variable NDSCATTER_REDIS, which
hides a password from other users of the machine.

Anyone who can write to the queue can submit jobs, so a worker needs --root if
Redis is on another machine. The worker refuses jobs whose folder or arrays are
outside the folders of --root, also if links lead outside.

SIGTERM or Ctrl-C stops the worker when its running tasks are finished; after 20
seconds the worker gives them up. A second signal stops the worker immediately.
No work is lost: other workers run the tasks again.

Examples:
  ndscatter job worker --redis redis://queue:6379 --root /shared/jobs
  ndscatter job worker --redis redis://queue:6379 --root /shared --memory 8G`;

/** Milliseconds that running tasks get to finish after a stop request. Service managers wait at least 30 seconds. */
const PATIENCE = 20_000;

export function addJobWorker(job: Command, io: Io): void {
  job
    .command("worker")
    .summary("run the tasks of jobs in a Redis queue")
    .description("Run tasks of the jobs in a queue until a signal stops the worker.")
    .option("--redis <url>", "the URL of the queue's Redis, such as redis://host:6379")
    .addOption(
      repeatable(
        "--root <folder>",
        "a folder, or an address such as s3://bucket/prefix, in which jobs and their arrays are accepted; " +
          "repeatable (required unless Redis is on this machine)",
      ),
    )
    .option("--queue <name>", "the queue's name (default: ndscatter)")
    .addOption(
      wholeOption(
        "--threads <count>",
        "the number of tasks that run at once (default: one per core)",
        1,
      ),
    )
    .addOption(memoryOption("the memory for all threads together (default: 1G)"))
    .addHelpText("after", HELP)
    .action((options: WorkerCommand) => runWorker(io, options));
}

/**
 * Returns the queue's Redis URL, from --redis or the environment variable NDSCATTER_REDIS. Throws a `Failure` if
 * neither is set.
 */
export function redisOf({ env }: Io, typed: string | true | undefined): string {
  const url = typeof typed === "string" ? typed : env["NDSCATTER_REDIS"];
  if (url !== undefined && url !== "") return url;
  const what = typed === true ? "--redis has no URL" : "--redis is missing";
  throw wrongUsage(`${what}, and NDSCATTER_REDIS is not set; give the URL of Redis in one of them`);
}

async function runWorker(io: Io, options: WorkerCommand): Promise<void> {
  const redis = redisOf(io, options.redis);
  // BullMQ is imported on demand, because the module is large and rarely used.
  const { createWorker } = await import("../../entries/bullmq.ts");
  const { threads = os.availableParallelism(), memory = DEFAULT_MEMORY } = options;
  const { queue = "ndscatter", root = [] } = options;
  const roots = root.map((one) => (isUrl(one) ? one : path.resolve(io.cwd, one)));
  const report = reportOf(io);
  const worker: JobWorker = await createWorker({
    connection: redis,
    queue,
    threads,
    memory,
    ...(roots.length > 0 && { roots }),
    from: io.cwd,
    onDone: report.done,
    onNote: report.note,
  });
  await untilInterrupted(io, "stopped", async (signal) => {
    const stopped = once(signal, "abort");
    await report.say(`waiting for tasks of queue ${queue}, ${printCount(threads, "thread")}`);
    await stopped;
    await report.say("stopping when the running tasks are finished");
  }).finally(() => worker.close(PATIENCE));
  await report.end();
}

/** Prints a worker's output. A terminal shows a single updating line; other outputs get a line per task. */
function reportOf(io: Io) {
  const line = new ProgressLine(io.stderr);
  let tasks = 0;
  const say = async (text: string): Promise<void> => {
    line.clear();
    await io.stderr.write(`ndscatter: ${text}\n`);
  };
  return {
    done({ folder, stage, tasks: task, seconds }: TasksDone): void {
      tasks++;
      const text = `${stage} ${task} of ${folder} in ${seconds.toFixed(2)} s`;
      if (io.stderr.isTTY) line.showNow(`${tasks} done, last ${text}`);
      else void io.stdout.write(`${text}\n`);
    },
    note: noteBeside(io, line),
    say,
    end: (): Promise<void> => say(`ended after ${printCount(tasks, "task")}`),
  };
}
