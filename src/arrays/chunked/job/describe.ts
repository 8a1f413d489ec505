/**
 * Describes the job of a request before anything is written: the contents of `job.json`, the tasks, and the memory and
 * disk space that they need. All arguments except the index values are checked.
 */

import { randomBytes } from "node:crypto";
import { TensorError } from "../../../core/errors.ts";
import type { ArrayLocation, ChunkedArray } from "../../boxes/array.ts";
import { isEmptyFolder, isThere, isUrl } from "../../boxes/file.ts";
import { areApart } from "../../boxes/part-axes.ts";
import { ZarrArray } from "../../zarr/array.ts";
import type { JobParts } from "../stages/budget.ts";
import { checkUnused } from "../stages/locate.ts";
import type { JobInputs } from "../stages/context.ts";
import { boundsOf, type JobPlan } from "./bounds.ts";
import { resolveCall, chunkingOf, hashOf, type JobRequest } from "./request.ts";
import { checkUnclaimed, holdsObjects, readClaim, refusal } from "./claim.ts";
import { divide, outChunks } from "./divide.ts";
import { openLocated, outputExists } from "./open-arrays.ts";
import { MOST_TASKS, type JobSpec } from "./spec.ts";

/** A job that does not exist yet. */
export interface Described {
  readonly plan: JobPlan;
  readonly spec: JobSpec;
  readonly parts: JobParts;
  /** The inputs at the locations in `spec`, as they are now; undefined if they must be opened again. */
  readonly inputs: JobInputs | undefined;
}

/**
 * Throws the errors that `run` throws before it reads elements, `too-large` if memory is too small, or `attribute` if
 * the output exists, or if another job is changing an input.
 */
export async function describe(given: JobRequest): Promise<Described> {
  const inputs = await openAgain(given);
  await checkUnclaimedInputs(inputs, null);
  const request = { ...given, ...inputs };
  const { call, indices, updates, out, codecs } = request;
  const chunking = chunkingOf(request);
  checkNumbers(inputs);
  const resolved = resolveCall(call, request);
  const division = await divide(request, resolved, chunking);
  const { parts, blockShape, chunks, stages } = division;
  const { data, chunksPerTask, isFew } = parts;
  await checkUnused(resolved, data.shape, indices);
  const spec: JobSpec = {
    version: 1,
    id: randomBytes(8).toString("hex"),
    request: hashOf(given),
    call,
    data: data.location,
    indices: indices.location,
    updates: updates?.location,
    out:
      out === null
        ? data.location
        : { ...out, chunkShape: outChunks(out, parts, blockShape, chunking) },
    inPlace: out === null,
    codecs,
    ...(chunking !== undefined && { chunking }),
    ...(isFew === true && { isFew }),
    blockShape,
    chunks,
    chunksPerTask,
    stages,
  };
  checkKind(spec, [data, indices, updates]);
  await checkOutput(spec);
  checkTasks(spec);
  const { plan, disk } = boundsOf(spec, division, division.costsOf(blockShape));
  const isLocal = ![data, indices, updates].some((one) => one && isUrl(one.location.path));
  return {
    plan,
    spec: { ...spec, planned: { disk } },
    parts,
    inputs: isLocal ? { data, indices, updates } : undefined,
  };
}

/**
 * Opens the inputs in files again, because they may have changed since the caller opened them. An array that an
 * abandoned job has changed in part is an error.
 */
async function openAgain({ data, indices, updates }: JobRequest): Promise<JobInputs> {
  return {
    data: await reopened(data),
    indices: await reopened(indices),
    updates: updates && (await reopened(updates)),
  };
}

const reopened = async (array: ChunkedArray): Promise<ChunkedArray> =>
  isUrl(array.location.path) ? array : openLocated(array.location);

function checkNumbers({ data, indices, updates }: JobInputs): void {
  for (const array of [data, indices, updates]) {
    if (array?.dtype !== "string") continue;
    throw new TensorError(
      "dtype",
      `${array.location.path} holds text, which chunked calls do not support`,
      { key: "array", file: array.location.path, got: "string" },
    );
  }
}

function checkTasks({ stages }: JobSpec): void {
  const most = Math.max(...stages.map(({ tasks }) => tasks));
  if (most <= MOST_TASKS) return;
  const sentence = `the job would have ${most} tasks, more than a folder can hold: ${MOST_TASKS}`;
  throw new TensorError("too-large", `${sentence}; use larger chunks`, {
    got: most,
    limit: MOST_TASKS,
  });
}

/** Throws an `attribute` error if a job other than `id` is changing one of the arrays in place. */
export async function checkUnclaimedInputs(
  { data, indices, updates }: JobInputs,
  id: string | null,
): Promise<void> {
  for (const array of [data, indices, updates]) {
    if (array?.location.format !== "zarr" || isUrl(array.location.path)) continue;
    // The first claimed array is the error.
    await checkUnclaimed(array.location.path, id);
  }
}

/**
 * Checks that a job does not change its own inputs, because a repeated task would read the new values. Throws an
 * `overlap` error if the output overlaps another input.
 */
function checkOthers(out: ArrayLocation, others: readonly (ChunkedArray | undefined)[]): void {
  const isOther = ({ location: { path: place, slice } }: ChunkedArray): boolean =>
    place !== out.path ||
    (slice !== undefined && out.slice !== undefined && areApart(slice, out.slice));
  const names = ["indices", "updates"];
  const at = others.findIndex((one) => one !== undefined && !isOther(one));
  if (at === -1) return;
  const sentence = `${names[at]} and data share elements of ${out.path}, which the job changes in place`;
  const advice =
    "copy one of them (ndscatter array), or give parts that do not overlap along some axis";
  throw new TensorError("overlap", `${sentence}; ${advice}`, {
    input: names[at],
    other: "data",
    file: out.path,
  });
}

/** Throws an `attribute` error if a new output exists. An empty folder can become a Zarr array. */
export async function checkOutput({ out, inPlace }: JobSpec): Promise<void> {
  if (inPlace) return;
  if (out.format === "zarr" && !isUrl(out.path) && (await isEmptyFolder(out.path))) return;
  if (!(await (isUrl(out.path) ? holdsObjects(out.path) : isThere(out.path)))) return;
  const unfinished = out.format === "zarr" ? await readClaim(out.path) : null;
  const refused = unfinished && (await refusal(out.path, unfinished));
  // The other job may have ended after its claim was read.
  if (refused !== null && (await readClaim(out.path)) !== null) throw refused;
  throw outputExists(out.path);
}

/** Throws `attribute` for an array that cannot be the output, or `overlap` for an output that is also an input. */
function checkKind({ out, inPlace }: JobSpec, inputs: readonly (ChunkedArray | undefined)[]): void {
  if (inPlace) {
    const [data, ...others] = inputs;
    checkOthers(out, others);
    const own = data?.source;
    if (own instanceof ZarrArray) own.checkWritable();
    if (out.format === "zarr" && !isUrl(out.path)) return;
    if (isUrl(out.path)) {
      const sentence = `${out.path} cannot be changed in place, because it is in object storage`;
      throw new TensorError("attribute", `${sentence}; write a new array instead`, {
        key: "out",
        file: out.path,
      });
    }
    const sentence =
      "an NPY file cannot be changed in place, because it cannot be replaced chunk by chunk";
    throw new TensorError(
      "attribute",
      `${sentence}; write a new array, or copy the file to Zarr (ndscatter array a.npy -o a.zarr)`,
      { key: "out", file: out.path },
    );
  }
  const own = inputs.findIndex((input) => input?.location.path === out.path);
  if (own !== -1) {
    const sentence = `the output ${out.path} must not be an input; give another output, or change data in place`;
    const other = ["data", "indices", "updates"][own];
    throw new TensorError("overlap", sentence, { input: "out", other, file: out.path });
  }
}
