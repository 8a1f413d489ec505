/**
 * ScatterNDUpdate of openvino: like ScatterND of ai.onnx, but with int32 or int64 indices and other reduction names.
 */

import { byTuples } from "./addressing.ts";
import { reduced, REDUCTION_OPENVINO_15 } from "./attributes.ts";
import { versionsOf, operatorBy, type Operator } from "./operator.ts";
import { deriveScatterND, inferScatterND } from "./scatter-nd.ts";
import { T_OPENVINO, TIND } from "./types.ts";

const SUMMARY =
  "Copies data and writes one update into the copy for each index tuple in the last axis of indices. " +
  "A tuple of k indices addresses an element if k is the rank of data, or a slice if k is smaller. " +
  "Updates have the shape indices.shape[:-1] ++ data.shape[k:]. " +
  "A scalar update may be any tensor with one element.";

const COMMON = {
  name: "ScatterNDUpdate",
  indexForm: "tuples",
  inputs: [
    { name: "data", type: "T", description: "Data has rank r >= 1." },
    {
      name: "indices",
      type: "Tind",
      description: "Indices have rank q >= 1, with tuples of k <= r indices.",
    },
    { name: "updates", type: "T", description: "Updates have rank q + r - k - 1." },
  ],
  outputs: [{ name: "output", type: "T", description: "The output has the shape of data." }],
  typeConstraints: [T_OPENVINO, TIND],
} as const;

// The specification of version 3 accepts only indices in [0, s-1]; in version 15, negative indices count from the end.
// Version 15 combines with Python's `max(old, new)`, which returns `old` unless `new` is greater.
const versions = /* @__PURE__ */ versionsOf("openvino", COMMON, () => [
  {
    sinceVersion: 3,
    opset: 4,
    summary: SUMMARY,
    attributes: [],
    negativeIndices: false,
  },
  {
    sinceVersion: 15,
    opset: 15,
    summary: reduced(SUMMARY),
    attributes: [REDUCTION_OPENVINO_15],
    negativeIndices: true,
    stays: "data",
  },
]);

export const scatterNDUpdate: Operator = /* @__PURE__ */ operatorBy(byTuples, {
  kind: "scatter",
  versions,
  inferShape: (inputs, { fields }) => inferScatterND(inputs, fields, true),
  derive(inputs, { fields }) {
    const [updates, output] = deriveScatterND(inputs, fields);
    return [{ ...updates, orOneElement: true }, output];
  },
});
