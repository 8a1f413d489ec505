/** A node's attributes in the form of its operator: all at once to run the node, or one by one to inspect it. */

import { isTensorError, TensorError } from "../../core/errors.ts";
import type { AttributeSchema, OperatorVersion, Settings } from "../../core/operators/operator.ts";
import { settingsOf, type Attributes } from "../../core/operators/settings.ts";
import { quote } from "./graph.ts";
import { isReference, type Attribute, type ModelNode } from "./model.ts";

/**
 * Returns the attributes as an argument of `run`.
 * @throws TensorError `attribute` for floats, because only the file distinguishes a float 1 from an int 1 and no
 *   operator has float attributes; and for an attribute that a function's caller sets
 */
export function attributesOf({ op, attributes }: ModelNode): Record<string, unknown> {
  const entries = Object.entries(attributes);
  const fail = (name: string, what: string): TensorError =>
    new TensorError("attribute", `attribute ${quote(name)} ${what}`, {
      op,
      key: name,
    });
  for (const [name, attribute] of entries) {
    if (isFloat(attribute)) throw fail(name, `contains floats, but no attribute of ${op} does`);
    if (isReference(attribute)) {
      const from = quote(attribute.reference);
      throw fail(
        name,
        `is unknown, because each call of the function sets it with its attribute ${from}`,
      );
    }
  }
  return Object.fromEntries(entries.map(([name, { value }]) => [name, value]));
}

const isFloat = ({ type }: Attribute): boolean => type === "float" || type === "floats";

export const hasAttribute = ({ attributes }: OperatorVersion, name: string): boolean =>
  attributes.some((schema) => schema.name === name);

/** Returns the reason why a version rejects an attribute of a node, or null if the version accepts the attribute. */
export function attributeError(
  name: string,
  attribute: Attribute,
  version: OperatorVersion,
  siblings: readonly OperatorVersion[],
): TensorError | null {
  const isKnown = hasAttribute(version, name);
  // The caller of the function sets the value of a reference; the name belongs to this node.
  if (isReference(attribute) && isKnown) return null;
  if (isFloat(attribute) && isKnown) {
    return new TensorError(
      "attribute",
      `${name} must not contain floats, because no attribute of the operator does`,
      { key: name },
    );
  }
  try {
    settingsOf(version, siblings, { ...required(version), [name]: attribute.value }, {});
    return null;
  } catch (error) {
    if (isTensorError(error)) return error;
    throw error;
  }
}

/**
 * Returns the version whose meaning a node has: its own, or if only the reduction is newer, the first version that has
 * it. torch.onnx's legacy exporter and tf2onnx write `max` and `min` in opsets 16 and 17, and their meaning is plain.
 */
export function meantVersion(
  { attributes: { reduction } }: ModelNode,
  version: OperatorVersion,
  siblings: readonly OperatorVersion[],
): OperatorVersion {
  if (reduction?.type !== "string") return version;
  const hasIt = (one: OperatorVersion): boolean =>
    attributeError("reduction", reduction, one, siblings) === null;
  const isLater = (one: OperatorVersion): boolean => one.sinceVersion > version.sinceVersion;
  return hasIt(version) ? version : (siblings.find((one) => isLater(one) && hasIt(one)) ?? version);
}

/** Returns the required attributes that a node does not have. */
export const missingAttributes = ({ attributes }: ModelNode, version: OperatorVersion): string[] =>
  Object.keys(required(version)).filter((name) => !Object.hasOwn(attributes, name));

export interface KnownSettings {
  /** The settings from the attributes that the version accepts, with defaults for the remaining settings. */
  readonly settings: Settings;
  /**
   * Attributes that the settings cannot represent: invalid ones that another version may accept, missing ones, and
   * those that a function's caller sets. Attributes that no version has are ignored.
   */
  readonly unknown: readonly AttributeSchema[];
}

/** @param siblings all versions of the operator */
export function knownSettings(
  node: ModelNode,
  version: OperatorVersion,
  siblings: readonly OperatorVersion[],
): KnownSettings {
  const taken: Record<string, unknown> = {};
  const unknown = new Set(missingAttributes(node, version));
  for (const [name, attribute] of Object.entries(node.attributes)) {
    const isTaken = attributeError(name, attribute, version, siblings) === null;
    if (isTaken && !isReference(attribute)) taken[name] = attribute.value;
    else unknown.add(name);
  }
  return {
    settings: settingsOf(version, siblings, { ...required(version), ...taken }, {}),
    unknown: siblings.flatMap((one) => one.attributes.filter(({ name }) => unknown.has(name))),
  };
}

/** Returns a value for each attribute without a default; an axis becomes the first. */
const required = ({ attributes }: OperatorVersion): Attributes =>
  Object.fromEntries(
    attributes
      .filter((one) => one.default === undefined)
      .map(({ name, type, values = [""] }) => [
        name,
        { int: 0, string: values[0], boolean: false }[type],
      ]),
  );
