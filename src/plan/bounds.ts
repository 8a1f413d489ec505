/** Indices outside their axis: what becomes of them by the rules, and the error that names one. */

import { TensorError, type ErrorFields } from "../errors.ts";
import type { Storage } from "../tensor/dtype.ts";
import { coordinatesOf, printShape, type PartialShape } from "../tensor/shape.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { indexAt, type IndexJob, type IndexRules } from "./index-job.ts";

/** Offsets, and which of them stand for indices outside their axes; null where none does. */
export interface Read {
  readonly offsets: Uint32Array;
  readonly outside: Uint8Array | null;
}

/** The offsets of a job by the rules; `errorAt` makes the error for the index at a position. */
export function readOffsets(
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

/** The error for the index at `position`; slow, and told from the exact value. */
export function outOfRange(
  indices: Tensor,
  position: number,
  dataShape: readonly number[],
  axis: number,
  rules: IndexRules,
  fields: ErrorFields,
): TensorError {
  const { at, exact, got } = indexTold(indices, position);
  const { data, negative } = rules.shown ?? { data: dataShape, negative: rules.negative };
  const dim = dataShape[axis];
  const low = negative ? 0 - dim : 0;
  const range = dim === 0 ? "has no elements" : `takes ${low}..${dim - 1}`;
  return new TensorError(
    "index-out-of-range",
    `indices${printShape(at)} is ${exact}, but axis ${axis} of data ${printKnown(data)} ${range}`,
    { ...fields, input: "indices", at, axis, got, expected: [low, dim - 1] },
  );
}

/** A shape as far as it is known; `[...]` where not even its rank is. */
export const printKnown = (shape: PartialShape): string =>
  shape === null ? "[...]" : printShape(shape);

/** An index as errors tell it: where it stands, its exact value, and that as a number where one holds it. */
export function indexTold(
  indices: Tensor,
  position: number,
): { at: readonly number[]; exact: number | bigint; got: number | bigint } {
  const exact = (indices.data as Storage<"int32" | "int64">)[position];
  const got = Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
  return { at: coordinatesOf(position, indices.shape), exact, got };
}
