/** Implements `ndscatter job`, which shows, resumes and removes jobs, and runs individual tasks for schedulers. */

import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { printCount } from "../../core/foreign.ts";
import {
  describeJob,
  findJobs,
  jobFailure,
  openJob,
  remainingTasks,
  removeJob,
  startPool,
  taskRate,
  workersOf,
  type Job,
  type JobWorkerFacts,
  type Stage,
  type StageName,
  type Taker,
} from "../../entries/chunked.ts";
import { isTensorError } from "../../entries/index.ts";
import { wrongData, wrongUsage, errorJson } from "../failure.ts";
import { printResult, untilInterrupted, type Io } from "../io.ts";
import { memoryOption, wholeOption, folderOf, isUrl } from "../input/arguments.ts";
import { JSON_HELP, printTable, quote, didYouMean } from "../text/layout.ts";
import { printSeconds, runHere, type LocalRun, addJobWorker } from "./job-run.ts";

const TASK_HELP = `
Schedulers call this command. Tasks are numbered from 0: give a number, a range
(0-15) or a list of numbers and ranges (0-3,7). Finished tasks are skipped, so
running a task again does no harm. A stage may start only when all tasks of the
previous stage are finished on all machines; ndscatter job status names the
stages.

Examples:
  ndscatter job task job/ partition 0-15
  ndscatter job task job/ finish 0`;

interface JsonOption {
  readonly json?: boolean;
}

const ofJob = (job: Command, name: string, summary: string, description: string): Command =>
  job
    .command(name)
    .summary(summary)
    .description(description)
    .argument("<folder>", "the job's folder");

export function addJobCommand(program: Command, io: Io): void {
  const job = program
    .command("job")
    .summary("list, show, resume or remove chunked jobs, or run their tasks")
    .description("List, show, resume or remove jobs of ndscatter run, or run their tasks.")
    .addHelpText("after", "\nExamples:\n  ndscatter job list\n  ndscatter job status job/");
  ofJob(
    job,
    "status",
    "show the finished and the remaining tasks of a job",
    "Show the finished and the remaining tasks of a job, according to its folder.",
  )
    .option("--json", JSON_HELP)
    .addHelpText("after", "\nExamples:\n  ndscatter job status job/")
    .action((folder: string, options: JsonOption) => showStatus(io, folder, options));
  ofJob(
    job,
    "resume",
    "run the remaining tasks of a job",
    "Run the remaining tasks of a job on this machine.",
  )
    .addOption(
      wholeOption("--threads <count>", "the number of chunks that are processed at once", 1),
    )
    .addOption(memoryOption("the memory for all chunks that are processed at once (default: 1G)"))
    .addHelpText("after", "\nExamples:\n  ndscatter job resume job/ --threads 8 --memory 4G")
    .action((folder: string, options: LocalRun) => resumeJob(io, folder, options));
  ofJob(
    job,
    "remove",
    "remove a job and its folder, finished or not",
    "Remove a job and its folder. If the job is not done, its unfinished output is removed too. An array that " +
      "the job was changing in place keeps a mark with the number of changed chunks, and can no longer be opened.",
  )
    .addHelpText("after", "\nExamples:\n  ndscatter job remove job/")
    .action((folder: string) => giveUpJob(io, folder));
  addTask(job, io);
  job
    .command("list")
    .summary("list the jobs below a folder")
    .description(
      "List the jobs below a folder, and the unfinished arrays whose jobs are in other folders.",
    )
    .argument("[folder]", "the folder to search (default: the current folder)")
    .option("--json", JSON_HELP)
    .addHelpText("after", "\nExamples:\n  ndscatter job list /shared")
    .action((folder: string | undefined, options: JsonOption) =>
      listJobs(io, folder ?? ".", options),
    );
  addJobWorker(job, io);
}

function addTask(job: Command, io: Io): void {
  ofJob(
    job,
    "task",
    "run some of the tasks in one stage of a job",
    "Run some tasks of one stage of a job.",
  )
    .argument("<stage>", "the name of the stage: partition, merge, check, apply, place or finish")
    .argument("<tasks>", "the numbers of the tasks, such as 3 or 0-15")
    .addOption(
      wholeOption(
        "--threads <count>",
        "the maximum number of tasks to run at once (default: 1)",
        1,
      ),
    )
    .addOption(memoryOption("the memory limit for all tasks that run at once (default: 1G)"))
    .addOption(
      wholeOption(
        "--wait <seconds>",
        "the seconds to wait for results to appear in a slow network folder (default: 0)",
        0,
      ),
    )
    .addHelpText("after", TASK_HELP)
    .action((folder: string, stage: string, tasks: string, options: TaskOptions) =>
      runTasks(io, folder, stage, tasks, options),
    );
}

async function resumeJob(io: Io, given: string, options: LocalRun): Promise<void> {
  const folder = folderOf(io, given);
  const taker = takerOf(io.env);
  await runHere(io, folder, options, taker === "task" ? "run" : taker);
  await printResult(io, `${given}: done`);
}

async function giveUpJob(io: Io, given: string): Promise<void> {
  const folder = folderOf(io, given);
  await openJob(folder);
  await removeJob(folder);
  await printResult(io, `${given}: removed`);
}

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

async function showStatus(io: Io, folder: string, { json }: JsonOption): Promise<void> {
  const job = await openJob(folderOf(io, folder));
  const stages = await statusOf(job);
  const failure = await jobFailure(job);
  const workers = await workersOf(job);
  const facts = await describeJob(job.folder);
  const current = stages.find(({ done, tasks }) => done < tasks);
  if (json === true) {
    const error = failure === null ? undefined : errorJson(failure);
    const all = { job: job.id, ...facts, done: current === undefined, stages, workers, error };
    await printResult(io, all);
  } else {
    const rows = stages.map(({ name, done, tasks, rate, left }) => [
      name,
      `${done} of ${tasks}`,
      rate === null ? "" : `${rate.toPrecision(2)} a second`,
      left === null || left === 0 ? "" : `${printSeconds(left)}, until ${timeIn(left)}`,
    ]);
    const { out, inPlace, changed, chunks } = facts;
    const lines = [
      printTable([["stage", "tasks done", "so far", "left"], ...rows]),
      ...workerLines(workers),
      ...(inPlace && changed !== null
        ? [`${out}: ${changed} of ${printCount(chunks, "chunk")} are changed`]
        : []),
      current === undefined
        ? "done"
        : failure === null
          ? `at ${current.name}; run the command that started the job to continue it`
          : "stopped by a bad index",
    ];
    await printResult(io, lines.join("\n"));
  }
  if (failure !== null) throw wrongData(failure.message, failure);
}

/** Formats the time of day in `seconds` from now, with the date if it is not today. */
function timeIn(seconds: number): string {
  const then = new Date(Date.now() + 1000 * seconds);
  const time = then.toTimeString().slice(0, 5);
  const isToday = then.toDateString() === new Date().toDateString();
  return isToday ? time : `${then.toDateString()} ${time}`;
}

const TAKERS: Readonly<Record<string, string>> = {
  run: "run here",
  queue: "worker of a queue",
  task: "job task",
};

function workerLines(workers: readonly JobWorkerFacts[]): string[] {
  if (workers.length === 0) return [];
  const rows = workers.map(({ host, process, by, threads, done, seconds, rate, age }) => [
    `${host}, process ${process}`,
    TAKERS[by] ?? by,
    printCount(threads, "thread"),
    `${printCount(done, "task")} in ${printSeconds(seconds)}`,
    rate === null ? "" : `${rate.toPrecision(2)} a second`,
    `${printSeconds(age)} ago`,
  ]);
  return [printTable([["at work", "as", "", "done", "rate", "last sign"], ...rows])];
}

/**
 * Returns the type of the process that runs `ndscatter job task`: an element of a Slurm job array, or another process.
 */
export function takerOf(env: Readonly<Record<string, string | undefined>>): Taker {
  const { SLURM_ARRAY_JOB_ID: job, SLURM_ARRAY_TASK_ID: element, SLURM_JOB_ID: single } = env;
  const id = job === undefined || element === undefined ? single : `${job}_${element}`;
  return id !== undefined && /^\d{1,20}(?:_\d{1,20})?$/.test(id) ? `slurm ${id}` : "task";
}

interface TaskOptions extends LocalRun {
  readonly wait?: number;
}

async function runTasks(
  io: Io,
  given: string,
  stageName: string,
  text: string,
  { threads = io.threads ?? 1, memory, wait = 0 }: TaskOptions,
): Promise<void> {
  const folder = folderOf(io, given);
  const job = await openJob(folder);
  const stage = job.stages.find(({ name }) => name === stageName);
  if (stage === undefined) {
    const known = job.stages.map(({ name }) => name);
    const hint = didYouMean(stageName, known, `the stages are ${known.join(", ")}`);
    throw wrongUsage(`the job has no stage ${quote(stageName)}; ${hint}`);
  }
  const tasks = parseTasks(text, stage);
  await checkTurn(job, stage.name, performance.now() + 1000 * wait);
  const pool = startPool({ threads, memory, by: takerOf(io.env) });
  const stopped = "stopped before all tasks were finished; run the same command again to continue";
  await untilInterrupted(io, stopped, async (signal) => {
    const results = await Promise.allSettled(
      tasks.map((task) => pool.run(folder, stage.name, task, signal, job.id)),
    );
    signal.throwIfAborted();
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    // A nonzero status prevents a scheduler from starting the next stage.
    const failure = await jobFailure(job);
    if (failure !== null) throw wrongData(failure.message, failure);
  }).finally(() => pool.end());
}

/**
 * `until` is the deadline, in milliseconds of `performance.now()`. Throws a `Failure` if the previous stage has
 * unfinished tasks.
 */
async function checkTurn(job: Job, name: StageName, until: number): Promise<void> {
  if ((await remainingTasks(job, "finish")).length === 0) return;
  for (const { name: earlier } of job.stages) {
    if (earlier === name) return;
    // oxlint-disable-next-line no-await-in-loop -- a few stages
    const { length: left } = await remainingTasks(job, earlier);
    if (left === 0) continue;
    // oxlint-disable-next-line no-await-in-loop
    const failure = await jobFailure(job);
    // Nobody runs the other tasks of a job with a bad index.
    if (failure !== null) throw wrongData(failure.message, failure);
    if (performance.now() < until) {
      // oxlint-disable-next-line no-await-in-loop
      await sleep(2000);
      return checkTurn(job, name, until);
    }
    const sentence = `${printCount(left, "task")} of stage ${earlier} ${left === 1 ? "is" : "are"} not finished, and stage ${name} needs all of them; run them first`;
    throw wrongData(sentence);
  }
}

/** Maximum number of tasks per command. Running this many tasks takes minutes to hours. */
const MOST_TASKS = 1_000_000;

/** Parses task numbers such as `0-3,7`. */
export function parseTasks(text: string, { name, tasks }: Stage): number[] {
  const ranges = text.split(",").map((part): [number, number] => {
    const [, first, last = first] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(part) ?? [];
    if (first === undefined || Number(first) > Number(last)) {
      throw wrongUsage(`tasks must be numbers and ranges, such as 0-15, got ${quote(part)}`);
    }
    if (Number(first) >= tasks)
      throw wrongUsage(`tasks of ${name} must be from 0 to ${tasks - 1}, got ${part}`);
    // The last range from a scheduler may extend beyond the last task.
    return [Number(first), Math.min(Number(last), tasks - 1)];
  });
  const all = ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  if (all > MOST_TASKS)
    throw wrongUsage(
      `a command accepts at most ${MOST_TASKS} tasks, got ${all}; give shorter ranges`,
    );
  const numbers = ranges.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, nth) => first + nth),
  );
  return [...new Set(numbers)].toSorted((one, other) => one - other);
}

/** One line in the output of `ndscatter job list`. */
interface ListedJob {
  readonly folder: string | null;
  readonly state: string;
  /** The job's call; null if the job cannot be read. */
  readonly call: string | null;
  /** The output array of a job, or an unfinished array without a job. */
  readonly out: string | null;
  readonly inPlace?: boolean;
  /** The number of chunks that the job has changed in place. */
  readonly changed?: number | null;
  readonly chunks?: number;
}

async function listJobs(io: Io, given: string, { json }: JsonOption): Promise<void> {
  const short = (place: string): string => {
    const relative = path.relative(io.cwd, place);
    return isUrl(place) || relative.startsWith("..") ? place : relative === "" ? "." : relative;
  };
  const jobs: ListedJob[] = [];
  for (const { folder, array } of await findJobs(folderOf(io, given))) {
    const place = folder === null ? null : short(folder);
    if (array !== null)
      jobs.push({ folder: place, state: "not here", call: null, out: short(array) });
    // oxlint-disable-next-line no-await-in-loop -- in their order
    else jobs.push({ ...(await listed(folder ?? "", short)), folder: place });
  }
  if (json === true) return printResult(io, { jobs });
  const rows = jobs.map((job) => [
    job.folder ?? "not known",
    job.call ?? "",
    job.state,
    outOf(job),
  ]);
  const table = printTable([["job", "call", "state", "output"], ...rows]);
  return printResult(io, jobs.length === 0 ? `no jobs below ${given}` : table);
}

function outOf({ out, inPlace, changed, chunks }: ListedJob): string {
  const far = changed == null ? "" : `, ${changed} of ${printCount(chunks ?? 0, "chunk")} changed`;
  return `${out ?? ""}${inPlace === true ? ", in place" : ""}${far}`;
}

async function listed(
  folder: string,
  short: (place: string) => string,
): Promise<Omit<ListedJob, "folder">> {
  try {
    const facts = await describeJob(folder);
    const job = await openJob(folder);
    const stages = await statusOf(job);
    const current = stages.find(({ done, tasks }) => done < tasks);
    const state =
      current === undefined
        ? "done"
        : (await jobFailure(job)) !== null
          ? "a bad index stopped the job"
          : `${current.name} ${current.done} of ${current.tasks}`;
    return { state, ...facts, out: short(facts.out) };
  } catch (error) {
    if (!isTensorError(error)) throw error;
    return { state: `not readable: ${error.message}`, call: null, out: null };
  }
}
