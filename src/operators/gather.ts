/** Gather of ai.onnx: each index picks a slice of data along one axis. */

import { TensorError } from "../errors.ts";
import { planSlices } from "../plan/slices.ts";
import type { IndexRules } from "../plan/index-job.ts";
import type { Plan } from "../plan/plan.ts";
import { part, type Dim, type PartialShape } from "../tensor/shape.ts";
import { AXIS, BATCH_DIMS_BOTH } from "./attributes.ts";
import { plainVersion } from "./settings.ts";
import { checkBatches, checkRank, normalizeAxis } from "./checks.ts";
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
  type Term,
} from "./operator.ts";
import { joinTerms, wholeOf } from "./terms.ts";
import { T15, T16, TIND } from "./types.ts";

const SUMMARY =
  "Gathers slices of data along axis, one for each index: output.shape = data.shape[:axis] ++ indices.shape ++ " +
  "data.shape[axis+1:]. A scalar index drops the axis.";

const inputs = (range: string) => [
  { name: "data", type: "T", description: "Tensor of rank r >= 1." },
  {
    name: "indices",
    type: "Tind",
    description: `Tensor of any rank q, in ${range} along axis of size s.`,
  },
];

const COMMON = {
  ...ONNX,
  name: "Gather",
  summary: SUMMARY,
  attributes: [AXIS],
  outputs: [{ name: "output", type: "T", description: "Tensor of rank q + r - 1." }],
} as const;

// The document of version 1 asks for indices "within bounds"; negative ones came with version 11.
// prettier-ignore
const versions: readonly OperatorVersion[] = [
  { ...COMMON, sinceVersion: 1, inputs: inputs("[0, s-1]"), typeConstraints: [T15, TIND], negativeIndices: false },
  { ...COMMON, sinceVersion: 11, inputs: inputs("[-s, s-1]"), typeConstraints: [T15, TIND] },
  { ...COMMON, sinceVersion: 13, inputs: inputs("[-s, s-1]"), typeConstraints: [T16, TIND] },
];

export const gather: Operator = {
  kind: "gather",
  versions,
  plain: plainVersion(versions, [AXIS, BATCH_DIMS_BOTH]),
  inferShape: inferGather,
  derive: deriveGather,
  plan: planGather,
  layout: layoutSlices,
};

export function inferGather(
  { data, indices }: InputShapes,
  { settings, fields }: OperatorCall,
): PartialShape {
  checkRank("data", data, fields);
  const rank = Math.min(data?.length ?? Infinity, indices?.length ?? Infinity);
  const batchDims = countFrom(settings.batchDims, indices);
  if (batchDims !== null && (batchDims < 0 || batchDims > rank)) {
    const sentence = `the number of batch dimensions is ${settings.batchDims}, but must be from ${-rank} to ${rank}, the smaller rank of data and indices`;
    const expected = [-rank, rank];
    throw new TensorError("rank", sentence, { ...fields, got: settings.batchDims, expected });
  }
  const axis = data === null ? null : normalizeAxis(settings.axis, data.length, fields);
  if (axis !== null && batchDims !== null && batchDims > axis) {
    const sentence = `axis is ${axis}, but must not be one of the ${batchDims} batch axes before it`;
    throw new TensorError("axis", sentence, { ...fields, axis, got: axis });
  }
  if (data === null || indices === null || batchDims === null) return null;
  const batches = checkBatches(data, indices, batchDims, fields);
  if (axis === null) {
    return Array.from({ length: data.length + indices.length - 1 - batchDims }, () => null);
  }
  // What is known of either one's batch axes is known of the output's.
  return joinTerms(termsOf([...batches, ...part(data, batchDims)], indices, axis, batchDims));
}

/** The terms of the output's shape. */
const termsOf = (
  data: readonly Dim[],
  indices: readonly Dim[],
  axis: number,
  batchDims: number,
): Term[] => [
  { text: `data.shape[:${axis}]`, shape: part(data, 0, axis) },
  batchDims === 0
    ? wholeOf("indices", indices)
    : { text: `indices.shape[${batchDims}:]`, shape: part(indices, batchDims) },
  { text: `data.shape[${axis + 1}:]`, shape: part(data, axis + 1) },
];

export function deriveGather(inputs: RankedShapes, call: OperatorCall): readonly Derivation[] {
  const { data, indices } = inputs;
  inferGather(inputs, call);
  const axis = normalizeAxis(Number(call.settings.axis), data.length, call.fields);
  const batchDims = Number(countFrom(call.settings.batchDims, indices));
  return [{ of: "output", terms: termsOf(data, indices, axis, batchDims) }];
}

/** A number of batch axes; negative counts from the back of indices, and is null where their rank is not known. */
function countFrom(batchDims: number, indices: PartialShape): number | null {
  if (batchDims >= 0) return batchDims;
  return indices === null ? null : batchDims + indices.length;
}

export function planGather(
  { data, indices }: PlanInputs,
  { settings, fields }: OperatorCall,
  rules: IndexRules,
): Plan {
  const axis = normalizeAxis(Number(settings.axis), data.length, fields);
  const batchDims = Number(countFrom(settings.batchDims, indices.shape));
  return planSlices(indices, data, axis, batchDims, rules, fields);
}

/** Of operators whose indices stand for slices along an axis. */
export function layoutSlices(
  { data, indices }: PlanInputs,
  { settings, fields }: OperatorCall,
): Layout {
  const axis = normalizeAxis(Number(settings.axis), data.length, fields);
  const batchDims = Number(countFrom(settings.batchDims, indices.shape));
  return {
    positions: [...data.slice(0, axis), ...indices.shape.slice(batchDims)],
    indexAt: (position) => [...position.slice(0, batchDims), ...position.slice(axis)],
    addressed: axis + 1,
    axes: [axis],
  };
}
