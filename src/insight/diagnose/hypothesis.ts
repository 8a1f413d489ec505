/** What a hypothesis is: a change to a rule, under an id. One row each, in the files beside this one. */

import type { DiagnosisId } from "./diagnosis.ts";
import { indexAt, indexWordsOf } from "../../core/plan/index-job.ts";
import { placingOf, type PlaceOf, type Rule } from "./rule.ts";

/** What is known of a call before any hypothesis is tried. */
export interface Facts {
  /** Whether the call is an error by its version: an index lies outside its axis. */
  readonly isError: boolean;
  readonly hasNegative: boolean;
  readonly hasOutside: boolean;
}

/** What tells a variant from others of its id, where a dialect is known by that variant alone. */
export type VariantName =
  | "nearest-place"
  | "zero"
  | "outside"
  | "data-stays"
  | "update-stays"
  | "whole-output";

/** One way in which a hypothesis may be true. */
export interface Variant {
  readonly rule: Rule;
  readonly sentence: string;
  /** Absent where nothing refers to the variant, or its hypothesis has no other. */
  readonly name?: VariantName | undefined;
}

/** Which part of a rule a hypothesis changes. Two hypotheses are tried together only where the parts differ. */
export type Aspect = "input" | "operator" | "places" | "order" | "reduction" | "arithmetic";

export interface Hypothesis {
  readonly id: DiagnosisId;
  readonly aspect: Aspect;
  /** None where the hypothesis changes nothing in the call. */
  variants(rule: Rule, facts: Facts): readonly Variant[];
}

/** A sentence, what it says that another value has in a rule, and the name of the variant if it has one. */
export type Change = readonly [sentence: string, parts: Partial<Rule>, name?: VariantName];

/** @param changesOf says how the hypothesis may be true */
export function hypothesis(
  id: DiagnosisId,
  aspect: Aspect,
  changesOf: (rule: Rule, facts: Facts) => readonly Change[],
): Hypothesis {
  const isPlanSame = ["order", "reduction", "arithmetic"].includes(aspect);
  return {
    id,
    aspect,
    variants: (rule, facts) =>
      changesOf(rule, facts).map(([sentence, parts, name]) => ({
        sentence,
        name,
        // Made when it is tried: parts may be as large as an input.
        get rule() {
          return { ...rule, ...(isPlanSame ? {} : { kept: {} }), ...parts };
        },
      })),
  };
}

/** Counts a negative index from the back, as most versions do. */
const wrapped = (index: number, dim: number): number => (index < 0 ? index + dim : index);

/** The reading of indices that leaves out what is outside. */
export function droppingOutside(rule: Rule): PlaceOf {
  const own = ownPlace(rule);
  return (index, dim) => within(own(index, dim), dim);
}

export const within = (place: number, dim: number): number =>
  place >= 0 && place < dim ? place : NaN;

/** Negative indices as the version counts them. */
export const ownPlace = (rule: Rule): typeof wrapped =>
  takesNegative(rule) ? wrapped : (index) => index;

/** Whether an index may count from the end; a position of a sequence may not. */
export const takesNegative = ({ call: { version } }: Rule): boolean =>
  version.negativeIndices && version.indexForm !== "sequences";

export function factsOf(rule: Rule, isError: boolean): Facts {
  const { axes, tupleAt, length, base } = placingOf(rule);
  const { words, step } = indexWordsOf(rule.indices);
  const negative = takesNegative(rule);
  let hasNegative = false;
  let hasOutside = false;
  for (let p = 0; p < base.length; p++) {
    for (let j = 0; j < axes.length; j++) {
      const index = indexAt(words, (tupleAt(p) * axes.length + j) * step, step) + (p % length);
      if (index < 0) hasNegative = true;
      const place = negative ? wrapped(index, axes[j].dim) : index;
      if (!(place >= 0 && place < axes[j].dim)) hasOutside = true;
    }
  }
  return { isError, hasNegative, hasOutside };
}
