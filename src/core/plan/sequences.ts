/** Creates Plans for TensorScatter, whose indices are the start positions of sequences. */

import { TensorError, type ErrorCode, type ErrorContext } from "../errors.ts";
import { printShape, product } from "../tensor/shape.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { describeIndex, printKnown } from "./bounds.ts";
import type { IndexRules } from "./index-job.ts";
import type { Planner } from "./plan.ts";

/**
 * Creates a planner in which sample b of the batch (axis 0 of data) addresses `length` slices along `axis`, starting at
 * position `indices[b]`. If `circular`, positions wrap around at the end of the axis. Shapes must have been checked.
 * The planner throws `index-out-of-range` for a sequence that does not fit in the axis, unless `circular`.
 */
export function sequencePlanner(
  dataShape: readonly number[],
  axis: number,
  length: number,
  circular: boolean,
  { onBad, shown }: IndexRules,
  fields: ErrorContext,
): Planner {
  const dim = dataShape[axis];
  const slice = product(dataShape, axis + 1);
  const batches = product(dataShape, 0, axis);
  // Empty slices get no offsets, because a sequence may have any number of empty slices.
  const count = batches === 0 || slice === 0 ? 0 : length;
  const most = dim - length;
  const { data = dataShape, updates } = shown ?? {};
  const isKnown = typeof data?.[axis] === "number";
  const shownLength = shown === undefined ? length : (updates?.[axis] ?? "?");
  const perSample = product(dataShape, 1, axis);
  const size = product(dataShape);
  const errorAt = (indices: Tensor, sample: number): TensorError => {
    const { at, exact, got } = describeIndex(indices, sample);
    const range = isKnown ? `${most}` : "?";
    const sentence =
      `write_indices${printShape(at)} must be from 0 to ${range} for a sequence of ${shownLength} ` +
      `along axis ${axis} of past_cache ${printKnown(data)}, got ${exact}`;
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
      if (circular) return dim === 0 ? 0 : Number(modulo(BigInt(exact), BigInt(dim)));
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

/** Returns the remainder, with the sign of the divisor. */
const modulo = (value: bigint, divisor: bigint): bigint => ((value % divisor) + divisor) % divisor;
