/**
 * Defines the words that describe each aspect of a dialect's behavior. Each aspect has its own words, so that the
 * compiler rejects misspelled words and words from other aspects. The file `docs/other-systems.md` explains each word.
 */

import type { IndexForm } from "../../core/operators/operator.ts";
import type { DType } from "../../core/tensor/dtype.ts";

/** Words for the handling of negative indices. */
export type NegativeWord = "wraps" | "error" | "negative-dropped" | "flat-offset";

/** Words for the handling of updates with out-of-range indices. */
export type ScattersWord =
  | "error"
  | "undefined"
  | "out-of-range-dropped"
  | "out-of-range-clipped"
  | "flat-offset";

/** Words for the value that a gather returns for an out-of-range index. */
export type GathersWord =
  | "error"
  | "undefined"
  | "out-of-range-filled"
  | "out-of-range-clipped"
  | "flat-offset";

/** Words for the update that wins if several updates have the same target and no reduction combines them. */
export type RepeatsWord = "last" | "any-order";

/** Words for the order in which a reduction combines updates. */
export type SumsWord = "in-order" | "updates-first" | "rounding" | "lost-updates";

/** Words for the handling of NaN, and of 0 and -0, in max and min. */
export type ComparesWord = "exact" | ComparesOperand;

/** A comparison that returns one operand unchanged, either only for 0 and -0, or also if one operand is NaN. */
export interface ComparesOperand {
  readonly word: "signed-zero" | "nan-one-operand";
  /** The operand that the comparison returns. */
  readonly stays: "data" | "update";
}

/** Words for the rounding of float16 and bfloat16 sums. The word `none` means that the dialect has no such sums. */
export type HalvesWord = "each-step" | "wide-accumulation" | "wrong-rounding" | "none";

/** Words for the data type used in computations. */
export type TypesWord = "own" | "other-type";

/** Words for the rounding of integer means. */
export type MeansWord = "floor" | "mean-truncated";

/** Words for a scatter with empty index tuples, each of which addresses the whole data tensor. */
export type WholesWord = "applied" | "one-applied" | "whole-ignored" | "error";

/** Words for the elements that a string gather copies. */
export type StringsWord = "all" | "first-of-slice";

/** A dialect's behavior in one aspect, with the evidence. */
export interface Fact<W> {
  readonly does: W;
  /** Behavior of operators whose indices select single elements, if different. */
  readonly elements?: W;
  readonly slices?: W;
  readonly sequences?: W;
  /** Behavior for specific data types, if different. */
  readonly dtypes?: Readonly<Partial<Record<DType, W>>>;
  /** The kind of evidence. With `run`, this project observed the behavior in the listed dialect version. */
  readonly how: "run" | "source" | "document";
}

/** The entry for unknown behavior. */
export const UNKNOWN = { does: "unknown", how: "not verified" } as const;

type Known<W> = Fact<W> | typeof UNKNOWN;

/** One fact per aspect. Aspects of unsupported features, such as a reduction, are omitted. */
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

/** A dialect's words for operators with one index form; null for unsupported features. */
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

/** Returns the words for an index form and a data type. */
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

/** Formats a word as in `dialects()` and in the documentation. */
export function printWord(word: Word): string {
  if (typeof word === "string") return word;
  const zeros = `signed-zero:${word.stays}`;
  return word.word === "signed-zero" ? zeros : `${word.word}+${zeros}`;
}
