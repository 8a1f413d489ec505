/**
 * An array in a file, a folder or a store, which is read and written chunk by chunk, because it may be larger than memory.
 * Formats implement it; whoever uses it needs no format.
 */

import type { AxisBoxes } from "./axis-boxes.ts";
import type { DType } from "../../core/tensor/dtype.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";

/** Plain data with which another thread or another machine opens the same array. */
export interface ArrayLocation {
  readonly format: "npy" | "zarr";
  /** An absolute path, or a URL. */
  readonly path: string;
  /** For a format that has no chunks of its own. */
  readonly chunkShape?: readonly number[];
  /** For a part of the array: what is taken of each of its axes. */
  readonly slice?: readonly AxisPart[];
  /** True for a part whose chunks share no chunk of the array. */
  readonly isExclusive?: boolean;
  /** The shape of the chunks in which the array, or its part, is read, where they are not the array's own. */
  readonly readAs?: readonly number[];
}

/**
 * What is taken of an axis, as in Python: a coordinate, which drops the axis; `[start, stop, step]`, of which those at the
 * end may be left out, and each may be null; or null for all of it. What is negative counts from the end of the axis.
 */
export type AxisRange = number | null | readonly (number | null)[];

/** A coordinate, without the axis; or the first coordinate, the step and the number of coordinates. */
export type AxisPart = number | readonly [start: number, step: number, count: number];

/** The most bytes that reading or writing a chunk takes, not counting the chunk's elements in memory. */
export interface HeldBytes {
  readonly read: number;
  readonly write: number;
}

/** What an array holds, and how it is divided. */
export interface ArrayType {
  readonly dtype: DType;
  /** Dimensions; their product may be beyond 2^32, up to 2^53 - 1. */
  readonly shape: readonly number[];
  /** The shape of a chunk, of the rank of `shape`. Chunks at the end of an axis are smaller. */
  readonly chunkShape: readonly number[];
}

/**
 * An array of chunks. Chunk `at` has coordinates in the grid of chunks. Its elements are those of the array's part that it
 * covers, row-major: a chunk at the end of an axis is as small as that part, whatever the file pads it to.
 *
 * Methods with `into` and `from` take the elements as bytes in the layout of `Tensor.data` (little-endian, one array entry
 * or two for each element), so that callers can use their memory again. They serve all data types but string.
 */
export interface ChunkedArray extends ArrayType {
  readonly location: ArrayLocation;
  /** A text that changes when the array is another one: of its metadata, and of its file where it is one file. */
  readonly fingerprint: string;
  /** The bytes that reading and writing a chunk take; 0 for an array whose file holds chunks as memory does. */
  readonly held: HeldBytes;
  /** Bytes of the file or the object of a chunk, at most; of an NPY file those of the chunk. */
  readonly mostStored: number;
  /** Of the axes, where the metadata has some. */
  readonly dimensionNames?: readonly (string | null)[] | null;

  /**
   * A part of the array, which reads and writes this one: `slice([10, 20], null, 3)` is `[10:20, :, 3]` in Python. Nothing is
   * read until the part is.
   * @throws TensorError `rank`, `index-out-of-range`, `attribute`
   */
  slice(...ranges: readonly AxisRange[]): ChunkedArray;
  /** The elements of the box that begins at `start` and has `shape`; the whole array without them. */
  read(start?: readonly number[], shape?: readonly number[]): Promise<Tensor>;
  /**
   * Replaces the box that begins at `start`, the whole array without one. Chunks that the box covers in part are read and
   * written again, so two calls that share a chunk must not overlap in time.
   */
  write(values: Tensor, start?: readonly number[]): Promise<void>;

  /**
   * A text that changes when an element of a box may have changed: of names, sizes and times of files, or of ETags.
   * Elements are not read.
   */
  stateOf(start: readonly number[], shape: readonly number[]): Promise<string>;
  /**
   * The most bytes of what is stored that are read for a grid of boxes, each by one call of {@link readBytes}. Servers that
   * send more than they are asked for, and requests that are sent again, are not counted.
   */
  mostRead(boxes: readonly AxisBoxes[]): number;
  /** @param most bytes that may be held at once; a single chunk is read even if it takes more */
  readBytes(
    start: readonly number[],
    shape: readonly number[],
    into: Uint8Array,
    most?: number,
  ): Promise<void>;
  /** @returns false where the chunk is not stored; its elements are the fill value, with which `into` was filled */
  readChunk(at: readonly number[], into: Uint8Array): Promise<boolean>;
  /** Replaces a chunk as a whole, or not at all where the store allows that. */
  writeChunk(at: readonly number[], from: Uint8Array): Promise<void>;
}

/** Bytes that staging reads and writes, and the files that it makes. */
export interface Staged {
  readonly read: number;
  readonly written: number;
  readonly files: number;
}

/**
 * An array whose chunks are written in two steps: made durable under a name that no reader sees, then put in their places
 * at once. What lies between the two steps belongs to whoever writes.
 */
export interface StagedArray extends ChunkedArray {
  /** Writes the encoded chunk as `name` into the array's folder for staged chunks, and waits until the disk has it. */
  stageChunk(at: readonly number[], from: Uint8Array, name: string): Promise<void>;
  /**
   * Stages the chunk as another array has it, without decoding it, where both have the same type and encoding.
   * @returns false where that cannot be done, or where there is no chunk to copy
   */
  stageCopy(from: ChunkedArray, at: readonly number[], name: string): Promise<boolean>;
  /** The most that staging each chunk once takes. */
  readonly mostStaged: Staged;
  /** Puts what was staged as `name` in the chunk's place. @returns false where nothing is staged as `name` */
  publishChunk(at: readonly number[], name: string): Promise<boolean>;
  /** True while the chunk that was staged as `name` is there as a whole, and no part of it is in its place yet. */
  isStaged(at: readonly number[], name: string): Promise<boolean>;
  /** Removes what was staged as `name`, if it is there. */
  discard(name: string): Promise<void>;
  /** Removes the folder for staged chunks with all that is in it. */
  endStaging(): Promise<void>;
}

/** An array that nobody sees until it is complete: its metadata, or its file's name, comes last. */
export interface PendingArray extends StagedArray {
  /** Makes the array visible, in the place of one that was there. Done twice it does nothing. */
  publish(): Promise<void>;
}
