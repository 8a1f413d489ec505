/** ScatterUpdate of openvino: each index selects the slice of data along an axis that its updates replace. */

import { compatible, part, type Dim, type PartialShape } from "../tensor/shape.ts";
import { bySlices } from "./addressing.ts";
import { checkNotScalar, normalizeAxis, wrongUpdates } from "./checks.ts";
import {
  versionsOf,
  operatorBy,
  type Derivation,
  type InputShapes,
  type Operator,
  type OperatorCall,
  type RankedShapes,
  type Term,
} from "./operator.ts";
import { joinTerms, outputLikeData, printTerms, wholeShape } from "./terms.ts";
import { T_OPENVINO, TAXIS, TIND_ANY } from "./types.ts";

const versions = /* @__PURE__ */ versionsOf("openvino", { indexForm: "slices" }, () => [
  {
    name: "ScatterUpdate",
    sinceVersion: 3,
    summary:
      "Copies data, and replaces one slice of the copy along axis for each index. " +
      "Updates have the shape data.shape[:axis] ++ indices.shape ++ data.shape[axis+1:].",
    attributes: [],
    inputs: [
      { name: "data", type: "T", description: "Data has rank r >= 1." },
      {
        name: "indices",
        type: "Tind",
        description: "Indices have any rank q, with values in [0, s-1] on an axis of size s.",
      },
      { name: "updates", type: "T", description: "Updates have rank q + r - 1." },
      {
        name: "axis",
        type: "Taxis",
        description: "The axis is a scalar or a tensor with one element, in [-r, r-1].",
      },
    ],
    outputs: [{ name: "output", type: "T", description: "The output has the shape of data." }],
    typeConstraints: [T_OPENVINO, TIND_ANY, TAXIS],
    negativeIndices: false,
  },
]);

export const scatterUpdate: Operator = /* @__PURE__ */ operatorBy(bySlices, {
  kind: "scatter",
  versions,
  inferShape: inferScatterUpdate,
  derive: deriveScatterUpdate,
});

/** Returns the terms of updates.shape. */
const updatesTerms = (data: readonly Dim[], indices: readonly Dim[], axis: number): Term[] => [
  { text: `data.shape[:${axis}]`, shape: part(data, 0, axis) },
  wholeShape("indices", indices),
  { text: `data.shape[${axis + 1}:]`, shape: part(data, axis + 1) },
];

function deriveScatterUpdate(
  { data, indices }: RankedShapes,
  { settings, fields }: OperatorCall,
): readonly Derivation[] {
  checkNotScalar("data", data, fields);
  const axis = normalizeAxis(Number(settings.axis), data.length, fields);
  return [{ of: "updates", terms: updatesTerms(data, indices, axis) }, outputLikeData(data)];
}

function inferScatterUpdate(
  { data, indices, updates }: InputShapes,
  { settings, fields }: OperatorCall,
): PartialShape {
  checkNotScalar("data", data, fields);
  if (data === null) return data;
  const axis = normalizeAxis(settings.axis, data.length, fields);
  if (indices === null || updates === null) return data;
  const rank = data.length + indices.length - 1;
  if (updates.length !== rank) {
    throw wrongUpdates(`have rank ${rank}`, null, updates, fields);
  }
  if (axis === null) return data;
  const terms = updatesTerms(data, indices, axis);
  const shape = joinTerms(terms);
  if (compatible(updates, shape)) return data;
  throw wrongUpdates(`be ${printTerms(terms)}`, shape, updates, fields);
}
