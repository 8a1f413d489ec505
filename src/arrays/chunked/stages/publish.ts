/**
 * Publishes each task's chunks exactly once, even if the task is repeated or interrupted at any point.
 *
 * The tasks of a new array may be repeated, because nothing changes data: their chunks are published, then marked.
 *
 * For a change in place, this order would be wrong, because a repeated task would apply its updates twice. For a change
 * in place, chunks are first written to hidden files and synced. Then `link` creates a mark in `applied/` that names
 * these files, and fails if a mark exists, so the first process wins. Finally, the hidden files are renamed to the
 * chunks. If a mark already exists, a run only renames the files that are still hidden. In a test with random kills,
 * renaming before marking gave wrong results in 12 of 12 jobs, and marking first in 0 of 25.
 *
 * While a job changes an array in place, no other program may write to the array. If another program still changes a
 * chunk before it is renamed, the task fails, so that the other program's writes are not lost.
 *
 * Each mark contains the sizes of stored chunks, so that missing and truncated chunks are detected before the array
 * becomes visible.
 */

import * as path from "node:path";
import { printCount } from "../../../core/foreign.ts";
import { malformed, type TensorError } from "../../../core/errors.ts";
import { randomBytes } from "node:crypto";
import { printShape } from "../../../core/tensor/shape.ts";
import { noteChanges, checkOwner } from "../job/claim.ts";
import { isThere } from "../../boxes/file.ts";
import { STAGING } from "../../zarr/stores/store.ts";
import { chunksOfTask, type JobContext } from "./context.ts";
import { fileOf } from "./task-files.ts";
import { inGroups } from "./fragments.ts";
import {
  markedState,
  mark,
  printMark,
  printSizes,
  readMark,
  unmark,
  type ChangedChunk,
  changedSince,
  changedWhileRead,
  checkChanged,
  noteSeen,
  seenFile,
} from "./marks.ts";

/** Returns a unique name for a staged chunk or file. */
const nameOf = (job: JobContext, what: number | string): string =>
  `${job.spec.id}-${what}-${randomBytes(6).toString("hex")}`;

/** Returns the current state of a chunk of data. */
export const stateOfChunk = ({ chunks, data }: JobContext, chunk: number): Promise<string> => {
  const { start, shape } = chunks.box(chunk);
  return data.stateOf(start, shape);
};

/**
 * Finishes the work of an interrupted run, and returns true if the output contains the task's chunks. Returns false for
 * a task that must run, because it has no mark, or because a staged chunk was lost before any chunk changed. Throws
 * `attribute` for a chunk that another process has changed, or `malformed-file` for lost or truncated chunks and lost
 * marks.
 */
export async function isPublished(job: JobContext, task: number): Promise<boolean> {
  if (!job.spec.inPlace) return isThere(fileOf.task(job, "applied", task));
  // The record is checked before the mark is read, because another run may be marking the same task.
  const isChanged = await isThere(seenFile(job, "apply", task));
  const changed = await readMark(job, task);
  if (changed === null && isChanged) throw lostMark(job, task);
  if (changed === null) return false;
  const isOver = await checkChanged(job, task).catch(async (error: unknown) => {
    await checkSizes(job, changed);
    throw error;
  });
  if (isOver) return true;
  const lost = await lostChunks(job, changed);
  if (lost.length > 0) {
    const isBegun = await inGroups(changed, (one) => isRenamed(job, one));
    if (isBegun.includes(true)) throw lostChunk(job, lost[0]);
    await unmark(job, "applied", task);
    await inGroups(changed, ({ name }) => job.out.discard(name));
    return false;
  }
  await change(job, task, changed);
  return true;
}

const isRenamed = async (job: JobContext, { chunk, before }: ChangedChunk): Promise<boolean> =>
  markedState(await stateOfChunk(job, chunk)) !== before;

/**
 * Returns the chunks that are neither published nor completely staged. Throws an `attribute` error for a chunk that
 * another process has changed.
 */
async function lostChunks(
  job: JobContext,
  changed: readonly ChangedChunk[],
): Promise<ChangedChunk[]> {
  const lost = await inGroups(changed, async (one) => {
    // The chunk is checked before the staged file, because another run may be renaming the file to the chunk.
    const isChanged = await isRenamed(job, one);
    const size = await job.out.stagedSize(job.chunks.at(one.chunk), one.name);
    if (isChanged && size !== null) throw changedSince(job, "data");
    const isLost = !isChanged && size !== one.size && !(await isRenamed(job, one));
    return isLost ? one : null;
  });
  return lost.filter((one) => one !== null);
}

/** Returns the error for a staged chunk that was removed or truncated before it was published. */
function lostChunk({ folder, out, spec }: JobContext, { name }: { name: string }): Error {
  const file = `${out.location.path}/${STAGING}/${name}`;
  const advice = spec.inPlace
    ? `restore it, or abandon the job (ndscatter job remove ${folder})`
    : `write it again (ndscatter job resume ${folder})`;
  return malformed(`${file} was removed or cut short while the job ran; ${advice}`, { file });
}

/** Throws a `malformed-file` error for a chunk whose size differs from the written size. */
async function checkSizes(job: JobContext, changed: readonly ChangedChunk[]): Promise<void> {
  await inGroups(changed, async ({ chunk, size }) => {
    const found = await job.out.storedSize(job.chunks.at(chunk));
    if (found !== size) throw damagedChunk(job, job.chunks.at(chunk), found, size);
  });
}

/** Returns the error for a published chunk that was removed or truncated. */
export function damagedChunk(
  { folder, out, spec }: JobContext,
  at: readonly number[],
  got: number | null,
  expected: number,
): TensorError {
  const file = out.location.path;
  const found = got === null ? ", but the chunk is gone" : `, got ${got}`;
  const advice = spec.inPlace
    ? `restore the array from a copy, and remove the job (ndscatter job remove ${folder})`
    : `write it again (ndscatter job resume ${folder})`;
  return malformed(
    `chunk ${printShape(at)} of ${file} must have ${printCount(expected, "byte")}, as the job wrote it${found}; ${advice}`,
    { file, at, got: got ?? undefined, expected },
  );
}

/** Returns the error for a task that would apply its updates twice. */
function lostMark(job: JobContext, task: number): Error {
  const marker = fileOf.task(job, "applied", task);
  return malformed(
    `${marker} is gone, but ${path.basename(seenFile(job, "apply", task))} beside it shows that the task has changed its ` +
      `chunks; restore the file, or abandon the job (ndscatter job remove ${job.folder})`,
  );
}

/** Records the change in the array's folder, and moves staged and marked chunks to their paths in the array. */
async function change(
  job: JobContext,
  task: number,
  changed: readonly ChangedChunk[],
): Promise<void> {
  if (changed.length === 0) return;
  await noteChanges(job.out.location.path, task, changed.length);
  // A missing staged name is accepted if the chunk is complete, because another run may have moved it.
  await inGroups(changed, ({ chunk, name }) => job.out.publishChunk(job.chunks.at(chunk), name));
  await checkSizes(job, changed);
  await noteSeen(job, "apply", task);
}

/** Moves a staged chunk of this run to its path in a new array. */
async function place(job: JobContext, at: readonly number[], name: string): Promise<void> {
  if (!(await job.out.publishChunk(at, name))) throw lostChunk(job, { name });
}

/** A staged chunk, with its size, and its state before it was read, which matters only for a change in place. */
export interface StagedChunk {
  readonly state: string;
  readonly size: number;
}

/** Stages a chunk under a name, or returns null for an unchanged chunk. */
export type StageChunk = (
  chunk: number,
  index: number,
  name: string,
) => Promise<StagedChunk | null>;

/**
 * Publishes a task's chunks. `stage` is called for several chunks concurrently, with the index of each chunk in the
 * task. `check` is called after staging, and throws if the job has lost its folder or if an input has changed.
 */
export async function publish(
  job: JobContext,
  task: number,
  stage: StageChunk,
  check: () => Promise<void>,
): Promise<void> {
  const { inPlace } = job.spec;
  const names: string[] = [];
  let isKept = false;
  try {
    const staged = await inGroups(chunksOfTask(job, task), async (chunk, i) => {
      const name = nameOf(job, chunk);
      names.push(name);
      const one = await stage(chunk, i, name);
      return one === null ? null : { chunk, name, ...one };
    });
    const changed = staged.filter((one) => one !== null);
    await check();
    if (!inPlace) {
      await inGroups(changed, ({ chunk, name }) => place(job, job.chunks.at(chunk), name));
      isKept = true;
      await mark(job, "applied", task, printSizes(staged.map((one) => one?.size ?? null)));
      return;
    }
    const states = await inGroups(changed, ({ chunk }) => stateOfChunk(job, chunk));
    // Another run of this task may already have changed the chunks. A task's mark precedes its change, so the first run
    // with a mark wins.
    const isOther = states.some((state, i) => state !== changed[i].state);
    if (isOther && !(await isThere(fileOf.task(job, "applied", task))))
      throw changedWhileRead(job, "data");
    const marked = staged.map((one) => one && { ...one, before: markedState(one.state) });
    isKept = await mark(job, "applied", task, printMark(marked));
    if (isKept)
      await change(
        job,
        task,
        marked.filter((one) => one !== null),
      );
  } finally {
    if (!isKept) await inGroups(names, (name) => job.out.discard(name));
  }
  // Another run has already marked the task, but may have been interrupted before it renamed the chunks.
  if (!isKept) await isPublished(job, task);
}

/** Publishes a chunk of a new array, and returns its stored size; repeating the call is harmless. */
export async function putNew(
  job: JobContext,
  at: readonly number[],
  bytes: Uint8Array,
): Promise<number> {
  const name = nameOf(job, at.join("."));
  try {
    const size = await job.out.stageChunk(at, bytes, name);
    await checkOwner(job);
    await place(job, at, name);
    return size;
  } catch (error) {
    await job.out.discard(name);
    throw error;
  }
}
