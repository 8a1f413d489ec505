/** GatherElements of ai.onnx: an index picks the element at its own coordinates, of which it replaces one. */

import type { PartialShape } from "../tensor/shape.ts";
import { byElements } from "./addressing.ts";
import { AXIS } from "./attributes.ts";
import { plainVersion } from "./settings.ts";
import { checkIndicesFit, checkSameRank, normalizeAxis } from "./checks.ts";
import {
  ONNX_COMMON,
  type Derivation,
  type InputShapes,
  type Operator,
  type OperatorCall,
  type OperatorVersion,
  type RankedShapes,
} from "./operator.ts";
import { wholeShape } from "./terms.ts";
import { T15, T16, TIND } from "./types.ts";

const SUMMARY =
  "Gathers single elements: the output has the shape of indices, and each of its elements comes from its own " +
  "coordinates in data, but along axis from where the index says: for axis 0 of two, " +
  "output[i][j] = data[indices[i][j]][j].";

const COMMON = {
  ...ONNX_COMMON,
  name: "GatherElements",
  summary: SUMMARY,
  attributes: [AXIS],
  inputs: [
    { name: "data", type: "T", description: "Tensor of rank r >= 1." },
    {
      name: "indices",
      type: "Tind",
      description: "Tensor of rank r, in [-s, s-1] along axis of size s.",
    },
  ],
  outputs: [{ name: "output", type: "T", description: "Tensor of the shape of indices." }],
} as const;

const versions: readonly OperatorVersion[] = [
  { ...COMMON, sinceVersion: 11, typeConstraints: [T15, TIND] },
  { ...COMMON, sinceVersion: 13, typeConstraints: [T16, TIND] },
];

export const gatherElements: Operator = {
  kind: "gather",
  versions,
  plain: plainVersion(versions),
  inferShape: inferGatherElements,
  derive: deriveGatherElements,
  ...byElements,
};

export function deriveGatherElements(
  inputs: RankedShapes,
  call: OperatorCall,
): readonly Derivation[] {
  inferGatherElements(inputs, call);
  return [{ of: "output", terms: [wholeShape("indices", inputs.indices)] }];
}

export function inferGatherElements(
  { data, indices }: InputShapes,
  { settings, fields }: OperatorCall,
): PartialShape {
  const rank = checkSameRank({ data, indices }, fields);
  if (rank === null) return null;
  checkIndicesFit(data, indices, normalizeAxis(settings.axis, rank, fields), fields);
  return indices;
}
