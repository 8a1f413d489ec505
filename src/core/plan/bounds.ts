/** Handles indices outside their axes according to the rules, and creates the error that names such an index. */

import { TensorError, type ErrorContext, type FieldsOf } from "../errors.ts";
import type { Storage } from "../tensor/dtype.ts";
import { coordinatesOf, printShape, type PartialShape } from "../tensor/shape.ts";
import type { Tensor } from "../tensor/tensor.ts";
import {
  indexAt,
  type IndexAxis,
  type IndexJob,
  type IndexRules,
  type ReadIndices,
} from "./index-job.ts";

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
  if (offsets instanceof Uint32Array) return { offsets, outside: null };
  const { bad } = offsets;
  return offsetsByRules(job, bad, rules, read, (position) => {
    const k = axesOf(job).length;
    // Only plain functions are called with lists; the indices of a model rarely have rank 1 by mistake.
    const advice = k > 1 && fields.opset === undefined ? flatAdvice(indices.shape) : "";
    const at = axis + (position % k);
    return outOfRangeError(indices, position, dataShape, at, rules, fields, advice);
  });
}

/** Computes the offsets of a job that has indices outside their axes, the first of which is at `bad`. */
function offsetsByRules(
  job: IndexJob,
  bad: number,
  rules: IndexRules,
  read: ReadIndices,
  errorAt: (position: number) => TensorError,
): CheckedOffsets {
  if (rules.bounds === "error") {
    if (rules.onBad !== undefined) reportBad(job, rules.onBad, errorAt);
    throw errorAt(bad);
  }
  const { words, outside } = boundedWords(job, rules, errorAt);
  // Indices are marked individually, so rows must not be merged.
  const unmerged = job.kind === "elements" ? { merge: false } : {};
  const again = read({ ...job, ...unmerged, words, step: 2 });
  // Even index 0 is outside an axis without elements. The offsets of omitted indices are never used, so any value is
  // right.
  return { offsets: again instanceof Uint32Array ? again : new Uint32Array(job.count), outside };
}

/** Reports every bad index of a job, because engines find only the first bad index. */
function reportBad(
  job: IndexJob,
  onBad: NonNullable<IndexRules["onBad"]>,
  errorAt: (position: number) => TensorError,
): void {
  const axes = axesOf(job);
  for (let position = 0; position < job.count * axes.length; position++) {
    const { dim, wrap } = axes[position % axes.length];
    const given = indexAt(job.words, position * job.step, job.step);
    const index = given < 0 ? given + wrap : given;
    if (!(index >= 0 && index < dim)) onBad(() => errorAt(position));
  }
}

/**
 * Copies a job's indices, as two words each, and replaces every index outside its axis: by the nearest valid index
 * (`clip`), or by 0 with a mark. Copying is slow, but only jobs with an index outside its axis need the copy.
 */
function boundedWords(
  job: IndexJob,
  { bounds, negative }: IndexRules,
  errorAt: (position: number) => TensorError,
): { words: Int32Array; outside: Uint8Array | null } {
  const axes = axesOf(job);
  const words = new Int32Array(2 * job.count * axes.length);
  const outside = bounds === "clip" ? null : new Uint8Array(job.count);
  for (let position = 0; position < job.count * axes.length; position++) {
    const { dim, wrap } = axes[position % axes.length];
    const given = indexAt(job.words, position * job.step, job.step);
    if (given < 0 && !negative) throw errorAt(position);
    let index = given < 0 ? given + wrap : given;
    if (!(index >= 0 && index < dim)) {
      if (outside !== null) outside[Math.floor(position / axes.length)] = 1;
      else if (dim === 0) throw errorAt(position);
      index = outside === null && index >= dim ? dim - 1 : 0;
    }
    // An axis has fewer than 2^32 positions, so the low word holds the index and the high word is 0.
    words[2 * position] = index;
  }
  return { words, outside };
}

/** Returns the axis for each index in a tuple; an element index counts as a tuple of one index. */
const axesOf = (job: IndexJob): readonly IndexAxis[] =>
  job.kind === "tuples" ? job.axes : [job.axis];

/**
 * Creates the error for the index at `position`. Creating the error is slow, because the message has the exact value.
 */
function outOfRangeError(
  indices: Tensor,
  position: number,
  dataShape: readonly number[],
  axis: number,
  rules: IndexRules,
  fields: ErrorContext,
  advice: string,
): TensorError {
  const { at, got } = describeIndex(indices, position);
  const { data, negative } = rules.shown ?? { data: dataShape, negative: rules.negative };
  const size = dataShape[axis];
  const expected = [negative ? 0 - size : 0, size - 1] as const;
  const facts = { ...fields, input: "indices", at, axis, got, size, expected };
  return indexError(facts, data, advice);
}

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
