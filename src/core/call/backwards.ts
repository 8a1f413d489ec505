/**
 * Computes gradients from checked arguments, with the Plan of the call: the gradient of a gather is a scatter `add`
 * into zeros, and the gradient of a scatter is a gather.
 */

import type { Executor, SyncSession } from "../engines/executor.ts";
import { GRADIENTS } from "../limits.ts";
import { copyInto, extremeSlices, takeSlices } from "../engines/backwards.ts";
import { productGradients, type Extremes } from "../kernels/backwards.ts";
import { divide } from "../kernels/divide.ts";
import { absoluteOffsets, type Plan } from "../plan/plan.ts";
import { split, packMost, packTargets, replacedSlices } from "../plan/targets.ts";
import {
  allocate,
  DTYPES,
  type DType,
  type NumericStorage,
  type Storage,
} from "../tensor/dtype.ts";
import { clear } from "../tensor/storage.ts";
import { Tensor } from "../tensor/tensor.ts";
import type { GradientArguments } from "./gradient-options.ts";
import { divisorOf, stepOf, type Reducing } from "./steps.ts";

/** Returns the gradient of data: zeros to which each gathered slice adds its gradient, in the order of the Plan. */
export function gatherBackwards(
  session: SyncSession,
  executor: Executor,
  plan: Plan,
  gradient: Tensor,
  dataShape: readonly number[],
  out: Tensor | undefined,
): Tensor {
  const { dtype } = gradient;
  const { size } = plan;
  // Fresh memory is zero without being written, so a few slices of a large table take only their own pages.
  const isSparse = out === undefined && size > GRADIENTS.dense * gradient.size;
  const result = isSparse
    ? new Tensor(dtype, dataShape.slice(), size, allocate(dtype, size), executor)
    : (out ?? executor.newTensor(dtype, dataShape, size));
  const { data } = result;
  session.scatter(plan, dtype, "add", isSparse ? data : null, gradient.data, data);
  return result;
}

/**
 * Checked arguments of a scatter's gradients. Records are not spread, because a spread takes longer than a small call.
 */
export interface ScatterBackwards {
  readonly executor: Executor;
  readonly plan: Plan;
  readonly reducing: Reducing;
  readonly data: Tensor;
  readonly updates: Tensor;
  readonly chosen: GradientArguments;
}

/** Returns the gradients of a scatter's data and updates; null for a gradient that was not requested. */
export function scatterBackwards(
  session: SyncSession,
  call: ScatterBackwards,
): [data: Tensor | null, updates: Tensor | null] {
  const { executor, plan, reducing, data, updates, chosen } = call;
  const { wantsData, wantsUpdates, dataOut, updatesOut } = chosen;
  const { reduction } = reducing;
  const ofData = wantsData ? (dataOut ?? executor.newLike(data)) : null;
  const ofUpdates = wantsUpdates ? (updatesOut ?? executor.newLike(updates)) : null;
  // Positions that the Plan leaves out have the gradient 0.
  if (ofUpdates !== null && plan.source !== undefined) clear(ofUpdates.data);
  const gradients = {
    ofData: ofData && arrayOf(ofData),
    ofUpdates: ofUpdates && arrayOf(ofUpdates),
  };
  // Each of these functions writes the gradient of data last, because it may replace the gradient of the result.
  if (reduction === "mul") fillOfProduct(session, call, gradients);
  else if (reduction === "max" || reduction === "min") fillOfExtreme(session, call, gradients);
  else fillOfSum(session, call, gradients);
  return [ofData, ofUpdates];
}

/** Arrays that gradients are written to; null for a gradient that was not requested. */
type Gradients = Pick<Extremes, "ofData" | "ofUpdates">;

/** Returns the elements of a tensor with a gradient, which is never text. */
const arrayOf = ({ data }: Tensor): NumericStorage => data as NumericStorage;

/**
 * Writes the gradients of a sum, a mean or a replacement: the Plan gathers the gradient of updates from the result's
 * gradient. With `none`, only the last update of a target has a gradient.
 */
function fillOfSum(
  session: SyncSession,
  { plan, reducing, chosen: { gradient } }: ScatterBackwards,
  { ofData, ofUpdates }: Gradients,
): void {
  const { reduction, includeSelf } = reducing;
  const { dtype } = gradient;
  const { slice } = plan;
  const given = arrayOf(gradient);
  if (reduction === "none" && ofData !== null && ofUpdates !== null) {
    // The last update of a target takes the target's gradient and leaves 0.
    return takeSlices(session, plan, dtype, given, ofData, ofUpdates);
  }
  const packed = reduction === "mean" ? packTargets(plan) : null;
  if (ofUpdates !== null) {
    session.gather(plan, dtype, given, ofUpdates);
    if (reduction === "none") clearSlices(dtype, ofUpdates, slice, replacedSlices(plan), slice);
    if (reduction === "sub") {
      const positions = positionsOf(includeSelf ? plan : split(plan).later);
      divide(dtype, ofUpdates, slice, positions, new Int32Array(positions.length).fill(-1));
    } else if (packed !== null) {
      const counts = packed.plan.offsets.map((offset) =>
        divisorOf(reducing, packed.counts[slice === 0 ? 0 : offset / slice]),
      );
      divide(dtype, ofUpdates, slice, positionsOf(packed.plan), counts);
    }
  }
  if (ofData === null) return;
  copyInto(given, ofData);
  if (reduction === "none" || !includeSelf) {
    clearSlices(dtype, ofData, 1, absoluteOffsets(plan), slice);
  } else if (packed !== null) {
    const { targets, counts } = packed;
    const divisors = counts.map((count) => divisorOf(reducing, count));
    divide(dtype, ofData, targets.slice, targets.offsets, divisors);
  }
}

/** Writes zeros to the slices of an array that begin at `starts`, counted in `unit` elements. */
function clearSlices(
  dtype: DType,
  data: NumericStorage,
  unit: number,
  starts: Uint32Array,
  slice: number,
): void {
  const entries = data as Float32Array;
  const { lanes } = DTYPES[dtype];
  const length = slice * lanes;
  const step = unit * lanes;
  if (length === 1) for (let p = 0; p < starts.length; p++) entries[starts[p] * step] = 0;
  else {
    for (let p = 0; p < starts.length; p++) {
      entries.fill(0, starts[p] * step, starts[p] * step + length);
    }
  }
}

/** Returns the beginning of each position's slice on the sequential side. */
const positionsOf = ({ offsets, source, slice, count, batches }: Plan): Uint32Array =>
  source === undefined
    ? Uint32Array.from({ length: Math.max(offsets.length, batches * count) }, (_, p) => p * slice)
    : source.map((p) => p * slice);

/** Writes the gradients of `mul`, computed on packed targets to save memory. */
function fillOfProduct(
  session: SyncSession,
  { executor, plan, reducing, data, updates, chosen: { gradient } }: ScatterBackwards,
  { ofData, ofUpdates }: Gradients,
): void {
  const { dtype } = gradient;
  const { includeSelf } = reducing;
  // If data is replaced, the first update of each target must be known, and only targets have gradient 0.
  const packed = includeSelf ? packMost(plan) : packTargets(plan);
  const { targets } = packed;
  const packedOf = (from: Tensor): Storage => {
    const to = allocate(dtype, packed.plan.size);
    session.gather(targets, dtype, from.data, to);
    return to;
  };
  const share = packedOf(gradient);
  // The gradient of data follows from that of updates, which is computed even if it is unwanted.
  const made = ofUpdates ?? executor.allocate(dtype, updates.size);
  productGradients(packed, dtype, includeSelf, packedOf(data), updates.data, share, made);
  if (ofData === null) return;
  copyInto(arrayOf(gradient), ofData);
  session.scatter(targets, dtype, "none", ofData, share, ofData);
}

/**
 * Writes the gradients of `max` and `min`: operands that equal the result receive its gradient, according to `ties`.
 */
const fillOfExtreme = (
  session: SyncSession,
  { plan, reducing, data, updates, chosen: { gradient, ties } }: ScatterBackwards,
  gradients: Gradients,
): void =>
  extremeSlices(session, plan, {
    dtype: data.dtype,
    step: stepOf(reducing, data.dtype),
    includesSelf: reducing.includeSelf,
    ties,
    slice: plan.slice,
    data: arrayOf(data),
    updates: arrayOf(updates),
    gradient: arrayOf(gradient),
    ofData: gradients.ofData,
    ofUpdates: gradients.ofUpdates,
  });
