/** Runs a task of any stage of a job, even if the task was done before. */

import { isThere } from "../../boxes/file.ts";
import { factOf } from "../../../core/foreign.ts";
import { TensorError } from "../../../core/errors.ts";
import { applyTask } from "../stages/apply.ts";
import { checkLead } from "../stages/check.ts";
import { fileOf, type JobContext } from "../stages/context.ts";
import { cleanUpDone, finish } from "../job/finish.ts";
import {
  FOLDERS,
  isBadIndex,
  jobFailure,
  jobOf,
  listTasks,
  writeBad,
  type StageName,
} from "../job/job.ts";
import { mergeTask } from "../stages/merge.ts";
import { partition } from "../stages/partition.ts";
import { placeBlock } from "../stages/place.ts";
import { checkOwner } from "../job/owner.ts";
import { isDone } from "../job/spec-file.ts";
import { mark } from "../stages/marks.ts";
import { checkSeen, checkStill, noteSeen, seenFile, type SeenStage } from "../stages/seen.ts";
import type { Workspace } from "../stages/workspace.ts";

/** The memory that a task may use. */
export interface TaskMemory {
  readonly workspace: Workspace;
  /** The maximum number of update bytes in memory at once, in addition to a chunk. */
  readonly allowance: number;
  /** The maximum memory for reading indices and updates, in bytes, in addition to one chunk of each array. */
  readonly reading?: number;
}

/** Throws the error of the job's first bad index, if this error prevents the stage, or a file system error. */
export async function runTask(
  job: JobContext,
  stage: StageName,
  task: number,
  memory: TaskMemory,
): Promise<void> {
  const known = job.spec.stages.find(({ name }) => name === stage);
  if (known === undefined || !(Number.isSafeInteger(task) && task >= 0 && task < known.tasks)) {
    throw new TensorError("attribute", `the stage ${stage} of the job has no task ${task}`, {
      key: "task",
      got: factOf(task),
      limit: known === undefined ? undefined : known.tasks - 1,
    });
  }
  if (await isDone(job.folder)) return cleanUpDone(job.folder, job.spec);
  try {
    await (stage === "finish" ? finish(job) : runOne(job, stage, task, memory));
  } catch (error) {
    // Another run did this task first, and the job has since ended and removed its folders.
    if (!(await isDone(job.folder))) throw error;
    return cleanUpDone(job.folder, job.spec);
  }
}

async function runOne(
  job: JobContext,
  stage: Exclude<StageName, "finish">,
  task: number,
  { workspace, allowance, reading = 0 }: TaskMemory,
): Promise<void> {
  const file = fileOf.task(job, FOLDERS[stage], task);
  // A run may have been interrupted after it wrote the mark of a task that changes chunks in place.
  const leavesMore = stage === "apply" && !job.isGather;
  if (!leavesMore && ((await isThere(file)) || (await isThere(`${file}.bad`)))) return;
  if (stage === "check") return runCheck(job, task, workspace);
  if (stage === "apply" || stage === "merge") {
    const failure = await jobFailure(jobOf(job));
    if (failure !== null) throw failure;
  }
  try {
    if (stage === "place") return await placeBlock(job, task, workspace);
    if (stage === "merge")
      return await mergeTask(job, task, workspace, allowance, () => checkOwner(job));
    const check = await lookBefore(job, stage, task);
    if (stage === "partition") await runPartition(job, task, workspace, reading, check);
    else await applyTask(job, task, workspace, allowance, check);
  } catch (error) {
    // Another run did this task first, so nothing remains to be done.
    if (job.spec.inPlace && stage === "apply") throw error;
    if (!(await isThere(file))) throw error;
  }
}

/**
 * Records the state of a task's inputs before the task reads them. Returns a function that checks after reading whether
 * the state is unchanged.
 */
async function lookBefore(
  job: JobContext,
  stage: SeenStage,
  task: number,
): Promise<() => Promise<void>> {
  // For a change in place, chunks are compared individually instead.
  const isRead = stage === "partition" || !job.spec.inPlace;
  const isDone = await isThere(fileOf.task(job, FOLDERS[stage], task));
  // A task whose file was lost must read unchanged inputs, because later tasks have already used its file.
  const hasRun = isRead && !isDone && (await isThere(seenFile(job, stage, task)));
  if (hasRun && (await isUsed(job, stage))) await checkSeen(job, stage, [task]);
  const seen = isRead && !isDone ? await noteSeen(job, stage, task) : {};
  return async () => {
    await checkOwner(job);
    await checkStill(job, stage, task, seen);
  };
}

/** Returns true if a task of a stage that uses the files of this stage is done. */
async function isUsed(job: JobContext, stage: SeenStage): Promise<boolean> {
  const next = stage === "partition" ? (["merge", "apply"] as const) : (["place"] as const);
  const lists = await Promise.all(next.map((one) => listTasks(job.folder, one)));
  return lists.some(({ done }) => done.size > 0);
}

async function runPartition(
  job: JobContext,
  block: number,
  memory: Workspace,
  reading: number,
  check: () => Promise<void>,
): Promise<void> {
  try {
    await partition(job, block, memory, reading, check);
  } catch (error) {
    if (!isBadIndex(error)) throw error;
    await check();
    await writeBad(job, "partition", block, { block, position: 0, error });
  }
}

async function runCheck(job: JobContext, lead: number, memory: Workspace): Promise<void> {
  const repeat = await checkLead(job, lead, memory);
  if (repeat === null) await mark(job, FOLDERS.check, lead);
  else await writeBad(job, "check", lead, repeat);
}
