/**
 * Puts a task's chunks into the output exactly once, no matter how often the task runs and where a run is interrupted.
 *
 * A new array is computed from data that nobody changes, so a task may run again: its chunks are put in place, then
 * marked.
 *
 * In place, this order would be wrong: a task that runs again would apply its updates twice. Therefore chunks that are
 * changed in place are written to hidden files and synced. Then a marker that names them, one per line, is created in
 * `applied/` by `link`, which fails if a marker exists: the process that succeeds decides. Then the chunks are renamed.
 * A run that finds a marker only renames those of its chunks that are still staged. Renaming chunks before marking them
 * gave wrong results in 12 of 12 jobs that were killed at random; marking them first gave wrong results in 0 of 25.
 *
 * Nobody else may write to an array while a job changes it in place. If a chunk's state changes between reading and
 * marking, or between marking and renaming in a later run, the task fails, because another process's writes would
 * otherwise be lost.
 */

import { randomBytes } from "node:crypto";
import * as path from "node:path";
import { malformed } from "../../../core/errors.ts";
import { noteChanges } from "../job/claim.ts";
import { checkOwner } from "../job/owner.ts";
import { isThere } from "../../boxes/file.ts";
import { chunksOfTask, fileOf, type JobContext } from "./context.ts";
import { inGroups } from "./fragments.ts";
import { markedState, mark, printMark, readMark, type ChangedChunk } from "./marks.ts";
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
 * Finishes the work of an interrupted run, and returns true if the task's chunks are in the output.
 * @throws TensorError `attribute` for a chunk that another process has written since the job read or changed it;
 *   `malformed-file` if a task that has changed its chunks has no mark
 */
export async function isPublished(job: JobContext, task: number): Promise<boolean> {
  if (!job.spec.inPlace) return isThere(fileOf.task(job.folder, "applied", task));
  // The record is checked before the mark is read, because another run of the task may be marking it.
  const isChanged = await isThere(seenFile(job.folder, "apply", task));
  const changed = await readMark(job, task);
  if (changed === null && isChanged) throw lostMark(job, task);
  if (changed === null) return false;
  if (await checkChanged(job, task)) return true;
  await inGroups(changed, async ({ chunk, name, before }) => {
    // The chunk is checked before the staged file, because another run may be renaming the staged file to the chunk.
    if (markedState(await stateOfChunk(job, chunk)) === before) return;
    if (await job.out.isStaged(job.chunks.at(chunk), name)) throw changedSince(job, "data");
  });
  await change(job, task, changed);
  return true;
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
  await place(job, changed);
  await noteSeen(job, "apply", task);
}

async function place(
  job: JobContext,
  chunks: readonly Pick<ChangedChunk, "chunk" | "name">[],
): Promise<void> {
  await inGroups(chunks, ({ chunk, name }) => job.out.publishChunk(job.chunks.at(chunk), name));
}

/**
 * Stages a chunk under a name. Returns the chunk's state before it was read, which matters only in place, or null if
 * the chunk is unchanged and nothing is written.
 */
export type StageChunk = (chunk: number, index: number, name: string) => Promise<string | null>;

/**
 * Puts a task's chunks into the output.
 * @param stage called for several chunks at once, with each chunk's index among the task's chunks
 * @param check called when all chunks are staged; throws if the job has lost its folder or an input has changed
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
      const state = await stage(chunk, i, name);
      return state === null ? null : { chunk, name, state };
    });
    const changed = staged.filter((one) => one !== null);
    await check();
    if (!inPlace) {
      await place(job, changed);
      isKept = true;
      await mark(job, "applied", task);
      return;
    }
    const states = await inGroups(changed, ({ chunk }) => stateOfChunk(job, chunk));
    // Another run of this task may have changed the chunks. Its mark precedes the change, so the run that marked first
    // wins.
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

/** Puts a chunk of a new array in place; a second call is harmless. */
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
