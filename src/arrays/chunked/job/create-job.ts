/** Creates a job, or resumes the job of the same request. All arguments except the index values are checked. */

import * as path from "node:path";
import { TensorError } from "../../../core/errors.ts";
import { isThere, isUrl, makeFolders } from "../../boxes/file.ts";
import { beginOutput, isOurs } from "./begin-output.ts";
import type { JobPlan } from "./bounds.ts";
import { checkOutput, checkUnclaimedInputs, describe, type Described } from "./describe.ts";
import { checkPlannedDisk } from "./disk.ts";
import { makeFolder, removeJob } from "./job-folder.ts";
import { checkStageFolders, checkUnchanged, forgetFailures, openContext } from "./job.ts";
import { checkRequest, hashOf, type JobRequest } from "./request.ts";
import { findJob, findSpec, isDone, type BegunJob } from "./spec-file.ts";
import type { JobSpec } from "./spec.ts";
import { forgetDamaged } from "./finish.ts";

/**
 * Plans a job without creating it, and returns its tasks and the most memory and disk space that they take.
 *
 * @param request the same as for `createJob`
 * @throws TensorError the errors of `createJob`; `attribute` if the folder contains a job
 *
 * @example
 * ```ts
 * const { stages } = await planJob(request); // the request of createJob
 * console.log(stages.map(({ name, tasks }) => `${name} ${tasks}`)); // ["partition 1", "apply 2", "finish 1"]
 * ```
 */
export async function planJob(request: JobRequest): Promise<JobPlan> {
  checkRequest(request);
  const { folder } = request;
  if ((await findSpec(folder)) !== null) {
    const sentence = `${folder} already holds a job; ndscatter job status ${folder} shows its state`;
    throw new TensorError("attribute", sentence, { key: "folder", file: folder });
  }
  const { plan, spec } = await describe(request);
  await checkPlannedDisk(folder, spec);
  return plan;
}

/**
 * Creates a job and, if the output is a new array, the output. If the folder already contains a job with the same
 * request, that job is resumed.
 *
 * @param request the call, the arrays, the job's folder, and limits
 * @returns the contents of `job.json`
 * @throws TensorError the errors that `run` throws before it reads elements. `too-large` for a chunk that does not fit
 *   in memory, or results that do not fit on the disk. `attribute` if the folder contains another job, or if another
 *   job is changing an array
 *
 * @example
 * ```ts
 * import { openArray } from "ndscatter/zarr";
 *
 * const [data, indices, updates] = await Promise.all([
 *   openArray("table.zarr"),
 *   openArray("ids.npy"),
 *   openArray("rows.npy"),
 * ]);
 * const request = {
 *   folder: "job",
 *   call: { function: "scatterND", options: { reduction: "add" } },
 *   data,
 *   indices,
 *   updates,
 *   out: { format: "zarr", path: "sums.zarr" },
 *   memory: 2 ** 28,
 *   threads: 1,
 * } as const;
 * await createJob(request);
 * await runJob("job", { threads: 0 });
 * console.log((await (await openArray("sums.zarr")).read()).toArray()); // [[0, 0], [6, 8], [0, 0], [3, 4]]
 * ```
 */
export async function createJob(request: JobRequest): Promise<JobSpec> {
  const file = await beginJob(request);
  await file.close();
  return file.spec;
}

/** Creates or resumes a job like `createJob`, but keeps the job's file open. */
export async function beginJob(request: JobRequest): Promise<BegunJob> {
  checkRequest(request);
  const { folder } = request;
  const asked = hashOf(request);
  const known = await findJob(folder);
  if (known !== null) {
    return orComplete(known, asked, () => resume(known, asked)).catch(async (error: unknown) => {
      // The run that began the job may have removed it again, because it could not create the output.
      if ((await findSpec(folder))?.id === known.spec.id) throw error;
      return beginJob(request);
    });
  }
  const made = await makeNewJob(request);
  // If several runs make the same request, the fastest run creates the job, and the other runs join.
  const file = made === null ? null : await findJob(folder, made.inputs);
  if (made === null || file === null || file.spec.id !== made.spec.id) {
    await file?.close();
    return beginJob(request);
  }
  return orComplete(file, asked, async () => {
    try {
      await beginOutput(file);
    } catch (error) {
      // The folder remains if a run has begun or completed the output: another run may already work on the job. A
      // failure of these checks, or of the removal, must not hide the error.
      const remains =
        (await file.isComplete().catch(() => true)) || (await isOurs(file.spec).catch(() => true));
      if (!remains) await removeJob(folder, file.spec.id).catch(() => {});
      throw error;
    }
  });
}

/** Creates the folder of a new job, or returns null if the folder now contains another job. */
async function makeNewJob(request: JobRequest): Promise<Described | null> {
  const { folder } = request;
  try {
    const made = await describe(request);
    const { spec } = made;
    await checkPlannedDisk(folder, spec);
    await makeFolders(path.dirname(folder));
    // An identical job may have ended after the output was checked.
    const { id } = await makeFolder(folder, spec, () => checkOutput(spec));
    return id === spec.id ? made : null;
  } catch (error) {
    if ((await findSpec(folder)) === null) throw error;
    return null;
  }
}

/** Calls `action` and returns the job, even if `action` failed because another run finished and removed the job. */
async function orComplete(
  file: BegunJob,
  asked: string,
  action: () => Promise<void>,
): Promise<BegunJob> {
  try {
    await action();
  } catch (error) {
    if (await isOverNow(file, asked).catch(() => false)) return file;
    await file.close();
    throw error;
  }
  return file;
}

const isOverNow = async (file: BegunJob, asked: string): Promise<boolean> =>
  file.spec.request === asked &&
  (await file.isComplete()) &&
  (!(await isThere(file.folder)) || (await hasOutput(file.spec)));

const hasOutput = async ({ out }: JobSpec): Promise<boolean> =>
  isUrl(out.path) || (await isThere(out.path));

/** Prepares a known job for another run. `asked` is the hash of the request. */
async function resume(file: BegunJob, asked: string): Promise<void> {
  const { folder, spec: known } = file;
  const isOver = await isDone(folder);
  if (known.request !== asked) throw otherJob(folder, isOver);
  if (isOver) {
    if (await hasOutput(known)) return;
    const sentence = `the job in ${folder} is done, but its output ${known.out.path} is gone; remove the folder`;
    throw new TensorError("attribute", `${sentence} to run the job again`, {
      key: "folder",
      file: folder,
    });
  }
  await checkUnclaimedInputs(await file.inputs(), known.id);
  // The claim on the array is already removed, but the mark `done` is not yet written.
  if (known.inPlace && (await file.isComplete())) return;
  await checkStageFolders(folder, known);
  // The user may have corrected bad indices since the last run.
  await forgetFailures(folder);
  await beginOutput(file);
  const context = await openContext(folder, known, { inputs: await file.inputs() });
  await forgetDamaged(context);
  await checkUnchanged(context);
}

/**
 * Returns the error for a folder that contains another job. The message suggests a command, because deleting the folder
 * by hand would leave the output unfinished.
 */
const otherJob = (folder: string, isOver: boolean): TensorError => {
  const advice = isOver
    ? "remove the folder, or give another folder"
    : `finish that job (ndscatter job resume ${folder}), give it up (ndscatter job remove ${folder}), or give another folder`;
  const sentence = `${folder} holds another job, or one whose inputs have changed since; ${advice}`;
  return new TensorError("attribute", sentence, { key: "folder", file: folder });
};
