/**
 * Interface of arrays in a file, a folder or a store. Arrays are read and written chunk by chunk, because they may be
 * larger than memory. Each format implements the interface, so code that reads or writes chunks is independent of the
 * format.
 */

import type { DType } from "../../core/tensor/dtype.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";

/** Plain data with which another thread or machine can open the same array. */
export interface ArrayLocation {
  readonly format: "npy" | "zarr";
  /** An absolute path, or a URL. */
  readonly path: string;
  /** The chunk shape, for formats that do not define chunks. */
  readonly chunkShape?: readonly number[];
  /** The range of each axis, if only part of the array is opened. */
  readonly slice?: readonly AxisPart[];
  /** True if different chunks of the part never overlap the same chunk of the array. */
  readonly isExclusive?: boolean;
  /** The chunk shape in which the array or its part is read, if it differs from the array's chunk shape. */
  readonly readAs?: readonly number[];
}

/**
 * A range along one axis, as in Python: a coordinate, which drops the axis; a list `[start, stop, step]`; or null for
 * the whole axis. Trailing list entries may be omitted, and any entry may be null. Negative values count from the end
 * of the axis.
 */
export type AxisRange = number | null | readonly (number | null)[];

/** Either a coordinate, which drops the axis, or the first coordinate, the step and the number of coordinates. */
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
  /** The chunk shape, with the same rank as `shape`. Chunks at the end of an axis may be smaller. */
  readonly chunkShape: readonly number[];
}

/** Runs of consecutive rows of a box, in ascending order. A row is the part of the box at one first coordinate. */
export interface RowRuns {
  /** The first row of each run, counted from the start of the box. */
  readonly starts: Uint32Array;
  readonly counts: Uint32Array;
}

/**
 * An array that is stored in chunks. The argument `at` contains a chunk's coordinates in the chunk grid. A chunk's
 * elements are in row-major order. Chunks at the end of an axis are clipped to the array, even if the file pads them.
 *
 * The parameters `into` and `from` hold elements as bytes in the layout of `Tensor.data`, so that callers can reuse
 * memory. Both parameters support every data type except string.
 */
export interface ChunkedArray extends ArrayType {
  readonly location: ArrayLocation;
  /** The array that stores the elements: for a slice, the array that was sliced, and otherwise the array itself. */
  readonly source: ChunkedArray;
  /**
   * Text that changes if another array replaces this array at the same location. The fingerprint is derived from the
   * metadata, and from the file's state if the array is a single file.
   */
  readonly fingerprint: string;
  /**
   * Memory for reading and writing a chunk, excluding the elements; 0 if the stored bytes equal the bytes in memory.
   */
  readonly held: HeldBytes;
  /** Axis names, if the metadata has any. */
  readonly dimensionNames?: readonly (string | null)[] | null;

  /**
   * Returns a view of part of the array. Reads and writes through the view access this array. `slice([10, 20], null,
   * 3)` is `[10:20, :, 3]` in Python. Creating a view reads nothing.
   * @throws TensorError `rank` for more ranges than axes, `index-out-of-range` for a coordinate outside its axis, or
   *   `attribute` for a malformed range
   */
  slice(...ranges: readonly AxisRange[]): ChunkedArray;
  /**
   * Reads the box with shape `shape` and first coordinates `start` into a tensor; by default, reads the whole array.
   */
  read(start?: readonly number[], shape?: readonly number[]): Promise<Tensor>;
  /**
   * Writes `values` to the box whose first coordinates are `start`, all zeros by default. Chunks that the box covers
   * only partly are read, changed and written, so concurrent calls must not share a chunk.
   */
  write(values: Tensor, start?: readonly number[]): Promise<void>;

  /**
   * Returns text that changes whenever elements of the box may have changed. The text is derived from file names, sizes
   * and modification times, or from ETags, without reading elements.
   */
  stateOf(start: readonly number[], shape: readonly number[]): Promise<string>;
  /** @param most the maximum number of bytes in memory at once; a larger chunk is read as a whole */
  readBytes(
    start: readonly number[],
    shape: readonly number[],
    into: Uint8Array,
    most?: number,
  ): Promise<void>;
  /**
   * Reads runs of rows of a box, one after another, into memory. The runs are ascending. A compressed chunk is decoded
   * once for all its runs, and a file in which the rows are contiguous is opened once.
   */
  readRows(
    start: readonly number[],
    shape: readonly number[],
    runs: RowRuns,
    into: Uint8Array,
  ): Promise<void>;
  /**
   * @param runs the rows of the chunk that are needed, all by default; other rows of `into` may get any values
   * @returns false if the chunk is not stored; `into` is then filled with the fill value
   */
  readChunk(at: readonly number[], into: Uint8Array, runs?: RowRuns): Promise<boolean>;
  /** Replaces a whole chunk, atomically if the store allows it. */
  writeChunk(at: readonly number[], from: Uint8Array): Promise<void>;
}

/**
 * An array whose chunks are written in two steps: each chunk is made durable under a hidden name, then moved into place
 * atomically.
 */
export interface StagedArray extends ChunkedArray {
  /**
   * Encodes the chunk, writes the result as `name` into the array's folder for staged chunks, and syncs the file to
   * disk.
   * @returns the size of the stored bytes
   */
  stageChunk(at: readonly number[], from: Uint8Array, name: string): Promise<number>;
  /**
   * Stages a copy of another array's encoded chunk, without decoding it. Both arrays must have the same data type and
   * encoding.
   * @returns false if the encodings differ, or if `from` has no such chunk
   */
  stageCopy(from: ChunkedArray, at: readonly number[], name: string): Promise<boolean>;
  /** Moves the file staged as `name` to the chunk's path. @returns false if nothing is staged as `name` */
  publishChunk(at: readonly number[], name: string): Promise<boolean>;
  /** Returns the size of the chunk staged as `name`, or null unless all of its parts are still staged. */
  stagedSize(at: readonly number[], name: string): Promise<number | null>;
  /** Returns the size of the stored chunk, in bytes, or null if any part of the chunk is not stored. */
  storedSize(at: readonly number[]): Promise<number | null>;
  /** Removes the file staged as `name`, if any. */
  discard(name: string): Promise<void>;
  /** Removes the folder for staged chunks, including its contents. */
  endStaging(): Promise<void>;
}

/** An array that stays invisible until it is complete: the metadata, or the final file name, is written last. */
export interface PendingArray extends StagedArray {
  /** Returns true before the array is published, and false afterwards. */
  isPending(): Promise<boolean>;
  /**
   * Makes the array visible. Calling `publish` again does nothing. On a file system, the array replaces any array at
   * the same path.
   * @throws TensorError `attribute` if object storage already contains another array at this location
   */
  publish(): Promise<void>;
}

/** Throws a TensorError if a link leads outside the allowed folders. */
export type Guard = (file: string) => Promise<void>;
