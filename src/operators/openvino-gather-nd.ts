/** GatherND of openvino: as that of ai.onnx, with indices of any integer type. */

import { product } from "../shape.ts";
import { isKnown, part, type PartialShape } from "../shape.ts";
import { BATCH_DIMS } from "./attributes.ts";
import { inferGatherND, layoutTuples, planGatherND } from "./gather-nd.ts";
import {
  OPENVINO,
  type InputShapes,
  type Operator,
  type OperatorCall,
  type OperatorVersion,
} from "./operator.ts";
import { T_OPENVINO, TIND_ANY } from "./types.ts";

const SUMMARY =
  "Gathers slices of data within batches: the first batch_dims axes of data and indices are equal, and each index " +
  "tuple, the last axis of indices, picks an element or a slice of its own batch.";

const FUSED = `${SUMMARY} The batch axes of the output are fused into one.`;

const inputs = (range: string) => [
  { name: "data", type: "T", description: "Tensor of rank r >= 1." },
  {
    name: "indices",
    type: "Tind",
    description: `Tensor of rank q >= 1, of tuples of k >= 1 in ${range}.`,
  },
];

const COMMON = {
  ...OPENVINO,
  name: "GatherND",
  attributes: [BATCH_DIMS],
  outputs: [{ name: "output", type: "T", description: "Tensor of the gathered slices." }],
  typeConstraints: [T_OPENVINO, TIND_ANY],
} as const;

// The document of version 8 speaks of [0, s-1] still; OpenVINO takes negative indices since 2025.3.
// prettier-ignore
const versions: readonly OperatorVersion[] = [
  { ...COMMON, sinceVersion: 5, summary: FUSED, inputs: inputs("[0, s-1]"), negativeIndices: false, fusesBatches: true },
  { ...COMMON, sinceVersion: 8, summary: SUMMARY, inputs: inputs("[-s, s-1]"), negativeIndices: true },
];

export const openvinoGatherND: Operator = {
  kind: "gather",
  versions,
  inferShape: inferOpenvinoGatherND,
  plan: planGatherND,
  layout: layoutTuples,
};

function inferOpenvinoGatherND(inputs: InputShapes, call: OperatorCall): PartialShape {
  const shape = inferGatherND(inputs, call);
  const { batchDims } = call.settings;
  if (shape === null || batchDims < 2 || call.version.fusesBatches !== true) return shape;
  const batches = part(shape, 0, batchDims);
  return [isKnown(batches) ? product(batches) : null, ...part(shape, batchDims)];
}
