/** Gather of openvino: the axis is an input, there may be batches, and an index out of range gives 0. */

import { BATCH_DIMS_BOTH } from "./attributes.ts";
import { deriveGather, inferGather, layoutSlices, planGather } from "./gather.ts";
import { OPENVINO, type Operator, type OperatorVersion } from "./operator.ts";
import { T_OPENVINO_ANY, TAXIS, TIND_ANY } from "./types.ts";

const versions: readonly OperatorVersion[] = [
  {
    ...OPENVINO,
    name: "Gather",
    sinceVersion: 8,
    summary:
      "Gathers slices of data along axis, one for each index, within batches: the first batch_dims axes of data and " +
      "indices are equal. output.shape = data.shape[:axis] ++ indices.shape[batch_dims:] ++ data.shape[axis+1:]. " +
      "An index out of range gives zeros.",
    attributes: [BATCH_DIMS_BOTH],
    inputs: [
      { name: "data", type: "T", description: "Tensor of rank r >= 1." },
      {
        name: "indices",
        type: "Tind",
        description:
          "Tensor of any rank q, in [-s, s-1] along axis of size s; others stand for zeros.",
      },
      { name: "axis", type: "Taxis", description: "Scalar or one element, in [-r, r-1]." },
    ],
    outputs: [{ name: "output", type: "T", description: "Tensor of rank q + r - 1 - batch_dims." }],
    typeConstraints: [T_OPENVINO_ANY, TIND_ANY, TAXIS],
    negativeIndices: true,
    outOfRange: "fill",
  },
];

export const openvinoGather: Operator = {
  kind: "gather",
  versions,
  // Versions 1 and 7.
  hasOlder: true,
  inferShape: inferGather,
  derive: deriveGather,
  plan: planGather,
  layout: layoutSlices,
};
