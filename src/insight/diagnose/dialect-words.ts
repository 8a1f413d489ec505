/**
 * Words in the table of dialects, which describe a dialect's behavior in each aspect. Each aspect has its own words, so
 * that a misspelled word, or a word of another aspect, does not compile. `docs/other-systems.md` explains each word.
 */

import type { IndexForm } from "../../core/operators/operator.ts";
import type { DType } from "../../core/tensor/dtype.ts";

/** Words for how a dialect handles a negative index. */
export type NegativeWord = "wraps" | "error" | "negative-dropped" | "flat-offset";

/** Words for how a dialect handles an update whose index is out of range. */
export type ScattersWord =
  | "error"
  | "undefined"
  | "out-of-range-dropped"
  | "out-of-range-clipped"
  | "flat-offset";

/** The element that a gather reads for an index out of range. */
export type GathersWord =
  | "error"
  | "undefined"
  | "out-of-range-filled"
  | "out-of-range-clipped"
  | "flat-offset";

/** The update that wins if a target has several updates and no reduction. */
export type RepeatsWord = "last" | "any-order";

/** The order in which a reduction combines a target's updates. */
export type SumsWord = "in-order" | "updates-first" | "rounding" | "lost-updates";

/** Words for how max and min handle NaN, and 0 with -0. */
export type ComparesWord = "exact" | ComparesOperand;

/** A comparison that returns one operand unchanged, either only for 0 and -0, or also for NaN and a number. */
export interface ComparesOperand {
  readonly word: "signed-zero" | "nan-one-operand";
  /** The operand that is kept. */
  readonly stays: "data" | "update";
}

/** Words for how float16 and bfloat16 sums are rounded. `none`: the dialect has no such sums. */
export type HalvesWord = "each-step" | "wide-accumulation" | "wrong-rounding" | "none";

/** Words for the data type in which elements are computed. */
export type TypesWord = "own" | "other-type";

/** The rounding of integer means. */
export type MeansWord = "floor" | "mean-truncated";

/** Words for the effect of a scatter with empty index tuples, each of which addresses all of data. */
export type WholesWord = "applied" | "one-applied" | "whole-ignored" | "error";

/** Words for the elements that a gather of strings copies. */
export type StringsWord = "all" | "first-of-slice";

/** The behavior of a dialect in one aspect, and the evidence. */
export interface Fact<W> {
  readonly does: W;
  /** The behavior of operators whose indices select single elements, if different. */
  readonly elements?: W;
  readonly slices?: W;
  readonly sequences?: W;
  /** The behavior for some data types, if different. */
  readonly dtypes?: Readonly<Partial<Record<DType, W>>>;
  /** The kind of evidence. `run`: observed by this project, in the dialect's listed version. */
  readonly how: "run" | "source" | "document";
}

/** The fact for an unknown behavior. */
export const UNKNOWN = { does: "unknown", how: "not verified" } as const;

type Known<W> = Fact<W> | typeof UNKNOWN;

/** A fact for each aspect, except for aspects of missing features, such as a reduction. */
export interface AspectFacts {
  readonly negative?: Known<NegativeWord>;
  readonly scatters?: Known<ScattersWord>;
  readonly gathers?: Known<GathersWord>;
  readonly repeats?: Known<RepeatsWord>;
  readonly sums?: Known<SumsWord>;
  readonly compares?: Known<ComparesWord>;
  readonly halves?: Known<HalvesWord>;
  readonly types?: Known<TypesWord>;
  readonly means?: Known<MeansWord>;
  readonly wholes?: Known<WholesWord>;
  readonly strings?: Known<StringsWord>;
}

type Said<W> = W | "unknown" | null;

/** A dialect's words for operators of one form; null for features that the dialect does not have. */
export interface Words {
  readonly negative: Said<NegativeWord>;
  readonly scatters: Said<ScattersWord>;
  readonly gathers: Said<GathersWord>;
  readonly repeats: Said<RepeatsWord>;
  readonly sums: Said<SumsWord>;
  readonly compares: Said<ComparesWord>;
  readonly halves: Said<HalvesWord>;
  readonly types: Said<TypesWord>;
  readonly means: Said<MeansWord>;
  readonly wholes: Said<WholesWord>;
  readonly strings: Said<StringsWord>;
}

export type Word = NonNullable<Words[keyof Words]>;

/** Returns the words for operators of a form, on elements of a data type. */
export const wordsOf = (facts: AspectFacts, form: IndexForm, dtype?: DType): Words => ({
  negative: wordOf(facts.negative, form, dtype),
  scatters: wordOf(facts.scatters, form, dtype),
  gathers: wordOf(facts.gathers, form, dtype),
  repeats: wordOf(facts.repeats, form, dtype),
  sums: wordOf(facts.sums, form, dtype),
  compares: wordOf(facts.compares, form, dtype),
  halves: wordOf(facts.halves, form, dtype),
  types: wordOf(facts.types, form, dtype),
  means: wordOf(facts.means, form, dtype),
  wholes: wordOf(facts.wholes, form, dtype),
  strings: wordOf(facts.strings, form, dtype),
});

function wordOf<W>(fact: Known<W> | undefined, form: IndexForm, dtype: DType | undefined): Said<W> {
  if (fact === undefined) return null;
  if (fact.how === "not verified") return fact.does;
  const own = dtype === undefined ? undefined : fact.dtypes?.[dtype];
  return own ?? (form === "tuples" ? undefined : fact[form]) ?? fact.does;
}

/** Prints a word in the form that `dialects()` and the documents use. */
export function printWord(word: Word): string {
  if (typeof word === "string") return word;
  const zeros = `signed-zero:${word.stays}`;
  return word.word === "signed-zero" ? zeros : `${word.word}+${zeros}`;
}
