/** Reads attributes of a node, and returns changed copies of nodes. */

import { malformed } from "../../../core/errors.ts";
import { isReference, type Attribute, type ModelNode } from "../../model/model.ts";
import { refusal } from "../meaning.ts";

/** @throws TensorError `unsupported-model` for an attribute that a function's caller sets */
function attributeOf({ attributes }: ModelNode, name: string): Attribute | undefined {
  if (!Object.hasOwn(attributes, name)) return undefined;
  const { [name]: attribute } = attributes;
  if (isReference(attribute))
    throw refusal(`the attribute ${name} depends on the caller of the function`);
  return attribute;
}

type Value = number | string | boolean | readonly (number | bigint | string)[];

/**
 * Returns the value of an attribute, or undefined if the node does not have the attribute.
 * @throws TensorError `malformed-file` for a tensor or a graph
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

/** @throws TensorError `malformed-file` for an attribute that is not a number */
export function numberOf<T>(node: ModelNode, name: string, absent: T): number | T {
  const value = attributeValue(node, name);
  if (value === undefined) return absent;
  if (typeof value === "number") return value;
  throw malformed(`the attribute ${name} must be a number`, { key: name });
}

/**
 * Returns an integer attribute; an integer beyond 2^53 is rounded.
 * @throws TensorError `malformed-file` for an attribute that is not an integer
 */
export function intOf<T>(node: ModelNode, name: string, absent: T): number | T {
  const value = numberOf(node, name, null);
  if (value === null) return absent;
  if (Number.isInteger(value)) return value;
  throw malformed(`the attribute ${name} must be an integer`, { key: name });
}

/** Like {@link intOf}, but exact: ONNX's exporters write 2^63 - 1 for the end of an axis. */
export function exactIntOf<T>(node: ModelNode, name: string, absent: T): bigint | T {
  const value = intOf(node, name, null);
  if (value === null) return absent;
  const attribute = attributeOf(node, name);
  return BigInt(attribute?.type === "int" ? attribute.value : value);
}

/**
 * Returns an attribute as a list of integers, or undefined if the node does not have the attribute.
 * @throws TensorError `malformed-file` for an attribute that is not a list of integers
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
 * Returns an axis counted from the front.
 * @throws TensorError `malformed-file` for an axis outside the rank
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

/** Returns the node without some attributes, or the node itself if it has none of them. */
export function withoutAttributes(node: ModelNode, ...names: readonly string[]): ModelNode {
  const entries = Object.entries(node.attributes);
  const kept = entries.filter(([name]) => !names.includes(name));
  return kept.length === entries.length ? node : { ...node, attributes: Object.fromEntries(kept) };
}

/** Returns the name of an input, or an empty name if the input is omitted. */
export const inputOf = ({ inputs }: ModelNode, position: number): string => inputs[position] ?? "";

/** Returns the node with other inputs at some positions; `""` omits an input. */
export function withInputs(node: ModelNode, changed: Readonly<Record<number, string>>): ModelNode {
  const last = Math.max(node.inputs.length - 1, ...Object.keys(changed).map(Number));
  const inputs = Array.from(
    { length: last + 1 },
    (_, position) => changed[position] ?? inputOf(node, position),
  );
  return trimmed({ ...node, inputs });
}

/** Returns the node without empty names at the end of its inputs, which older versions may not allow. */
export function trimmed(node: ModelNode): ModelNode {
  const last = node.inputs.findLastIndex((name) => name !== "");
  return last + 1 === node.inputs.length
    ? node
    : { ...node, inputs: node.inputs.slice(0, last + 1) };
}
