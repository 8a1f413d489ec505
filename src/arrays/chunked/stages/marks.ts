/**
 * Reads and writes task marks. A mark is a file in a stage's folder that shows that a task is done. A mark has one line
 * per output chunk with the size of the stored chunk, or a sign for a chunk that is not stored. For a change in place,
 * each line contains the staged name, the size, and the state of the chunk before the change.
 */

import { randomBytes } from "node:crypto";
import * as path from "node:path";
import { malformed } from "../../../core/errors.ts";
import { findText, isCode, MOST_TEXT, syncFolder, withFile } from "../../boxes/file.ts";
import { files } from "../../boxes/files.ts";
import { checkOwner } from "../job/owner.ts";
import { chunksOfTask, fileOf, type JobContext } from "./context.ts";

/** The line for an unchanged chunk, or for a chunk of a new array that is not stored. */
const UNCHANGED = "-";

/** A chunk that a task changes in place. */
export interface ChangedChunk {
  readonly chunk: number;
  /** The name under which the chunk is staged. */
  readonly name: string;
  /** The size of the staged chunk, in bytes. */
  readonly size: number;
  /** The chunk's `markedState` before the change. */
  readonly before: string;
}

/** Converts an array's state to a single line of a mark. */
export const markedState = (state: string): string => state.replaceAll("\n", "|");

/** `changed` has one entry per chunk of the task, which is null for an unchanged chunk. */
export const printMark = (changed: readonly (ChangedChunk | null)[]): string =>
  changed
    .map((one) => (one === null ? UNCHANGED : `${one.name} ${one.size} ${one.before}`))
    .join("\n");

/** `sizes` contains the sizes of a new array's stored chunks, or null for a chunk that is not stored. */
export const printSizes = (sizes: readonly (number | null)[]): string =>
  sizes.map((size) => size ?? UNCHANGED).join("\n");

/** The maximum length of a line from `printSizes`. */
export const SIZE_LINE = 17;

/** Reads the sizes of `count` chunks that a task has written to a new array, or returns null for a damaged mark. */
export async function readSizes(
  marker: string,
  count: number,
): Promise<readonly (number | null)[] | null> {
  const text = await findText(marker, Math.max(MOST_TEXT, SIZE_LINE * count));
  const lines = text === "" ? [] : (text?.split("\n") ?? []);
  const areRight = lines.every((line) => line === UNCHANGED || /^\d{1,16}$/.test(line));
  if (text === null || lines.length !== count || !areRight) return null;
  return lines.map((line) => (line === UNCHANGED ? null : Number(line)));
}

/**
 * Reads from a task's mark which chunks change in place, or returns null without a mark. Throws a `malformed-file`
 * error unless the mark has one line of this job per chunk.
 */
export async function readMark(job: JobContext, task: number): Promise<ChangedChunk[] | null> {
  const marker = fileOf.task(job, "applied", task);
  const lines = (await findText(marker))?.split("\n");
  if (lines === undefined) return null;
  const chunks = chunksOfTask(job, task);
  if (lines.length !== chunks.length) throw wrong(marker);
  return chunks.flatMap((chunk, i) => {
    if (lines[i] === UNCHANGED) return [];
    const [, name, size, before] = /^([0-9a-f-]+) (\d{1,16}) (.+)$/.exec(lines[i]) ?? [];
    if (name?.startsWith(`${job.spec.id}-${chunk}-`) !== true) throw wrong(marker);
    return [{ chunk, name, size: Number(size), before }];
  });
}

const wrong = (marker: string): Error =>
  malformed(`${marker} does not name the chunks of its task`, { file: marker });

/** Returns the number of chunks that a task has changed in place, according to the task's mark. */
export async function countChanged(marker: string): Promise<number> {
  const lines = (await findText(marker))?.split("\n") ?? [];
  return lines.filter((line) => line !== UNCHANGED).length;
}

/** Removes a task's mark, so that the task runs again. */
export const unmark = (job: JobContext, stage: string, task: number): Promise<void> =>
  files.rm(fileOf.task(job, stage, task), { force: true });

/** Writes the mark of a task. Returns true if this call wrote the mark, and false if the mark already existed. */
export async function mark(
  job: JobContext,
  stage: string,
  task: number,
  text = UNCHANGED,
): Promise<boolean> {
  const marker = fileOf.task(job, stage, task);
  const temporary = `${marker}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    await withFile(temporary, "wx", async (handle) => {
      await handle.writeFile(text);
      await handle.datasync();
    });
    await checkOwner(job);
    await files.link(temporary, marker);
    // The mark is synced, because a chunk that survives a crash must not lose its mark.
    if (job.spec.inPlace) await syncFolder(path.dirname(marker));
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    await files.rm(temporary, { force: true });
  }
}
