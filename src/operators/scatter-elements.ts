/** ScatterElements of ai.onnx: each update has an index, which replaces its coordinate along one axis. */

import { compatible, type PartialShape } from "../tensor/shape.ts";
import { byElements } from "./addressing.ts";
import { AXIS, REDUCTION_16, REDUCTION_18 } from "./attributes.ts";
import { plainVersion } from "./settings.ts";
import { checkIndicesFit, checkSameRank, normalizeAxis, wrongUpdates } from "./checks.ts";
import {
  ONNX_COMMON,
  type Derivation,
  type InputShapes,
  type Operator,
  type OperatorCall,
  type OperatorVersion,
  type RankedShapes,
} from "./operator.ts";
import { outputLikeData, printTerms, wholeShape } from "./terms.ts";
import { T15, T16, TIND } from "./types.ts";

const SUMMARY =
  "Copies data and writes updates into the copy. An update goes to its own coordinates, but along axis to where the " +
  "index at those coordinates says: for axis 0 of two, output[indices[i][j]][j] = updates[i][j]. Indices are applied " +
  "in row-major order, so that of updates to one element the last wins.";

const REDUCED = `${SUMMARY} With a reduction, updates are combined with what they meet instead.`;

const COMMON = {
  ...ONNX_COMMON,
  name: "ScatterElements",
  inputs: [
    { name: "data", type: "T", description: "Tensor of rank r >= 1." },
    {
      name: "indices",
      type: "Tind",
      description: "Tensor of rank r, in [-s, s-1] along axis of size s.",
    },
    { name: "updates", type: "T", description: "Tensor of the shape of indices." },
  ],
  outputs: [{ name: "output", type: "T", description: "Tensor of data's shape." }],
} as const;

const PLAIN = { ...COMMON, summary: SUMMARY, attributes: [AXIS] } as const;
const WITH_REDUCTION = { ...COMMON, summary: REDUCED, typeConstraints: [T16, TIND] } as const;

const versions: readonly OperatorVersion[] = [
  { ...PLAIN, sinceVersion: 11, typeConstraints: [T15, TIND] },
  { ...PLAIN, sinceVersion: 13, typeConstraints: [T16, TIND] },
  { ...WITH_REDUCTION, sinceVersion: 16, attributes: [AXIS, REDUCTION_16] },
  { ...WITH_REDUCTION, sinceVersion: 18, attributes: [AXIS, REDUCTION_18] },
];

export const scatterElements: Operator = {
  kind: "scatter",
  versions,
  plain: plainVersion(versions),
  inferShape: inferScatterElements,
  derive: deriveScatterElements,
  ...byElements,
};

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
  // Updates have the shape of indices, so they have the same limits where the shape of indices is not known.
  checkIndicesFit(data, indices ?? updates, axis, fields);
  return data;
}
