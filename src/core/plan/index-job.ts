/** What reading indices needs: a job, the rules for indices, and integers as 32-bit words. It reads nothing itself. */

import type { TensorError } from "../errors.ts";
import { product, type PartialShape } from "../tensor/shape.ts";
import { pairsOf } from "../tensor/memory.ts";
import { Tensor } from "../tensor/tensor.ts";

/**
 * What happens to an index outside its axis: it is an error, it becomes the nearest index, or its update (`drop`, in a
 * scatter) or element (`fill`, in a gather, whose result has 0 there) is left out.
 */
export type Bounds = "error" | "clip" | "drop" | "fill";

/** What indices mean beyond their values. */
export interface IndexRules {
  /** Whether -1 is the last place of an axis. If not, a negative index is an error whatever `bounds` says. */
  readonly negative: boolean;
  readonly bounds: Bounds;
  /** Whether a row of element indices that holds one index throughout may become one offset. */
  readonly merge: boolean;
  /** Called for every bad index in row-major order, before the error for the first one is thrown. */
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

/** One axis of data, as an index along it needs it. */
export interface IndexAxis {
  readonly dim: number;
  /** What is added to a negative index: `dim`, or 0 where negative indices are errors. */
  readonly wrap: number;
  /** In elements. */
  readonly stride: number;
}

/** Integers as 32-bit words: one word for an int32, two for an int64, low word first. */
export interface IndexWords {
  readonly words: Int32Array;
  /** Words per integer. */
  readonly step: 1 | 2;
}

/** `count` tuples with one index for each of `axes`. Each tuple becomes one offset. */
export interface TupleJob extends IndexWords {
  readonly kind: "tuples";
  readonly count: number;
  readonly axes: readonly IndexAxis[];
}

/** `count` indices of `shape`. Each becomes the offset `index * axis.stride`, plus its coordinates times `steps`. */
export interface ElementJob extends IndexWords {
  readonly kind: "elements";
  readonly count: number;
  readonly shape: readonly number[];
  readonly steps: readonly number[];
  readonly axis: IndexAxis;
  /** Whether rows that hold one index throughout may become one offset each, which then stands for the whole row. */
  readonly merge: boolean;
}

export type IndexJob = TupleJob | ElementJob;

/**
 * Makes the offsets of a job: `count` of them, or one for each row where rows are merged. Where an index lies outside
 * its axis, the result is the position of the first such index.
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
 * Indices of any integer type as words. Types other than int32 and int64 are converted; a uint64 beyond 2^53 becomes
 * 2^53 - 1, which is outside every axis too.
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
 * The integer that begins at a word. Reading a pair of words takes 1.9 ns, `Number(bigint)` takes 10. An integer beyond
 * 2^53 is rounded, which does no harm: it stays far outside every axis.
 */
export function indexAt(words: Int32Array, word: number, step: 1 | 2): number {
  const low = words[word];
  if (step === 1) return low;
  const high = words[word + 1];
  return high === low >> 31 ? low : high * 2 ** 32 + (low >>> 0);
}
