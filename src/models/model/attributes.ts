/**
 * A node's attributes in the operator's own form. Attributes are converted together for a run, or one by one for an
 * inspection.
 */

import { recovering, TensorError } from "../../core/errors.ts";
import type { AttributeSchema, OperatorVersion, Settings } from "../../core/operators/operator.ts";
import { settingsOf, type Attributes } from "../../core/operators/settings.ts";
import { quote } from "./graph.ts";
import { isReference, type Attribute, type ModelNode } from "./model.ts";

/**
 * Returns the attributes in the form that `run` accepts. Throws `attribute` for a float, because a scatter or gather
 * has no float attributes, and for an attribute whose value comes from a function's caller.
 */
export function attributesOf({ op, attributes }: ModelNode): Record<string, unknown> {
  const entries = Object.entries(attributes);
  for (const [key, attribute] of entries) {
    const why = isFloat(attribute)
      ? `contains floats, but no attribute of ${op} does`
      : isReference(attribute)
        ? `is unknown, because each call of the function sets it with its attribute ${quote(attribute.reference)}`
        : null;
    if (why !== null)
      throw new TensorError("attribute", `attribute ${quote(key)} ${why}`, { op, key });
  }
  return Object.fromEntries(entries.map(([name, { value }]) => [name, value]));
}

const isFloat = ({ type }: Attribute): boolean => type === "float" || type === "floats";

export const hasAttribute = ({ attributes }: OperatorVersion, name: string): boolean =>
  attributes.some((schema) => schema.name === name);

/** Explains why a version rejects a node's attribute; null if the version accepts the attribute. */
export function attributeError(
  name: string,
  attribute: Attribute,
  version: OperatorVersion,
  siblings: readonly OperatorVersion[],
): TensorError | null {
  const isKnown = hasAttribute(version, name);
  // A referenced attribute gets its value from the function's caller, but its name belongs to this node.
  if (isReference(attribute) && isKnown) return null;
  if (isFloat(attribute) && isKnown) {
    const sentence = `${name} must not contain floats, because no attribute of the operator does`;
    return new TensorError("attribute", sentence, { key: name });
  }
  const check = (): null => {
    settingsOf(version, siblings, { ...required(version), [name]: attribute.value }, {});
    return null;
  };
  return recovering(check, (error) => error);
}

/**
 * Returns the version that gives a node its meaning. A node whose reduction is newer than its opset gets the first
 * version with this reduction. torch.onnx's legacy exporter and tf2onnx write `max` and `min` in opsets 16 and 17, and
 * the meaning is clear.
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

export const missingAttributes = ({ attributes }: ModelNode, version: OperatorVersion): string[] =>
  Object.keys(required(version)).filter((name) => !Object.hasOwn(attributes, name));

export interface KnownSettings {
  /** Settings from the valid attributes, and defaults for the other settings. */
  readonly settings: Settings;
  /**
   * Attributes that the settings cannot represent. These attributes are missing, valid only in another version, or set
   * by a function's caller. Attributes that no version defines are ignored.
   */
  readonly unknown: readonly AttributeSchema[];
}

/** Returns the known settings of a node. All versions of the operator are given as `siblings`. */
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

/** Returns placeholder values for attributes without a default; an axis becomes 0. */
const required = ({ attributes }: OperatorVersion): Attributes =>
  Object.fromEntries(
    attributes
      .filter((one) => one.default === undefined)
      .map(({ name, type, values = [""] }) => [
        name,
        { int: 0, string: values[0], boolean: false }[type],
      ]),
  );
