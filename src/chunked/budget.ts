/** How the memory that a job may take is divided: what a process needs anyway, then a share for each thread. */

import { TensorError } from "../errors.ts";
import { contiguousChunks } from "../arrays/npy-array.ts";
import { printShape, product } from "../tensor/shape.ts";

const MEGABYTE = 2 ** 20;

/** What a process takes before it has read anything, and what each thread of it adds: measured with Node 20 and 24. */
const PROCESS = 72 * MEGABYTE;
const THREAD = 24 * MEGABYTE;

/** Updates of a chunk are taken in parts of at least this many bytes. */
const LEAST_UPDATES = MEGABYTE;

/** Larger blocks and chunks make nothing faster. */
const MOST_BLOCK = 128 * MEGABYTE;
const MOST_CHUNK = 64 * MEGABYTE;

/** What a thread can use for one task. */
export const shareOf = (memory: number, threads: number): number =>
  Math.floor((memory - PROCESS) / threads) - THREAD;

/** What the least task of a job takes, beside the updates: a chunk as the engine has it, and as the file has it. */
export const leastOf = (chunkBytes: number, isEncoded: boolean): number =>
  chunkBytes * (isEncoded ? 2 : 1) + LEAST_UPDATES;

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
  return contiguousChunks(shape, Math.max(1, Math.floor(bytes / elementBytes)));
}

/**
 * The shape of a block of positions, whose updates are in memory twice, beside numbers for each position.
 * @param sliceBytes of the largest piece of a slice
 * @param indexBytes of the indices of a position
 */
export function blockShapeFor(
  positions: readonly number[],
  sliceBytes: number,
  indexBytes: number,
  share: number,
): number[] {
  const room = Math.min(2.5 * MOST_BLOCK, Math.max(MEGABYTE, share));
  const each = 3 * sliceBytes + 2 * indexBytes + 20;
  const shape = contiguousChunks(positions, Math.max(1, Math.floor(room / each)));
  return product(positions) === 0 ? positions.map(() => 1) : shape;
}
