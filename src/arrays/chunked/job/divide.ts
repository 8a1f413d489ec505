/** Divides the request of a job into tasks that fit in memory. */

import { printValue } from "../../../core/foreign.ts";
import { TensorError } from "../../../core/errors.ts";
import { CHUNKED } from "../../../core/limits.ts";
import { DTYPES } from "../../../core/tensor/dtype.ts";
import { part, printShape, product, sameShape } from "../../../core/tensor/shape.ts";
import type { ArrayLocation, ArrayType, ChunkedArray } from "../../boxes/array.ts";
import { areContiguous, areWhole, contiguousChunks, Grid } from "../../boxes/grid.ts";
import { exclusive, readAs } from "../../boxes/slice.ts";
import { contiguousIn } from "../../npy/array.ts";
import type { ChunkCosts } from "../../zarr/open.ts";
import { tasksOf } from "../stages/context.ts";
import { addressOf } from "../stages/address.ts";
import { mergeShape } from "../stages/fragment-layout.ts";
import {
  blockShapeFor,
  chunksFor,
  chunksPerTaskOf,
  LEAST_UPDATES,
  needsFor,
  shareOf,
  taskBytes,
  threadsFor,
  type JobParts,
  type TaskBytes,
} from "../stages/budget.ts";
import { refusesDuplicates, type ResolvedCall, type JobRequest, type Chunking } from "./request.ts";
import { stagesOf } from "./job.ts";
import { costsOfOutput, openLocated } from "./open-arrays.ts";
import type { Stage } from "./spec.ts";

/** The division of a job into blocks and chunks, the tasks of each stage, and the number of threads. */
export interface Division {
  readonly parts: JobParts;
  readonly blockShape: readonly number[];
  /** The number of chunks of data. */
  readonly chunks: number;
  readonly stages: readonly Stage[];
  /** The number of threads, as far as memory allows, and the maximum memory of a task, in bytes. */
  readonly threads: number;
  readonly taskBytes: number;
  readonly costsOf: OutputCosts;
}

/**
 * Divides a job into blocks and chunks that fit in the requested memory. Throws a `too-large` error if memory does not
 * suffice for a single thread.
 */
export async function divide(
  request: JobRequest,
  resolved: ResolvedCall,
  chunking: Chunking | undefined,
): Promise<Division> {
  const { indices, updates } = request;
  const data = await divided(request, resolved.shape, chunking);
  const address = addressOf(resolved.layout, data.shape, data.chunkShape);
  if (request.blockShape !== undefined) checkBlocks(request.blockShape, address.positions);
  const partsOf = (isFew: boolean): JobParts => {
    const chunksPerTask = chunksPerTaskOf({ data, updates, address, isFew });
    return { data, indices, updates, resolved, address, chunksPerTask, isFew };
  };
  const many = partsOf(false);
  const costsOf = outputCosts(request, many, chunking);
  const fitting = fittingBlocks(request, many, chunking, costsOf);
  const few = fewUpdates(request, partsOf(true), chunking, costsOf, fitting);
  const { parts, ...blocksAndBytes } = few ?? { parts: many, ...fitting };
  const { chunksPerTask } = parts;
  const { size: blocks } = new Grid(address.positions, blocksAndBytes.blockShape);
  const { size: chunks } = new Grid(data.shape, data.chunkShape);
  const { size: leads } = address.leads;
  const shape = mergeShape(leads, blocks, product(blocksAndBytes.blockShape), chunksPerTask);
  const isGather = updates === undefined;
  const refusesRepeats = refusesDuplicates(resolved);
  const isMerged = !isGather && few === null && !refusesRepeats && blocks * leads > CHUNKED.pairs;
  const merges = isMerged ? shape.tasks : null;
  const sizes = { blocks, chunks, chunksPerTask, leads, merges };
  const stages = stagesOf(tasksOf({ ...sizes, isGather, refusesRepeats }));
  return { ...blocksAndBytes, parts, chunks, stages, costsOf };
}

/**
 * Returns the division of a scatter whose updates every thread keeps in memory, or null if the updates are not few, or
 * do not fit beside a chunk. Such a scatter has a single block.
 */
function fewUpdates(
  request: JobRequest,
  parts: JobParts,
  chunking: Chunking | undefined,
  costsOf: OutputCosts,
  { threads }: Pick<Division, "threads">,
): (Pick<Division, "parts" | "threads" | "taskBytes"> & { blockShape: readonly number[] }) | null {
  const { positions } = parts.address;
  const { updates, blockShape, memory } = request;
  const isDivided = updates === undefined || blockShape !== undefined || product(positions) === 0;
  if (isDivided || refusesDuplicates(parts.resolved)) return null;
  const { sizes, needed } = memoryNeeds(request, parts, chunking, costsOf);
  const bytes = needed(positions);
  const isFew = product(positions) * sizes.position <= CHUNKED.few;
  if (!isFew || bytes > shareOf(memory, threads)) return null;
  return { parts, threads, taskBytes: Math.ceil(bytes), blockShape: positions };
}

export const typeOf = (
  { data: { dtype }, resolved: { shape } }: JobParts,
  chunkShape: readonly number[],
): ArrayType => ({ dtype, shape, chunkShape });

/** Returns the costs of a chunk of a new array, given the block shape, or null if data is changed in place. */
type OutputCosts = (block: readonly number[]) => ChunkCosts | null;

function outputCosts(
  { out, codecs }: JobRequest,
  parts: JobParts,
  chunking: Chunking | undefined,
): OutputCosts {
  const { data, updates, address } = parts;
  if (out === null) return () => null;
  const costsOf: OutputCosts = (block) => {
    const type = typeOf(parts, outChunks(out, parts, block, chunking));
    return costsOfOutput(out.format, type, data, { codecs, chunking });
  };
  // Only the chunks of a gather depend on its blocks.
  if (updates === undefined && chunking === undefined) return costsOf;
  const common = costsOf(address.positions);
  return () => common;
}

/** Returns the memory of tasks, and a function that computes the memory of the largest task for a block shape. */
function memoryNeeds(
  { out }: JobRequest,
  parts: JobParts,
  chunking: Chunking | undefined,
  costsOf: OutputCosts,
): { sizes: TaskBytes; needed: (block: readonly number[]) => number } {
  const { data, updates } = parts;
  const isCut = updates === undefined && chunking !== undefined;
  const cut = isCut ? product(outer(chunking)) * DTYPES[data.dtype].bytes : null;
  const isNpy = out?.format === "npy";
  const sizes = taskBytes(parts, isNpy || isCut);
  const needed = (block: readonly number[]): number =>
    needsFor(parts, product(block), costsOf(block) ?? data.held, cut, isNpy, sizes).needed;
  return { sizes, needed };
}

/**
 * Returns the requested block shape, or the largest shape that fits in memory. Throws a `too-large` error if memory
 * does not suffice for a single thread.
 */
function fittingBlocks(
  request: JobRequest,
  parts: JobParts,
  chunking: Chunking | undefined,
  costsOf: OutputCosts,
): Pick<Division, "threads" | "taskBytes" | "blockShape"> {
  const { memory, threads, blockShape: given } = request;
  const { data, updates, address } = parts;
  const { positions } = address;
  const isCut = updates === undefined && chunking !== undefined;
  const { sizes, needed } = memoryNeeds(request, parts, chunking, costsOf);
  const cut = isCut ? outer(chunking).slice(0, positions.length) : positions.map(() => 1);
  // Blocks need a minimum size, because each block takes a few milliseconds.
  const few = Math.max(1, Math.floor(LEAST_UPDATES / sizes.position));
  const smallest = wholeChunks(contiguousChunks(positions.map(atLeastOne), few), positions, cut);
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
  // Rounding up to whole chunks can make a block too large for memory.
  const blockShape = given === undefined && needed(wanted) > share ? smallest : wanted;
  return { blockShape, threads: most, taskBytes: Math.ceil(needed(blockShape)) };
}

/**
 * Divides data into chunks that fit in memory. For formats without chunks, this function chooses the chunk shape. If
 * part of an array is changed in place, tasks must not write the same array chunk.
 */
async function divided(
  { data, updates, memory, threads, out }: JobRequest,
  result: readonly number[],
  chunking: Chunking | undefined,
): Promise<ChunkedArray> {
  if (chunking !== undefined) checkRank(chunking, result);
  if (chunking !== undefined && updates !== undefined) {
    // Each task writes one output chunk, and reads the same box from all data chunks that overlap it.
    const wanted = outer(chunking);
    // NPY files do not record chunk shapes, so the spec records the default chunk shape.
    const isRecorded = data.location.format === "zarr" || data.location.chunkShape !== undefined;
    if (isRecorded && sameShape(wanted, data.chunkShape)) return data;
    return readAs(data, wanted);
  }
  if (out === null && data.source !== data) return exclusive(data);
  if (data.location.format !== "npy" || data.location.chunkShape !== undefined) return data;
  const { bytes } = DTYPES[data.dtype];
  const share = shareOf(memory, Math.max(1, threads));
  const chunkShape = contiguousIn(data.source, (shape) => chunksFor(shape, bytes, share));
  return openLocated({ ...data.location, chunkShape });
}

/**
 * Returns the chunk shape of the new array: for a scatter, data's chunk shape, and for a gather, one chunk per block.
 */
export function outChunks(
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

/** Returns the shape of the elements that one file contains. */
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

const atLeastOne = (dim: number): number => Math.max(1, dim);

/** Returns the largest part of the block that consists of whole chunks, or the smallest possible block. */
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
