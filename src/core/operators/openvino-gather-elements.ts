/**
 * GatherElements of openvino: like GatherElements of ai.onnx, but with a required axis, without negative indices, and
 * with indices that differ from the shape of data only along the axis.
 */

import { byElements } from "./addressing.ts";
import { AXIS_REQUIRED } from "./attributes.ts";
import { deriveGatherElements, inferGatherElements } from "./gather-elements.ts";
import { versionsOf, operatorBy, type Operator } from "./operator.ts";
import { T_OPENVINO_ANY, TIND } from "./types.ts";

const versions = /* @__PURE__ */ versionsOf("openvino", { indexForm: "elements" }, () => [
  {
    name: "GatherElements",
    sinceVersion: 6,
    summary:
      "Gathers one element of data for each index. The output has the shape of indices. " +
      "Each index selects the position along axis; its place in indices gives the position along every other axis.",
    attributes: [AXIS_REQUIRED],
    inputs: [
      { name: "data", type: "T", description: "Data has rank r >= 1." },
      {
        name: "indices",
        type: "Tind",
        description:
          "Indices have the shape of data except along the axis, with values in [0, s-1] on an axis of size s.",
      },
    ],
    outputs: [{ name: "output", type: "T", description: "The output has the shape of indices." }],
    typeConstraints: [T_OPENVINO_ANY, TIND],
    negativeIndices: false,
    needsEqualAxes: true,
  },
]);

export const openvinoGatherElements: Operator = /* @__PURE__ */ operatorBy(byElements, {
  kind: "gather",
  versions,
  inferShape: inferGatherElements,
  derive: deriveGatherElements,
});
