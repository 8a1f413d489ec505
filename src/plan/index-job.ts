/** What has to be known to read indices: jobs, the rules they are read by, and integers as 32-bit words. */

import type { TensorError } from "../errors.ts";
import { product, type PartialShape } from "../tensor/shape.ts";
import type { Tensor } from "../tensor/tensor.ts";

/**
 * What becomes of an index outside its axis: it is an error, the nearest one is taken, or its update or element is left
 * out (`drop` of a scatter, `fill` of a gather, whose result has 0 there).
 */
export type Bounds = "error" | "clip" | "drop" | "fill";

/** How indices are read: what they mean beyond their values, and who reads them. */
export interface IndexRules {
  /** Whether -1 is the last place of an axis; if not, a negative index is an error whatever the bounds. */
  readonly negative: boolean;
  readonly bounds: Bounds;
  /** Whether rows of elements that hold one index each may become one offset each. */
  readonly merge: boolean;
  readonly read: ReadIndices;
  /** Told of every bad index, in row-major order, before the error of the first is thrown. */
  readonly onBad?: (errorOf: () => TensorError) => void;
  /** What errors say where the Plan is made for sizes that stand in for unknown ones. */
  readonly shown?: ShownShapes;
}

/** Shapes as far as they are known, and whether the version takes negative indices. */
export interface ShownShapes {
  readonly data: PartialShape;
  readonly updates: PartialShape;
  readonly negative: boolean;
}

/** What an index stands for along one axis of data. */
export interface IndexAxis {
  readonly dim: number;
  /** What is added to a negative index: `dim`, or 0 where none is taken. */
  readonly wrap: number;
  readonly stride: number;
}

/** Integers as 32-bit words: one each for int32, two for int64, the low one first. */
export interface IndexWords {
  readonly words: Int32Array;
  readonly step: 1 | 2;
}

/** Tuples of one index for each of `axes`; each gives one offset. */
export interface TupleJob extends IndexWords {
  readonly kind: "tuples";
  readonly count: number;
  readonly axes: readonly IndexAxis[];
}

/** Indices of `shape` that each give one offset: their own along `axis`, plus their coordinates times `steps`. */
export interface ElementJob extends IndexWords {
  readonly kind: "elements";
  readonly count: number;
  readonly shape: readonly number[];
  readonly steps: readonly number[];
  readonly axis: IndexAxis;
  /** Whether rows that each hold one index may give one offset each, which stands for the whole row. */
  readonly merge: boolean;
}

export type IndexJob = TupleJob | ElementJob;

/**
 * Makes `count` offsets, or fewer where rows are merged, or says at which position stands the first index that its axis
 * does not take.
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

/** Integers of any type as words; those of other widths, and of uint64 beyond int64, become others first. */
export function wordsOf({ data }: Tensor): IndexWords {
  if (data instanceof Int32Array) return { words: data, step: 1 };
  if (data instanceof BigInt64Array) return { words: lanesOf(data), step: 2 };
  if (data instanceof BigUint64Array) {
    const most = BigInt(Number.MAX_SAFE_INTEGER);
    return { words: lanesOf(BigInt64Array.from(data, (i) => (i > most ? most : i))), step: 2 };
  }
  const small = data as Uint32Array;
  const isWide = small instanceof Uint32Array;
  return isWide
    ? { words: lanesOf(BigInt64Array.from(small, BigInt)), step: 2 }
    : { words: Int32Array.from(small), step: 1 };
}

const lanesOf = ({ buffer, byteOffset, length }: BigInt64Array): Int32Array =>
  new Int32Array(buffer, byteOffset, 2 * length);

/**
 * The integer at a word. Reading pairs of words takes 1.9 ns, `Number(bigint)` 10. Where the high word is more than
 * the sign of the low one the double may be inexact, but then it is far outside every axis.
 */
export function indexAt(words: Int32Array, word: number, step: 1 | 2): number {
  const low = words[word];
  if (step === 1) return low;
  const high = words[word + 1];
  return high === low >> 31 ? low : high * 2 ** 32 + (low >>> 0);
}
