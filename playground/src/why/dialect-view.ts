/**
 * Lists the results of other systems: one choice for each distinct result, with the systems that return it. The results
 * are derived from the library's dialect table; the page runs no other system.
 */

import {
  compareDialects,
  type DiagnosisId,
  type DialectComparison,
  type DialectId,
  type NodeSpec,
  type Tensor,
} from "ndscatter";
import type { OutputRule } from "../document/state.ts";
import { attempt } from "../values/attempt.ts";
import { printNames } from "../values/names.ts";
import { valueTexts } from "../values/tensor-text.ts";
import { counted, DIALECT_NAMES } from "./dialect-names.ts";

/** One system's result for the call. */
export interface DialectRow {
  readonly id: DialectId;
  readonly name: string;
  readonly agrees: boolean;
  /** The system's result; null if the system returns none. */
  readonly output: Tensor | null;
  readonly why: DialectComparison["why"];
  /** A sentence about the system's behaviour. */
  readonly sentence: string;
  /** The output elements that differ from the exact result. */
  readonly differing: ReadonlySet<number>;
  /** The elements whose value the system does not define. */
  readonly undecided: ReadonlySet<number>;
}

/** Systems with the same result. */
export interface RuleChoice {
  /** A key that stays the same after an edit if the result and its systems stay the same. */
  readonly key: string;
  readonly rows: readonly DialectRow[];
  readonly agrees: boolean;
  readonly why: DialectComparison["why"];
  readonly name: string;
  readonly sentence: string;
  /** The rule whose result the stage can show, or null. */
  readonly rule: Rule | null;
}

/** A result that the stage can show instead of the exact result. */
export interface Rule extends OutputRule {
  /** Elements without a defined value; `output` contains one possible value of each. */
  readonly undecided: ReadonlySet<number>;
}

export type Rules = { readonly choices: readonly RuleChoice[] } | { readonly error: string };

type Inputs = readonly (Tensor | undefined)[];

/**
 * Returns the choices: first systems that agree, followed by different results, refusals, and systems without the
 * operator. The function never throws. `inputs` have the form that `compareDialects` expects.
 */
export function rulesOf(node: NodeSpec, inputs: Inputs): Rules {
  const found = compare(node, inputs);
  if ("error" in found) return found;
  const groups = new Map<string, DialectComparison[]>();
  for (const one of found) {
    const key = resultKey(one);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  const choices = [...groups.values()].map(choiceOf);
  return { choices: choices.toSorted((a, b) => rankOf(a) - rankOf(b)) };
}

/** Returns one system's rule; null if the system has no result for the call. */
export function ruleFor(node: NodeSpec, inputs: Inputs, dialect: DialectId): Rule | null {
  const found = compare(node, inputs);
  const own = "error" in found ? undefined : found.find((one) => one.dialect === dialect);
  return own === undefined ? null : choiceOf([own]).rule;
}

function compare(
  node: NodeSpec,
  inputs: Inputs,
): readonly DialectComparison[] | { readonly error: string } {
  // Callers recognize an error by its field `error`, which a list does not have.
  return attempt(() => compareDialects(node, inputs));
}

/** Comparisons with equal keys have the same reasons and bit-identical results. */
function resultKey({ why, agrees, ids, undecided, output }: DialectComparison): string {
  const values = output === null || agrees ? [] : valueTexts(output);
  return JSON.stringify([why, agrees, ids, undecided, values]);
}

function choiceOf(group: readonly DialectComparison[]): RuleChoice {
  const rows = group.map(rowOf);
  const [{ agrees, output, why, differing, undecided }] = rows;
  const name = printNames(rows.map((row) => row.name));
  const marked = new Set([...differing, ...undecided]);
  return {
    key: rows.map(({ id }) => id).join(" "),
    rows,
    agrees,
    why,
    name,
    sentence: sentenceOf(
      rows.map((row) => row.name),
      group[0],
    ),
    rule: output === null ? null : { name, output, differing: marked, undecided },
  };
}

const rowOf = (found: DialectComparison): DialectRow => ({
  id: found.dialect,
  name: DIALECT_NAMES[found.dialect],
  agrees: found.agrees,
  output: found.output,
  why: found.why,
  sentence: sentenceOf([DIALECT_NAMES[found.dialect]], found),
  differing: new Set(found.differing),
  undecided: new Set(found.undecided),
});

const rankOf = ({ agrees, why }: RuleChoice): number =>
  agrees ? 0 : why === "missing" ? 4 : why === "undefined" ? 3 : why === "error" ? 2 : 1;

/** The verb phrase for each diagnosis, to follow the names of several systems. */
const HABITS: Readonly<Partial<Record<DiagnosisId, string>>> = {
  "out-of-range-dropped": "leave out updates whose index is out of range",
  "out-of-range-clipped": "clip an index out of range to the nearest valid one",
  "out-of-range-filled": "give 0 for an index out of range",
  "flat-offset": "check only the offset in the whole tensor, not each index",
  "negative-dropped": "leave out updates whose index is negative",
  "updates-first": "add the updates to each other before adding them to data",
  "signed-zero": "treat 0 and -0 as equal",
  "nan-one-operand": "keep one operand if max or min gets a NaN",
  "wide-accumulation": "add in a wider float type and round once",
  "wrong-rounding": "round bfloat16 wrongly",
  "other-type": "compute in another data type",
  "mean-truncated": "round means of integers toward 0",
  "whole-ignored": "ignore updates of the whole tensor",
  "first-of-slice": "copy only the first element of each slice",
  "any-order": "keep any one of the repeated updates",
  rounding: "add in any order, so roundings differ",
  "lost-updates": "may lose some of the repeated updates, as in a race",
};

/** Returns the verb phrase for a diagnosis; null for a diagnosis that does not describe a system. */
export function habitOf(id: DiagnosisId, isOne: boolean): string | null {
  const habit = HABITS[id] ?? null;
  if (habit === null || !isOne || habit.startsWith("may")) return habit;
  return habit.replaceAll(/^copy|^\w+|(?<= and )round/g, (verb) =>
    verb === "copy" ? "copies" : `${verb}s`,
  );
}

type Facts = Pick<DialectComparison, "agrees" | "why" | "ids" | "differing" | "undecided">;

function sentenceOf(names: readonly string[], facts: Facts): string {
  const { agrees, why, ids, differing, undecided } = facts;
  const isOne = names.length === 1;
  const [who, s] = [printNames(names), isOne ? "s" : ""];
  if (why === "missing") return `${who} lack${s} the operator, reduction or data type.`;
  if (why === "undefined") return `The result of ${who} is undefined or unknown.`;
  if (why === "error") return `${who} refuse${s} the call${agrees ? " too" : ""}.`;
  if (agrees) return `${who} agree${s}.`;
  const habits = ids.flatMap((id) => habitOf(id, isOne) ?? []);
  const what = habits.length === 0 ? `give${s} another result` : printNames(habits);
  const cells = [
    ...(differing.length > 0
      ? [`${counted(differing.length, "cell")} ${differing.length === 1 ? "differs" : "differ"}`]
      : []),
    ...(undecided.length > 0 ? [`${counted(undecided.length, "cell")} may differ`] : []),
  ];
  return `${who} ${what}${cells.length === 0 ? "" : `: ${printNames(cells)}`}.`;
}
