/**
 * Operators with one index for each slice along an axis: Gather of ai.onnx, Gather and ScatterUpdate of openvino.
 *
 *     b = batch_dims, which is 0 in scatters and at most axis
 *     for each c in the positions of data.shape[:axis], and each p in the positions of indices.shape[b:]:
 *       target = c ++ [indices[c[:b] ++ p]]
 *       gather:   output[c ++ p] = data[target]
 *       scatter:  output[target] = updates[c ++ p]
 *
 * The output of a gather and the updates of a scatter have the shape
 * data.shape[:axis] ++ indices.shape[b:] ++ data.shape[axis+1:]. The output of a scatter starts as a copy of data.
 */

import { TensorError, type ErrorContext } from "../errors.ts";
import { tuplePlanner, type Addressed } from "../plan/indices.ts";
import { printCount } from "../foreign.ts";
import { part } from "../tensor/shape.ts";
import {
  operatorOf,
  tupleLayout,
  versionsOf,
  type Family,
  type InputShapes,
  type Operator,
  type OperatorCall,
  type TypeConstraint,
} from "./operator.ts";
import {
  AXIS,
  AXIS_INPUT,
  DATA,
  indicesInput,
  OUTPUT_LIKE_DATA,
  outputs,
  SIGNED_BATCH_DIMS,
  T15,
  T16,
  T_OPENVINO,
  T_OPENVINO_GATHER,
  TAXIS,
  TIND,
  TIND_ANY,
} from "./schemas.ts";
import { plainVersion } from "./settings.ts";
import {
  batchDimsKey,
  checkBatches,
  checkEqual,
  checkNotScalar,
  joinTerms,
  normalizeAxis,
  normalizeBatchDims,
  wholeShape,
  wrongUpdates,
  type Term,
} from "./shapes.ts";

const GATHERED = "Gathers one slice of data along axis for each index.";

// The specification of version 1 requires indices "within bounds"; negative indices were added in version 11.
const gatherRow = (sinceVersion: number, type: TypeConstraint, range = "[-s, s-1]") => ({
  name: "Gather",
  indexForm: "slices" as const,
  summary:
    `${GATHERED} A scalar index removes the axis. ` +
    "The output has the shape data.shape[:axis] ++ indices.shape ++ data.shape[axis+1:].",
  attributes: [AXIS],
  outputs: outputs("The output has rank q + r - 1."),
  sinceVersion,
  inputs: [
    DATA,
    indicesInput(`Indices may have any rank q, with values in ${range} on an axis of size s.`),
  ],
  typeConstraints: [type, TIND],
});

const gatherVersions = /* @__PURE__ */ versionsOf("ai.onnx", () => [
  { ...gatherRow(1, T15, "[0, s-1]"), negativeIndices: false },
  gatherRow(11, T15),
  gatherRow(13, T16),
]);

// The specifications of versions 1 and 7 promise indices in [0, s-1]. The reference implementation of OpenVINO 2026.4.1
// runs all versions with the same function; its CPU plugin returns zeros for negative indices in versions 1 and 7.
const openvinoGatherRow = (sinceVersion: number, range: string, batched: boolean, more = "") => ({
  name: "Gather",
  indexForm: "slices" as const,
  typeConstraints: [T_OPENVINO_GATHER, TIND_ANY, TAXIS],
  negativeIndices: true,
  outOfRange: "fill" as const,
  sinceVersion,
  summary:
    GATHERED +
    (batched ? " Data and indices share the first batch_dims axes." : "") +
    ` The output has the shape data.shape[:axis] ++ indices.shape${batched ? "[batch_dims:]" : ""} ++ data.shape[axis+1:].` +
    more,
  attributes: batched ? [SIGNED_BATCH_DIMS] : [],
  inputs: [DATA, indicesInput(`Indices have any rank q, with values in ${range}.`), AXIS_INPUT],
  outputs: outputs(`The output has rank q + r - 1${batched ? " - batch_dims" : ""}.`),
});

const openvinoGatherVersions = /* @__PURE__ */ versionsOf("openvino", () => {
  const promised = "[0, s-1] on an axis of size s";
  const any = "[-s, s-1] on an axis of size s; other values gather zeros";
  return [
    { ...openvinoGatherRow(1, promised, false), promisesRange: true },
    { ...openvinoGatherRow(7, promised, true), promisesRange: true },
    openvinoGatherRow(8, any, true, " Indices out of range gather zeros."),
  ];
});

const scatterUpdateVersions = /* @__PURE__ */ versionsOf("openvino", () => [
  {
    indexForm: "slices",
    name: "ScatterUpdate",
    sinceVersion: 3,
    summary:
      "Copies data, and replaces one slice of the copy along axis for each index. " +
      "Updates have the shape data.shape[:axis] ++ indices.shape ++ data.shape[axis+1:].",
    attributes: [],
    inputs: [
      DATA,
      indicesInput("Indices have any rank q, with values in [0, s-1] on an axis of size s."),
      { name: "updates", type: "T", description: "Updates have rank q + r - 1." },
      AXIS_INPUT,
    ],
    outputs: OUTPUT_LIKE_DATA,
    typeConstraints: [T_OPENVINO, TIND_ANY, TAXIS],
    negativeIndices: false,
  },
]);

/** Addressing by slices along an axis. */
export const slices: Family = {
  termsOf,
  checkUpdates(updates, terms, _, { fields }) {
    if (terms === null) return;
    const rank = joinTerms(terms).length;
    if (updates.length !== rank) throw wrongUpdates(`have rank ${rank}`, null, updates, fields);
    checkEqual(updates, terms, fields);
  },
  planner: (shapes, call, rules) =>
    tuplePlanner(shapes.data, addressedBy(shapes.data, shapes.indices, call), rules, call.fields),
  layout: ({ data, indices }, call) => tupleLayout(data, addressedBy(data, indices.shape, call)),
};

function addressedBy(
  data: readonly number[],
  indices: readonly number[],
  { settings, fields }: OperatorCall,
): Addressed {
  const first = normalizeAxis(Number(settings.axis), data.length, fields);
  const batchDims = Number(normalizeBatchDims(settings.batchDims, indices));
  return { lead: indices, batchDims, first, k: 1 };
}

export const gather: Operator = /* @__PURE__ */ operatorOf(
  slices,
  gatherVersions,
  /* @__PURE__ */ plainVersion(gatherVersions, [AXIS, SIGNED_BATCH_DIMS]),
);

export const openvinoGather: Operator = /* @__PURE__ */ operatorOf(slices, openvinoGatherVersions);

export const scatterUpdate: Operator = /* @__PURE__ */ operatorOf(slices, scatterUpdateVersions);

function termsOf(
  { data, indices }: InputShapes,
  { settings, fields }: OperatorCall,
): readonly Term[] | null {
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
    const unknown = Array.from(
      { length: data.length + indices.length - 1 - batchDims },
      () => null,
    );
    return [{ text: "?", shape: unknown }];
  }
  const own = part(indices, batchDims);
  return [
    // The size of a batch axis is known if it is known in either input.
    { text: `data.shape[:${axis}]`, shape: [...batches, ...part(data, batchDims, axis)] },
    batchDims === 0
      ? wholeShape("indices", indices)
      : { text: `indices.shape[${batchDims}:]`, shape: own },
    { text: `data.shape[${axis + 1}:]`, shape: part(data, axis + 1) },
  ];
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
