/**
 * Creates and removes job folders. A single rename makes a complete folder visible, and only job files are removed from
 * it.
 */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import { TensorError } from "../../../core/errors.ts";
import { isCode, makeFolders, placeError, removeEmpty, withFile } from "../../boxes/file.ts";
import { fileOf, groupsOf, FOLDERS } from "../stages/task-files.ts";
import { checkPath } from "./request.ts";
import { abandon, cleanUp, namesIn } from "./finish.ts";
import { WORKERS } from "./job.ts";
import { checkFolderOf, findSpec, isDone, noJob, specFile } from "./spec-file.ts";
import { printSpec, type JobSpec } from "./spec.ts";
import { LOOKS, removeLeft, temporaryOf, untilNextLook } from "./temporary.ts";

/**
 * Creates a job's folder, or uses an existing empty folder. `check` is called just before the complete folder is
 * renamed. Returns the job in the folder, even if another process has created it. Throws an `attribute` error if the
 * folder contains other files.
 */
export async function makeFolder(
  folder: string,
  spec: JobSpec,
  check: () => Promise<void>,
): Promise<JobSpec> {
  const temporary = temporaryOf(folder);
  await removeLeft(path.dirname(folder), path.basename(folder));
  try {
    // Stage folders are created only here, so tasks fail if they run after the job has ended.
    const stages = [...Object.values(FOLDERS), WORKERS];
    const places = stages.map((stage) => fileOf.stage(temporary, stage));
    for (const place of [...places, ...groupsOf(temporary, spec.stages)]) await makeFolders(place);
    await withFile(specFile(temporary), "wx", async (handle) => {
      await handle.writeFile(printSpec(spec));
      await handle.sync();
    });
    await check();
    await fs.rename(temporary, folder);
    return spec;
  } catch (error) {
    if (!isCode(error, "ENOTEMPTY", "EEXIST", "ENOTDIR")) throw error;
    const found = await findSpec(folder);
    if (found !== null) return found;
    if (await isFree(folder)) return makeFolder(folder, spec, check);
    const sentence = `${folder} must be new, empty or a job's folder, but holds other files; give another folder`;
    throw new TensorError("attribute", sentence, { key: "folder", file: folder });
  } finally {
    await fs.rm(temporary, { recursive: true, force: true });
  }
}

/**
 * Returns true if a folder is empty or does not exist. The check is repeated, because a run that removes a job deletes
 * the mark `done` last.
 */
async function isFree(folder: string, looks = LOOKS): Promise<boolean> {
  const names = await namesIn(folder);
  if (!isOnlyMark(names) || looks === 0) return names.length === 0;
  await untilNextLook();
  return isFree(folder, looks - 1);
}

const isMark = (name: string): boolean => name === path.basename(fileOf.done("."));

const isOnlyMark = (names: readonly string[]): boolean => names.length === 1 && isMark(names[0]);

/** The suffix, after the path of the output, of the folder of a job whose call names no folder. */
export const OWN_FOLDER = ".job";

/**
 * Removes a job and its folder, which is kept if it contains other files. For an unfinished job, the new array is also
 * removed, or the partly changed array is marked.
 * @param id the only job to remove, if the folder may hold a later one
 * @param folder the path of the job's folder
 * @throws TensorError `malformed-file` if the folder has contents but no job, or is a file
 *
 * @example
 * ```ts
 * await createJob(request); // the request of createJob
 * await removeJob("job");
 * console.log(await findJobs(".")); // []
 * ```
 */
export async function removeJob(folder: string, id?: string): Promise<void> {
  checkPath(folder);
  try {
    const [home, name] = [path.dirname(folder), path.basename(folder)];
    await removeLeft(home, name);
    // A gather in memory creates no job, but what it leaves is removed as if it had a job in the default folder.
    if (name.endsWith(OWN_FOLDER)) await removeLeft(home, path.basename(name, OWN_FOLDER));
    await removeAll(folder, id);
  } catch (error) {
    throw placeError(error);
  }
}

async function removeAll(folder: string, id: string | undefined): Promise<void> {
  const spec = await findSpec(folder);
  if (spec === null) {
    if (id === undefined) await checkEmpty(folder);
    return removeRest(folder);
  }
  if (id !== undefined && spec.id !== id) return;
  await checkFolderOf(folder);
  const isOver = await isDone(folder);
  // Stage folders are removed first, because a task cannot write a mark without its stage folder.
  await cleanUp(folder);
  if (!isOver) await abandon(spec);
  // Another run may have removed the job, so the folder may already contain a later job.
  if ((await findSpec(folder))?.id !== spec.id) return removeRest(folder);
  for (const file of [specFile(folder), fileOf.done(folder)])
    await fs.rm(file, { force: true, recursive: true });
  await removeEmpty(folder);
}

/** @throws TensorError `malformed-file` if a folder without a job has contents, or is a file */
async function checkEmpty(folder: string): Promise<void> {
  const names = await namesIn(folder).catch((error: unknown) => {
    throw isCode(error, "ENOTDIR") ? noJob(folder) : error;
  });
  if (!names.every(isMark)) throw noJob(folder);
}

/**
 * Removes the rest of a job that two runs ended at the same time. The slower run may have written the mark `done` after
 * the faster run removed it. An empty folder may remain, because the other run was still removing task files.
 */
async function removeRest(folder: string): Promise<void> {
  const names = await namesIn(folder);
  if (!names.every(isMark)) return;
  await fs.rm(fileOf.done(folder), { force: true });
  await removeEmpty(folder);
}
