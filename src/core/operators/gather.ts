/** Gather of ai.onnx: each index selects a slice of data along one axis. */

import { printCount } from "../foreign.ts";
import { TensorError, type ErrorContext } from "../errors.ts";
import { part, type Dim, type PartialShape } from "../tensor/shape.ts";
import { bySlices } from "./addressing.ts";
import { AXIS, SIGNED_BATCH_DIMS } from "./attributes.ts";
import { plainVersion } from "./settings.ts";
import {
  batchDimsKey,
  checkBatches,
  checkNotScalar,
  normalizeAxis,
  normalizeBatchDims,
} from "./checks.ts";
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
import { joinTerms, wholeShape } from "./terms.ts";
import { T15, T16, TIND } from "./types.ts";

const SUMMARY =
  "Gathers one slice of data along axis for each index. A scalar index removes the axis. " +
  "The output has the shape data.shape[:axis] ++ indices.shape ++ data.shape[axis+1:].";

const inputs = (range: string) => [
  { name: "data", type: "T", description: "Data has rank r >= 1." },
  {
    name: "indices",
    type: "Tind",
    description: `Indices may have any rank q, with values in ${range} on an axis of size s.`,
  },
];

const COMMON = {
  name: "Gather",
  indexForm: "slices",
  summary: SUMMARY,
  attributes: [AXIS],
  outputs: [{ name: "output", type: "T", description: "The output has rank q + r - 1." }],
} as const;

// The specification of version 1 requires indices "within bounds"; negative indices were added in version 11.
const versions = /* @__PURE__ */ versionsOf("ai.onnx", COMMON, () => [
  {
    sinceVersion: 1,
    inputs: inputs("[0, s-1]"),
    typeConstraints: [T15, TIND],
    negativeIndices: false,
  },
  { sinceVersion: 11, inputs: inputs("[-s, s-1]"), typeConstraints: [T15, TIND] },
  { sinceVersion: 13, inputs: inputs("[-s, s-1]"), typeConstraints: [T16, TIND] },
]);

export const gather: Operator = /* @__PURE__ */ operatorBy(bySlices, {
  kind: "gather",
  versions,
  plain: /* @__PURE__ */ plainVersion(versions, [AXIS, SIGNED_BATCH_DIMS]),
  inferShape: inferGather,
  derive: deriveGather,
});

export function inferGather(
  { data, indices }: InputShapes,
  { settings, fields }: OperatorCall,
): PartialShape {
  checkNotScalar("data", data, fields);
  const rank = Math.min(data?.length ?? Infinity, indices?.length ?? Infinity);
  const batchDims = normalizeBatchDims(settings.batchDims, indices);
  if (batchDims !== null && (batchDims < 0 || batchDims > rank)) {
    throw wrongBatchDims(settings.batchDims, rank, indices?.length ?? rank, fields);
  }
  const axis = data === null ? null : normalizeAxis(settings.axis, data.length, fields);
  if (axis !== null && batchDims !== null && batchDims > axis) {
    const sentence = `axis is ${axis}, but must come after the ${printCount(batchDims, "batch axis", "batch axes")}`;
    throw new TensorError("axis", sentence, {
      ...fields,
      axis,
      got: axis,
      expected: [batchDims, data === null ? Infinity : data.length - 1],
    });
  }
  if (data === null || indices === null || batchDims === null) return null;
  const batches = checkBatches(data, indices, batchDims, fields);
  if (axis === null) {
    return Array.from({ length: data.length + indices.length - 1 - batchDims }, () => null);
  }
  // The size of a batch axis in the output is known if it is known in either input.
  return joinTerms(outputTerms([...batches, ...part(data, batchDims)], indices, axis, batchDims));
}

/**
 * Creates the error for a wrong number of batch axes. A negative number counts from the end of the indices' shape, and
 * has a separate range if indices have more axes than data.
 */
function wrongBatchDims(
  given: number,
  most: number,
  rank: number,
  fields: ErrorContext,
): TensorError {
  const range =
    rank > most ? `0 to ${most}, or from ${-rank} to ${most - rank}` : `${-most} to ${most}`;
  const expected = rank > most ? (given < 0 ? [-rank, most - rank] : [0, most]) : [-most, most];
  const sentence =
    `the number of batch dimensions is ${given}, but must be from ${range}, ` +
    `because ${most} is the smaller rank of data and indices`;
  return new TensorError("rank", sentence, {
    ...fields,
    key: batchDimsKey(fields),
    got: given,
    expected,
  });
}

/** Returns the terms of the output shape. */
const outputTerms = (
  data: readonly Dim[],
  indices: readonly Dim[],
  axis: number,
  batchDims: number,
): Term[] => [
  { text: `data.shape[:${axis}]`, shape: part(data, 0, axis) },
  batchDims === 0
    ? wholeShape("indices", indices)
    : { text: `indices.shape[${batchDims}:]`, shape: part(indices, batchDims) },
  { text: `data.shape[${axis + 1}:]`, shape: part(data, axis + 1) },
];

export function deriveGather(inputs: RankedShapes, call: OperatorCall): readonly Derivation[] {
  const { data, indices } = inputs;
  inferGather(inputs, call);
  const axis = normalizeAxis(Number(call.settings.axis), data.length, call.fields);
  const batchDims = Number(normalizeBatchDims(call.settings.batchDims, indices));
  return [{ of: "output", terms: outputTerms(data, indices, axis, batchDims) }];
}
