/**
 * Gather of openvino: like Gather of ai.onnx, but with the axis as an input, and with 0 for an index out of range.
 * Versions 7 and 8 have batch axes.
 */

import { bySlices } from "./addressing.ts";
import { SIGNED_BATCH_DIMS } from "./attributes.ts";
import { deriveGather, inferGather } from "./gather.ts";
import { versionsOf, operatorBy, type Operator } from "./operator.ts";
import { T_OPENVINO_GATHER, TAXIS, TIND_ANY } from "./types.ts";

const SUMMARY =
  "Gathers one slice of data along axis for each index. " +
  "The output has the shape data.shape[:axis] ++ indices.shape ++ data.shape[axis+1:].";

const BATCHED =
  "Gathers one slice of data along axis for each index. Data and indices share the first batch_dims axes. " +
  "The output has the shape data.shape[:axis] ++ indices.shape[batch_dims:] ++ data.shape[axis+1:].";

const inputs = (range: string) => [
  { name: "data", type: "T", description: "Data has rank r >= 1." },
  {
    name: "indices",
    type: "Tind",
    description: `Indices have any rank q, with values in ${range}.`,
  },
  {
    name: "axis",
    type: "Taxis",
    description: "The axis is a scalar or a tensor with one element, in [-r, r-1].",
  },
];

const output = (rank: string) => [
  { name: "output", type: "T", description: `The output has rank ${rank}.` },
];

const COMMON = {
  name: "Gather",
  indexForm: "slices",
  typeConstraints: [T_OPENVINO_GATHER, TIND_ANY, TAXIS],
  negativeIndices: true,
  outOfRange: "fill",
} as const;

const withBatches = () => ({
  summary: BATCHED,
  attributes: [SIGNED_BATCH_DIMS],
  outputs: output("q + r - 1 - batch_dims"),
});

// The specifications of versions 1 and 7 promise indices in [0, s-1]. The reference implementation of OpenVINO 2026.4.1
// runs all versions with the same function; its CPU plugin returns zeros for negative indices in versions 1 and 7.
const PROMISED = "[0, s-1] on an axis of size s";

const versions = /* @__PURE__ */ versionsOf("openvino", COMMON, () => [
  {
    sinceVersion: 1,
    summary: SUMMARY,
    attributes: [],
    inputs: inputs(PROMISED),
    outputs: output("q + r - 1"),
    promisesRange: true,
  },
  { ...withBatches(), sinceVersion: 7, inputs: inputs(PROMISED), promisesRange: true },
  {
    ...withBatches(),
    sinceVersion: 8,
    summary: `${BATCHED} Indices out of range gather zeros.`,
    inputs: inputs("[-s, s-1] on an axis of size s; other values gather zeros"),
  },
]);

export const openvinoGather: Operator = /* @__PURE__ */ operatorBy(bySlices, {
  kind: "gather",
  versions,
  inferShape: inferGather,
  derive: deriveGather,
});
