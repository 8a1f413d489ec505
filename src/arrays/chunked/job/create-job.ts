/** Makes the folder of a job, or finds out that it is there already. Everything but the indices is checked here. */

import { createHash, randomBytes } from "node:crypto";
import * as path from "node:path";
import type { ArrayLocation, ChunkedArray } from "../../boxes/array.ts";
import { isThere, isUrl, makeFolders } from "../../boxes/file.ts";
import { areContiguous, Grid } from "../../boxes/grid.ts";
import { printValue, TensorError } from "../../../core/errors.ts";
import { DTYPES } from "../../../core/tensor/dtype.ts";
import { part, printShape, product } from "../../../core/tensor/shape.ts";
import { addressOf, type Address } from "../stages/address.ts";
import {
  blockShapeFor,
  checkCount,
  chunksFor,
  chunksPerTaskOf,
  heldBy,
  neededBytes,
  shareOf,
  taskBytes,
  threadsFor,
  type JobParts,
} from "../stages/budget.ts";
import type { CreateOptions } from "../../zarr/create.ts";
import { refusesDuplicates, resolveCall, type CallSpec } from "./call-spec.ts";
import { beginOutput } from "./begin-output.ts";
import { checkUnused } from "../stages/check-indices.ts";
import { checkUnclaimed, readClaim, refusal } from "./claim.ts";
import { checkDisk } from "./disk.ts";
import { fileOf } from "../stages/context.ts";
import { checkApart, makeFolder, removeJob } from "./job-folder.ts";
import { checkUnchanged, forgetFailures, openContext, stagesOf } from "./job.ts";
import { heldByOutput, openLocated } from "./open-arrays.ts";
import { findJob, type BegunJob } from "./spec-file.ts";
import { MOST_TASKS, type JobSpec } from "./spec.ts";

export interface JobRequest {
  readonly folder: string;
  readonly call: CallSpec;
  readonly data: ChunkedArray;
  readonly indices: ChunkedArray;
  readonly updates?: ChunkedArray | undefined;
  /** Where the new array goes; null where data is changed in place. */
  readonly out: Pick<ArrayLocation, "format" | "path"> | null;
  /** The codecs of a new Zarr array; those of data by default. */
  readonly codecs?: CreateOptions["codecs"];
  readonly memory: number;
  readonly threads: number;
  /**
   * The shape of a block of positions, by default as large as the memory allows. A block is a run of positions in their
   * row-major order, which is the order of their updates: ones, then any size, then whole axes.
   */
  readonly blockShape?: readonly number[] | undefined;
}

/**
 * Makes the job, and its output where that is a new array; or resumes the same request.
 * @throws TensorError as `run`, up to the shapes; `too-large` for chunks that the memory, or results that the disk does not
 * hold; `attribute` for a folder with another job, or an array that another job is changing
 */
export async function createJob(request: JobRequest): Promise<JobSpec> {
  const file = await beginJob(request);
  await file.close();
  return file.spec;
}

/** Does what {@link createJob} does, and leaves the job's file open. */
export async function beginJob(request: JobRequest): Promise<BegunJob> {
  const { folder } = request;
  checkRequest(request);
  const asked = hashOf(request);
  const known = await findJob(folder);
  if (known !== null) {
    return orComplete(known, asked, () => goOn(request, known, asked));
  }
  await checkInputs(request, null);
  const spec = await specOf(request, asked);
  await makeFolders(path.dirname(folder));
  const made = await makeFolder(folder, spec);
  // If several runs make one request, the fastest makes the job, and the others join it.
  const file = made.id === spec.id ? await findJob(folder) : null;
  if (file === null || file.spec.id !== spec.id) {
    await file?.close();
    return beginJob(request);
  }
  return orComplete(file, asked, async () => {
    try {
      await beginOutput(folder, spec);
    } catch (error) {
      await removeJob(folder, spec.id);
      throw error;
    }
  });
}

/** Returns the job after `action`, even if `action` failed because another run finished the job and removed its folder. */
async function orComplete(
  file: BegunJob,
  asked: string,
  action: () => Promise<void>,
): Promise<BegunJob> {
  try {
    await action();
  } catch (error) {
    if (file.spec.request === asked && (await file.isComplete()) && !(await isThere(file.folder)))
      return file;
    await file.close();
    throw error;
  }
  return file;
}

async function goOn(request: JobRequest, file: BegunJob, asked: string): Promise<void> {
  const { folder } = request;
  const { spec: known } = file;
  const isDone = await isThere(fileOf.done(folder));
  if (known.request !== asked) throw otherJob(folder, isDone);
  if (isDone) {
    if (isUrl(known.out.path) || (await isThere(known.out.path))) return;
    const sentence = `the job in ${folder} was done, but ${known.out.path} is gone; remove the folder`;
    throw new TensorError("attribute", `${sentence} to do it again`);
  }
  await checkInputs(request, known.id);
  // The array is not the job's any more, but the job's folder does not say "done" yet.
  if (known.inPlace && (await file.isComplete())) return;
  // The indices may have been mended.
  await forgetFailures(folder);
  await beginOutput(folder, known);
  await checkUnchanged(await openContext(folder, known));
}

/** The error for a folder with another job. Removing the folder alone would leave that job's output half done. */
const otherJob = (folder: string, isDone: boolean): TensorError => {
  const advice = isDone
    ? "remove the folder, or give another one"
    : `finish that job (ndscatter job resume ${folder}), give it up (ndscatter job remove ${folder}), or give another folder`;
  const sentence = `${folder} holds another job, or one whose inputs have changed since; ${advice}`;
  return new TensorError("attribute", sentence);
};

/** @throws TensorError `attribute` for an array that a job other than `id` is changing in place */
async function checkInputs(
  { data, indices, updates }: JobRequest,
  id: string | null,
): Promise<void> {
  for (const array of [data, indices, updates]) {
    if (array === undefined) continue;
    const { format, path: place } = array.location;
    if (format !== "zarr" || isUrl(place)) continue;
    // A job may have been given up since the array was opened. Opening it again throws if it is changed in part.
    await openLocated(array.location);
    await checkUnclaimed(place, id);
  }
}

/** @throws TensorError `attribute` */
function checkRequest({
  data,
  indices,
  updates,
  memory,
  threads,
  folder,
  out,
  codecs,
}: JobRequest): void {
  checkCount("memory", memory);
  if (threads !== 0) checkCount("threads", threads);
  for (const [name, array] of Object.entries({ data, indices, updates })) {
    if (array === undefined && name === "updates") continue;
    const given: unknown = array;
    if (typeof given === "object" && given !== null && "location" in given) continue;
    const sentence = `${name} must be an array that openArray has opened, got ${printValue(given)}`;
    throw new TensorError("attribute", sentence, { input: name });
  }
  if (codecs !== undefined && out?.format !== "zarr") {
    const sentence = "codecs are those of a new Zarr array, and the output is";
    const what = out === null ? "data itself" : `${out.path}, an NPY file`;
    throw new TensorError("attribute", `${sentence} ${what}`);
  }
  if (out !== null && out.format !== "npy" && out.format !== "zarr") {
    throw new TensorError("attribute", `the output is npy or zarr, got ${printValue(out.format)}`);
  }
  if (out?.format === "zarr" && !isUrl(out.path)) checkEnding(out.path);
  const places = [data, indices, updates, out === null ? undefined : { location: out }];
  checkApart(
    folder,
    places.flatMap((one) => (one === undefined ? [] : [one.location.path])),
  );
}

/** Refuses a Zarr folder whose name ends like that of a file: it would later be read as a file. */
function checkEnding(folder: string): void {
  const ending = path.extname(folder).toLowerCase();
  if (ending === "" || ending === ".zarr") return;
  const sentence =
    `the output ${folder} must end in .npy or .zarr, or be a Zarr folder without an ending, ` +
    `got ${printValue(ending)}`;
  throw new TensorError("attribute", sentence, { input: "out" });
}

/** What makes two requests the same. The memory and the threads do not. */
function hashOf({ call, data, indices, updates, out, codecs }: JobRequest): string {
  // Of a Zarr array the fingerprint is that of its metadata, so it stays while the job changes the array in place.
  const inputs = [data, indices, updates].map((array) =>
    array === undefined ? null : [array.location.format, array.location.path, array.fingerprint],
  );
  const text = JSON.stringify({ call, inputs, out, codecs });
  return createHash("sha256").update(text).digest("hex");
}

async function specOf(request: JobRequest, asked: string): Promise<JobSpec> {
  const { call, indices, updates, folder, out, codecs } = request;
  for (const array of [request.data, indices, updates]) {
    if (array?.dtype !== "string") continue;
    throw new TensorError("dtype", `${array.location.path} holds text, which has no chunked calls`);
  }
  const { bytes } = DTYPES[request.data.dtype];
  const resolved = resolveCall(call, { data: request.data, indices, updates });
  const data = await divided(request);
  const { shape, layout } = resolved;
  const address = addressOf(layout, data.shape, data.chunkShape);
  if (request.blockShape !== undefined) checkBlocks(request.blockShape, address.positions);
  const blockShape = fittingBlocks(request, { data, indices, updates, resolved, address });
  await checkUnused(resolved, data.shape, indices);
  const { size: blocks } = new Grid(address.positions, blockShape);
  const { size: chunks } = new Grid(data.shape, data.chunkShape);
  const chunksPerTask = chunksPerTaskOf({ data, updates });
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
    codecs,
    blockShape,
    chunks,
    chunksPerTask,
    stages: stagesOf({
      partition: blocks,
      check: refusesDuplicates(resolved) ? address.leads.size : null,
      apply: Math.ceil(chunks / chunksPerTask),
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

/**
 * The shape of blocks that was asked for, or the largest that fits in the memory.
 * @throws TensorError `too-large` where not even one thread can work
 */
function fittingBlocks(
  { memory, threads, out, codecs, blockShape: given }: JobRequest,
  parts: JobParts,
): readonly number[] {
  const { data, updates, resolved, address } = parts;
  const { positions } = address;
  const { dtype } = data;
  const sizes = taskBytes(parts, out?.format === "npy");
  const needed = (block: readonly number[]): number => {
    const held =
      out === null
        ? data.held
        : heldByOutput(
            out.format,
            {
              dtype,
              shape: resolved.shape,
              chunkShape: outChunks(out, address, block, data, updates),
            },
            data,
            codecs,
          );
    return neededBytes(sizes, heldBy(parts, held), product(block), updates === undefined);
  };
  const least = needed(given ?? positions.map(() => 1));
  const most = threadsFor(memory, Math.max(1, threads), least, data.chunkShape);
  return given ?? blockShapeFor(positions, sizes, shareOf(memory, most), needed);
}

/** Data in chunks that fit in the memory. A file without chunks of its own is divided anew. */
async function divided({ data, memory, threads }: JobRequest): Promise<ChunkedArray> {
  if (data.location.format !== "npy" || data.location.chunkShape !== undefined) return data;
  const { bytes } = DTYPES[data.dtype];
  const chunkShape = chunksFor(data.shape, bytes, shareOf(memory, Math.max(1, threads)));
  return openLocated({ ...data.location, chunkShape });
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
  if (areContiguous(blockShape, positions)) return;
  const sentence =
    "blockShape must cover positions that follow each other in row-major order: ones, then any size, then " +
    `whole axes, such as [1, 3, 4] of [2, 5, 4]; got ${printValue(blockShape)} for positions ${printShape(positions)}`;
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
  const unfinished = out.format === "zarr" ? await readClaim(out.path) : null;
  if (unfinished !== null) throw await refusal(out.path, unfinished);
  throw new TensorError("attribute", `${out.path} exists; remove it, or give another output`);
}
