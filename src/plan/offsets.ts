/**
 * From indices to offsets, in the two ways that there are: tuples (the …ND operators, and those along one axis) and
 * elements (the …Elements operators). Every index is read once, wrapped and held against its own axis here; a bad one
 * never gets further.
 */

import type { Storage } from "../tensor/dtype.ts";
import { TensorError, type ErrorFields } from "../errors.ts";
import { without, type Plan } from "./plan.ts";
import { coordinatesOf, printShape, product, stridesOf } from "../tensor/shape.ts";
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
  const { offsets, outside } = readOffsets(
    { kind: "tuples", ...wordsOf(indices), count, axes },
    rules,
    (bad) => outOfRange(indices, bad, dataShape, batchDims + (bad % k), rules, fields),
  );
  const batches = product(dataShape, 0, batchDims);
  const plan = {
    offsets,
    slice,
    count: batches === 0 ? 0 : count / batches,
    size: product(dataShape),
    batches,
    span: product(dataShape, batchDims),
  };
  return outside === null ? plan : without(plan, outside);
}

/**
 * The Plan of slices along one axis: each index stands for a slice `data[..., index, ...]` in every place before the
 * axis. The first `batchDims` axes of both, at most those before the axis, are batches. Shapes must have been checked.
 * @throws TensorError `index-out-of-range`
 */
export function planSlices(
  indices: Tensor,
  dataShape: readonly number[],
  axis: number,
  batchDims: number,
  rules: IndexRules,
  fields: ErrorFields,
): Plan {
  const slice = product(dataShape, axis + 1);
  const read = readOffsets(
    {
      kind: "tuples",
      ...wordsOf(indices),
      count: indices.size,
      axes: [indexAxis(dataShape, axis, rules)],
    },
    rules,
    (bad) => outOfRange(indices, bad, dataShape, axis, rules, fields),
  );
  const batches = product(dataShape, 0, axis);
  // Empty slices cost no memory, so there could be any number of them; they do nothing.
  const isEmpty = batches === 0 || slice === 0;
  const count = isEmpty ? 0 : product(indices.shape, batchDims);
  const between = product(dataShape, batchDims, axis);
  // Places between the batch axes and the axis share their offsets, which one Plan says only of all batches.
  const isShared = batchDims === 0 || between === 1 || isEmpty;
  const { offsets, outside } = isShared ? read : repeatRuns(read, count, between);
  const plan = {
    offsets: isEmpty ? new Uint32Array() : offsets,
    slice,
    count,
    size: product(dataShape),
    batches,
    span: product(dataShape, axis),
  };
  return outside === null ? plan : without(plan, outside);
}

/** Every run of `length` offsets `times` times, one after the other. */
function repeatRuns({ offsets, outside }: Read, length: number, times: number): Read {
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
  const { merge } = rules;
  const { offsets, outside } = readOffsets(
    { kind: "elements", ...wordsOf(indices), count, shape, steps, axis: along, merge },
    rules,
    (bad) => outOfRange(indices, bad, dataShape, axis, rules, fields),
  );
  const batches = product(shape, 0, batchAxes);
  const slice = offsets.length === 0 ? 1 : count / offsets.length;
  const plan = {
    offsets,
    slice,
    count: batches === 0 ? 0 : offsets.length / batches,
    size: product(dataShape),
    batches,
    span: product(dataShape, batchAxes),
    // Elements with other coordinates behind the axis are other elements.
    ...(slice === 1 && { lanes: product(shape, axis + 1) }),
  };
  return outside === null ? plan : without(plan, outside);
}

/**
 * The Plan of sequences: sample b, the first axis of data, takes `length` slices from position `indices[b]` of the axis on,
 * which wrap around at its end where they are `circular`. Shapes must have been checked.
 * @throws TensorError `index-out-of-range` for a sequence that does not fit, or that begins before the axis does
 */
export function planSequences(
  indices: Tensor,
  dataShape: readonly number[],
  axis: number,
  length: number,
  circular: boolean,
  { onBad }: IndexRules,
  fields: ErrorFields,
): Plan {
  const dim = dataShape[axis];
  const slice = product(dataShape, axis + 1);
  const batches = product(dataShape, 0, axis);
  // Empty slices cost no memory, so there could be any number of them; they do nothing.
  const count = batches === 0 || slice === 0 ? 0 : length;
  const most = dim - length;
  const errorAt = (sample: number): TensorError => {
    const { at, exact, got } = indexTold(indices, sample);
    return new TensorError(
      "index-out-of-range",
      `write_indices${printShape(at)} is ${exact}, but on axis ${axis} of past_cache ${printShape(dataShape)} ` +
        `a sequence of ${length} takes 0..${most}`,
      { ...fields, input: "write_indices", at, axis, got, expected: [0, most] },
    );
  };
  let bad = -1;
  const starts = Array.from({ length: indices.size }, (_, sample) => {
    const { exact } = indexTold(indices, sample);
    if (circular) return dim === 0 ? 0 : Number(modulo(BigInt(exact), BigInt(dim)));
    if (exact >= 0 && exact <= most) return Number(exact);
    if (bad === -1) bad = sample;
    onBad?.(() => errorAt(sample));
    return 0;
  });
  if (bad !== -1) throw errorAt(bad);
  const perSample = product(dataShape, 1, axis);
  const offsets = new Uint32Array(count === 0 ? 0 : batches * count);
  for (let p = 0; p < offsets.length; p++) {
    const sample = Math.floor(p / count / perSample);
    offsets[p] = ((starts[sample] + (p % count)) % dim) * slice;
  }
  return { offsets, slice, count, size: product(dataShape), batches, span: dim * slice };
}

/** The remainder that is not negative. */
const modulo = (value: bigint, divisor: bigint): bigint => ((value % divisor) + divisor) % divisor;

/** Offsets, and which of them stand for indices outside their axes; null where none does. */
interface Read {
  readonly offsets: Uint32Array;
  readonly outside: Uint8Array | null;
}

/** The offsets of a job by the rules; `errorAt` makes the error for the index at a position. */
function readOffsets(
  job: IndexJob,
  rules: IndexRules,
  errorAt: (position: number) => TensorError,
): Read {
  const offsets = rules.read(job);
  if (!("bad" in offsets)) return { offsets, outside: null };
  if (rules.bounds === "error") {
    if (rules.onBad !== undefined) tellBad(job, rules.onBad, errorAt);
    throw errorAt(offsets.bad);
  }
  const { words, outside } = boundedWords(job, rules, errorAt);
  const isOne = job.kind === "elements" ? { merge: false } : {};
  const again = rules.read({ ...job, ...isOne, words, step: 2 });
  // Where an axis has no elements every index is outside, and so is the one that stands for them.
  if ("bad" in again) return { offsets: new Uint32Array(job.count), outside };
  return { offsets: again, outside };
}

/** Goes over all indices of a job, of which the first bad one alone is known. */
function tellBad(
  job: IndexJob,
  onBad: NonNullable<IndexRules["onBad"]>,
  errorAt: (position: number) => TensorError,
): void {
  const axes = job.kind === "tuples" ? job.axes : [job.axis];
  for (let position = 0; position < job.count * axes.length; position++) {
    const { dim, wrap } = axes[position % axes.length];
    const given = indexAt(job.words, position * job.step, job.step);
    const index = given < 0 ? given + wrap : given;
    if (!(index >= 0 && index < dim)) onBad(() => errorAt(position));
  }
}

/**
 * A private copy of a job's indices in which those outside are the nearest one (`clip`) or 0, and marked. Slow: only
 * jobs that have such indices come here.
 */
function boundedWords(
  job: IndexJob,
  { bounds, negative }: IndexRules,
  errorAt: (position: number) => TensorError,
): { words: Int32Array; outside: Uint8Array } {
  const axes = job.kind === "tuples" ? job.axes : [job.axis];
  const words = new Int32Array(2 * job.count * axes.length);
  const outside = new Uint8Array(job.count);
  for (let position = 0; position < job.count * axes.length; position++) {
    const { dim, wrap } = axes[position % axes.length];
    const given = indexAt(job.words, position * job.step, job.step);
    if (given < 0 && !negative) throw errorAt(position);
    let index = given < 0 ? given + wrap : given;
    if (!(index >= 0 && index < dim)) {
      if (bounds !== "clip") outside[Math.floor(position / axes.length)] = 1;
      else if (dim === 0) throw errorAt(position);
      index = bounds === "clip" && index >= dim ? dim - 1 : 0;
    }
    words[2 * position] = index;
  }
  return { words, outside };
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

/** Integers of any type as words; those of other widths, and of uint64 beyond int64, become others first. */
function wordsOf({ data }: Tensor): IndexWords {
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
  const { at, exact, got } = indexTold(indices, position);
  const dim = dataShape[axis];
  const low = negative ? 0 - dim : 0;
  const range = dim === 0 ? "has no elements" : `takes ${low}..${dim - 1}`;
  return new TensorError(
    "index-out-of-range",
    `indices${printShape(at)} is ${exact}, but axis ${axis} of data ${printShape(dataShape)} ${range}`,
    { ...fields, input: "indices", at, axis, got, expected: [low, dim - 1] },
  );
}

/** An index as errors tell it: where it stands, its exact value, and that as a number where one holds it. */
function indexTold(
  indices: Tensor,
  position: number,
): { at: readonly number[]; exact: number | bigint; got: number | bigint } {
  const exact = (indices.data as Storage<"int32" | "int64">)[position];
  const got = Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
  return { at: coordinatesOf(position, indices.shape), exact, got };
}
