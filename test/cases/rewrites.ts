/** What `convert` makes of a node: the nodes as text, and the constants that are new. */

import type { ConvertTarget, Model, ModelSpec } from "../../src/entries/onnx.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import {
  cast,
  F32,
  f32,
  gather,
  gatherElements,
  gatherND,
  I32,
  I64,
  i32,
  i64,
  identity,
  onnxModel,
  ovConvert,
  ovGather,
  ovGatherND,
  scatter,
  scatterElements,
  scatterElementsUpdate,
  scatterND,
  scatterNDUpdate,
  scatterUpdate,
  tensorScatter,
  typed,
} from "../support/node-models.ts";
import { newestOf } from "../support/newest.ts";

export interface Rewrite {
  readonly name: string;
  readonly of: Model;
  readonly to: ConvertTarget;
  /** Each node as its operator, with the version in openvino, its inputs and its attributes. */
  readonly nodes: readonly string[];
  readonly constants?: Readonly<Record<string, Tensor>>;
}

export const OPENVINO = { domain: "openvino" } as const;
const OPENVINO_4 = { domain: "openvino", opset: 4 } as const;
const OPENVINO_7 = { domain: "openvino", opset: 7 } as const;
const OPENVINO_14 = { domain: "openvino", opset: 14 } as const;

const [U8] = [typed("uint8")];

/** Inputs with constant indices, of which the last one is negative, and with indices that are an input. */
export const ND = { data: F32(4), indices: i64([2, 1], 1, -1), updates: F32(2) };
export const FREE_ND = { data: F32(4), indices: I64(2, 1), updates: F32(2) };
export const EL = { data: F32(4), indices: i64([2], 1, -1), updates: F32(2) };
export const FREE_EL = { data: F32(4), indices: I64(2), updates: F32(2) };
export const G = { data: F32(4, 3), indices: i64([2], 1, -1) };
export const FREE_G = { data: F32(4, 3), indices: I64(2) };

const SUB = { reduction: "sub" };
const NOT_INIT = { type: "boolean", value: false } as const;

/** Identity, then Gather by its output; the same with a Cast to int32. */
const ALIASED = {
  inputs: { data: F32(4, 3) },
  constants: { indices: G.indices },
  nodes: [
    { op: "Identity", inputs: ["indices"], outputs: ["i"] },
    { op: "Gather", inputs: ["data", "i"], outputs: ["y"] },
  ],
};
const RECAST = {
  ...ALIASED,
  nodes: [
    { op: "Cast", inputs: ["indices"], outputs: ["i"], attributes: { to: 6 } },
    { op: "Gather", inputs: ["data", "i"], outputs: ["y"] },
  ],
};
const INLINE: Partial<ModelSpec> = {
  inputs: { data: F32(4), updates: F32(2), given: I32(2, 1) },
  nodes: [
    { op: "Cast", name: "c", inputs: ["given"], outputs: ["i"], attributes: { to: 7 } },
    { op: "Identity", inputs: ["i"], outputs: ["indices"] },
    { op: "Constant", inputs: [], outputs: ["zero"], attributes: { value_ints: [0] } },
    { op: "ScatterND", inputs: ["data", "indices", "updates"], outputs: ["s"] },
    { op: "Gather", inputs: ["s", "zero"], outputs: ["y"] },
  ],
};

/** The newest version of an operator of openvino, by its opset, as nodes of an IR name it. */
function newest(op: string): string {
  const { sinceVersion, opset = sinceVersion } = newestOf(op, "openvino");
  return `${op}-${opset}`;
}
const ND_UPDATE = newest("ScatterNDUpdate");

// prettier-ignore
const WITHIN_ONNX: readonly Rewrite[] = [
  { name: "ScatterND keeps what a newer opset has",
    of: scatterND({ ...ND, opset: 16, attributes: { reduction: "add" } }), to: { opset: 18 },
    nodes: ['ScatterND data indices updates reduction="add"'] },
  { name: "reduction none goes where there is none",
    of: scatterND({ ...ND, attributes: { reduction: "none" } }), to: { opset: 13 },
    nodes: ["ScatterND data indices updates"] },
  { name: "reduction add stays where it was",
    of: scatterND({ ...ND, attributes: { reduction: "add" } }), to: { opset: 17 },
    nodes: ['ScatterND data indices updates reduction="add"'] },
  { name: "ScatterND 13 to 11, which ONNX's converter refuses", of: scatterND({ ...ND, opset: 13 }), to: { opset: 11 },
    nodes: ["ScatterND data indices updates"] },
  { name: "batch_dims 0 goes below 12",
    of: gatherND({ data: F32(4), indices: I64(2, 1), attributes: { batch_dims: 0 } }), to: { opset: 11 },
    nodes: ["GatherND data indices"] },
  { name: "Scatter becomes ScatterElements", of: scatter({ ...FREE_EL, attributes: { axis: -1 } }), to: { opset: 11 },
    nodes: ["ScatterElements data indices updates axis=-1"] },
  { name: "Scatter that is deprecated becomes ScatterElements", of: scatter({ ...FREE_EL, opset: 13 }),
    to: { opset: 13 }, nodes: ["ScatterElements data indices updates"] },
  { name: "ScatterElements becomes Scatter, whose indices are not negative",
    of: scatterElements({ ...EL, attributes: { reduction: "none" } }), to: { opset: 10 },
    nodes: ["Scatter data indices/nonnegative updates"], constants: { "indices/nonnegative": i64([2], 1, 3) } },
  { name: "Gather counts from the front", of: gather(G), to: { opset: 10 },
    nodes: ["Gather data indices/nonnegative"], constants: { "indices/nonnegative": i64([2], 1, 3) } },
  { name: "Gather with indices that are another name of a constant", of: onnxModel(13, ALIASED), to: { opset: 10 },
    nodes: ["Identity indices", "Gather data i/nonnegative"], constants: { "i/nonnegative": i64([2], 1, 3) } },
  { name: "Gather with indices that are cast", of: onnxModel(13, RECAST), to: { opset: 10 },
    nodes: ["Cast indices to=6", "Gather data i/nonnegative"], constants: { "i/nonnegative": i32([2], 1, 3) } },
  { name: "Gather along another axis", of: gather({ ...G, attributes: { axis: -1 } }), to: { opset: 10 },
    nodes: ["Gather data indices/nonnegative axis=-1"], constants: { "indices/nonnegative": i64([2], 1, 2) } },
  { name: "indices that are not negative stay", of: gather({ ...G, indices: i64([1], 3) }), to: { opset: 10 },
    nodes: ["Gather data indices"] },
  { name: "the first and the last index that an axis has", of: gather({ ...G, indices: i64([2], -4, 3) }),
    to: { opset: 10 }, nodes: ["Gather data indices/nonnegative"],
    constants: { "indices/nonnegative": i64([2], 0, 3) } },
  { name: "Cast keeps attributes that the opset has", to: { opset: 24 },
    of: cast({ opset: 25, attributes: { to: 1, saturate: 1, round_mode: "up" } }),
    nodes: ['Cast data to=1 saturate=1 round_mode="up"'] },
  { name: "Cast loses round_mode before 24", to: { opset: 23 },
    of: cast({ opset: 25, attributes: { to: 1, saturate: 1, round_mode: "up" } }), nodes: ["Cast data to=1 saturate=1"] },
  { name: "Cast keeps saturate from 19 on", of: cast({ opset: 25, attributes: { to: 1, saturate: 1 } }),
    to: { opset: 19 }, nodes: ["Cast data to=1 saturate=1"] },
  { name: "Cast loses saturate before 19", of: cast({ opset: 25, attributes: { to: 1, saturate: 1 } }),
    to: { opset: 18 }, nodes: ["Cast data to=1"] },
  { name: "TensorScatter stays", of: tensorScatter({ indices: null }), to: { opset: 28 },
    nodes: ["TensorScatter data updates"] },
];

// prettier-ignore
const TO_OPENVINO: readonly Rewrite[] = [
  { name: "add is sum, and indices stay int64", of: scatterND({ ...FREE_ND, attributes: { reduction: "add" } }),
    to: OPENVINO, nodes: [`${ND_UPDATE} data indices updates reduction="sum"`] },
  { name: "mul is prod", of: scatterElements({ ...FREE_EL, opset: 16, attributes: { reduction: "mul" } }), to: OPENVINO,
    nodes: [`${newest("ScatterElementsUpdate")} data indices updates y/axis reduction="prod"`],
    constants: { "y/axis": i64([], 0) } },
  { name: "what is said stays said", to: OPENVINO,
    of: scatterElements({ ...FREE_EL, attributes: { reduction: "none", axis: -1 } }),
    nodes: [`${newest("ScatterElementsUpdate")} data indices updates y/axis reduction="none"`],
    constants: { "y/axis": i64([], -1) } },
  { name: "an older opset has older versions", of: scatterND(ND), to: OPENVINO_14,
    nodes: ["ScatterNDUpdate-4 data indices/nonnegative updates"],
    constants: { "indices/nonnegative": i64([2, 1], 1, 3) } },
  { name: "GatherND keeps its batches", to: OPENVINO,
    of: gatherND({ data: F32(2, 4), indices: I64(2, 1), attributes: { batch_dims: 1 } }),
    nodes: [`${newest("GatherND")} data indices batch_dims=1`] },
  { name: "the axis of Gather is an input", of: gather({ ...FREE_G, opset: 1, attributes: { axis: 1 } }), to: OPENVINO,
    nodes: [`${newest("Gather")} data indices y/axis`], constants: { "y/axis": i64([], 1) } },
  { name: "GatherElements counts from the front, and says its axis",
    of: gatherElements({ data: F32(2, 3), indices: i64([2, 1], 1, -2) }), to: OPENVINO,
    nodes: [`${newest("GatherElements")} data indices/nonnegative axis=0`],
    constants: { "indices/nonnegative": i64([2, 1], 1, 0) } },
  { name: "tuples count along the axes of their places", to: OPENVINO_4,
    of: scatterND({ opset: 11, data: F32(4, 3), indices: i64([2, 2], -1, -1, -4, 2), updates: F32(2) }),
    nodes: ["ScatterNDUpdate-4 data indices/nonnegative updates"],
    constants: { "indices/nonnegative": i64([2, 2], 3, 2, 0, 2) } },
  { name: "tuples count along the axes behind the batches", to: OPENVINO_7,
    of: gatherND({ data: F32(2, 3), indices: i64([2, 1], -1, 0), attributes: { batch_dims: 1 } }),
    nodes: ["GatherND-5 data indices/nonnegative batch_dims=1"],
    constants: { "indices/nonnegative": i64([2, 1], 2, 0) } },
  { name: "Constant and Identity go, Cast is Convert", of: onnxModel(13, INLINE), to: OPENVINO,
    nodes: ['Convert-1 given destination_type="i64"', `${ND_UPDATE} data i updates`,
      `${newest("Gather")} s zero y/axis`],
    constants: { zero: i64([1], 0), "y/axis": i64([], 0) } },
  { name: "Identity of an output is Convert", of: identity(), to: OPENVINO,
    nodes: ['Convert-1 data destination_type="f32"'] },
];

// prettier-ignore
const TO_ONNX: readonly Rewrite[] = [
  { name: "sum is add; int32 indices that are an input are cast", to: { opset: 16 },
    of: scatterNDUpdate({ ...FREE_ND, indices: I32(2, 1), attributes: { reduction: "sum" } }),
    nodes: ["Cast indices to=7", 'ScatterND data indices/int64 updates reduction="add"'] },
  { name: "int32 indices that are constant are written anew", to: { opset: 11 },
    of: scatterNDUpdate({ ...ND, opset: 4, indices: i32([2, 1], 1, 3) }),
    nodes: ["ScatterND data indices/int64 updates"], constants: { "indices/int64": i64([2, 1], 1, 3) } },
  { name: "int64 indices stay", of: scatterNDUpdate(FREE_ND), to: { opset: 18 },
    nodes: ["ScatterND data indices updates"] },
  { name: "sub is add of what is negated", to: { opset: 18 },
    of: scatterNDUpdate({ ...ND, data: U8(4), updates: tensor("uint8", [2], [1, 255]), attributes: SUB }),
    nodes: ['ScatterND data indices updates/negated reduction="add"'],
    constants: { "updates/negated": tensor("uint8", [2], [255, 1]) } },
  { name: "sub of zeros and infinities", to: { opset: 18 },
    of: scatterNDUpdate({ ...ND, indices: i64([3, 1], 0, 1, 2), updates: f32([3], 0, -0, Infinity), attributes: SUB }),
    nodes: ['ScatterND data indices updates/negated reduction="add"'],
    constants: { "updates/negated": f32([3], -0, 0, -Infinity) } },
  { name: "the axis of ScatterElementsUpdate is an attribute", to: { opset: 16 },
    of: scatterElementsUpdate({ ...FREE_EL, axis: i64([], -1),
      attributes: { reduction: "prod", use_init_val: { type: "boolean", value: true } } }),
    nodes: ['ScatterElements data indices updates reduction="mul" axis=-1'] },
  { name: "use_init_val does not count without a reduction", to: { opset: 13 },
    of: scatterElementsUpdate({ ...FREE_EL, axis: i64([], 0), attributes: { use_init_val: NOT_INIT } }),
    nodes: ["ScatterElements data indices updates"] },
  { name: "ScatterElementsUpdate is Scatter before 11", of: scatterElementsUpdate({ ...FREE_EL, opset: 3 }),
    to: { opset: 9 }, nodes: ["Scatter data indices updates"] },
  { name: "ScatterUpdate along axis 0 is ScatterND", to: { opset: 13 },
    of: scatterUpdate({ data: F32(4, 3), indices: i32([2], 1, 3), updates: F32(2, 3) }),
    nodes: ["ScatterND data indices/tuples/int64 updates"], constants: { "indices/tuples/int64": i64([2, 1], 1, 3) } },
  { name: "ScatterUpdate along axis 1 is ScatterElements", to: { opset: 13 },
    of: scatterUpdate({ data: F32(2, 4), indices: i32([3], 1, 3, 0), updates: F32(2, 3), axis: i64([], -1) }),
    nodes: ["ScatterElements data indices/expanded updates axis=1"],
    constants: { "indices/expanded": i64([2, 3], 1, 3, 0, 1, 3, 0) } },
  { name: "ScatterUpdate along an axis between others", to: { opset: 13 },
    of: scatterUpdate({ data: F32(2, 4, 2), indices: i32([1], 3), updates: F32(2, 1, 2), axis: i64([], 1) }),
    nodes: ["ScatterElements data indices/expanded updates axis=1"],
    constants: { "indices/expanded": i64([2, 1, 2], 3, 3, 3, 3) } },
  { name: "ScatterUpdate of two slices between others", to: { opset: 13 },
    of: scatterUpdate({ data: F32(1, 4, 2), indices: i32([2], 3, 1), updates: F32(1, 2, 2), axis: i64([], 1) }),
    nodes: ["ScatterElements data indices/expanded updates axis=1"],
    constants: { "indices/expanded": i64([1, 2, 2], 3, 3, 1, 1) } },
  { name: "Gather whose indices are in range", of: ovGather(G), to: { opset: 11 }, nodes: ["Gather data indices"] },
  { name: "batch_dims that come to nothing", to: { opset: 13 },
    of: ovGather({ ...G, axis: i64([], 1), attributes: { batch_dims: -1 } }), nodes: ["Gather data indices axis=1"] },
  { name: "GatherND-5 of one batch axis", to: { opset: 12 },
    of: ovGatherND({ opset: 5, data: F32(2, 4), indices: I64(2, 1), attributes: { batch_dims: 1 } }),
    nodes: ["GatherND data indices batch_dims=1"] },
  { name: "Convert is Cast", of: ovConvert({ data: U8(3), attributes: { destination_type: "bf16" } }),
    to: { opset: 13 }, nodes: ["Cast data to=16"] },
];

// prettier-ignore
const WITHIN_OPENVINO: readonly Rewrite[] = [
  { name: "an IR in an older opset", of: scatterNDUpdate({ ...ND, attributes: { reduction: "none" } }), to: OPENVINO_14,
    nodes: ["ScatterNDUpdate-4 data indices/nonnegative updates"],
    constants: { "indices/nonnegative": i64([2, 1], 1, 3) } },
  { name: "an IR in a newer opset", to: { domain: "openvino", opset: 13 },
    of: scatterElementsUpdate({ ...FREE_EL, opset: 3, axis: i64([], 0) }),
    nodes: ["ScatterElementsUpdate-12 data indices updates axis"] },
  { name: "an axis that is no constant stays an input", to: { domain: "openvino", opset: 13 },
    of: scatterElementsUpdate({ ...FREE_EL, opset: 3, axis: I64(1) }),
    nodes: ["ScatterElementsUpdate-12 data indices updates axis"] },
  { name: "data left out of a reduction stays out", to: { domain: "openvino", opset: 13 },
    of: scatterElementsUpdate({ ...FREE_EL, attributes: { reduction: "sum", use_init_val: NOT_INIT } }),
    nodes: ['ScatterElementsUpdate-12 data indices updates axis reduction="sum" use_init_val=false'] },
  { name: "batch_dims that count from the back stay", to: { domain: "openvino", opset: 8 },
    of: ovGather({ data: F32(2, 4), indices: I64(2, 3), axis: i64([], 1), attributes: { batch_dims: -1 } }),
    nodes: ["Gather-8 data indices axis batch_dims=-1"] },
  { name: "an IR without an opset keeps its versions", of: scatterNDUpdate({ ...FREE_ND, opset: 4 }), to: OPENVINO,
    nodes: ["ScatterNDUpdate-4 data indices updates"] },
];

export const REWRITES = [...WITHIN_ONNX, ...TO_OPENVINO, ...TO_ONNX, ...WITHIN_OPENVINO];
