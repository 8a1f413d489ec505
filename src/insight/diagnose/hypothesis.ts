/**
 * Defines hypotheses, which are changes to a rule with an id. Other files in this folder define the individual
 * hypotheses.
 */

import type { DiagnosisId } from "./diagnosis.ts";
import { indexAt, indexWordsOf } from "../../core/plan/indices.ts";
import { placingOf, type PlaceOf, type Rule } from "./rule.ts";

/** Facts about a call that are known before any hypothesis is tested. */
export interface Facts {
  /** True if the call is an error in its operator version because an index is out of range. */
  readonly isError: boolean;
  readonly hasNegative: boolean;
  readonly hasOutside: boolean;
}

/** Name of a hypothesis variant, for dialects that match only this variant. */
export type VariantName =
  | "nearest-place"
  | "zero"
  | "outside"
  | "data-stays"
  | "update-stays"
  | "ieee"
  | "whole-output";

/** One variant of a hypothesis. */
export interface Variant {
  readonly rule: Rule;
  readonly sentence: string;
  /** Name of the variant; absent if no dialect refers to it, or if the hypothesis has only one variant. */
  readonly name?: VariantName | undefined;
}

/**
 * The part of the rule that the hypothesis changes. Two hypotheses are combined only if they change different parts.
 */
export type Aspect =
  | "input"
  | "operator"
  | "places"
  | "order"
  | "reduction"
  | "arithmetic"
  | "type";

export interface Hypothesis {
  readonly id: DiagnosisId;
  readonly aspect: Aspect;
  /** Returns the variants for a call, or an empty list if the hypothesis changes nothing. */
  variants(rule: Rule, facts: Facts): readonly Variant[];
}

/** A change, which consists of a sentence, the changed parts of the rule, and an optional variant name. */
export type Change = readonly [sentence: string, parts: Partial<Rule>, name?: VariantName];

/** Creates a hypothesis. `changesOf` returns one change per variant. */
export function hypothesis(
  id: DiagnosisId,
  aspect: Aspect,
  changesOf: (rule: Rule, facts: Facts) => readonly Change[],
): Hypothesis {
  const isPlanSame = ["order", "reduction", "arithmetic", "type"].includes(aspect);
  return {
    id,
    aspect,
    variants: (rule, facts) =>
      changesOf(rule, facts).map(([sentence, parts, name]) => ({
        sentence,
        name,
        // The rule is created only when the variant is tested, because its parts may be as large as an input.
        get rule() {
          return { ...rule, ...(isPlanSame ? {} : { kept: {} }), ...parts };
        },
      })),
  };
}

/** Counts negative indices from the end, like most operator versions. */
const wrapped = (index: number, dim: number): number => (index < 0 ? index + dim : index);

/** Returns an index interpretation that skips out-of-range indices. */
export function droppingOutside(rule: Rule): PlaceOf {
  const own = ownPlace(rule);
  return (index, dim) => within(own(index, dim), dim);
}

export const within = (place: number, dim: number): number =>
  place >= 0 && place < dim ? place : NaN;

/** Returns the operator version's interpretation of negative indices. */
export const ownPlace = (rule: Rule): typeof wrapped =>
  takesNegative(rule) ? wrapped : (index) => index;

/** Returns true if negative indices count from the end, which sequence positions do not allow. */
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
