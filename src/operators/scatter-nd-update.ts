/** ScatterNDUpdate of openvino: ScatterND with int32 or int64 indices and words of its own for reductions. */

import { REDUCTION_OPENVINO } from "./attributes.ts";
import { layoutTuples, planGatherND } from "./gather-nd.ts";
import { OPENVINO, type Operator, type OperatorVersion } from "./operator.ts";
import { deriveScatterND, inferScatterND } from "./scatter-nd.ts";
import { T_OPENVINO, TIND } from "./types.ts";

const SUMMARY =
  "Copies data and replaces elements or slices of the copy, addressed by the tuples of indices, by updates. " +
  "updates.shape = indices.shape[:-1] ++ data.shape[k:], where k = indices.shape[-1]; where that is a scalar, any " +
  "tensor of one element will do.";

const COMMON = {
  ...OPENVINO,
  name: "ScatterNDUpdate",
  inputs: [
    { name: "data", type: "T", description: "Tensor of rank r >= 1." },
    { name: "indices", type: "Tind", description: "Tensor of rank q >= 1, of tuples of k <= r." },
    { name: "updates", type: "T", description: "Tensor of rank q + r - k - 1." },
  ],
  outputs: [{ name: "output", type: "T", description: "Tensor of data's shape." }],
  typeConstraints: [T_OPENVINO, TIND],
} as const;

// The document of version 3 takes indices from 0 on; version 15 counts negative ones from the back.
// prettier-ignore
const versions: readonly OperatorVersion[] = [
  { ...COMMON, sinceVersion: 3, opset: 4, summary: SUMMARY, attributes: [], negativeIndices: false },
  { ...COMMON, sinceVersion: 15, opset: 15, summary: `${SUMMARY} With a reduction, updates are combined with what they meet instead.`, attributes: [REDUCTION_OPENVINO], negativeIndices: true },
];

export const scatterNDUpdate: Operator = {
  kind: "scatter",
  versions,
  inferShape: (inputs, { fields }) => inferScatterND(inputs, fields, true),
  derive(inputs, { fields }) {
    const [updates, output] = deriveScatterND(inputs, fields);
    return [{ ...updates, orOneElement: true }, output];
  },
  plan: planGatherND,
  layout: layoutTuples,
};
