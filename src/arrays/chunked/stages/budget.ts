/** Divides a job's memory into a fixed amount for the process and equal shares for the threads. */

import { printCount } from "../../../core/foreign.ts";
import { TensorError } from "../../../core/errors.ts";
import { stepsOf } from "../../../core/call/steps.ts";
import type { ChunkedArray, HeldBytes } from "../../boxes/array.ts";
import { isUrl } from "../../boxes/file.ts";
import { contiguousChunks, Grid } from "../../boxes/grid.ts";
import { DTYPES } from "../../../core/tensor/dtype.ts";
import type { Address } from "./address.ts";
import type { ResolvedCall } from "../job/request.ts";
import { CHUNKED } from "../../../core/limits.ts";
import { printShape, product } from "../../../core/tensor/shape.ts";
import { MOST_CHUNKS_PER_TASK } from "../job/spec.ts";

const MEGABYTE = 2 ** 20;

/**
 * The memory of a process and of each thread, in bytes, without tasks and file pages. Node 20 with this package takes
 * 34 MB, and each thread takes 13 MB. The remaining memory is for garbage: four threads with parts of 400 blocks took
 * 43 MB each.
 */
const PROCESS = 80 * MEGABYTE;
const THREAD = 40 * MEGABYTE;

/** The minimum size, in bytes, of a block, and of a batch of a chunk's updates. */
export const LEAST_UPDATES = MEGABYTE;

/** The maximum sizes of blocks and chunks, in bytes, because larger sizes are not faster. */
const MOST_BLOCK = 128 * MEGABYTE;
const MOST_CHUNK = 64 * MEGABYTE;

/** Prints an amount of memory in the binary units in which users specify memory, such as 256 MiB or 1 KiB. */
export function printMemory(bytes: number, round = Math.floor): string {
  if (bytes < 2 ** 10) return printCount(bytes, "byte");
  const [unit, name] = bytes < MEGABYTE ? [2 ** 10, "KiB"] : [MEGABYTE, "MiB"];
  return `${round(bytes / Number(unit))} ${name}`;
}

/** Returns the memory per task, in bytes. */
export const shareOf = (memory: number, threads: number): number =>
  Math.floor((memory - PROCESS) / threads) - THREAD;

/** Returns the memory of a process in which every thread runs a task of this size. */
export const memoryOf = (threads: number, bytes: number): number =>
  PROCESS + threads * (THREAD + Math.ceil(bytes));

/** The memory of a job's tasks per chunk, position and update, in bytes, which does not depend on the block size. */
export interface TaskBytes {
  /**
   * The memory for the data chunks that a task processes at once, and for one counter per row if updates are counted.
   */
  readonly chunk: number;
  /**
   * The memory per position of a block, in `partition` and `place`, for numbers and up to three copies of the slice.
   */
  readonly position: number;
  /** The memory per update or result, in `apply`, for the slice, the row, and more numbers if updates are counted. */
  readonly entry: number;
  /** The memory for the table that finds a block's updates of the same target. */
  readonly table: number;
}

export interface JobParts {
  readonly data: ChunkedArray;
  readonly indices: ChunkedArray;
  readonly updates: ChunkedArray | undefined;
  readonly resolved: ResolvedCall;
  readonly address: Address;
  /** The result of `chunksPerTaskOf`. */
  readonly chunksPerTask: number;
  /** True if each thread keeps all updates in memory. */
  readonly isFew?: boolean;
}

/** Returns true if several chunks of this size are processed together. */
export const isSmall = (bytes: number): boolean => bytes <= CHUNKED.small;

const bytesOfChunk = ({ chunkShape, dtype }: ChunkedArray): number =>
  product(chunkShape) * DTYPES[dtype].bytes;

/** Returns true if single rows can be read, because a local file stores chunks without encoding. */
export const isReadByRows = ({ held, location }: ChunkedArray): boolean =>
  held.read === 0 && !isUrl(location.path);

/**
 * Returns the number of data chunks per `apply` task. Many small chunks share a task, and so do chunks with few updates,
 * and chunks of which a gather needs few rows. In a gather, a task with several chunks processes all pieces of its
 * slices, because these lie in consecutive chunks.
 */
export function chunksPerTaskOf({
  data,
  updates,
  address,
  isFew,
}: Pick<JobParts, "data" | "updates" | "address" | "isFew">): number {
  const isGather = updates === undefined;
  const { size } = new Grid(data.shape, data.chunkShape);
  const wanted = product(address.positions);
  const isSparse =
    isGather && isReadByRows(data) && wanted * CHUNKED.gap < size * bytesOfChunk(data);
  if (!isSmall(bytesOfChunk(data)) && !isSparse && isFew !== true) return 1;
  const together = isGather ? Math.max(1, address.pieces.size) : 1;
  // The chunks of a scatter's task are on the disk twice until the task ends.
  const fitting =
    isFew === true ? Math.floor(CHUNKED.together / Math.max(1, bytesOfChunk(data))) : Infinity;
  const least = Math.max(Math.min(CHUNKED.group, fitting), together);
  const most = Math.floor(size / CHUNKED.groups);
  const count = Math.min(least, most, MOST_CHUNKS_PER_TASK);
  return Math.max(1, count - (count % together));
}

/**
 * Returns the number of a task's chunks in memory at once, because a gather loads small chunks of the same piece
 * together.
 */
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

/** `hasWholeSlices` is true if a gather joins the pieces of slices. Few updates are kept as whole slices. */
export function taskBytes(parts: JobParts, hasWholeSlices: boolean): TaskBytes {
  const { data, indices, updates, resolved, address, isFew } = parts;
  const { bytes } = DTYPES[data.dtype];
  const { first, later, divides } = stepsOf(resolved.call.settings, data.dtype);
  const isScatter = updates !== undefined;
  const isCounted = isScatter && (divides || first !== later);
  const slice = product(address.pieces.chunkShape) * bytes;
  const whole =
    (hasWholeSlices || isFew === true) && address.pieces.size > 1
      ? product(address.slice) * bytes
      : 0;
  const index = DTYPES[indices.dtype].bytes * Math.max(1, address.tuple.length);
  const rows = product(address.leads.chunkShape);
  return {
    chunk: chunksAtOnce(parts) * (product(data.chunkShape) * bytes + (isCounted ? 4 * rows : 0)),
    position: 3 * slice + whole + 2 * index + 40,
    entry: slice + 4 + (isCounted ? 17 : 0),
    table: isScatter ? 4 * Math.min(rows, CHUNKED.rows) : 0,
  };
}

/** Returns the maximum memory that any stage takes for reading and writing chunks, without the chunks themselves. */
export const heldBy = (parts: Omit<JobParts, "resolved">, out: HeldBytes): number => {
  const { data, indices, updates } = parts;
  const lanes = Math.min(CHUNKED.reads, chunksAtOnce(parts));
  // A gather writes its chunks one at a time.
  const written = updates === undefined ? out.write : lanes * out.write;
  const read = indices.held.read + (updates?.held.read ?? 0);
  return Math.max(lanes * data.held.read, written, read);
};

/**
 * Returns the memory of the largest task, in bytes. `held` is the result of `heldBy`. `block` is the number of
 * positions in a block.
 */
export function neededBytes(
  { chunk, position, entry, table }: TaskBytes,
  held: number,
  block: number,
  isGather: boolean,
  isFew = false,
): number {
  const divided = block * position + table + held;
  // A thread that keeps all updates reads them before, or in addition to, any chunk.
  if (isFew) return chunk + divided;
  // A gather writes all slices of a block at once, while a scatter can apply updates in batches.
  const applied = isGather ? chunk + Math.max(held, block * entry) : chunk + held + LEAST_UPDATES;
  return Math.max(divided, applied);
}

/** The memory that a job's tasks take, in bytes. */
export interface JobNeeds {
  readonly sizes: TaskBytes;
  /** The memory for reading and writing chunks. */
  readonly held: number;
  /** The memory of the largest task. */
  readonly needed: number;
  /** The memory of a `partition` task, excluding `held`. */
  readonly block: number;
}

/**
 * Returns the needs of a job with `positions` positions per block. `out` is the memory for a chunk of the output, and
 * `cut` the size of a chunk, in bytes, that is cut out of a block, or null. `isNpy` is true for an NPY file.
 */
export function needsFor(
  parts: JobParts,
  positions: number,
  out: HeldBytes,
  cut: number | null,
  isNpy: boolean,
  sizes = taskBytes(parts, isNpy || cut !== null),
): JobNeeds {
  const held = heldBy(parts, { ...out, write: out.write + (cut ?? 0) });
  const isGather = parts.updates === undefined;
  return {
    sizes,
    held,
    needed: neededBytes(sizes, held, positions, isGather, parts.isFew),
    block: positions * sizes.position + sizes.table,
  };
}

/** Returns the number of threads that fit in memory. Throws a `too-large` error if not even one thread fits. */
export function threadsFor(
  memory: number,
  wanted: number,
  least: number,
  chunkShape: readonly number[],
): number {
  for (let threads = wanted; threads > 0; threads--) {
    if (shareOf(memory, threads) >= least) return threads;
  }
  const needed = memoryOf(1, least);
  throw new TensorError(
    "too-large",
    `a task with a chunk ${printShape(chunkShape)} needs ${printMemory(needed, Math.ceil)} of memory, but ` +
      `only ${printMemory(memory)} is allowed; allow more, or copy the array with smaller chunks ` +
      "(ndscatter array a.zarr -o b.zarr --chunks ...)",
    { got: needed, limit: memory },
  );
}

/** Returns a chunk shape for data in a format without chunks, small enough to leave memory for updates. */
export function chunksFor(shape: readonly number[], elementBytes: number, share: number): number[] {
  const bytes = Math.min(MOST_CHUNK, Math.max(MEGABYTE, share / 4));
  return contiguousChunks(shape, Math.floor(bytes / elementBytes));
}

/**
 * Returns the shape of the largest block of positions with which all tasks stay within their memory share. `needed`
 * computes the memory of the largest task for a block shape.
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
