/**
 * Defines hypotheses that allow several values per cell, because the outcome of a race is unpredictable. These
 * hypotheses are tested only on the differing cells. A value is stronger evidence if it is less likely to fit by
 * chance.
 */

import { stepOf } from "../../core/call/steps.ts";
import { DIAGNOSE } from "../../core/limits.ts";
import { DTYPES, isUnsigned, type DType } from "../../core/tensor/dtype.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { leastNormal, rounderOf, roundingError } from "./arithmetic.ts";
import { combinerOf, valuesOf, type CellUpdates, type Value } from "./cell-values.ts";
import { cellsOf } from "./cells.ts";
import type { DiagnosisId } from "./diagnosis.ts";
import { isFloating, type Rule } from "./rule.ts";

/** Returns a value's evidence in bits, or null if the value does not fit. */
export type Evidence = (cell: number) => number | null;

export interface CellSet {
  readonly id: DiagnosisId;
  readonly sentence: string;
  /** Returns the evidence function for a scatter, or null if the hypothesis does not apply to the call. */
  evidence(rule: Rule, updates: Tensor, at: CellUpdates, actual: Tensor): Evidence | null;
}

/** Returns an element's size in bits. */
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
    sentence: "an arbitrary update of each repeated target was kept, as in a race",
    evidence: anyOrder,
  },
  {
    id: "rounding",
    sentence: "the values are correct up to the rounding errors of a different update order",
    evidence: rounding,
  },
  {
    id: "lost-updates",
    sentence: "repeated targets lost some of their updates, as in a race",
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

/** Returns the number of significant bits in a value whose error is `tolerance`. */
function evidenceOf(like: Tensor, value: number, tolerance: number): number {
  const least = leastNormal(like.dtype);
  const spacing = 2 * roundingError(like.dtype) * Math.max(Math.abs(value), least);
  return Math.max(0, bitsOf(like) - Math.log2(1 + (2 * tolerance) / spacing));
}

/**
 * Returns a cell's unrounded result, the maximum magnitude of any intermediate result, and the maximum rounding error
 * for any update order.
 */
type SumOf = (cell: number) => {
  readonly value: number;
  readonly magnitude: number;
  readonly tolerance: number;
};

function sumOf({ call }: Rule, data: Tensor, updates: Tensor, at: CellUpdates): SumOf {
  const { includeSelf, reduction } = call.settings;
  const { dtype } = data;
  const isMean = reduction === "mean";
  const step = combinerOf(dtype, stepOf(call.settings, dtype));
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
      magnitude,
      tolerance: (roundings * unit * magnitude) / divisor + least,
    };
  };
}

function lostUpdates(
  rule: Rule,
  updates: Tensor,
  at: CellUpdates,
  actual: Tensor,
): Evidence | null {
  const { data, call } = rule;
  const { reduction } = call.settings;
  const read = valuesOf(actual);
  const valuesAt = possibleValues(rule, updates, at, true);
  if (read === null || valuesAt === null) return null;
  const isSum = isFloating(data) && reduction !== "max" && reduction !== "min";
  const sum = isSum ? sumOf(rule, data, updates, at) : null;
  const unroundedAt = possibleValues(rule, updates, at, false);
  const unit = roundingError(data.dtype);
  return (cell) => {
    const count = at.count(cell);
    // Cells that lose their only update are excluded. Their values would fit, but a single update cannot race.
    const values = count === 0 ? null : valuesAt(cell);
    if (values === null) return null;
    const wanted = read(cell);
    const choice = (): number => Math.log2(unique(values).length);
    if (values.some((value) => value === wanted || Object.is(value, wanted)))
      return Math.max(0, bitsOf(data) - choice());
    // The update order does not matter if all updates are equal, or if only one of two updates remains.
    if (sum === null || count < 3 || values.length === count + 1) return null;
    // The runtime rounds once per update that is not lost. Reference values are computed in float64, without further
    // rounding.
    const roundings = (data.dtype === "float64" ? 2 : 1) * (count - 1);
    const magnitude = reduction === "mul" ? Math.abs(Number(wanted)) : sum(cell).magnitude;
    const tolerance = Math.expm1(roundings * unit) * magnitude + 2 * unit * leastNormal(data.dtype);
    const isNear = (value: Value): boolean => Math.abs(Number(value) - Number(wanted)) <= tolerance;
    return unroundedAt?.(cell)?.some(isNear) === true
      ? Math.max(0, evidenceOf(data, Number(wanted), tolerance) - choice())
      : null;
  };
}

/** The typed array that stores values. Plain arrays took ten times as long. */
interface Values {
  readonly length: number;
  [at: number]: Value;
  sort(): unknown;
  some(test: (value: Value) => boolean): boolean;
  slice(): Values;
  subarray(begin: number, end: number): Values;
}

function newValues(dtype: DType, size: number): Values {
  if (DTYPES[dtype].family !== "int64") return new Float64Array(size);
  return isUnsigned(dtype) ? new BigUint64Array(size) : new BigInt64Array(size);
}

/**
 * Returns all possible values of a cell that has lost updates, or null if there would be too many values. If
 * `isRounded` is true, values are rounded after each update, in index order.
 */
function possibleValues(
  { data, call }: Rule,
  updates: Tensor,
  at: CellUpdates,
  isRounded: boolean,
): ((cell: number) => Values | null) | null {
  const { reduction, includeSelf } = call.settings;
  const [base, update] = [valuesOf(data), valuesOf(updates)];
  if (reduction === "none" || reduction === "mean" || !base || !update) return null;
  const unrounded = combinerOf(data.dtype, stepOf(call.settings, data.dtype));
  const round = isRounded && isFloating(data) ? rounderOf(data.dtype) : null;
  const step = round ? (a: Value, b: Value) => round(Number(unrounded(a, b))) : unrounded;
  const { values: mostValues, steps: mostSteps } = DIAGNOSE;
  let steps = 0;
  return (cell) => {
    const times = new Map<Value, number>();
    for (let nth = 0; nth < at.count(cell); nth++) {
      const value = update(at.element(cell, nth));
      times.set(value, (times.get(value) ?? 0) + 1);
    }
    let values = newValues(data.dtype, includeSelf ? 1 : 0);
    if (includeSelf) values[0] = base(cell);
    for (const [next, most] of times) {
      // Any number of equal updates may be lost, so each equal update contributes one possible value.
      if (values.length * (most + 1) > mostValues) values = unique(values);
      // If the reduction excludes data, it starts with the first update that is not lost.
      const count = values.length * (most + 1) + (includeSelf ? 0 : most);
      if (times.size > 1 && count > mostValues) return null;
      steps += count;
      if (steps > mostSteps) return null;
      const longer = newValues(data.dtype, count);
      let to = 0;
      const add = (first: Value, more: number): void => {
        let last = first;
        longer[to++] = last;
        for (let nth = 0; nth < more; nth++) longer[to++] = last = step(last, next);
      };
      for (let n = 0; n < values.length; n++) add(values[n], most);
      if (!includeSelf) add(next, most - 1);
      values = longer;
    }
    if (includeSelf) return values;
    const all = newValues(data.dtype, values.length + 1);
    for (let n = 0; n < values.length; n++) all[n] = values[n];
    all[values.length] = base(cell);
    return all;
  };
}

/** Sorts the values and removes duplicates. */
function unique(values: Values): Values {
  const sorted = values.slice();
  sorted.sort();
  let count = 0;
  for (let n = 0; n < sorted.length; n++) {
    if (n === 0 || !Object.is(sorted[n], sorted[count - 1])) sorted[count++] = sorted[n];
  }
  return sorted.subarray(0, count);
}
