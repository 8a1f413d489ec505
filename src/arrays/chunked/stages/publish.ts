/**
 * Puts a task's chunks into the output exactly once, no matter how often the task runs and where a run is interrupted.
 *
 * A new array is computed from data that nobody changes, so a task may run again: its chunks are put in place, then
 * marked.
 *
 * In place, this order would be wrong: a task that runs again would apply its updates twice. Chunks that are changed in
 * place are first written to hidden files and synced. A marker that names these files, one per line, is then created in
 * `applied/` by `link`, which fails if a marker exists: the process that succeeds decides. The chunks are renamed last.
 * A run that finds a marker only renames its chunks that are still staged. Renaming chunks before marking them gave
 * wrong results in 12 of 12 jobs that were killed at random; marking them first gave wrong results in 0 of 25.
 *
 * Nobody else may write to an array while a job changes it in place. If a chunk's state changes between reading and
 * marking, or between marking and renaming in a later run, the task fails, because another process's writes would
 * otherwise be lost.
 *
 * A mark states the size of each stored chunk, so a chunk that is removed or cut short is noticed before readers see
 * it.
 */

import { printCount } from "../../../core/print-count.ts";
import { randomBytes } from "node:crypto";
import * as path from "node:path";
import { malformed, type TensorError } from "../../../core/errors.ts";
import { printShape } from "../../../core/tensor/shape.ts";
import { noteChanges } from "../job/claim.ts";
import { checkOwner } from "../job/owner.ts";
import { isThere } from "../../boxes/file.ts";
import { STAGING } from "../../zarr/stores/store.ts";
import { chunksOfTask, fileOf, type JobContext } from "./context.ts";
import { inGroups } from "./fragments.ts";
import {
  markedState,
  mark,
  printMark,
  printSizes,
  readMark,
  unmark,
  type ChangedChunk,
} from "./marks.ts";
import { changedSince, changedWhileRead, checkChanged, noteSeen, seenFile } from "./seen.ts";

/** Returns a name for a staged chunk or file that no other run uses. */
const nameOf = (job: JobContext, what: number | string): string =>
  `${job.spec.id}-${what}-${randomBytes(6).toString("hex")}`;

/** Returns the state of a chunk of data. */
export const stateOfChunk = ({ chunks, data }: JobContext, chunk: number): Promise<string> => {
  const { start, shape } = chunks.box(chunk);
  return data.stateOf(start, shape);
};

/**
 * Finishes the work of an interrupted run, and returns true if the task's chunks are in the output. Returns false for a
 * task that must run: it has no mark, or none of its chunks is changed and a staged one is lost. Throws `attribute` for
 * a chunk that another process has written since the job read or changed it; `malformed-file` for a lost or shortened
 * chunk, and if a task that has changed its chunks has no mark.
 */
export async function isPublished(job: JobContext, task: number): Promise<boolean> {
  if (!job.spec.inPlace) return isThere(fileOf.task(job.folder, "applied", task));
  // The record is checked before the mark is read, because another run of the task may be marking it.
  const isChanged = await isThere(seenFile(job.folder, "apply", task));
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
 * Returns the chunks that are neither renamed nor completely staged. Throws an `attribute` error for a chunk that
 * another process has written.
 */
async function lostChunks(
  job: JobContext,
  changed: readonly ChangedChunk[],
): Promise<ChangedChunk[]> {
  const lost = await inGroups(changed, async (one) => {
    // The chunk is checked before the staged file, because another run may be renaming the staged file to the chunk.
    const isChanged = await isRenamed(job, one);
    const size = await job.out.stagedSize(job.chunks.at(one.chunk), one.name);
    if (isChanged && size !== null) throw changedSince(job, "data");
    const isLost = !isChanged && size !== one.size && !(await isRenamed(job, one));
    return isLost ? one : null;
  });
  return lost.filter((one) => one !== null);
}

/** Returns the error for a staged chunk that is removed or cut short before it is moved into the output. */
function lostChunk({ folder, out, spec }: JobContext, { name }: { name: string }): Error {
  const file = `${out.location.path}/${STAGING}/${name}`;
  const advice = spec.inPlace
    ? `restore it, or abandon the job (ndscatter job remove ${folder})`
    : `write it again (ndscatter job resume ${folder})`;
  return malformed(`${file} was removed or cut short while the job ran; ${advice}`, { file });
}

/** Throws a `malformed-file` error for a chunk whose size is not the size that the job wrote. */
async function checkSizes(job: JobContext, changed: readonly ChangedChunk[]): Promise<void> {
  await inGroups(changed, async ({ chunk, size }) => {
    const found = await job.out.storedSize(job.chunks.at(chunk));
    if (found !== size) throw damagedChunk(job, job.chunks.at(chunk), found, size);
  });
}

/** Returns the error for a chunk of the output that is removed or cut short after the job has written it. */
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

/** Returns the error for a task that would apply its updates a second time. */
function lostMark({ folder }: JobContext, task: number): Error {
  const marker = fileOf.task(folder, "applied", task);
  return malformed(
    `${marker} is gone, but ${path.basename(seenFile(folder, "apply", task))} beside it shows that the task has changed its ` +
      `chunks; restore the file, or abandon the job (ndscatter job remove ${folder})`,
  );
}

/** Moves staged and marked chunks to their paths in the array, after recording the change in the array's folder. */
async function change(
  job: JobContext,
  task: number,
  changed: readonly ChangedChunk[],
): Promise<void> {
  if (changed.length === 0) return;
  await noteChanges(job.out.location.path, task, changed.length);
  // Another run may have moved a chunk, so a missing name is accepted as long as the chunk is complete.
  await inGroups(changed, ({ chunk, name }) => job.out.publishChunk(job.chunks.at(chunk), name));
  await checkSizes(job, changed);
  await noteSeen(job, "apply", task);
}

/** Moves a chunk that this run has staged to its path in a new array. */
async function place(job: JobContext, at: readonly number[], name: string): Promise<void> {
  if (!(await job.out.publishChunk(at, name))) throw lostChunk(job, { name });
}

/** A staged chunk: the state before it was read, which matters only in place, and the size of the stored bytes. */
export interface StagedChunk {
  readonly state: string;
  readonly size: number;
}

/** Stages a chunk under a name. Returns null if the chunk is unchanged and nothing is written. */
export type StageChunk = (
  chunk: number,
  index: number,
  name: string,
) => Promise<StagedChunk | null>;

/**
 * Puts a task's chunks into the output. `stage` is called for several chunks at once, with the index of each chunk in
 * the task. `check` is called after staging; throws if the job has lost its folder or an input has changed.
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
    // Another run of this task may have changed the chunks. The mark of a task precedes the change, so the run that
    // marked first wins.
    const isOther = states.some((state, i) => state !== changed[i].state);
    if (isOther && !(await isThere(fileOf.task(job.folder, "applied", task))))
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
  // Another run marked the task first, but may have been interrupted before it renamed the chunks.
  if (!isKept) await isPublished(job, task);
}

/** Puts a chunk of a new array in place, and returns its stored size; a second call is harmless. */
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
