/** How the memory that a job may take is divided: what a process needs anyway, then a share for each thread. */

import { stepsOf } from "../call/execute.ts";
import { printValue, TensorError } from "../errors.ts";
import type { ChunkedArray } from "../arrays/array.ts";
import { contiguousChunks } from "../arrays/grid.ts";
import { DTYPES } from "../tensor/dtype.ts";
import type { ResolvedCall } from "./call-spec.ts";
import { printShape, product } from "../tensor/shape.ts";

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

/**
 * What the least task of a job takes: a chunk as the engine has it, and where that is not the same as the file has it; a few
 * updates; and where the updates of each row are counted, a number for each row.
 */
export function leastOf({ dtype, chunkShape, isPlain }: ChunkedArray, call: ResolvedCall): number {
  const { first, later, divides } = stepsOf(call.call.settings);
  const isCounted = call.call.operator.kind === "scatter" && (divides || first !== later);
  const rows = isCounted ? product(chunkShape, 0, call.layout.addressed) : 0;
  const bytes = product(chunkShape) * DTYPES[dtype].bytes;
  return bytes * (isPlain ? 1 : 2) + LEAST_UPDATES + 4 * rows;
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

/** @throws TensorError `attribute` for what is no positive integer */
export function checkCount(name: string, value: unknown): void {
  if (Number.isSafeInteger(value) && Number(value) >= 1) return;
  const sentence = `${name} must be a positive integer, got ${printValue(value)}`;
  throw new TensorError("attribute", sentence);
}
