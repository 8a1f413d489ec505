/** Makes the folder of a job, or finds out that it is there already. Everything but the indices is checked here. */

import { createHash, randomBytes } from "node:crypto";
import * as fs from "node:fs/promises";
import * as path from "node:path";
import type { ArrayLocation, ChunkedArray } from "../arrays/array.ts";
import { isUrl } from "../arrays/file.ts";
import { Grid } from "../arrays/grid.ts";
import { printValue, TensorError } from "../errors.ts";
import { DTYPES } from "../tensor/dtype.ts";
import { part, printShape, product } from "../tensor/shape.ts";
import { addressOf, type Address } from "./address.ts";
import { blockShapeFor, checkCount, chunksFor, leastOf, shareOf, threadsFor } from "./budget.ts";
import { refusesDuplicates, resolveCall, type CallSpec, type ResolvedCall } from "./call-spec.ts";
import { beginOutput } from "./begin-output.ts";
import { checkUnused } from "./check-indices.ts";
import { checkDisk } from "./disk.ts";
import { fileOf } from "./context.ts";
import { checkApart, makeFolder, removeJob } from "./job-folder.ts";
import { forgetFailures, isThere, readSpec, stagesOf } from "./job.ts";
import { openLocated } from "./open-arrays.ts";
import { MOST_TASKS, type JobSpec } from "./spec.ts";

export interface JobRequest {
  readonly folder: string;
  readonly call: CallSpec;
  readonly data: ChunkedArray;
  readonly indices: ChunkedArray;
  readonly updates?: ChunkedArray | undefined;
  /** Where the new array goes; null where data is changed in place. */
  readonly out: Pick<ArrayLocation, "format" | "path"> | null;
  readonly memory: number;
  readonly threads: number;
  /** The shape of a block of positions, by default as large as the memory allows. */
  readonly blockShape?: readonly number[] | undefined;
}

/**
 * Makes the job, and its output where that is a new array; or resumes the same request.
 * @throws TensorError as `run`, up to the shapes; `too-large` for chunks that the memory, or results that the disk does not
 * hold; `attribute` for a folder with another job
 */
export async function createJob(request: JobRequest): Promise<JobSpec> {
  const { folder } = request;
  checkRequest(request);
  const asked = hashOf(request);
  if (await isThere(fileOf.spec(folder))) return resume(folder, await readSpec(folder), asked);
  const spec = await specOf(request, asked);
  await fs.mkdir(path.dirname(folder), { recursive: true });
  const made = await makeFolder(folder, spec);
  // Someone else was faster.
  if (made.id !== spec.id) return resume(folder, made, asked);
  try {
    await beginOutput(folder, spec);
  } catch (error) {
    await removeJob(folder);
    throw error;
  }
  return spec;
}

/** Goes on with the job in a folder. */
async function resume(folder: string, known: JobSpec, asked: string): Promise<JobSpec> {
  if (known.request !== asked) {
    const sentence =
      `${folder} holds another job, or one whose inputs have changed since; remove the folder, ` +
      "or give another one";
    throw new TensorError("attribute", sentence);
  }
  if (await isThere(fileOf.done(folder))) {
    if (isUrl(known.out.path) || (await isThere(known.out.path))) return known;
    const sentence = `the job in ${folder} was done, but ${known.out.path} is gone; remove the folder`;
    throw new TensorError("attribute", `${sentence} to do it again`);
  }
  // The indices may have been mended.
  await forgetFailures(folder);
  await beginOutput(folder, known);
  return known;
}

/** @throws TensorError `attribute` */
function checkRequest({ data, indices, updates, memory, threads, folder, out }: JobRequest): void {
  checkCount("memory", memory);
  if (threads !== 0) checkCount("threads", threads);
  for (const [name, array] of Object.entries({ data, indices, updates })) {
    if (array === undefined && name === "updates") continue;
    const given: unknown = array;
    if (typeof given === "object" && given !== null && "location" in given) continue;
    const sentence = `${name} must be an array that openArray has opened, got ${printValue(given)}`;
    throw new TensorError("attribute", sentence, { input: name });
  }
  if (out !== null && out.format !== "npy" && out.format !== "zarr") {
    throw new TensorError("attribute", `the output is npy or zarr, got ${printValue(out.format)}`);
  }
  const places = [data, indices, updates, out === null ? undefined : { location: out }];
  checkApart(
    folder,
    places.flatMap((one) => (one === undefined ? [] : [one.location.path])),
  );
}

/** What makes two requests the same. The memory and the threads do not. */
function hashOf({ call, data, indices, updates, out }: JobRequest): string {
  // Of a Zarr array the fingerprint is that of its metadata, so it stays while the job changes the array in place.
  const inputs = [data, indices, updates].map((array) =>
    array === undefined ? null : [array.location.format, array.location.path, array.fingerprint],
  );
  const text = JSON.stringify({ call, inputs, out });
  return createHash("sha256").update(text).digest("hex");
}

async function specOf(request: JobRequest, asked: string): Promise<JobSpec> {
  const { call, indices, updates, memory, folder, out } = request;
  for (const array of [request.data, indices, updates]) {
    if (array?.dtype !== "string") continue;
    throw new TensorError("dtype", `${array.location.path} holds text, which has no chunked calls`);
  }
  const { bytes } = DTYPES[request.data.dtype];
  const resolved = resolveCall(call, { data: request.data, indices, updates });
  const { data, threads } = await divided(request, resolved);
  const { shape, layout } = resolved;
  const address = addressOf(layout, data.shape, data.chunkShape);
  const blockShape =
    request.blockShape ??
    blockShapeFor(
      address.positions,
      product(address.pieces.chunkShape) * bytes,
      DTYPES[indices.dtype].bytes * Math.max(1, address.tuple.length),
      shareOf(memory, threads),
    );
  checkBlocks(blockShape, address.positions);
  await checkUnused(resolved, data.shape, indices);
  const { size: blocks } = new Grid(address.positions, blockShape);
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
        : { ...out, chunkShape: outChunks(out, address, blockShape, data, updates) },
    inPlace: out === null,
    blockShape,
    stages: stagesOf({
      partition: blocks,
      check: refusesDuplicates(resolved) ? address.leads.size : null,
      apply: new Grid(data.shape, data.chunkShape).size,
      place: updates === undefined ? blocks : null,
    }),
  };
  await checkOutput(spec, [data, indices, updates]);
  const most = Math.max(...spec.stages.map(({ tasks }) => tasks));
  if (most > MOST_TASKS) {
    const sentence = `the job would have ${most} tasks, more than a folder can hold: ${MOST_TASKS}`;
    throw new TensorError("too-large", `${sentence}; make the chunks larger`);
  }
  const shuffled = product(address.positions) * (product(address.slice) * bytes + 8);
  const isOnDisk = out !== null && !isUrl(out.path);
  await checkDisk([
    { folder: path.resolve(folder), bytes: shuffled },
    ...(isOnDisk ? [{ folder: path.dirname(out.path), bytes: product(shape) * bytes }] : []),
  ]);
  return spec;
}

/** Data in chunks that fit in the memory. A file without chunks of its own is divided anew. */
async function divided(
  { data, memory, threads: given }: JobRequest,
  call: ResolvedCall,
): Promise<{ data: ChunkedArray; threads: number }> {
  const wanted = Math.max(1, given);
  let own = data;
  if (data.location.format === "npy" && data.location.chunkShape === undefined) {
    const { bytes } = DTYPES[data.dtype];
    const chunkShape = chunksFor(data.shape, bytes, shareOf(memory, wanted));
    own = await openLocated({ ...data.location, chunkShape });
  }
  return { data: own, threads: threadsFor(memory, wanted, leastOf(own, call), own.chunkShape) };
}

/** The chunks of the new array: those of data, or for a gather a block each, so that each is written by one task. */
function outChunks(
  { format }: Pick<ArrayLocation, "format">,
  { addressed, slice }: Address,
  blockShape: readonly number[],
  data: ChunkedArray,
  updates: ChunkedArray | undefined,
): readonly number[] {
  if (updates !== undefined) return data.chunkShape;
  const pieces =
    format === "npy" ? slice.map((dim) => Math.max(1, dim)) : part(data.chunkShape, addressed);
  return [...blockShape, ...pieces];
}

function checkBlocks(blockShape: readonly number[], positions: readonly number[]): void {
  const isRight =
    blockShape.length === positions.length &&
    blockShape.every((dim) => Number.isSafeInteger(dim) && dim >= 1);
  if (isRight) return;
  const sentence = `blockShape must have a positive integer for each axis of ${printShape(positions)}`;
  throw new TensorError("attribute", sentence);
}

async function checkOutput(
  { out, inPlace }: JobSpec,
  inputs: readonly (ChunkedArray | undefined)[],
): Promise<void> {
  if (inPlace) {
    const [data] = inputs;
    const isOld = data !== undefined && "version" in data && data.version !== 3;
    if (isOld) {
      const sentence = `${out.path} is Zarr v2, which is read only; give another output`;
      throw new TensorError("attribute", sentence);
    }
    if (out.format === "zarr" && !isUrl(out.path)) return;
    if (isUrl(out.path)) {
      const why = "object storage cannot replace a chunk and say that it did";
      throw new TensorError("attribute", `${out.path} is not changed in place: ${why}`);
    }
    const sentence =
      "an NPY file is not changed in place, because a part of a file cannot be replaced at once";
    throw new TensorError("attribute", `${sentence}; give another file, or copy it to Zarr`);
  }
  if (inputs.some((input) => input?.location.path === out.path)) {
    const sentence = `the output ${out.path} is an input; only data can be changed, in place`;
    throw new TensorError("overlap", sentence, { input: "out" });
  }
  // In object storage, whoever begins the array finds out.
  if (isUrl(out.path) || !(await isThere(out.path))) return;
  throw new TensorError("attribute", `${out.path} exists; remove it, or give another output`);
}
