/**
 * ScatterNDUpdate of openvino: like ScatterND of ai.onnx, but with int32 or int64 indices and other reduction names.
 */

import { byTuples } from "./addressing.ts";
import { reduced, REDUCTION_OPENVINO_15 } from "./attributes.ts";
import { versionsOf, operatorBy, type Operator } from "./operator.ts";
import { deriveScatterND, inferScatterND } from "./scatter-nd.ts";
import { T_OPENVINO, TIND } from "./types.ts";

const SUMMARY =
  "Copies data, and replaces the elements or slices that index tuples address in the copy with updates. " +
  "updates.shape = indices.shape[:-1] ++ data.shape[k:], where k = indices.shape[-1]; if this is the " +
  "shape of a scalar, updates may be any tensor with one element.";

const COMMON = {
  name: "ScatterNDUpdate",
  indexForm: "tuples",
  inputs: [
    { name: "data", type: "T", description: "Tensor of rank r >= 1." },
    {
      name: "indices",
      type: "Tind",
      description: "Tensor of rank q >= 1, with tuples of k <= r indices.",
    },
    { name: "updates", type: "T", description: "Tensor of rank q + r - k - 1." },
  ],
  outputs: [{ name: "output", type: "T", description: "Tensor with data's shape." }],
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
