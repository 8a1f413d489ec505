/**
 * Hypotheses that allow more than one value in a cell: what a race leaves behind is not decided by the call. So they are
 * tried on the differing cells alone, and a value counts for as many bits as it is unlikely to fit by chance.
 */

import { DTYPES } from "../tensor/dtype.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { leastNormal, rounderOf, roundingError } from "./arithmetic.ts";
import { stepOf, valuesOf, type CellUpdates, type Value } from "./cell-values.ts";
import { cellsOf } from "./cells.ts";
import type { DiagnosisId } from "./diagnosis.ts";
import { isFloating, type Rule } from "./rule.ts";

/** The bits of evidence that the value of a cell is; null where the value does not fit. */
export type Evidence = (cell: number) => number | null;

export interface CellSet {
  readonly id: DiagnosisId;
  readonly sentence: string;
  /** Null where the hypothesis says nothing of the call, which is a scatter. */
  evidence(rule: Rule, updates: Tensor, at: CellUpdates, actual: Tensor): Evidence | null;
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

function anyOrder(
  { call }: Rule,
  updates: Tensor,
  at: CellUpdates,
  actual: Tensor,
): Evidence | null {
  if (call.settings.reduction !== "none") return null;
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

function rounding(rule: Rule, updates: Tensor, at: CellUpdates, actual: Tensor): Evidence | null {
  const { data, call } = rule;
  if (!isFloating(data) || !["add", "sub", "mul", "mean"].includes(call.settings.reduction))
    return null;
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

/** Values that a cell may have; more would fit nearly any value. */
const MOST_VALUES = 2 ** 18;

/** Values of all cells together: 1 s. */
const MOST_STEPS = 3e7;

function lostUpdates(
  rule: Rule,
  updates: Tensor,
  at: CellUpdates,
  actual: Tensor,
): Evidence | null {
  const { data, call } = rule;
  const { reduction, includeSelf } = call.settings;
  const [read, base, update] = [valuesOf(actual), valuesOf(data), valuesOf(updates)];
  if (reduction === "none" || reduction === "mean" || !read || !base || !update) return null;
  const unrounded = stepOf(data.dtype, reduction);
  const round = isFloating(data) ? rounderOf(data.dtype) : null;
  const step = round ? (a: Value, b: Value) => round(Number(unrounded(a, b))) : unrounded;
  const isSum = round !== null && reduction !== "max" && reduction !== "min";
  const sum = isSum ? sumOf(rule, data, updates, at) : null;
  let steps = 0;
  /** What the cell may be without some of its updates; null where that is too much. */
  const valuesAt = (cell: number): readonly Value[] | null => {
    const times = new Map<Value, number>();
    for (let nth = 0; nth < at.count(cell); nth++) {
      const value = update(at.element(cell, nth));
      times.set(value, (times.get(value) ?? 0) + 1);
    }
    let values = [includeSelf ? base(cell) : null];
    for (const [next, most] of times) {
      // Of equal updates any number may be lost, which is one value more each.
      if (values.length * (most + 1) > MOST_VALUES) values = [...new Set(values)];
      const count = values.length * (most + 1);
      if (times.size > 1 && count > MOST_VALUES) return null;
      steps += count;
      if (steps > MOST_STEPS) return null;
      values = values.flatMap((first) => {
        const chain = [first];
        let last = first;
        for (let n = 0; n < most; n++) chain.push((last = last === null ? next : step(last, next)));
        return chain;
      });
    }
    return values.map((value) => value ?? base(cell));
  };
  return (cell) => {
    const count = at.count(cell);
    // A single update that is lost is no race, but it fits the same description.
    const values = count === 0 ? null : valuesAt(cell);
    if (values === null) return null;
    const wanted = read(cell);
    const choice = (): number => Math.log2(new Set(values).size);
    if (values.includes(wanted)) return Math.max(0, bitsOf(data) - choice());
    // No order makes a difference to equal updates, nor to one that is left of two.
    if (sum === null || count < 3 || values.length === count + 1) return null;
    const tolerance =
      reduction === "mul"
        ? 2 * count * roundingError(data.dtype) * Math.abs(Number(wanted))
        : sum(cell).tolerance;
    return values.some((value) => Math.abs(Number(value) - Number(wanted)) <= tolerance)
      ? Math.max(0, evidenceOf(data, Number(wanted), tolerance) - choice())
      : null;
  };
}
