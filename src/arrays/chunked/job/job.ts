/**
 * A job is a folder of numbered tasks. The file `job.json` describes the work, and one file per task marks the task as
 * done. A listing of the folder therefore shows the progress and the remaining tasks, no matter who runs tasks and how
 * often.
 *
 *     partition   shuffle/<block>   one task per block of positions
 *     merge       merged/<task>     only of very many fragments: one task per group of leads and batch of blocks
 *     check       checked/<lead>    only if duplicates are an error: one task per column of chunks
 *     apply       applied/<task>    one task per chunk of data, or one for several small chunks
 *     place       placed/<block>    only in a gather
 *     finish      done
 *
 * A task that finds bad indices leaves `<number>.bad` instead of its file. After a bad index, the stage continues,
 * because the job must report the error of the first block with a bad index, but later stages do not begin.
 */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import { randomBytes } from "node:crypto";
import { findText, inFile, isCode, isThere, placeError } from "../../boxes/file.ts";
import type { Guard } from "../../boxes/array.ts";
import { isTensorError, TensorError, oneOf } from "../../../core/errors.ts";
import { CHUNKED } from "../../../core/limits.ts";
import { checkStages, contextOf, type JobContext, type JobInputs } from "../stages/context.ts";
import { fileOf, areMissing, FOLDERS, groupsOf, taskFilesIn } from "../stages/task-files.ts";
import { checkSeen, type SeenStage } from "../stages/marks.ts";
import { checkPath } from "./request.ts";
import { openInputs, openOut } from "./open-arrays.ts";
import { checkFolder, checkFolderOf, isDone, noJob, readSpec } from "./spec-file.ts";
import { receiveError, sendError, type SentError } from "../run/sent-error.ts";
import { type JobSpec, type Stage, type StageName, STAGE_NAMES } from "./spec.ts";
import { factOf, isArray, nearestName, printValue, wrongOption } from "../../../core/foreign.ts";

/** A job opened by `openJob`. */
export interface Job {
  readonly folder: string;
  readonly id: string;
  /** The stages in order, the last of which is `finish` with a single task. */
  readonly stages: readonly Stage[];
}

/** The folder with the records of processes that work on the job: see `workers.ts`. */
export const WORKERS = "workers";

/** The folders that a job removes when it ends. Older jobs also recorded the cost of each task, in `took`. */
export const ALL_FOLDERS: readonly string[] = [...Object.values(FOLDERS), WORKERS, "took"];

/**
 * Opens the job in a folder, by reading only `job.json`.
 *
 * @param folder the path of the job's folder
 * @throws TensorError `malformed-file` if the folder holds no job, `attribute` for a value that is not a path
 *
 * @example
 * ```ts
 * await createJob(request); // the request of createJob
 * const job = await openJob("job");
 * console.log(job.stages.map(({ name }) => name)); // ["partition", "apply", "finish"]
 * ```
 */
export async function openJob(folder: string): Promise<Job> {
  checkPath(folder);
  const { id, stages } = await readSpec(folder);
  return { folder, id, stages };
}

/**
 * `spec` contains the folder's `job.json`. `inputs` are the job's inputs if they are open. `guard` checks each array file
 * before it is opened.
 */
export async function openContext(
  folder: string,
  spec: JobSpec,
  { inputs, guard }: { readonly inputs?: JobInputs; readonly guard?: Guard | undefined } = {},
): Promise<JobContext> {
  const opened = inputs ?? (await openInputs(spec, guard));
  const out = await openOut(spec, opened.data, guard);
  const groups = groupsOf(folder, spec.stages);
  for (const place of new Set(groups.map((group) => path.dirname(group))))
    await checkFolderOf(place);
  const context = contextOf(folder, spec, { ...opened, out }, await areMissing(groups));
  checkStages(context);
  return context;
}

export const jobOf = ({ folder, spec: { id, stages } }: JobContext): Job => ({
  folder,
  id,
  stages,
});

/** Returns the stages and their task counts, and omits stages without a count. */
export const stagesOf = (
  tasks: Readonly<Record<Exclude<StageName, "finish">, number | null>>,
): Stage[] =>
  Object.entries({ ...tasks, finish: 1 }).flatMap(([name, count]) =>
    count === null ? [] : [{ name: name as StageName, tasks: count }],
  );

/**
 * Lists the numbers of a stage's unfinished tasks.
 *
 * @param job a job from `openJob`
 * @param name the name of the stage
 * @throws TensorError `malformed-file` for a removed job, `attribute` for other values; file system errors
 *
 * @example
 * ```ts
 * await createJob(request); // the request of createJob
 * const job = await openJob("job");
 * console.log(await remainingTasks(job, "partition")); // [0]
 * await runJob("job", { threads: 0 });
 * console.log(await remainingTasks(job, "partition")); // []
 * ```
 */
export async function remainingTasks(job: Job, name: StageName): Promise<number[]> {
  checkJob(job);
  checkStage(name);
  const tasks = job.stages.find((stage) => stage.name === name)?.tasks ?? 0;
  const hasJob = await checkFolder(job);
  if (await isDone(job.folder)) return [];
  if (!hasJob) throw noJob(job.folder);
  if (name === "finish") return [0];
  const { done, bad } = await listTasks(job.folder, name);
  // Blocks after the first block with a bad index do not affect the job's error.
  let end = tasks;
  if (name === "partition") for (const task of bad.keys()) end = Math.min(end, task);
  const left: number[] = [];
  for (let task = 0; task < end; task++) if (!done.has(task) && !bad.has(task)) left.push(task);
  return left;
}

/** Throws an `attribute` error if an input has changed after a finished task read it. */
export async function checkUnchanged(
  context: JobContext,
  stages: readonly SeenStage[] = ["partition", "apply"],
): Promise<void> {
  for (const stage of stages) {
    // The first stage with a change is the error.
    await checkSeen(context, stage, [...(await listTasks(context.folder, stage)).done.keys()]);
  }
}

/**
 * Returns the number of tasks of a stage that are done per second, or null for too few tasks. The rate is computed from
 * file times, and includes pauses between runs.
 *
 * @param job a job from `openJob`
 * @param name the name of the stage
 * @throws TensorError `malformed-file` for a removed job, `attribute` for other values; file system errors
 *
 * @example
 * ```ts
 * await createJob(request); // the request of createJob
 * console.log(await taskRate(await openJob("job"), "partition")); // null
 * ```
 */
export async function taskRate(job: Job, name: StageName): Promise<number | null> {
  checkJob(job);
  checkStage(name);
  const { folder } = job;
  if (!(await checkFolder(job))) throw noJob(folder);
  if (name === "finish") return null;
  const done = [...(await listTasks(folder, name)).done.values()];
  const step = Math.ceil(done.length / CHUNKED.rated);
  const times: number[] = [];
  for (const file of done.filter((_, i) => i % step === 0)) {
    const stat = await fs.stat(file).catch(() => null);
    if (stat !== null) times.push(stat.mtimeMs / 1000);
  }
  const seconds = Math.max(...times) - Math.min(...times);
  return times.length > 1 && seconds > 0 ? ((times.length - 1) * step) / seconds : null;
}

/**
 * Returns the job's error according to the tasks so far, or null if all checked indices are valid.
 *
 * @param job a job from `openJob`
 * @throws TensorError `attribute` for other values; file system errors
 *
 * @example
 * ```ts
 * await createJob(request); // the request of createJob
 * await runJob("job", { threads: 0 });
 * console.log(await jobFailure(await openJob("job"))); // null
 * ```
 */
export async function jobFailure(job: Job): Promise<TensorError | null> {
  checkJob(job);
  const failures: BadTask[] = [];
  for (const { name } of job.stages) {
    if (name === "finish" || !CHECKING.has(name)) continue;
    const { bad } = await listTasks(job.folder, name);
    for (const file of bad.values()) failures.push(await readBad(file));
    if (failures.length > 0) break;
  }
  failures.sort((a, b) => a.block - b.block || a.position - b.position);
  return failures[0]?.error ?? null;
}

/**
 * Checks that the stage folders of an unfinished job still exist, because without them no task can end. Throws an
 * `attribute` error if a folder is missing, because another process has begun to remove the job.
 */
export async function checkStageFolders(folder: string, { stages }: JobSpec): Promise<void> {
  for (const [name, stage] of Object.entries(FOLDERS)) {
    const place = fileOf.stage(folder, stage);
    // Jobs of earlier versions have no folder for this stage.
    if (name === "merge" && !stages.some((one) => one.name === name)) continue;
    if (await isThere(place)) continue;
    const sentence = `the job in ${folder} was removed in part, because its folder ${place} is gone; remove the rest (ndscatter job remove ${folder}), and begin the job again`;
    throw new TensorError("attribute", sentence, { key: "folder", file: place });
  }
}

/** Removes the records of bad indices, so that all indices are checked again. */
export async function forgetFailures(folder: string): Promise<void> {
  for (const stage of [FOLDERS.partition, FOLDERS.check]) {
    const names = await taskFilesIn(fileOf.stage(folder, stage));
    for (const file of names.filter((one) => one.endsWith(".bad")))
      await fs.rm(file, { force: true });
  }
}

/** The stages whose tasks find bad indices. */
export const CHECKING: ReadonlySet<StageName> = new Set(["partition", "check"]);

/** The error of a task, and the first position with this error. */
export interface BadTask {
  readonly block: number;
  readonly position: number;
  readonly error: TensorError;
}

export async function writeBad(
  job: JobContext,
  stage: "partition" | "check",
  task: number,
  { block, position, error }: BadTask,
): Promise<void> {
  const text = JSON.stringify({ block, position, error: sendError(error) }, (_, value: unknown) =>
    typeof value === "bigint" ? { bigint: String(value) } : value,
  );
  const file = `${fileOf.task(job, FOLDERS[stage], task)}.bad`;
  const temporary = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  await inFile(temporary, fs.writeFile(temporary, text));
  await fs.rename(temporary, file);
}

async function readBad(file: string): Promise<BadTask> {
  try {
    const { block, position, error } = JSON.parse(
      (await findText(file)) ?? "",
      (_, value: unknown) =>
        typeof value === "object" && value !== null && "bigint" in value
          ? BigInt(String(value.bigint))
          : value,
    ) as { block: number; position: number; error: SentError };
    const received = receiveError(error);
    if (isTensorError(received)) return { block, position, error: received };
    throw new Error("no code");
  } catch (cause) {
    throw new TensorError(
      "malformed-file",
      `${file} must be a file that a task wrote, but is damaged`,
      {},
      { cause },
    );
  }
}

/** Lists the files of a stage's finished tasks, and those of tasks that found a bad index. */
export async function listTasks(
  folder: string,
  name: Exclude<StageName, "finish">,
): Promise<{ done: ReadonlyMap<number, string>; bad: ReadonlyMap<number, string> }> {
  const found = await taskFilesIn(fileOf.stage(folder, FOLDERS[name])).catch((error: unknown) => {
    if (isCode(error, "ENOENT")) return [];
    throw placeError(error);
  });
  const [done, bad] = [new Map<number, string>(), new Map<number, string>()];
  for (const file of found) {
    const [, number, suffix] = /^([0-9]+)(\.bad)?$/.exec(path.basename(file)) ?? [];
    if (number !== undefined) (suffix === undefined ? done : bad).set(Number(number), file);
  }
  return { done, bad };
}

/** Returns true for an error about a bad index, which a repeated task would find again. */
export const isBadIndex = (error: unknown): error is TensorError =>
  isTensorError(error, "index-out-of-range", "duplicate-index");

/** Throws an `attribute` error unless `job` comes from `openJob`. */
export function checkJob(job: unknown): void {
  const parts: { folder?: unknown; id?: unknown; stages?: unknown } =
    typeof job === "object" && job !== null ? job : {};
  const { folder, id, stages } = parts;
  if (typeof folder === "string" && typeof id === "string" && isArray(stages)) return;
  const advice = typeof job === "string" ? "; call openJob with the folder first" : "";
  const sentence = `job must be a job that openJob has opened, got ${printValue(job)}${advice}`;
  throw new TensorError("attribute", sentence, { key: "job", got: factOf(job) });
}

/** Throws an `attribute` error unless a stage has this name. */
export function checkStage(name: unknown): void {
  if (STAGE_NAMES.includes(name as StageName)) return;
  const nearest =
    typeof name === "string" ? (nearestName(name, STAGE_NAMES) ?? undefined) : undefined;
  throw wrongOption("name", oneOf(STAGE_NAMES), name, { allowed: STAGE_NAMES, nearest });
}
