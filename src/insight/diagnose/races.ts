/**
 * Defines hypotheses that allow several values per cell, because the outcome of a race is unpredictable. These
 * hypotheses are tested only on the differing cells. A value is stronger evidence if it is less likely to fit by
 * chance. If a race is already known, because runs differed or the runtime is known to race, a value must only be
 * possible, not likely.
 */

import { stepOf } from "../../core/call/steps.ts";
import { DIAGNOSE } from "../../core/limits.ts";
import { allocate, integerRange, rowOf, type DType } from "../../core/tensor/dtype.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import {
  cellsOf,
  combinerOf,
  isSame,
  leastNormal,
  rounderOf,
  roundingError,
  type Value,
} from "./cells.ts";
import type { DiagnosisId } from "./diagnosis.ts";
import type { DialectRecord } from "./dialect-table.ts";
import { wordsOf, type Words } from "./dialects.ts";
import { isComparison } from "./hypothesis.ts";
import { isFloating, type CellUpdates, type Rule } from "./rule.ts";

/** A scatter, and the runtime's result. */
interface Raced {
  readonly rule: Rule;
  readonly updates: Tensor;
  readonly at: CellUpdates;
  readonly actual: Tensor;
  /** Readers of the values of data, updates and `actual`; null for data types without numbers. */
  readonly read: Readonly<Record<"data" | "updates" | "actual", (p: number) => Value>> | null;
}

/** Returns a value's evidence in bits, or null if the value does not fit. */
type Evidence = (cell: number) => number | null;

export interface CellSet {
  readonly id: DiagnosisId;
  readonly sentence: string;
  /** Returns the evidence function, or null if the hypothesis does not apply to the call. */
  evidence(raced: Raced): Evidence | null;
}

/** Returns an element's size in bits. The size of a string varies, so it counts as one character. */
export function bitsOf({ dtype }: Tensor): number {
  const { family, bytes, bits = 8 * bytes } = rowOf(dtype);
  return family === "bool" ? 1 : family === "string" ? 8 : bits;
}

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

function anyOrder({ rule, updates, at, actual }: Raced): Evidence | null {
  if (rule.call.settings.reduction !== "none") return null;
  const [found, given] = [cellsOf(actual), cellsOf(updates)];
  const bits = bitsOf(actual);
  return (cell) => {
    const count = at.count(cell);
    for (let nth = 0; nth < count; nth++) {
      if (isSame(found, given, cell, at.element(cell, nth)))
        return Math.max(0, bits - Math.log2(count));
    }
    return null;
  };
}

function rounding(raced: Raced): Evidence | null {
  const { rule, at, read } = raced;
  const { data, call } = rule;
  const sum = ["add", "sub", "mul", "mean"].includes(call.settings.reduction) ? sumOf(raced) : null;
  if (sum === null || read === null) return null;
  return (cell) => {
    if (at.count(cell) === 0) return null;
    const { value, tolerance } = sum(cell);
    const found = Number(read.actual(cell));
    return Math.abs(found - value) <= tolerance ? evidenceOf(data, found, tolerance) : null;
  };
}

/** Returns the number of significant bits in a value whose error is `tolerance`. */
function evidenceOf(like: Tensor, value: number, tolerance: number): number {
  const least = leastNormal(like.dtype);
  const spacing = 2 * roundingError(like.dtype) * Math.max(Math.abs(value), least);
  return Math.max(0, bitsOf(like) - Math.log2(1 + (2 * tolerance) / spacing));
}

/** A cell's result without rounding. */
interface Sum {
  readonly value: number;
  /** Maximum magnitude of any intermediate result. */
  readonly magnitude: number;
  /** Maximum rounding error for any update order. */
  readonly tolerance: number;
}

/** Returns null for types that are not floats. */
function sumOf({ rule: { call, data }, at, read }: Raced): ((cell: number) => Sum) | null {
  if (!isFloating(data) || read === null) return null;
  const { includeSelf, reduction } = call.settings;
  const { dtype } = data;
  const isMean = reduction === "mean";
  const step = combinerOf(dtype, stepOf(call.settings, dtype));
  const [base, update] = [read.data, read.updates] as ((p: number) => number)[];
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
    const tolerance = (roundings * unit * magnitude) / divisor + least;
    return { value: value / divisor, magnitude, tolerance };
  };
}

function lostUpdates(raced: Raced): Evidence | null {
  const { rule, at, read } = raced;
  const { data, call } = rule;
  const { dtype } = data;
  const { reduction } = call.settings;
  const valuesAt = possibleValues(raced, true);
  if (read === null || valuesAt === null) return null;
  const sum = isComparison(rule) ? null : sumOf(raced);
  const unroundedAt = possibleValues(raced, false);
  const unit = roundingError(dtype);
  return (cell) => {
    const count = at.count(cell);
    // Cells that lose their only update are excluded. Their values would fit, but a single update cannot race.
    const values = count === 0 ? null : valuesAt(cell);
    if (values === null) return null;
    const wanted = read.actual(cell);
    const choice = (): number => Math.log2(unique(values).length);
    if (values.some((value) => value === wanted || Object.is(value, wanted)))
      return Math.max(0, bitsOf(data) - choice());
    // The update order does not matter if all updates are equal, or if only one of two updates remains.
    if (sum === null || count < 3 || values.length === count + 1) return null;
    // The runtime rounds once per update that is not lost. Reference values are computed in float64, without further
    // rounding.
    const roundings = (dtype === "float64" ? 2 : 1) * (count - 1);
    const magnitude = reduction === "mul" ? Math.abs(Number(wanted)) : sum(cell).magnitude;
    const tolerance = Math.expm1(roundings * unit) * magnitude + 2 * unit * leastNormal(dtype);
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
  const isWide = rowOf(dtype).family === "int64";
  return isWide ? (allocate(dtype, size) as BigInt64Array) : new Float64Array(size);
}

/**
 * Returns all possible values of a cell that has lost updates, or null if there would be too many values. If
 * `isRounded` is true, values are rounded after each update, in index order.
 */
function possibleValues(
  { rule: { data, call }, at, read }: Raced,
  isRounded: boolean,
): ((cell: number) => Values | null) | null {
  const { dtype } = data;
  const { reduction, includeSelf } = call.settings;
  if (reduction === "none" || reduction === "mean" || read === null) return null;
  const unrounded = combinerOf(dtype, stepOf(call.settings, dtype));
  const round = isRounded && isFloating(data) ? rounderOf(dtype) : null;
  const step = round ? (a: Value, b: Value) => round(Number(unrounded(a, b))) : unrounded;
  let steps = 0;
  return (cell) => {
    const times = new Map<Value, number>();
    for (let nth = 0; nth < at.count(cell); nth++) {
      const value = read.updates(at.element(cell, nth));
      times.set(value, (times.get(value) ?? 0) + 1);
    }
    let values = newValues(dtype, includeSelf ? 1 : 0);
    if (includeSelf) values[0] = read.data(cell);
    for (const [next, most] of times) {
      // Any number of equal updates may be lost, so each equal update contributes one possible value.
      if (values.length * (most + 1) > DIAGNOSE.values) values = unique(values);
      // If the reduction excludes data, it starts with the first update that is not lost.
      const count = values.length * (most + 1) + (includeSelf ? 0 : most);
      if (times.size > 1 && count > DIAGNOSE.values) return null;
      steps += count;
      if (steps > DIAGNOSE.steps) return null;
      const longer = newValues(dtype, count);
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
    const all = newValues(dtype, values.length + 1);
    for (let n = 0; n < values.length; n++) all[n] = values[n];
    all[values.length] = read.data(cell);
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

/**
 * Returns the dialect's word for repeated targets if the dialect may apply this call's updates in any order. Returns
 * null for a fixed order, for a gather, for TensorScatter, and for an unsupported reduction.
 */
export function openOrder(dialect: DialectRecord, rule: Rule): RaceWord | null {
  const isShared = (rule.updates?.size ?? 0) > (dialect.racesAbove ?? 0);
  const word = repeatsWord(dialect, rule);
  const isOpen = word === "unknown" || CELL_SETS.some(({ id }) => id === word);
  return isShared && isOpen ? word : null;
}

type RaceWord = Words["repeats" | "sums"];

function repeatsWord(record: DialectRecord, { updates, call, data }: Rule): RaceWord {
  const { indexForm } = call.version;
  if (updates === undefined || indexForm === "sequences") return null;
  const words = wordsOf(record, indexForm, data.dtype);
  return call.settings.reduction === "none" ? words.repeats : words.sums;
}

/** Returns the race hypotheses for a dialect's word, or all race hypotheses if none match the word. */
export function raceSets(record: DialectRecord | null, rule: Rule): readonly CellSet[] {
  const word = record && repeatsWord(record, rule);
  const known = CELL_SETS.filter(({ id }) => id === word);
  return (known.length > 0 ? known : CELL_SETS).map((set) =>
    set.id === "lost-updates" ? { ...set, evidence: possibleLoss } : set,
  );
}

/**
 * Returns the evidence for lost updates, which is 0 if losing some updates could produce the cell's value, however
 * unlikely. One pass over a cell's updates finds the bounds of all possible values.
 */
function possibleLoss({ rule, at, read }: Raced): Evidence | null {
  const { dtype } = rule.data;
  const { reduction, includeSelf } = rule.call.settings;
  if (reduction === "none" || reduction === "mean" || read === null) return null;
  const range = integerRange(dtype);
  const unit = range === null ? roundingError(dtype) : Number.EPSILON;
  const least = range === null ? 2 * unit * leastNormal(dtype) : 0;
  const round = range === null ? rounderOf(dtype) : (value: number): number => value;
  const [lowest, highest] = range === null ? [-Infinity, Infinity] : range.map(Number);
  return (cell) => {
    const count = at.count(cell);
    // A single update cannot race.
    if (count < 2) return null;
    const found = read.actual(cell);
    const own = read.data(cell);
    const given = Array.from({ length: count }, (_, nth) => read.updates(at.element(cell, nth)));
    if (found === own) return 0;
    if (isComparison(rule)) return given.includes(found) ? 0 : null;
    const values = given.map(reduction === "sub" ? (value) => -Number(value) : Number);
    // The last thread adds its update to a value that includes data, so the data value is never lost.
    const kept = includeSelf ? Number(own) : null;
    // Sums and products of whole numbers are whole numbers.
    const hasFraction = Number.isFinite(found) && !Number.isInteger(found);
    if (hasFraction && values.every(Number.isInteger) && Number.isInteger(kept ?? 0)) return null;
    // The least and the greatest result for all subsets of the values, and the greatest magnitude.
    let [low, high] = [kept ?? 0, kept ?? 0];
    let product = Math.abs(kept ?? 1);
    for (const value of values) {
      if (value < 0) low += value;
      else high += value;
      product *= Math.max(1, Math.abs(value));
    }
    const most = reduction === "mul" ? product : high - low + Math.abs(kept ?? 0);
    if (reduction === "mul") [low, high] = [-product, product];
    // NaN or infinite bounds accept every value. An integer sum that exceeds the range of its type wraps, so any value
    // is possible.
    if (!Number.isFinite(low) || !Number.isFinite(high) || low < lowest || high > highest) return 0;
    const error = unit * (2 * (count + 1) * most) + least;
    return Number(found) >= round(low - error) && Number(found) <= round(high + error) ? 0 : null;
  };
}
