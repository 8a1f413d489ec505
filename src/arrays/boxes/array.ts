/**
 * An array in a file, a folder or a store, which is read and written chunk by chunk, because it may be larger than
 * memory. Formats implement the interface, so code that reads or writes chunks need not know the format.
 */

import type { AxisBoxes } from "./axis-boxes.ts";
import type { DType } from "../../core/tensor/dtype.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";

/** Plain data with which another thread or another machine opens the same array. */
export interface ArrayLocation {
  readonly format: "npy" | "zarr";
  /** An absolute path, or a URL. */
  readonly path: string;
  /** The shape of a chunk, for a format without chunks of its own. */
  readonly chunkShape?: readonly number[];
  /** For a part of an array: the range of each axis. */
  readonly slice?: readonly AxisPart[];
  /** True for a part whose chunks share no chunk of the array. */
  readonly isExclusive?: boolean;
  /** The chunk shape in which the array, or its part, is read, if it differs from the array's own. */
  readonly readAs?: readonly number[];
}

/**
 * The range of an axis, as in Python: a coordinate, which drops the axis; `[start, stop, step]`, whose last entries may
 * be left out and each of which may be null; or null for the whole axis. Negative values count from the end of the
 * axis.
 */
export type AxisRange = number | null | readonly (number | null)[];

/** A coordinate, which drops the axis; or the first coordinate, the step and the number of coordinates. */
export type AxisPart = number | readonly [start: number, step: number, count: number];

/** Maximum bytes of memory for reading or writing a chunk, excluding its elements. */
export interface HeldBytes {
  readonly read: number;
  readonly write: number;
}

/** The data type, shape and chunk shape of an array. */
export interface ArrayType {
  readonly dtype: DType;
  /** Dimensions; their product may be beyond 2^32, up to 2^53 - 1. */
  readonly shape: readonly number[];
  /** The shape of a chunk, of the rank of `shape`. Chunks at the end of an axis are smaller. */
  readonly chunkShape: readonly number[];
}

/**
 * An array of chunks. Chunk `at` is named by its coordinates in the grid of chunks. Its elements are row-major and
 * cover only the chunk's part of the array: a chunk at the end of an axis is clipped, even if the file pads it.
 *
 * Methods with `into` and `from` take the elements as bytes in the layout of `Tensor.data` (little-endian, one array
 * entry or two for each element), so that callers can use their memory again. They accept every data type except
 * string.
 */
export interface ChunkedArray extends ArrayType {
  readonly location: ArrayLocation;
  /**
   * A text that changes when another array takes this one's location: derived from the metadata, and from the file if
   * the array is one file.
   */
  readonly fingerprint: string;
  /**
   * Bytes that reading and writing a chunk need beyond its elements; 0 if the file stores chunks exactly as memory
   * does.
   */
  readonly held: HeldBytes;
  /** Maximum bytes of a chunk in its file or object; for an NPY file, the bytes of the chunk. */
  readonly mostStored: number;
  /** Names of the axes, if the metadata has any. */
  readonly dimensionNames?: readonly (string | null)[] | null;

  /**
   * A view of part of the array, which reads from and writes to this array: `slice([10, 20], null, 3)` is
   * `[10:20, :, 3]` in Python. Making the view reads nothing.
   * @throws TensorError `rank` for more ranges than axes, `index-out-of-range` for a coordinate outside its axis,
   *   `attribute` for a malformed range
   */
  slice(...ranges: readonly AxisRange[]): ChunkedArray;
  /** The elements of the box of `shape` that begins at `start`, as a tensor; the whole array without arguments. */
  read(start?: readonly number[], shape?: readonly number[]): Promise<Tensor>;
  /**
   * Replaces the box of the shape of `values` that begins at `start`, or at the first element by default. Chunks that
   * the box covers in part are read and written again, so two calls that share a chunk must not overlap in time.
   */
  write(values: Tensor, start?: readonly number[]): Promise<void>;

  /**
   * A text that changes when an element of a box may have changed, derived from names, sizes and times of files, or
   * from ETags. Elements are not read.
   */
  stateOf(start: readonly number[], shape: readonly number[]): Promise<string>;
  /**
   * Maximum stored bytes that are read for a grid of boxes, with one call of {@link readBytes} per box. Excludes
   * repeated requests, and bytes that a server sends beyond those requested.
   */
  mostRead(boxes: readonly AxisBoxes[]): number;
  /** @param most bytes that may be held at once; a single chunk is read even if it takes more */
  readBytes(
    start: readonly number[],
    shape: readonly number[],
    into: Uint8Array,
    most?: number,
  ): Promise<void>;
  /** @returns false if the chunk is not stored; `into` then holds the fill value in every element */
  readChunk(at: readonly number[], into: Uint8Array): Promise<boolean>;
  /** Replaces a whole chunk, atomically if the store allows it. */
  writeChunk(at: readonly number[], from: Uint8Array): Promise<void>;
}

/** Bytes that staging reads and writes, and the number of files that it makes. */
export interface Staged {
  readonly read: number;
  readonly written: number;
  readonly files: number;
}

/**
 * An array whose chunks are written in two steps: made durable under a hidden name, then moved into place at once. The
 * caller decides what happens between the two steps.
 */
export interface StagedArray extends ChunkedArray {
  /** Writes the encoded chunk as `name` into the array's folder for staged chunks, and syncs it to disk. */
  stageChunk(at: readonly number[], from: Uint8Array, name: string): Promise<void>;
  /**
   * Stages a copy of another array's encoded chunk, without decoding it; needs equal types and encodings.
   * @returns false if the encodings differ, or if `from` has no such chunk
   */
  stageCopy(from: ChunkedArray, at: readonly number[], name: string): Promise<boolean>;
  /** Upper bounds for staging each chunk once. */
  readonly mostStaged: Staged;
  /** Moves the file staged as `name` to the chunk's path. @returns false if nothing is staged as `name` */
  publishChunk(at: readonly number[], name: string): Promise<boolean>;
  /** True while the chunk staged as `name` is complete and no part of it has been moved into place. */
  isStaged(at: readonly number[], name: string): Promise<boolean>;
  /** Removes the file staged as `name`, if any. */
  discard(name: string): Promise<void>;
  /** Removes the folder for staged chunks with its contents. */
  endStaging(): Promise<void>;
}

/** An array that is invisible until it is complete: its metadata, or the final name of its file, is written last. */
export interface PendingArray extends StagedArray {
  /** Makes the array visible, replacing any array at its path. A second call does nothing. */
  publish(): Promise<void>;
}
