/**
 * Types for reading indices: jobs, rules for indices, and integers as 32-bit words. The code in this file reads no
 * indices.
 */

import type { TensorError } from "../errors.ts";
import { product, type PartialShape } from "../tensor/shape.ts";
import { pairsOf } from "../tensor/memory.ts";
import { Tensor } from "../tensor/tensor.ts";

/**
 * Treatment of an index outside its axis: `error` throws, `clip` uses the nearest valid index, `drop` omits the update
 * of a scatter, and `fill` makes the element of a gather's result 0.
 */
export type Bounds = "error" | "clip" | "drop" | "fill";

/** Rules for the meaning of indices. */
export interface IndexRules {
  /** True if -1 means the last position of an axis. If false, a negative index is an error, regardless of `bounds`. */
  readonly negative: boolean;
  readonly bounds: Bounds;
  /** True if a row of equal element indices may become one offset. */
  readonly merge: boolean;
  /** Callback for every bad index, in row-major order, before the error for the first bad index is thrown. */
  readonly onBad?: (errorOf: () => TensorError) => void;
  /** Shapes to print in error messages if the Plan was created with placeholders for unknown sizes. */
  readonly shown?: ShownShapes;
}

/** Known parts of shapes; `negative` is true if the version accepts negative indices. */
export interface ShownShapes {
  readonly data: PartialShape;
  readonly updates: PartialShape;
  readonly negative: boolean;
}

/** An axis of data, with the numbers needed to convert an index to an offset. */
export interface IndexAxis {
  readonly dim: number;
  /** Number added to a negative index: `dim`, or 0 if negative indices are errors. */
  readonly wrap: number;
  /** Stride of the axis, in elements. */
  readonly stride: number;
}

/** Integers as 32-bit words: one word for an int32, two for an int64, low word first. */
export interface IndexWords {
  readonly words: Int32Array;
  /** Number of words per integer. */
  readonly step: 1 | 2;
}

/** A job with `count` tuples, each with one index for each of `axes`. Each tuple becomes one offset. */
export interface TupleJob extends IndexWords {
  readonly kind: "tuples";
  readonly count: number;
  readonly axes: readonly IndexAxis[];
}

/**
 * A job with `count` indices of `shape`. Each index becomes the offset `index * axis.stride` plus its coordinates times
 * `steps`.
 */
export interface ElementJob extends IndexWords {
  readonly kind: "elements";
  readonly count: number;
  readonly shape: readonly number[];
  readonly steps: readonly number[];
  readonly axis: IndexAxis;
  /** True if a row of equal indices may become a single offset for the whole row. */
  readonly merge: boolean;
}

export type IndexJob = TupleJob | ElementJob;

/**
 * Computes the offsets of a job: `count` offsets, or one per row if rows are merged. If an index is outside its axis,
 * the result is the position of the first such index.
 */
export type ReadIndices = (job: IndexJob) => Uint32Array | { readonly bad: number };

export const indexAxis = (
  dataShape: readonly number[],
  axis: number,
  { negative }: IndexRules,
): IndexAxis => ({
  dim: dataShape[axis],
  wrap: negative ? dataShape[axis] : 0,
  stride: product(dataShape, axis + 1),
});

/**
 * Returns indices of any integer type as words. Types other than int32 and int64 are converted; a uint64 beyond 2^53
 * becomes 2^53 - 1, which is also outside every axis.
 */
export function indexWordsOf(indices: Tensor): IndexWords {
  const { data } = indices;
  if (data instanceof BigInt64Array) return { words: Tensor.memoryOf(indices).pairs, step: 2 };
  if (data instanceof Int32Array) return { words: data, step: 1 };
  if (data instanceof BigUint64Array) {
    const most = BigInt(Number.MAX_SAFE_INTEGER);
    return { words: pairsOf(BigInt64Array.from(data, (i) => (i > most ? most : i))), step: 2 };
  }
  const small = data as Uint32Array;
  const isWide = small instanceof Uint32Array;
  return isWide
    ? { words: pairsOf(BigInt64Array.from(small, BigInt)), step: 2 }
    : { words: Int32Array.from(small), step: 1 };
}

/**
 * Returns the integer that begins at a word. Reading a pair of words takes 1.9 ns, and `Number(bigint)` takes 10 ns. An
 * integer beyond 2^53 is rounded, which is harmless, because it stays far outside every axis.
 */
export function indexAt(words: Int32Array, word: number, step: 1 | 2): number {
  const low = words[word];
  if (step === 1) return low;
  const high = words[word + 1];
  return high === low >> 31 ? low : high * 2 ** 32 + (low >>> 0);
}
