/** Scatter of ai.onnx, which is the deprecated name of ScatterElements. */

import { byElements } from "./addressing.ts";
import { AXIS } from "./attributes.ts";
import { plainVersion } from "./settings.ts";
import { versionsOf, operatorBy, type Operator, type OperatorVersion } from "./operator.ts";
import { scatterElements } from "./scatter-elements.ts";
import { T15, TIND } from "./types.ts";

const SUMMARY =
  "Copies data and writes updates into the copy. " +
  "Each index selects the position of its update along axis, and its own coordinates give the other positions. " +
  "Since version 11, Scatter is deprecated in favor of ScatterElements.";

const inputs = (range: string) => [
  { name: "data", type: "T", description: "Data has rank r >= 1." },
  {
    name: "indices",
    type: "Tind",
    description: `Indices have rank r, with values in ${range} on an axis of size s.`,
  },
  { name: "updates", type: "T", description: "Updates have the shape of indices." },
];

const COMMON = {
  name: "Scatter",
  indexForm: "elements",
  summary: SUMMARY,
  attributes: [AXIS],
  outputs: [{ name: "output", type: "T", description: "The output has the shape of data." }],
  typeConstraints: [T15, TIND],
} as const;

// The specification of version 9 does not mention negative indices, which other operators have since version 11.
const versions = /* @__PURE__ */ versionsOf("ai.onnx", COMMON, () => [
  { sinceVersion: 9, inputs: inputs("[0, s-1]"), negativeIndices: false },
  { sinceVersion: 11, inputs: inputs("[-s, s-1]"), deprecated: "ScatterElements" },
]);

export const scatter: Operator = /* @__PURE__ */ operatorBy(byElements, {
  kind: "scatter",
  versions,
  plain: /* @__PURE__ */ plainScatter(),
  inferShape: (shapes, call) => scatterElements.inferShape(shapes, call),
  derive: (shapes, call) => scatterElements.derive(shapes, call),
});

function plainScatter(): OperatorVersion {
  return { ...plainVersion(scatterElements.versions), name: "Scatter" };
}
