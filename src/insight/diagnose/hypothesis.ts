/**
 * Defines hypotheses, which are changes to a rule with an id, and the conditions under which they apply. The files
 * `call-hypotheses.ts`, `index-hypotheses.ts` and `float-hypotheses.ts` contain one row per hypothesis.
 */

import type { DiagnosisId } from "./diagnosis.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import type { Facts, Rule } from "./rule.ts";

/** Name of a hypothesis variant, for dialects that match only this variant, and not the first variant. */
export type VariantName = "data-stays" | "update-stays" | "ieee" | "whole-output";

/**
 * The parts of the rule that hypotheses change, in the order in which two changes are applied. The second change
 * applies to the rule that the first change produces.
 */
const ASPECTS = [
  "type",
  "input",
  "operator",
  "places",
  "reduction",
  "order",
  "arithmetic",
] as const;

/**
 * The part of the rule that the hypothesis changes. Two hypotheses are combined only if they change different parts.
 */
export type Aspect = (typeof ASPECTS)[number];

export const rankOf = ({ aspect }: { readonly aspect: Aspect }): number => ASPECTS.indexOf(aspect);

/** One variant of a hypothesis. */
export interface Variant {
  readonly id: DiagnosisId;
  readonly aspect: Aspect;
  readonly rule: Rule;
  readonly sentence: string;
  /** Name of the variant; absent if no dialect refers to it by name. */
  readonly name?: VariantName | undefined;
  /** Returns the same variant for another rule, or undefined if the hypothesis has fewer variants for this rule. */
  on(other: Rule): Variant | undefined;
}

interface Described<Id extends string> {
  readonly id: Id;
  readonly sentence: string;
}

/** Describes two changes, or only the second change if there is no first change. */
export const pairOf = <Id extends string>(
  first: Described<Id> | undefined,
  { id, sentence }: Described<Id>,
): Described<Id | `${Id}+${Id}`> =>
  first === undefined
    ? { id, sentence }
    : { id: `${first.id}+${id}`, sentence: `${first.sentence}; and ${sentence}` };

export interface Hypothesis {
  readonly id: DiagnosisId;
  readonly aspect: Aspect;
  /** Returns the variants for a call, or an empty list if the hypothesis changes nothing. */
  variants(rule: Rule, facts: Facts): readonly Variant[];
}

/** A change, which consists of a sentence, the changed parts of the rule, and an optional variant name. */
export type Change = readonly [
  sentence: string,
  parts: Partial<Rule>,
  name?: VariantName | undefined,
];

export type Changes = readonly Change[] | ((rule: Rule, facts: Facts) => readonly Change[]);

/** Creates a hypothesis about calls for which `applies` returns true, with one change per variant. */
export function hypothesis(
  id: DiagnosisId,
  aspect: Aspect,
  applies: (rule: Rule, facts: Facts) => boolean,
  changes: Changes,
): Hypothesis {
  const isPlanSame = ["order", "reduction", "arithmetic", "type"].includes(aspect);
  const variants = (rule: Rule, facts: Facts): readonly Variant[] => {
    if (!applies(rule, facts)) return [];
    const own = typeof changes === "function" ? changes(rule, facts) : changes;
    return own.map(([sentence, parts, name], nth) => ({
      ...{ id, aspect, sentence, name },
      // The rule is created only when the variant is tested, because its parts may be as large as an input.
      get rule() {
        return { ...rule, ...(isPlanSame ? {} : { kept: {} }), ...parts };
      },
      on: (other) => variants(other, facts).at(nth),
    }));
  };
  return { id, aspect, variants };
}

/** Returns a changed input, which is created only when it is read. */
export const changedInput = (
  role: "data" | "indices" | "updates",
  make: () => Tensor,
): Partial<Rule> => ({
  get [role]() {
    return make();
  },
});

export const always = (): boolean => true;

export const isScatter = ({ updates }: Rule): boolean => updates !== undefined;

/** Returns true for a scatter in which updates replace values. */
export const isReplacing = (rule: Rule): boolean =>
  isScatter(rule) && rule.call.settings.reduction === "none";

export const isReduced = (rule: Rule): boolean =>
  isScatter(rule) && rule.call.settings.reduction !== "none";

/** Returns true for a max or min. */
export const isComparison = ({ call: { settings } }: Rule): boolean =>
  settings.reduction === "max" || settings.reduction === "min";

/** Returns true for a scatter with empty index tuples, each of which addresses the whole data tensor. */
export const isWhole = (rule: Rule): boolean =>
  isScatter(rule) &&
  rule.call.version.indexForm === "tuples" &&
  rule.indices.shape[rule.indices.shape.length - 1] === 0;
