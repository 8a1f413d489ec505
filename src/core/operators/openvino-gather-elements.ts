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
      "Gathers single elements. The output has the shape of indices; each output element comes from its own " +
      "coordinates in data, except that its index replaces the coordinate along axis.",
    attributes: [AXIS_REQUIRED],
    inputs: [
      { name: "data", type: "T", description: "Tensor of rank r >= 1." },
      {
        name: "indices",
        type: "Tind",
        description:
          "Tensor with the shape of data except along the axis, with values in [0, s-1] for an axis of size s.",
      },
    ],
    outputs: [{ name: "output", type: "T", description: "Tensor with the shape of indices." }],
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
