/** A node's attributes held against its version: each on its own, so that one that is wrong does not hide another. */

import { isTensorError, type ErrorFields } from "../errors.ts";
import type { Attribute, ModelNode } from "../model/model.ts";
import { settingsOf, type Attributes } from "../operators/settings.ts";
import type { OperatorVersion, Settings } from "../operators/operator.ts";
import { finding, findingOf, type Finding, type FindingId } from "./findings.ts";

export interface AttributeFacts {
  /** The settings of the attributes that are taken, and defaults for the others. */
  readonly settings: Settings;
  /** The attributes that were refused, or that come from a function's caller: the settings say nothing of them. */
  readonly unknown: ReadonlySet<string>;
  readonly findings: readonly Finding[];
}

export function inspectAttributes(
  node: ModelNode,
  version: OperatorVersion,
  siblings: readonly OperatorVersion[],
  fields: ErrorFields,
): AttributeFacts {
  const findings: Finding[] = [];
  const taken: [string, unknown][] = [];
  const unknown = new Set<string>();
  for (const [name, attribute] of Object.entries(node.attributes)) {
    const fault = faultOf(name, attribute, version, siblings, fields);
    if (fault !== null) findings.push(fault);
    if (fault === null && !isReference(attribute)) taken.push([name, attribute.value]);
    else unknown.add(name);
  }
  for (const { name, default: initial } of version.attributes) {
    if (initial !== undefined || Object.hasOwn(node.attributes, name)) continue;
    const sentence = `the attribute ${name} must be given`;
    findings.push(finding("attribute-missing", sentence, { code: "attribute" }));
    unknown.add(name);
  }
  const given = { ...neededBy(version), ...Object.fromEntries(taken) };
  return { settings: settingsOf(version, siblings, given, fields), unknown, findings };
}

/** A value that stands for each attribute that has to be given. */
const neededBy = ({ attributes }: OperatorVersion): Attributes =>
  Object.fromEntries(
    attributes
      .filter((one) => one.default === undefined)
      .map(({ name, type, values = [""] }) => [
        name,
        { int: 0, string: values[0], boolean: false }[type],
      ]),
  );

const isReference = (attribute: Attribute): boolean =>
  attribute.type === "other" && attribute.reference !== undefined;

function faultOf(
  name: string,
  attribute: Attribute,
  version: OperatorVersion,
  siblings: readonly OperatorVersion[],
  fields: ErrorFields,
): Finding | null {
  const isKnownTo = ({ attributes }: OperatorVersion): boolean =>
    attributes.some((one) => one.name === name);
  // The value of a reference is the caller's; its name is this node's.
  if (isReference(attribute) && isKnownTo(version)) return null;
  const { type, value } = attribute;
  // Only the file knows a float 1 from an int 1.
  if (isKnownTo(version) && (type === "float" || type === "floats")) {
    const sentence = `${name} is of floats, and the operator has no such attribute`;
    return finding("attribute-invalid", sentence, { code: "attribute" });
  }
  const error = errorOf(version, siblings, { [name]: value }, fields);
  if (error === null) return null;
  const isNewer = siblings.some(
    (other) =>
      other.sinceVersion > version.sinceVersion &&
      (isKnownTo(version)
        ? errorOf(other, siblings, { [name]: value }, fields) === null
        : isKnownTo(other)),
  );
  const id = idOf(isTensorError(error, "reduction"), isKnownTo(version), isNewer);
  const found = findingOf(id, error);
  if (id !== "reduction-unknown") return found;
  return { ...found, sentence: `${found.sentence}; several runtimes take it for none` };
}

function idOf(isReduction: boolean, isKnown: boolean, isNewer: boolean): FindingId {
  if (isReduction) return isNewer ? "reduction-newer-than-opset" : "reduction-unknown";
  if (isKnown) return "attribute-invalid";
  return isNewer ? "attribute-newer-than-opset" : "attribute-unknown";
}

/** What is wrong with attributes in a version, or null. */
function errorOf(
  version: OperatorVersion,
  siblings: readonly OperatorVersion[],
  attributes: Attributes,
  fields: ErrorFields,
): unknown {
  try {
    settingsOf(version, siblings, { ...neededBy(version), ...attributes }, fields);
    return null;
  } catch (error) {
    return error;
  }
}
