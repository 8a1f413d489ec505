/**
 * GatherElements of ai.onnx: an index selects the element at the index's coordinates, with its value as the coordinate
 * along the axis.
 */

import type { PartialShape } from "../tensor/shape.ts";
import { byElements } from "./addressing.ts";
import { AXIS } from "./attributes.ts";
import { plainVersion } from "./settings.ts";
import { checkIndicesFit, checkSameRank, normalizeAxis } from "./checks.ts";
import {
  versionsOf,
  operatorBy,
  type Derivation,
  type InputShapes,
  type Operator,
  type OperatorCall,
  type RankedShapes,
} from "./operator.ts";
import { wholeShape } from "./terms.ts";
import { T15, T16, TIND } from "./types.ts";

const SUMMARY =
  "Gathers one element of data for each index. The output has the shape of indices. " +
  "Each index selects a position along axis, and its own coordinates give the other positions. " +
  "For rank 2 and axis 0, output[i][j] = data[indices[i][j]][j].";

const COMMON = {
  name: "GatherElements",
  indexForm: "elements",
  summary: SUMMARY,
  attributes: [AXIS],
  inputs: [
    { name: "data", type: "T", description: "Data has rank r >= 1." },
    {
      name: "indices",
      type: "Tind",
      description: "Indices have rank r, with values in [-s, s-1] on an axis of size s.",
    },
  ],
  outputs: [{ name: "output", type: "T", description: "The output has the shape of indices." }],
} as const;

const versions = /* @__PURE__ */ versionsOf("ai.onnx", COMMON, () => [
  { sinceVersion: 11, typeConstraints: [T15, TIND] },
  { sinceVersion: 13, typeConstraints: [T16, TIND] },
]);

export const gatherElements: Operator = /* @__PURE__ */ operatorBy(byElements, {
  kind: "gather",
  versions,
  plain: /* @__PURE__ */ plainVersion(versions),
  inferShape: inferGatherElements,
  derive: deriveGatherElements,
});

export function deriveGatherElements(
  inputs: RankedShapes,
  call: OperatorCall,
): readonly Derivation[] {
  inferGatherElements(inputs, call);
  return [{ of: "output", terms: [wholeShape("indices", inputs.indices)] }];
}

export function inferGatherElements(
  { data, indices }: InputShapes,
  { version, settings, fields }: OperatorCall,
): PartialShape {
  const rank = checkSameRank({ data, indices }, fields);
  if (rank === null) return null;
  const axis = normalizeAxis(settings.axis, rank, fields);
  checkIndicesFit(data, indices, axis, fields, version.needsEqualAxes);
  return indices;
}
