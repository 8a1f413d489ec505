/** ScatterND of ai.onnx: index tuples say which slices of a copy of data the updates replace or are combined with. */

import type { ErrorFields } from "../errors.ts";
import { compatible, compatibleFrom, part, type Dim, type PartialShape } from "../tensor/shape.ts";
import { REDUCTION_16, REDUCTION_18 } from "./attributes.ts";
import { plainVersion } from "./settings.ts";
import { checkRank, checkTupleLength, wrongUpdates } from "./checks.ts";
import { layoutTuples, planGatherND } from "./gather-nd.ts";
import {
  ONNX,
  type Derivation,
  type InputShapes,
  type Operator,
  type OperatorVersion,
  type RankedShapes,
  type Term,
} from "./operator.ts";
import { joinTerms, likeData, printTerms } from "./terms.ts";
import { T15, T16 } from "./types.ts";

const SUMMARY =
  "Copies data and writes updates into the copy. Each index tuple, the last axis of indices, addresses an element " +
  "(tuple as long as data's rank) or a slice (shorter). updates.shape = indices.shape[:-1] ++ data.shape[k:], where " +
  "k = indices.shape[-1]. Tuples are applied in row-major order, so that of repeated ones the last wins.";

const REDUCED = `${SUMMARY} With a reduction, updates are combined with what they meet instead.`;

const COMMON = {
  ...ONNX,
  name: "ScatterND",
  inputs: [
    { name: "data", type: "T", description: "Tensor of rank r >= 1." },
    { name: "indices", type: "int64", description: "Tensor of rank q >= 1, of tuples of k <= r." },
    { name: "updates", type: "T", description: "Tensor of rank q + r - k - 1." },
  ],
  outputs: [{ name: "output", type: "T", description: "Tensor of data's shape." }],
} as const;

// prettier-ignore
const versions: readonly OperatorVersion[] = [
  { ...COMMON, sinceVersion: 11, summary: SUMMARY, attributes: [], typeConstraints: [T15] },
  { ...COMMON, sinceVersion: 13, summary: SUMMARY, attributes: [], typeConstraints: [T16] },
  { ...COMMON, sinceVersion: 16, summary: REDUCED, attributes: [REDUCTION_16], typeConstraints: [T16] },
  { ...COMMON, sinceVersion: 18, summary: REDUCED, attributes: [REDUCTION_18], typeConstraints: [T16] },
];

export const scatterND: Operator = {
  kind: "scatter",
  versions,
  plain: plainVersion(versions),
  inferShape: (inputs, { fields }) => inferScatterND(inputs, fields),
  derive: (inputs, { fields }) => deriveScatterND(inputs, fields),
  plan: planGatherND,
  layout: layoutTuples,
};

// The terms of updates.shape.
const leadOf = (indices: readonly Dim[]): Term => ({
  text: "indices.shape[:-1]",
  shape: part(indices, 0, indices.length - 1),
});
const tailOf = (data: readonly Dim[], k: number): Term => ({
  text: `data.shape[${k}:]`,
  shape: part(data, k),
});

export function deriveScatterND(
  { data, indices }: RankedShapes,
  fields: ErrorFields,
): readonly Derivation[] {
  inferScatterND({ data, indices, updates: null }, fields);
  const k = Number(indices[indices.length - 1]);
  return [{ of: "updates", terms: [leadOf(indices), tailOf(data, k)] }, likeData(data)];
}

/**
 * The output has data's shape. With updates.shape = indices.shape[:-1] ++ data.shape[k:], whatever is known of two of
 * the three shapes limits the third.
 * @param oneElement whether any tensor of one element will do where updates should be a scalar
 */
export function inferScatterND(
  { data, indices, updates }: InputShapes,
  fields: ErrorFields,
  oneElement = false,
): PartialShape {
  checkRank("data", data, fields);
  checkRank("indices", indices, fields);
  let k = indices === null ? null : indices[indices.length - 1];
  if (data !== null && typeof k === "number") checkTupleLength(k, 0, data.length, fields);
  if (updates === null) return data;

  const lead = indices === null ? null : leadOf(indices);
  const mayBeOne = oneElement && (lead === null || lead.shape.length === 0);
  if (mayBeOne && lead !== null && (k === data?.length || typeof k !== "number")) {
    if (
      compatible(
        updates,
        updates.map(() => 1),
      )
    )
      return data;
    if (k === data?.length)
      throw wrongUpdates("be a scalar, or hold one element", [], updates, fields);
  }
  // Three known ranks say how long the tuples are, even where indices.shape[-1] does not.
  if (typeof k !== "number" && data !== null && lead !== null) {
    k = lead.shape.length + data.length - updates.length;
  }
  const isLength = typeof k === "number" && k >= 0 && k <= (data?.length ?? 0);
  const tail = data !== null && isLength ? tailOf(data, Number(k)) : null;
  if (lead !== null && tail !== null) {
    const terms = [lead, tail];
    const shape = joinTerms(terms);
    if (compatible(updates, shape)) return data;
    throw wrongUpdates(`be ${printTerms(terms)}`, shape, updates, fields);
  }
  if (lead !== null && !compatibleFrom(0, updates, lead.shape)) {
    throw wrongUpdates(`begin with ${printTerms([lead])}`, lead.shape, updates, fields);
  }
  if (tail !== null && !compatibleFrom(updates.length - tail.shape.length, updates, tail.shape)) {
    throw wrongUpdates(`end with ${printTerms([tail])}`, tail.shape, updates, fields);
  }
  // Of data at least one axis is there, and of those that no tuple addresses all are in updates.
  const length = lead?.shape.length ?? 0;
  const least = length + (k === 0 ? 1 : 0);
  const most = lead === null || data === null || mayBeOne ? Infinity : length + data.length;
  if (updates.length < least || updates.length > most) {
    const range = updates.length < least ? `at least ${least}` : `at most ${most}`;
    throw wrongUpdates(`have a rank of ${range}`, null, updates, fields);
  }
  return data;
}
