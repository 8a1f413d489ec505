/**
 * Interface of arrays in a file, a folder or a store. Arrays are read and written chunk by chunk, because they may be
 * larger than memory. Each format implements the interface, so code that reads or writes chunks is independent of the
 * format.
 */

import type { AxisBoxes } from "./axis-boxes.ts";
import type { DType } from "../../core/tensor/dtype.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";

/** Plain data from which another thread or machine can open the same array. */
export interface ArrayLocation {
  readonly format: "npy" | "zarr";
  /** An absolute path, or a URL. */
  readonly path: string;
  /** The shape of a chunk, for formats that do not define chunks. */
  readonly chunkShape?: readonly number[];
  /** The range of each axis, if the location is part of an array. */
  readonly slice?: readonly AxisPart[];
  /** True if no two chunks of the part share a chunk of the array. */
  readonly isExclusive?: boolean;
  /** The chunk shape in which the array or its part is read, if it differs from the array's chunk shape. */
  readonly readAs?: readonly number[];
}

/**
 * The range of an axis, as in Python: a coordinate, which drops the axis; a list `[start, stop, step]`; or null for the
 * whole axis. Trailing entries of the list may be omitted, and entries may be null. Negative values count from the end
 * of the axis.
 */
export type AxisRange = number | null | readonly (number | null)[];

/** A coordinate, which drops the axis; or the first coordinate, the step and the number of coordinates. */
export type AxisPart = number | readonly [start: number, step: number, count: number];

/** Maximum memory for reading or writing a chunk, in bytes, excluding the chunk's elements. */
export interface HeldBytes {
  readonly read: number;
  readonly write: number;
}

/** The data type, shape and chunk shape of an array. */
export interface ArrayType {
  readonly dtype: DType;
  /** Dimensions; their product may exceed 2^32, up to 2^53 - 1. */
  readonly shape: readonly number[];
  /** The shape of a chunk, with the same rank as `shape`. Chunks at the end of an axis may be smaller. */
  readonly chunkShape: readonly number[];
}

/**
 * An array of chunks. The argument `at` gives a chunk's coordinates in the grid of chunks. A chunk's elements are
 * row-major, and a chunk at the end of an axis is clipped to the array, even if the file pads it.
 *
 * Methods with `into` and `from` take the elements as bytes in the layout of `Tensor.data` (little-endian, with one or
 * two array entries per element), so that callers can reuse memory. These methods accept every data type except string.
 */
export interface ChunkedArray extends ArrayType {
  readonly location: ArrayLocation;
  /**
   * Text that changes if another array replaces this one at its location. The text is derived from the metadata, and
   * from the file's state if the array is a single file.
   */
  readonly fingerprint: string;
  /**
   * Memory for reading and writing a chunk, excluding its elements; 0 if the file stores chunks exactly as memory does.
   */
  readonly held: HeldBytes;
  /** Maximum size of a stored chunk, in bytes; for an NPY file, the size of the chunk's elements. */
  readonly mostStored: number;
  /** Axis names, if the metadata has any. */
  readonly dimensionNames?: readonly (string | null)[] | null;

  /**
   * Returns a view of part of the array; reads and writes go to this array. `slice([10, 20], null, 3)` is `[10:20, :,
   * 3]` in Python. Creating a view reads nothing.
   * @throws TensorError `rank` for more ranges than axes, `index-out-of-range` for a coordinate outside its axis,
   *   `attribute` for a malformed range
   */
  slice(...ranges: readonly AxisRange[]): ChunkedArray;
  /** Reads the box of `shape` that begins at `start` into a tensor; by default, the whole array. */
  read(start?: readonly number[], shape?: readonly number[]): Promise<Tensor>;
  /**
   * Writes `values` to the box that begins at `start`, by default at the first element. Partly covered chunks are read,
   * changed and written, so calls that share a chunk must not overlap in time.
   */
  write(values: Tensor, start?: readonly number[]): Promise<void>;

  /**
   * Returns text that changes if elements of a box may have changed. The text is derived from file names, sizes and
   * times, or from ETags; elements are not read.
   */
  stateOf(start: readonly number[], shape: readonly number[]): Promise<string>;
  /**
   * Returns the maximum stored bytes that are read for a grid of boxes, with one call of `readBytes` per box.
   * Retried requests, and bytes that a server sends beyond those requested, are excluded.
   */
  mostRead(boxes: readonly AxisBoxes[]): number;
  /** @param most maximum bytes in memory at once; a single larger chunk is read anyway */
  readBytes(
    start: readonly number[],
    shape: readonly number[],
    into: Uint8Array,
    most?: number,
  ): Promise<void>;
  /** @returns false if the chunk is not stored; `into` is then filled with the fill value */
  readChunk(at: readonly number[], into: Uint8Array): Promise<boolean>;
  /** Replaces a whole chunk, atomically if the store allows it. */
  writeChunk(at: readonly number[], from: Uint8Array): Promise<void>;
}

/** Bytes that staging reads and writes, and the number of files that it creates. */
export interface Staged {
  readonly read: number;
  readonly written: number;
  readonly files: number;
}

/**
 * An array whose chunks are written in two steps: each chunk is made durable under a hidden name, then moved into place
 * atomically. The caller decides what happens between the two steps.
 */
export interface StagedArray extends ChunkedArray {
  /**
   * Writes the encoded chunk as `name` into the array's folder for staged chunks, and syncs it to disk.
   * @returns the size of the stored bytes
   */
  stageChunk(at: readonly number[], from: Uint8Array, name: string): Promise<number>;
  /**
   * Stages a copy of another array's encoded chunk, without decoding it. The data types and encodings must be equal.
   * @returns false if the encodings differ, or if `from` has no such chunk
   */
  stageCopy(from: ChunkedArray, at: readonly number[], name: string): Promise<boolean>;
  /** Maximum bytes and files if each chunk is staged once. */
  readonly mostStaged: Staged;
  /** Moves the file staged as `name` to the chunk's path. @returns false if nothing is staged as `name` */
  publishChunk(at: readonly number[], name: string): Promise<boolean>;
  /** Returns the size of the chunk staged as `name`; null unless all of its parts are still staged. */
  stagedSize(at: readonly number[], name: string): Promise<number | null>;
  /** Returns the size of the stored chunk, in bytes; null if the chunk, or a part of it, is not stored. */
  storedSize(at: readonly number[]): Promise<number | null>;
  /** Removes the file staged as `name`, if any. */
  discard(name: string): Promise<void>;
  /** Removes the folder for staged chunks with its contents. */
  endStaging(): Promise<void>;
}

/** An array that is invisible until it is complete: its metadata, or the final name of its file, is written last. */
export interface PendingArray extends StagedArray {
  /** Returns true until the array is published. */
  isPending(): Promise<boolean>;
  /**
   * Makes the array visible. A second call does nothing. In files, the array replaces any array at its path.
   * @throws TensorError `attribute` if object storage holds another array by now
   */
  publish(): Promise<void>;
}
