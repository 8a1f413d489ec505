/**
 * Reads and writes tasks' marks: files in a stage's folder that show that a task is done. A mark has a line per chunk of
 * the output: the size of the stored chunk, or a sign that nothing was stored. In place, the line is the staged name,
 * the size, and the chunk's state when the task read it.
 */

import { randomBytes } from "node:crypto";
import { malformed } from "../../../core/errors.ts";
import { findText, isCode, MOST_TEXT, syncFolder, withFile } from "../../boxes/file.ts";
import { files } from "../../boxes/files.ts";
import { checkOwner } from "../job/owner.ts";
import { chunksOfTask, fileOf, type JobContext } from "./context.ts";

/** Line for an unchanged chunk, or a chunk of a new array that is not stored. */
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

/** Converts an array's state to a single line, for a mark. */
export const markedState = (state: string): string => state.replaceAll("\n", "|");

/** `changed` has one entry per chunk of the task, which is null for an unchanged chunk. */
export const printMark = (changed: readonly (ChangedChunk | null)[]): string =>
  changed
    .map((one) => (one === null ? UNCHANGED : `${one.name} ${one.size} ${one.before}`))
    .join("\n");

/** `sizes` is the sizes of a new array's stored chunks; null for a chunk that is not stored. */
export const printSizes = (sizes: readonly (number | null)[]): string =>
  sizes.map((size) => size ?? UNCHANGED).join("\n");

/** Maximum length of a line of `printSizes`. */
export const SIZE_LINE = 17;

/**
 * Reads the sizes of `count` chunks that a task has written to a new array; returns null if the mark is damaged.
 */
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
 * Reads which chunks a task changes in place; returns null if the task has no mark. Throws a `malformed-file` error
 * unless the mark has a line of this job for each chunk of the task.
 */
export async function readMark(job: JobContext, task: number): Promise<ChangedChunk[] | null> {
  const marker = fileOf.task(job.folder, "applied", task);
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

/** Returns the number of chunks that a task has changed in place, according to its mark. */
export async function countChanged(marker: string): Promise<number> {
  const lines = (await findText(marker))?.split("\n") ?? [];
  return lines.filter((line) => line !== UNCHANGED).length;
}

/** Removes the mark of a task, so that the task runs again. */
export const unmark = ({ folder }: JobContext, stage: string, task: number): Promise<void> =>
  files.rm(fileOf.task(folder, stage, task), { force: true });

/** Writes the mark of a task. Returns true if this call marked the task, false if another call already had. */
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
    // The mark is synced, because a machine crash must not keep a chunk and lose its mark.
    if (job.spec.inPlace) await syncFolder(fileOf.stage(job.folder, stage));
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    await files.rm(temporary, { force: true });
  }
}
