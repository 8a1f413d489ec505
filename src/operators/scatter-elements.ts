/** ScatterElements of ai.onnx: each update has an index of its own, which replaces its coordinate along one axis. */

import { planElements } from "../plan/elements.ts";
import type { IndexRules } from "../plan/index-job.ts";
import type { Plan } from "../plan/plan.ts";
import { compatible, type PartialShape } from "../tensor/shape.ts";
import { AXIS, REDUCTION_16, REDUCTION_18 } from "./attributes.ts";
import { plainVersion } from "./settings.ts";
import { checkIndicesFit, checkSameRank, normalizeAxis, wrongUpdates } from "./checks.ts";
import {
  ONNX,
  type Derivation,
  type InputShapes,
  type Layout,
  type Operator,
  type OperatorCall,
  type OperatorVersion,
  type PlanInputs,
  type RankedShapes,
} from "./operator.ts";
import { likeData, printTerms, wholeOf } from "./terms.ts";
import { T15, T16, TIND } from "./types.ts";

const SUMMARY =
  "Copies data and writes updates into the copy. An update goes to its own coordinates, but along axis to where the " +
  "index at those coordinates says: for axis 0 of two, output[indices[i][j]][j] = updates[i][j]. Indices are applied " +
  "in row-major order, so that of updates to one element the last wins.";

const REDUCED = `${SUMMARY} With a reduction, updates are combined with what they meet instead.`;

const COMMON = {
  ...ONNX,
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

// prettier-ignore
const versions: readonly OperatorVersion[] = [
  { ...COMMON, sinceVersion: 11, summary: SUMMARY, attributes: [AXIS], typeConstraints: [T15, TIND] },
  { ...COMMON, sinceVersion: 13, summary: SUMMARY, attributes: [AXIS], typeConstraints: [T16, TIND] },
  { ...COMMON, sinceVersion: 16, summary: REDUCED, attributes: [AXIS, REDUCTION_16], typeConstraints: [T16, TIND] },
  { ...COMMON, sinceVersion: 18, summary: REDUCED, attributes: [AXIS, REDUCTION_18], typeConstraints: [T16, TIND] },
];

export const scatterElements: Operator = {
  kind: "scatter",
  versions,
  plain: plainVersion(versions),
  inferShape: inferScatterElements,
  derive: deriveScatterElements,
  plan: planAlongAxis,
  layout: layoutElements,
};

/** The Plan of operators in which each index replaces a coordinate along the axis. */
export function planAlongAxis(
  { data, indices }: PlanInputs,
  { settings, fields }: OperatorCall,
  rules: IndexRules,
): Plan {
  const axis = normalizeAxis(Number(settings.axis), data.length, fields);
  return planElements(indices, data, axis, rules, fields);
}

/** Of the same operators. */
export function layoutElements(
  { data, indices }: PlanInputs,
  { settings, fields }: OperatorCall,
): Layout {
  return {
    positions: indices.shape,
    indexAt: (position) => position,
    addressed: data.length,
    axes: [normalizeAxis(Number(settings.axis), data.length, fields)],
  };
}

function deriveScatterElements(
  { data, indices }: RankedShapes,
  call: OperatorCall,
): readonly Derivation[] {
  inferScatterElements({ data, indices, updates: null }, call);
  return [{ of: "updates", terms: [wholeOf("indices", indices)] }, likeData(data)];
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
    const must = printTerms([wholeOf("indices", indices)]);
    throw wrongUpdates(`be ${must}`, indices, updates, fields);
  }
  // The updates have the shape of the indices, so what is known of them alone limits the same.
  checkIndicesFit(data, indices ?? updates, axis, fields);
  return data;
}
