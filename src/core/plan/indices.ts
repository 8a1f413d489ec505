/**
 * The reading of indices: jobs for the engines, integers as 32-bit words, the rules for indices outside their axes, the
 * error that names such an index, and the planner for index tuples. Engines convert indices to offsets
 * (`src/core/kernels/read-indices.ts`).
 */

import { TensorError, type ErrorContext, type FieldsOf } from "../errors.ts";
import type { Storage } from "../tensor/dtype.ts";
import { pairsOf } from "../tensor/memory.ts";
import { coordinatesOf, printShape, product, type PartialShape } from "../tensor/shape.ts";
import { Tensor } from "../tensor/tensor.ts";
import { without, type Plan } from "./plan.ts";

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

/**
 * Creates Plans for indices and data of fixed shapes. A planner has already computed everything that does not depend on
 * index values.
 * @throws TensorError `index-out-of-range`
 */
export type Planner = (indices: Tensor, read: ReadIndices) => Plan;

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

/** Offsets of a job, with a byte for each offset that is 1 if its update or element is omitted. */
export interface CheckedOffsets {
  readonly offsets: Uint32Array;
  /** Bytes that mark omitted offsets with 1; null if none is omitted. */
  readonly outside: Uint8Array | null;
}

/**
 * Computes the offsets of a job according to the rules.
 * @param indices the tensor that the job reads
 * @param axis the number of the job's first axis in data
 * @throws TensorError `index-out-of-range` for the first index that the rules refuse
 */
export function readOffsets(
  job: IndexJob,
  rules: IndexRules,
  indices: Tensor,
  dataShape: readonly number[],
  axis: number,
  fields: ErrorContext,
  read: ReadIndices,
): CheckedOffsets {
  const offsets = read(job);
  return offsets instanceof Uint32Array
    ? { offsets, outside: null }
    : boundedOffsets(job, offsets.bad, rules, indices, dataShape, axis, fields, read);
}

/** Computes the offsets of a job that has indices outside their axes, the first of which is at `bad`. */
function boundedOffsets(
  job: IndexJob,
  bad: number,
  rules: IndexRules,
  indices: Tensor,
  dataShape: readonly number[],
  axis: number,
  fields: ErrorContext,
  read: ReadIndices,
): CheckedOffsets {
  const errorAt = (position: number): TensorError => {
    const k = axesOf(job).length;
    // Only plain functions are called with lists; the indices of a model rarely have rank 1 by mistake.
    const advice = k > 1 && fields.opset === undefined ? flatAdvice(indices.shape) : "";
    const own = axis + (position % k);
    const { at, got } = describeIndex(indices, position);
    const { data, negative } = rules.shown ?? { data: dataShape, negative: rules.negative };
    const size = dataShape[own];
    const expected = [negative ? 0 - size : 0, size - 1] as const;
    const facts = { ...fields, input: "indices", at, axis: own, got, size, expected };
    return indexError(facts, data, advice);
  };
  const isError = rules.bounds === "error";
  if (isError && rules.onBad === undefined) throw errorAt(bad);
  const { words, outside } = boundedWords(job, rules, errorAt);
  if (isError) throw errorAt(bad);
  // Indices are marked individually, so rows must not be merged.
  const unmerged = job.kind === "elements" ? { merge: false } : {};
  const again = read({ ...job, ...unmerged, words, step: 2 });
  // Even index 0 is outside an axis without elements. The offsets of omitted indices are never used, so any value is
  // right.
  return { offsets: again instanceof Uint32Array ? again : new Uint32Array(job.count), outside };
}

/**
 * Copies a job's indices, as two words each, and replaces every index outside its axis: by the nearest valid index
 * (`clip`), or by 0 with a mark. Copying is slow, but only jobs with an index outside its axis need the copy. If such
 * indices are errors, `onBad` gets every error, because engines find only the first bad index.
 */
function boundedWords(
  job: IndexJob,
  { bounds, negative, onBad }: IndexRules,
  errorAt: (position: number) => TensorError,
): { words: Int32Array; outside: Uint8Array | null } {
  const axes = axesOf(job);
  const words = new Int32Array(2 * job.count * axes.length);
  const outside = bounds === "clip" ? null : new Uint8Array(job.count);
  for (let position = 0; position < job.count * axes.length; position++) {
    const { dim, wrap } = axes[position % axes.length];
    const given = indexAt(job.words, position * job.step, job.step);
    let index = given < 0 ? given + wrap : given;
    if (!(index >= 0 && index < dim)) {
      if (bounds === "error") onBad?.(() => errorAt(position));
      else if ((given < 0 && !negative) || (bounds === "clip" && dim === 0)) {
        throw errorAt(position);
      }
      if (outside !== null) outside[Math.floor(position / axes.length)] = 1;
      index = bounds === "clip" && index >= dim ? dim - 1 : 0;
    }
    // An axis has fewer than 2^32 positions, so the low word holds the index and the high word is 0.
    words[2 * position] = index;
  }
  return { words, outside };
}

/** Returns the axis for each index in a tuple; an element index counts as a tuple of one index. */
const axesOf = (job: IndexJob): readonly IndexAxis[] =>
  job.kind === "tuples" ? job.axes : [job.axis];

/** Advice for `indices` of rank 1, a single tuple that is often meant as several indices; empty for other ranks. */
export const flatAdvice = (indices: PartialShape): string =>
  indices?.length === 1 ? "; for separate indices, use lists such as [[0], [1]]" : "";

/** Creates the error for an index out of range, whose sentence states the error's fields and the shape of data. */
export function indexError(
  facts: FieldsOf<"index-out-of-range"> & { readonly at: readonly number[] },
  data: PartialShape,
  advice = "",
): TensorError {
  const { at, axis, got, size, expected } = facts;
  const range = size === 0 ? "has no elements" : `takes ${expected.join(" to ")}`;
  const sentence = `indices${printShape(at)} is ${got}, but axis ${axis} of data ${printKnown(data)} ${range}${advice}`;
  return new TensorError("index-out-of-range", sentence, facts);
}

/** Prints the known part of a shape; `[...]` if not even the rank is known. */
export const printKnown = (shape: PartialShape): string =>
  shape === null ? "[...]" : printShape(shape);

/**
 * Describes an index for error messages: its coordinates, its exact value, and the value as a number if a number is
 * exact.
 */
export function describeIndex(
  indices: Tensor,
  position: number,
): { at: readonly number[]; exact: number | bigint; got: number | bigint } {
  const exact = (indices.data as Storage<"int32" | "int64">)[position];
  const got = Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
  return { at: coordinatesOf(position, indices.shape), exact, got };
}

/**
 * Consecutive axes of data that index tuples address: a tuple of k indices replaces the coordinates on the k axes from
 * `first` on, once for each position on the axes between the batch axes and `first`.
 */
export interface Addressed {
  /** Shape of indices, without the axis of tuples. */
  readonly lead: readonly number[];
  readonly batchDims: number;
  /** First addressed axis of data. */
  readonly first: number;
  /** Number of addressed axes. */
  readonly k: number;
}

/** Creates a planner for index tuples; an index of a slice along an axis is a tuple of one index. */
export function tuplePlanner(
  data: readonly number[],
  { lead, batchDims, first, k }: Addressed,
  rules: IndexRules,
  fields: ErrorContext,
): Planner {
  const slice = product(data, first + k);
  const batches = product(data, 0, first);
  // Empty slices get no offsets, because a few indices may address any number of empty slices. Their indices are still
  // checked, except empty tuples: indices of shape [2^32 - 1, 0] take no memory, but reading them would.
  const isEmpty = batches === 0 || slice === 0;
  const indexCount = isEmpty && k === 0 ? 0 : product(lead);
  const count = isEmpty ? 0 : product(lead, batchDims);
  const axes: IndexAxis[] = [];
  for (let axis = first; axis < first + k; axis++) axes.push(indexAxis(data, axis, rules));
  const between = product(data, batchDims, first);
  // Every position on the axes before `first` is a batch of the Plan. A Plan can express that all batches share
  // offsets, which is the case without batch axes. A Plan cannot express that groups of batches share offsets, so
  // offsets are repeated if the call has batch axes.
  const isShared = batchDims === 0 || between === 1 || isEmpty;
  const size = product(data);
  const span = product(data, first);
  return (indices, read) => {
    const { words, step } = indexWordsOf(indices);
    const job = { kind: "tuples", words, step, count: indexCount, axes } as const;
    const checked = readOffsets(job, rules, indices, data, first, fields, read);
    const { offsets, outside } = isShared ? checked : repeatRuns(checked, count, between);
    const plan = { offsets: isEmpty ? NO_OFFSETS : offsets, slice, count, size, batches, span };
    return outside === null ? plan : without(plan, outside);
  };
}

const NO_OFFSETS = new Uint32Array();

/** Repeats each run of `length` offsets, with its marks, `times` times. */
function repeatRuns(
  { offsets, outside }: CheckedOffsets,
  length: number,
  times: number,
): CheckedOffsets {
  const repeat = <T extends Uint32Array | Uint8Array>(from: T, to: T): T => {
    for (let begin = 0; begin < from.length; begin += length) {
      const run = from.subarray(begin, begin + length);
      for (let i = 0; i < times; i++) to.set(run, begin * times + i * length);
    }
    return to;
  };
  return {
    offsets: repeat(offsets, new Uint32Array(offsets.length * times)),
    outside: outside && repeat(outside, new Uint8Array(outside.length * times)),
  };
}
