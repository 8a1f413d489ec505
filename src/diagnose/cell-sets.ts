/**
 * Hypotheses that allow more than one value in a cell: what a race leaves behind is not decided by the call. So they are
 * tried on the differing cells alone, and a value counts for as many bits as it is unlikely to fit by chance.
 */

import { DTYPES } from "../tensor/dtype.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { leastNormal, roundingError } from "./arithmetic.ts";
import { cellUpdatesOf, stepOf, valuesOf, type CellUpdates, type Value } from "./cell-values.ts";
import { cellsOf } from "./cells.ts";
import type { DiagnosisId } from "./diagnosis.ts";
import { isFloating, type Rule } from "./rule.ts";

/** The bits of evidence that the value of a cell is; null where the value does not fit. */
export type Evidence = (cell: number) => number | null;

export interface CellSet {
  readonly id: DiagnosisId;
  readonly sentence: string;
  /** Null where the hypothesis says nothing of the call. */
  evidence(rule: Rule, actual: Tensor): Evidence | null;
}

/** How many bits one element has. */
export const bitsOf = ({ dtype }: Tensor): number => {
  const row = DTYPES[dtype];
  return row.family === "bool"
    ? 1
    : row.family === "string"
      ? 8
      : "bits" in row
        ? row.bits
        : 8 * row.bytes;
};

export const CELL_SETS: readonly CellSet[] = [
  {
    id: "any-order",
    sentence: "of several updates of one target any one stays, as in a race",
    evidence: anyOrder,
  },
  {
    id: "rounding",
    sentence: "the values are right within the rounding errors of another order of the updates",
    evidence: rounding,
  },
  {
    id: "lost-updates",
    sentence: "some of several updates of one target were lost, as in a race",
    evidence: lostUpdates,
  },
];

function anyOrder(rule: Rule, actual: Tensor): Evidence | null {
  const { updates, call } = rule;
  if (updates === undefined || call.settings.reduction !== "none") return null;
  const at = cellUpdatesOf(rule);
  const [found, given] = [cellsOf(actual), cellsOf(updates)];
  const bits = bitsOf(actual);
  return (cell) => {
    const count = at.count(cell);
    for (let nth = 0; nth < count; nth++) {
      if (found.isSameAs(given, cell, at.element(cell, nth)))
        return Math.max(0, bits - Math.log2(count));
    }
    return null;
  };
}

function rounding(rule: Rule, actual: Tensor): Evidence | null {
  const { updates, data, call } = rule;
  const { reduction } = call.settings;
  if (updates === undefined || !isFloating(data)) return null;
  if (!["add", "sub", "mul", "mean"].includes(reduction)) return null;
  const at = cellUpdatesOf(rule);
  const read = valuesOf(actual) as (cell: number) => number;
  const sum = sumOf(rule, data, updates, at);
  return (cell) => {
    if (at.count(cell) === 0) return null;
    const { value, tolerance } = sum(cell);
    const found = read(cell);
    return Math.abs(found - value) <= tolerance ? evidenceOf(data, found, tolerance) : null;
  };
}

/** The bits of a value that an error of `tolerance` leaves. */
function evidenceOf(like: Tensor, value: number, tolerance: number): number {
  const least = leastNormal(like.dtype);
  const spacing = 2 * roundingError(like.dtype) * Math.max(Math.abs(value), least);
  return Math.max(0, bitsOf(like) - Math.log2(1 + (2 * tolerance) / spacing));
}

/** What the result in a cell is when nothing is rounded, and the error that roundings in any order can make. */
type SumOf = (cell: number) => { readonly value: number; readonly tolerance: number };

function sumOf({ call }: Rule, data: Tensor, updates: Tensor, at: CellUpdates): SumOf {
  const { includeSelf, reduction } = call.settings;
  const { dtype } = data;
  const isMean = reduction === "mean";
  const step = stepOf(dtype, isMean ? "add" : (reduction as "add"));
  const [base, update] = [valuesOf(data), valuesOf(updates)] as ((p: number) => number)[];
  const unit = roundingError(dtype);
  const least = 2 * unit * leastNormal(dtype);
  return (cell) => {
    const count = at.count(cell);
    let value = includeSelf ? base(cell) : update(at.element(cell, 0));
    let magnitude = Math.abs(value);
    for (let nth = includeSelf ? 0 : 1; nth < count; nth++) {
      const next = update(at.element(cell, nth));
      value = Number(step(value, next));
      magnitude = reduction === "mul" ? Math.abs(value) : magnitude + Math.abs(next);
    }
    const divisor = isMean ? count + (includeSelf ? 1 : 0) : 1;
    const roundings = 2 * (count + (isMean ? 1 : 0));
    return {
      value: value / divisor,
      tolerance: (roundings * unit * magnitude) / divisor + least,
    };
  };
}

/** Subsets of more updates than this are too many, and would fit nearly any value. */
const MOST_UPDATES = 12;

/** Steps that all cells together may take: 0.3 s. */
const MOST_STEPS = 3e7;

function lostUpdates(rule: Rule, actual: Tensor): Evidence | null {
  const { updates, data, call } = rule;
  const { reduction, includeSelf } = call.settings;
  const read = valuesOf(actual);
  const [base, update] = [valuesOf(data), updates && valuesOf(updates)];
  if (updates === undefined || reduction === "none" || reduction === "mean") return null;
  if (read === null || base === null || !update) return null;
  const step = stepOf(data.dtype, reduction);
  const at = cellUpdatesOf(rule);
  const isSum = isFloating(data) && reduction !== "max" && reduction !== "min";
  const sum = isSum ? sumOf(rule, data, updates, at) : null;
  let steps = 0;
  return (cell) => {
    const count = at.count(cell);
    // A single update that is lost is no race, but it fits the same description.
    if (count === 0 || count > MOST_UPDATES || steps > MOST_STEPS) return null;
    const wanted = read(cell);
    const tolerance =
      sum === null
        ? 0
        : reduction === "mul"
          ? 2 * count * roundingError(data.dtype) * Math.abs(Number(wanted))
          : sum(cell).tolerance;
    const bits = sum === null ? bitsOf(data) : evidenceOf(data, Number(wanted), tolerance);
    const given = Array.from({ length: count }, (_, nth) => update(at.element(cell, nth)));
    const fits = (value: Value): boolean =>
      value === wanted || (sum !== null && Math.abs(Number(value) - Number(wanted)) <= tolerance);
    const search = (value: Value | null, nth: number): boolean => {
      steps++;
      if (nth === count) return fits(value ?? base(cell));
      const next = given[nth];
      if (search(value === null ? next : step(value, next), nth + 1)) return true;
      return search(value, nth + 1);
    };
    return search(includeSelf ? base(cell) : null, 0) ? Math.max(0, bits - count) : null;
  };
}
