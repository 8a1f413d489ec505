/**
 * The words of the table of dialects: what a dialect does in each aspect. Each aspect has words of its own, so that a
 * misspelt word, or a word of another aspect, does not compile. `docs/dialects.md` says what each word means.
 */

import type { IndexForm } from "../../core/operators/operator.ts";

/** What becomes of a negative index. */
export type NegativeWord = "wraps" | "error" | "negative-dropped" | "flat-offset";

/** What becomes of an update whose index is out of range. */
export type ScattersWord =
  | "error"
  | "undefined"
  | "out-of-range-dropped"
  | "out-of-range-clipped"
  | "flat-offset";

/** What a gather reads at an index out of range. */
export type GathersWord =
  | "error"
  | "undefined"
  | "out-of-range-filled"
  | "out-of-range-clipped"
  | "flat-offset";

/** Which of several updates of a target stays. */
export type RepeatsWord = "last" | "any-order";

/** In which order a reduction combines the updates of a target. */
export type SumsWord = "in-order" | "updates-first" | "rounding" | "lost-updates";

/** How max and min treat NaN, and 0 beside -0. */
export type ComparesWord = "exact" | ComparesOperand;

/** A comparison that takes one operand as it is: of 0 and -0 alone, or of NaN and a number as well. */
export interface ComparesOperand {
  readonly word: "signed-zero" | "nan-one-operand";
  /** The operand that stays. */
  readonly stays: "data" | "update";
}

/** When sums of float16 and bfloat16 are rounded. `none`: the dialect has no such sums. */
export type HalvesWord = "each-step" | "wide-accumulation" | "none";

/** What a dialect does in one aspect, and how that is known. */
export interface Fact<W> {
  readonly does: W;
  /** What operators of another form do, where that differs. */
  readonly elements?: W;
  readonly slices?: W;
  /** `run`: seen here, in the version that the dialect names. */
  readonly how: "run" | "source" | "document";
}

/** What is not known of a dialect. */
export const UNKNOWN = { does: "unknown", how: "not verified" } as const;

type Known<W> = Fact<W> | typeof UNKNOWN;

/** A fact for each aspect; none for an aspect of what the dialect does not have, such as a reduction. */
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

/** The words of a dialect for operators of one form; null for what the dialect does not have. */
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
