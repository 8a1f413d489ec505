/** The last stage, of one task: makes the output visible and takes away what the job does not need any more. */

import { randomBytes } from "node:crypto";
import * as fs from "node:fs/promises";
import * as path from "node:path";
import { isCode } from "../arrays/file.ts";
import { TensorError } from "../errors.ts";
import { claimOf, isClaimed } from "./claim.ts";
import { fileOf, type JobContext } from "./context.ts";
import { inGroups } from "./fragments.ts";
import { isPublished } from "./publish.ts";
import { FOLDERS, isThere, jobFailure, jobOf, remainingTasks } from "./job.ts";

/** What is added to the name of a folder that is being removed. */
const TRASH = ".trash";

/** @throws TensorError of the job's first bad index; `engine` where tasks are not done */
export async function finish(job: JobContext): Promise<void> {
  const { folder, out, spec } = job;
  const listed = jobOf(job);
  const failure = await jobFailure(listed);
  if (failure !== null) {
    await abandon(job);
    throw failure;
  }
  for (const { name } of listed.stages) {
    if (name === "finish") continue;
    const { length: left } = await remainingTasks(listed, name);
    if (left === 0) continue;
    // Another run may have finished the job, and removed what was listed.
    if (await isThere(fileOf.done(folder))) return;
    const sentence = `the job in ${folder} cannot be finished: ${left} of its ${name} tasks are not done`;
    throw new TensorError("engine", sentence);
  }
  if (!spec.inPlace && "publish" in out) await out.publish();
  // A run may have ended between its mark, which makes the task done, and the renaming of its chunk.
  if (spec.inPlace)
    await inGroups([...Array(job.chunks.size).keys()], (chunk) => isPublished(job, chunk));
  await endStaging(job);
  await fs.writeFile(fileOf.done(folder), "");
  await cleanUp(folder);
}

/**
 * Removes the files of all tasks of a job that is done. A task that runs late must not find a folder without the mark that
 * stops it, so a folder goes at once, by a new name.
 */
export async function cleanUp(folder: string): Promise<void> {
  for (const stage of Object.values(FOLDERS)) {
    const place = fileOf.stage(folder, stage);
    const trash = `${place}${TRASH}-${randomBytes(6).toString("hex")}`;
    await fs.rename(place, trash).catch((error: unknown) => {
      if (!isCode(error, "ENOENT")) throw error;
    });
  }
  for (const name of await fs.readdir(folder)) {
    if (!name.includes(TRASH)) continue;
    await fs.rm(path.join(folder, name), { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Takes away the output of a job that a bad index has ended. What the job's folder says of the index stays. */
export async function abandon(job: JobContext): Promise<void> {
  await endStaging(job);
  if (job.spec.inPlace) return;
  // A folder with something in it is not ours.
  await fs.rmdir(job.out.location.path).catch(() => {});
}

/** Ends the staging of an output, unless it is that of a later job by now. */
async function endStaging({ out, spec }: JobContext): Promise<void> {
  if (!spec.inPlace || (await isClaimed(claimOf(spec)))) await out.endStaging();
}
