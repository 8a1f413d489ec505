/**
 * Operators with one index for each element: ScatterElements, Scatter and GatherElements of ai.onnx,
 * ScatterElementsUpdate and GatherElements of openvino.
 *
 *     for each position p of indices:
 *       target = p with p[axis] replaced by indices[p]
 *       gather:   output[p] = data[target]
 *       scatter:  output[target] = f(output[target], updates[p])
 *
 * The output of a gather and the updates of a scatter have the shape of indices, which have the rank of data and are
 * not larger than data on the other axes. The output of a scatter starts as a copy of data, and f replaces or combines.
 */

import {
  indexAxis,
  indexWordsOf,
  readOffsets,
  type ElementJob,
  type IndexRules,
  type Planner,
} from "../plan/indices.ts";
import { without, type Plan } from "../plan/plan.ts";
import { product, stridesOf } from "../tensor/shape.ts";
import {
  operatorOf,
  versionsOf,
  type AttributeSchema,
  type Family,
  type Operator,
  type OperatorCall,
  type OperatorVersion,
  type PlanShapes,
  type TypeConstraint,
} from "./operator.ts";
import {
  AXIS,
  AXIS_INPUT,
  AXIS_REQUIRED,
  DATA,
  indicesInput,
  OUTPUT_LIKE_DATA,
  outputs,
  REDUCTION_16,
  REDUCTION_18,
  REDUCTION_OPENVINO_12,
  T15,
  T16,
  T_OPENVINO,
  T_OPENVINO_ANY,
  TAXIS,
  TIND,
  TIND_ANY,
  USE_INIT_VAL,
} from "./schemas.ts";
import { plainVersion } from "./settings.ts";
import { checkIndicesFit, checkSameRank, normalizeAxis, wholeShape } from "./shapes.ts";

const SCATTERED =
  "Copies data and writes updates into the copy. " +
  "Each index selects the position of its update along axis, and its own coordinates give the other positions.";

const SCATTERED_2D = "For rank 2 and axis 0, output[indices[i][j]][j] = updates[i][j].";

const indicesIn = (range: string) =>
  indicesInput(`Indices have rank r, with values in ${range} on an axis of size s.`);

const scatterInputs = (range: string) => [
  DATA,
  indicesIn(range),
  { name: "updates", type: "T", description: "Updates have the shape of indices." },
];

const scatterElementsRow = (
  sinceVersion: number,
  type: TypeConstraint,
  ...attributes: AttributeSchema[]
) => ({
  name: "ScatterElements",
  indexForm: "elements" as const,
  inputs: scatterInputs("[-s, s-1]"),
  outputs: OUTPUT_LIKE_DATA,
  sinceVersion,
  summary: `${SCATTERED} ${SCATTERED_2D} Updates are applied in row-major order, so the last update of an element wins.`,
  attributes: [AXIS, ...attributes],
  typeConstraints: [type, TIND],
});

const scatterElementsVersions = /* @__PURE__ */ versionsOf("ai.onnx", () => [
  scatterElementsRow(11, T15),
  scatterElementsRow(13, T16),
  scatterElementsRow(16, T16, REDUCTION_16),
  scatterElementsRow(18, T16, REDUCTION_18),
]);

// The specification of version 9 does not mention negative indices, which other operators have since version 11.
const scatterVersions = /* @__PURE__ */ versionsOf("ai.onnx", () => {
  const fields = {
    name: "Scatter",
    indexForm: "elements" as const,
    summary: `${SCATTERED} Since version 11, Scatter is deprecated in favor of ScatterElements.`,
    attributes: [AXIS],
    outputs: OUTPUT_LIKE_DATA,
    typeConstraints: [T15, TIND],
  };
  return [
    { ...fields, sinceVersion: 9, inputs: scatterInputs("[0, s-1]"), negativeIndices: false },
    {
      ...fields,
      sinceVersion: 11,
      inputs: scatterInputs("[-s, s-1]"),
      deprecated: "ScatterElements",
    },
  ];
});

// Version 12 prints `reduction(update, old)`: Python's `max(update, old)` returns the update unless `old` is greater,
// and so does OpenVINO's reference implementation.
const scatterElementsUpdateRow = (
  sinceVersion: number,
  range: string,
  ...attributes: AttributeSchema[]
) => ({
  name: "ScatterElementsUpdate",
  indexForm: "elements" as const,
  outputs: OUTPUT_LIKE_DATA,
  typeConstraints: [T_OPENVINO, TIND_ANY, TAXIS],
  sinceVersion,
  summary: `${SCATTERED} ${SCATTERED_2D}`,
  attributes,
  inputs: [...scatterInputs(range), AXIS_INPUT],
});

const scatterElementsUpdateVersions = /* @__PURE__ */ versionsOf("openvino", () => [
  { ...scatterElementsUpdateRow(3, "[0, s-1]"), negativeIndices: false },
  {
    ...scatterElementsUpdateRow(12, "[-s, s-1]", REDUCTION_OPENVINO_12, USE_INIT_VAL),
    negativeIndices: true,
    stays: "update",
  },
]);

const GATHERED = "Gathers one element of data for each index. The output has the shape of indices.";
const OUTPUT_LIKE_INDICES = /* @__PURE__ */ outputs("The output has the shape of indices.");

const gatherElementsRow = (sinceVersion: number, type: TypeConstraint) => ({
  name: "GatherElements",
  indexForm: "elements" as const,
  summary:
    `${GATHERED} Each index selects a position along axis, and its own coordinates give the other positions. ` +
    "For rank 2 and axis 0, output[i][j] = data[indices[i][j]][j].",
  attributes: [AXIS],
  inputs: [DATA, indicesIn("[-s, s-1]")],
  outputs: OUTPUT_LIKE_INDICES,
  sinceVersion,
  typeConstraints: [type, TIND],
});

const gatherElementsVersions = /* @__PURE__ */ versionsOf("ai.onnx", () => [
  gatherElementsRow(11, T15),
  gatherElementsRow(13, T16),
]);

const openvinoGatherElementsVersions = /* @__PURE__ */ versionsOf("openvino", () => [
  {
    indexForm: "elements",
    name: "GatherElements",
    sinceVersion: 6,
    summary: `${GATHERED} Each index selects the position along axis; its place in indices gives the position along every other axis.`,
    attributes: [AXIS_REQUIRED],
    inputs: [
      DATA,
      indicesInput(
        "Indices have the shape of data except along the axis, with values in [0, s-1] on an axis of size s.",
      ),
    ],
    outputs: OUTPUT_LIKE_INDICES,
    typeConstraints: [T_OPENVINO_ANY, TIND],
    negativeIndices: false,
    needsEqualAxes: true,
  },
]);

/** Addressing by an index for each element. */
export const elements: Family = {
  termsOf({ data, indices, updates }, { version, settings, fields }) {
    const rank = checkSameRank({ data, indices, updates }, fields);
    if (rank === null) return null;
    const axis = normalizeAxis(settings.axis, rank, fields);
    // Updates have the shape of indices, so if that is unknown, the shape of updates is checked instead.
    checkIndicesFit(data, indices ?? updates, axis, fields, version.needsEqualAxes);
    return indices && [wholeShape("indices", indices)];
  },
  planner,
  layout: ({ data, indices }, { settings, fields }) => ({
    positions: indices.shape,
    indexAt: (position) => position,
    addressed: data.length,
    axes: [normalizeAxis(Number(settings.axis), data.length, fields)],
  }),
};

export const scatterElements: Operator = /* @__PURE__ */ operatorOf(
  elements,
  scatterElementsVersions,
  /* @__PURE__ */ plainVersion(scatterElementsVersions),
);

export const scatter: Operator = /* @__PURE__ */ operatorOf(
  elements,
  scatterVersions,
  /* @__PURE__ */ plainScatter(),
);

function plainScatter(): OperatorVersion {
  return { ...plainVersion(scatterElementsVersions), name: "Scatter" };
}

export const scatterElementsUpdate: Operator = /* @__PURE__ */ operatorOf(
  elements,
  scatterElementsUpdateVersions,
);

export const gatherElements: Operator = /* @__PURE__ */ operatorOf(
  elements,
  gatherElementsVersions,
  /* @__PURE__ */ plainVersion(gatherElementsVersions),
);

export const openvinoGatherElements: Operator = /* @__PURE__ */ operatorOf(
  elements,
  openvinoGatherElementsVersions,
);

/**
 * Creates a planner in which each index addresses the element of data with the coordinates of the index, except that
 * the index's value replaces the coordinate along the axis.
 */
function planner(
  { data, indices: shape }: PlanShapes,
  { settings, fields }: OperatorCall,
  rules: IndexRules,
): Planner {
  const axis = normalizeAxis(Number(settings.axis), data.length, fields);
  const count = product(shape);
  const batchAxes = countBatchAxes(shape, data, axis);
  // Offsets are relative to their batch: batch axes add nothing, `axis` adds the index, and other axes add their
  // coordinates.
  const steps = stridesOf(data).map((stride, d) => (d < batchAxes || d === axis ? 0 : stride));
  const along = indexAxis(data, axis, rules);
  const { merge } = rules;
  const batches = product(shape, 0, batchAxes);
  const size = product(data);
  const span = product(data, batchAxes);
  // Elements of data whose coordinates differ on an axis after `axis` are different elements.
  const lanes = product(shape, axis + 1);
  const kind = "elements";
  return (indices, read) => {
    const { words, step } = indexWordsOf(indices);
    const job: ElementJob = { kind, words, step, count, shape, steps, axis: along, merge };
    const { offsets, outside } = readOffsets(job, rules, indices, data, axis, fields, read);
    // If there are fewer offsets than indices, rows were merged.
    const slice = offsets.length === 0 ? 1 : count / offsets.length;
    const perBatch = batches === 0 ? 0 : offsets.length / batches;
    const plan: Plan =
      slice === 1
        ? { offsets, slice, count: perBatch, size, batches, span, lanes }
        : { offsets, slice, count: perBatch, size, batches, span };
    return outside === null ? plan : without(plan, outside);
  };
}

/**
 * Returns the number of leading axes that can be batch axes. Batch axes come before `axis`, and each batch must be
 * contiguous in data, so indices must cover data along every batch axis except the first.
 */
function countBatchAxes(shape: readonly number[], data: readonly number[], axis: number): number {
  let axes = Math.min(axis, 1);
  while (axes > 0 && axes < axis && shape[axes] === data[axes]) axes++;
  return axes;
}
