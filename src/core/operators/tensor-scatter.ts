/**
 * TensorScatter of ai.onnx: writes a sequence into a cache, starting at a separate position for each sample in a batch.
 */

import { TensorError, type ErrorContext } from "../errors.ts";
import { sequencePlanner } from "../plan/sequences.ts";
import type { IndexRules } from "../plan/index-job.ts";
import type { Planner } from "../plan/plan.ts";
import { compatible, part, printShape, type Dim, type PartialShape } from "../tensor/shape.ts";
import { Tensor } from "../tensor/tensor.ts";
import { plainVersion } from "./settings.ts";
import { checkNotScalar, checkSameRank, normalizeAxis } from "./checks.ts";
import {
  versionsOf,
  type Derivation,
  type InputShapes,
  type Layout,
  type Operator,
  type OperatorCall,
  type PlanInputs,
  type PlanShapes,
  type RankedShapes,
  type Term,
} from "./operator.ts";
import { joinTerms, outputLikeData } from "./terms.ts";
import { T24 } from "./types.ts";

const versions = /* @__PURE__ */ versionsOf("ai.onnx", { indexForm: "sequences" }, () => [
  {
    name: "TensorScatter",
    sinceVersion: 24,
    summary:
      "Copies a cache and writes update into the copy. " +
      "Sample b on axis 0, the batch axis, is written from position write_indices[b] of axis onward. " +
      "Circular mode wraps positions at the end of the axis, and linear mode forbids positions beyond the end.",
    attributes: [
      {
        name: "axis",
        type: "int",
        default: -2,
        description:
          "The sequence runs along this axis, in [-r, r-1] except 0, which is the batch axis.",
      },
      {
        name: "mode",
        type: "string",
        default: "linear",
        values: ["linear", "circular"],
        description:
          "Linear mode forbids positions beyond the end of the axis, and circular mode wraps such positions.",
      },
    ],
    inputs: [
      {
        name: "past_cache",
        type: "T",
        role: "data",
        description: "The cache has the shape (batch, ..., max_sequence_length, ...).",
      },
      {
        name: "update",
        type: "T",
        role: "updates",
        description:
          "The update has the shape of past_cache, except sequence_length <= max_sequence_length along axis.",
      },
      {
        name: "write_indices",
        type: "int64",
        role: "indices",
        optional: true,
        description:
          "Write indices have the shape (batch), and are 0 by default. " +
          "Linear mode requires values in [0, max_sequence_length - sequence_length].",
      },
    ],
    outputs: [
      { name: "present_cache", type: "T", description: "The output has the shape of past_cache." },
    ],
    typeConstraints: [T24],
  },
]);

export const tensorScatter: Operator = {
  kind: "scatter",
  versions,
  plain: /* @__PURE__ */ plainVersion(versions),
  defaultIndices: ([batch]) => new Tensor("int32", [batch], batch, new Int32Array(batch)),
  inferShape: inferTensorScatter,
  derive: deriveTensorScatter,
  planner: planTensorScatter,
  layout: layoutSequences,
};

function inferTensorScatter(
  { data, indices, updates }: InputShapes,
  { settings, fields }: OperatorCall,
): PartialShape {
  const rank = checkSameRank({ past_cache: data, update: updates }, fields);
  if (indices !== null && indices.length !== 1) {
    throw new TensorError(
      "rank",
      `write_indices must have rank 1, got rank ${indices.length}; pass one position for each sample, such as [0]`,
      {
        ...fields,
        input: "write_indices",
        got: indices.length,
        expected: 1,
      },
    );
  }
  if (rank === null) return data;
  const axis = sequenceAxis(settings.axis, data ?? updates ?? [], fields);
  if (data !== null && updates !== null) checkSequence(data, updates, axis, fields);
  const batch = (data ?? updates)?.[0];
  if (indices !== null && batch !== undefined && !compatible(indices, [batch])) {
    throw new TensorError(
      "shape-mismatch",
      `write_indices must have the shape [${batch}], one position for each sample, got ${printShape(indices)}`,
      { ...fields, input: "write_indices", got: indices, expected: [batch] },
    );
  }
  return data;
}

/**
 * Checks the axis of the sequence.
 * @throws TensorError `axis` for an axis that data does not have, and for axis 0, which is the batch axis
 */
function sequenceAxis(given: number | null, cache: readonly Dim[], fields: ErrorContext): number {
  const rank = cache.length;
  const axis = normalizeAxis(Number(given), rank, fields);
  if (axis > 0) return axis;
  throw new TensorError(
    "axis",
    `axis is ${given}, which is the batch axis (axis 0 of rank ${rank}); ` +
      (given === -2
        ? `add a batch axis to the cache, for the shape ${printShape([1, ...cache])}, or choose another axis`
        : "choose another axis for the sequence"),
    { ...fields, axis, got: Number(given), expected: [1, rank - 1] },
  );
}

/** Returns the terms of update.shape. The sequence may have any length up to the size of the axis. */
function updateTerms(data: readonly Dim[], updates: readonly Dim[], axis: number): Term[] {
  const [longest, length] = [data[axis], updates[axis]];
  const isLonger = typeof longest === "number" && typeof length === "number" && length > longest;
  return [
    { text: `past_cache.shape[:${axis}]`, shape: part(data, 0, axis) },
    {
      text: `[min(update.shape[${axis}], past_cache.shape[${axis}])]`,
      shape: [isLonger ? longest : (length ?? null)],
    },
    { text: `past_cache.shape[${axis + 1}:]`, shape: part(data, axis + 1) },
  ];
}

function deriveTensorScatter(
  { data, updates }: RankedShapes,
  { settings, fields }: OperatorCall,
): readonly Derivation[] {
  checkNotScalar("past_cache", data, fields);
  const axis = sequenceAxis(settings.axis, data, fields);
  return [
    { of: "updates", terms: updateTerms(data, updates ?? [], axis) },
    { of: "indices", terms: [{ text: "past_cache.shape[:1]", shape: part(data, 0, 1) }] },
    outputLikeData(data, "past_cache"),
  ];
}

function checkSequence(
  data: readonly Dim[],
  updates: readonly Dim[],
  axis: number,
  fields: ErrorContext,
): void {
  if (compatible(updates, joinTerms(updateTerms(data, updates, axis)))) return;
  throw new TensorError(
    "shape-mismatch",
    `update.shape must be past_cache.shape = ${printShape(data)}, at most ${String(data[axis])} along axis ${axis}, ` +
      `got ${printShape(updates)}`,
    { ...fields, input: "update", got: updates, expected: data, other: "past_cache" },
  );
}

function planTensorScatter(
  { data, updates }: PlanShapes,
  { settings, fields }: OperatorCall,
  rules: IndexRules,
): Planner {
  const axis = sequenceAxis(settings.axis, data, fields);
  const length = updates?.[axis] ?? 0;
  const isCircular = settings.mode === "circular";
  return sequencePlanner(data, axis, length, isCircular, rules, fields);
}

/**
 * Maps each update, which is a slice at one position of a sequence, to the index of the sequence, which is the index of
 * its sample.
 */
function layoutSequences(
  { data, updates }: PlanInputs,
  { settings, fields }: OperatorCall,
): Layout {
  const axis = sequenceAxis(settings.axis, data, fields);
  return {
    positions: [...data.slice(0, axis), updates?.[axis] ?? 0],
    indexAt: ([batch]) => [batch],
    addressed: axis + 1,
    axes: [axis],
  };
}
