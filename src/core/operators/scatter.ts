/** Scatter of ai.onnx, which is the deprecated name of ScatterElements. */

import { byElements } from "./addressing.ts";
import { AXIS } from "./attributes.ts";
import { plainVersion } from "./settings.ts";
import { versionsOf, operatorBy, type Operator, type OperatorVersion } from "./operator.ts";
import { scatterElements } from "./scatter-elements.ts";
import { T15, TIND } from "./types.ts";

const SUMMARY =
  "Copies data and writes updates into the copy. Each update goes to its own coordinates, except that its index " +
  "replaces the coordinate along axis. Deprecated since version 11: use ScatterElements.";

const inputs = (range: string) => [
  { name: "data", type: "T", description: "Tensor of rank r >= 1." },
  {
    name: "indices",
    type: "Tind",
    description: `Tensor of rank r, with values in ${range} for an axis of size s.`,
  },
  { name: "updates", type: "T", description: "Tensor with the shape of indices." },
];

const COMMON = {
  name: "Scatter",
  indexForm: "elements",
  summary: SUMMARY,
  attributes: [AXIS],
  outputs: [{ name: "output", type: "T", description: "Tensor with data's shape." }],
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
