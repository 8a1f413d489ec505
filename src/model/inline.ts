/**
 * The operators that models are rarely without and that need no Plan: ONNX's `Constant` and `Identity`, OpenVINO's
 * `Convert`.
 *
 * ONNX: Operators, Constant-1 to -25, Identity-1 to -25. OpenVINO: Convert-1.
 */

import { TensorError } from "../errors.ts";
import type { TensorType } from "../operators/operator.ts";
import { tensor, type Tensor } from "../tensor.ts";
import { convertTensor } from "./convert.ts";
import { dtypeOfElementType } from "./element-type.ts";
import type { Attribute, ModelNode } from "./model.ts";

/** Makes a node's outputs of its inputs. */
export type InlineOperator = (
  node: ModelNode,
  inputs: readonly Tensor[],
  opset: number,
) => Tensor[];

/** How a node is run here, or null where it is none of them. */
export function inlineOperator({ domain, op }: ModelNode): InlineOperator | null {
  if (domain === "openvino") return op === "Convert" ? convert : null;
  if (domain !== "ai.onnx") return null;
  return op === "Constant" ? constantNode : op === "Identity" ? identity : null;
}

/** The type that a node which is run here makes of its input's, or null where it does not say. */
export function inlineType(
  { domain, attributes }: ModelNode,
  input: TensorType,
): TensorType | null {
  if (domain !== "openvino") return input;
  const { destination_type: destination } = attributes;
  const dtype = destination?.type === "string" ? dtypeOfElementType(destination.value) : null;
  return dtype && { dtype, shape: input.shape };
}

const identity: InlineOperator = ({ op, attributes }, inputs, opset) => {
  const [odd] = Object.keys(attributes);
  if (odd !== undefined) {
    throw new TensorError(
      "attribute",
      `there is no attribute ${JSON.stringify(odd)}: it has none`,
      { op, opset },
    );
  }
  checkInputs(op, inputs, 1, opset);
  return [inputs[0]];
};

const convert: InlineOperator = ({ op, attributes }, inputs, opset) => {
  const fields = { op, opset };
  const names = Object.keys(attributes);
  const { destination_type: destination } = attributes;
  if (names.length !== 1 || destination?.type !== "string") {
    const sentence = "there must be the attribute destination_type, a string, and no other";
    throw new TensorError("attribute", sentence, fields);
  }
  const dtype = dtypeOfElementType(destination.value);
  if (dtype === null) {
    const sentence = `destination_type is ${JSON.stringify(destination.value)}, which is no data type here`;
    throw new TensorError("attribute", sentence, fields);
  }
  checkInputs(op, inputs, 1, opset);
  return [convertTensor(inputs[0], dtype, { ...fields, input: "data" })];
};

const constantNode: InlineOperator = ({ op, attributes }, inputs, opset) => {
  checkInputs(op, inputs, 0, opset);
  const given = Object.entries(attributes);
  const [first] = given;
  if (given.length !== 1) {
    throw new TensorError("attribute", `there must be exactly one value, got ${given.length}`, {
      op,
      opset,
    });
  }
  const [name, attribute] = first;
  const result = valueOf(name, attribute);
  if (result === null) {
    throw new TensorError(
      "attribute",
      `there is no attribute ${JSON.stringify(name)} of type ${attribute.type} that makes a tensor here`,
      { op, opset },
    );
  }
  if (name !== "value" && opset < SHORT_VALUES) {
    throw new TensorError("attribute", `attribute ${name} came with version ${SHORT_VALUES}`, {
      op,
      opset,
    });
  }
  return [result];
};

/** The version of Constant that added the attributes without a tensor. */
const SHORT_VALUES = 12;

/** Bare values are rank 0, lists rank 1; ints are int64, floats float32. */
function valueOf(name: string, attribute: Attribute): Tensor | null {
  const { type, value } = attribute;
  if (name !== NAMES[type]) return null;
  switch (type) {
    case "tensor":
      return value.read();
    case "int":
      return tensor("int64", [], value);
    case "ints":
      return tensor("int64", [value.length], value);
    case "float":
      return tensor("float32", [], value);
    case "floats":
      return tensor("float32", [value.length], value);
    case "string":
      return tensor("string", [], value);
    case "strings":
      return tensor("string", [value.length], value);
    default:
      return null;
  }
}

/** The name that an attribute of each type must have. */
const NAMES: Readonly<Record<Attribute["type"], string | null>> = {
  tensor: "value",
  int: "value_int",
  ints: "value_ints",
  float: "value_float",
  floats: "value_floats",
  string: "value_string",
  boolean: null,
  strings: "value_strings",
  tensors: null,
  other: null,
};

function checkInputs(op: string, inputs: readonly Tensor[], needed: number, opset: number): void {
  if (inputs.length === needed) return;
  const sentence = `there must be ${needed} inputs, got ${inputs.length}`;
  throw new TensorError("shape-mismatch", sentence, { op, opset, got: inputs.length });
}
