/** The kinds of findings about models, a row per id: the document and the command's help list these rows. */

import { isTensorError, sentenceOf, type ErrorCode, type ErrorFields } from "../../core/errors.ts";

/**
 * The severity of a finding. `wrong`: a rule of the specification is certainly violated, so that the node fails or
 * means something else. `risky`: the node is allowed, but runtimes differ, or it is wrong according to declared types
 * alone. `note`: the node was not checked, or the file does not show the answer.
 */
export type Severity = "wrong" | "risky" | "note";

interface FindingRule {
  /** The severity of a certain finding. A finding from declared types alone is `risky` instead of `wrong`. */
  readonly severity: Severity;
  readonly meaning: string;
}

const wrong = (meaning: string): FindingRule => ({ severity: "wrong", meaning });
const risky = (meaning: string): FindingRule => ({ severity: "risky", meaning });
const note = (meaning: string): FindingRule => ({ severity: "note", meaning });

/**
 * All finding ids, which never change, because builds search for them.
 *
 * @example
 * ```ts
 * FINDINGS["reduction-unknown"].severity; // "wrong"
 * ```
 */
export const FINDINGS = {
  "no-opset": wrong("the model imports no version of the operator's domain"),
  "operator-newer-than-opset": wrong("the operator was introduced in a later opset"),
  "attribute-newer-than-opset": wrong("the attribute was introduced in a later version"),
  "attribute-unknown": wrong("no version of the operator has the attribute"),
  "attribute-invalid": wrong("the version does not accept the attribute's type or value"),
  "attribute-missing": wrong("a required attribute is missing"),
  "reduction-newer-than-opset": wrong("the reduction was introduced in a later version"),
  "reduction-unknown": wrong("no version has the reduction; several runtimes treat it as none"),
  "reduction-undefined": wrong("the reduction is not defined for the data type"),
  "input-count": wrong("too few or too many inputs, or a missing required input"),
  "output-count": wrong("more outputs than the operator has"),
  "data-type-not-taken": wrong("the version does not accept the data type"),
  "index-type-not-taken": wrong("the version does not accept the data type of indices or of axis"),
  "data-types-differ": wrong("inputs that must have the same data type have different data types"),
  "rank-does-not-fit": wrong("a rank or the length of an index tuple is invalid"),
  "axis-out-of-range": wrong("the axis is out of range for the rank"),
  "shape-does-not-fit": wrong("the input shapes are incompatible"),
  "index-out-of-range": wrong("a constant index is out of range for its axis"),
  "negative-index-not-taken": wrong(
    "a constant index is negative, and the version accepts no negative indices",
  ),
  "constant-unreadable": wrong("constant indices cannot be read"),
  "declared-type-differs": wrong("the declared type of an output contradicts its inputs"),
  "repeated-target": risky("constant indices repeat: the runtime decides which update wins"),
  "repeated-target-reduced": risky(
    "constant indices repeat under a reduction: runtimes may race, or combine updates in another order",
  ),
  "index-filled": risky("a constant index is out of range, and the version returns zeros for it"),
  "repeats-lost": risky(
    "updates are scattered into zeros, which are then added to data, so repeated updates are lost; torch.onnx writes sums like this",
  ),
  "mean-lost": risky(
    "a scatter overwrites another with the same indices; torch.onnx writes means like this, and only the last update remains",
  ),
  "indices-flattened": risky(
    "indices of several axes become offsets: negative ones take elements of another row; torch.onnx writes x[a, b] like this",
  ),
  "operator-deprecated": risky("the operator is deprecated; another operator replaces it"),
  "value-repeated": wrong("the graph computes a value twice, so runtimes refuse the model"),
  "node-name-repeated": risky("two nodes have the same name; ONNX Runtime refuses the model"),
  "initializer-repeated": wrong("two initializers have the same name; ONNX Runtime uses the last"),
  "domain-repeated": risky(
    "the model imports a domain twice; ONNX Runtime uses the last version, but ONNX specifies the highest",
  ),
  "opset-not-known": note("the model's opset is newer than this package knows"),
  "indices-not-checked": note("constant indices are not in the file, or too many to check"),
  "may-race": note(
    "indices of a reduction are not constant: if they repeat, runtimes with several threads may race",
  ),
  "graph-too-deep": note("a graph is nested too deeply to be checked"),
} as const satisfies Record<string, FindingRule>;

/** The id of a finding: a key of {@link FINDINGS}. */
export type FindingId = Extract<keyof typeof FINDINGS, string>;

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
  const { name: _, op: _op, opset: _opset, node: _node, ...fields } = error;
  return finding(id, sentenceOf(error), fields);
}
