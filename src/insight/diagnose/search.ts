/** Tests hypotheses on a case, first individually, then in pairs, and ranks the matching hypotheses. */

import { DIAGNOSE } from "../../core/limits.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { cellsOf, differingCells, isSame, valuesOf, type Cells } from "./cells.ts";
import type { Diagnosis } from "./diagnosis.ts";
import { DIALECTS, type DialectId } from "./dialect-table.ts";
import { dialectsWith } from "./dialects.ts";
import { INPUTS, SETTINGS } from "./call-hypotheses.ts";
import { FLOATS } from "./float-hypotheses.ts";
import { pairOf, rankOf, type Hypothesis, type Variant } from "./hypothesis.ts";
import { INDICES } from "./index-hypotheses.ts";
import { bitsOf, CELL_SETS, openOrder, raceSets, type CellSet } from "./races.ts";
import { pick, predict, type Probe } from "./predict.ts";
import { cellUpdatesOf, type Facts, type Rule } from "./rule.ts";

/** A diagnosis without its list of dialects, which is added later. */
export type Found = Omit<Diagnosis, "dialects">;

/** A call, a runtime's result, and the differences from the exact result. */
export interface Case {
  readonly rule: Rule;
  readonly facts: Facts;
  readonly actual: Tensor;
  readonly found: Cells;
  readonly differing: Uint32Array;
  /** Runtime that produced the result; null if unknown. */
  readonly dialect: DialectId | null;
  /** True if other runs have shown a race; false if other runs have ruled out a race; null if unknown. */
  readonly isRace: boolean | null;
}

/** A sample of the differing cells. Each hypothesis is tested on this sample before all differing cells. */
type Sampled = Case & { readonly sample: (Probe & { readonly found: Cells }) | null };

/** All hypotheses. Explanations of equal quality are listed in this order. */
export const HYPOTHESES: readonly Hypothesis[] = [...SETTINGS, ...INDICES, ...INPUTS, ...FLOATS];

/** A variant of a hypothesis, or a pair of variants, that was tested. */
interface Tried extends Omit<Found, "cells"> {
  /** Number of differing cells that contain the predicted value. */
  readonly explained: number;
  /** Number of other cells that do not contain the predicted value. */
  readonly wrong: number;
}

type TriedVariant = Tried & { readonly variant: Variant };

/**
 * Minimum evidence, in bits. The probability of a chance match must be less than 1 in 2 to the power of this number.
 */
export const LEAST_BITS = 8;
const LEAST_PARTIAL_BITS = 16;

/**
 * Minimum share of the sample that a hypothesis must explain. A hypothesis with a smaller share cannot explain half of
 * all cells.
 */
const LEAST_SHARE = 1 / 3;

export function search(wanted: Case): readonly Found[] {
  const { differing, dialect, facts, rule, found } = wanted;
  if (differing.length === 0) return [];
  const wholes = (all: readonly Found[]): readonly Found[] =>
    all.filter(({ cells }) => cells.explained === differing.length);
  const isFull = ({ explained, wrong }: Tried): boolean =>
    explained === differing.length && wrong === 0;
  const isUnknown = ({ id }: Found): number =>
    Number(dialect === null || !dialectsWith(id).includes(dialect));
  /** Moves known faults of the runtime to the front. */
  const known = (all: readonly Found[]): Found[] =>
    all.toSorted((a, b) => isUnknown(a) - isUnknown(b));
  const races = racesOf(wanted);
  const wholeRaces = wholes(races);
  // A deterministic fault cannot explain a result that changes between runs.
  if (wanted.isRace === true && wholeRaces.length > 0) return wholeRaces;
  const given = { ...wanted, sample: found.count > DIAGNOSE.whole ? sampleOf(wanted) : null };
  const tried = variantsOf(rule, facts)
    .filter(({ aspect }) => !facts.isError || aspect === "places")
    .flatMap((variant): TriedVariant[] => {
      const score = scoreOf(given, variant.rule);
      const { id, sentence } = variant;
      return score === null ? [] : [{ id, sentence, variant, ...score }];
    });
  const full = tried.filter(isFull);
  if (full.length > 0) return known(diagnosesOf(full, differing.length));
  if (wholeRaces.length > 0) return wholeRaces;
  const sets = races.length > 0 ? races : cellSets(given);
  const wholeSets = wholes(sets);
  if (wholeSets.length > 0) return known(wholeSets);
  const pairs = pairsOf(given, tried);
  const fullPairs = pairs.filter(isFull);
  if (fullPairs.length > 0) return known(diagnosesOf(fullPairs, differing.length));
  const bits = bitsOf(given.actual);
  const partial = [...tried, ...pairs].filter(
    ({ explained, wrong }) =>
      wrong === 0 &&
      explained > 1 &&
      2 * explained >= differing.length &&
      explained * bits >= LEAST_PARTIAL_BITS,
  );
  const all = known([...diagnosesOf(partial, differing.length), ...sets]);
  return all.sort((a, b) => b.cells.explained - a.cells.explained);
}

/** Returns the variants of all hypotheses for a call. */
export const variantsOf = (rule: Rule, facts: Facts): readonly Variant[] =>
  HYPOTHESES.flatMap((hypothesis) => hypothesis.variants(rule, facts));

/**
 * Returns race explanations, but only if other runs have shown a race or the runtime is known to race in such calls.
 */
function racesOf(wanted: Case): Found[] {
  const { dialect, isRace, rule } = wanted;
  const record = dialect === null ? null : DIALECTS[dialect];
  const isKnownToRace = record !== null && openOrder(record, rule) !== null;
  if (!(isRace ?? isKnownToRace)) return [];
  return cellSets(wanted, raceSets(record, rule), 0);
}

/**
 * Selects a sample of cells: one from each of equal parts of the list. Its place in the part depends on a square, so the
 * places do not repeat, and do not coincide with repeating patterns. A cell may be selected twice.
 */
function sampleOf({ actual, differing, found }: Case): Sampled["sample"] {
  const { length } = differing;
  const { sampled } = DIAGNOSE;
  const cells =
    length <= sampled
      ? differing
      : Uint32Array.from(
          { length: sampled },
          (_, n) => differing[Math.floor(((n + ((n * n * 0.618034) % 1)) / sampled) * length)],
        );
  const before = new Uint16Array(found.count + 1);
  for (const cell of cells) before[cell + 1]++;
  for (let cell = 0; cell < found.count; cell++) before[cell + 1] += before[cell];
  return { cells, before, found: cellsOf(pick(actual, cells)) };
}

/** Scores a rule. Returns null if the rule is not valid for the call, and an estimate if it explains too few cells. */
function scoreOf(
  { found, differing, sample }: Sampled,
  rule: Rule,
): Pick<Tried, "explained" | "wrong"> | null {
  if (sample !== null) {
    const few = predict(rule, sample);
    if (few === null) return null;
    const { length } = sample.cells;
    const share = (length - differingCells(cellsOf(few), sample.found).length) / length;
    if (share < LEAST_SHARE) return { explained: Math.floor(share * differing.length), wrong: 0 };
  }
  const predicted = predict(rule);
  if (predicted === null) return null;
  const cells = cellsOf(predicted);
  let explained = 0;
  for (const cell of differing) if (isSame(cells, found, cell)) explained++;
  if (explained === 0) return { explained, wrong: 0 };
  const missed = differing.length - explained;
  return { explained, wrong: differingCells(cells, found).length - missed };
}

/** Returns the best variant's diagnosis for each id. */
function diagnosesOf(tried: readonly Tried[], differing: number): Found[] {
  const best = new Map<string, Tried>();
  for (const one of tried) {
    const other = best.get(one.id);
    if (other === undefined || one.explained > other.explained) best.set(one.id, one);
  }
  return [...best.values()].map(({ id, sentence, explained }) => {
    return { id, sentence, cells: { explained, differing } };
  });
}

/** Tests pairs of changes to different parts of the rule. */
function pairsOf(given: Sampled, tried: readonly TriedVariant[]): Tried[] {
  const { rule, facts } = given;
  const ranked = tried.toSorted((a, b) => b.explained - a.explained);
  const isSmall = Math.max(given.found.count, rule.indices.size) <= DIAGNOSE.allPairs;
  const isFirst = ({ id }: Tried, n: number): boolean =>
    ranked.findIndex((one) => one.id === id) === n;
  const promising = isSmall
    ? ranked
    : ranked.filter((one, n) => one.explained > 0 && isFirst(one, n)).slice(0, DIAGNOSE.partners);
  // For an invalid call, only index interpretations were tested individually, because every other hypothesis requires
  // an interpretation of the bad indices.
  type Partner = Pick<TriedVariant, "variant" | "explained">;
  const partners: readonly Partner[] = facts.isError
    ? variantsOf(rule, facts).map((variant) => ({ variant, explained: 0 }))
    : promising;
  const chosen = promising.flatMap((one) =>
    partners.flatMap((other): (readonly [Partner, Partner])[] => {
      const ranks = rankOf(other.variant) - rankOf(one.variant);
      if (ranks > 0) return [[one, other]];
      return ranks < 0 && facts.isError ? [[other, one]] : [];
    }),
  );
  return chosen.slice(0, isSmall ? Infinity : DIAGNOSE.pairs).flatMap(([first, second]) => {
    const both = second.variant.on(first.variant.rule);
    const score = both && scoreOf(given, both.rule);
    // A second fault must explain at least one more cell.
    if (!score || score.explained <= Math.max(first.explained, second.explained)) return [];
    return [{ ...pairOf(first.variant, second.variant), ...score }];
  });
}

/**
 * Tests the hypotheses that allow several values per cell. Hypotheses with less evidence than `leastBits` bits are
 * omitted.
 */
function cellSets(
  { rule, facts, actual, differing, sample = null }: Case & Partial<Sampled>,
  tried: readonly CellSet[] = CELL_SETS,
  leastBits: number | null = null,
): Found[] {
  const { updates } = rule;
  if (facts.isError || updates === undefined) return [];
  const at = cellUpdatesOf(rule);
  const [data, update, found] = [rule.data, updates, actual].map(valuesOf);
  const read = data && update && found && { data, updates: update, actual: found };
  return tried.flatMap(({ id, sentence, evidence }) => {
    const fit = evidence({ rule, updates, at, actual, read });
    if (fit === null) return [];
    if (sample !== null) {
      const fits = sample.cells.filter((cell) => fit(cell) !== null);
      if (fits.length < LEAST_SHARE * sample.cells.length) return [];
    }
    let [explained, bits, misses] = [0, 0, 0];
    for (const cell of differing) {
      const found = fit(cell);
      if (found === null) {
        misses++;
        // The search ends here, because at least half of the cells must match.
        if (2 * misses > differing.length) return [];
        continue;
      }
      explained++;
      bits += found;
    }
    const least = leastBits ?? (misses === 0 ? LEAST_BITS : LEAST_PARTIAL_BITS);
    return bits < least
      ? []
      : [{ id, sentence, cells: { explained, differing: differing.length } }];
  });
}
