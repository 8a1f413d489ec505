/**
 * Converts a request to a plan before anything is written: tasks, and the bytes, memory and disk space that they need.
 * Checks everything except the indices.
 */

import { randomBytes } from "node:crypto";
import * as path from "node:path";
import { factOf, isArray, printValue, TensorError } from "../../../core/errors.ts";
import { DTYPES } from "../../../core/tensor/dtype.ts";
import { part, printShape, product, sameShape } from "../../../core/tensor/shape.ts";
import type { ArrayLocation, ArrayType, ChunkedArray } from "../../boxes/array.ts";
import { isThere, isUrl } from "../../boxes/file.ts";
import { areContiguous, areWhole, Grid } from "../../boxes/grid.ts";
import { areApart } from "../../boxes/ranges.ts";
import { SlicedArray, sliceOf } from "../../boxes/slice.ts";
import { addressOf } from "../stages/address.ts";
import {
  blockShapeFor,
  chunksFor,
  chunksPerTaskOf,
  heldBy,
  neededBytes,
  shareOf,
  taskBytes,
  threadsFor,
  type JobParts,
} from "../stages/budget.ts";
import { checkUnused } from "../stages/check-indices.ts";
import { ZarrArray } from "../../zarr/array.ts";
import type { CreateOptions } from "../../zarr/create.ts";
import { refusesDuplicates, resolveCall, type CallSpec } from "./call-spec.ts";
import { holdsObjects, readClaim, refusal } from "./claim.ts";
import { checkDisk } from "./disk.ts";
import { planOf, type JobPlan, type PlanParts } from "./job-plan.ts";
import { stagesOf } from "./job.ts";
import { costsOfOutput, openLocated, outputExists } from "./open-arrays.ts";
import { MOST_TASKS, type Chunking, type JobSpec } from "./spec.ts";

/** The call of a job, its arrays, and its limits. */
export interface JobRequest {
  /** The path of the job's folder. */
  readonly folder: string;
  readonly call: CallSpec;
  readonly data: ChunkedArray;
  readonly indices: ChunkedArray;
  readonly updates?: ChunkedArray | undefined;
  /** The location of the new array; null if data is changed in place. */
  readonly out: Pick<ArrayLocation, "format" | "path"> | null;
  /** The codecs of a new Zarr array; by default, the codecs of data. */
  readonly codecs?: CreateOptions["codecs"];
  /**
   * The chunk shape of a new Zarr array; with shards, the shape of the chunks inside a shard. By default, a scatter
   * uses data's chunk shape, and a gather the largest that memory allows.
   */
  readonly chunkShape?: CreateOptions["chunkShape"];
  /** The shard shape of a new Zarr array, a multiple of `chunkShape`. */
  readonly shards?: CreateOptions["shards"];
  /** Memory for the whole process, in bytes. */
  readonly memory: number;
  readonly threads: number;
  /**
   * The shape of a block of positions; by default, as large as memory allows. A block is a run of positions in
   * row-major order, which is the order of their updates, so its shape is ones, then any size, then whole axes.
   */
  readonly blockShape?: readonly number[] | undefined;
}

/** A planned request: its plan, spec and arrays. */
export interface PlannedJob {
  readonly plan: JobPlan;
  readonly spec: JobSpec;
  readonly parts: JobParts;
}

/**
 * @param asked a hash of the request
 * @throws TensorError like `run`, up to the shape checks; `too-large` if a chunk does not fit in memory or the results
 *   do not fit on the disk; `attribute` if the output exists
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
  const data = await divided(request, resolved.shape, chunking);
  const { layout } = resolved;
  const address = addressOf(layout, data.shape, data.chunkShape);
  if (request.blockShape !== undefined) checkBlocks(request.blockShape, address.positions);
  const chunksPerTask = chunksPerTaskOf({ data, updates, address });
  const parts = { data, indices, updates, resolved, address, chunksPerTask };
  const { blockShape, threads, taskBytes: largest } = fittingBlocks(request, parts, chunking);
  await checkUnused(resolved, data.shape, indices);
  const { size: blocks } = new Grid(address.positions, blockShape);
  const { size: chunks } = new Grid(data.shape, data.chunkShape);
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
    stages: stagesOf({
      partition: blocks,
      check: refusesDuplicates(resolved) ? address.leads.size : null,
      apply: Math.ceil(chunks / chunksPerTask),
      place: updates === undefined ? blocks : null,
    }),
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
  const takes = { threads, taskBytes: largest };
  return { ...(await planned(request, { spec, parts, takes })), parts };
}

/** Adds the planned bytes to a job. @throws TensorError `too-large` if the disks do not have enough space */
async function planned(
  { folder, out, codecs }: JobRequest,
  job: Omit<PlanParts, "costs">,
): Promise<Omit<PlannedJob, "parts">> {
  const { spec, parts } = job;
  const { chunkShape = [], path: place } = spec.out;
  const encoding = { codecs, chunking: spec.chunking };
  const costs =
    out === null
      ? null
      : costsOfOutput(out.format, typeOf(parts, chunkShape), parts.data, encoding);
  const { plan, planned: figures } = planOf({ ...job, costs });
  const total = (at: 0 | 1): number => figures.disk.reduce((sum, one) => sum + one[at], 0);
  await checkDisk([
    { folder: path.resolve(folder), bytes: total(0) },
    ...(isUrl(place) ? [] : [{ folder: path.dirname(place), bytes: total(1) }]),
  ]);
  return { plan, spec: { ...spec, planned: figures } };
}

const typeOf = (
  { data: { dtype }, resolved: { shape } }: JobParts,
  chunkShape: readonly number[],
): ArrayType => ({ dtype, shape, chunkShape });

interface Divided extends Pick<JobPlan, "threads" | "taskBytes"> {
  readonly blockShape: readonly number[];
}

/**
 * Returns the requested block shape, or the largest that fits in memory.
 * @throws TensorError `too-large` if there is not enough memory for a single thread
 */
function fittingBlocks(
  { memory, threads, out, codecs, blockShape: given }: JobRequest,
  parts: JobParts,
  chunking: Chunking | undefined,
): Divided {
  const { data, updates, address } = parts;
  const { positions } = address;
  const { dtype } = data;
  const isGather = updates === undefined;
  const isCut = isGather && chunking !== undefined;
  const sizes = taskBytes(parts, out?.format === "npy" || isCut);
  const cut = isCut ? outer(chunking).slice(0, positions.length) : positions.map(() => 1);
  const needed = (block: readonly number[]): number => {
    const held =
      out === null
        ? data.held
        : costsOfOutput(out.format, typeOf(parts, outChunks(out, parts, block, chunking)), data, {
            codecs,
            chunking,
          });
    const buffer = isCut ? product(outer(chunking)) * DTYPES[dtype].bytes : 0;
    const own = { ...held, write: held.write + buffer };
    return neededBytes(sizes, heldBy(parts, own), product(block), isGather);
  };
  const smallest = wholeChunks(
    positions.map(() => 1),
    positions,
    cut,
  );
  const least = needed(given ?? smallest);
  const largest = isCut ? outer(chunking) : data.chunkShape;
  const most = threadsFor(memory, Math.max(1, threads), least, largest);
  const share = shareOf(memory, most);
  const wanted =
    given ?? wholeChunks(blockShapeFor(positions, sizes, share, needed), positions, cut);
  if (given !== undefined && !areWhole(given, positions, cut)) {
    const sentence = `blockShape must cover whole chunks ${printShape(cut)} of the output, got ${printShape(given)}`;
    throw new TensorError("attribute", sentence, { key: "blockShape", got: given, expected: cut });
  }
  // Rounding up to whole chunks can make a block too large for the memory.
  const blockShape = given === undefined && needed(wanted) > share ? smallest : wanted;
  return { blockShape, threads: most, taskBytes: needed(blockShape) };
}

/**
 * Divides data into chunks that fit in memory. If the file format does not define chunks, the chunk shape is chosen
 * here. Part of an array that is changed in place is divided so that no two tasks write the same chunk of the array.
 */
async function divided(
  { data, updates, memory, threads, out }: JobRequest,
  result: readonly number[],
  chunking: Chunking | undefined,
): Promise<ChunkedArray> {
  if (chunking !== undefined) checkRank(chunking, result);
  if (chunking !== undefined && updates !== undefined) {
    // A task writes one chunk of the output, and reads the same box of data from all chunks that overlap the box.
    const wanted = outer(chunking);
    // The chunk shape of an NPY file that the caller did not choose is not recorded, so it is recorded here.
    const isRecorded = data.location.format === "zarr" || data.location.chunkShape !== undefined;
    if (isRecorded && sameShape(wanted, data.chunkShape)) return data;
    return (data instanceof SlicedArray ? data : sliceOf(data, [])).readAs(wanted);
  }
  if (out === null && data instanceof SlicedArray) return data.exclusive();
  if (data.location.format !== "npy" || data.location.chunkShape !== undefined) return data;
  const { bytes } = DTYPES[data.dtype];
  const { shape } = data instanceof SlicedArray ? data.base : data;
  const chunkShape = chunksFor(shape, bytes, shareOf(memory, Math.max(1, threads)));
  return openLocated({ ...data.location, chunkShape });
}

/**
 * Returns the chunk shape of the new array: data's chunk shape, or for a gather, one chunk per block, so that a single
 * task writes each chunk.
 */
function outChunks(
  { format }: Pick<ArrayLocation, "format">,
  { data, updates, address }: JobParts,
  blockShape: readonly number[],
  chunking: Chunking | undefined,
): readonly number[] {
  if (chunking !== undefined) return outer(chunking);
  if (updates !== undefined) return data.chunkShape;
  const { addressed, slice } = address;
  const pieces =
    format === "npy" ? slice.map((dim) => Math.max(1, dim)) : part(data.chunkShape, addressed);
  return [...blockShape, ...pieces];
}

/** Returns the requested chunks. @throws TensorError `attribute` for chunks that do not fit the output */
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

/** Returns the shape of the elements in one file. */
const outer = ({ chunkShape, shards }: Chunking): readonly number[] => shards ?? chunkShape;

function checkRank(chunking: Chunking, shape: readonly number[]): void {
  for (const [name, given] of Object.entries(chunking) as [string, readonly number[] | null][]) {
    if (given === null || given.length === shape.length) continue;
    const sentence = `${name} must have a size for each axis of the output, whose shape is ${printShape(shape)}, got ${printShape(given)}`;
    throw new TensorError("attribute", sentence, {
      key: name,
      got: given,
      expected: shape.length,
    });
  }
}

/**
 * Returns the largest run of whole chunks within the block, or the smallest possible run, because a block must be a run
 * of positions.
 */
function wholeChunks(
  block: readonly number[],
  positions: readonly number[],
  chunk: readonly number[],
): readonly number[] {
  if (areWhole(block, positions, chunk)) return block;
  const wide = chunk.findIndex((size, d) => Math.min(size, positions[d]) > 1);
  return block.map((size, d) => {
    if (d !== wide) return d < wide ? 1 : Math.max(1, positions[d]);
    return Math.max(1, Math.floor(size / chunk[d])) * chunk[d];
  });
}

function checkBlocks(blockShape: readonly number[], positions: readonly number[]): void {
  if (areContiguous(blockShape, positions)) return;
  const sentence =
    "blockShape must cover consecutive positions in row-major order: ones, then any size, then " +
    `whole axes, such as [1, 3, 4] of [2, 5, 4]; got ${printValue(blockShape)} for positions ${printShape(positions)}`;
  throw new TensorError("attribute", sentence, {
    key: "blockShape",
    got: blockShape,
    expected: positions,
  });
}

/**
 * Checks that a job does not change its other inputs, because a task that runs again would read new values.
 * @throws TensorError `overlap` if the output overlaps another input
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

/** @throws TensorError `attribute` if a new output exists */
export async function checkOutput({ out, inPlace }: JobSpec): Promise<void> {
  if (inPlace) return;
  if (!(await (isUrl(out.path) ? holdsObjects(out.path) : isThere(out.path)))) return;
  const unfinished = out.format === "zarr" ? await readClaim(out.path) : null;
  const refused = unfinished && (await refusal(out.path, unfinished));
  // That job may have ended since its claim was read.
  if (refused !== null && (await readClaim(out.path)) !== null) throw refused;
  throw outputExists(out.path);
}

/** @throws TensorError `attribute` for an array that cannot be the output, `overlap` for an output that is an input */
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
