/** The single task of the last stage makes the output visible and removes files that are no longer needed. */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import { randomBytes } from "node:crypto";
import { isCode, isThere, isUrl, makeEmpty, removeEmpty } from "../../boxes/file.ts";
import { isTensorError, TensorError, malformed } from "../../../core/errors.ts";
import { storeOf } from "../../zarr/locate.ts";
import { endClaim, giveUpClaim, readClaim, removeLateFiles, removeUnclaimed } from "./claim.ts";
import { fileOf, FOLDERS } from "../stages/task-files.ts";
import { type JobContext, chunksOfTask } from "../stages/context.ts";
import { inGroups } from "../stages/fragments.ts";
import { isPublished, damagedChunk } from "../stages/publish.ts";
import {
  ALL_FOLDERS,
  checkUnchanged,
  jobFailure,
  jobOf,
  remainingTasks,
  listTasks,
} from "./job.ts";
import { openOutput, publishPart, removePart } from "./open-arrays.ts";
import { isDone, markComplete } from "./spec-file.ts";
import type { JobSpec, StageName } from "./spec.ts";
import { removeLeft } from "./temporary.ts";
import { readSizes, unmark } from "../stages/marks.ts";
import { chunksOfBlock } from "../stages/place.ts";

/** The suffix of folders that are being removed. */
const TRASH = ".trash";

/**
 * Throws the error of the job's first bad index. Throws an `engine` error if tasks remain. Throws an `attribute` error
 *   if an input has changed since a task read it. Throws a `malformed-file` error if a chunk that the job wrote is
 *   missing or truncated.
 */
export async function finish(job: JobContext): Promise<void> {
  const { folder, out, spec } = job;
  const listed = jobOf(job);
  const failure = await jobFailure(listed);
  if (failure !== null) {
    await abandon(spec);
    throw failure;
  }
  for (const { name, tasks } of listed.stages) {
    if (name === "finish") continue;
    const { length: left } = await remainingTasks(listed, name);
    if (left === 0) continue;
    // Another run may have finished the job and removed these files.
    if (await isDone(folder)) return;
    throw unfinished(folder, name, left, tasks);
  }
  await checkUnchanged(job, spec.inPlace ? ["partition"] : ["partition", "apply"]);
  if (spec.inPlace) await finishChanges(job);
  else {
    const damage = await forgetDamaged(job);
    if (damage !== null) throw damage;
    if ("publish" in out) await (spec.out.format === "npy" ? publishPart(spec) : out.publish());
  }
  await markComplete(folder);
  await withdraw(spec);
  await makeEmpty(fileOf.done(folder));
  await cleanUpDone(folder, spec);
}

/**
 * Finishes tasks whose runs ended between writing the mark and renaming the chunks. Chunks that were already renamed are
 * compared with their recorded state.
 */
async function finishChanges(job: JobContext): Promise<void> {
  const tasks = job.spec.stages.find(({ name }) => name === "apply")?.tasks ?? 0;
  const all = await inGroups([...Array(tasks).keys()], (task) => isPublished(job, task));
  const { length: left } = all.filter((isOver) => !isOver);
  if (left > 0) throw unfinished(job.folder, "apply", left, tasks);
}

const unfinished = (folder: string, stage: string, left: number, all: number): TensorError => {
  const sentence = `the job in ${folder} cannot be finished: its stage ${stage} has unfinished tasks (${left} of ${all}); run them (ndscatter job resume ${folder})`;
  return new TensorError("engine", sentence, { file: folder, got: left });
};

/** Removes all task files of a finished job, in its folder, and beside the folder and the output. */
export async function cleanUpDone(folder: string, spec: JobSpec): Promise<void> {
  await cleanUp(folder);
  await removeLeft(path.dirname(folder), path.basename(folder));
  await cleanUpOutput(spec);
}

/** Removes files that slow or killed runs have left beside the output of a finished job. */
async function cleanUpOutput(spec: JobSpec): Promise<void> {
  const { id, out } = spec;
  if (out.format === "npy") return removePart(spec);
  if (!isUrl(out.path)) await removeLateFiles(out.path, id);
}

/** Returns the names in a folder, or an empty list if the folder does not exist. */
export const namesIn = (folder: string): Promise<string[]> =>
  fs.readdir(folder).catch((error: unknown) => {
    if (isCode(error, "ENOENT")) return [];
    throw error;
  });

/**
 * Removes all task files from a job's folder. Each folder is renamed before it is removed, because a slow task must not
 * find a folder without its mark.
 */
export async function cleanUp(folder: string): Promise<void> {
  for (const stage of ALL_FOLDERS) {
    const place = fileOf.stage(folder, stage);
    const trash = `${place}${TRASH}-${randomBytes(6).toString("hex")}`;
    await fs.rename(place, trash).catch((error: unknown) => {
      if (!isCode(error, "ENOENT")) throw error;
    });
  }
  // Another run may have removed the folder.
  for (const name of await namesIn(folder)) {
    if (!name.includes(TRASH)) continue;
    await fs.rm(path.join(folder, name), { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * Removes an abandoned job's unfinished output. An array that was partly changed in place keeps a mark with the number
 * of changed chunks.
 */
export async function abandon(spec: JobSpec): Promise<void> {
  const { out, inPlace } = spec;
  if (out.format === "npy") return removePart(spec);
  if (isUrl(out.path)) return endPending(spec, true);
  const found = await readClaim(out.path);
  if (found === null) return removeUnclaimed(out.path);
  // The array may already belong to a later job.
  if (found.id !== spec.id) return;
  if (inPlace) return giveUpClaim(out.path, found);
  // The chunks are in the folder `c`. The claim names the job of the remaining files, so it is removed last. A
  // published array is kept, because an identical job may have written it earlier.
  if (!(await isThere(path.join(out.path, "zarr.json"))))
    await fs.rm(path.join(out.path, "c"), { recursive: true, force: true });
  await giveUpClaim(out.path, found);
  // A folder that is not empty contains files of other programs.
  await removeEmpty(out.path);
}

/**
 * Removes a job's claim and temporary files after the output was completed, perhaps by another run. The function
 * `abandon` would remove parts of the complete output.
 */
export async function withdraw(spec: JobSpec): Promise<void> {
  const { out } = spec;
  if (out.format === "npy") return removePart(spec);
  if (isUrl(out.path)) return endPending(spec, false);
  const found = await readClaim(out.path);
  if (found?.id === spec.id) await endClaim(out.path, found);
  else await cleanUpOutput(spec);
}

/**
 * Removes a job's unfinished objects from object storage, unless another job owns the location. If `withChunks` is
 * true, the chunks of an unpublished array are also removed.
 */
async function endPending(spec: JobSpec, withChunks: boolean): Promise<void> {
  const { path: place } = spec.out;
  if ((await readClaim(place))?.id !== spec.id) return;
  const store = await storeOf(place);
  const isPending = async (): Promise<boolean> =>
    openOutput(spec).then(
      (out) => out.isPending(),
      (error: unknown) => {
        // The job never created its output.
        if (isTensorError(error, "malformed-file")) return false;
        throw error;
      },
    );
  const keys: string[] = [];
  if (withChunks && (await isPending())) for await (const { key } of store.list()) keys.push(key);
  for (const key of keys) if (key.startsWith("c/")) await store.remove(key);
  await store.staging?.end();
}

/** Returns the stage that writes the chunks of a job's output. */
export const writingStage = (isGather: boolean): "place" | "apply" =>
  isGather ? "place" : "apply";

/**
 * Removes the marks of tasks whose chunks are missing or have another size, so that these tasks run again. An array
 * that is already visible is not checked. For a change in place, the function finishes the work of interrupted runs
 * instead. Returns the error for the first damaged chunk of a new array, or null if all chunks are complete. Throws a
 * `malformed-file` error for a damaged chunk of an array that is changed in place.
 */
export async function forgetDamaged(job: JobContext): Promise<TensorError | null> {
  const { folder, out, spec } = job;
  const stage = writingStage(job.isGather);
  const done = [...(await listTasks(folder, stage)).done.keys()];
  if (spec.inPlace) await inGroups(done, (task) => isPublished(job, task));
  if (spec.inPlace || !("isPending" in out) || !(await out.isPending())) return null;
  const failures: TensorError[] = [];
  for (const task of done) {
    const failure = await damageOf(job, stage, task);
    if (failure === null) continue;
    failures.push(failure);
    await unmark(job, FOLDERS[stage], task);
  }
  return failures[0] ?? null;
}

async function damageOf(
  job: JobContext,
  stage: Exclude<StageName, "finish">,
  task: number,
): Promise<TensorError | null> {
  const chunks =
    stage === "place"
      ? chunksOfBlock(job, task)
      : chunksOfTask(job, task).map((chunk) => job.chunks.at(chunk));
  const marker = fileOf.task(job, FOLDERS[stage], task);
  const sizes = await readSizes(marker, chunks.length);
  if (sizes === null)
    return malformed(
      `${marker} must have a line for each chunk that its task wrote, but is damaged; run the task again ` +
        `(ndscatter job resume ${job.folder})`,
      { file: marker },
    );
  const failures = await inGroups(chunks, async (at, i) => {
    const { [i]: size } = sizes;
    const found = size === null ? null : await job.out.storedSize(at);
    return size === null || found === size ? null : damagedChunk(job, at, found, size);
  });
  return failures.find((one) => one !== null) ?? null;
}
