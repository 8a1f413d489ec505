/** What `convert` refuses, with the sentence. Reasons that the document lists are in `convert-reasons.ts`. */

import type { ErrorCode } from "../../src/core/errors.ts";
import type { ConvertTarget, Model } from "../../src/entries/onnx.ts";
import { NEWEST_OPSETS } from "../../src/core/operators/operator.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import {
  BF16,
  BOOL,
  cast,
  F32,
  gather,
  gatherElements,
  gatherND,
  I32,
  I64,
  i64,
  onnxModel,
  ovConvert,
  ovGather,
  ovGatherND,
  scatterElements,
  scatterElementsUpdate,
  scatterND,
  scatterNDUpdate,
  scatterUpdate,
  tensorScatter,
  TEXT,
} from "../support/node-models.ts";
import { EL, FREE_EL, FREE_G, FREE_ND, G, ND, OPENVINO } from "./rewrites.ts";

export interface Refusal {
  /** The sentence as a whole, behind the name of the node where there is one; or a part of it. */
  readonly says: string | RegExp;
  readonly of: Model;
  readonly to: ConvertTarget;
  /** Where it is no reason of the target: the node is wrong as it is, or there is no such target. */
  readonly code?: ErrorCode;
}

const NEWEST = NEWEST_OPSETS["ai.onnx"];

const BATCHES = { indices: I64(2, 2, 1), attributes: { batch_dims: 2 } };
const SUB = { reduction: "sub" };
const SLICES = { data: F32(4, 3), indices: I64(2), updates: F32(2, 3) };

const NO_SLICES = "ai.onnx has no ScatterUpdate; equivalent nodes need";

/** Two operators that are not of the family. */
const OTHERS = {
  inputs: { data: F32(4) },
  nodes: [
    { op: "Relu", name: "r", inputs: ["data"], outputs: ["z"] },
    { op: "Conv", inputs: ["z"], outputs: ["y"] },
  ],
};

/** A model whose input is of a type that is not known here. */
function untyped(model: Model): Model {
  return { ...model, graph: { ...model.graph, inputs: [{ name: "data", type: null }] } };
}

// prettier-ignore
const WITHIN_ONNX: readonly Refusal[] = [
  { of: scatterND({ ...ND, attributes: { reduction: "max" } }), to: { opset: 17 },
    says: 'node "n" cannot be converted to opset 17 of ai.onnx: ' +
      'ScatterND-16 has no reduction "max"; opset 18 supports it' },
  { of: scatterElements({ ...EL, attributes: { reduction: "add" } }), to: { opset: 15 },
    says: 'ScatterElements-13 has no reduction "add"; opset 16 supports it' },
  { of: scatterND({ opset: 13, ...ND, data: BF16(4), updates: BF16(2) }), to: { opset: 12 },
    says: "ScatterND-11 does not accept bfloat16; opset 13 supports it" },
  { of: gatherND({ opset: 12, data: F32(2, 4), attributes: { batch_dims: 1 } }), to: { opset: 11 },
    says: "GatherND-11 has no batch_dims, which is 1 here; opset 12 supports it" },
  { of: scatterND({ ...ND, opset: 13 }), to: { opset: 10 },
    says: "opset 10 of ai.onnx does not have ScatterND yet; opset 11 has it" },
  { of: tensorScatter({ indices: null }), to: { opset: 23 },
    says: "opset 23 of ai.onnx does not have TensorScatter yet; opset 24 has it" },
  { of: gather(FREE_G), to: { opset: 10 },
    says: 'Gather-1 does not accept negative indices, and the values of "indices" are unknown because it is not a constant; ' +
      "opset 11 supports it" },
  { of: gather({ ...G, data: F32("N", 3) }), to: { opset: 10 },
    says: '"indices"[1] is -1, and the size of its axis is unknown; declare the shape of data' },
  { of: gather({ ...G, indices: i64([2], 1, -5) }), to: { opset: 10 },
    says: '"indices"[1] is -5, which is out of range and which Gather-1 rejects' },
  { of: scatterElements({ ...FREE_EL, opset: 11 }), to: { opset: 9 }, says: /Scatter-9 does not accept negative indices/ },
  { of: cast({ attributes: { to: 16 } }), to: { opset: 12 },
    says: "Cast-9 does not accept bfloat16; opset 13 supports it" },
  { of: untyped(scatterND({ ...ND, opset: 13 })), to: { opset: 12 },
    says: /the data type of "data" is not declared; ScatterND-11 accepts all data types of ScatterND-13 except bfloat16/ },
];

// prettier-ignore
const TO_OPENVINO: readonly Refusal[] = [
  { of: scatterND({ ...ND, data: TEXT(4), updates: TEXT(2) }), to: OPENVINO,
    says: "ScatterNDUpdate-15 does not accept string" },
  { of: tensorScatter({ indices: null }), to: OPENVINO,
    says: "openvino has no operator equivalent to TensorScatter" },
  { of: scatterND({ ...ND, attributes: { reduction: "add" } }), to: { ...OPENVINO, opset: 14 },
    says: 'ScatterNDUpdate-3 has no reduction "add"; opset 15 supports it' },
  { of: gatherND({ data: F32(2, 2, 4), ...BATCHES }), to: { ...OPENVINO, opset: 7 },
    says: "GatherND-5 merges the 2 batch axes of its output; opset 8 supports it" },
  { of: gatherElements({ data: F32(4), indices: I64(2) }), to: OPENVINO,
    says: /GatherElements-6 does not accept negative indices, and the values of "indices" are unknown/ },
  { of: onnxModel(13, OTHERS), to: OPENVINO,
    says: "only models with this package's operators can be converted to openvino, but the model has Relu 1, Conv 1" },
  { of: cast({ attributes: { to: 99 } }), to: OPENVINO, says: 'the data type to which it converts "data" is unknown' },
];

// prettier-ignore
const TO_ONNX: readonly Refusal[] = [
  { of: scatterNDUpdate({ ...FREE_ND, attributes: SUB }), to: { opset: 18 },
    says: 'ScatterND-18 has no reduction "sub"' },
  { of: scatterNDUpdate({ ...ND, data: BOOL(4), updates: tensor("bool", [2], [true, false]), attributes: SUB }),
    to: { opset: 18 }, says: 'ScatterND-18 has no reduction "sub"' },
  { of: scatterNDUpdate({ ...FREE_ND, attributes: { reduction: "min" } }), to: { opset: 16 },
    says: 'ScatterND-16 has no reduction "min"; opset 18 supports it' },
  { of: scatterElementsUpdate({ ...FREE_EL, attributes: { reduction: "mean" } }), to: { opset: 18 },
    says: 'ScatterElements-18 has no reduction "mean"' },
  { of: scatterElementsUpdate({ ...FREE_EL,
      attributes: { reduction: "sum", use_init_val: { type: "boolean", value: false } } }), to: { opset: 18 },
    says: "ScatterElements-18 always includes the data in a reduction, which use_init_val false excludes" },
  { of: scatterElementsUpdate({ ...FREE_EL, axis: I64(1) }), to: { opset: 18 },
    says: "ScatterElements-18 needs a constant axis" },
  { of: ovGather(FREE_G), to: { opset: 11 },
    says: "Gather-11 rejects indices out of range, for which Gather-8 returns zeros, and the values of " +
      '"indices" are unknown because it is not a constant' },
  { of: ovGather({ ...G, indices: i64([1], 4) }), to: { opset: 18 },
    says: '"indices"[0] is 4, which is out of range and which Gather-13 rejects' },
  { of: ovGather({ ...G, data: F32("N", 3), indices: i64([1], 1) }), to: { opset: 18 },
    says: '"indices"[0] is 1, and the size of its axis is unknown; declare the shape of data' },
  { of: ovGather({ data: F32(2, 4), indices: i64([2, 1], 0, 1), axis: i64([], 1), attributes: { batch_dims: -1 } }),
    to: { opset: 18 }, says: "Gather-13 has no batch_dims, which is 1 here" },
  { of: ovGatherND({ opset: 5, data: F32(2, 2, 4), ...BATCHES }), to: { opset: 18 },
    says: "GatherND-13 does not merge the 2 batch axes of its output" },
  { of: scatterNDUpdate({ data: F32(4), indices: i64([1], 2), updates: F32(1, 1) }), to: { opset: 18 },
    says: /ScatterND-18: updates\.shape must be .* = \[\], got \[1, 1\]$/ },
  { of: scatterUpdate(SLICES), to: { opset: 18 },
    says: `${NO_SLICES} constant indices, but "indices" is not constant` },
  { of: scatterUpdate({ data: F32(4, 3), indices: i64([1, 1], 2), updates: F32(4, 1, 1), axis: i64([], 1) }),
    to: { opset: 18 },
    says: `${NO_SLICES} indices of rank 1 and updates of a known shape along axis 1` },
  { of: scatterUpdate({ data: F32(2 ** 20, 2), indices: i64([1], 1), updates: F32(2 ** 20 + 1, 1), axis: i64([], 1) }),
    to: { opset: 18 }, says: `${NO_SLICES} at most 1048576 updates along axis 1` },
  { of: scatterUpdate({ ...SLICES, axis: I32() }), to: { opset: 18 },
    says: `${NO_SLICES} a known axis` },
  { of: ovConvert({ attributes: { destination_type: "bf16" } }), to: { opset: 12 },
    says: /Cast in opset 12 does not accept bfloat16/ },
  { of: untyped(scatterNDUpdate(FREE_ND)), to: { opset: 18 },
    says: 'the input "data" has a data type that this package does not know' },
  { of: scatterElementsUpdate({ ...FREE_EL, attributes: { reduction: "sum" } }), to: { ...OPENVINO, opset: 11 },
    says: 'ScatterElementsUpdate-3 has no reduction "sum"; opset 12 supports it' },
];

// prettier-ignore
const WRONG: readonly Refusal[] = [
  { of: scatterND({ ...ND, opset: 16, attributes: { reduction: "max" } }), to: { opset: 18 }, code: "reduction",
    says: /cannot be converted to opset 18 of ai\.onnx: ScatterND-16: .*"max"/ },
  { of: scatterND({ ...ND, opset: 16, updates: null }), to: { opset: 18 }, code: "malformed-file",
    says: "its input updates is left out" },
  { of: scatterND(ND), to: { opset: NEWEST + 1 }, code: "unknown-operator",
    says: `opset ${NEWEST + 1} of ai.onnx is unknown to this package; the newest known opset is ${NEWEST}` },
  { of: scatterND(ND), to: { opset: 0 }, code: "unknown-operator",
    says: "the opset must be a positive integer, got 0" },
  { of: scatterND(ND), to: { opset: 1.5 }, code: "unknown-operator",
    says: /the opset must be a positive integer, got 1\.5/ },
  { of: scatterND(ND), to: { domain: "ml" as never, opset: 1 }, code: "unknown-operator",
    says: /the domain must be ai.onnx or openvino, got "ml"/ },
  { of: scatterND(ND), to: { ...OPENVINO, version: 7 as never }, code: "unknown-operator",
    says: /the version of an IR must be 10 or 11, got 7/ },
];

export const REFUSALS = [...WITHIN_ONNX, ...TO_OPENVINO, ...TO_ONNX, ...WRONG];
