/** Checks a node's attributes against its version one by one, so that one fault does not hide another fault. */

import { isTensorError, type TensorError } from "../../core/errors.ts";
import { attributeError, hasAttribute, missingAttributes } from "../model/attributes.ts";
import type { Attribute, ModelNode } from "../model/model.ts";
import type { OperatorVersion } from "../../core/operators/operator.ts";
import { finding, findingOf, type Finding, type FindingId } from "./findings.ts";

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
