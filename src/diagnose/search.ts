/** Tries hypotheses on a case, one by one, then in pairs, and ranks what fits. */

import type { Tensor } from "../tensor/tensor.ts";
import { bitsOf, CELL_SETS } from "./cell-sets.ts";
import { cellsOf, type Cells } from "./cells.ts";
import type { Diagnosis } from "./diagnosis.ts";
import { FLOATS } from "./floats.ts";
import type { Aspect, Facts, Hypothesis, Variant } from "./hypothesis.ts";
import { INPUTS } from "./inputs.ts";
import { PLACES } from "./places.ts";
import { predict, type Rule } from "./rule.ts";
import { SETTINGS } from "./settings.ts";

/** What is found, before the table of dialects is asked who does it. */
export type Found = Omit<Diagnosis, "dialects">;

/** A call, what a runtime gave, and where that differs from the exact result. */
export interface Case {
  readonly rule: Rule;
  readonly facts: Facts;
  readonly actual: Tensor;
  readonly found: Cells;
  readonly differing: Uint32Array;
}

/** In the order in which equally good explanations are listed. */
export const HYPOTHESES: readonly Hypothesis[] = [...SETTINGS, ...PLACES, ...INPUTS, ...FLOATS];

/** A hypothesis that was tried. */
interface Tried {
  readonly id: Diagnosis["id"];
  readonly hypothesis: Hypothesis;
  /** Which of the hypothesis's variants. */
  readonly nth: number;
  readonly variant: Variant;
  /** Differing cells that have the predicted value. */
  readonly explained: number;
  /** Other cells that do not. */
  readonly wrong: number;
}

/** Explanations that fit by chance are rarer than 1 in 2 to this power. */
const LEAST_BITS = 8;
const LEAST_PARTIAL_BITS = 16;

/** In outputs of at most as many cells all pairs are tried: at most 0.3 s. */
const FEW_CELLS = 2e4;

/** Otherwise at most as many, of faults that explain a cell alone. Each takes 30 ms for 10^6 cells. */
const MOST_PAIRS = 40;

export function search(given: Case): readonly Found[] {
  const { differing, facts } = given;
  if (differing.length === 0) return [];
  const tried = HYPOTHESES.filter(({ aspect }) => !facts.isError || aspect === "places").flatMap(
    (hypothesis) => attempts(given, hypothesis, given.rule),
  );
  const isFull = ({ explained, wrong }: Tried): boolean =>
    explained === differing.length && wrong === 0;
  const full = tried.filter(isFull);
  if (full.length > 0) return diagnosesOf(full, differing.length);
  const sets = cellSets(given);
  const fullSets = sets.filter(({ cells }) => cells.explained === differing.length);
  if (fullSets.length > 0) return fullSets;
  const pairs = pairsOf(given, tried);
  const fullPairs = pairs.filter(isFull);
  if (fullPairs.length > 0) return diagnosesOf(fullPairs, differing.length);
  const bits = bitsOf(given.actual);
  const partial = [...tried, ...pairs].filter(
    ({ explained, wrong }) =>
      wrong === 0 &&
      explained > 1 &&
      2 * explained >= differing.length &&
      explained * bits >= LEAST_PARTIAL_BITS,
  );
  const all = [...diagnosesOf(partial, differing.length), ...sets];
  return all.sort((a, b) => b.cells.explained - a.cells.explained);
}

/** All variants of a hypothesis that fit the call. */
function attempts(given: Case, hypothesis: Hypothesis, rule: Rule): Tried[] {
  return hypothesis.variants(rule, given.facts).flatMap((variant, nth) => {
    const score = scoreOf(given, variant.rule);
    return score === null ? [] : [{ id: hypothesis.id, hypothesis, nth, variant, ...score }];
  });
}

/** Null where a rule does not fit the call. */
function scoreOf(
  { found, differing }: Case,
  rule: Rule,
): Pick<Tried, "explained" | "wrong"> | null {
  const predicted = predict(rule);
  if (predicted === null) return null;
  const cells = cellsOf(predicted);
  let explained = 0;
  for (const cell of differing) if (cells.isSame(found, cell)) explained++;
  if (explained === 0) return { explained, wrong: 0 };
  let misses = 0;
  for (let cell = 0; cell < cells.count; cell++) if (!cells.isSame(found, cell)) misses++;
  return { explained, wrong: misses - (differing.length - explained) };
}

/** One diagnosis for each id, that of the best variant. */
function diagnosesOf(tried: readonly Tried[], differing: number): Found[] {
  const best = new Map<string, Tried>();
  for (const one of tried) {
    const other = best.get(one.id);
    if (other === undefined || one.explained > other.explained) best.set(one.id, one);
  }
  return [...best.values()].map(({ id, variant, explained }) => ({
    id,
    sentence: variant.sentence,
    cells: { explained, differing },
  }));
}

/** Which change comes first where two are made: the other one sees what it left. */
const ASPECTS: readonly Aspect[] = [
  "input",
  "operator",
  "places",
  "reduction",
  "order",
  "arithmetic",
];

/** The cells that a change explains alone, where it was tried alone. */
const gained = (part: object): number => ("explained" in part ? Number(part.explained) : 0);

/** Two changes of different parts of the rule. */
function pairsOf(given: Case, tried: readonly Tried[]): Tried[] {
  const { rule, facts } = given;
  const ranked = tried.toSorted((a, b) => b.explained - a.explained);
  const isSmall = given.found.count <= FEW_CELLS;
  const promising = isSmall ? ranked : ranked.filter((one) => one.explained > 0).slice(0, 10);
  // In a call that is an error only readings of indices were tried alone, because all others need one.
  const partners = facts.isError
    ? HYPOTHESES.filter(({ aspect }) => aspect !== "places").flatMap((hypothesis) =>
        hypothesis.variants(rule, facts).map((variant, nth) => ({ hypothesis, variant, nth })),
      )
    : promising;
  const rankOf = (part: Pick<Tried, "hypothesis">): number =>
    ASPECTS.indexOf(part.hypothesis.aspect);
  const chosen = promising.flatMap((one) =>
    partners
      .filter((other) =>
        facts.isError ? rankOf(other) !== rankOf(one) : rankOf(other) > rankOf(one),
      )
      .map((other) =>
        rankOf(one) < rankOf(other) ? ([one, other] as const) : ([other, one] as const),
      ),
  );
  return chosen.slice(0, isSmall ? Infinity : MOST_PAIRS).flatMap(([first, second]) => {
    const { hypothesis, nth } = second;
    const variant = hypothesis.variants(first.variant.rule, facts).at(nth);
    const score = variant && scoreOf(given, variant.rule);
    // A second fault that explains no further cell is none.
    if (!variant || !score || score.explained <= Math.max(gained(first), gained(second))) return [];
    const id = `${first.hypothesis.id}+${hypothesis.id}` as const;
    const sentence = `${first.variant.sentence}; and ${variant.sentence}`;
    return [{ id, hypothesis, nth, variant: { ...variant, sentence }, ...score }];
  });
}

/** The hypotheses that allow several values in a cell, as far as the cells are no chance. */
function cellSets({ rule, facts, actual, differing }: Case): Found[] {
  if (facts.isError) return [];
  return CELL_SETS.flatMap(({ id, sentence, evidence }) => {
    const fit = evidence(rule, actual);
    if (fit === null) return [];
    let [explained, bits, misses] = [0, 0, 0];
    for (const cell of differing) {
      const found = fit(cell);
      if (found === null) {
        misses++;
        // Fewer than half can no longer be made up for.
        if (2 * misses > differing.length) return [];
        continue;
      }
      explained++;
      bits += found;
    }
    const least = misses === 0 ? LEAST_BITS : LEAST_PARTIAL_BITS;
    return bits < least
      ? []
      : [{ id, sentence, cells: { explained, differing: differing.length } }];
  });
}
