/**
 * The words of the table of dialects: the behaviour of a dialect in each aspect. Each aspect has its own words, so that
 * a misspelt word, or a word of another aspect, does not compile. `docs/dialects.md` explains each word.
 */

import type { IndexForm } from "../../core/operators/operator.ts";

/** Treatment of a negative index. */
export type NegativeWord = "wraps" | "error" | "negative-dropped" | "flat-offset";

/** Treatment of an update whose index is out of range. */
export type ScattersWord =
  | "error"
  | "undefined"
  | "out-of-range-dropped"
  | "out-of-range-clipped"
  | "flat-offset";

/** The element that a gather reads at an index out of range. */
export type GathersWord =
  | "error"
  | "undefined"
  | "out-of-range-filled"
  | "out-of-range-clipped"
  | "flat-offset";

/** The update of a target that stays if several do not combine. */
export type RepeatsWord = "last" | "any-order";

/** The order in which a reduction combines the updates of a target. */
export type SumsWord = "in-order" | "updates-first" | "rounding" | "lost-updates";

/** Treatment of NaN, and of 0 with -0, in max and min. */
export type ComparesWord = "exact" | ComparesOperand;

/** A comparison that returns one operand unchanged: for 0 and -0 alone, or for NaN and a number as well. */
export interface ComparesOperand {
  readonly word: "signed-zero" | "nan-one-operand";
  /** The operand that stays. */
  readonly stays: "data" | "update";
}

/** The rounding of float16 and bfloat16 sums. `none`: the dialect has no such sums. */
export type HalvesWord = "each-step" | "wide-accumulation" | "none";

/** The behaviour of a dialect in one aspect, and the evidence. */
export interface Fact<W> {
  readonly does: W;
  /** The behaviour of operators of another form, if different. */
  readonly elements?: W;
  readonly slices?: W;
  /** `run`: seen here, in the version that the dialect names. */
  readonly how: "run" | "source" | "document";
}

/** The fact for an unknown behaviour. */
export const UNKNOWN = { does: "unknown", how: "not verified" } as const;

type Known<W> = Fact<W> | typeof UNKNOWN;

/** A fact for each aspect; none for aspects of missing features, such as a reduction. */
export interface AspectFacts {
  readonly negative?: Known<NegativeWord>;
  readonly scatters?: Known<ScattersWord>;
  readonly gathers?: Known<GathersWord>;
  readonly repeats?: Known<RepeatsWord>;
  readonly sums?: Known<SumsWord>;
  readonly compares?: Known<ComparesWord>;
  readonly halves?: Known<HalvesWord>;
}

type Said<W> = W | "unknown" | null;

/** The words of a dialect for operators of one form; null for features that the dialect lacks. */
export interface Words {
  readonly negative: Said<NegativeWord>;
  readonly scatters: Said<ScattersWord>;
  readonly gathers: Said<GathersWord>;
  readonly repeats: Said<RepeatsWord>;
  readonly sums: Said<SumsWord>;
  readonly compares: Said<ComparesWord>;
  readonly halves: Said<HalvesWord>;
}

export type Word = NonNullable<Words[keyof Words]>;

export const wordsOf = (facts: AspectFacts, form: IndexForm): Words => ({
  negative: wordOf(facts.negative, form),
  scatters: wordOf(facts.scatters, form),
  gathers: wordOf(facts.gathers, form),
  repeats: wordOf(facts.repeats, form),
  sums: wordOf(facts.sums, form),
  compares: wordOf(facts.compares, form),
  halves: wordOf(facts.halves, form),
});

function wordOf<W>(fact: Known<W> | undefined, form: IndexForm): Said<W> {
  if (fact === undefined) return null;
  if (fact.how === "not verified") return fact.does;
  if (form === "elements") return fact.elements ?? fact.does;
  if (form === "slices") return fact.slices ?? fact.does;
  return fact.does;
}

/** A word as `dialects()` and the documents spell it. */
export function printWord(word: Word): string {
  if (typeof word === "string") return word;
  const zeros = `signed-zero:${word.stays}`;
  return word.word === "signed-zero" ? zeros : `${word.word}+${zeros}`;
}
