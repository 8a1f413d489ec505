/**
 * The table of finding kinds, with one row per id. The documentation and the command's help are made from this table.
 */

import { isTensorError, sentenceOf, type ErrorCode, type ErrorFields } from "../../core/errors.ts";

/**
 * The severity of a finding. `wrong` means that the node certainly violates a rule of the specification: it fails, or
 * means something else. `risky` means that the node is allowed, but runtimes differ, or that only a declared type makes
 * it wrong. `note` means that the node was not checked, or that the file does not contain the answer.
 */
export type Severity = "wrong" | "risky" | "note";

interface FindingRule {
  /**
   * The severity of a certain finding. A finding that follows only from declared types is `risky` instead of `wrong`.
   */
  readonly severity: Severity;
  readonly meaning: string;
}

const wrong = (meaning: string): FindingRule => ({ severity: "wrong", meaning });
const risky = (meaning: string): FindingRule => ({ severity: "risky", meaning });
const note = (meaning: string): FindingRule => ({ severity: "note", meaning });

/**
 * All kinds of findings, by id. Ids never change, because build scripts search for them.
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

/** The id of a finding, which is a key of {@link FINDINGS}. */
export type FindingId = Extract<keyof typeof FINDINGS, string>;

/** A finding, with the fields of an error that apply. */
export interface Finding extends ErrorFields {
  readonly id: FindingId;
  readonly severity: Severity;
  /** A sentence without the node's name, which the node's report contains. */
  readonly sentence: string;
  /** The code of the error that a run of the node would throw. */
  readonly code?: ErrorCode;
}

export const finding = (
  id: FindingId,
  sentence: string,
  fields: ErrorFields & { readonly code?: ErrorCode } = {},
): Finding => ({ id, severity: FINDINGS[id].severity, sentence, ...fields });

export const isFinding = (value: object): value is Finding => "severity" in value;

/**
 * Converts an error of this package to a finding. The sentence omits the operator, which the node's report contains.
 * @throws `error` itself if another package threw it
 */
export function findingOf(id: FindingId, error: unknown): Finding {
  if (!isTensorError(error)) throw error;
  const { name: _, op: _op, opset: _opset, node: _node, ...fields } = error;
  return finding(id, sentenceOf(error), fields);
}
