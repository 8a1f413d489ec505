/**
 * The type of a hypothesis: a change to a rule, with an id. The files beside this one have a row for each hypothesis.
 */

import type { DiagnosisId } from "./diagnosis.ts";
import { indexAt, indexWordsOf } from "../../core/plan/index-job.ts";
import { placingOf, type PlaceOf, type Rule } from "./rule.ts";

/** The facts about a call, known before any hypothesis is tried. */
export interface Facts {
  /** True if the call is an error by its version: an index lies outside its axis. */
  readonly isError: boolean;
  readonly hasNegative: boolean;
  readonly hasOutside: boolean;
}

/** The name of a variant among others of its id, if a dialect shows only that variant. */
export type VariantName =
  | "nearest-place"
  | "zero"
  | "outside"
  | "data-stays"
  | "update-stays"
  | "whole-output";

/** A way in which a hypothesis may be true. */
export interface Variant {
  readonly rule: Rule;
  readonly sentence: string;
  /** Absent if nothing refers to the variant, or if it is the only one of its hypothesis. */
  readonly name?: VariantName | undefined;
}

/** The part of a rule that a hypothesis changes. Two hypotheses are tried together only if their parts differ. */
export type Aspect = "input" | "operator" | "places" | "order" | "reduction" | "arithmetic";

export interface Hypothesis {
  readonly id: DiagnosisId;
  readonly aspect: Aspect;
  /** Empty if the hypothesis changes nothing in the call. */
  variants(rule: Rule, facts: Facts): readonly Variant[];
}

/** A sentence, the changed parts of the rule, and the name of the variant if it has one. */
export type Change = readonly [sentence: string, parts: Partial<Rule>, name?: VariantName];

/** @param changesOf returns the ways in which the hypothesis may be true */
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

/** The reading of indices that leaves out indices outside their axis. */
export function droppingOutside(rule: Rule): PlaceOf {
  const own = ownPlace(rule);
  return (index, dim) => within(own(index, dim), dim);
}

export const within = (place: number, dim: number): number =>
  place >= 0 && place < dim ? place : NaN;

/** Negative indices as the version counts them. */
export const ownPlace = (rule: Rule): typeof wrapped =>
  takesNegative(rule) ? wrapped : (index) => index;

/** True if an index may count from the end; a position of a sequence may not. */
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
