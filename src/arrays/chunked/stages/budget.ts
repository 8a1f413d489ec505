/** How the memory that a job may take is divided: what a process needs anyway, then a share for each thread. */

import { stepsOf } from "../../../core/call/steps.ts";
import { printValue, TensorError } from "../../../core/errors.ts";
import type { ChunkedArray, HeldBytes } from "../../boxes/array.ts";
import { isUrl } from "../../boxes/file.ts";
import { contiguousChunks, Grid } from "../../boxes/grid.ts";
import { DTYPES } from "../../../core/tensor/dtype.ts";
import type { Address } from "./address.ts";
import type { ResolvedCall } from "../job/call-spec.ts";
import { CHUNKED } from "../../../core/limits.ts";
import { printShape, product } from "../../../core/tensor/shape.ts";
import { MOST_CHUNKS_PER_TASK } from "../job/spec.ts";

const MEGABYTE = 2 ** 20;

/** What a process takes before it has read anything, and what each thread of it adds: measured with Node 20 and 24. */
const PROCESS = 96 * MEGABYTE;
const THREAD = 24 * MEGABYTE;

/** Updates of a chunk are taken in parts of at least this many bytes. */
export const LEAST_UPDATES = MEGABYTE;

/** Larger blocks and chunks make nothing faster. */
const MOST_BLOCK = 128 * MEGABYTE;
const MOST_CHUNK = 64 * MEGABYTE;

/** What a thread can use for one task. */
export const shareOf = (memory: number, threads: number): number =>
  Math.floor((memory - PROCESS) / threads) - THREAD;

/** What a process takes whose threads each have a task of so many bytes. */
export const memoryOf = (threads: number, bytes: number): number =>
  PROCESS + threads * (THREAD + bytes);

/** Bytes that a job's tasks hold in memory, for each chunk, position and update. The size of blocks does not count here. */
export interface TaskBytes {
  /** For the chunks of data that a task has at once, and one counter for each row where updates are counted. */
  readonly chunk: number;
  /** For each position of a block, in partition and place: numbers, and up to three copies of its slice. */
  readonly position: number;
  /** For each update or result, in apply: its slice, its row, and more numbers where updates are counted. */
  readonly entry: number;
  /** For the table that finds updates of one target within a block. */
  readonly table: number;
}

export interface JobParts {
  readonly data: ChunkedArray;
  readonly indices: ChunkedArray;
  readonly updates: ChunkedArray | undefined;
  readonly resolved: ResolvedCall;
  readonly address: Address;
  /** By {@link chunksPerTaskOf}. */
  readonly chunksPerTask: number;
}

/** Whether chunks of so many bytes share tasks, and memory. */
export const isSmall = (bytes: number): boolean => bytes <= CHUNKED.small;

const bytesOfChunk = ({ chunkShape, dtype }: ChunkedArray): number =>
  product(chunkShape) * DTYPES[dtype].bytes;

/** Whether rows can be read without the rest of their chunk: the file has them as memory does. */
export const isReadByRows = ({ held, location }: ChunkedArray): boolean =>
  held.read === 0 && !isUrl(location.path);

/**
 * How many chunks of data a task of `apply` takes: several where they are small and many, or where a gather wants few rows of
 * each. A task of a gather that takes several takes whole slices, whose pieces lie in chunks that follow each other.
 */
export function chunksPerTaskOf({
  data,
  updates,
  address,
}: Pick<JobParts, "data" | "updates" | "address">): number {
  const isGather = updates === undefined;
  const { size } = new Grid(data.shape, data.chunkShape);
  const wanted = product(address.positions);
  const isSparse =
    isGather && isReadByRows(data) && wanted * CHUNKED.gap < size * bytesOfChunk(data);
  if (!isSmall(bytesOfChunk(data)) && !isSparse) return 1;
  const together = isGather ? Math.max(1, address.pieces.size) : 1;
  const least = Math.max(CHUNKED.group, together);
  const most = Math.floor(size / CHUNKED.groups);
  const count = Math.min(least, most, MOST_CHUNKS_PER_TASK);
  return Math.max(1, count - (count % together));
}

/** How many of a task's chunks are in memory at once: of a gather those of one piece, if they are small. */
function chunksAtOnce({
  data,
  updates,
  address,
  chunksPerTask,
}: Pick<JobParts, "data" | "updates" | "address" | "chunksPerTask">): number {
  if (updates !== undefined) return Math.min(CHUNKED.reads, chunksPerTask);
  if (!isSmall(bytesOfChunk(data))) return 1;
  return Math.max(1, Math.floor(chunksPerTask / Math.max(1, address.pieces.size)));
}

/** @param hasWholeSlices true where a gather writes whole slices, which data may have in several pieces */
export function taskBytes(parts: JobParts, hasWholeSlices: boolean): TaskBytes {
  const { data, indices, updates, resolved, address } = parts;
  const { bytes } = DTYPES[data.dtype];
  const { first, later, divides } = stepsOf(resolved.call.settings);
  const isScatter = updates !== undefined;
  const isCounted = isScatter && (divides || first !== later);
  const slice = product(address.pieces.chunkShape) * bytes;
  const whole = hasWholeSlices && address.pieces.size > 1 ? product(address.slice) * bytes : 0;
  const index = DTYPES[indices.dtype].bytes * Math.max(1, address.tuple.length);
  const rows = product(address.leads.chunkShape);
  return {
    chunk: chunksAtOnce(parts) * (product(data.chunkShape) * bytes + (isCounted ? 4 * rows : 0)),
    position: 3 * slice + whole + 2 * index + 40,
    entry: slice + 4 + (isCounted ? 17 : 0),
    table: isScatter ? 4 * Math.min(rows, CHUNKED.rows) : 0,
  };
}

/** Bytes that reading and writing chunks takes beside the chunks, in the stage that takes most. */
export const heldBy = (parts: Omit<JobParts, "resolved">, out: HeldBytes): number => {
  const { data, indices, updates } = parts;
  const lanes = Math.min(CHUNKED.reads, chunksAtOnce(parts));
  // A gather writes chunks one by one.
  const written = updates === undefined ? out.write : lanes * out.write;
  const read = indices.held.read + (updates?.held.read ?? 0);
  return Math.max(lanes * data.held.read, written, read);
};

/**
 * Bytes that the largest task takes.
 * @param held by {@link heldBy}
 * @param block how many positions a block has
 */
export function neededBytes(
  { chunk, position, entry, table }: TaskBytes,
  held: number,
  block: number,
  isGather: boolean,
): number {
  const divided = block * position + table + held;
  // A gather writes all slices that a block wants from a task's chunks at once. Updates are applied in parts.
  const applied = isGather ? chunk + Math.max(held, block * entry) : chunk + held + LEAST_UPDATES;
  return Math.max(divided, applied);
}

/**
 * How many threads can work at once.
 * @throws TensorError `too-large` where not even one can
 */
export function threadsFor(
  memory: number,
  wanted: number,
  least: number,
  chunkShape: readonly number[],
): number {
  for (let threads = wanted; threads > 0; threads--) {
    if (shareOf(memory, threads) >= least) return threads;
  }
  const needed = Math.ceil((least + PROCESS + THREAD) / MEGABYTE);
  throw new TensorError(
    "too-large",
    `a chunk ${printShape(chunkShape)} needs ${needed} MB of memory with all that is around it, but ` +
      `${Math.floor(memory / MEGABYTE)} MB are allowed; allow more, or copy the array into smaller chunks ` +
      "(ndscatter array a.zarr -o b.zarr --chunks ...)",
  );
}

/** The chunks of data in a file that has none: small enough for their updates to fit in beside them. */
export function chunksFor(shape: readonly number[], elementBytes: number, share: number): number[] {
  const bytes = Math.min(MOST_CHUNK, Math.max(MEGABYTE, share / 4));
  return contiguousChunks(shape, Math.floor(bytes / elementBytes));
}

/**
 * The shape of the largest block of positions for which no task takes more than its share.
 * @param needed bytes that the largest task takes with blocks of a given shape
 */
export function blockShapeFor(
  positions: readonly number[],
  { position }: TaskBytes,
  share: number,
  needed: (blockShape: readonly number[]) => number,
): number[] {
  if (product(positions) === 0) return positions.map(() => 1);
  let most = Math.min(2.5 * MOST_BLOCK, Math.max(MEGABYTE, share)) / position;
  for (;;) {
    const shape = contiguousChunks(positions, Math.max(1, Math.floor(most)));
    if (most <= 1 || needed(shape) <= share) return shape;
    most *= 0.9;
  }
}

/** @throws TensorError `attribute` unless `value` is a positive integer */
export function checkCount(name: string, value: unknown): void {
  if (Number.isSafeInteger(value) && Number(value) >= 1) return;
  const sentence = `${name} must be a positive integer, got ${printValue(value)}`;
  throw new TensorError("attribute", sentence);
}
