/** Runs one task of a job: whichever stage it belongs to, whoever asks, and whether or not it was done before. */

import { isThere } from "../../boxes/file.ts";
import { TensorError } from "../../../core/errors.ts";
import { applyTask } from "../stages/apply.ts";
import { checkLead } from "../stages/check.ts";
import { fileOf, type JobContext } from "../stages/context.ts";
import { cleanUpDone, finish } from "../job/finish.ts";
import { FOLDERS, isBadIndex, jobFailure, jobOf, writeBad, type StageName } from "../job/job.ts";
import { partition } from "../stages/partition.ts";
import { placeBlock } from "../stages/place.ts";
import { mark } from "../stages/publish.ts";
import { noteSeen } from "../stages/seen.ts";
import type { Workspace } from "../stages/workspace.ts";

/** What a task may use beside the job. */
export interface TaskMemory {
  readonly workspace: Workspace;
  /** Bytes of updates that may be in memory at once, beside a chunk. */
  readonly allowance: number;
  /** Bytes that reading indices and updates may hold, not counting what a single chunk of each takes. */
  readonly reading?: number;
}

/**
 * @throws TensorError of the job's first bad index, where a stage is asked for that must not begin any more; errors of the
 * file system
 */
export async function runTask(
  job: JobContext,
  stage: StageName,
  task: number,
  memory: TaskMemory,
): Promise<void> {
  const known = job.spec.stages.find(({ name }) => name === stage);
  if (known === undefined || !(Number.isSafeInteger(task) && task >= 0 && task < known.tasks)) {
    throw new TensorError("attribute", `the job has no task ${task} of ${stage}`);
  }
  const isDone = (): Promise<boolean> => isThere(fileOf.done(job.folder));
  if (await isDone()) return cleanUpDone(job.folder, job.spec);
  if (stage === "finish") return finish(job);
  try {
    await runOne(job, stage, task, memory);
  } catch (error) {
    // Another run of this task was first, and the job has ended since, with all of its folders.
    if (!(await isDone())) throw error;
    return cleanUpDone(job.folder, job.spec);
  }
}

async function runOne(
  job: JobContext,
  stage: Exclude<StageName, "finish">,
  task: number,
  { workspace, allowance, reading = 0 }: TaskMemory,
): Promise<void> {
  const file = fileOf.task(job.folder, FOLDERS[stage], task);
  // A marker of a chunk that is changed in place may have left something to do.
  const leavesMore = stage === "apply" && !job.isGather;
  if (!leavesMore && ((await isThere(file)) || (await isThere(`${file}.bad`)))) return;
  const isFirst = !(await isThere(file));
  if (isFirst && stage === "partition") await noteSeen(job, stage, task);
  if (stage === "partition") return runPartition(job, task, workspace, reading);
  if (stage === "check") return runCheck(job, task, workspace);
  const failure = await jobFailure(jobOf(job));
  if (failure !== null) throw failure;
  if (isFirst && stage === "apply") await noteSeen(job, stage, task);
  if (stage === "apply") return applyTask(job, task, workspace, allowance);
  return placeBlock(job, task, workspace);
}

async function runPartition(
  job: JobContext,
  block: number,
  memory: Workspace,
  reading: number,
): Promise<void> {
  try {
    await partition(job, block, memory, reading);
  } catch (error) {
    if (!isBadIndex(error)) throw error;
    await writeBad(job.folder, "partition", block, { block, position: 0, error });
  }
}

async function runCheck(job: JobContext, lead: number, memory: Workspace): Promise<void> {
  const repeat = await checkLead(job, lead, memory);
  if (repeat === null) await mark(job, FOLDERS.check, lead);
  else await writeBad(job.folder, "check", lead, repeat);
}
