/**
 * Prepares a job's output before the first task: creates a hidden new array, or claims the array that is changed in
 * place.
 */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import { printCount } from "../../../core/foreign.ts";
import { isTensorError, TensorError } from "../../../core/errors.ts";
import type { ArrayType } from "../../boxes/array.ts";
import { isCode, isThere, isUrl } from "../../boxes/file.ts";
import { openPendingNpy } from "../../npy/files.ts";
import { storeOf } from "../../zarr/locate.ts";
import { isFree } from "../../zarr/room.ts";
import { resolveCall } from "./request.ts";
import { claim, claimOf, isClaimed } from "./claim.ts";
import { fileOf, FOLDERS, taskFilesIn } from "../stages/task-files.ts";
import { inGroups } from "../stages/fragments.ts";
import { abandon, withdraw, writingStage } from "./finish.ts";
import { checkStageFolders } from "./job.ts";
import { createOutput, openOutput, outputExists, partOf } from "./open-arrays.ts";
import { countChanged } from "../stages/marks.ts";
import type { JobSpec } from "./spec.ts";
import type { BegunJob } from "./spec-file.ts";
import { LOOKS, temporaryOf, untilNextLook } from "./temporary.ts";

/**
 * Creates the output if it does not exist. A repeated call continues with the existing output. Throws an `attribute`
 * error if another job owns the array, or if the output of this job is missing.
 */
export async function beginOutput(job: BegunJob): Promise<void> {
  await createOrContinue(job);
  // A run whose beginning failed may have removed the job and its output before this run created the output again.
  await checkStageFolders(job.folder, job.spec).catch(async (error: unknown) => {
    if (isTensorError(error) && !(await job.isComplete())) await abandon(job.spec);
    throw error;
  });
}

async function createOrContinue(job: BegunJob): Promise<void> {
  const { folder, spec } = job;
  await renewOutput(job, false);
  if (await isOurs(spec)) return;
  const { inPlace, out } = spec;
  const done = await marksOf(folder, spec);
  if (done > 0) {
    // The run may have been interrupted between publishing the array and marking the job as done.
    if (!inPlace && (await isPublished(spec))) return;
    throw inPlace ? halfChanged(folder, spec, done) : lost(folder, out.path);
  }
  const failure = await begin(job).then(
    () => null,
    (error: unknown) => ({ error }),
  );
  // Another run may have finished this job or an identical job after the marks were read.
  const isComplete = await job.isComplete();
  const isOver = isComplete || (!inPlace && !isUrl(out.path) && (await isPublished(spec)));
  if (isOver) await withdraw(spec);
  if (isComplete) return;
  if (isOver && (await marksOf(folder, spec)) === 0) throw outputExists(out.path);
  if (!isOver && failure !== null) throw failure.error;
}

/**
 * Recreates the unfinished NPY output of a job if the file was truncated, because the missing bytes are lost.
 * Afterwards, all tasks that write to the file must run again. If `isBegun` is false, the output may not exist yet. The
 * look is repeated, because another run may be replacing the file.
 */
export async function renewOutput(job: BegunJob, isBegun: boolean, looks = LOOKS): Promise<void> {
  const { folder, spec } = job;
  if (spec.out.format !== "npy") return;
  const part = partOf(spec);
  let isFound = false;
  try {
    if (await isWhole(spec, part)) return;
    isFound = true;
    await renewPart(job, part);
  } catch (error) {
    if (!isCode(error, "ENOENT")) throw error;
    const isGone = isBegun || isFound || (await marksOf(folder, spec)) > 0;
    if (!isGone || looks === 0) return;
    await untilNextLook();
    await renewOutput(job, true, looks - 1);
  }
}

async function renewPart(job: BegunJob, part: string): Promise<void> {
  const { folder, spec } = job;
  // If several runs begin at the same time, only one of them moves the old file away. If another run has already
  // created a new file, that file is moved back.
  const taken = temporaryOf(part);
  await fs.rename(part, taken);
  try {
    if (await isWhole(spec, taken)) return await fs.link(taken, part);
    for (const mark of await marksIn(folder, spec)) await fs.rm(mark, { force: true });
    await createNew(job);
  } finally {
    await fs.rm(taken, { force: true });
  }
}

const isWhole = ({ out }: JobSpec, part: string): Promise<boolean> =>
  openPendingNpy(out.path, out.chunkShape, part).then(
    () => true,
    (error: unknown) => {
      if (isTensorError(error, "malformed-file")) return false;
      throw error;
    },
  );

async function begin(job: BegunJob): Promise<void> {
  const { folder, spec } = job;
  const { inPlace, out } = spec;
  if (out.format === "zarr") await claim(out.path, claimOf(folder, spec));
  if (!inPlace) await createNew(job);
}

/**
 * Returns the error for a job whose array no longer contains the folder `.ndscatter`. Without the staged chunks in this
 * folder, the job cannot be finished.
 */
const halfChanged = (folder: string, { out, chunks }: JobSpec, changed: number): TensorError => {
  const sentence =
    `the job in ${folder} has changed ${changed} of ${printCount(chunks, "chunk")} of ${out.path}, but the array's folder ` +
    `.ndscatter, without which the job cannot be finished, is gone; restore the array from a copy, then remove ${folder}`;
  return new TensorError("attribute", sentence, {
    key: "job",
    input: "out",
    file: folder,
    got: changed,
    expected: chunks,
  });
};

const lost = (folder: string, out: string): TensorError => {
  const sentence =
    `the job in ${folder} has written chunks of ${out}, but the unfinished output is gone; ` +
    `remove the job to begin again (ndscatter job remove ${folder})`;
  return new TensorError("attribute", sentence, { key: "job", input: "out", file: folder });
};

/** Returns true if this job has begun but not published the output. */
export async function isOurs(spec: JobSpec): Promise<boolean> {
  const { out, inPlace } = spec;
  if (out.format === "npy") return isThere(partOf(spec));
  if (!(await isClaimed(out.path, spec))) return false;
  if (inPlace) return true;
  return openOutput(spec).then(
    (opened) => !isUrl(out.path) || opened.isPending(),
    () => false,
  );
}

async function isPublished({ id, out }: JobSpec): Promise<boolean> {
  // Another program may have written an array to the same location in object storage.
  if (isUrl(out.path))
    return (await isClaimed(out.path, { id })) && !(await isFree(await storeOf(out.path)));
  return isThere(out.format === "npy" ? out.path : path.join(out.path, "zarr.json"));
}

/** Returns the marks of tasks that have written to the output. */
const marksIn = async (folder: string, spec: JobSpec): Promise<string[]> => {
  const stage = writingStage(spec.updates === undefined);
  const files = await taskFilesIn(fileOf.stage(folder, FOLDERS[stage]));
  return files.filter((file) => /^\d+$/.test(path.basename(file)));
};

/**
 * Returns the number of tasks that have written to a new output, or the number of chunks that were changed in place.
 */
async function marksOf(folder: string, spec: JobSpec): Promise<number> {
  const marks = await marksIn(folder, spec);
  if (!spec.inPlace) return marks.length;
  const changes = await inGroups(marks, countChanged);
  return changes.reduce((sum, count) => sum + count, 0);
}

async function createNew({ spec, inputs }: BegunJob): Promise<void> {
  const { call, out } = spec;
  const opened = await inputs();
  const { data } = opened;
  const { shape } = resolveCall(call, opened);
  const type: ArrayType = { dtype: data.dtype, shape, chunkShape: out.chunkShape ?? shape };
  await createOutput(spec, type, data);
}
