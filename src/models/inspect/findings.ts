/** The kinds of findings about models, a row per id: the document and the command's help list these rows. */

import { isTensorError, sentenceOf, type ErrorCode, type ErrorFields } from "../../core/errors.ts";

/**
 * The severity of a finding. `wrong`: a rule of the specification is certainly violated, so that the node fails or
 * means something else. `risky`: allowed, but runtimes differ, or wrong according to declared types alone. `note`: not
 * checked, or not visible in the file.
 */
export type Severity = "wrong" | "risky" | "note";

interface FindingRule {
  /** The severity of a certain finding: one from declared types alone is `risky` instead of `wrong`. */
  readonly severity: Severity;
  readonly meaning: string;
}

const wrong = (meaning: string): FindingRule => ({ severity: "wrong", meaning });
const risky = (meaning: string): FindingRule => ({ severity: "risky", meaning });
const note = (meaning: string): FindingRule => ({ severity: "note", meaning });

/**
 * All ids. Ids never change, because builds search for them.
 *
 * @example
 * ```ts
 * FINDINGS["reduction-unknown"].severity; // "wrong"
 * ```
 */
export const FINDINGS = {
  "no-opset": wrong("the model imports no version of the operator's domain"),
  "operator-newer-than-opset": wrong("the operator came with a later opset"),
  "attribute-newer-than-opset": wrong("the attribute came with a later version"),
  "attribute-unknown": wrong("no version of the operator has the attribute"),
  "attribute-invalid": wrong("the attribute's type or value is not taken"),
  "attribute-missing": wrong("an attribute that has to be given is not there"),
  "reduction-newer-than-opset": wrong("the reduction came with a later version"),
  "reduction-unknown": wrong("no version has the reduction; several runtimes take it for none"),
  "reduction-undefined": wrong("the data type does not have the reduction"),
  "input-count": wrong("too few or too many inputs, or one left out that must not be"),
  "output-count": wrong("more outputs than the operator makes"),
  "data-type-not-taken": wrong("the version does not take the data type"),
  "index-type-not-taken": wrong("the version does not take the data type of indices or axis"),
  "data-types-differ": wrong("inputs that must have one data type have two"),
  "rank-does-not-fit": wrong("a rank, or the length of an index tuple, does not fit"),
  "axis-out-of-range": wrong("the axis lies outside the rank"),
  "shape-does-not-fit": wrong("shapes of inputs cannot fit"),
  "index-out-of-range": wrong("a constant index lies outside its axis"),
  "negative-index-not-taken": wrong("a constant index is negative where the version takes none"),
  "constant-unreadable": wrong("a constant of indices cannot be read"),
  "declared-type-differs": wrong("the declared type of an output contradicts its inputs"),
  "repeated-target": risky("constant indices repeat: which update wins depends on the runtime"),
  "repeated-target-reduced": risky(
    "constant indices repeat under a reduction: runtimes race or add in another order",
  ),
  "index-filled": risky("a constant index lies outside its axis, where the version gives zeros"),
  "operator-deprecated": risky("the operator was replaced by another one"),
  "version-not-known": note("the operator's version at that opset is not known here"),
  "indices-not-checked": note("constant indices are out of reach, or too many to be looked at"),
  "may-race": note(
    "indices under a reduction are not constant: if they repeat, a runtime may race on more than one thread",
  ),
  "graph-too-deep": note("a graph lies too deep in others to be looked at"),
} as const satisfies Record<string, FindingRule>;

/** The id of a finding: a key of {@link FINDINGS}. */
export type FindingId = keyof typeof FINDINGS;

/** A finding, with the applicable fields of an error. */
export interface Finding extends ErrorFields {
  readonly id: FindingId;
  readonly severity: Severity;
  /** A sentence without the node's name, which is in the node's report. */
  readonly sentence: string;
  /** The code of the error that running the node would throw. */
  readonly code?: ErrorCode;
}

export const finding = (
  id: FindingId,
  sentence: string,
  fields: ErrorFields & { readonly code?: ErrorCode } = {},
): Finding => ({ id, severity: FINDINGS[id].severity, sentence, ...fields });

export const isFinding = (value: object): value is Finding => "severity" in value;

/**
 * Turns an error of the package into a finding. The sentence omits the operator, which is in the node's report.
 * @throws `error` if it is not an error of the package
 */
export function findingOf(id: FindingId, error: unknown): Finding {
  if (!isTensorError(error)) throw error;
  const { code, input, at, axis, got, expected } = error;
  const fields = Object.entries({ input, at, axis, got, expected });
  return finding(id, sentenceOf(error), {
    code,
    ...Object.fromEntries(fields.filter(([, value]) => value !== undefined)),
  });
}
