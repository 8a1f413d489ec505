/**
 * Reads and writes the marks and the records of tasks. A mark is a file in a stage's folder that shows that a task is
 * done. A mark has one line per output chunk with the size of the stored chunk, or a sign for a chunk that is not
 * stored. For a change in place, each line contains the staged name, the size, and the state of the chunk before the
 * change.
 *
 * A record detects inputs that change during a job, because such an input would mix old and new values. Each task hashes
 * the names, sizes and modification times, or the ETags, of all chunks that it reads. The hash is recorded before
 * reading and compared after reading, and the last stage compares all records again. After a change in place, a task
 * records the new state of its chunks, so that later writes are also detected.
 */

import * as path from "node:path";
import { randomBytes, createHash } from "node:crypto";
import { malformed, isError, TensorError } from "../../../core/errors.ts";
import { findText, isCode, MOST_TEXT, syncFolder, withFile } from "../../boxes/file.ts";
import { files } from "../../boxes/files.ts";
import { checkOwner } from "../job/claim.ts";
import { chunksOfTask, type JobContext } from "./context.ts";
import { fileOf, FOLDERS, type TaskFolder } from "./task-files.ts";
import { product } from "../../../core/tensor/shape.ts";
import type { ArrayLocation, ChunkedArray } from "../../boxes/array.ts";
import type { Box } from "../../boxes/grid.ts";
import type { JobSpec } from "../job/spec.ts";
import { indexBox, updateBox } from "./address.ts";
import { inGroups } from "./fragments.ts";

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
  try {
    await writeAs(job, marker, text, async (temporary) => {
      await files.link(temporary, marker);
      // The mark is synced, because a chunk that survives a crash must not lose its mark.
      if (job.spec.inPlace) await syncFolder(path.dirname(marker));
      await files.rm(temporary, { force: true });
    });
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  }
}

/**
 * Writes a synced file under a temporary name, which `publish` moves to the name `file`. Throws an `engine` error if
 * another job owns the folder or the output.
 */
async function writeAs(
  job: JobContext,
  file: string,
  text: string,
  publish: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    await withFile(temporary, "wx", async (handle) => {
      await handle.writeFile(text);
      await handle.datasync();
    });
    await checkOwner(job);
    await publish(temporary);
  } catch (error) {
    await files.rm(temporary, { force: true });
    throw error;
  }
}

export type SeenStage = "partition" | "apply";

/** The hashes of inputs, by input name. */
export type Seen = Readonly<Record<string, string>>;

/** The part of an input that a task reads. */
interface Part {
  readonly name: "data" | "indices" | "updates";
  readonly array: ChunkedArray;
  readonly box: Box;
}

export const seenFile = (job: TaskFolder, stage: SeenStage, task: number): string =>
  `${fileOf.task(job, FOLDERS[stage], task)}.seen`;

/**
 * Returns the parts of inputs that a task reads or, in data that is changed in place, the part that the task has
 * changed.
 */
async function partsOf(job: JobContext, stage: SeenStage, task: number): Promise<readonly Part[]> {
  const { address, blocks, chunks, data, indices, spec, updates } = job;
  if (stage === "apply") {
    const numbers = spec.inPlace
      ? ((await readMark(job, task)) ?? []).map(({ chunk }) => chunk)
      : chunksOfTask(job, task);
    return numbers.map((chunk) => ({ name: "data", array: data, box: chunks.box(chunk) }));
  }
  const box = blocks.box(task);
  const own = indexBox(address, box, indices.shape.length);
  const read: Part[] = [{ name: "indices", array: indices, box: own }];
  if (updates === undefined) return read;
  const slice = { start: address.slice.map(() => 0), shape: address.slice };
  return [
    ...read,
    { name: "updates", array: updates, box: updateBox(box, slice, updates.shape.length) },
  ];
}

/** Computes the current hash of each input that a task reads, by input name. */
async function lookAt(job: JobContext, stage: SeenStage, task: number): Promise<Seen> {
  const hashes = new Map<string, ReturnType<typeof createHash>>();
  for (const { name, array, box } of await partsOf(job, stage, task)) {
    const hash = hashes.get(name) ?? createHash("sha256");
    hashes.set(name, hash);
    // The order is part of the hash.
    if (product(box.shape) > 0) hash.update(`${await array.stateOf(box.start, box.shape)}\n`);
  }
  return Object.fromEntries([...hashes].map(([name, hash]) => [name, hash.digest("hex")]));
}

/**
 * Records the state of inputs before a task reads them, or after it has changed them in place. Throws an `engine` error
 * if another job owns the folder or the output.
 */
export async function noteSeen(job: JobContext, stage: SeenStage, task: number): Promise<Seen> {
  const seen = await lookAt(job, stage, task);
  if (Object.keys(seen).length === 0) return seen;
  const file = seenFile(job, stage, task);
  await writeAs(job, file, JSON.stringify(seen), (temporary) => files.rename(temporary, file));
  return seen;
}

/** Returns a record of the inputs of a task as text. */
export const recordOf = async (job: JobContext, stage: SeenStage, task: number): Promise<string> =>
  JSON.stringify(await lookAt(job, stage, task));

/**
 * Compares the inputs of a task with the record in a file. Throws an `attribute` error if an input has changed, or a
 * `malformed-file` error for a damaged record.
 */
export async function checkRecord(
  job: JobContext,
  stage: SeenStage,
  task: number,
  record: string,
  file: string,
): Promise<void> {
  const before = parseSeen(record, file);
  const name = firstOther(before, await lookAt(job, stage, task));
  if (name !== undefined && !isOwnChange(job, stage, name)) throw changedSince(job, name);
}

/** Compares a task's inputs with their recorded state. Throws an `attribute` error if an input has changed. */
export async function checkStill(
  job: JobContext,
  stage: SeenStage,
  task: number,
  seen: Seen,
): Promise<void> {
  if (Object.keys(seen).length === 0) return;
  const name = firstOther(seen, await lookAt(job, stage, task));
  if (name !== undefined) throw changedWhileRead(job, name);
}

/** Compares the inputs with the records of finished tasks. Throws an `attribute` error if an input has changed. */
export async function checkSeen(
  job: JobContext,
  stage: SeenStage,
  done: readonly number[],
): Promise<void> {
  await inGroups(done, (task) => compare(job, stage, task));
}

/**
 * Compares chunks that a task has changed in place with their recorded state. Returns false unless the task has
 * recorded the change of all its chunks. Throws an `attribute` error if a chunk has changed again.
 */
export const checkChanged = (job: JobContext, task: number): Promise<boolean> =>
  compare(job, "apply", task);

/** The result is false for a task without a record. */
async function compare(job: JobContext, stage: SeenStage, task: number): Promise<boolean> {
  const file = seenFile(job, stage, task);
  const record = await findText(file);
  // A task has no record before it begins, or if none of its inputs can change.
  if (record === null) return false;
  await checkRecord(job, stage, task, record, file);
  return true;
}

const firstOther = (before: Readonly<Record<string, unknown>>, now: Seen): string | undefined =>
  Object.keys(now).find((one) => now[one] !== before[one]);

/**
 * Returns true if an input of the first stage lies in the array that the job changes in place. Changes by the job
 * itself are allowed, because they begin after the first stage has read the whole input.
 */
const isOwnChange = ({ spec }: JobContext, stage: SeenStage, name: string): boolean =>
  stage === "partition" && spec.inPlace && inputOf(spec, name)?.path === spec.out.path;

const inputOf = (spec: JobSpec, name: string): ArrayLocation | undefined =>
  spec[name as Part["name"]];

/** Returns the error for an input that changed after a task had read part of it. */
export function changedSince({ folder, spec }: JobContext, name: string): TensorError {
  const advice = spec.inPlace
    ? "restore the old values, or abandon the job, which leaves the array partly changed"
    : "restore the old values, or abandon the job";
  const what = `has changed since the job in ${folder} read a part of it`;
  return changed(spec, name, `${what}; ${advice} (ndscatter job remove ${folder})`);
}

/**
 * Returns the error for an input that changed while a task was reading it. In this case, the task has written nothing
 * and can be repeated.
 */
export function changedWhileRead({ folder, spec }: JobContext, name: string): TensorError {
  const advice = `when nothing writes to it anymore, finish the job (ndscatter job resume ${folder})`;
  return changed(spec, name, `changed while the job in ${folder} read it; ${advice}`);
}

function changed(spec: JobSpec, name: string, what: string): TensorError {
  const file = inputOf(spec, name)?.path;
  const fields = { input: name, key: name, file };
  return new TensorError("attribute", `${name} (${file}) ${what}`, fields);
}

/** Parses a record of inputs. Throws a `malformed-file` error for other text. */
export function parseSeen(text: string, file: string): Readonly<Record<string, unknown>> {
  try {
    const seen: unknown = JSON.parse(text);
    if (typeof seen === "object" && seen !== null) return { ...seen };
  } catch (error) {
    if (!isError(error, "SyntaxError")) throw error;
  }
  throw malformed(
    `${path.basename(path.dirname(file))}/${path.basename(file)} must be a file that a task wrote, but is not`,
    { file },
  );
}
