/** The attributes of a node as its operator takes them: all at once to run it, one by one to look at it. */

import { isTensorError, TensorError } from "../../core/errors.ts";
import type { AttributeSchema, OperatorVersion, Settings } from "../../core/operators/operator.ts";
import { settingsOf, type Attributes } from "../../core/operators/settings.ts";
import { quote } from "./graph.ts";
import { isReference, type Attribute, type ModelNode } from "./model.ts";

/**
 * Attributes as `run` takes them.
 * @throws TensorError `attribute` for floats, because only the file tells a float 1 from an int 1 and no operator takes
 * floats; and for an attribute that the caller of a function decides
 */
export function attributesOf({ op, attributes }: ModelNode): Record<string, unknown> {
  const entries = Object.entries(attributes);
  const fail = (name: string, what: string): TensorError =>
    new TensorError("attribute", `attribute ${quote(name)} ${what}`, { op });
  for (const [name, attribute] of entries) {
    if (isFloat(attribute)) throw fail(name, `is of floats, which no attribute of ${op} is`);
    if (isReference(attribute)) {
      const from = quote(attribute.reference);
      throw fail(name, `is not known: it is the attribute ${from} of each call of the function`);
    }
  }
  return Object.fromEntries(entries.map(([name, { value }]) => [name, value]));
}

const isFloat = ({ type }: Attribute): boolean => type === "float" || type === "floats";

export const hasAttribute = ({ attributes }: OperatorVersion, name: string): boolean =>
  attributes.some((schema) => schema.name === name);

/** Why a version does not take one attribute of a node, null where it does. */
export function attributeError(
  name: string,
  attribute: Attribute,
  version: OperatorVersion,
  siblings: readonly OperatorVersion[],
): TensorError | null {
  const isKnown = hasAttribute(version, name);
  // The value of a reference is the caller's; its name is this node's.
  if (isReference(attribute) && isKnown) return null;
  if (isFloat(attribute) && isKnown) {
    return new TensorError(
      "attribute",
      `${name} is of floats, and the operator has no such attribute`,
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

/** The attributes that a node must have and has not. */
export const missingAttributes = ({ attributes }: ModelNode, version: OperatorVersion): string[] =>
  Object.keys(required(version)).filter((name) => !Object.hasOwn(attributes, name));

export interface KnownSettings {
  /** Of the attributes that the version takes; the others have their defaults. */
  readonly settings: Settings;
  /**
   * Attributes of which the settings say nothing: those that are wrong in a way that another version may take, those
   * that are missing, and those that a function's caller decides. An attribute that no version has changes nothing.
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

/** A value for each attribute that has no default, which makes an axis the first. */
const required = ({ attributes }: OperatorVersion): Attributes =>
  Object.fromEntries(
    attributes
      .filter((one) => one.default === undefined)
      .map(({ name, type, values = [""] }) => [
        name,
        { int: 0, string: values[0], boolean: false }[type],
      ]),
  );
