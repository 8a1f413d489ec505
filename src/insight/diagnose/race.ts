/**
 * Determines whether a race between threads can produce a cell's value. The race is already known, because runs
 * differed or the runtime is known to race. The value must therefore be possible, but not necessarily likely. One pass
 * over a cell's updates determines whether a value is possible. The file `cell-sets.ts`, in contrast, searches the
 * cells for evidence of a race.
 */

import type { Tensor } from "../../core/tensor/tensor.ts";
import { integerRange } from "../../core/tensor/dtype.ts";
import { leastNormal, rounderOf, roundingError } from "./arithmetic.ts";
import { CELL_SETS, type CellSet, type Evidence } from "./cell-sets.ts";
import { valuesOf, type CellUpdates } from "./cell-values.ts";
import type { DialectRecord } from "./dialect-table.ts";
import { wordsOf, type Words } from "./dialect-words.ts";
import type { Rule } from "./rule.ts";

/**
 * Returns the word that describes how a dialect handles repeated targets in this call. Returns null for a gather, for
 * TensorScatter, and for an unsupported reduction.
 */
export function repeatsWord(
  { facts }: DialectRecord,
  { updates, call, data }: Rule,
): RaceWord | null {
  const { indexForm } = call.version;
  if (updates === undefined || indexForm === "sequences") return null;
  const words = wordsOf(facts, indexForm, data.dtype);
  return call.settings.reduction === "none" ? words.repeats : words.sums;
}

type RaceWord = NonNullable<Words["repeats" | "sums"]>;

/** For each word, true if the dialect may apply a target's updates in any order. */
const IS_OPEN: Readonly<Record<RaceWord, boolean>> = {
  last: false,
  "in-order": false,
  "updates-first": false,
  "any-order": true,
  rounding: true,
  "lost-updates": true,
  unknown: true,
};

/** Returns the dialect's word if the dialect may apply this call's updates in any order; otherwise null. */
export function openOrder(dialect: DialectRecord, rule: Rule): RaceWord | null {
  const word = repeatsWord(dialect, rule);
  const isShared = (rule.updates?.size ?? 0) > (dialect.racesAbove ?? 0);
  return word !== null && isShared && IS_OPEN[word] ? word : null;
}

/**
 * Returns the race hypotheses for a dialect's word from `repeatsWord`, or all race hypotheses if none match the word.
 */
export function raceSets(word: RaceWord | null): readonly CellSet[] {
  const known = CELL_SETS.filter(({ id }) => id === word);
  return (known.length > 0 ? known : CELL_SETS).map((set) =>
    set.id === "lost-updates" ? { ...set, evidence: possibleLoss } : set,
  );
}

/**
 * Returns the evidence for lost updates, which is 0 if losing some updates could produce the cell's value, however
 * unlikely.
 */
function possibleLoss(
  { data, call }: Rule,
  updates: Tensor,
  at: CellUpdates,
  actual: Tensor,
): Evidence | null {
  const { reduction, includeSelf } = call.settings;
  const [read, base, update] = [valuesOf(actual), valuesOf(data), valuesOf(updates)];
  if (reduction === "none" || reduction === "mean" || !read || !base || !update) return null;
  const isBetween = betweenOf(data);
  return (cell) => {
    const count = at.count(cell);
    // A single update cannot race.
    if (count < 2) return null;
    const found = read(cell);
    const own = base(cell);
    const given = Array.from({ length: count }, (_, nth) => update(at.element(cell, nth)));
    if (found === own) return 0;
    if (reduction === "max" || reduction === "min") return given.includes(found) ? 0 : null;
    const values = given.map(Number);
    if (includeSelf) values.push(Number(own));
    // Sums and products of whole numbers are whole numbers.
    const hasFraction = Number.isFinite(found) && !Number.isInteger(found);
    if (hasFraction && values.every(Number.isInteger)) return null;
    if (reduction === "sub") for (let nth = 0; nth < count; nth++) values[nth] = -values[nth];
    // The last thread adds its update to a value that includes data, so the data value is never lost.
    const kept = includeSelf ? (values.pop() as number) : null;
    const bounds = reduction === "mul" ? productBounds(values, kept) : sumBounds(values, kept);
    return isBetween(Number(found), bounds) ? 0 : null;
  };
}

/** The minimum and maximum results for all subsets of the values, with the total rounding error. */
interface Bounds {
  readonly low: number;
  readonly high: number;
  /** Rounding error as a multiple of the data type's relative error. */
  readonly slack: number;
}

function sumBounds(values: readonly number[], kept: number | null): Bounds {
  let [low, high] = [0, 0];
  for (const value of values) {
    if (value < 0) low += value;
    else high += value;
  }
  const first = kept ?? 0;
  const slack = 2 * (values.length + 1) * (high - low + Math.abs(first));
  return { low: first + low, high: first + high, slack };
}

function productBounds(values: readonly number[], kept: number | null): Bounds {
  let most = Math.abs(kept ?? 1);
  for (const value of values) most *= Math.max(1, Math.abs(value));
  return { low: -most, high: most, slack: 2 * (values.length + 1) * most };
}

/** Returns a function that tests whether a value is within the bounds. NaN or infinite bounds accept every value. */
function betweenOf({ dtype }: Tensor): (found: number, bounds: Bounds) => boolean {
  const range = integerRange(dtype);
  const unit = range === null ? roundingError(dtype) : Number.EPSILON;
  const least = range === null ? 2 * unit * leastNormal(dtype) : 0;
  const round = range === null ? rounderOf(dtype) : (value: number): number => value;
  // An integer sum that exceeds the range of its type wraps, so any value is possible.
  const [lowest, highest] = range === null ? [-Infinity, Infinity] : range.map(Number);
  return (found, { low, high, slack }) => {
    if (!Number.isFinite(low) || !Number.isFinite(high) || low < lowest || high > highest)
      return true;
    const error = unit * slack + least;
    return found >= round(low - error) && found <= round(high + error);
  };
}
