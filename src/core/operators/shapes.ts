/**
 * Checks of ranks, axes and shapes that operators share, and the terms of derived shapes, which inference, error
 * messages and explanations print. Shapes may be partly known: a check throws only if no values of the unknown
 * dimensions could pass.
 */

import { TensorError, type ErrorContext } from "../errors.ts";
import { flatAdvice } from "../plan/indices.ts";
import {
  compatibleFrom,
  part,
  printShape,
  unifyDims,
  type Dim,
  type PartialShape,
} from "../tensor/shape.ts";

/**
 * Checks that an input is not a scalar.
 * @throws TensorError `rank`
 */
export function checkNotScalar(input: string, shape: PartialShape, fields: ErrorContext): void {
  if (shape === null || shape.length > 0) return;
  throw new TensorError("rank", `${input} must have rank 1 or more, got a scalar`, {
    ...fields,
    input,
    got: 0,
  });
}

/**
 * Checks that an index tuple has from `least` to `most` indices.
 * @throws TensorError `rank`
 */
export function checkTupleLength(
  indices: PartialShape,
  k: number,
  least: number,
  most: number,
  fields: ErrorContext,
): void {
  if (k >= least && k <= most) return;
  const range = least === most ? least : `from ${least} to ${most}`;
  const must = most === Infinity ? `at least ${least}` : range;
  throw new TensorError(
    "rank",
    `indices.shape[-1], the length of an index tuple, must be ${must}, got ${k}${flatAdvice(indices)}`,
    {
      ...fields,
      input: "indices",
      got: k,
      expected: most === Infinity ? undefined : [least, most],
    },
  );
}

/**
 * Checks that all inputs with a known rank have the same rank, at least 1. Returns the common rank, or null if no rank
 * is known.
 *
 * @throws TensorError `rank`
 */
export function checkSameRank(
  inputs: Readonly<Record<string, PartialShape>>,
  fields: ErrorContext,
): number | null {
  const known = Object.entries(inputs).flatMap(([input, shape]) =>
    shape === null ? [] : [{ input, shape, rank: shape.length }],
  );
  if (known.length === 0) return null;
  const [first, ...others] = known;
  checkNotScalar(first.input, first.shape, fields);
  for (const { input, rank } of others) {
    if (rank === first.rank) continue;
    throw new TensorError(
      "rank",
      `${input} must have the rank of ${first.input}, ${first.rank}, got rank ${rank}` +
        (input === "indices" && rank === 1
          ? "; to select whole rows, use gather or scatterND, with indices such as [[0], [2]]"
          : ""),
      { ...fields, input, got: rank, expected: first.rank, other: first.input },
    );
  }
  return first.rank;
}

/**
 * Checks that the first `batchDims` axes of data and indices are equal, and returns the sizes that are known from
 * either input.
 *
 * @throws TensorError `shape-mismatch`
 */
export function checkBatches(
  data: readonly Dim[],
  indices: readonly Dim[],
  batchDims: number,
  fields: ErrorContext,
): Dim[] {
  const batches: Dim[] = [];
  for (let d = 0; d < batchDims; d++) batches.push(unifyDims(indices[d], data[d]));
  if (compatibleFrom(0, data, batches) && compatibleFrom(0, indices, batches)) return batches;
  const expected = part(data, 0, batchDims);
  const got = part(indices, 0, batchDims);
  throw new TensorError(
    "shape-mismatch",
    `the batch axes of data, ${printShape(expected)}, and of indices, ${printShape(got)}, must be equal`,
    { ...fields, input: "indices", other: "data", got, expected },
  );
}

/**
 * Returns an axis in [-r, r-1] counted from the front; null if the axis is not known.
 * @throws TensorError `axis`
 */
export function normalizeAxis(axis: number, rank: number, fields: ErrorContext): number;
export function normalizeAxis(
  axis: number | null,
  rank: number,
  fields: ErrorContext,
): number | null;
export function normalizeAxis(
  axis: number | null,
  rank: number,
  fields: ErrorContext,
): number | null {
  if (axis === null) return null;
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  throw new TensorError(
    "axis",
    `axis is ${axis}, but data of rank ${rank} has the axes ${-rank} to ${rank - 1}`,
    { ...fields, axis, got: axis, expected: [-rank, rank - 1] },
  );
}

/** Returns the name of the attribute `batch_dims`, which is `batchDims` in the plain functions. */
export const batchDimsKey = ({ opset }: ErrorContext): string =>
  opset === undefined ? "batchDims" : "batch_dims";

/**
 * Returns the number of batch axes. A negative number counts from the end of the indices' shape, so the result is null
 * if the rank of indices is not known.
 */
export function normalizeBatchDims(batchDims: number, indices: PartialShape): number | null {
  if (batchDims >= 0) return batchDims;
  return indices === null ? null : batchDims + indices.length;
}

/**
 * Checks that indices are not larger than data on any axis except `axis`, because an index has the coordinates of its
 * target on those axes. The other axes must be equal if `isEqual` is true. No axis is checked if `axis` is not known.
 * @throws TensorError `shape-mismatch`
 */
export function checkIndicesFit(
  data: PartialShape,
  indices: PartialShape,
  axis: number | null,
  fields: ErrorContext,
  isEqual = false,
): void {
  if (data === null || indices === null || axis === null) return;
  for (let d = 0; d < data.length; d++) {
    const most = data[d];
    const dim = indices[d];
    if (d === axis || typeof most !== "number" || typeof dim !== "number") continue;
    if (dim === most || (dim < most && !isEqual)) continue;
    throw new TensorError(
      "shape-mismatch",
      `axis ${d} of indices must be ${isEqual ? "" : "at most "}${most}, as in data ${printShape(data)}, ` +
        `got ${printShape(indices)}; only axis ${axis} may ${isEqual ? "differ" : "be larger"}`,
      {
        ...fields,
        input: "indices",
        axis: d,
        got: dim,
        ...(isEqual ? { expected: most } : { limit: most }),
        other: "data",
      },
    );
  }
}

/**
 * Creates the error for updates with a wrong shape; `must` says what the shape must be. `expected` becomes a field of
 * the error if it is fully known.
 */
export function wrongUpdates(
  must: string,
  expected: readonly Dim[] | null,
  updates: readonly Dim[],
  fields: ErrorContext,
  advice = "",
): TensorError {
  const known = expected?.every((dim) => typeof dim === "number") ? expected : undefined;
  return new TensorError(
    "shape-mismatch",
    `updates.shape must ${must}, got ${printShape(updates)}${advice}`,
    { ...fields, input: "updates", got: updates, expected: known },
  );
}

/** Consecutive dimensions of a derived shape: the expression that describes them, and the known dimensions. */
export interface Term {
  /** Expression for the dimensions, such as `indices.shape[:-1]`. */
  readonly text: string;
  readonly shape: readonly Dim[];
}

/** Returns the whole shape of an input as a term. */
export const wholeShape = (input: string, shape: readonly Dim[]): Term => ({
  text: `${input}.shape`,
  shape,
});

/** Returns the shape that consists of the given terms. */
export function joinTerms(terms: readonly Term[]): Dim[] {
  const joined: Dim[] = [];
  for (const { shape } of terms) for (let d = 0; d < shape.length; d++) joined.push(shape[d]);
  return joined;
}

/**
 * Checks that updates have the shape that consists of the given terms.
 * @throws TensorError `shape-mismatch`
 */
export function checkEqual(
  updates: readonly Dim[],
  terms: readonly Term[],
  fields: ErrorContext,
  advice = "",
): void {
  let rank = 0;
  let isEqual = true;
  for (let t = 0; t < terms.length; t++) {
    const { shape } = terms[t];
    isEqual &&= compatibleFrom(rank, updates, shape);
    rank += shape.length;
  }
  if (isEqual && rank === updates.length) return;
  throw wrongUpdates(`be ${printTerms(terms)}`, joinTerms(terms), updates, fields, advice);
}

/** Prints terms, such as `indices.shape[:-1] ++ data.shape[1:] = [2] ++ [4, 4] = [2, 4, 4]`. */
export function printTerms(terms: readonly Term[]): string {
  const texts = terms.map(({ text }) => text).join(" ++ ");
  const shapes = terms.map(({ shape }) => printShape(shape)).join(" ++ ");
  const sum = terms.length === 1 ? "" : ` = ${printShape(joinTerms(terms))}`;
  return `${texts} = ${shapes}${sum}`;
}
