/**
 * Gather of openvino: like Gather of ai.onnx, but with the axis as an input, with batches, and with 0 for an index out
 * of range.
 */

import { bySlices } from "./addressing.ts";
import { SIGNED_BATCH_DIMS } from "./attributes.ts";
import { deriveGather, inferGather } from "./gather.ts";
import { versionsOf, operatorBy, type Operator } from "./operator.ts";
import { T_OPENVINO_ANY, TAXIS, TIND_ANY } from "./types.ts";

const versions = /* @__PURE__ */ versionsOf("openvino", { indexForm: "slices" }, () => [
  {
    name: "Gather",
    sinceVersion: 8,
    summary:
      "Gathers one slice of data along axis for each index, within batches: data and indices share the first " +
      "batch_dims axes. output.shape = data.shape[:axis] ++ indices.shape[batch_dims:] ++ data.shape[axis+1:]. " +
      "Indices out of range gather zeros.",
    attributes: [SIGNED_BATCH_DIMS],
    inputs: [
      { name: "data", type: "T", description: "Tensor of rank r >= 1." },
      {
        name: "indices",
        type: "Tind",
        description:
          "Tensor of any rank q, with values in [-s, s-1] for an axis of size s; other values gather zeros.",
      },
      {
        name: "axis",
        type: "Taxis",
        description: "Scalar or tensor with one element, in [-r, r-1].",
      },
    ],
    outputs: [{ name: "output", type: "T", description: "Tensor of rank q + r - 1 - batch_dims." }],
    typeConstraints: [T_OPENVINO_ANY, TIND_ANY, TAXIS],
    negativeIndices: true,
    outOfRange: "fill",
  },
]);

export const openvinoGather: Operator = /* @__PURE__ */ operatorBy(bySlices, {
  kind: "gather",
  versions,
  // The older versions 1 and 7 exist, but this package does not include them.
  hasOlder: true,
  inferShape: inferGather,
  derive: deriveGather,
});
