/** The folder of a job as a whole: it appears complete, by one rename, and goes with what the job has made, and no more. */

import { randomBytes } from "node:crypto";
import * as fs from "node:fs/promises";
import * as path from "node:path";
import { TensorError } from "../errors.ts";
import { isCode, withFile } from "../arrays/file.ts";
import { fileOf } from "./context.ts";
import { cleanUp } from "./finish.ts";
import { FOLDERS, isThere, readSpec } from "./job.ts";
import { printSpec, type JobSpec } from "./spec.ts";

/**
 * Makes a job's folder; an empty one may be there.
 * @returns the job in the folder, which is another one where someone else was faster
 * @throws TensorError `attribute` for a folder that holds something else
 */
export async function makeFolder(folder: string, spec: JobSpec): Promise<JobSpec> {
  const temporary = `${folder}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    // The folders of stages are made here and nowhere else: when the job has ended, tasks that run late find none.
    for (const stage of Object.values(FOLDERS)) {
      await fs.mkdir(fileOf.stage(temporary, stage), { recursive: true });
    }
    await withFile(fileOf.spec(temporary), "wx", async (handle) => {
      await handle.writeFile(printSpec(spec));
      await handle.sync();
    });
    await fs.rename(temporary, folder);
    return spec;
  } catch (error) {
    if (!isCode(error, "ENOTEMPTY", "EEXIST", "ENOTDIR")) throw error;
    if (await isThere(fileOf.spec(folder))) return readSpec(folder);
    const sentence = `${folder} holds something else than a job; give a folder that is new or empty`;
    throw new TensorError("attribute", sentence);
  } finally {
    await fs.rm(temporary, { recursive: true, force: true });
  }
}

/** Removes a job and its folder; a folder in which something else lies stays. */
export async function removeJob(folder: string): Promise<void> {
  await cleanUp(folder);
  for (const file of [fileOf.spec(folder), fileOf.done(folder)]) await fs.rm(file, { force: true });
  await fs.rmdir(folder).catch(() => {});
}

/**
 * @throws TensorError `attribute` for a folder that is one of the arrays, lies in one or holds one: to remove the one would
 * remove the other
 */
export function checkApart(folder: string, arrays: readonly string[]): void {
  const array = arrays.find((one) => isIn(folder, one) || isIn(one, folder));
  if (array === undefined) return;
  const sentence = `the job's folder ${folder} and the array ${array} must not lie in each other`;
  throw new TensorError("attribute", sentence);
}

const isIn = (inner: string, outer: string): boolean =>
  inner === outer || inner.startsWith(outer + path.sep);
