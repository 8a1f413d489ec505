/** Divides the memory of a job: a fixed amount for the process, then a share for each thread. */

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

/** Bytes of a process before it reads anything, and of each further thread: measured with Node 20 and 24. */
const PROCESS = 96 * MEGABYTE;
const THREAD = 24 * MEGABYTE;

/** Minimum bytes of a part when the updates of a chunk are applied in parts. */
export const LEAST_UPDATES = MEGABYTE;

/** Larger blocks and chunks are not faster. */
const MOST_BLOCK = 128 * MEGABYTE;
const MOST_CHUNK = 64 * MEGABYTE;

/** Bytes that a thread can use for one task. */
export const shareOf = (memory: number, threads: number): number =>
  Math.floor((memory - PROCESS) / threads) - THREAD;

/** Bytes of a process whose threads each run a task of `bytes` bytes. */
export const memoryOf = (threads: number, bytes: number): number =>
  PROCESS + threads * (THREAD + bytes);

/** Bytes that a job's tasks hold in memory, per chunk, position and update. Independent of the size of blocks. */
export interface TaskBytes {
  /** The chunks of data that a task holds at once, and one counter per row if updates are counted. */
  readonly chunk: number;
  /** Per position of a block, in partition and place: numbers, and up to three copies of its slice. */
  readonly position: number;
  /** Per update or result, in apply: its slice, its row, and more numbers if updates are counted. */
  readonly entry: number;
  /** The table that finds updates of one target within a block. */
  readonly table: number;
}

export interface JobParts {
  readonly data: ChunkedArray;
  readonly indices: ChunkedArray;
  readonly updates: ChunkedArray | undefined;
  readonly resolved: ResolvedCall;
  readonly address: Address;
  /** The result of {@link chunksPerTaskOf}. */
  readonly chunksPerTask: number;
}

/** True if chunks of this size share tasks, and memory. */
export const isSmall = (bytes: number): boolean => bytes <= CHUNKED.small;

const bytesOfChunk = ({ chunkShape, dtype }: ChunkedArray): number =>
  product(chunkShape) * DTYPES[dtype].bytes;

/** True if rows can be read without the rest of their chunk, because the file stores elements as memory does. */
export const isReadByRows = ({ held, location }: ChunkedArray): boolean =>
  held.read === 0 && !isUrl(location.path);

/**
 * The number of chunks of data per task of `apply`: several if chunks are small and many, or if a gather needs few rows
 * of each. A gather's task with several chunks takes whole slices, whose pieces lie in consecutive chunks.
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

/** The number of a task's chunks in memory at once; for a gather those of one piece, if they are small. */
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

/** @param hasWholeSlices true if a gather writes whole slices that data holds in several pieces */
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

/** Bytes that reading and writing chunks take in addition to the chunks, in the most expensive stage. */
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
 * @param held the result of {@link heldBy}
 * @param block the number of positions of a block
 */
export function neededBytes(
  { chunk, position, entry, table }: TaskBytes,
  held: number,
  block: number,
  isGather: boolean,
): number {
  const divided = block * position + table + held;
  // A gather writes all slices that a block requests from a task's chunks at once. Updates are applied in parts.
  const applied = isGather ? chunk + Math.max(held, block * entry) : chunk + held + LEAST_UPDATES;
  return Math.max(divided, applied);
}

/**
 * The number of threads that fit in memory.
 * @throws TensorError `too-large` if not even one fits
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

/** The chunk shape for data in a file without chunks: small enough to leave room for their updates. */
export function chunksFor(shape: readonly number[], elementBytes: number, share: number): number[] {
  const bytes = Math.min(MOST_CHUNK, Math.max(MEGABYTE, share / 4));
  return contiguousChunks(shape, Math.floor(bytes / elementBytes));
}

/**
 * The shape of the largest block of positions with which every task stays within its share.
 * @param needed returns the bytes of the largest task for a block shape
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
