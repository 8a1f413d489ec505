/**
 * ScatterND of ai.onnx: in a copy of data, updates replace or are combined with the slices that index tuples address.
 */

import type { ErrorContext } from "../errors.ts";
import {
  compatibleFrom,
  compatibleRanges,
  part,
  type Dim,
  type PartialShape,
} from "../tensor/shape.ts";
import { flatAdvice } from "../plan/bounds.ts";
import { byTuples } from "./addressing.ts";
import { reduced, REDUCTION_16, REDUCTION_18 } from "./attributes.ts";
import { plainVersion } from "./settings.ts";
import { checkNotScalar, checkTupleLength, wrongUpdates } from "./checks.ts";
import {
  versionsOf,
  operatorBy,
  type Derivation,
  type InputShapes,
  type Operator,
  type RankedShapes,
  type Term,
} from "./operator.ts";
import { joinTerms, outputLikeData, printTerms } from "./terms.ts";
import { T15, T16 } from "./types.ts";

const SUMMARY =
  "Copies data and writes one update into the copy for each index tuple in the last axis of indices. " +
  "A tuple of k indices addresses an element if k is the rank of data, or a slice if k is smaller. " +
  "Updates have the shape indices.shape[:-1] ++ data.shape[k:]. " +
  "Updates are applied in row-major order, so the last update of a target wins.";

const COMMON = {
  name: "ScatterND",
  indexForm: "tuples",
  inputs: [
    { name: "data", type: "T", description: "Data has rank r >= 1." },
    {
      name: "indices",
      type: "int64",
      description: "Indices have rank q >= 1, with tuples of k <= r indices.",
    },
    { name: "updates", type: "T", description: "Updates have rank q + r - k - 1." },
  ],
  outputs: [{ name: "output", type: "T", description: "The output has the shape of data." }],
} as const;

const versions = /* @__PURE__ */ versionsOf("ai.onnx", COMMON, () => [
  { sinceVersion: 11, summary: SUMMARY, attributes: [], typeConstraints: [T15] },
  { sinceVersion: 13, summary: SUMMARY, attributes: [], typeConstraints: [T16] },
  {
    sinceVersion: 16,
    summary: reduced(SUMMARY),
    attributes: [REDUCTION_16],
    typeConstraints: [T16],
  },
  {
    sinceVersion: 18,
    summary: reduced(SUMMARY),
    attributes: [REDUCTION_18],
    typeConstraints: [T16],
  },
]);

export const scatterND: Operator = /* @__PURE__ */ operatorBy(byTuples, {
  kind: "scatter",
  versions,
  plain: /* @__PURE__ */ plainVersion(versions),
  inferShape: (inputs, { fields }) => inferScatterND(inputs, fields),
  derive: (inputs, { fields }) => deriveScatterND(inputs, fields),
});

// Returns the two terms of updates.shape.
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
  fields: ErrorContext,
): readonly Derivation[] {
  inferScatterND({ data, indices, updates: null }, fields);
  const k = Number(indices[indices.length - 1]);
  return [{ of: "updates", terms: [leadOf(indices), tailOf(data, k)] }, outputLikeData(data)];
}

/**
 * Checks the input shapes of a ScatterND, and returns the output shape, which is the shape of data.
 * @param oneElement true if any tensor with one element is accepted as a scalar
 */
export function inferScatterND(
  inputs: InputShapes,
  fields: ErrorContext,
  oneElement = false,
): PartialShape {
  const { data, indices, updates } = inputs;
  checkNotScalar("data", data, fields);
  checkNotScalar("indices", indices, fields);
  const k = indices === null ? null : indices[indices.length - 1];
  if (data !== null && typeof k === "number") checkTupleLength(indices, k, 0, data.length, fields);
  if (updates === null) return data;
  if (!oneElement || !isOneElement(inputs, updates, fields)) {
    checkUpdates(inputs, updates, oneElement, fields);
  }
  return data;
}

/**
 * Returns true if updates may be a tensor with one element instead of a scalar.
 * @throws TensorError `shape-mismatch` if updates must be a scalar but have more than one element
 */
function isOneElement(
  { data, indices }: InputShapes,
  updates: readonly Dim[],
  fields: ErrorContext,
): boolean {
  if (indices?.length !== 1) return false;
  const [k] = indices;
  const isScalar = k === data?.length;
  if (!isScalar && typeof k === "number") return false;
  if (updates.every((dim) => typeof dim !== "number" || dim === 1)) return true;
  if (isScalar) throw wrongUpdates("be a scalar or have one element", [], updates, fields);
  return false;
}

/** Checks that updates.shape = indices.shape[:-1] ++ data.shape[k:], for the known parts of the three shapes. */
function checkUpdates(
  { data, indices }: InputShapes,
  updates: readonly Dim[],
  oneElement: boolean,
  fields: ErrorContext,
): void {
  const k = tupleLength(data, indices, updates);
  const isLength = k !== null && k >= 0 && k <= (data?.length ?? 0);
  // Every call runs this check, so terms are created only if shapes do not match or are partly unknown.
  if (indices !== null && data !== null && isLength && isJoined(updates, indices, data, k)) return;
  const lead = indices === null ? null : leadOf(indices);
  const tail = data !== null && isLength ? tailOf(data, k) : null;
  if (lead !== null && tail !== null) {
    const terms = [lead, tail];
    throw wrongUpdates(
      `be ${printTerms(terms)}`,
      joinTerms(terms),
      updates,
      fields,
      updates?.length === data?.length || updates[0] === indices?.[0] ? flatAdvice(indices) : "",
    );
  }
  if (lead !== null && !compatibleFrom(0, updates, lead.shape)) {
    throw wrongUpdates(`begin with ${printTerms([lead])}`, lead.shape, updates, fields);
  }
  if (tail !== null && !compatibleFrom(updates.length - tail.shape.length, updates, tail.shape)) {
    throw wrongUpdates(`end with ${printTerms([tail])}`, tail.shape, updates, fields);
  }
  const length = lead?.shape.length ?? 0;
  // If k is 0, updates have all axes of data, which has at least one axis.
  const least = length + (k === 0 ? 1 : 0);
  const mayBeOne = oneElement && length === 0;
  const most = lead === null || data === null || mayBeOne ? Infinity : length + data.length;
  if (updates.length < least || updates.length > most) {
    const range = updates.length < least ? `at least ${least}` : `at most ${most}`;
    throw wrongUpdates(`have a rank of ${range}`, null, updates, fields);
  }
}

/** Returns true if the shape of updates may be indices.shape[:-1] ++ data.shape[k:]. */
function isJoined(
  updates: readonly Dim[],
  indices: readonly Dim[],
  data: readonly Dim[],
  k: number,
): boolean {
  const lead = indices.length - 1;
  const tail = data.length - k;
  return (
    updates.length === lead + tail &&
    compatibleRanges(updates, 0, indices, 0, lead) &&
    compatibleRanges(updates, lead, data, k, tail)
  );
}

/**
 * Returns the tuple length: `indices.shape[-1]`, or its value derived from the ranks of data, indices and updates; null
 * if neither is known.
 */
function tupleLength(
  data: PartialShape,
  indices: PartialShape,
  updates: readonly Dim[],
): number | null {
  if (indices === null) return null;
  const k = indices[indices.length - 1];
  if (typeof k === "number") return k;
  return data === null ? null : indices.length - 1 + data.length - updates.length;
}
