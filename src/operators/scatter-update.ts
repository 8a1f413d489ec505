/** ScatterUpdate of openvino: each index says which slice along an axis its updates replace. */

import { compatible, part, printShape, type PartialShape } from "../shape.ts";
import { checkRank, normalizeAxis, wrongUpdates } from "./checks.ts";
import { layoutSlices, planGather } from "./gather.ts";
import {
  OPENVINO,
  type InputShapes,
  type Operator,
  type OperatorCall,
  type OperatorVersion,
} from "./operator.ts";
import { T_OPENVINO, TAXIS, TIND_ANY } from "./types.ts";

const versions: readonly OperatorVersion[] = [
  {
    ...OPENVINO,
    name: "ScatterUpdate",
    sinceVersion: 3,
    summary:
      "Copies data and replaces slices along axis of the copy, one for each index. " +
      "updates.shape = data.shape[:axis] ++ indices.shape ++ data.shape[axis+1:].",
    attributes: [],
    inputs: [
      { name: "data", type: "T", description: "Tensor of rank r >= 1." },
      {
        name: "indices",
        type: "Tind",
        description: "Tensor of any rank q, in [0, s-1] along axis of size s.",
      },
      { name: "updates", type: "T", description: "Tensor of rank q + r - 1." },
      { name: "axis", type: "Taxis", description: "Scalar or one element, in [-r, r-1]." },
    ],
    outputs: [{ name: "output", type: "T", description: "Tensor of data's shape." }],
    typeConstraints: [T_OPENVINO, TIND_ANY, TAXIS],
    negativeIndices: false,
  },
];

export const scatterUpdate: Operator = {
  kind: "scatter",
  versions,
  inferShape: inferScatterUpdate,
  plan: planGather,
  layout: layoutSlices,
};

function inferScatterUpdate(
  { data, indices, updates }: InputShapes,
  { settings, fields }: OperatorCall,
): PartialShape {
  checkRank("data", data, fields);
  if (data === null) return data;
  const axis = normalizeAxis(settings.axis, data.length, fields);
  if (indices === null || updates === null) return data;
  const rank = data.length + indices.length - 1;
  if (updates.length !== rank) {
    throw wrongUpdates(`have rank ${rank}`, null, updates, fields);
  }
  if (axis === null) return data;
  const [before, behind] = [part(data, 0, axis), part(data, axis + 1)];
  const shape = [...before, ...indices, ...behind];
  if (compatible(updates, shape)) return data;
  const terms =
    `be data.shape[:${axis}] ++ indices.shape ++ data.shape[${axis + 1}:] = ` +
    `${printShape(before)} ++ ${printShape(indices)} ++ ${printShape(behind)} = ${printShape(shape)}`;
  throw wrongUpdates(terms, shape, updates, fields);
}
