/** Implements `ndscatter job`, which shows, resumes and removes jobs, and runs individual tasks for schedulers. */

import { printCount } from "../../core/foreign.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import {
  describeJob,
  jobFailure,
  openJob,
  remainingTasks,
  removeJob,
  startPool,
  workersOf,
  type Job,
  type Stage,
  type StageName,
} from "../../entries/chunked.ts";
import { CLI } from "../../core/limits.ts";
import { wrongData, wrongUsage } from "../failure.ts";
import type { Io } from "../io.ts";
import { addJobList } from "./job-list.ts";
import { printTook, statusOf } from "./job-status.ts";
import { printWorkers, takerOf } from "./job-workers.ts";
import { addJobWorker } from "./job-worker.ts";
import { errorJson } from "../text/error-json.ts";
import { JSON_HELP, printJson, printTable, quote } from "../text/layout.ts";
import { didYouMean } from "../text/names.ts";
import { runHere, type LocalRun } from "./job-engines.ts";
import { JobReport, printSeconds } from "./job-report.ts";
import { parseMemory, wholeOption } from "../input/numbers.ts";
import { folderOf } from "../input/places.ts";

const TASK_HELP = `
Schedulers call this command. Tasks are numbered from 0: give a number, a range
(0-15) or a list of numbers and ranges (0-3,7). Finished tasks are skipped, so
running a task again does no harm. A stage may start only when all tasks of the
previous stage are finished on all machines; ndscatter job status names the
stages.

Examples:
  ndscatter job task job/ partition 0-15
  ndscatter job task job/ finish 0`;

export function addJobCommand(program: Command, io: Io): void {
  const job = program
    .command("job")
    .summary("show, resume or remove a chunked job, or run some of its tasks")
    .description("Show, resume or remove a job of ndscatter run, or run some of its tasks.")
    .addHelpText("after", "\nExamples:\n  ndscatter job list\n  ndscatter job status job/");
  job
    .command("status")
    .summary("show the finished and the remaining tasks of a job")
    .description("Show the finished and the remaining tasks of a job, according to its folder.")
    .argument("<folder>", "the job's folder")
    .option("--json", JSON_HELP)
    .addHelpText("after", "\nExamples:\n  ndscatter job status job/")
    .action((folder: string, { json = false }: { json?: boolean }) => showStatus(io, folder, json));
  job
    .command("resume")
    .summary("run the remaining tasks of a job")
    .description("Run the remaining tasks of a job on this machine.")
    .argument("<folder>", "the job's folder")
    .option(
      "--threads <count>",
      "the number of chunks that are processed at once",
      wholeOption("--threads", 1),
    )
    .option(
      "--memory <size>",
      "the memory for all chunks that are processed at once (default: 1G)",
      parseMemory,
    )
    .addHelpText("after", "\nExamples:\n  ndscatter job resume job/ --threads 8 --memory 4G")
    .action((folder: string, options: LocalRun) => resumeJob(io, folder, options));
  job
    .command("remove")
    .summary("remove a job and its folder, finished or not")
    .description(
      "Remove a job and its folder. If the job is not done, its unfinished output is removed too. An array that " +
        "the job was changing in place keeps a mark with the number of changed chunks, and can no longer be opened.",
    )
    .argument("<folder>", "the job's folder")
    .addHelpText("after", "\nExamples:\n  ndscatter job remove job/")
    .action((folder: string) => giveUpJob(io, folder));
  addTask(job, io);
  addJobList(job, io);
  addJobWorker(job, io);
}

async function resumeJob(io: Io, given: string, options: LocalRun): Promise<void> {
  const folder = folderOf(io, given);
  const report = new JobReport(io);
  await runHere(io, folder, options, report);
  const took = await tookLines(folder, report);
  await io.stdout.write([`${given}: done`, ...took, ""].join("\n"));
}

/** Compares a long job's actual cost with its plan. */
async function tookLines(folder: string, { seconds }: JobReport): Promise<string[]> {
  return seconds > CLI.long ? printTook(await describeJob(folder)).map((line) => `  ${line}`) : [];
}

async function giveUpJob(io: Io, given: string): Promise<void> {
  const folder = folderOf(io, given);
  await openJob(folder);
  await removeJob(folder);
  await io.stdout.write(`${given}: removed\n`);
}

interface TaskOptions {
  readonly threads?: number;
  readonly memory?: number;
  readonly wait?: number;
}

async function showStatus(io: Io, folder: string, isJson: boolean): Promise<void> {
  const job = await openJob(folderOf(io, folder));
  const stages = await statusOf(job);
  const failure = await jobFailure(job);
  const workers = await workersOf(job);
  const isDone = stages.every(({ done, tasks }) => done === tasks);
  if (isJson) {
    const error = failure === null ? undefined : errorJson(failure);
    const facts = await describeJob(job.folder);
    const all = { job: job.id, ...facts, done: isDone, stages, workers, error };
    await io.stdout.write(`${printJson(all)}\n`);
  } else {
    const current = stages.find(({ done, tasks }) => done < tasks);
    const rows = stages.map(({ name, done, tasks, rate, left }) => [
      name,
      `${done} of ${tasks}`,
      rate === null ? "" : `${rate.toPrecision(2)} a second`,
      left === null || left === 0 ? "" : `${printSeconds(left)}, until ${timeIn(left)}`,
    ]);
    const state = isDone
      ? "done"
      : failure === null
        ? `at ${current?.name}; run the command that started the job to continue it`
        : "stopped by a bad index";
    const table = printTable([["stage", "tasks done", "so far", "left"], ...rows]);
    const facts = await describeJob(job.folder);
    const { out, inPlace, changed, chunks } = facts;
    const took = printTook(facts).map((line) => `${line}\n`);
    const change =
      inPlace && changed !== null
        ? `${out}: ${changed} of ${printCount(chunks, "chunk")} are changed\n`
        : "";
    await io.stdout.write(`${table}\n${printWorkers(workers)}${took.join("")}${change}${state}\n`);
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
  const controller = new AbortController();
  const release = io.onInterrupt(() => controller.abort());
  try {
    const { signal } = controller;
    const results = await Promise.allSettled(
      tasks.map((task) => pool.run(folder, stage.name, task, signal, job.id)),
    );
    if (signal.aborted)
      throw wrongData(
        "stopped before all tasks were finished; run the same command again to continue",
      );
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    // A nonzero status prevents a scheduler from starting the next stage.
    const failure = await jobFailure(job);
    if (failure !== null) throw wrongData(failure.message, failure);
  } finally {
    release();
    await pool.end();
  }
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
  const numbers: number[] = [];
  const all = ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  if (all > MOST_TASKS)
    throw wrongUsage(
      `a command accepts at most ${MOST_TASKS} tasks, got ${all}; give shorter ranges`,
    );
  let next = 0;
  for (const [first, last] of ranges.toSorted(([a], [b]) => a - b)) {
    for (let task = Math.max(next, first); task <= last; task++) numbers.push(task);
    next = Math.max(next, last + 1);
  }
  return numbers;
}

function addTask(job: Command, io: Io): void {
  job
    .command("task")
    .summary("run some of the tasks in one stage of a job")
    .description("Run some tasks of one stage of a job.")
    .argument("<folder>", "the job's folder")
    .argument("<stage>", "the name of the stage: partition, check, apply, place or finish")
    .argument("<tasks>", "the numbers of the tasks, such as 3 or 0-15")
    .option(
      "--threads <count>",
      "the maximum number of tasks to run at once (default: 1)",
      wholeOption("--threads", 1),
    )
    .option(
      "--memory <size>",
      "the memory limit for all tasks that run at once (default: 1G)",
      parseMemory,
    )
    .option(
      "--wait <seconds>",
      "the seconds to wait for results to appear in a slow network folder (default: 0)",
      wholeOption("--wait", 0),
    )
    .addHelpText("after", TASK_HELP)
    .action((folder: string, stage: string, tasks: string, options: TaskOptions) =>
      runTasks(io, folder, stage, tasks, options),
    );
}
