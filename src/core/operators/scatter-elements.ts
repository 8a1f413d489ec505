/** ScatterElements of ai.onnx: each update has an index, which replaces the update's coordinate along one axis. */

import { compatible, type PartialShape } from "../tensor/shape.ts";
import { byElements } from "./addressing.ts";
import { AXIS, reduced, REDUCTION_16, REDUCTION_18 } from "./attributes.ts";
import { plainVersion } from "./settings.ts";
import { checkIndicesFit, checkSameRank, normalizeAxis, wrongUpdates } from "./checks.ts";
import {
  versionsOf,
  operatorBy,
  type Derivation,
  type InputShapes,
  type Operator,
  type OperatorCall,
  type RankedShapes,
} from "./operator.ts";
import { outputLikeData, printTerms, wholeShape } from "./terms.ts";
import { T15, T16, TIND } from "./types.ts";

const SUMMARY =
  "Copies data and writes updates into the copy. " +
  "Each index selects the position of its update along axis, and its own coordinates give the other positions. " +
  "For rank 2 and axis 0, output[indices[i][j]][j] = updates[i][j]. " +
  "Updates are applied in row-major order, so the last update of an element wins.";

const COMMON = {
  name: "ScatterElements",
  indexForm: "elements",
  inputs: [
    { name: "data", type: "T", description: "Data has rank r >= 1." },
    {
      name: "indices",
      type: "Tind",
      description: "Indices have rank r, with values in [-s, s-1] on an axis of size s.",
    },
    { name: "updates", type: "T", description: "Updates have the shape of indices." },
  ],
  outputs: [{ name: "output", type: "T", description: "The output has the shape of data." }],
} as const;

const versions = /* @__PURE__ */ versionsOf("ai.onnx", COMMON, () => [
  { sinceVersion: 11, summary: SUMMARY, attributes: [AXIS], typeConstraints: [T15, TIND] },
  { sinceVersion: 13, summary: SUMMARY, attributes: [AXIS], typeConstraints: [T16, TIND] },
  {
    sinceVersion: 16,
    summary: reduced(SUMMARY),
    attributes: [AXIS, REDUCTION_16],
    typeConstraints: [T16, TIND],
  },
  {
    sinceVersion: 18,
    summary: reduced(SUMMARY),
    attributes: [AXIS, REDUCTION_18],
    typeConstraints: [T16, TIND],
  },
]);

export const scatterElements: Operator = /* @__PURE__ */ operatorBy(byElements, {
  kind: "scatter",
  versions,
  plain: /* @__PURE__ */ plainVersion(versions),
  inferShape: inferScatterElements,
  derive: deriveScatterElements,
});

function deriveScatterElements(
  { data, indices }: RankedShapes,
  call: OperatorCall,
): readonly Derivation[] {
  inferScatterElements({ data, indices, updates: null }, call);
  return [{ of: "updates", terms: [wholeShape("indices", indices)] }, outputLikeData(data)];
}

function inferScatterElements(
  { data, indices, updates }: InputShapes,
  { settings, fields }: OperatorCall,
): PartialShape {
  const rank = checkSameRank({ data, indices, updates }, fields);
  if (rank === null) return data;
  const axis = normalizeAxis(settings.axis, rank, fields);
  checkIndicesFit(data, indices, axis, fields);
  if (indices !== null && updates !== null && !compatible(indices, updates)) {
    const must = printTerms([wholeShape("indices", indices)]);
    throw wrongUpdates(`be ${must}`, indices, updates, fields);
  }
  // Updates have the shape of indices, so if the shape of indices is unknown, the shape of updates is checked instead.
  checkIndicesFit(data, indices ?? updates, axis, fields);
  return data;
}
