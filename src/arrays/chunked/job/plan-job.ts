/**
 * Plans a request before anything is written, including the tasks and the bytes, memory and disk space that they need.
 * All arguments except the index values are checked.
 */

import { randomBytes } from "node:crypto";
import * as path from "node:path";
import { factOf, isArray, printValue } from "../../../core/foreign.ts";
import { TensorError } from "../../../core/errors.ts";
import { printShape } from "../../../core/tensor/shape.ts";
import type { ArrayLocation, ChunkedArray } from "../../boxes/array.ts";
import { isThere, isUrl } from "../../boxes/file.ts";
import { areApart } from "../../boxes/ranges.ts";
import { SlicedArray } from "../../boxes/slice.ts";
import type { JobParts } from "../stages/budget.ts";
import { checkUnused } from "../stages/check-indices.ts";
import { ZarrArray } from "../../zarr/array.ts";
import { resolveCall } from "./call-spec.ts";
import { holdsObjects, readClaim, refusal } from "./claim.ts";
import { checkDisk } from "./disk.ts";
import { divisionOf, outChunks, typeOf, type JobRequest } from "./division.ts";
import { boundsOf, type JobPlan } from "./bounds.ts";
import { costsOfOutput, outputExists } from "./open-arrays.ts";
import { MOST_TASKS, type Chunking, type JobSpec } from "./spec.ts";

/** A request with its plan, spec and arrays. */
export interface PlannedJob {
  readonly plan: JobPlan;
  readonly spec: JobSpec;
  readonly parts: JobParts;
}

/**
 * `asked` is the hash of the request. Throws the errors that `run` throws before it reads elements, `too-large` if
 * memory is too small, or `attribute` if the output exists.
 */
export async function planRequest(request: JobRequest, asked: string): Promise<PlannedJob> {
  const { call, indices, updates, out, codecs } = request;
  const chunking = chunkingOf(request);
  for (const array of [request.data, indices, updates]) {
    if (array?.dtype !== "string") continue;
    throw new TensorError(
      "dtype",
      `${array.location.path} holds text, which chunked calls do not support`,
      { key: "array", file: array.location.path, got: "string" },
    );
  }
  const resolved = resolveCall(call, { data: request.data, indices, updates });
  const division = await divisionOf(request, resolved, chunking);
  const { parts, blockShape, chunks, stages } = division;
  const { data, chunksPerTask } = parts;
  await checkUnused(resolved, data.shape, indices);
  const spec: JobSpec = {
    version: 1,
    id: randomBytes(8).toString("hex"),
    request: asked,
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
    blockShape,
    chunks,
    chunksPerTask,
    stages,
  };
  checkKind(spec, [data, indices, updates]);
  await checkOutput(spec);
  const most = Math.max(...spec.stages.map(({ tasks }) => tasks));
  if (most > MOST_TASKS) {
    const sentence = `the job would have ${most} tasks, more than a folder can hold: ${MOST_TASKS}`;
    throw new TensorError("too-large", `${sentence}; use larger chunks`, {
      got: most,
      limit: MOST_TASKS,
    });
  }
  const costs =
    out === null
      ? null
      : costsOfOutput(out.format, typeOf(parts, spec.out.chunkShape ?? []), data, spec);
  const { plan, disk } = boundsOf(spec, division, costs);
  return { plan, spec: { ...spec, planned: { disk } }, parts };
}

/** Throws a `too-large` error if disk space is insufficient for a job. */
export async function checkJobDisk(
  { folder }: JobRequest,
  { out: { path: place }, planned: figures }: JobSpec,
): Promise<void> {
  const total = (at: 0 | 1): number => (figures?.disk ?? []).reduce((sum, one) => sum + one[at], 0);
  await checkDisk([
    { folder: path.resolve(folder), bytes: total(0) },
    ...(isUrl(place) ? [] : [{ folder: path.dirname(place), bytes: total(1) }]),
  ]);
}

/** Returns the requested chunk shapes. Throws an `attribute` error for chunks that do not fit the output. */
function chunkingOf({ chunkShape, shards }: JobRequest): Chunking | undefined {
  if (chunkShape === undefined && shards == null) return undefined;
  if (chunkShape === undefined) {
    const sentence = "shards require the shape of their chunks; also give chunkShape (--chunks)";
    throw new TensorError("attribute", sentence, { key: "chunkShape" });
  }
  for (const [name, given] of Object.entries({ chunkShape, shards: shards ?? [] })) {
    const isShape = isArray(given) && given.every((dim) => Number.isSafeInteger(dim) && dim >= 1);
    if (isShape) continue;
    const areNumbers = isArray(given) && given.every((dim) => typeof dim === "number");
    const got = areNumbers ? printShape(given) : printValue(given);
    const sentence = `${name} must be a list of positive integers, got ${got}`;
    throw new TensorError("attribute", sentence, {
      key: name,
      got: areNumbers ? given : factOf(given),
    });
  }
  return { chunkShape: [...chunkShape], shards: shards == null ? null : [...shards] };
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

/** Throws an `attribute` error if a new output exists. */
export async function checkOutput({ out, inPlace }: JobSpec): Promise<void> {
  if (inPlace) return;
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
    const own = data instanceof SlicedArray ? data.base : data;
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
