/** Creates a job's folder, or finds an existing job. All arguments except the index values are checked. */

import { createHash } from "node:crypto";
import * as path from "node:path";
import { checkPath } from "./arguments.ts";
import { checkCall } from "./call-spec.ts";
import {
  checkNames,
  factOf,
  namesOf,
  objectOf,
  printValue,
  wrongOption,
} from "../../../core/foreign.ts";
import { checkOpened } from "../../boxes/checks.ts";
import { isThere, isUrl, makeFolders } from "../../boxes/file.ts";
import { TensorError } from "../../../core/errors.ts";
import { checkCount } from "../stages/budget.ts";
import { hasSecrets, shownUrl } from "../../boxes/urls.ts";
import { beginOutput } from "./begin-output.ts";
import { checkUnclaimed } from "./claim.ts";
import { checkApart, makeFolder, removeJob } from "./job-folder.ts";
import { checkStageFolders, checkUnchanged, forgetFailures, openContext } from "./job.ts";
import { openLocated } from "./open-arrays.ts";
import type { JobRequest } from "./division.ts";
import type { JobPlan } from "./bounds.ts";
import { checkJobDisk, checkOutput, planRequest, type PlannedJob } from "./plan-job.ts";
import { findJob, findSpec, isDone, type BegunJob } from "./spec-file.ts";
import type { JobSpec } from "./spec.ts";
import { forgetDamaged } from "./written.ts";

export type { JobRequest } from "./division.ts";

/**
 * Plans a job without creating it, and returns its tasks and the most memory and disk space that they take.
 *
 * @param request the same as for `createJob`
 * @throws TensorError the errors of `createJob`; `attribute` if the folder contains a job
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
 * const { stages } = await planJob(request);
 * console.log(stages.map(({ name, tasks }) => `${name} ${tasks}`)); // ["partition 1", "apply 2", "finish 1"]
 * ```
 */
export async function planJob(request: JobRequest): Promise<JobPlan> {
  const { folder } = request;
  const job = await planNew(request);
  if (job !== null) {
    await checkJobDisk(request, job.spec);
    return job.plan;
  }
  const sentence = `${folder} already holds a job; ndscatter job status ${folder} shows its state`;
  throw new TensorError("attribute", sentence, { key: "folder", file: folder });
}

/** Checks and plans a request, or returns null if the folder contains a job. */
export async function planNew(request: JobRequest): Promise<PlannedJob | null> {
  checkRequest(request);
  const known = await findJob(request.folder);
  await known?.close();
  if (known !== null) return null;
  await checkInputs(request, null);
  return planRequest(request, hashOf(request));
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
    return orComplete(known, asked, () => goOn(request, known, asked)).catch(
      async (error: unknown) => {
        // The run that began the job may have removed it again, because it could not create the output.
        if ((await findSpec(folder))?.id === known.spec.id) throw error;
        return beginJob(request);
      },
    );
  }
  const spec = await makeNewJob(request, asked);
  // If several runs make the same request, the fastest run creates the job, and the other runs join.
  const file = spec === null ? null : await findJob(folder);
  if (spec === null || file === null || file.spec.id !== spec.id) {
    await file?.close();
    return beginJob(request);
  }
  return orComplete(file, asked, async () => {
    try {
      await beginOutput(file);
    } catch (error) {
      // Another run may already have completed the job, whose folder then remains.
      if (!(await file.isComplete())) await removeJob(folder, spec.id);
      throw error;
    }
  });
}

/** Creates the folder of a new job, or returns null if the folder now contains another job. */
async function makeNewJob(request: JobRequest, asked: string): Promise<JobSpec | null> {
  const { folder } = request;
  try {
    await checkInputs(request, null);
    const { spec } = await planRequest(request, asked);
    await checkJobDisk(request, spec);
    await makeFolders(path.dirname(folder));
    // An identical job may have ended after the output was checked.
    const made = await makeFolder(folder, spec, () => checkOutput(spec));
    return made.id === spec.id ? spec : null;
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
    const isComplete = file.spec.request === asked && (await file.isComplete());
    if (isComplete && (!(await isThere(file.folder)) || (await hasOutput(file.spec)))) return file;
    await file.close();
    throw error;
  }
  return file;
}

const hasOutput = async ({ out }: JobSpec): Promise<boolean> =>
  isUrl(out.path) || (await isThere(out.path));

async function goOn(request: JobRequest, file: BegunJob, asked: string): Promise<void> {
  const { folder } = request;
  const { spec: known } = file;
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
  await checkInputs(request, known.id);
  // The claim on the array is already removed, but the mark `done` is not yet written.
  if (known.inPlace && (await file.isComplete())) return;
  await checkStageFolders(folder);
  // The user may have corrected bad indices since the last run.
  await forgetFailures(folder);
  await beginOutput(file);
  const context = await openContext(folder, known);
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

/** Throws an `attribute` error if a job other than `id` is changing one of the arrays in place. */
async function checkInputs(
  { data, indices, updates }: JobRequest,
  id: string | null,
): Promise<void> {
  for (const array of [data, indices, updates]) {
    if (array === undefined) continue;
    const { format, path: place } = array.location;
    if (format !== "zarr" || isUrl(place)) continue;
    // A job may have changed part of the array after it was opened. For a partly changed array, opening it again
    // throws.
    await openLocated(array.location);
    await checkUnclaimed(place, id);
  }
}

const REQUEST_KEYS = namesOf<JobRequest>({
  folder: true,
  call: true,
  data: true,
  indices: true,
  updates: true,
  out: true,
  codecs: true,
  chunkShape: true,
  shards: true,
  memory: true,
  threads: true,
  blockShape: true,
});

/** Throws an `attribute` error for arrays or options that jobs do not support. */
export function checkRequest(request: JobRequest): void {
  const given = objectOf("request", request, {});
  checkNames("key of a request", given, REQUEST_KEYS, {});
  const { data, indices, updates, memory, threads } = request;
  const { folder, out, codecs, chunkShape, shards } = request;
  checkCall(request.call);
  checkCount("memory", memory);
  checkPath(folder);
  if (threads !== 0) checkCount("threads", threads);
  for (const [name, array] of Object.entries({ data, indices, updates })) {
    if (array === undefined && name === "updates") continue;
    checkOpened(name, array);
  }
  if (out !== null) {
    const must = 'null, or an object such as { format: "zarr", path: "out.zarr" }';
    const parts = typeof out === "object" ? objectOf("out", out, {}) : {};
    if (typeof parts["path"] !== "string") throw wrongOption("out", must, out);
    checkNames("key of out", parts, ["format", "path"], {});
  }
  const places = [data, indices, updates, out === null ? undefined : { location: out }].flatMap(
    (one) => (one === undefined ? [] : [one.location.path]),
  );
  checkShareable(places);
  if (out?.format === "npy" && isUrl(out.path)) {
    const sentence = `the output ${out.path} must be a Zarr array, got an NPY file, which object storage cannot hold; name it .zarr, or give a path`;
    throw new TensorError("attribute", sentence, {
      input: "out",
      key: "out",
      file: out.path,
      got: "npy",
      allowed: ["zarr"],
    });
  }
  for (const [name, given] of Object.entries({ codecs, chunkShape, shards })) {
    if (given === undefined || out?.format === "zarr") continue;
    const got = out === null ? "data itself" : `${out.path}, an NPY file`;
    const sentence = `the output must be a new Zarr array for ${name}, got ${got}; omit ${name}`;
    throw new TensorError("attribute", sentence, { key: name });
  }
  if (out !== null && out.format !== "npy" && out.format !== "zarr") {
    throw new TensorError(
      "attribute",
      `the format of the output must be npy or zarr, got ${printValue(out.format)}`,
      { key: "format", got: factOf(out.format), allowed: ["npy", "zarr"] },
    );
  }
  if (out?.format === "zarr" && !isUrl(out.path)) checkEnding(out.path);
  checkApart(folder, places);
}

/**
 * Checks that locations contain no secrets, because job files store locations for other threads and machines. Throws an
 * `attribute` error for a URL with a user or a query.
 */
function checkShareable(places: readonly string[]): void {
  const secret = places.find(hasSecrets);
  if (secret === undefined) return;
  const advice =
    "copy the array first (ndscatter array URL -o a.zarr), or name it as s3:// with keys in the environment";
  const sentence = `${shownUrl(secret)} has a user or a query, which a job would write into its files; ${advice}`;
  throw new TensorError("attribute", sentence, { key: "location", file: shownUrl(secret) });
}

/** Rejects a Zarr folder with a file suffix such as `.npy`, because the array would later be opened as a file. */
function checkEnding(folder: string): void {
  const ending = path.extname(folder).toLowerCase();
  if (ending === "" || ending === ".zarr") return;
  const sentence =
    `the output ${folder} must end in .npy or .zarr, or be a Zarr folder without a suffix, ` +
    `got ${printValue(ending)}`;
  throw new TensorError("attribute", sentence, {
    input: "out",
    key: "out",
    file: folder,
    got: ending,
    allowed: [".npy", ".zarr"],
  });
}

/** Returns a hash of a request, except for memory and threads. */
function hashOf(request: JobRequest): string {
  const { call, data, indices, updates, out, codecs, chunkShape, shards } = request;
  // The fingerprint of a Zarr array depends only on the metadata, so it stays the same while the job changes chunks.
  const inputs = [data, indices, updates].map((array) =>
    array === undefined ? null : [array.location.format, array.location.path, array.fingerprint],
  );
  const text = JSON.stringify({ call, inputs, out, codecs, chunkShape, shards });
  return createHash("sha256").update(text).digest("hex");
}
