/** The models for the tests of the command. */

import { tensor, type TensorType } from "../../src/entries/index.ts";
import { buildModel, writeModel, type Model } from "../../src/entries/onnx.ts";
import { writeIR } from "../../src/entries/openvino.ts";
import { bytes, file, float, int, text } from "./onnx-encoder.ts";

export const F32 = (...shape: (number | string)[]): TensorType => ({ dtype: "float32", shape });
export const I64 = (...shape: (number | string)[]): TensorType => ({ dtype: "int64", shape });

/** A single ScatterND that adds. */
export const SCATTER_ADD: Model = buildModel({
  opsets: { "ai.onnx": 18 },
  inputs: { data: F32("N", 2), indices: I64("M", 1), updates: F32("M", 2) },
  nodes: [
    {
      op: "ScatterND",
      inputs: ["data", "indices", "updates"],
      outputs: ["y"],
      attributes: { reduction: "add" },
    },
  ],
  outputs: { y: F32("N", 2) },
});

/** A node with constant indices among others that cannot run here; two Relu; a name with an escape sequence. */
export const LARGE: Model = buildModel({
  opsets: { "ai.onnx": 18 },
  inputs: { x: F32("N", 2), updates: F32(2, 2) },
  constants: { indices: tensor("int64", [2, 1], [1, 3]) },
  nodes: [
    { op: "Relu", inputs: ["x"], outputs: ["r"], name: "first" },
    {
      op: "ScatterND",
      inputs: ["r", "indices", "updates"],
      outputs: ["\u001b[31my"],
      name: "middle",
    },
    { op: "Relu", inputs: ["\u001b[31my"], outputs: ["z"] },
  ],
  outputs: { z: F32("N", 2) },
});

/** An operator that was renamed once, on data of an unknown type. */
export const ELEMENTS: Model = buildModel({
  opsets: { "ai.onnx": 18 },
  inputs: { x: F32(3) },
  constants: { at: tensor("int64", [3], [0, 1, 2]) },
  nodes: [
    { op: "Other", inputs: ["x"], outputs: ["r"] },
    { op: "ScatterElements", inputs: ["r", "at", "r"], outputs: ["\u001b[31my"] },
  ],
  outputs: { "\u001b[31my": null },
});

/** A node with two faults and a node with a risk, beside others. */
export const FAULTY: Model = buildModel({
  opsets: { "ai.onnx": 16, "com.example": 1 },
  inputs: { data: F32("\u001bN", 2), updates: F32(2, 2) },
  constants: { far: tensor("int64", [2, 2], [0, 1, 1, 2]), twice: tensor("int64", [2, 1], [1, 1]) },
  nodes: [
    { op: "GatherND", inputs: ["data", "far"], outputs: ["g"], attributes: { mode: "clip" } },
    { op: "Relu", inputs: ["data"], outputs: ["r"] },
    {
      op: "ScatterND",
      name: "sum",
      inputs: ["r", "twice", "updates"],
      outputs: ["y"],
      attributes: { reduction: "add" },
    },
  ],
  outputs: { y: null },
});

export const RISKY: Model = {
  ...FAULTY,
  graph: { ...FAULTY.graph, nodes: FAULTY.graph.nodes.slice(1) },
};

/** Three nodes, two of them of one operator. */
export const TWO: Model = buildModel({
  opsets: { "ai.onnx": 18 },
  inputs: { data: F32("N", 2), indices: I64("M", 1) },
  nodes: [
    { op: "GatherND", inputs: ["data", "indices"], outputs: ["y"] },
    { op: "GatherND", inputs: ["data", "indices"], outputs: ["z"] },
    { op: "Relu", inputs: ["z"], outputs: ["r"] },
  ],
  outputs: { r: F32("M", 2) },
});

/** Two outputs that are the two inputs, float32 and `dtype`. */
export const copyTwo = (dtype: "float32" | "string"): Model =>
  buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: { a: { dtype: "float32", shape: null }, b: { dtype, shape: null } },
    nodes: [
      { op: "Identity", inputs: ["a"], outputs: ["y"] },
      { op: "Identity", inputs: ["b"], outputs: ["z"] },
    ],
    outputs: { y: null, z: null },
  });

/** Copies the input `a=b` to an output, and a text made by the model to another. */
export const ODD_NAMES: Model = buildModel({
  opsets: { "ai.onnx": 18 },
  inputs: { "a=b": { dtype: "float32", shape: null } },
  nodes: [
    { op: "Identity", inputs: ["a=b"], outputs: ["y"] },
    { op: "Constant", inputs: [], outputs: ["t"], attributes: { value_string: "made" } },
  ],
  outputs: { y: null, t: null },
});

/** A model without inputs: its only value is a constant. */
export const NO_INPUTS: Model = buildModel({
  opsets: { "ai.onnx": 18 },
  inputs: {},
  nodes: [{ op: "Constant", inputs: [], outputs: ["t"], attributes: { value_int: 5 } }],
  outputs: { t: null },
});

/** `count` nodes without names, each gathering from the model's first input by its second. */
export const manyGathers = (count: number): Model =>
  buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: { data: F32("N", 2), indices: I64("M", 1) },
    nodes: Array.from({ length: count }, (_, number) => ({
      op: "GatherND",
      inputs: ["data", "indices"],
      outputs: [`out${number}`],
    })),
    outputs: { out0: F32("M", 2) },
  });

/** A node with an unused output without a name. */
export const UNNAMED_OUTPUT: Model = buildModel({
  opsets: { "ai.onnx": 18 },
  inputs: { data: F32("N", 2), indices: I64("M", 1) },
  nodes: [{ op: "GatherND", inputs: ["data", "indices"], outputs: ["y", ""], name: "take" }],
  outputs: { y: null },
});

/** A gather whose indices come from a node instead of the file. */
export const MADE_INDICES: Model = buildModel({
  opsets: { "ai.onnx": 18 },
  inputs: { data: F32("N", 2) },
  nodes: [
    { op: "Constant", inputs: [], outputs: ["which"], attributes: { value_ints: [1] } },
    { op: "GatherND", inputs: ["data", "which"], outputs: ["y"], name: "take" },
    { op: "Identity", inputs: ["y"], outputs: ["z"] },
  ],
  outputs: { z: F32(2) },
});

/** A scatter of a tensor into itself: two of its inputs are one value. */
export const TWICE: Model = buildModel({
  opsets: { "ai.onnx": 18 },
  inputs: { x: F32(3), at: I64(3) },
  nodes: [{ op: "ScatterElements", inputs: ["x", "at", "x"], outputs: ["y"], name: "self" }],
  outputs: { y: F32(3) },
});

interface UpdateSpec {
  readonly opset: number;
  readonly name: string;
  readonly inputs: Readonly<Record<string, TensorType>>;
  readonly constants: Parameters<typeof buildModel>[0]["constants"];
  readonly order: readonly string[];
  readonly reduction?: string;
  readonly output: TensorType;
}

/** An IR of one ScatterNDUpdate, whose output is `y`. */
const buildUpdate = (spec: UpdateSpec): ReturnType<typeof writeIR> =>
  writeIR(
    buildModel({
      opsets: { openvino: spec.opset },
      irVersion: 11,
      inputs: spec.inputs,
      constants: spec.constants,
      nodes: [
        {
          domain: "openvino",
          op: "ScatterNDUpdate",
          name: spec.name,
          inputs: spec.order,
          outputs: ["y"],
          ...(spec.reduction !== undefined && { attributes: { reduction: spec.reduction } }),
        },
      ],
      outputs: { y: spec.output },
    }),
  );

/** An IR with a negative index, in a version that accepts none. */
export const NEGATIVE_IR = buildUpdate({
  opset: 4,
  name: "s",
  inputs: { d: F32(4), u: F32(1) },
  constants: { i: tensor("int32", [1, 1], [-1]) },
  order: ["d", "i", "u"],
  output: F32(4),
});

/** An IR with its indices in the `.bin`. */
export const NET = buildUpdate({
  opset: 15,
  name: "scatter",
  inputs: { data: F32("N", 2), updates: F32(2, 2) },
  constants: { indices: tensor("int32", [2, 1], [1, -1]) },
  order: ["data", "indices", "updates"],
  reduction: "sum",
  output: F32("N", 2),
});

const FLOAT = 1;
const INT64 = 7;
const FLOAT64 = 11;
const EXTERNAL = 1;

/** A TensorProto with its data in another file. */
export const externalTensor = (
  name: string,
  dtype: number,
  dims: readonly number[],
  location: string,
  offset = 0,
): Uint8Array =>
  file(
    ...dims.map((dim) => int(1, dim)),
    int(2, dtype),
    text(8, name),
    ...Object.entries({ location, offset: String(offset) }).map(([key, value]) =>
      bytes(13, [...text(1, key), ...text(2, value)]),
    ),
    int(14, EXTERNAL),
  );

/** A tensor `data` of 2 float32 in another file. */
export const externalData = (location: string, offset = 0): Uint8Array =>
  externalTensor("data", FLOAT, [2], location, offset);

/** A tensor of 2³² - 1 float64, the most elements allowed. */
export const hugeTensor = (location: string): Uint8Array =>
  externalTensor("data", FLOAT64, [2 ** 32 - 1], location);

/** A model with more constants: concatenated messages are one message with the fields of all. */
export const withConstants = (model: Model, ...constants: readonly Uint8Array[]): Uint8Array =>
  file(writeModel(model), ...constants.map((one) => bytes(7, bytes(5, one))));

const GATHER = buildModel({
  opsets: { "ai.onnx": 13 },
  inputs: { indices: I64(1, 1) },
  nodes: [{ op: "GatherND", inputs: ["data", "indices"], outputs: ["y"] }],
  outputs: { y: F32(1) },
});

/** A model that gathers from a constant of 2 float32 in another file. */
export const gatherExternal = (location: string, offset: number): Uint8Array =>
  withConstants(GATHER, externalData(location, offset));

const GATHER_ROW = buildModel({
  opsets: { "ai.onnx": 13 },
  inputs: { data: F32(4, 2) },
  nodes: [{ op: "GatherND", inputs: ["data", "indices"], outputs: ["y"] }],
  outputs: { y: null },
});

/** A model that gathers one row of 2, its index in another file. */
export const gatherFarIndex = (location: string): Uint8Array =>
  withConstants(GATHER_ROW, externalTensor("indices", INT64, [1, 1], location));

/** A NodeProto; attributes are the contents of AttributeProtos, without tag and length. */
const node = (
  op: string,
  outputs: readonly string[],
  attributes: readonly number[][],
): number[] => [
  ...["data", "indices"].flatMap((name) => text(1, name)),
  ...outputs.flatMap((name) => text(2, name)),
  ...text(4, op),
  ...attributes.flatMap((attribute) => bytes(5, attribute)),
];

const attribute = (name: string, type: number, ...value: readonly number[][]): number[] => [
  ...text(1, name),
  ...value.flat(),
  ...int(20, type),
];

const WHOLE = [...int(1, 1), ...int(2, FLOAT), ...bytes(4, [0, 0, 128, 63])];

/** Nodes with attributes of every type, a node in the body of another, and nodes without values. */
export const attributesOfEveryType = (): Uint8Array => {
  const gather = node(
    "GatherND",
    ["y"],
    [
      attribute("f", 1, float(2, 1.5)),
      attribute("i", 2, int(3, 2)),
      attribute("s", 3, text(4, "two words")),
      attribute("t", 4, bytes(5, WHOLE)),
      attribute("ints", 7, int(8, 1), int(8, 2)),
      attribute("strings", 8, text(9, "a"), text(9, "b")),
      attribute("ts", 9, bytes(10, WHOLE), bytes(10, WHOLE)),
      attribute("type", 13),
      attribute("ref", 2, text(21, "outer")),
    ],
  );
  const body = bytes(1, node("GatherND", ["inner"], []));
  const graph = [
    ...bytes(1, gather),
    ...bytes(1, node("If", ["z"], [attribute("then_branch", 5, bytes(6, body))])),
    ...bytes(1, text(4, "GatherND")),
    ...bytes(1, [...text(1, "data"), ...text(4, "GatherND")]),
    ...bytes(1, [...text(1, "data"), ...text(1, ""), ...text(2, "q"), ...text(4, "GatherND")]),
  ];
  return file(int(1, 8), bytes(7, graph), bytes(8, int(2, 13)));
};

/** Nested `If` nodes, with an empty graph innermost. */
export function nestedBodies(depth: number): Uint8Array {
  let graph: readonly number[] = [];
  for (let level = 0; level < depth; level++) {
    graph = bytes(1, node("If", [`y${level}`], [attribute("then_branch", 5, bytes(6, graph))]));
  }
  return file(int(1, 8), bytes(7, graph), bytes(8, int(2, 13)));
}
