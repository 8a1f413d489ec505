/**
 * Operators with index tuples: ScatterND and GatherND of ai.onnx, ScatterNDUpdate and GatherND of openvino.
 *
 *     k = indices.shape[-1], b = batch_dims, which is 0 in scatters
 *     for each p in the positions of indices.shape[:-1]:
 *       target = p[:b] ++ indices[p]
 *       gather:   output[p] = data[target]
 *       scatter:  output[target] = f(output[target], updates[p])
 *
 * The output of a gather and the updates of a scatter have the shape indices.shape[:-1] ++ data.shape[b+k:], so a
 * target is an element if b + k is the rank of data, or a slice if b + k is smaller. The output of a scatter starts as
 * a copy of data, and f replaces or combines.
 */

import { TensorError, type ErrorContext } from "../errors.ts";
import { flatAdvice, tuplePlanner, type Addressed } from "../plan/indices.ts";
import { compatibleFrom, isKnown, part, product, type Dim } from "../tensor/shape.ts";
import {
  operatorOf,
  tupleLayout,
  versionsOf,
  type AttributeSchema,
  type Family,
  type InputShapes,
  type Operator,
  type OperatorCall,
  type Settings,
  type TypeConstraint,
} from "./operator.ts";
import {
  BATCH_DIMS,
  DATA,
  indicesInput,
  OUTPUT_LIKE_DATA,
  outputs,
  REDUCTION_16,
  REDUCTION_18,
  REDUCTION_OPENVINO_15,
  T15,
  T16,
  T_OPENVINO,
  T_OPENVINO_ANY,
  TIND,
  TIND_ANY,
} from "./schemas.ts";
import { plainVersion } from "./settings.ts";
import {
  batchDimsKey,
  checkBatches,
  checkEqual,
  checkNotScalar,
  checkTupleLength,
  printTerms,
  wrongUpdates,
  type Term,
} from "./shapes.ts";

const SCATTERED =
  "Copies data and writes one update into the copy for each index tuple in the last axis of indices. " +
  "A tuple of k indices addresses an element if k is the rank of data, or a slice if k is smaller. " +
  "Updates have the shape indices.shape[:-1] ++ data.shape[k:]. ";

const scatterFields = (name: string, indexType: string) => ({
  name,
  indexForm: "tuples" as const,
  inputs: [
    DATA,
    indicesInput("Indices have rank q >= 1, with tuples of k <= r indices.", indexType),
    { name: "updates", type: "T", description: "Updates have rank q + r - k - 1." },
  ],
  outputs: OUTPUT_LIKE_DATA,
});

const scatterNDRow = (
  sinceVersion: number,
  type: TypeConstraint,
  ...attributes: AttributeSchema[]
) => ({
  ...scatterFields("ScatterND", "int64"),
  sinceVersion,
  summary: `${SCATTERED}Updates are applied in row-major order, so the last update of a target wins.`,
  attributes,
  typeConstraints: [type],
});

const scatterNDVersions = /* @__PURE__ */ versionsOf("ai.onnx", () => [
  scatterNDRow(11, T15),
  scatterNDRow(13, T16),
  scatterNDRow(16, T16, REDUCTION_16),
  scatterNDRow(18, T16, REDUCTION_18),
]);

// The specification of version 3 accepts only indices in [0, s-1]; in version 15, negative indices count from the end.
// Version 15 combines with Python's `max(old, new)`, which returns `old` unless `new` is greater.
const scatterNDUpdateRow = (
  sinceVersion: number,
  opset: number,
  ...attributes: AttributeSchema[]
) => ({
  ...scatterFields("ScatterNDUpdate", "Tind"),
  typeConstraints: [T_OPENVINO, TIND],
  sinceVersion,
  opset,
  summary: `${SCATTERED}A scalar update may be any tensor with one element.`,
  attributes,
});

const scatterNDUpdateVersions = /* @__PURE__ */ versionsOf("openvino", () => [
  { ...scatterNDUpdateRow(3, 4), negativeIndices: false },
  { ...scatterNDUpdateRow(15, 15, REDUCTION_OPENVINO_15), negativeIndices: true, stays: "data" },
]);

const GATHERED =
  "Gathers one element or slice of data for each index tuple in the last axis of indices. ";

const gatherNDRow = (
  sinceVersion: number,
  type: TypeConstraint,
  ...attributes: AttributeSchema[]
) => {
  const [shape, rank] = attributes.includes(BATCH_DIMS)
    ? [
        "Data and indices share the first batch_dims axes, and a tuple of k indices addresses only its own batch. " +
          "The output has the shape indices.shape[:-1] ++ data.shape[batch_dims + k:].",
        "q + r - k - 1 - batch_dims",
      ]
    : [
        "A tuple of k indices selects an element if k is the rank of data, or a slice if k is smaller. " +
          "The output has the shape indices.shape[:-1] ++ data.shape[k:].",
        "q + r - k - 1",
      ];
  return {
    name: "GatherND",
    indexForm: "tuples" as const,
    inputs: [
      DATA,
      indicesInput(
        "Indices have rank q >= 1 and contain tuples of k >= 1 values, each in [-s, s-1] for an axis of size s.",
        "int64",
      ),
    ],
    sinceVersion,
    summary: `${GATHERED}${shape}`,
    attributes,
    outputs: outputs(`The output has rank ${rank}.`),
    typeConstraints: [type],
  };
};

const gatherNDVersions = /* @__PURE__ */ versionsOf("ai.onnx", () => [
  gatherNDRow(11, T15),
  gatherNDRow(12, T15, BATCH_DIMS),
  gatherNDRow(13, T16, BATCH_DIMS),
]);

// Version 8 has accepted negative indices since release 2025.3.
const openvinoGatherNDRow = (sinceVersion: number, range: string, fused = "") => ({
  name: "GatherND",
  indexForm: "tuples" as const,
  attributes: [BATCH_DIMS],
  outputs: outputs("The output holds the gathered elements or slices."),
  typeConstraints: [T_OPENVINO_ANY, TIND_ANY],
  sinceVersion,
  summary: `${GATHERED}Data and indices share the first batch_dims axes, and each tuple addresses only its own batch.${fused}`,
  inputs: [
    DATA,
    indicesInput(`Indices have rank q >= 1, with tuples of k >= 1 indices in ${range}.`),
  ],
});

const openvinoGatherNDVersions = /* @__PURE__ */ versionsOf("openvino", () => {
  const fused = " The batch axes of the output are fused into a single axis.";
  return [
    { ...openvinoGatherNDRow(5, "[0, s-1]", fused), negativeIndices: false, fusesBatches: true },
    { ...openvinoGatherNDRow(8, "[-s, s-1]"), negativeIndices: true },
  ];
});

/** Addressing by index tuples. */
export const tuples: Family = {
  termsOf,
  checkUpdates,
  orOneElement: "openvino",
  planner: ({ data, indices }, { settings, fields }, rules) =>
    tuplePlanner(data, addressedBy(indices, settings), rules, fields),
  layout: ({ data, indices }, { settings }) =>
    tupleLayout(data, addressedBy(indices.shape, settings)),
};

function addressedBy(indices: readonly number[], { batchDims }: Settings): Addressed {
  const last = indices.length - 1;
  return { lead: part(indices, 0, last), batchDims, first: batchDims, k: indices[last] };
}

export const scatterND: Operator = /* @__PURE__ */ operatorOf(
  tuples,
  scatterNDVersions,
  /* @__PURE__ */ plainVersion(scatterNDVersions),
);

export const scatterNDUpdate: Operator = /* @__PURE__ */ operatorOf(
  tuples,
  scatterNDUpdateVersions,
);

export const gatherND: Operator = /* @__PURE__ */ operatorOf(
  tuples,
  gatherNDVersions,
  /* @__PURE__ */ plainVersion(gatherNDVersions),
);

export const openvinoGatherND: Operator = /* @__PURE__ */ operatorOf(
  tuples,
  openvinoGatherNDVersions,
);

/** Returns the terms indices.shape[:-1] ++ data.shape[b+k:]; the length k may follow from the rank of updates. */
function termsOf(
  { data, indices, updates }: InputShapes,
  { version, settings: { batchDims }, fields }: OperatorCall,
): readonly Term[] | null {
  checkNotScalar("data", data, fields);
  checkNotScalar("indices", indices, fields);
  const rank = Math.min(data?.length ?? Infinity, indices?.length ?? Infinity);
  if (batchDims >= rank) {
    throw new TensorError(
      "rank",
      `the number of batch dimensions is ${batchDims}, but must be below ${rank}, ` +
        "the smaller rank of data and indices",
      { ...fields, key: batchDimsKey(fields), got: batchDims, expected: [0, rank - 1] },
    );
  }
  const given = indices === null ? null : indices[indices.length - 1];
  const most = data === null ? Infinity : data.length - batchDims;
  if (typeof given === "number") {
    const least = version.inputs.length === 2 ? 1 : 0;
    checkTupleLength(indices, given, least, most, fields);
  }
  if (data === null || indices === null) return null;
  const batches = checkBatches(data, indices, batchDims, fields);
  const fromRanks = updates === null ? -1 : indices.length - 1 + data.length - updates.length;
  const k = typeof given === "number" ? given : fromRanks;
  if (k < 0 || k > most) return null;
  const tail = { text: `data.shape[${batchDims + k}:]`, shape: part(data, batchDims + k) };
  const lead = part(indices, batchDims, indices.length - 1);
  if (batchDims < 2 || version.fusesBatches !== true) {
    return [{ text: LEAD, shape: [...batches, ...lead] }, tail];
  }
  const fused = isKnown(batches) ? product(batches) : null;
  return [
    { text: `[product(indices.shape[:${batchDims}])]`, shape: [fused] },
    { text: `indices.shape[${batchDims}:-1]`, shape: lead },
    tail,
  ];
}

const LEAD = "indices.shape[:-1]";

/** Checks the updates of a scatter; if the terms are not known, checks what follows from indices alone. */
function checkUpdates(
  updates: readonly Dim[],
  terms: readonly Term[] | null,
  inputs: InputShapes,
  { version, fields }: OperatorCall,
): void {
  const { data, indices } = inputs;
  const orOne = version.domain === tuples.orOneElement;
  if (indices === null || (orOne && isOneElement(updates, inputs, fields))) return;
  if (terms !== null) {
    const isFlat = updates.length === data?.length || updates[0] === indices[0];
    checkEqual(updates, terms, fields, isFlat ? flatAdvice(indices) : "");
    return;
  }
  const lead = part(indices, 0, indices.length - 1);
  if (!compatibleFrom(0, updates, lead)) {
    const must = `begin with ${printTerms([{ text: LEAD, shape: lead }])}`;
    throw wrongUpdates(must, lead, updates, fields);
  }
  // If k is 0, updates have all axes of data, which has at least one axis.
  const least = lead.length + (indices[lead.length] === 0 ? 1 : 0);
  const mayBeOne = orOne && lead.length === 0;
  const most = data === null || mayBeOne ? Infinity : lead.length + data.length;
  if (updates.length < least || updates.length > most) {
    const range = updates.length < least ? `at least ${least}` : `at most ${most}`;
    throw wrongUpdates(`have a rank of ${range}`, null, updates, fields);
  }
}

/**
 * Returns true if updates may be a tensor with one element instead of a scalar.
 * @throws TensorError `shape-mismatch` if updates must be a scalar but have more than one element
 */
function isOneElement(
  updates: readonly Dim[],
  { data, indices }: InputShapes,
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
