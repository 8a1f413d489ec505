/**
 * From indices to offsets, in the two ways that there are: tuples (the …ND operators) and elements (the …Elements
 * operators). Every index is read once, wrapped and held against its own axis here; a bad one never gets further.
 */

import type { Storage } from "./dtype.ts";
import { TensorError, type ErrorFields } from "./errors.ts";
import type { Plan } from "./plan.ts";
import { coordinatesOf, printShape, product, stridesOf } from "./shape.ts";
import type { Tensor } from "./tensor.ts";

/** How indices are read: what they mean beyond their values, and who reads them. */
export interface IndexRules {
  /** Whether -1 is the last place of an axis. */
  readonly negative: boolean;
  /** Whether rows of elements that hold one index each may become one offset each. */
  readonly merge: boolean;
  readonly read: ReadIndices;
}

/** What an index stands for along one axis of data. */
export interface IndexAxis {
  readonly dim: number;
  /** What is added to a negative index: `dim`, or 0 where none is taken. */
  readonly wrap: number;
  readonly stride: number;
}

/** Integers as 32-bit words: one each for int32, two for int64, the low one first. */
interface IndexWords {
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

/**
 * The Plan of index tuples: `indices[..., :]` addresses the slice `data[batch..., tuple...]`. The first `batchDims`
 * axes of both are batches. Shapes must have been checked.
 * @throws TensorError `index-out-of-range`
 */
export function planTuples(
  indices: Tensor,
  dataShape: readonly number[],
  batchDims: number,
  rules: IndexRules,
  fields: ErrorFields,
): Plan {
  const k = indices.shape[indices.shape.length - 1];
  const slice = product(dataShape, batchDims + k);
  // Empty tuples of empty slices cost no memory, so there could be any number of them; they do nothing.
  const count = k === 0 && slice === 0 ? 0 : product(indices.shape, 0, indices.shape.length - 1);
  const axes: IndexAxis[] = [];
  for (let j = 0; j < k; j++) axes.push(indexAxis(dataShape, batchDims + j, rules));
  const { words, step } = wordsOf(indices);
  const offsets = rules.read({ kind: "tuples", words, step, count, axes });
  if ("bad" in offsets) {
    throw outOfRange(indices, offsets.bad, dataShape, batchDims + (offsets.bad % k), rules, fields);
  }
  const batches = product(dataShape, 0, batchDims);
  return {
    offsets,
    slice,
    count: batches === 0 ? 0 : count / batches,
    size: product(dataShape),
    batches,
    span: product(dataShape, batchDims),
  };
}

/**
 * The Plan of single elements: each index replaces the coordinate of its own place along `axis`. Shapes must have
 * been checked.
 * @throws TensorError `index-out-of-range`
 */
export function planElements(
  indices: Tensor,
  dataShape: readonly number[],
  axis: number,
  rules: IndexRules,
  fields: ErrorFields,
): Plan {
  const { shape, size: count } = indices;
  const strides = stridesOf(dataShape);
  const batchAxes = countBatchAxes(shape, dataShape, axis);
  // Within a batch the axis counts by the index and the batch axes not at all; the other axes count by themselves.
  const steps = strides.map((stride, d) => (d < batchAxes || d === axis ? 0 : stride));
  const along = indexAxis(dataShape, axis, rules);
  const { words, step } = wordsOf(indices);
  const { merge } = rules;
  const job = { kind: "elements", words, step, count, shape, steps, axis: along, merge } as const;
  const offsets = rules.read(job);
  if ("bad" in offsets) {
    throw outOfRange(indices, offsets.bad, dataShape, axis, rules, fields);
  }
  const batches = product(shape, 0, batchAxes);
  const slice = offsets.length === 0 ? 1 : count / offsets.length;
  return {
    offsets,
    slice,
    count: batches === 0 ? 0 : offsets.length / batches,
    size: product(dataShape),
    batches,
    span: product(dataShape, batchAxes),
    // Elements with other coordinates behind the axis are other elements.
    ...(slice === 1 && { lanes: product(shape, axis + 1) }),
  };
}

const indexAxis = (
  dataShape: readonly number[],
  axis: number,
  { negative }: IndexRules,
): IndexAxis => ({
  dim: dataShape[axis],
  wrap: negative ? dataShape[axis] : 0,
  stride: product(dataShape, axis + 1),
});

/** Reads indices in plain JavaScript. */
export const readIndices: ReadIndices = (job) =>
  job.kind === "tuples" ? readTuples(job) : readElements(job);

function readTuples({ words, step, count, axes }: TupleJob): Uint32Array | { bad: number } {
  const k = axes.length;
  const dims = axes.map(({ dim }) => dim);
  const wraps = axes.map(({ wrap }) => wrap);
  const strides = axes.map(({ stride }) => stride);
  const offsets = new Uint32Array(count);
  for (let tuple = 0, word = 0; tuple < count; tuple++) {
    let offset = 0;
    for (let j = 0; j < k; j++, word += step) {
      let index = indexAt(words, word, step);
      if (index < 0) index += wraps[j];
      if (!(index >= 0 && index < dims[j])) return { bad: tuple * k + j };
      offset += index * strides[j];
    }
    offsets[tuple] = offset;
  }
  return offsets;
}

function readElements({
  words,
  step,
  count,
  shape,
  steps,
  axis: { dim, wrap, stride },
}: ElementJob): Uint32Array | { bad: number } {
  const offsets = new Uint32Array(count);
  const last = shape.length - 1;
  const row = shape[last];
  const counters = shape.map(() => 0);
  let base = 0;
  for (let p = 0; p < count;) {
    for (let i = 0, place = base; i < row; i++, p++, place += steps[last]) {
      let index = indexAt(words, p * step, step);
      if (index < 0) index += wrap;
      if (!(index >= 0 && index < dim)) return { bad: p };
      offsets[p] = place + index * stride;
    }
    // On to the next row: count up the axes before the last, like an odometer.
    for (let d = last - 1; d >= 0; d--) {
      base += steps[d];
      if (++counters[d] < shape[d]) break;
      base -= steps[d] * shape[d];
      counters[d] = 0;
    }
  }
  return offsets;
}

/**
 * How many leading axes can be batches: those before `axis` on which batches lie one after the other in data, that
 * is, on which the indices cover data, but for the first.
 */
function countBatchAxes(
  shape: readonly number[],
  dataShape: readonly number[],
  axis: number,
): number {
  let axes = Math.min(axis, 1);
  while (axes > 0 && axes < axis && shape[axes] === dataShape[axes]) axes++;
  return axes;
}

function wordsOf({ data }: Tensor): IndexWords {
  if (data instanceof Int32Array) return { words: data, step: 1 };
  const { buffer, byteOffset, length } = data as BigInt64Array;
  return { words: new Int32Array(buffer, byteOffset, 2 * length), step: 2 };
}

/**
 * The integer at a word. Reading pairs of words takes 1.9 ns, `Number(bigint)` 10. Where the high word is more than
 * the sign of the low one the double may be inexact, but then it is far outside every axis.
 */
function indexAt(words: Int32Array, word: number, step: 1 | 2): number {
  const low = words[word];
  if (step === 1) return low;
  const high = words[word + 1];
  return high === low >> 31 ? low : high * 2 ** 32 + (low >>> 0);
}

/** The error for the index at `position`; slow, and told from the exact value. */
function outOfRange(
  indices: Tensor,
  position: number,
  dataShape: readonly number[],
  axis: number,
  { negative }: IndexRules,
  fields: ErrorFields,
): TensorError {
  const at = coordinatesOf(position, indices.shape);
  const exact = (indices.data as Storage<"int32" | "int64">)[position];
  const got = Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
  const dim = dataShape[axis];
  const low = negative ? 0 - dim : 0;
  const range = dim === 0 ? "has no elements" : `takes ${low}..${dim - 1}`;
  return new TensorError(
    "index-out-of-range",
    `indices${printShape(at)} is ${exact}, but axis ${axis} of data ${printShape(dataShape)} ${range}`,
    { ...fields, input: "indices", at, axis, got, expected: [low, dim - 1] },
  );
}
