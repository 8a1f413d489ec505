/**
 * TensorScatter of ai.onnx: writes a sequence into a cache, starting at a separate position for each sample in a batch.
 *
 *     for each position p of update.shape[:axis+1], with the sample b = p[0] and the place s = p[axis] in its sequence:
 *       place = write_indices[b] + s                 # modulo past_cache.shape[axis] in circular mode
 *       present_cache[p[:axis] ++ [place]] = update[p]
 *
 * The update has the shape of past_cache, except that its sequence may be shorter. present_cache starts as a copy of
 * past_cache.
 */

import { TensorError, type ErrorCode, type ErrorContext } from "../errors.ts";
import { describeIndex, printKnown, type IndexRules, type Planner } from "../plan/indices.ts";
import {
  compatible,
  part,
  printShape,
  product,
  type Dim,
  type PartialShape,
} from "../tensor/shape.ts";
import { Tensor } from "../tensor/tensor.ts";
import {
  outputLikeData,
  versionsOf,
  type Derivation,
  type InputShapes,
  type Layout,
  type Operator,
  type OperatorCall,
  type PlanInputs,
  type PlanShapes,
} from "./operator.ts";
import { T24 } from "./schemas.ts";
import { plainVersion } from "./settings.ts";
import { checkNotScalar, checkSameRank, joinTerms, normalizeAxis, type Term } from "./shapes.ts";

const versions = /* @__PURE__ */ versionsOf("ai.onnx", () => [
  {
    indexForm: "sequences",
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
  { data, updates }: InputShapes,
  { settings, fields }: OperatorCall,
): readonly Derivation[] {
  checkNotScalar("past_cache", data, fields);
  if (data === null) return [];
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

/**
 * Creates a planner in which sample b of the batch addresses `length` slices along the axis, starting at position
 * `indices[b]`. The planner throws `index-out-of-range` for a sequence that does not fit in the axis, unless positions
 * wrap around.
 */
function planTensorScatter(
  { data, updates }: PlanShapes,
  { settings, fields }: OperatorCall,
  { onBad, shown }: IndexRules,
): Planner {
  const axis = sequenceAxis(settings.axis, data, fields);
  const length = updates?.[axis] ?? 0;
  const isCircular = settings.mode === "circular";
  const dim = data[axis];
  const slice = product(data, axis + 1);
  const batches = product(data, 0, axis);
  // Empty slices get no offsets, because a sequence may have any number of empty slices.
  const count = batches === 0 || slice === 0 ? 0 : length;
  const most = dim - length;
  const { data: shownData = data, updates: shownUpdates } = shown ?? {};
  const isKnown = typeof shownData?.[axis] === "number";
  const shownLength = shown === undefined ? length : (shownUpdates?.[axis] ?? "?");
  const perSample = product(data, 1, axis);
  const size = product(data);
  const errorAt = (indices: Tensor, sample: number): TensorError => {
    const { at, exact, got } = describeIndex(indices, sample);
    const range = isKnown ? `${most}` : "?";
    const sentence =
      `write_indices${printShape(at)} must be from 0 to ${range} for a sequence of ${shownLength} ` +
      `along axis ${axis} of past_cache ${printKnown(shownData)}, got ${exact}`;
    const where = { ...fields, input: "write_indices", at, axis, got };
    // Only `inspect` reads indices of an axis of unknown size, in a model, and reports negative indices without size
    // and range.
    return isKnown
      ? new TensorError("index-out-of-range", sentence, {
          ...where,
          size: dim,
          expected: [0, most],
        })
      : new TensorError<ErrorCode>("index-out-of-range", sentence, where);
  };
  return (indices) => {
    let bad = -1;
    const starts = Array.from({ length: indices.size }, (_, sample) => {
      const { exact } = describeIndex(indices, sample);
      // If the axis is empty, so is the sequence, because its length was checked against the axis.
      if (isCircular) return dim === 0 ? 0 : Number(modulo(BigInt(exact), BigInt(dim)));
      if (exact >= 0 && exact <= most) return Number(exact);
      if (bad === -1) bad = sample;
      onBad?.(() => errorAt(indices, sample));
      return 0;
    });
    if (bad !== -1) throw errorAt(indices, bad);
    const offsets = new Uint32Array(count === 0 ? 0 : batches * count);
    for (let p = 0; p < offsets.length; p++) {
      const sample = Math.floor(p / count / perSample);
      offsets[p] = ((starts[sample] + (p % count)) % dim) * slice;
    }
    return { offsets, slice, count, size, batches, span: dim * slice };
  };
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

/** Returns the remainder, with the sign of the divisor. */
const modulo = (value: bigint, divisor: bigint): bigint => ((value % divisor) + divisor) % divisor;
