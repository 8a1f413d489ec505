/** Reads the attributes of nodes, and creates changed copies of nodes. */

import { malformed } from "../../../core/errors.ts";
import { isReference, type Attribute, type ModelNode } from "../../model/model.ts";
import { refusal } from "../meaning.ts";

/** Throws `unsupported-model` for an attribute whose value comes from a function's caller. */
function attributeOf({ attributes }: ModelNode, name: string): Attribute | undefined {
  if (!Object.hasOwn(attributes, name)) return undefined;
  const { [name]: attribute } = attributes;
  if (isReference(attribute))
    throw refusal(`the attribute ${name} depends on the caller of the function`);
  return attribute;
}

type Value = number | string | boolean | readonly (number | bigint | string)[];

/**
 * Returns an attribute's value; undefined if the node does not have the attribute. Throws `malformed-file` for a tensor
 * or a graph.
 */
export function attributeValue(node: ModelNode, name: string): Value | undefined {
  const attribute = attributeOf(node, name);
  if (attribute === undefined) return undefined;
  const { type } = attribute;
  if (type === "int") return Number(attribute.value);
  if (type === "other" || type === "tensor" || type === "tensors")
    throw malformed(`the attribute ${name} is of the wrong type`, { key: name });
  return attribute.value;
}

/** Throws `malformed-file` for an attribute that is not a number. */
export function numberOf<T>(node: ModelNode, name: string, absent: T): number | T {
  const value = attributeValue(node, name);
  if (value === undefined) return absent;
  if (typeof value === "number") return value;
  throw malformed(`the attribute ${name} must be a number`, { key: name });
}

/**
 * Returns an integer attribute, rounded if its magnitude exceeds 2^53. Throws `malformed-file` for an attribute that is
 * not an integer.
 */
export function intOf<T>(node: ModelNode, name: string, absent: T): number | T {
  const value = numberOf(node, name, null);
  if (value === null) return absent;
  if (Number.isInteger(value)) return value;
  throw malformed(`the attribute ${name} must be an integer`, { key: name });
}

/** Returns an integer attribute exactly, because ONNX exporters write 2^63 - 1 for the end of an axis. */
export function exactIntOf<T>(node: ModelNode, name: string, absent: T): bigint | T {
  const value = intOf(node, name, null);
  if (value === null) return absent;
  const attribute = attributeOf(node, name);
  return BigInt(attribute?.type === "int" ? attribute.value : value);
}

/**
 * Returns a list of integers from an attribute; undefined if the node does not have the attribute. Throws
 * `malformed-file` for an attribute that is not a list of integers.
 */
export function intsOf(node: ModelNode, name: string): readonly bigint[] | undefined {
  const attribute = attributeOf(node, name);
  if (attribute === undefined) return undefined;
  if (attribute.type === "ints" && attribute.value.every(isWhole))
    return attribute.value.map(BigInt);
  throw malformed(`the attribute ${name} must be a list of integers`, { key: name });
}

const isWhole = (value: number | bigint): boolean =>
  typeof value === "bigint" || Number.isInteger(value);

/**
 * Returns a nonnegative axis number for a possibly negative axis. Throws `malformed-file` for an axis outside the rank.
 */
export function fromFront(axis: number, rank: number): number {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  throw malformed(`the axis ${axis} is out of range for rank ${rank}`, {
    key: "axis",
    got: axis,
    expected: [-rank, rank - 1],
  });
}

export const ints = (values: readonly (number | bigint)[]): Attribute => ({
  type: "ints",
  value: values,
});

export const int = (value: number | bigint): Attribute => ({ type: "int", value });

export const withAttribute = (node: ModelNode, name: string, value: Attribute): ModelNode => ({
  ...node,
  attributes: { ...node.attributes, [name]: value },
});

/** Returns a copy of the node without the named attributes. A node without these attributes is returned unchanged. */
export function withoutAttributes(node: ModelNode, ...names: readonly string[]): ModelNode {
  const entries = Object.entries(node.attributes);
  const kept = entries.filter(([name]) => !names.includes(name));
  return kept.length === entries.length ? node : { ...node, attributes: Object.fromEntries(kept) };
}

/** Returns an input's name; an omitted input has an empty name. */
export const inputOf = ({ inputs }: ModelNode, position: number): string => inputs[position] ?? "";

/** Returns a copy of the node with some inputs replaced; `""` omits an input. */
export function withInputs(node: ModelNode, changed: Readonly<Record<number, string>>): ModelNode {
  const last = Math.max(node.inputs.length - 1, ...Object.keys(changed).map(Number));
  const inputs = Array.from(
    { length: last + 1 },
    (_, position) => changed[position] ?? inputOf(node, position),
  );
  return trimmed({ ...node, inputs });
}

/** Returns a copy of the node without trailing empty input names, which older versions may reject. */
export function trimmed(node: ModelNode): ModelNode {
  const last = node.inputs.findLastIndex((name) => name !== "");
  return last + 1 === node.inputs.length
    ? node
    : { ...node, inputs: node.inputs.slice(0, last + 1) };
}
