/** Creates models from literals. */

import { checkNames, factOf, isArray, namesOf, printValue } from "../../core/foreign.ts";
import { TensorError } from "../../core/errors.ts";
import type { TensorType } from "../../core/operators/operator.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import { checkedModel, listFrom, recordFrom } from "./foreign-model.ts";
import { quote } from "./graph.ts";
import {
  constant,
  domainName,
  type Attribute,
  type Model,
  type ModelNode,
  type ValueInfo,
} from "./model.ts";
import { checkOpset, firstIrVersion, IR_VERSION } from "./opset.ts";

/**
 * Attribute values for {@link buildModel}. Whole numbers become ints, and other numbers become floats. Lists follow the
 * same rule, and `[]` is a list of ints.
 */
export type AttributeInput =
  | Attribute
  | Tensor
  | number
  | bigint
  | string
  | boolean
  | readonly (number | bigint)[]
  | readonly string[];

/** A literal node for {@link buildModel}. */
export interface ModelNodeSpec {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly name?: string | undefined;
  readonly domain?: string | undefined;
  readonly attributes?: Readonly<Record<string, AttributeInput>> | undefined;
}

/** A literal model for {@link buildModel}. */
export interface ModelSpec {
  readonly opsets: Readonly<Record<string, number>>;
  readonly inputs?: Readonly<Record<string, TensorType>> | undefined;
  readonly outputs: Readonly<Record<string, TensorType | null>>;
  readonly constants?: Readonly<Record<string, Tensor>> | undefined;
  readonly nodes: readonly ModelNodeSpec[];
  readonly name?: string | undefined;
  readonly irVersion?: number | undefined;
  readonly producer?: string | undefined;
}

/**
 * Creates a model from literals.
 *
 * @param spec opsets, inputs, constants, nodes and outputs, by name
 * @throws TensorError `attribute` for an unknown key or an invalid attribute value, `dtype` for an unknown data type,
 * `unknown-operator` for an unknown opset of `ai.onnx`, `malformed-file` for a part of the wrong kind
 *
 * @example
 * ```ts
 * const model = buildModel({
 *   opsets: { "ai.onnx": 18 },
 *   inputs: { data: { dtype: "float32", shape: ["N", 4] }, updates: { dtype: "float32", shape: [1, 4] } },
 *   constants: { indices: tensor("int64", [1, 1], [2]) },
 *   nodes: [
 *     {
 *       op: "ScatterND",
 *       inputs: ["data", "indices", "updates"],
 *       outputs: ["y"],
 *       attributes: { reduction: "add" },
 *     },
 *   ],
 *   outputs: { y: { dtype: "float32", shape: ["N", 4] } },
 * });
 * const file = writeModel(model); // the bytes of an `.onnx` file
 * console.log(readModel(file).graph.nodes.length); // 1
 * ```
 */
export function buildModel(spec: ModelSpec): Model {
  const model = knownFrom("a model", spec, MODEL_KEYS, MEANT);
  const { inputs = {}, outputs, constants = {}, nodes, name = "graph" } = model;
  const versions = Object.entries(recordFrom("the opsets of a model", model.opsets));
  // `fromEntries` also keeps a domain named `__proto__`, which an assignment would lose.
  const opsets: Record<string, number> = Object.fromEntries(
    versions.map(([domain, version]) => [domainName(domain), version]),
  );
  const { "ai.onnx": opset } = opsets;
  if (opset !== undefined) checkOpset(opset, "ai.onnx");
  const { irVersion = Math.max(IR_VERSION, firstIrVersion(opset ?? 1)), producer = "ndscatter" } =
    model;
  return checkedModel({
    irVersion,
    producer,
    opsets,
    graph: {
      name,
      inputs: valuesFrom("the inputs of a model", inputs),
      outputs: valuesFrom("the outputs of a model", outputs),
      nodes: listFrom<ModelNodeSpec>("the nodes of a model", nodes).map(nodeOf),
      constants: Object.entries(recordFrom("the constants of a model", constants)).map(
        ([value, tensor]) => constant(value, tensor),
      ),
    },
  });
}

const MODEL_KEYS = /* @__PURE__ */ namesOf<ModelSpec>({
  opsets: true,
  inputs: true,
  outputs: true,
  constants: true,
  nodes: true,
  name: true,
  irVersion: true,
  producer: true,
});
const NODE_KEYS = /* @__PURE__ */ namesOf<ModelNodeSpec>({
  op: true,
  inputs: true,
  outputs: true,
  name: true,
  domain: true,
  attributes: true,
});
const TYPE_KEYS = /* @__PURE__ */ namesOf<TensorType>({ dtype: true, shape: true });

/** Keys of a literal, by the other names that ONNX's files and Python package use. */
const MEANT: Readonly<Record<string, string>> = {
  opset: "opsets",
  opset_import: "opsets",
  opset_imports: "opsets",
  initializer: "constants",
  initializers: "constants",
  ir_version: "irVersion",
  producer_name: "producer",
};
const MEANT_OF_NODES = { opType: "op", op_type: "op", type: "op", attrs: "attributes" };
const MEANT_OF_TYPES = { type: "dtype", elem_type: "dtype", dims: "shape" };

/** Throws `attribute` for an unknown key. */
function knownFrom<T extends object>(
  what: string,
  given: T,
  known: readonly string[],
  meant: Readonly<Record<string, string>>,
): T {
  const record = recordFrom(what, given);
  checkNames(`key of ${what}`, record, known, {}, meant);
  return record;
}

const valuesFrom = (
  what: string,
  types: Readonly<Record<string, TensorType | null>>,
): ValueInfo[] =>
  Object.entries(recordFrom(what, types)).map(([name, type]) => valueInfo(name, type));

function nodeOf(spec: ModelNodeSpec): ModelNode {
  const node = knownFrom("a node", spec, NODE_KEYS, MEANT_OF_NODES);
  const { op, inputs, outputs, name = "", domain = "", attributes = {} } = node;
  return {
    name,
    op,
    domain: domainName(domain),
    inputs: listFrom("the inputs of a node", inputs),
    outputs: listFrom("the outputs of a node", outputs),
    attributes: Object.fromEntries(
      Object.entries(recordFrom("the attributes of a node", attributes)).map(([key, value]) => [
        key,
        attributeFrom(value, key),
      ]),
    ),
  };
}

function valueInfo(name: string, type: TensorType | null): ValueInfo {
  if (type !== null && !Tensor.isTensor(type)) {
    knownFrom(`the type of ${quote(name)}`, type, TYPE_KEYS, MEANT_OF_TYPES);
  }
  return { name, type };
}

function attributeFrom(value: AttributeInput, name: string): Attribute {
  if (Tensor.isTensor(value)) return { type: "tensor", value: constant("", value) };
  if (typeof value === "string") return { type: "string", value };
  if (typeof value === "boolean") return { type: "boolean", value };
  if (typeof value === "bigint" || Number.isInteger(value))
    return { type: "int", value: value as number };
  if (typeof value === "number") return { type: "float", value };
  if (isArray(value)) {
    const list = listFrom<unknown>(`the attribute ${quote(name)}`, value);
    if (list.every(isWhole)) return { type: "ints", value: list };
    if (list.every((item) => typeof item === "string")) return { type: "strings", value: list };
    if (list.every((item) => typeof item === "number")) return { type: "floats", value: list };
  } else if (typeof value === "object" && value !== null) {
    const record = recordFrom(`the attribute ${quote(name)}`, value);
    if ("type" in record) {
      checkNames("key of an attribute", record, ["type", "value", "graphs", "reference"], {});
      return record;
    }
  }
  const kinds = "a number, text, true, false, a tensor, or a list of numbers or of texts";
  const sentence = `the attribute ${quote(name)} must be ${kinds}, got ${printValue(value)}`;
  throw new TensorError("attribute", sentence, { key: name, got: factOf(value) });
}

const isWhole = (value: unknown): value is number | bigint =>
  typeof value === "bigint" || Number.isInteger(value);
