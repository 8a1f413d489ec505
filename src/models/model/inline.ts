/**
 * Operators that run without a Plan, because most models need them. They are ONNX's `Constant`, `Identity` and `Cast`,
 * and OpenVINO's `Convert`.
 *
 * ONNX: Operators, Constant-1 to -25, Identity-1 to -25, Cast-6 to -28. OpenVINO: Convert-1.
 */

import type { DType } from "../../core/tensor/dtype.ts";
import { oneOf, TensorError, type ErrorContext } from "../../core/errors.ts";
import { printValue, wrongOption } from "../../core/foreign.ts";
import { tensor, type Tensor } from "../../core/tensor/tensor.ts";
import { castTensor, ROUND_MODES, type NarrowRules } from "./cast.ts";
import { dtypeOfElementType, dtypeOfNumber } from "./element-type.ts";
import {
  constant,
  isReference,
  readConstant,
  renamed,
  type Attribute,
  type Constant,
  type ModelNode,
} from "./model.ts";

export type InlineOperator = (
  node: ModelNode,
  inputs: readonly Tensor[],
  opset: number,
) => Tensor[];

/** Returns a function that runs the node without a Plan; null for other operators. */
export function inlineOperator({ domain, op }: ModelNode): InlineOperator | null {
  if (domain === "openvino") return op === "Convert" ? openvinoConvert : null;
  return domain === "ai.onnx" && Object.hasOwn(ONNX_INLINE, op) ? ONNX_INLINE[op] : null;
}

/**
 * Returns true if the node's outputs depend only on its own attributes, and a function's caller sets none of the
 * attributes.
 */
export const isConstantNode = (node: ModelNode): boolean =>
  inlineOperator(node) !== null &&
  node.inputs.length === 0 &&
  !Object.values(node.attributes).some(isReference);

/**
 * Returns the unread constant of a `Constant` node; null for other nodes, and for values that are not tensors. Throws
 * `attribute` for a node that is invalid in its opset.
 */
export function constantOf(node: ModelNode, opset: number): Constant | null {
  if (inlineOperator(node) !== constantNode) return null;
  const made = constantTensor(node);
  if (made !== null) return made;
  const [output = ""] = node.outputs;
  const areShort = Object.entries(node.attributes).every(([name, { type }]) => isShort(name, type));
  return areShort ? constant(output, constantNode(node, [], opset)[0]) : null;
}

/** Returns the tensor in the attribute `value` of a `Constant` node, without checks; null for other nodes. */
export function constantTensor(node: ModelNode): Constant | null {
  const { value } = node.attributes;
  if (inlineOperator(node) !== constantNode || value?.type !== "tensor") return null;
  return renamed(value.value, node.outputs[0] ?? "");
}

/** Returns the output data type of a `Cast` or `Convert` node; null for other nodes and unknown types. */
export function destinationOf({ domain, op, attributes }: ModelNode): DType | null {
  if (domain === "ai.onnx" && op === "Cast") {
    const { to } = attributes;
    return to?.type === "int" ? dtypeOfNumber(Number(to.value)) : null;
  }
  if (domain !== "openvino" || op !== "Convert") return null;
  const { destination_type: destination } = attributes;
  return destination?.type === "string" ? dtypeOfElementType(destination.value) : null;
}

const identity: InlineOperator = (node, inputs, opset) => {
  checkAttributes(node, opset, []);
  checkInputs(node.op, inputs, 1, opset);
  return [inputs[0]];
};

/**
 * Returns the attributes of a `Cast` node that affect floats of at most 8 bits. Throws `attribute` for values that the
 * specification does not define.
 */
export function narrowRulesOf({ attributes }: ModelNode, fields: ErrorContext): NarrowRules {
  const { saturate, round_mode: mode } = attributes;
  const flag = saturate?.type === "int" ? Number(saturate.value) : saturate;
  if (flag !== undefined && flag !== 0 && flag !== 1)
    throw wrongOption("saturate", "an integer attribute, 0 or 1", saturate?.value, fields);
  const word = mode?.value ?? "up";
  const roundMode = ROUND_MODES.find((one) => one === word);
  if (roundMode !== undefined) return { saturates: flag !== 0, roundMode };
  throw wrongOption("round_mode", oneOf(ROUND_MODES), word, fields);
}

const cast: InlineOperator = (node, inputs, opset) => {
  const fields = { op: node.op, opset };
  checkAttributes(node, opset, ["to", "saturate", "round_mode"]);
  const dtype = destinationOf(node);
  if (dtype === null) {
    const sentence = "to must be the number of a data type that this package knows";
    throw new TensorError("attribute", sentence, { ...fields, key: "to" });
  }
  checkInputs(node.op, inputs, 1, opset);
  const rules = narrowRulesOf(node, fields);
  return [castTensor(inputs[0], dtype, { ...fields, input: "input" }, rules)];
};

const openvinoConvert: InlineOperator = (node, inputs, opset) => {
  const { op, attributes } = node;
  const fields = { op, opset };
  const { destination_type: destination } = attributes;
  if (Object.keys(attributes).length !== 1 || destination?.type !== "string") {
    const sentence = "the only attribute must be destination_type, a string";
    throw new TensorError("attribute", sentence, { ...fields, key: "destination_type" });
  }
  const dtype = destinationOf(node);
  if (dtype === null) {
    const must = "a data type that this package has";
    throw wrongOption("destination_type", must, destination.value, fields);
  }
  checkInputs(op, inputs, 1, opset);
  // OpenVINO 2026.4.1 saturates conversions only to this data type.
  const rules: NarrowRules = { saturates: true, roundMode: "nearest" };
  const used = dtype === "float8e8m0" ? rules : undefined;
  return [castTensor(inputs[0], dtype, { ...fields, input: "data" }, used)];
};

const constantNode: InlineOperator = ({ op, attributes }, inputs, opset) => {
  checkInputs(op, inputs, 0, opset);
  const fields = { op, opset };
  const given = Object.entries(attributes);
  const { length: got } = given;
  if (got !== 1) {
    const sentence = `it must have exactly one value, got ${got}`;
    throw new TensorError("attribute", sentence, { ...fields, key: "value", got, expected: 1 });
  }
  const [[key, attribute]] = given;
  const result = valueOf(key, attribute);
  if (result === null) {
    const sentence = `the attribute ${printValue(key)} of type ${attribute.type} cannot be read as a tensor`;
    throw new TensorError("attribute", sentence, { ...fields, key, got: attribute.type });
  }
  if (key !== "value" && opset < SHORT_VALUES) {
    const sentence = `attribute ${key} came with version ${SHORT_VALUES}`;
    throw new TensorError("attribute", sentence, { ...fields, key });
  }
  return [result];
};

/** The version of Constant that added number, string and list attributes. */
export const SHORT_VALUES = 12;

const ONNX_INLINE: Readonly<Record<string, InlineOperator>> = {
  Constant: constantNode,
  Identity: identity,
  Cast: cast,
};

/**
 * Converts an attribute to a tensor. Single values get rank 0, and lists get rank 1. Ints become int64, and floats
 * become float32.
 */
function valueOf(name: string, { type, value }: Attribute): Tensor | null {
  if (type === "tensor" && name === "value") return readConstant(value);
  if (!isShort(name, type)) return null;
  const shape = Array.isArray(value) ? [value.length] : [];
  return tensor(SHORT[type], shape, value as never);
}

const isShort = (name: string, type: string): boolean =>
  Object.hasOwn(SHORT, type) && name === `value_${type}`;

/** The data type of `Constant` for each type of its attributes `value_int`, `value_ints` and so on. */
const SHORT: Readonly<Record<string, DType>> = {
  int: "int64",
  ints: "int64",
  float: "float32",
  floats: "float32",
  string: "string",
  strings: "string",
};

function checkAttributes(
  { op, attributes }: ModelNode,
  opset: number,
  allowed: readonly string[],
): void {
  const key = Object.keys(attributes).find((name) => !allowed.includes(name));
  if (key === undefined) return;
  const known =
    allowed.length === 0 ? "the operator has none" : `its attributes are ${allowed.join(", ")}`;
  const sentence = `unknown attribute ${printValue(key)}; ${known}`;
  throw new TensorError("attribute", sentence, { op, opset, key, allowed });
}

function checkInputs(op: string, inputs: readonly Tensor[], expected: number, opset: number): void {
  const { length: got } = inputs;
  if (got === expected) return;
  const sentence = `the number of its inputs must be ${expected}, got ${got}`;
  throw new TensorError("shape-mismatch", sentence, { op, opset, key: "inputs", got, expected });
}
