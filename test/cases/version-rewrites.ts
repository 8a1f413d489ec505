/**
 * What becomes of operators outside the family in another opset: nodes as `op inputs | attributes`, and the constants
 * that come in. ONNX: Operator Changelog; the meaning of both versions was compared by hand for each row.
 */

import { DTYPES } from "../../src/tensor/dtype.ts";
import { tensor, type Tensor } from "../../src/tensor/tensor.ts";
import type { AttributeInput, ModelNodeSpec, ModelSpec } from "../../src/onnx/index.ts";
import type { TensorType } from "../../src/index.ts";
import { F16, F32, I64, i64, UNRANKED } from "../support/node-models.ts";

export interface VersionRewrite {
  readonly from: number;
  readonly to: number;
  /** The operator, its inputs and how many outputs it has: the values `x`, `y` … are inputs, others are constants. */
  readonly node: string;
  readonly attributes?: Readonly<Record<string, AttributeInput>>;
  readonly inputs?: Readonly<Record<string, TensorType>>;
  readonly constants?: Readonly<Record<string, Tensor>>;
  readonly outputs?: readonly string[];
  /** The nodes, or why there are none. */
  readonly becomes: readonly string[] | RegExp;
  readonly adds?: Readonly<Record<string, Tensor>>;
  /** Why ONNX Runtime 1.30 does not run one of the two. */
  readonly notRun?: string;
}

const F64 = (...shape: number[]): TensorType => ({ dtype: "float64", shape });
const BF16 = (...shape: number[]): TensorType => ({ dtype: "bfloat16", shape });
const f32 = (value: number): Tensor => tensor("float32", [], value);
const axes = (...list: number[]): Tensor => i64([list.length], ...list);
const X = { x: F32(2, 3, 4) };
const N = { x: F32("N", "M", "K") };
const ANY = { x: UNRANKED };
const AXES_1 = { constants: { axes: axes(1) } };
const LARGEST = 3.4028234663852886e38;

// prettier-ignore
const AXES: readonly VersionRewrite[] = [
  { from: 11, to: 13, node: "Unsqueeze x", inputs: X, attributes: { axes: [0, -1] },
    becomes: ["Unsqueeze x y/axes"], adds: { "y/axes": axes(0, -1) } },
  { from: 18, to: 12, node: "Unsqueeze x axes", inputs: X, ...AXES_1, becomes: ["Unsqueeze x | axes=[1]"] },
  { from: 13, to: 10, node: "Unsqueeze x axes", inputs: X, constants: { axes: axes(0, -1) },
    becomes: ["Unsqueeze x | axes=[0,4]"] },
  { from: 13, to: 10, node: "Unsqueeze x axes", inputs: ANY, constants: { axes: axes(-1) },
    becomes: /Unsqueeze-1 counts axes from the front, and the rank of its input is not known; opset 11 can say it$/ },
  { from: 13, to: 12, node: "Unsqueeze x axes", inputs: { ...X, axes: I64(1) },
    becomes: /Unsqueeze-11 has its axes as an attribute, but here they are no constant; opset 13 can say it$/ },
  { from: 11, to: 13, node: "Squeeze x", inputs: X, becomes: ["Squeeze x"] },
  { from: 13, to: 11, node: "Squeeze x axes", inputs: { x: F32(2, 1) }, ...AXES_1, becomes: ["Squeeze x | axes=[1]"] },
  { from: 13, to: 10, node: "Squeeze x axes", inputs: { x: F32(2, 1) }, constants: { axes: axes(-1) },
    becomes: ["Squeeze x | axes=[1]"] },
  { from: 12, to: 13, node: "ReduceSum x", inputs: X, attributes: { axes: [1], keepdims: 0 },
    becomes: ["ReduceSum x y/axes | keepdims=0"], adds: { "y/axes": axes(1) } },
  { from: 13, to: 18, node: "ReduceMean x", inputs: X, attributes: { axes: [-1] },
    becomes: ["ReduceMean x y/axes"], adds: { "y/axes": axes(-1) } },
  { from: 13, to: 17, node: "ReduceMean x", inputs: X, attributes: { axes: [-1] },
    becomes: ["ReduceMean x | axes=[-1]"] },
  { from: 18, to: 13, node: "ReduceMax x", inputs: X, becomes: ["ReduceMax x"] },
  { from: 18, to: 13, node: "ReduceL2 x axes", inputs: X, ...AXES_1, attributes: { noop_with_empty_axes: 1 },
    becomes: ["ReduceL2 x | axes=[1]"] },
  { from: 18, to: 13, node: "ReduceMin x axes", inputs: X, constants: { axes: axes() }, becomes: ["ReduceMin x"] },
  { from: 18, to: 13, node: "ReduceMin x", inputs: X, attributes: { noop_with_empty_axes: 1, keepdims: 1 },
    becomes: ["Identity x"] },
  { from: 18, to: 13, node: "ReduceSumSquare x", inputs: X, attributes: { noop_with_empty_axes: 1 },
    becomes: /ReduceSumSquare-13 without axes reduces all/ },
  { from: 20, to: 19, node: "ReduceMax x", inputs: { x: { dtype: "bool", shape: [4] } },
    becomes: /ReduceMax-18 does not take bool; opset 20 can say it$/ },
  { from: 13, to: 10, node: "Flatten x", inputs: X, attributes: { axis: -1 }, becomes: ["Flatten x | axis=2"] },
  { from: 13, to: 10, node: "Concat x x", inputs: X, attributes: { axis: 1 }, becomes: ["Concat x x | axis=1"] },
];

// prettier-ignore
const PARTS: readonly VersionRewrite[] = [
  { from: 11, to: 13, node: "Split x", inputs: X, attributes: { axis: 2, split: [1, 3] }, outputs: ["y", "z"],
    becomes: ["Split x y/split | axis=2"], adds: { "y/split": axes(1, 3) } },
  { from: 11, to: 18, node: "Split x", inputs: X, attributes: { axis: 2 }, outputs: ["y", "z"],
    becomes: ["Split x | axis=2 num_outputs=2"] },
  { from: 13, to: 18, node: "Split x split", inputs: X, attributes: { axis: 2 }, outputs: ["y", "z"],
    constants: { split: axes(1, 3) }, becomes: ["Split x split | axis=2"] },
  { from: 18, to: 13, node: "Split x", inputs: X, attributes: { axis: 2, num_outputs: 2 }, outputs: ["y", "z"],
    becomes: ["Split x | axis=2"] },
  // The last part of 4 in 3 is smaller: 2, 2, 0.
  { from: 18, to: 11, node: "Split x", inputs: X, attributes: { axis: -1, num_outputs: 3 }, outputs: ["y", "z", "w"],
    becomes: ["Split x | axis=-1 split=[2,2,0]"], notRun: "its Split makes no empty parts" },
  { from: 18, to: 11, node: "Split x", inputs: { x: F32(5) }, attributes: { num_outputs: 3 }, outputs: ["y", "z", "w"],
    becomes: ["Split x | split=[2,2,1]"] },
  { from: 18, to: 13, node: "Split x", inputs: { x: F32(7) }, attributes: { num_outputs: 3 }, outputs: ["y", "z", "w"],
    becomes: ["Split x y/split"], adds: { "y/split": axes(3, 3, 1) } },
  // Three parts of 2 leave -1 for the last one.
  { from: 18, to: 13, node: "Split x", inputs: { x: F32(5) }, attributes: { num_outputs: 4 }, outputs: ["y", "z", "w", "v"],
    becomes: /Split-13 takes sizes, and there are none for 5 in 4; opset 18 can say it$/ },
  { from: 18, to: 13, node: "Split x", inputs: N, attributes: { num_outputs: 2 }, outputs: ["y", "z"],
    becomes: /Split-13 makes parts of one size, and the size of the axis is not known; opset 18 can say it$/ },
  { from: 9, to: 13, node: "Slice x", inputs: X, attributes: { starts: [0, 1], ends: [1, -1], axes: [1, 2] },
    becomes: ["Slice x y/starts y/ends y/axes"],
    adds: { "y/starts": axes(0, 1), "y/ends": axes(1, -1), "y/axes": axes(1, 2) } },
  { from: 9, to: 10, node: "Slice x", inputs: X, attributes: { starts: [1], ends: [2] },
    becomes: ["Slice x y/starts y/ends"], adds: { "y/starts": axes(1), "y/ends": axes(2) } },
  { from: 13, to: 9, node: "Slice x s e a ones", inputs: X,
    constants: { s: axes(0), e: tensor("int64", [1], [2n ** 63n - 1n]), a: axes(-1), ones: axes(1) },
    becomes: ["Slice x | starts=[0] ends=[9223372036854775807] axes=[2]"] },
  { from: 13, to: 10, node: "Slice x s e a", inputs: X, constants: { s: axes(0), e: axes(1), a: axes(-1) },
    becomes: ["Slice x s e y/axes"], adds: { "y/axes": axes(2) } },
  // The lists of a Slice are of one data type.
  { from: 13, to: 10, node: "Slice x s e a", inputs: X,
    constants: { s: tensor("int32", [1], [0]), e: tensor("int32", [1], [1]), a: tensor("int32", [1], [-1]) },
    becomes: ["Slice x s e y/axes"], adds: { "y/axes": tensor("int32", [1], [2]) } },
  { from: 13, to: 9, node: "Slice x s e a twos", inputs: X,
    constants: { s: axes(0), e: axes(3), a: axes(2), twos: axes(2) },
    becomes: /Slice-1 has no steps; opset 10 can say it$/ },
  { from: 10, to: 11, node: "Pad x", inputs: X, attributes: { pads: [0, 0, 1, 0, 0, 1], value: { type: "float", value: 0 } },
    becomes: ["Pad x y/pads"], adds: { "y/pads": axes(0, 0, 1, 0, 0, 1) } },
  // Without a value it would be +0.
  { from: 10, to: 11, node: "Pad x", inputs: { x: F32(2) }, attributes: { pads: [1, 1], value: { type: "float", value: -0 } },
    becomes: ["Pad x y/pads y/value"], adds: { "y/pads": axes(1, 1), "y/value": f32(-0) } },
  { from: 10, to: 13, node: "Pad x", inputs: { x: F16(2) },
    attributes: { mode: "constant", pads: [1, 1], value: { type: "float", value: 2.5 } },
    becomes: ['Pad x y/pads y/value | mode="constant"'],
    adds: { "y/pads": axes(1, 1), "y/value": tensor("float16", [], 2.5) } },
  { from: 18, to: 17, node: "Pad x pads - axes", inputs: X,
    constants: { pads: axes(1, 2, 3, 4), axes: axes(-1, 0) },
    becomes: ["Pad x y/pads"], adds: { "y/pads": axes(2, 0, 1, 4, 0, 3) } },
  { from: 13, to: 10, node: "Pad x pads v", inputs: { x: F32(2) }, constants: { pads: axes(1, 1), v: f32(0.5) },
    becomes: ["Pad x | pads=[1,1] value=0.5"] },
  { from: 13, to: 10, node: "Pad x pads v", inputs: { x: F64(2) },
    constants: { pads: axes(1, 1), v: tensor("float64", [], 0.1) },
    becomes: /Pad-2 has its value as an attribute, but here 0\.1 is no float32; opset 11 can say it$/ },
  { from: 19, to: 18, node: "Pad x pads", inputs: { x: F32(2) }, constants: { pads: axes(1, 1) },
    attributes: { mode: "wrap" }, becomes: /Pad-18 has no mode "wrap"; opset 19 can say it$/ },
  { from: 9, to: 11, node: "TopK x", inputs: X, attributes: { k: 2 }, outputs: ["y", "z"],
    becomes: ["TopK x y/k"], adds: { "y/k": axes(2) } },
  { from: 11, to: 9, node: "TopK x k", inputs: X, attributes: { largest: 1, sorted: 1, axis: -1 }, outputs: ["y", "z"],
    constants: { k: axes(2) }, becomes: ["TopK x | axis=2 k=2"] },
  { from: 11, to: 10, node: "TopK x k", inputs: X, attributes: { largest: 0 }, outputs: ["y", "z"],
    constants: { k: axes(2) }, becomes: /TopK-10 has no largest, which is 0; opset 11 can say it$/ },
];

// prettier-ignore
const ELEMENTS: readonly VersionRewrite[] = [
  { from: 10, to: 11, node: "Clip x", inputs: X, attributes: { min: { type: "float", value: 0 }, max: { type: "float", value: 6 } },
    becomes: ["Clip x y/min y/max"], adds: { "y/min": f32(0), "y/max": f32(6) } },
  { from: 10, to: 13, node: "Clip x", inputs: X, attributes: { max: 1.5 },
    becomes: ["Clip x - y/max"], adds: { "y/max": f32(1.5) } },
  { from: 10, to: 13, node: "Clip x", inputs: X, becomes: ["Clip x"] },
  // The default of float64 was the largest float32, and is the largest float64, which is no float32. That of float16 was
  // the largest float32, too, which is its infinity, and is 65504: infinity stayed, and becomes that number.
  { from: 10, to: 13, node: "Clip x", inputs: { x: F64(2) }, attributes: { min: 0.5 },
    becomes: ["Clip x y/min y/max"],
    adds: { "y/min": tensor("float64", [], 0.5), "y/max": tensor("float64", [], LARGEST) },
    notRun: "its Clip-6 takes no float64" },
  { from: 13, to: 10, node: "Clip x low", inputs: { x: F64(2) }, constants: { low: tensor("float64", [], 0.5) },
    becomes: /Clip-6 has no max that is the largest float64; opset 11 can say it$/ },
  { from: 13, to: 10, node: "Clip x low high", inputs: { x: F64(2) },
    constants: { low: tensor("float64", [], 0.5), high: tensor("float64", [], 6) },
    becomes: ["Clip x | min=0.5 max=6"], notRun: "its Clip-6 takes no float64" },
  { from: 10, to: 13, node: "Clip x", inputs: { x: F16(2) }, attributes: { min: 0.5 }, becomes: ["Clip x y/min y/max"],
    adds: { "y/min": tensor("float16", [], 0.5), "y/max": tensor("float16", [], Infinity) } },
  { from: 13, to: 10, node: "Clip x low", inputs: { x: F16(2) }, constants: { low: tensor("float16", [], 0.5) },
    becomes: ["Clip x | min=0.5 max=65504"] },
  { from: 13, to: 10, node: "Clip x low high", inputs: X, constants: { low: f32(0), high: f32(6) },
    becomes: ["Clip x | min=0 max=6"] },
  { from: 13, to: 10, node: "Clip x low", inputs: { ...X, low: F32() },
    becomes: /Clip-6 has its min as an attribute, but here it is no constant; opset 11 can say it$/ },
  { from: 13, to: 11, node: "Clip x", inputs: { x: I64(2) }, becomes: /Clip-11 does not take int64; opset 12 can say it$/ },
  { from: 11, to: 12, node: "Dropout x", inputs: X, attributes: { ratio: 0.25 },
    becomes: ["Dropout x y/ratio"], adds: { "y/ratio": f32(0.25) } },
  { from: 13, to: 10, node: "Dropout x r t", inputs: X, attributes: { seed: 7 },
    constants: { r: f32(0.25), t: tensor("bool", [], false) }, becomes: ["Dropout x | ratio=0.25"] },
  // Of a ratio that is no float32 nothing depends where nothing is dropped.
  { from: 13, to: 10, node: "Dropout x r", inputs: { x: F64(2) }, constants: { r: tensor("float64", [], 0.1) },
    becomes: [`Dropout x | ratio=${Math.fround(0.1)}`] },
  { from: 22, to: 21, node: "Dropout x r", inputs: X, constants: { r: tensor("bfloat16", [], 0.5) },
    becomes: /Dropout-13 does not take bfloat16; opset 22 can say it$/ },
  { from: 13, to: 10, node: "Dropout x - t", inputs: X, constants: { t: tensor("bool", [], true) },
    becomes: /Dropout-10 drops nothing, but here it is not certain that nothing is dropped; opset 12 can say it$/ },
  { from: 13, to: 10, node: "Dropout x - t", inputs: { ...X, t: { dtype: "bool", shape: [] } },
    becomes: /it is not certain/ },
  { from: 9, to: 10, node: "Dropout x", inputs: X, outputs: ["y", "mask"],
    becomes: /the mask of Dropout-10 is of another data type$/ },
  { from: 10, to: 9, node: "Dropout x", inputs: X, outputs: ["y", ""], becomes: ["Dropout x"] },
  { from: 5, to: 13, node: "Cast x", inputs: X, attributes: { to: "INT64" }, becomes: [`Cast x | to=${DTYPES.int64.onnx.number}`] },
  { from: 13, to: 5, node: "Cast x", inputs: X, attributes: { to: DTYPES.float64.onnx.number }, becomes: ['Cast x | to="DOUBLE"'] },
  { from: 19, to: 13, node: "Cast x", inputs: X, attributes: { to: 6, saturate: 0 }, becomes: ["Cast x | to=6"],
    notRun: "it refuses saturate where it means nothing" },
  { from: 13, to: 12, node: "Add x y0", inputs: { x: BF16(2), y0: BF16(2) }, becomes: /Add-7 does not take bfloat16; opset 13 can say it$/ },
  { from: 14, to: 7, node: "Add x y0", inputs: { x: I64(2), y0: I64(1) }, becomes: ["Add x y0"] },
  { from: 7, to: 6, node: "Add x y0", inputs: { x: I64(2), y0: I64(1) }, becomes: /Add-6 does not broadcast/ },
  { from: 7, to: 6, node: "Add x y0", inputs: { x: I64(2), y0: I64(2) }, becomes: ["Add x y0"] },
  { from: 6, to: 7, node: "Add x y0", inputs: { x: I64(2, 3), y0: I64(3) }, attributes: { broadcast: 1 }, becomes: ["Add x y0"] },
  { from: 6, to: 7, node: "Add x y0", inputs: { x: I64(2, 3), y0: I64(2) }, attributes: { broadcast: 1, axis: 0 },
    becomes: /Add-7 has no axis along which/ },
  { from: 12, to: 11, node: "Pow x y0", inputs: { x: F32(2), y0: F32(2) }, becomes: ["Pow x y0"] },
  { from: 12, to: 11, node: "Pow x y0", inputs: { x: F32(2), y0: I64(2) }, becomes: /Pow-7 does not take int64|Pow-7 takes inputs of one data type/ },
  { from: 13, to: 10, node: "QuantizeLinear x s z", inputs: X, attributes: { axis: 0 },
    constants: { s: f32(1), z: tensor("uint8", [], 0) }, becomes: ["QuantizeLinear x s z"] },
  { from: 13, to: 10, node: "QuantizeLinear x s z", inputs: X,
    constants: { s: tensor("float32", [3], [1, 1, 1]), z: tensor("uint8", [3], [0, 0, 0]) },
    becomes: /QuantizeLinear-10 takes one scale, and here there may be more; opset 13 can say it$/ },
  // Version 13 has a scale of float32 for integers, 19 and 21 one of the data type of the input, and 23 any.
  { from: 13, to: 19, node: "QuantizeLinear x s", inputs: { x: { dtype: "int32", shape: [2] } }, constants: { s: f32(1) },
    becomes: /QuantizeLinear-19 takes a scale of the data type of its input, int32$/ },
  { from: 13, to: 23, node: "QuantizeLinear x s", inputs: { x: { dtype: "int32", shape: [2] } }, constants: { s: f32(1) },
    becomes: ["QuantizeLinear x s"], notRun: "its QuantizeLinear takes no int32" },
  // By 8 bits version 28 makes a 0 of a uint8, and version 11 does not say what.
  { from: 28, to: 27, node: "BitShift x s", inputs: { x: { dtype: "uint8", shape: [2] } }, attributes: { direction: "LEFT" },
    constants: { s: tensor("uint8", [2], [0, 7]) }, becomes: ['BitShift x s | direction="LEFT"'],
    notRun: "it does not know opset 28" },
  { from: 28, to: 27, node: "BitShift x s", inputs: { x: { dtype: "uint8", shape: [2] } }, attributes: { direction: "LEFT" },
    constants: { s: tensor("uint8", [2], [1, 8]) },
    becomes: /BitShift-11 does not shift by all bits, as it may have to here; opset 28 can say it$/ },
  { from: 28, to: 27, node: "BitShift x s", inputs: { x: { dtype: "uint8", shape: [2] }, s: { dtype: "uint8", shape: [2] } },
    attributes: { direction: "LEFT" }, becomes: /BitShift-11 does not shift by all bits/ },
  { from: 11, to: 28, node: "BitShift x s", inputs: { x: { dtype: "uint8", shape: [2] }, s: { dtype: "uint8", shape: [2] } },
    attributes: { direction: "LEFT" }, becomes: ['BitShift x s | direction="LEFT"'], notRun: "it does not know opset 28" },
  // Floats that are rounded down are new, and were an error; those that are truncated, and integers, are not.
  { from: 28, to: 27, node: "Mod x y0", inputs: { x: F32(2), y0: F32(2) },
    becomes: /Mod-13 with fmod 0 is for integers; opset 28 can say it$/ },
  { from: 28, to: 12, node: "Mod x y0", inputs: { x: F32(2), y0: F32(2) }, attributes: { fmod: 1 },
    becomes: ["Mod x y0 | fmod=1"], notRun: "it does not know opset 28" },
  { from: 28, to: 12, node: "Mod x y0", inputs: { x: I64(2), y0: I64(2) }, becomes: ["Mod x y0"],
    notRun: "it does not know opset 28" },
  // It says nothing about other data types than float16 and bfloat16.
  { from: 27, to: 26, node: "Range x y0 d", inputs: { x: F32(), y0: F32(), d: F32() }, attributes: { stash_type: 10 },
    becomes: ["Range x y0 d"], notRun: "it does not know opset 27" },
  { from: 12, to: 11, node: "ArgMax x", inputs: X, attributes: { select_last_index: 1 },
    becomes: /ArgMax-11 has no select_last_index, which is 1; opset 12 can say it$/ },
  { from: 12, to: 11, node: "ArgMax x", inputs: X, attributes: { select_last_index: 0, axis: 1 }, becomes: ["ArgMax x | axis=1"] },
];

// prettier-ignore
const MADE: readonly VersionRewrite[] = [
  { from: 20, to: 19, node: "ConstantOfShape s", inputs: { s: I64(1) },
    attributes: { value: tensor("bfloat16", [1], [1]) },
    becomes: /ConstantOfShape-9 does not take bfloat16; opset 20 can say it$/ },
  { from: 23, to: 22, node: "ConstantOfShape s", inputs: { s: I64(1) },
    attributes: { value: tensor("float4e2m1", [1], [1]) },
    becomes: /ConstantOfShape-21 does not take float4e2m1; opset 23 can say it$/ },
  { from: 24, to: 23, node: "ConstantOfShape s", inputs: { s: I64(1) },
    attributes: { value: tensor("float8e8m0", [1], [1]) },
    becomes: /ConstantOfShape-23 does not take float8e8m0; opset 24 can say it$/ },
  { from: 25, to: 9, node: "ConstantOfShape s", inputs: { s: I64(1) }, attributes: { value: tensor("int8", [1], [1]) },
    becomes: [`ConstantOfShape s | value={"name":"","dtype":"int8","shape":[1]}`] },
  { from: 22, to: 21, node: "RandomNormal", attributes: { shape: [2], dtype: 16 },
    becomes: /RandomNormal-1 does not take bfloat16; opset 22 can say it$/ },
  { from: 22, to: 21, node: "RandomUniform", attributes: { shape: [2], dtype: 16 },
    becomes: /RandomUniform-1 does not take bfloat16; opset 22 can say it$/ },
  { from: 22, to: 21, node: "RandomNormalLike x", inputs: X, attributes: { dtype: 16 },
    becomes: /RandomNormalLike-1 does not take bfloat16; opset 22 can say it$/ },
  { from: 22, to: 21, node: "RandomUniformLike x", inputs: { x: BF16(2) }, attributes: { dtype: 1 },
    becomes: /RandomUniformLike-1 does not take bfloat16; opset 22 can say it$/ },
  { from: 24, to: 23, node: "SplitToSequence x", inputs: { x: BF16(2) },
    becomes: /SplitToSequence-11 does not take bfloat16; opset 24 can say it$/ },
  { from: 19, to: 18, node: "CastLike x y0", inputs: { x: F32(2), y0: I64(1) }, attributes: { saturate: 0 },
    becomes: ["CastLike x y0"], notRun: "it refuses saturate where it means nothing" },
  { from: 24, to: 23, node: "CastLike x y0", inputs: { x: F32(2), y0: I64(1) }, attributes: { round_mode: "down" },
    becomes: ["CastLike x y0"] },
  { from: 24, to: 23, node: "Cast x", inputs: X, attributes: { to: 6, round_mode: "down" }, becomes: ["Cast x | to=6"],
    notRun: "it refuses round_mode where it means nothing" },
  { from: 14, to: 13, node: "BatchNormalization x s b m v",
    inputs: { x: F16(1, 2), s: F32(2), b: F32(2), m: F32(2), v: F32(2) },
    becomes: /BatchNormalization-9 takes inputs of one data type, "x", "s", "b", "m", "v"; opset 14 can say it$/ },
  { from: 15, to: 14, node: "BatchNormalization x s b m v",
    inputs: { x: F16(1, 2), s: F32(2), b: F32(2), m: F32(2), v: F32(2) },
    becomes: /BatchNormalization-14 takes inputs of one data type, "x", "s", "b"; opset 15 can say it$/ },
  { from: 14, to: 13, node: "BatchNormalization x s b m v", attributes: { training_mode: 1 },
    inputs: { x: F32(1, 2), s: F32(2), b: F32(2), m: F32(2), v: F32(2) },
    becomes: /BatchNormalization-9 has no training_mode, which is 1; opset 14 can say it$/ },
  { from: 9, to: 14, node: "BatchNormalization x s b m v", outputs: ["y", "mean", "var", "sm", "sv"],
    inputs: { x: F32(1, 2), s: F32(2), b: F32(2), m: F32(2), v: F32(2) },
    becomes: /BatchNormalization-14 has other outputs beside the first$/ },
  { from: 23, to: 22, node: "QuantizeLinear x s", inputs: { x: F32(2), s: F16() },
    becomes: /QuantizeLinear-21 takes inputs of one data type, "x", "s"; opset 23 can say it$/ },
  { from: 9, to: 13, node: "OneHot i d v", inputs: { i: I64(2) }, constants: { d: i64([], 3), v: i64([2], 0, 1) },
    becomes: /OneHot-11 means something else: negative indices count from the back$/ },
  { from: 9, to: 13, node: "OneHot i d v", constants: { i: i64([2], 0, 2), d: i64([], 3), v: i64([2], 0, 1) },
    becomes: ["OneHot i d v"] },
  { from: 13, to: 9, node: "OneHot i d v", constants: { i: i64([2], 0, -1), d: i64([], 3), v: i64([2], 0, 1) },
    becomes: /OneHot-9 means something else: negative indices count from the back; opset 11 can say it$/ },
  { from: 13, to: 9, node: "OneHot i d v", inputs: { i: { dtype: "uint8", shape: [2] } },
    constants: { d: i64([], 3), v: i64([2], 0, 1) }, becomes: ["OneHot i d v"], notRun: "its OneHot takes no uint8" },
  { from: 18, to: 17, node: "OptionalHasElement x", inputs: X,
    becomes: /OptionalHasElement-15 does not take float32; opset 18 can say it$/ },
  { from: 18, to: 17, node: "OptionalHasElement", becomes: /OptionalHasElement-15 needs the input input; opset 18/ },
  { from: 18, to: 17, node: "OptionalGetElement x", inputs: { x: { dtype: "string", shape: [] } },
    becomes: /OptionalGetElement-15 does not take string; opset 18 can say it$/ },
  { from: 13, to: 12, node: "Loop m c v", inputs: { m: I64(), c: { dtype: "bool", shape: [] }, v: F32(2) },
    outputs: ["carried", "y"], becomes: /Loop-11 takes fewer data types, and that of "y" is not known; opset 13 can say it$/ },
  { from: 16, to: 15, node: "Scan x", inputs: { x: BF16(2) }, becomes: /Scan-11 does not take bfloat16; opset 16 can say it$/ },
  { from: 11, to: 10, node: "Scan x", inputs: X, attributes: { scan_input_axes: [-1] },
    becomes: /Scan-9 counts scan_input_axes from the front, which are -1; opset 11 can say it$/ },
  { from: 11, to: 10, node: "Scan x", inputs: X, attributes: { scan_output_axes: [-1] },
    becomes: /Scan-9 counts scan_output_axes from the front, which are -1; opset 11 can say it$/ },
];

// prettier-ignore
const SHAPES: readonly VersionRewrite[] = [
  { from: 4, to: 5, node: "Reshape x", inputs: X, attributes: { shape: [0, -1] },
    becomes: ["Reshape x y/shape"], adds: { "y/shape": axes(0, -1) } },
  { from: 14, to: 13, node: "Reshape x s", inputs: X, attributes: { allowzero: 1 }, constants: { s: axes(4, -1) },
    becomes: ["Reshape x s"] },
  { from: 14, to: 13, node: "Reshape x s", inputs: { x: F32(0, 3) }, attributes: { allowzero: 1 }, constants: { s: axes(3, 0) },
    becomes: /Reshape-13 makes no axis of 0 elements of a 0; opset 14 can say it$/ },
  { from: 15, to: 13, node: "Shape x", inputs: X, attributes: { start: 0 }, becomes: ["Shape x"] },
  { from: 15, to: 13, node: "Shape x", inputs: X, attributes: { start: 1, end: -1 },
    becomes: ["Shape x", "Slice y/Shape y/starts y/ends"], adds: { "y/starts": axes(1), "y/ends": axes(-1) } },
  { from: 15, to: 9, node: "Shape x", inputs: X, attributes: { start: -2 },
    becomes: ["Shape x", "Slice y/Shape | starts=[-2] ends=[9223372036854775807]"] },
  { from: 11, to: 13, node: "Softmax x", inputs: X, attributes: { axis: 2 }, becomes: ["Softmax x | axis=-1"] },
  { from: 11, to: 13, node: "Softmax x", inputs: X,
    becomes: ["Flatten x | axis=1", "Softmax y/Flatten | axis=-1", "Shape x", "Reshape y/Softmax y/Shape"] },
  { from: 11, to: 14, node: "Hardmax x", inputs: N, attributes: { axis: -2 },
    becomes: ["Flatten x | axis=-2", "Hardmax y/Flatten | axis=-1", "Shape x", "Reshape y/Hardmax y/Shape | allowzero=1"] },
  { from: 1, to: 13, node: "LogSoftmax x", inputs: { x: F32("N", 5) }, becomes: ["LogSoftmax x | axis=-1"] },
  { from: 13, to: 11, node: "Softmax x", inputs: X, becomes: ["Softmax x | axis=2"] },
  { from: 13, to: 11, node: "Softmax x", inputs: ANY, becomes: ["Softmax x | axis=-1"] },
  { from: 13, to: 10, node: "Softmax x", inputs: ANY, becomes: /Softmax-1 counts axis from the front, and the rank of/ },
  { from: 13, to: 11, node: "Softmax x", inputs: X, attributes: { axis: -3 },
    becomes: ["Transpose x | perm=[2,1,0]", "Softmax y/Transpose | axis=2", "Transpose y/Softmax | perm=[2,1,0]"] },
  { from: 13, to: 11, node: "Softmax x", inputs: ANY, attributes: { axis: 1 },
    becomes: /Softmax-11 goes along the last axes, and the rank of its input is not known; opset 13 can say it$/ },
  { from: 13, to: 12, node: "Resize x - - sizes", inputs: X, constants: { sizes: axes(2, 3, 8) },
    becomes: ["Resize x y/roi y/scales sizes"],
    adds: { "y/roi": tensor("float32", [0], []), "y/scales": tensor("float32", [0], []) } },
  { from: 18, to: 13, node: "Resize x - s", inputs: { x: F32(4) }, attributes: { axes: [0] },
    constants: { s: tensor("float32", [1], [2]) }, becomes: /Resize-13 has no axes, which is 0; opset 18 can say it$/ },
  { from: 19, to: 18, node: "MaxPool x", inputs: { x: F32(1, 1, 4) }, attributes: { kernel_shape: [2], ceil_mode: 1 },
    becomes: ["MaxPool x | kernel_shape=[2] ceil_mode=1"] },
  // With windows of 2 that begin at 0, 3 and 6 of 6, the last one begins behind the input; with a padding of 1 before it
  // and after it, windows of 2 and a stride of 2 may as well. With windows of 3 they begin inside.
  { from: 21, to: 22, node: "MaxPool x", inputs: { x: F32(1, 1, 6) },
    attributes: { kernel_shape: [2], strides: [3], ceil_mode: 1 },
    becomes: /with ceil_mode 1 MaxPool-22 means something else$/ },
  { from: 22, to: 21, node: "AveragePool x", inputs: { x: F32(1, 1, 4) },
    attributes: { kernel_shape: [2], strides: [2], pads: [1, 1], ceil_mode: 1 },
    becomes: /with ceil_mode 1 AveragePool-19 means something else; opset 22 can say it$/ },
  { from: 21, to: 22, node: "MaxPool x", inputs: { x: F32(1, 1, 4) },
    attributes: { kernel_shape: [3], strides: [2], pads: [1, 1], ceil_mode: 1 },
    becomes: ["MaxPool x | kernel_shape=[3] strides=[2] pads=[1,1] ceil_mode=1"] },
  { from: 21, to: 22, node: "MaxPool x", inputs: { x: F32(1, 1, 9) },
    attributes: { kernel_shape: [2], dilations: [2], strides: [3], ceil_mode: 1 },
    becomes: ["MaxPool x | kernel_shape=[2] dilations=[2] strides=[3] ceil_mode=1"] },
  { from: 21, to: 22, node: "MaxPool x", inputs: { x: F32(1, 1, 4) },
    attributes: { kernel_shape: [2], auto_pad: "SAME_UPPER", ceil_mode: 1 },
    becomes: /with ceil_mode 1 MaxPool-22 means something else$/ },
  { from: 8, to: 7, node: "MaxPool x", inputs: { x: F32(1, 1, 4) }, attributes: { kernel_shape: [2], storage_order: 1 },
    becomes: ["MaxPool x | kernel_shape=[2]"] },
  // (4 - 1) * 2 + 3 is 9: an output of 8 leaves a padding of 1 for one of the sides, and one of 7 is even.
  { from: 10, to: 11, node: "ConvTranspose x w", inputs: { x: F32(1, 1, 4), w: F32(1, 1, 3) },
    attributes: { strides: [2], output_shape: [8] },
    becomes: /ConvTranspose-11 pads the other side more, and here the padding may be odd$/ },
  { from: 10, to: 11, node: "ConvTranspose x w", inputs: { x: F32(1, 1, 4), w: F32(1, 1, 3) },
    attributes: { strides: [2], output_shape: [7] },
    becomes: ["ConvTranspose x w | strides=[2] output_shape=[7]"] },
  { from: 10, to: 11, node: "ConvTranspose x w", inputs: { x: F32(1, 1, "N"), w: F32(1, 1, 3) },
    attributes: { output_shape: [7] }, becomes: /ConvTranspose-11 pads the other side more/ },
  { from: 11, to: 10, node: "ConvTranspose x w", inputs: { x: F32(1, 1, 4), w: F32(1, 1, 3) },
    attributes: { auto_pad: "SAME_UPPER" }, becomes: /ConvTranspose-1 pads the other side more/ },
  { from: 10, to: 22, node: "ConvTranspose x w", inputs: { x: F32(1, 1, "N"), w: F32(1, 1, 3) },
    attributes: { pads: [0, 1] }, becomes: ["ConvTranspose x w | pads=[0,1]"] },
  { from: 17, to: 20, node: "DFT x", inputs: { x: F32(1, 8, 4, 2) },
    becomes: ["DFT x - y/axis"], adds: { "y/axis": tensor("int64", [], 1n) } },
  { from: 11, to: 10, node: "Constant", attributes: { sparse_value: { type: "other", value: "SPARSE_TENSOR" } },
    becomes: /Constant-9 has no sparse_value; opset 11 can say it$/ },
  { from: 20, to: 17, node: "DFT x", inputs: { x: F32(1, 8, 4, 2) }, becomes: ["DFT x | axis=-2"] },
  { from: 20, to: 17, node: "DFT x - a", inputs: { x: F32(1, 8, 4, 2) }, constants: { a: tensor("int64", [], 2n) },
    attributes: { inverse: 1 }, becomes: ["DFT x | inverse=1 axis=2"] },
  // A mask of one column was for all keys, and is for the first one.
  { from: 23, to: 24, node: "Attention x k v m", inputs: { x: F32(1, 1, 3, 4), k: F32(1, 1, 5, 4), v: F32(1, 1, 5, 4), m: F32(3, 1) },
    becomes: /to Attention-24 the one column of the mask "m" means something else$/ },
  { from: 24, to: 23, node: "Attention x k v m", inputs: { x: F32(1, 1, 3, 4), k: F32(1, 1, 5, 4), v: F32(1, 1, 5, 4), m: F32(3, 5) },
    becomes: ["Attention x k v m"] },
  { from: 23, to: 24, node: "Attention x k v m", inputs: { x: F32(1, 1, 3, 4), k: F32(1, 1, 1, 4), v: F32(1, 1, 1, 4), m: F32(3, 1) },
    becomes: ["Attention x k v m"] },
  { from: 11, to: 8, node: "MaxPool x", inputs: { x: F32(1, 1, 4) },
    attributes: { kernel_shape: [2], dilations: [1], ceil_mode: 0 }, becomes: ["MaxPool x | kernel_shape=[2]"] },
  { from: 11, to: 8, node: "MaxPool x", inputs: { x: F32(1, 1, 4) }, attributes: { kernel_shape: [2], dilations: [2] },
    becomes: /MaxPool-8 has no dilations, which is 2; opset 10 can say it$/ },
  { from: 15, to: 16, node: "RoiAlign x rois b", inputs: { x: F32(1, 1, 4, 4), rois: F32(2, 4), b: I64(2) },
    becomes: ['RoiAlign x rois b | coordinate_transformation_mode="output_half_pixel"'] },
  { from: 16, to: 15, node: "RoiAlign x rois b", inputs: { x: F32(1, 1, 4, 4), rois: F32(2, 4), b: I64(2) },
    becomes: /RoiAlign-10 always means coordinate_transformation_mode "output_half_pixel"; opset 16 can say it$/ },
  { from: 16, to: 20, node: "GridSample x g", inputs: { x: F32(1, 1, 4, 4), g: F32(1, 2, 2, 2) }, attributes: { mode: "bicubic" },
    becomes: ['GridSample x g | mode="cubic"'] },
  { from: 20, to: 16, node: "GridSample x g", inputs: { x: F32(1, 1, 4, 4, 4), g: F32(1, 2, 2, 2, 3) },
    becomes: /GridSample-16 takes only inputs of rank 4; opset 20 can say it$/ },
  { from: 9, to: 10, node: "Upsample x s", inputs: X, constants: { s: tensor("float32", [3], [1, 1, 2]) },
    becomes: /Upsample-10 means something else: Resize has taken its place$/ },
  { from: 14, to: 13, node: "LSTM x w r", inputs: { x: F32(1, 1, 2), w: F32(1, 8, 2), r: F32(1, 8, 2) },
    attributes: { hidden_size: 2, layout: 1 }, becomes: /LSTM-7 has no layout, which is 1; opset 14 can say it$/ },
  { from: 9, to: 8, node: "BatchNormalization x s b m v",
    inputs: { x: F32(1, 2), s: F32(2), b: F32(2), m: F32(2), v: F32(2) }, becomes: ["BatchNormalization x s b m v"] },
];

export const VERSION_REWRITES = [...AXES, ...PARTS, ...ELEMENTS, ...MADE, ...SHAPES];

/** A model of the one node. */
export function versionModel(row: VersionRewrite): ModelSpec {
  const { from, node, attributes = {}, inputs = {}, constants = {}, outputs = ["y"] } = row;
  const [op, ...names] = node.split(" ");
  const spec: ModelNodeSpec = {
    op,
    inputs: names.map((name) => (name === "-" ? "" : name)),
    outputs,
    attributes,
  };
  return {
    opsets: { "": from },
    inputs,
    constants,
    nodes: [spec],
    outputs: { y: null },
  };
}
