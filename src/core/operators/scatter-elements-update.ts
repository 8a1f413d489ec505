/**
 * ScatterElementsUpdate of openvino: like ScatterElements of ai.onnx, but with the axis as an input, other reduction
 * names, and a mean.
 */

import { byElements } from "./addressing.ts";
import { reduced, REDUCTION_OPENVINO_12, USE_INIT_VAL } from "./attributes.ts";
import { versionsOf, operatorBy, type Operator } from "./operator.ts";
import { scatterElements } from "./scatter-elements.ts";
import { T_OPENVINO, TAXIS, TIND_ANY } from "./types.ts";

const SUMMARY =
  "Copies data and writes updates into the copy. " +
  "Each index selects the position of its update along axis, and its own coordinates give the other positions. " +
  "For rank 2 and axis 0, output[indices[i][j]][j] = updates[i][j].";

const inputs = (range: string) => [
  { name: "data", type: "T", description: "Data has rank r >= 1." },
  {
    name: "indices",
    type: "Tind",
    description: `Indices have rank r, with values in ${range} on an axis of size s.`,
  },
  { name: "updates", type: "T", description: "Updates have the shape of indices." },
  {
    name: "axis",
    type: "Taxis",
    description: "The axis is a scalar or a tensor with one element, in [-r, r-1].",
  },
];

const COMMON = {
  name: "ScatterElementsUpdate",
  indexForm: "elements",
  outputs: [{ name: "output", type: "T", description: "The output has the shape of data." }],
  typeConstraints: [T_OPENVINO, TIND_ANY, TAXIS],
} as const;

// Version 12 prints `reduction(update, old)`: Python's `max(update, old)` returns the update unless `old` is greater, and
// so does OpenVINO's reference implementation.
const versions = /* @__PURE__ */ versionsOf("openvino", COMMON, () => [
  {
    sinceVersion: 3,
    summary: SUMMARY,
    attributes: [],
    inputs: inputs("[0, s-1]"),
    negativeIndices: false,
  },
  {
    sinceVersion: 12,
    summary: reduced(SUMMARY, "; a mean of integers is rounded toward minus infinity"),
    attributes: [REDUCTION_OPENVINO_12, USE_INIT_VAL],
    inputs: inputs("[-s, s-1]"),
    negativeIndices: true,
    stays: "update",
  },
]);

export const scatterElementsUpdate: Operator = /* @__PURE__ */ operatorBy(byElements, {
  kind: "scatter",
  versions,
  inferShape: (shapes, call) => scatterElements.inferShape(shapes, call),
  derive: (shapes, call) => scatterElements.derive(shapes, call),
});
