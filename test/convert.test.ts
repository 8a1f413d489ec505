/** Models in other opsets and formats: what is rewritten, what is refused, what stays, and that results are the same. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import type { DType } from "../src/tensor/dtype.ts";
import { isTensorError, type ErrorCode } from "../src/errors.ts";
import { elementTypeOf } from "../src/model/element-type.ts";
import {
  buildModel,
  convertModel,
  externalFiles,
  readModel,
  runModel,
  writeModel,
  type ConvertTarget,
  type Model,
  type ModelNode,
  type ModelNodeSpec,
  type ModelSpec,
} from "../src/onnx/index.ts";
import { readIR, writeIR } from "../src/openvino/index.ts";
import type { TensorType } from "../src/operators/operator.ts";
import { operators } from "../src/operators/registry.ts";
import { equals, tensor, Tensor } from "../src/tensor/tensor.ts";
import { REASONS } from "./cases/convert-reasons.ts";
import { bytes, file, int, mutate, random as seeded, text } from "./onnx-encoder.ts";
import { randomModel } from "./support/models.ts";
import { randomFrom, randomTensor } from "./support/random.ts";

const seed = Number(process.env["SEED"] ?? 20261120);

const OPENVINO = { domain: "openvino" } as const;
const i64 = (shape: number[], values: number[]): Tensor => tensor("int64", shape, values);
const i32 = (shape: number[], values: number[]): Tensor => tensor("int32", shape, values);
const typed = (dtype: DType, ...shape: (number | string | null)[]): TensorType => ({
  dtype,
  shape,
});
const f32 = (...shape: (number | string | null)[]): TensorType => typed("float32", ...shape);

interface Case extends Partial<ModelSpec> {
  readonly op: string;
  readonly attributes?: ModelNodeSpec["attributes"];
  /** Of ai.onnx; without it the node is of openvino, */
  readonly at?: number;
  /** and of this opset. */
  readonly ov?: number;
  readonly axis?: number;
}

/** A model of one node "n": inputs and constants are its inputs by the names `data`, `indices`, `updates` and `axis`. */
function one({ op, attributes = {}, at, ov, axis, ...spec }: Case): Model {
  const constants = { ...spec.constants, ...(axis !== undefined && { axis: i64([], [axis]) }) };
  const there = { ...spec.inputs, ...constants };
  const inputs = ["data", "indices", "updates", "axis"].filter((name) => name in there);
  const domain = at === undefined ? "openvino" : "";
  const node = { op, name: "n", domain, inputs, outputs: ["y"], attributes };
  const model = buildModel({
    opsets: at === undefined ? {} : { "": at },
    irVersion: at === undefined ? 11 : 8,
    outputs: { y: null },
    ...spec,
    constants,
    nodes: spec.nodes ?? [node],
  });
  if (ov !== undefined) for (const each of model.graph.nodes) each.opset = ov;
  return model;
}

/** What a node says, without what it keeps of its file. */
const said = ({ op, opset, inputs, attributes }: ModelNode): unknown => [
  opset === undefined ? op : `${op} ${opset}`,
  inputs,
  Object.fromEntries(Object.entries(attributes).map(([name, { value }]) => [name, value])),
];

const ND = {
  inputs: { data: f32(4), updates: f32(2) },
  constants: { indices: i64([2, 1], [1, -1]) },
};
const FREE = { inputs: { data: f32(4), indices: typed("int64", 2, 1), updates: f32(2) } };
const EL = { inputs: { data: f32(4), updates: f32(2) }, constants: { indices: i64([2], [1, -1]) } };
const FREE_EL = { inputs: { data: f32(4), indices: typed("int64", 2), updates: f32(2) } };
const G = { inputs: { data: f32(4, 3) }, constants: { indices: i64([2], [1, -1]) } };
const FREE_G = { inputs: { data: f32(4, 3), indices: typed("int64", 2) } };

/** What each rule makes: the nodes, and the constants that are new. */
// prettier-ignore
const REWRITES: readonly (readonly [name: string, model: Model, target: ConvertTarget, nodes: readonly unknown[], constants?: Readonly<Record<string, unknown>>])[] = [
  // Within ONNX.
  ["ScatterND keeps what a newer opset has", one({ op: "ScatterND", at: 16, ...ND, attributes: { reduction: "add" } }), { opset: 18 }, [["ScatterND", ["data", "indices", "updates"], { reduction: "add" }]]],
  ["reduction none goes where there is none", one({ op: "ScatterND", at: 18, ...ND, attributes: { reduction: "none" } }), { opset: 13 }, [["ScatterND", ["data", "indices", "updates"], {}]]],
  ["reduction add stays where it was", one({ op: "ScatterND", at: 18, ...ND, attributes: { reduction: "add" } }), { opset: 17 }, [["ScatterND", ["data", "indices", "updates"], { reduction: "add" }]]],
  ["ScatterND 13 to 11, which ONNX's converter refuses", one({ op: "ScatterND", at: 13, ...ND }), { opset: 11 }, [["ScatterND", ["data", "indices", "updates"], {}]]],
  ["batch_dims 0 goes below 12", one({ op: "GatherND", at: 13, inputs: { data: f32(4), indices: typed("int64", 2, 1) }, attributes: { batch_dims: 0 } }), { opset: 11 }, [["GatherND", ["data", "indices"], {}]]],
  ["Scatter becomes ScatterElements", one({ op: "Scatter", at: 10, ...FREE_EL, attributes: { axis: -1 } }), { opset: 11 }, [["ScatterElements", ["data", "indices", "updates"], { axis: -1 }]]],
  ["Scatter that is deprecated becomes ScatterElements", one({ op: "Scatter", at: 13, ...FREE_EL }), { opset: 13 }, [["ScatterElements", ["data", "indices", "updates"], {}]]],
  ["ScatterElements becomes Scatter, whose indices are not negative", one({ op: "ScatterElements", at: 18, ...EL, attributes: { reduction: "none" } }), { opset: 10 }, [["Scatter", ["data", "indices/nonnegative", "updates"], {}]], { "indices/nonnegative": [1n, 3n] }],
  ["Gather counts from the front", one({ op: "Gather", at: 13, ...G }), { opset: 10 }, [["Gather", ["data", "indices/nonnegative"], {}]], { "indices/nonnegative": [1n, 3n] }],
  ["Gather with indices that are another name of a constant", one({ op: "", at: 13, ...G, nodes: [{ op: "Identity", inputs: ["indices"], outputs: ["i"] }, { op: "Gather", inputs: ["data", "i"], outputs: ["y"] }] }), { opset: 10 }, [["Identity", ["indices"], {}], ["Gather", ["data", "i/nonnegative"], {}]], { "i/nonnegative": [1n, 3n] }],
  ["Gather with indices that are cast", one({ op: "", at: 13, ...G, nodes: [{ op: "Cast", inputs: ["indices"], outputs: ["i"], attributes: { to: 6 } }, { op: "Gather", inputs: ["data", "i"], outputs: ["y"] }] }), { opset: 10 }, [["Cast", ["indices"], { to: 6 }], ["Gather", ["data", "i/nonnegative"], {}]], { "i/nonnegative": [1, 3] }],
  ["Gather along another axis", one({ op: "Gather", at: 13, ...G, attributes: { axis: -1 } }), { opset: 10 }, [["Gather", ["data", "indices/nonnegative"], { axis: -1 }]], { "indices/nonnegative": [1n, 2n] }],
  ["indices that are not negative stay", one({ op: "Gather", at: 13, ...G, constants: { indices: i64([1], [3]) } }), { opset: 10 }, [["Gather", ["data", "indices"], {}]]],
  ["TensorScatter stays", one({ op: "TensorScatter", at: 24, inputs: { data: f32(1, 2, 3), updates: f32(1, 1, 3) } }), { opset: 28 }, [["TensorScatter", ["data", "updates"], {}]]],
  // ONNX to OpenVINO.
  ["add is sum, and indices stay int64", one({ op: "ScatterND", at: 18, ...FREE, attributes: { reduction: "add" } }), OPENVINO, [["ScatterNDUpdate 15", ["data", "indices", "updates"], { reduction: "sum" }]]],
  ["mul is prod", one({ op: "ScatterElements", at: 16, ...FREE_EL, attributes: { reduction: "mul" } }), OPENVINO, [["ScatterElementsUpdate 12", ["data", "indices", "updates", "y/axis"], { reduction: "prod" }]], { "y/axis": 0n }],
  ["what is said stays said", one({ op: "ScatterElements", at: 18, ...FREE_EL, attributes: { reduction: "none", axis: -1 } }), OPENVINO, [["ScatterElementsUpdate 12", ["data", "indices", "updates", "y/axis"], { reduction: "none" }]], { "y/axis": -1n }],
  ["an older opset has older versions", one({ op: "ScatterND", at: 18, ...ND }), { ...OPENVINO, opset: 14 }, [["ScatterNDUpdate 4", ["data", "indices/nonnegative", "updates"], {}]], { "indices/nonnegative": [[1n], [3n]] }],
  ["GatherND keeps its batches", one({ op: "GatherND", at: 13, inputs: { data: f32(2, 4), indices: typed("int64", 2, 1) }, attributes: { batch_dims: 1 } }), OPENVINO, [["GatherND 8", ["data", "indices"], { batch_dims: 1 }]]],
  ["the axis of Gather is an input", one({ op: "Gather", at: 1, ...FREE_G, attributes: { axis: 1 } }), OPENVINO, [["Gather 8", ["data", "indices", "y/axis"], {}]], { "y/axis": 1n }],
  ["GatherElements counts from the front, and says its axis", one({ op: "GatherElements", at: 13, inputs: { data: f32(2, 3) }, constants: { indices: i64([2, 1], [1, -2]) } }), OPENVINO, [["GatherElements 6", ["data", "indices/nonnegative"], { axis: 0 }]], { "indices/nonnegative": [[1n], [0n]] }],
  ["tuples count along the axes of their places", one({ op: "ScatterND", at: 11, inputs: { data: f32(4, 3), updates: f32(2) }, constants: { indices: i64([2, 2], [-1, -1, -4, 2]) } }), { ...OPENVINO, opset: 4 }, [["ScatterNDUpdate 4", ["data", "indices/nonnegative", "updates"], {}]], { "indices/nonnegative": [[3n, 2n], [0n, 2n]] }],
  ["tuples count along the axes behind the batches", one({ op: "GatherND", at: 13, inputs: { data: f32(2, 3) }, constants: { indices: i64([2, 1], [-1, 0]) }, attributes: { batch_dims: 1 } }), { ...OPENVINO, opset: 7 }, [["GatherND 5", ["data", "indices/nonnegative"], { batch_dims: 1 }]], { "indices/nonnegative": [[2n], [0n]] }],
  ["Constant and Identity go, Cast is Convert", one({ op: "", at: 13, inputs: { data: f32(4), updates: f32(2), given: typed("int32", 2, 1) }, nodes: [
    { op: "Cast", name: "c", inputs: ["given"], outputs: ["i"], attributes: { to: 7 } },
    { op: "Identity", inputs: ["i"], outputs: ["indices"] },
    { op: "Constant", inputs: [], outputs: ["zero"], attributes: { value_ints: [0] } },
    { op: "ScatterND", inputs: ["data", "indices", "updates"], outputs: ["s"] },
    { op: "Gather", inputs: ["s", "zero"], outputs: ["y"] },
  ] }), OPENVINO, [["Convert 1", ["given"], { destination_type: "i64" }], ["ScatterNDUpdate 15", ["data", "i", "updates"], {}], ["Gather 8", ["s", "zero", "y/axis"], {}]], { zero: [0n], "y/axis": 0n }],
  ["Identity of an output is Convert", one({ op: "Identity", at: 13, inputs: { data: f32(4) } }), OPENVINO, [["Convert 1", ["data"], { destination_type: "f32" }]]],
  // OpenVINO to ONNX.
  ["sum is add; int32 indices that are an input are cast", one({ op: "ScatterNDUpdate", ov: 15, inputs: { ...FREE.inputs, indices: typed("int32", 2, 1) }, attributes: { reduction: "sum" } }), { opset: 16 }, [["Cast", ["indices"], { to: 7 }], ["ScatterND", ["data", "indices/int64", "updates"], { reduction: "add" }]]],
  ["int32 indices that are constant are written anew", one({ op: "ScatterNDUpdate", ov: 4, inputs: ND.inputs, constants: { indices: i32([2, 1], [1, 3]) } }), { opset: 11 }, [["ScatterND", ["data", "indices/int64", "updates"], {}]], { "indices/int64": [[1n], [3n]] }],
  ["int64 indices stay", one({ op: "ScatterNDUpdate", ov: 15, ...FREE }), { opset: 18 }, [["ScatterND", ["data", "indices", "updates"], {}]]],
  ["sub is add of what is negated", one({ op: "ScatterNDUpdate", ov: 15, inputs: { data: typed("uint8", 4) }, constants: { ...ND.constants, updates: tensor("uint8", [2], [1, 255]) }, attributes: { reduction: "sub" } }), { opset: 18 }, [["ScatterND", ["data", "indices", "updates/negated"], { reduction: "add" }]], { "updates/negated": [255, 1] }],
  ["sub of zeros and infinities", one({ op: "ScatterNDUpdate", ov: 15, inputs: { data: f32(4) }, constants: { indices: i64([3, 1], [0, 1, 2]), updates: tensor("float32", [3], [0, -0, Infinity]) }, attributes: { reduction: "sub" } }), { opset: 18 }, [["ScatterND", ["data", "indices", "updates/negated"], { reduction: "add" }]], { "updates/negated": [-0, 0, -Infinity] }],
  ["the axis of ScatterElementsUpdate is an attribute", one({ op: "ScatterElementsUpdate", ov: 12, ...FREE_EL, axis: -1, attributes: { reduction: "prod", use_init_val: { type: "boolean", value: true } } }), { opset: 16 }, [["ScatterElements", ["data", "indices", "updates"], { axis: -1, reduction: "mul" }]]],
  ["use_init_val does not count without a reduction", one({ op: "ScatterElementsUpdate", ov: 12, ...FREE_EL, axis: 0, attributes: { use_init_val: { type: "boolean", value: false } } }), { opset: 13 }, [["ScatterElements", ["data", "indices", "updates"], {}]]],
  ["ScatterElementsUpdate is Scatter before 11", one({ op: "ScatterElementsUpdate", ov: 3, ...FREE_EL, axis: 0 }), { opset: 9 }, [["Scatter", ["data", "indices", "updates"], {}]]],
  ["ScatterUpdate along axis 0 is ScatterND", one({ op: "ScatterUpdate", ov: 3, inputs: { data: f32(4, 3), updates: f32(2, 3) }, constants: { indices: i32([2], [1, 3]) }, axis: 0 }), { opset: 13 }, [["ScatterND", ["data", "indices/tuples/int64", "updates"], {}]], { "indices/tuples/int64": [[1n], [3n]] }],
  ["ScatterUpdate along axis 1 is ScatterElements", one({ op: "ScatterUpdate", ov: 3, inputs: { data: f32(2, 4), updates: f32(2, 3) }, constants: { indices: i32([3], [1, 3, 0]) }, axis: -1 }), { opset: 13 }, [["ScatterElements", ["data", "indices/expanded", "updates"], { axis: 1 }]], { "indices/expanded": [[1n, 3n, 0n], [1n, 3n, 0n]] }],
  ["ScatterUpdate along an axis between others", one({ op: "ScatterUpdate", ov: 3, inputs: { data: f32(2, 4, 2), updates: f32(2, 1, 2) }, constants: { indices: i32([1], [3]) }, axis: 1 }), { opset: 13 }, [["ScatterElements", ["data", "indices/expanded", "updates"], { axis: 1 }]], { "indices/expanded": [[[3n, 3n]], [[3n, 3n]]] }],
  ["ScatterUpdate of two slices between others", one({ op: "ScatterUpdate", ov: 3, inputs: { data: f32(1, 4, 2), updates: f32(1, 2, 2) }, constants: { indices: i32([2], [3, 1]) }, axis: 1 }), { opset: 13 }, [["ScatterElements", ["data", "indices/expanded", "updates"], { axis: 1 }]], { "indices/expanded": [[[3n, 3n], [1n, 1n]]] }],
  ["Gather whose indices are in range", one({ op: "Gather", ov: 8, ...G, axis: 0 }), { opset: 11 }, [["Gather", ["data", "indices"], {}]]],
  ["batch_dims that come to nothing", one({ op: "Gather", ov: 8, ...G, axis: 1, attributes: { batch_dims: -1 } }), { opset: 13 }, [["Gather", ["data", "indices"], { axis: 1 }]]],
  ["GatherND-5 of one batch axis", one({ op: "GatherND", ov: 5, inputs: { data: f32(2, 4), indices: typed("int64", 2, 1) }, attributes: { batch_dims: 1 } }), { opset: 12 }, [["GatherND", ["data", "indices"], { batch_dims: 1 }]]],
  // Within OpenVINO.
  ["an IR in an older opset", one({ op: "ScatterNDUpdate", ov: 15, ...ND, attributes: { reduction: "none" } }), { ...OPENVINO, opset: 14 }, [["ScatterNDUpdate 4", ["data", "indices/nonnegative", "updates"], {}]], { "indices/nonnegative": [[1n], [3n]] }],
  ["an IR in a newer opset", one({ op: "ScatterElementsUpdate", ov: 3, ...FREE_EL, axis: 0 }), { ...OPENVINO, opset: 13 }, [["ScatterElementsUpdate 12", ["data", "indices", "updates", "axis"], {}]]],
  ["an IR without an opset keeps its versions", one({ op: "ScatterNDUpdate", ov: 4, ...FREE }), OPENVINO, [["ScatterNDUpdate 4", ["data", "indices", "updates"], {}]]],
  ["Convert is Cast", one({ op: "Convert", ov: 1, inputs: { data: typed("uint8", 3) }, attributes: { destination_type: "bf16" } }), { opset: 13 }, [["Cast", ["data"], { to: 16 }]]],
];

for (const [name, model, target, nodes, constants = {}] of REWRITES) {
  test(`rewritten: ${name}`, () => {
    const before = new Set(model.graph.constants.map((each) => each.name));
    const { graph } = convertModel(model, target).model;
    assert.deepEqual(graph.nodes.map(said), nodes);
    const added = graph.constants.filter((each) => !before.has(each.name));
    assert.deepEqual(
      Object.fromEntries(added.map((each) => [each.name, each.read().toArray()])),
      constants,
    );
    const used = new Set(graph.nodes.flatMap(({ inputs }) => inputs));
    assert.deepEqual(
      graph.constants.filter((each) => !used.has(each.name)),
      [],
    );
  });
}

/** What is refused, and why. */
// prettier-ignore
const REFUSALS: readonly (readonly [reason: RegExp, model: Model, target: ConvertTarget, code?: ErrorCode])[] = [
  // Within ONNX.
  [/^node "n" cannot be converted to opset 17 of ai\.onnx: ScatterND-16 has no reduction "max"; opset 18 can say it$/, one({ op: "ScatterND", at: 18, ...ND, attributes: { reduction: "max" } }), { opset: 17 }],
  [/ScatterElements-13 has no reduction "add"; opset 16 can say it$/, one({ op: "ScatterElements", at: 18, ...EL, attributes: { reduction: "add" } }), { opset: 15 }],
  [/ScatterND-11 does not take bfloat16; opset 13 can say it$/, one({ op: "ScatterND", at: 13, inputs: { data: typed("bfloat16", 4), updates: typed("bfloat16", 2) }, constants: ND.constants }), { opset: 12 }],
  [/GatherND-11 has no batch_dims, which are 1; opset 12 can say it$/, one({ op: "GatherND", at: 12, inputs: { data: f32(2, 4), indices: typed("int64", 2, 1) }, attributes: { batch_dims: 1 } }), { opset: 11 }],
  [/opset 10 of ai\.onnx does not have ScatterND yet; opset 11 has it$/, one({ op: "ScatterND", at: 13, ...ND }), { opset: 10 }],
  [/opset 23 of ai\.onnx does not have TensorScatter yet; opset 24 has it$/, one({ op: "TensorScatter", at: 24, inputs: { data: f32(1, 2, 3), updates: f32(1, 1, 3) } }), { opset: 23 }],
  [/Gather-1 takes no negative indices, and "indices" is no constant that could be looked at; opset 11 can say it$/, one({ op: "Gather", at: 13, ...FREE_G }), { opset: 10 }],
  [/"indices"\[1\] is -1, and the size of its axis is not known; declare the shape of data$/, one({ op: "Gather", at: 13, ...G, inputs: { data: f32("N", 3) } }), { opset: 10 }],
  [/"indices"\[1\] is -5, which is out of range, and Gather-1 has an error for that$/, one({ op: "Gather", at: 13, ...G, constants: { indices: i64([2], [1, -5]) } }), { opset: 10 }],
  [/Scatter-9 takes no negative indices/, one({ op: "ScatterElements", at: 11, ...FREE_EL }), { opset: 9 }],
  [/Cast of opset 12 does not take bfloat16; opset 13 can say it$/, one({ op: "Cast", at: 13, inputs: { data: f32(4) }, attributes: { to: 16 } }), { opset: 12 }],
  // ONNX to OpenVINO.
  [/ScatterNDUpdate-15 does not take string$/, one({ op: "ScatterND", at: 18, inputs: { data: typed("string", 4), updates: typed("string", 2) }, constants: ND.constants }), OPENVINO],
  [/openvino has no operator that does what TensorScatter does$/, one({ op: "TensorScatter", at: 24, inputs: { data: f32(1, 2, 3), updates: f32(1, 1, 3) } }), OPENVINO],
  [/ScatterNDUpdate-3 has no reduction "add"; opset 15 can say it$/, one({ op: "ScatterND", at: 18, ...ND, attributes: { reduction: "add" } }), { ...OPENVINO, opset: 14 }],
  [/GatherND-5 makes one axis of the 2 batch axes of its output; opset 8 can say it$/, one({ op: "GatherND", at: 13, inputs: { data: f32(2, 2, 4), indices: typed("int64", 2, 2, 1) }, attributes: { batch_dims: 2 } }), { ...OPENVINO, opset: 7 }],
  [/GatherElements-6 takes no negative indices, and "indices" is no constant/, one({ op: "GatherElements", at: 13, inputs: { data: f32(4), indices: typed("int64", 2) } }), OPENVINO],
  [/^to openvino only this package's operators are converted, but the model has Relu \(node "r"\), Conv \(the Conv that makes "y"\)$/, one({ op: "", at: 13, inputs: { data: f32(4) }, nodes: [{ op: "Relu", name: "r", inputs: ["data"], outputs: ["z"] }, { op: "Conv", inputs: ["z"], outputs: ["y"] }] }), OPENVINO],
  [/the data type that it makes of "data" is not known$/, one({ op: "", at: 13, inputs: { data: f32(4) }, nodes: [{ op: "Cast", inputs: ["data"], outputs: ["y"], attributes: { to: 99 } }] }), OPENVINO],
  // OpenVINO to ONNX.
  [/ScatterND-18 has no reduction "sub"$/, one({ op: "ScatterNDUpdate", ov: 15, ...FREE, attributes: { reduction: "sub" } }), { opset: 18 }],
  [/ScatterND-18 has no reduction "sub"$/, one({ op: "ScatterNDUpdate", ov: 15, inputs: { data: typed("bool", 4) }, constants: { ...ND.constants, updates: tensor("bool", [2], [true, false]) }, attributes: { reduction: "sub" } }), { opset: 18 }],
  [/ScatterND-16 has no reduction "min"; opset 18 can say it$/, one({ op: "ScatterNDUpdate", ov: 15, ...FREE, attributes: { reduction: "min" } }), { opset: 16 }],
  [/ScatterElements-18 has no reduction "mean"$/, one({ op: "ScatterElementsUpdate", ov: 12, ...FREE_EL, axis: 0, attributes: { reduction: "mean" } }), { opset: 18 }],
  [/ScatterElements-18 cannot leave data out of a reduction, as use_init_val false does$/, one({ op: "ScatterElementsUpdate", ov: 12, ...FREE_EL, axis: 0, attributes: { reduction: "sum", use_init_val: { type: "boolean", value: false } } }), { opset: 18 }],
  [/ScatterElements-18 has its axis as an attribute, but here it is no constant$/, one({ op: "ScatterElementsUpdate", ov: 12, inputs: { ...FREE_EL.inputs, axis: typed("int64", 1) } }), { opset: 18 }],
  [/Gather-11 has an error for indices out of range, for which Gather-8 gives zeros, and "indices" is no constant that could be looked at$/, one({ op: "Gather", ov: 8, ...FREE_G, axis: 0 }), { opset: 11 }],
  [/"indices"\[0\] is 4, which is out of range, and Gather-13 has an error for that$/, one({ op: "Gather", ov: 8, ...G, constants: { indices: i64([1], [4]) }, axis: 0 }), { opset: 18 }],
  [/Gather-13 has no batch_dims, which are 1$/, one({ op: "Gather", ov: 8, inputs: { data: f32(2, 4) }, constants: { indices: i64([2, 1], [0, 1]) }, axis: 1, attributes: { batch_dims: -1 } }), { opset: 18 }],
  [/GatherND-13 does not make one axis of the 2 batch axes of its output$/, one({ op: "GatherND", ov: 5, inputs: { data: f32(2, 2, 4), indices: typed("int64", 2, 2, 1) }, attributes: { batch_dims: 2 } }), { opset: 18 }],
  [/ScatterND-18: updates\.shape must be .* = \[\], got \[1, 1\]$/, one({ op: "ScatterNDUpdate", ov: 15, inputs: { data: f32(4), updates: f32(1, 1) }, constants: { indices: i64([1], [2]) } }), { opset: 18 }],
  [/ai\.onnx has no ScatterUpdate, and only one with constant indices can be said in other words, which "indices" are not$/, one({ op: "ScatterUpdate", ov: 3, inputs: { data: f32(4, 3), indices: typed("int64", 2), updates: f32(2, 3) }, axis: 0 }), { opset: 18 }],
  [/only one with indices of rank 1 and updates of a known shape can be said along axis 1$/, one({ op: "ScatterUpdate", ov: 3, inputs: { data: f32(4, 3), updates: f32(4, 1, 1) }, constants: { indices: i64([1, 1], [2]) }, axis: 1 }), { opset: 18 }],
  [/only one with at most 1048576 updates can be said along axis 1$/, one({ op: "ScatterUpdate", ov: 3, inputs: { data: f32(2 ** 20, 2), updates: f32(2 ** 20 + 1, 1) }, constants: { indices: i64([1], [1]) }, axis: 1 }), { opset: 18 }],
  [/only one with a known axis can be said/, one({ op: "ScatterUpdate", ov: 3, inputs: { data: f32(4, 3), indices: typed("int64", 2), updates: f32(2, 3), axis: typed("int32") } }), { opset: 18 }],
  [/Cast of opset 12 does not take bfloat16/, one({ op: "Convert", ov: 1, inputs: { data: f32(4) }, attributes: { destination_type: "bf16" } }), { opset: 12 }],
  [/^the input "data" is of a data type that is not known here$/, { ...one({ op: "ScatterNDUpdate", ov: 15, ...FREE }), graph: { ...one({ op: "ScatterNDUpdate", ov: 15, ...FREE }).graph, inputs: [{ name: "data", type: null }] } }, { opset: 18 }],
  [/ScatterElementsUpdate-3 has no reduction "sum"; opset 12 can say it$/, one({ op: "ScatterElementsUpdate", ov: 12, ...FREE_EL, axis: 0, attributes: { reduction: "sum" } }), { ...OPENVINO, opset: 11 }],
  // Nodes that are wrong as they are, and targets that there are not.
  [/cannot be converted to opset 18 of ai\.onnx: ScatterND-16: .*"max"/, one({ op: "ScatterND", at: 16, ...ND, attributes: { reduction: "max" } }), { opset: 18 }, "reduction"],
  [/its input updates is left out$/, one({ op: "ScatterND", at: 16, inputs: { data: f32(4) }, constants: ND.constants }), { opset: 18 }, "malformed-file"],
  [/opset 29 of ai\.onnx is not known here; the newest is 28/, one({ op: "ScatterND", at: 16, ...ND }), { opset: 29 }, "unknown-operator"],
  [/the opset must be a positive integer, got 1\.5/, one({ op: "ScatterND", at: 16, ...ND }), { opset: 1.5 }, "unknown-operator"],
  [/there is no domain "ml"/, one({ op: "ScatterND", at: 16, ...ND }), { domain: "ml" as never, opset: 1 }, "unknown-operator"],
  [/an IR is of version 10 or 11, got 7/, one({ op: "ScatterND", at: 16, ...ND }), { ...OPENVINO, version: 7 as never }, "unknown-operator"],
];

for (const [reason, model, target, code = "unsupported-model"] of REFUSALS) {
  test(`refused: ${reason.source}`, () => {
    assert.throws(
      () => convertModel(model, target),
      (error) => isTensorError(error, code) && (assert.match(error.message, reason), true),
    );
  });
}

/** As patterns. */
const PATTERNS = REASONS.map((reason) => {
  const parts = reason.split("…").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(parts.join(".*"));
});

test("every refusal has a reason that is listed, and every reason a refusal", () => {
  const unused = new Set(PATTERNS);
  for (const [, model, target, code] of REFUSALS) {
    if (code !== undefined) continue;
    let message = "";
    try {
      convertModel(model, target);
    } catch (error) {
      message = String(error);
    }
    const fitting = PATTERNS.filter((pattern) => pattern.test(message));
    assert.ok(fitting.length > 0, message);
    for (const pattern of fitting) unused.delete(pattern);
  }
  assert.deepEqual([...unused], []);
});

test("all nodes that are refused are told at once", () => {
  const node = {
    op: "ScatterND",
    inputs: ["data", "indices", "updates"],
    attributes: { reduction: "max" },
  };
  const nodes = Array.from({ length: 25 }, (_, at) => ({
    ...node,
    name: `n${at}`,
    outputs: [`y${at}`],
  }));
  const model = one({ op: "", at: 18, ...ND, nodes, outputs: {} });
  assert.throws(
    () => convertModel(model, { opset: 16 }),
    (error) =>
      isTensorError(error, "unsupported-model") &&
      /^node "n0" cannot .*; node "n19" cannot be .*; and 5 more$/.test(error.message),
  );
});

/** The model after it was a file. */
function asFile(model: Model): Model {
  if ("ai.onnx" in model.opsets) return readModel(writeModel(model));
  const { xml, bin } = writeIR(model);
  return readIR(xml, bin);
}

test("a random node of any version and data type gives the same bits in any opset and format", () => {
  const versions = operators();
  const converted = new Map<string, number>();
  let refused = 0;
  const property = fc.property(fc.nat(), (number) => {
    const random = randomFrom(number);
    const version = versions[random(versions.length)];
    const next = versions.find(
      ({ name, domain, sinceVersion }) =>
        name === version.name && domain === version.domain && sinceVersion > version.sinceVersion,
    );
    const { model, inputs } = randomModel(version, (next?.sinceVersion ?? 29) - 1, random);
    const target: ConvertTarget =
      random(2) === 0
        ? { opset: 9 + random(20) }
        : { domain: "openvino", ...(random(2) === 0 && { opset: 3 + random(14) }) };
    let result: Model;
    try {
      result = convertModel(model, target).model;
    } catch (error) {
      assert.ok(isTensorError(error, "unsupported-model"), String(error));
      const { message } = error;
      assert.ok(message.startsWith('node "node" cannot be converted to '), message);
      assert.ok(
        PATTERNS.some((reason) => reason.test(message)),
        message,
      );
      refused++;
      return;
    }
    const pair = `${version.domain} to ${target.domain ?? "ai.onnx"}`;
    converted.set(pair, (converted.get(pair) ?? 0) + 1);
    const [output] = model.graph.outputs;
    const before = runModel(model, inputs)[output.name];
    // Random text has halves of surrogate pairs, which no file holds.
    const isText = result.graph.constants.some(({ dtype }) => dtype === "string");
    for (const after of isText ? [result] : [result, asFile(result)]) {
      assert.ok(equals(runModel(after, inputs)[output.name], before), JSON.stringify(target));
    }
  });
  fc.assert(property, { seed, numRuns: 1500 });
  const least = {
    "ai.onnx to ai.onnx": 300,
    "ai.onnx to openvino": 250,
    "openvino to ai.onnx": 120,
    "openvino to openvino": 130,
  };
  for (const [pair, count] of Object.entries(least)) {
    const found = converted.get(pair) ?? 0;
    assert.ok(found >= count, `${pair}: ${found}, and ${refused} refused`);
  }
});

/** Operators with indices that every version takes, as the newest of ONNX has them. */
// prettier-ignore
const ROUND_TRIPS: readonly (readonly [op: string, data: number[], indices: Tensor, updates: number[] | null, attributes: Record<string, number>])[] = [
  ["ScatterND", [3, 2], i64([2, 1], [2, 0]), [2, 2], {}],
  ["ScatterElements", [3, 2], i64([1, 2], [2, 0]), [1, 2], { axis: 0 }],
  ["GatherND", [2, 3], i64([2, 1], [2, 0]), null, { batch_dims: 1 }],
  ["Gather", [2, 3], i64([2], [2, 0]), null, { axis: 1 }],
  ["GatherElements", [2, 3], i64([2, 1], [2, 0]), null, { axis: 1 }],
];

test("every operator in every data type goes from ONNX to OpenVINO and back, through both kinds of files", () => {
  let trips = 0;
  for (const [op, shape, indices, updates, attributes] of ROUND_TRIPS) {
    const { types } = operators().findLast((row) => row.name === op && row.domain === "ai.onnx")
      ?.typeConstraints[0] ?? { types: [] };
    assert.equal(types.length, 16);
    for (const dtype of types) {
      const random = randomFrom(trips);
      const inputs = {
        data: randomTensor(dtype, shape, random),
        ...(updates !== null && { updates: randomTensor(dtype, updates, random) }),
      };
      const model = one({
        op,
        at: 18,
        attributes,
        inputs: Object.fromEntries(
          Object.entries(inputs).map(([name, value]) => [name, { dtype, shape: value.shape }]),
        ),
        constants: { indices },
      });
      const there = (): Model => asFile(convertModel(asFile(model), OPENVINO).model);
      if (elementTypeOf(dtype) === null) {
        assert.throws(there, (error) => isTensorError(error, "unsupported-model"), dtype);
        continue;
      }
      trips++;
      const { y } = runModel(model, inputs);
      if (op === "Gather") assert.ok(equals(runModel(there(), inputs)["y"], y));
      const back = asFile(convertModel(there(), { opset: 18 }).model);
      assert.ok(equals(runModel(back, inputs)["y"], y), `${op} ${dtype}`);
      assert.deepEqual(
        back.graph.inputs.map(({ name, type }) => [name, type]),
        model.graph.inputs.map(({ name, type }) => [name, type]),
      );
      assert.deepEqual(back.graph.outputs[0].type?.dtype, dtype);
    }
  }
  // String and the two complex types OpenVINO has not.
  assert.equal(trips, ROUND_TRIPS.length * 13);
});

/** The records of a message by field number, each as text. */
function recordsOf(message: Uint8Array): [field: number, bytes: Uint8Array][] {
  const list: [number, Uint8Array][] = [];
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = message[at++];
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = number();
    const start = at;
    const value = number();
    const isVarint = tag % 8 === 0;
    const end = isVarint ? at : at + value;
    list.push([tag >> 3, message.subarray(isVarint ? start : at, end)]);
    at = end;
  }
  return list;
}

const partsOf = (message: Uint8Array, field: number): Uint8Array[] =>
  recordsOf(message).flatMap(([number, part]) => (number === field ? [part] : []));

const attribute = (name: string, value: number): number[] =>
  bytes(5, [...text(1, name), ...int(3, value), ...int(20, 2)]);

const encoded = (content: string): Uint8Array => new TextEncoder().encode(content);

/** 200 nodes, of which every 40th is of the family; with metadata, doc strings and unknown fields everywhere. */
function large(): Uint8Array {
  const nodes = Array.from({ length: 200 }, (_, at) => {
    const isFamily = at % 40 === 20;
    const names = isFamily
      ? [...text(1, `v${at}`), ...text(1, "indices"), ...text(1, "updates")]
      : text(1, `v${at}`);
    return bytes(1, [
      ...names,
      ...text(2, `v${at + 1}`),
      ...text(3, `node ${at}`),
      ...text(4, isFamily ? "Scatter" : ["Relu", "Conv", "Softmax"][at % 3]),
      ...(isFamily || at % 2 === 0 ? attribute("axis", 0) : []),
      ...text(6, `about ${at}`),
      ...(at % 5 === 0 ? text(7, isFamily || at % 3 > 0 ? "" : "com.example") : []),
      ...bytes(9, [...text(1, "key"), ...text(2, `value ${at}`)]),
      ...int(900, at),
    ]);
  });
  const weights = bytes(5, [
    ...int(1, 1),
    ...int(2, 1),
    ...text(8, "weights"),
    ...int(14, 1),
    ...bytes(13, [...text(1, "location"), ...text(2, "w.bin")]),
  ]);
  const indices = bytes(5, [
    ...int(1, 2),
    ...int(2, 7),
    ...text(8, "indices"),
    ...int(7, 1),
    ...int(7, 0),
    ...text(12, "doc"),
  ]);
  return file(
    int(1, 4),
    text(2, "tool"),
    text(6, "about the model"),
    bytes(7, [
      ...nodes.flat(),
      ...text(2, "g"),
      ...weights,
      ...indices,
      ...text(10, "about the graph"),
      ...bytes(11, text(1, "v0")),
      ...bytes(11, text(1, "updates")),
      ...bytes(12, text(1, "v200")),
      ...bytes(14, text(1, "weights")),
      ...int(901, 1),
    ]),
    bytes(8, int(2, 10)),
    bytes(8, [...text(1, "com.example"), ...int(2, 3)]),
    bytes(14, [...text(1, "k"), ...text(2, "v")]),
    int(1000, 4),
  );
}

test("of 200 nodes the 195 of other operators stay as they are, byte by byte, and so does what is not known", () => {
  const original = large();
  const model = readModel(original);
  const { model: converted, changes, unchecked, notes } = convertModel(model, { opset: 18 });
  const written = writeModel(converted);
  assert.deepEqual(
    changes,
    [20, 60, 100, 140, 180].map((at) => `node "node ${at}": Scatter-9 to ScatterElements-18`),
  );
  const others = [...unchecked.values()].reduce((sum, count) => sum + count, 0);
  // Those of another domain keep their version.
  const foreign = model.graph.nodes.filter(({ domain }) => domain === "com.example").length;
  assert.deepEqual([...unchecked.keys()].sort(), ["Conv", "Relu", "Softmax"]);
  assert.ok(foreign > 5);
  assert.equal(others, 195 - foreign);
  assert.deepEqual(notes, []);
  // As sets of records: a writer puts the fields that it does not know behind the others.
  const sorted = (message: Uint8Array): string[] =>
    recordsOf(message)
      .map(([field, part]) => `${field}:${part.join()}`)
      .sort();
  const graphs = [original, written].map((one) => partsOf(one, 7)[0]);
  const [before, after] = graphs.map((graph) => partsOf(graph, 1).map(sorted));
  assert.equal(after.length, 200);
  for (const [at, records] of before.entries()) {
    const isFamily = at % 40 === 20;
    const expected = isFamily
      ? records
          .map((one) =>
            one === `4:${[...encoded("Scatter")].join()}`
              ? `4:${[...encoded("ScatterElements")].join()}`
              : one,
          )
          .sort()
      : records;
    assert.deepEqual(after[at], expected, `node ${at}`);
  }
  const rest = (message: Uint8Array, field: number): string[] =>
    sorted(message).filter((one) => !one.startsWith(`${field}:`));
  assert.deepEqual(rest(graphs[1], 1), rest(graphs[0], 1));
  const outside = (message: Uint8Array): string[] =>
    rest(message, 7).filter((one) => !/^[18]:/.test(one));
  assert.deepEqual(outside(written), outside(original));
  assert.deepEqual(readModel(written).opsets, { "ai.onnx": 18, "com.example": 3 });
  assert.equal(readModel(written).irVersion, 8);
  assert.deepEqual(externalFiles(readModel(written)), ["w.bin"]);
  // The model that was converted is as it was, and nothing has to change twice.
  assert.deepEqual(writeModel(model), writeModel(readModel(original)));
  const again = convertModel(readModel(written), { opset: 18 });
  assert.deepEqual([again.changes, again.unchecked.size], [[], 0]);
  assert.deepEqual(writeModel(again.model), written);
});

test("the version of the file is raised where the opset needs it, and not lowered", () => {
  const rows: readonly [opset: number, before: number, after: number][] = [
    [11, 4, 6],
    [13, 3, 7],
    [15, 7, 8],
    [18, 8, 8],
    [19, 8, 9],
    [21, 8, 10],
    [23, 8, 11],
    [24, 9, 12],
    [25, 9, 13],
    [13, 10, 10],
  ];
  for (const [opset, before, after] of rows) {
    const model = { ...one({ op: "ScatterND", at: 13, ...ND }), irVersion: before };
    assert.equal(convertModel(model, { opset }).model.irVersion, after, `opset ${opset}`);
  }
});

test("a constant that is written anew leaves the old one to its other users, and is made once", () => {
  const gather = (from: string, to: string): ModelNodeSpec => ({
    op: "Gather",
    inputs: [from, "indices"],
    outputs: [to],
  });
  const nodes = [
    gather("data", "indices/nonnegative"),
    gather("data", "b"),
    gather("short", "c"),
    { op: "Relu", inputs: ["indices"], outputs: ["y"] },
  ];
  const model = one({
    op: "",
    at: 13,
    inputs: { data: f32(4), short: f32(2) },
    constants: { indices: i64([1], [-1]) },
    nodes,
  });
  const { graph } = convertModel(model, { opset: 10 }).model;
  assert.deepEqual(
    graph.nodes.map(({ inputs }) => inputs[1] ?? inputs[0]),
    ["indices/nonnegative_1", "indices/nonnegative_1", "indices/nonnegative_2", "indices"],
  );
  assert.deepEqual(
    graph.constants.map(({ name, read }) => [name, read().toArray()]),
    [
      ["indices", [-1n]],
      ["indices/nonnegative_1", [3n]],
      ["indices/nonnegative_2", [1n]],
    ],
  );
});

test("an input with a default is no constant, because a caller may replace it", () => {
  const inputs = { data: f32(4), indices: typed("int64", 1) };
  const model = one({ op: "Gather", at: 13, inputs, constants: { indices: i64([1], [-1]) } });
  assert.throws(() => convertModel(model, { opset: 10 }), /"indices" is no constant/);
});

test("a data type that is not declared is told where it matters", () => {
  const nodes = [
    { op: "Relu", inputs: ["data"], outputs: ["r"] },
    { op: "ScatterND", name: "n", inputs: ["r", "indices", "r"], outputs: ["y"] },
  ];
  const model = one({
    op: "",
    at: 13,
    inputs: { data: f32(2) },
    constants: { indices: i64([2, 1], [0, 1]) },
    nodes,
  });
  assert.deepEqual(convertModel(model, { opset: 12 }).notes, [
    'node "n": the data type of "r" is not declared; ScatterND-11 takes all that ScatterND-13 does but bfloat16',
  ]);
  assert.deepEqual(convertModel(model, { opset: 18 }).notes, []);
});

test("Constant and Cast lose what an older opset does not have", () => {
  const nodes: ModelNodeSpec[] = [
    { op: "Constant", inputs: [], outputs: ["c"], attributes: { value_ints: [1, 2] } },
    { op: "Cast", inputs: ["c"], outputs: ["y"], attributes: { to: 6, saturate: 1 } },
  ];
  const model = one({ op: "", at: 19, nodes });
  const { model: converted, unchecked } = convertModel(model, { opset: 11 });
  const [first, second] = converted.graph.nodes;
  assert.deepEqual(Object.keys(first.attributes), ["value"]);
  assert.deepEqual(Object.keys(second.attributes), ["to"]);
  assert.equal(unchecked.size, 0);
  assert.deepEqual(runModel(asFile(converted), {})["y"].toArray(), [1, 2]);
});

/** A graph `then` with a Scatter on values of the graph around it. */
const BODY = [
  ...bytes(1, [
    ...text(1, "x"),
    ...text(1, "i"),
    ...text(1, "x"),
    ...text(2, "z"),
    ...text(4, "Scatter"),
    ...text(6, "doc"),
  ]),
  ...text(2, "then"),
  ...bytes(12, text(1, "z")),
  ...int(902, 1),
];
const PLAIN = [
  ...bytes(1, [...text(1, "x"), ...text(2, "z"), ...text(4, "Relu")]),
  ...text(2, "else"),
  ...bytes(12, text(1, "z")),
];
const graphAttribute = (name: string, graph: readonly number[]): number[] =>
  bytes(5, [...text(1, name), ...bytes(6, graph), ...text(13, "about"), ...int(20, 5)]);
const withBodies = (...functions: readonly (readonly number[])[]): Uint8Array =>
  file(
    int(1, 4),
    bytes(7, [
      ...bytes(1, [
        ...text(1, "c"),
        ...text(2, "y"),
        ...text(4, "If"),
        ...graphAttribute("then_branch", BODY),
        ...graphAttribute("else_branch", PLAIN),
      ]),
      ...bytes(12, text(1, "y")),
    ]),
    bytes(8, int(2, 10)),
    ...functions.map((one) => bytes(25, one)),
  );

test("bodies are converted as well, and keep what is not known", () => {
  const model = readModel(withBodies());
  const { model: converted, changes, unchecked } = convertModel(model, { opset: 13 });
  const written = writeModel(converted);
  assert.deepEqual(changes, ['the Scatter that makes "z": Scatter-9 to ScatterElements-13']);
  assert.deepEqual(Object.fromEntries(unchecked), { If: 1, Relu: 1 });
  const [node] = partsOf(partsOf(written, 7)[0], 1);
  const [then, otherwise] = partsOf(node, 5).map((one) => partsOf(one, 6)[0]);
  assert.deepEqual([...otherwise], PLAIN);
  const shown = new TextDecoder().decode(then);
  for (const kept of ["ScatterElements", "doc", "then"]) assert.ok(shown.includes(kept), kept);
  assert.ok(recordsOf(then).some(([field]) => field === 902));
  assert.ok(new TextDecoder().decode(node).includes("about"));
  // Nothing in a body has to change: it is the one that was there.
  const back = convertModel(readModel(written), { opset: 14 }).model;
  assert.deepEqual(partsOf(partsOf(writeModel(back), 7)[0], 1)[0], node);
});

test("so are bodies of operators of other domains", () => {
  const node = [
    ...text(2, "y"),
    ...text(4, "Repeat"),
    ...text(7, "com.example"),
    ...graphAttribute("body", BODY),
  ];
  const bytesOf = file(
    int(1, 4),
    bytes(7, [...bytes(1, node), ...bytes(12, text(1, "y"))]),
    bytes(8, int(2, 10)),
    bytes(8, [...text(1, "com.example"), ...int(2, 1)]),
  );
  const { model, changes, unchecked } = convertModel(readModel(bytesOf), { opset: 13 });
  assert.deepEqual([changes.length, unchecked.size], [1, 0]);
  assert.ok(new TextDecoder().decode(writeModel(model)).includes("ScatterElements"));
});

test("a function keeps its opset, and is refused where that would mean another version", () => {
  const scatter = bytes(7, [
    ...text(1, "x"),
    ...text(1, "i"),
    ...text(1, "x"),
    ...text(2, "z"),
    ...text(4, "ScatterElements"),
  ]);
  const functionOf = (...nodes: number[][]): number[] => [
    ...text(1, "f"),
    ...nodes.flat(),
    ...bytes(9, int(2, 11)),
    ...text(10, "com.example"),
  ];
  const harmless = functionOf(bytes(7, [...text(1, "x"), ...text(2, "z"), ...text(4, "Relu")]));
  const { model } = convertModel(readModel(withBodies(harmless)), { opset: 13 });
  assert.deepEqual([...partsOf(writeModel(model), 25)[0]], harmless);
  const holds = readModel(withBodies(functionOf(scatter)));
  assert.deepEqual(convertModel(holds, { opset: 12 }).changes.length, 1);
  assert.throws(
    () => convertModel(holds, { opset: 13 }),
    (error) =>
      isTensorError(error, "unsupported-model") &&
      /the function "f" holds ScatterElements-11, and functions are not converted/.test(
        error.message,
      ),
  );
});

test("within OpenVINO other operators keep their versions, and newer ones than the opset are counted", () => {
  const node = (op: string): ModelNodeSpec => ({
    op,
    domain: "openvino",
    inputs: ["data"],
    outputs: [op],
  });
  const gather = {
    ...node("GatherElements"),
    inputs: ["data", "indices"],
    attributes: { axis: 0 },
  };
  const nodes = [gather, node("Relu"), node("Abs")];
  const model = one({
    op: "",
    ov: 6,
    ...EL,
    constants: { indices: i64([2], [1, 3]) },
    outputs: {},
    nodes,
  });
  model.graph.nodes[1].opset = 12;
  const { model: converted, unchecked } = convertModel(model, { ...OPENVINO, opset: 8 });
  assert.deepEqual(Object.fromEntries(unchecked), { Relu: 1 });
  assert.deepEqual(converted.graph.nodes, model.graph.nodes);
});

test("bodies in an IR are not converted, and refused where they would have to be", () => {
  const loop = (ov: number): Model => {
    const model = one({
      op: "",
      ov: 1,
      inputs: { data: f32(4) },
      nodes: [{ op: "If", domain: "openvino", name: "if", inputs: ["data"], outputs: ["y"] }],
    });
    const body = one({
      op: "GatherND",
      ov,
      inputs: { data: f32(4), indices: typed("int64", 2, 1) },
      attributes: { batch_dims: 0 },
    }).graph;
    model.graph.nodes[0].attributes["then_body"] = {
      type: "other",
      value: "GRAPH",
      graphs: [body],
    };
    return model;
  };
  assert.equal(convertModel(loop(5), { ...OPENVINO, opset: 7 }).changes.length, 0);
  assert.throws(
    () => convertModel(loop(5), { ...OPENVINO, opset: 8 }),
    (error) =>
      isTensorError(error, "unsupported-model") &&
      /"if" cannot be converted to opset 8 of openvino: it has a body/.test(error.message),
  );
});

test("an IR stays one, in another version of its files", () => {
  const model = one({ op: "ScatterNDUpdate", ov: 15, ...ND });
  const { model: converted } = convertModel(model, { domain: "openvino", version: 10 });
  assert.equal(converted.irVersion, 10);
  assert.equal(converted.graph, model.graph);
  assert.match(writeIR(converted).xml, /<net name="graph" version="10">/);
});

test("files that are broken at random are converted, or refused with an error of the package", () => {
  const next = seeded(seed);
  const small = writeModel(one({ op: "Gather", at: 13, ...G }));
  const originals = [
    small,
    withBodies(),
    writeModel(one({ op: "ScatterND", at: 18, ...ND, attributes: { reduction: "add" } })),
  ];
  const counts = { converted: 0, refused: 0 };
  for (let round = 0; round < 2000; round++) {
    const broken = mutate(originals[round % originals.length], next);
    const target = round % 2 === 0 ? { opset: 9 + next(20) } : OPENVINO;
    try {
      const { model } = convertModel(readModel(broken), target);
      asFile(model);
      counts.converted++;
    } catch (error) {
      assert.ok(isTensorError(error), error instanceof Error ? error.stack : String(error));
      counts.refused++;
    }
  }
  assert.ok(Math.min(counts.converted, counts.refused) > 100, JSON.stringify(counts));
});
