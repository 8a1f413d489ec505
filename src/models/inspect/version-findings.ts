/**
 * Checks a node against its version: the numbers of inputs and outputs, the attributes and the data types. Each is
 * checked alone, so that one fault does not hide another fault.
 */

import {
  isTensorError,
  recovering,
  type ErrorContext,
  type TensorError,
} from "../../core/errors.ts";
import { printCount } from "../../core/foreign.ts";
import {
  roleOf,
  type OperatorVersion,
  type ParameterSchema,
} from "../../core/operators/operator.ts";
import { findVersion } from "../../core/operators/registry.ts";
import { checkDTypes, signatureOf, typesIn } from "../../core/operators/signature.ts";
import type { DType, Reduction } from "../../core/tensor/dtype.ts";
import { attributeError, hasAttribute, missingAttributes } from "../model/attributes.ts";
import { missingParameter } from "../model/family.ts";
import type { Attribute, ModelNode } from "../model/model.ts";
import { finding, findingOf, type Finding, type FindingId } from "./findings.ts";

/** Returns a finding if the opset replaced this operator by another one. */
export function deprecation({ domain, deprecated }: OperatorVersion, opset: number): Finding[] {
  const successor = deprecated && findVersion({ domain, op: deprecated, opset });
  return successor ? [finding("operator-deprecated", `${successor.name} replaces it`)] : [];
}

/** Returns findings about the numbers of inputs and outputs, and about missing required inputs. */
export function countFindings(node: ModelNode, version: OperatorVersion): Finding[] {
  const { name, inputs, outputs } = version;
  const findings: Finding[] = [];
  const names = inputs.map((input) => (input.optional === true ? `${input.name}?` : input.name));
  const missing = missingParameter(node, version);
  const code = "shape-mismatch";
  if (node.inputs.length > inputs.length) {
    const sentence = `the node has ${printCount(node.inputs.length, "input")}, but ${name} has ${inputs.length}: ${names.join(", ")}`;
    findings.push(finding("input-count", sentence, { code, got: node.inputs.length }));
  } else if (missing !== null) {
    const sentence = `the required input ${missing} is missing`;
    findings.push(finding("input-count", sentence, { code, input: missing }));
  }
  if (node.outputs.length > outputs.length) {
    const sentence = `the node has ${printCount(node.outputs.length, "output")}, but ${name} has ${outputs.length}`;
    findings.push(finding("output-count", sentence, { code, got: node.outputs.length }));
  }
  return findings;
}

/** Returns the findings about a node's attributes. All versions of the operator are given as `siblings`. */
export function inspectAttributes(
  node: ModelNode,
  version: OperatorVersion,
  siblings: readonly OperatorVersion[],
): Finding[] {
  const findings = Object.entries(node.attributes).flatMap(([name, attribute]) => {
    const error = attributeError(name, attribute, version, siblings);
    return error === null ? [] : [attributeFinding(name, attribute, error, version, siblings)];
  });
  const missing = missingAttributes(node, version).map((name) =>
    finding("attribute-missing", `the attribute ${name} must be given`, { code: "attribute" }),
  );
  return [...findings, ...missing];
}

function attributeFinding(
  name: string,
  attribute: Attribute,
  error: TensorError,
  version: OperatorVersion,
  siblings: readonly OperatorVersion[],
): Finding {
  const isKnown = hasAttribute(version, name);
  const isNewer = siblings.some(
    (other) =>
      other.sinceVersion > version.sinceVersion &&
      (isKnown
        ? attributeError(name, attribute, other, siblings) === null
        : hasAttribute(other, name)),
  );
  const id = idOf(isTensorError(error, "reduction"), isKnown, isNewer);
  const found = findingOf(id, error);
  if (id !== "reduction-unknown") return found;
  return { ...found, sentence: `${found.sentence}; several runtimes treat it as none` };
}

function idOf(isReduction: boolean, isKnown: boolean, isNewer: boolean): FindingId {
  if (isReduction) return isNewer ? "reduction-newer-than-opset" : "reduction-unknown";
  if (isKnown) return "attribute-invalid";
  return isNewer ? "attribute-newer-than-opset" : "attribute-unknown";
}

/**
 * Returns the findings about input data types. Unchecked inputs get data types that the version accepts. All versions
 * of the operator are given as `siblings`. The list `dtypes` follows the version's inputs, with null for an unknown or
 * omitted input.
 */
export function inspectDTypes(
  version: OperatorVersion,
  siblings: readonly OperatorVersion[],
  dtypes: readonly (DType | null)[],
  reduction: Reduction,
  fields: ErrorContext,
): Finding[] {
  const { inputs } = version;
  const findings: Finding[] = [];
  const check = (id: FindingId, known: ReadonlyMap<string, DType>, word: Reduction): boolean => {
    const types = inputs.map((input) => ({
      dtype: known.get(input.name) ?? fittingType(version, input, known),
    }));
    const run = () => checkDTypes(signatureOf(version), siblings, types, word, fields);
    const found = recovering(run, (error) => findingOf(id, error)) ?? null;
    if (found !== null) findings.push(found);
    return found === null;
  };
  /** The first accepted data type per type constraint, which later inputs must match. */
  const firsts = new Map<string, readonly [string, DType]>();
  for (const [position, input] of inputs.entries()) {
    const dtype = dtypes[position];
    if (dtype === null) continue;
    const isValue = roleOf(input) === "data" || roleOf(input) === "updates";
    const id = isValue ? "data-type-not-taken" : "index-type-not-taken";
    const own = [input.name, dtype] as const;
    if (!check(id, new Map([own]), "none")) continue;
    const first = firsts.get(input.type);
    if (first === undefined) firsts.set(input.type, own);
    else check("data-types-differ", new Map([first, own]), "none");
    if (roleOf(input) === "data") check("reduction-undefined", new Map([own]), reduction);
  }
  return findings;
}

/**
 * Returns a data type that the version accepts for an input. A known input with the same type constraint determines the
 * data type if the version accepts it; otherwise any accepted data type is returned.
 */
function fittingType(
  version: OperatorVersion,
  { type }: ParameterSchema,
  known: ReadonlyMap<string, DType>,
): DType {
  const sibling = version.inputs.find((other) => other.type === type && known.has(other.name));
  const dtype = sibling && known.get(sibling.name);
  const types = typesIn(version, type);
  return dtype !== undefined && types.includes(dtype) ? dtype : (types[0] as DType);
}
