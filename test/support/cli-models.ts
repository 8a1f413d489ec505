/** The models that the tests of the command read. */

import { tensor, type TensorType } from "../../src/index.ts";
import { buildModel, writeModel, type Model } from "../../src/onnx/index.ts";
import { writeIR } from "../../src/openvino/index.ts";
import { bytes, file, int, text } from "../onnx-encoder.ts";

export const F32 = (...shape: (number | string)[]): TensorType => ({ dtype: "float32", shape });
export const I64 = (...shape: (number | string)[]): TensorType => ({ dtype: "int64", shape });

/** One ScatterND that adds. */
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

/** One node among others that are not run here, its indices a constant; two Relu; a name with an escape sequence. */
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

/** One node with two faults and one with a risk, beside others. */
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

interface UpdateSpec {
  readonly opset: number;
  readonly name: string;
  readonly inputs: Readonly<Record<string, TensorType>>;
  readonly constants: Parameters<typeof buildModel>[0]["constants"];
  readonly order: readonly string[];
  readonly reduction?: string;
  readonly output: TensorType;
}

/** An IR of one ScatterNDUpdate, which makes `y`. */
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

/** An IR whose version takes no negative indices, with one. */
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
const EXTERNAL = 1;

/** A TensorProto whose data are in another file. */
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

/** A tensor `data` of 2 float32, which are elsewhere. */
export const externalData = (location: string, offset = 0): Uint8Array =>
  externalTensor("data", FLOAT, [2], location, offset);

/** A model with one more constant: two messages after one another are one with the fields of both. */
const withConstant = (model: Model, constant: Uint8Array): Uint8Array =>
  file(writeModel(model), bytes(7, bytes(5, constant)));

const GATHER = buildModel({
  opsets: { "ai.onnx": 13 },
  inputs: { indices: I64(1, 1) },
  nodes: [{ op: "GatherND", inputs: ["data", "indices"], outputs: ["y"] }],
  outputs: { y: F32(1) },
});

/** A model that gathers from a constant of 2 float32 in another file. */
export const gatherExternal = (location: string, offset: number): Uint8Array =>
  withConstant(GATHER, externalData(location, offset));

const GATHER_ROW = buildModel({
  opsets: { "ai.onnx": 13 },
  inputs: { data: F32(4, 2) },
  nodes: [{ op: "GatherND", inputs: ["data", "indices"], outputs: ["y"] }],
  outputs: { y: null },
});

/** A model that gathers one row of 2, its index in another file. */
export const gatherFarIndex = (location: string): Uint8Array =>
  withConstant(GATHER_ROW, externalTensor("indices", INT64, [1, 1], location));
