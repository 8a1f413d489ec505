/**
 * Defines hypotheses: changes to a rule, each with an id. Other files in this folder have a row for each hypothesis.
 */

import type { DiagnosisId } from "./diagnosis.ts";
import { indexAt, indexWordsOf } from "../../core/plan/index-job.ts";
import { placingOf, type PlaceOf, type Rule } from "./rule.ts";

/** The facts about a call that are known before any hypothesis is tried. */
export interface Facts {
  /** True if the call is an error in its version, because an index lies outside its axis. */
  readonly isError: boolean;
  readonly hasNegative: boolean;
  readonly hasOutside: boolean;
}

/** The name of a hypothesis variant, for dialects that show only this variant. */
export type VariantName =
  | "nearest-place"
  | "zero"
  | "outside"
  | "data-stays"
  | "update-stays"
  | "ieee"
  | "whole-output";

/** A way in which a hypothesis may be true. */
export interface Variant {
  readonly rule: Rule;
  readonly sentence: string;
  /** The variant's name; absent if nothing refers to the variant, or if its hypothesis has no other variant. */
  readonly name?: VariantName | undefined;
}

/**
 * The part of a rule that a hypothesis changes. Two hypotheses are tried together only if they change different parts.
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
  /** Returns the variants for a call; empty if the hypothesis changes nothing. */
  variants(rule: Rule, facts: Facts): readonly Variant[];
}

/** A change: a sentence, the changed parts of the rule, and the variant's name, if any. */
export type Change = readonly [sentence: string, parts: Partial<Rule>, name?: VariantName];

/** @param changesOf returns the changes for each way in which the hypothesis may be true */
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
        // The rule is created when the variant is tried, because its parts may be as large as an input.
        get rule() {
          return { ...rule, ...(isPlanSame ? {} : { kept: {} }), ...parts };
        },
      })),
  };
}

/** Counts a negative index from the end, like most versions. */
const wrapped = (index: number, dim: number): number => (index < 0 ? index + dim : index);

/** Returns an interpretation of indices that skips indices outside their axis. */
export function droppingOutside(rule: Rule): PlaceOf {
  const own = ownPlace(rule);
  return (index, dim) => within(own(index, dim), dim);
}

export const within = (place: number, dim: number): number =>
  place >= 0 && place < dim ? place : NaN;

/** Returns the version's way of counting negative indices. */
export const ownPlace = (rule: Rule): typeof wrapped =>
  takesNegative(rule) ? wrapped : (index) => index;

/** Returns true if an index may count from the end, which positions of sequences may not. */
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
