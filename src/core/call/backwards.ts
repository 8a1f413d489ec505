/**
 * Computes gradients from checked arguments, with the Plan of the call: the gradient of a gather is a scatter `add`
 * into zeros, and the gradient of a scatter is a gather.
 */

import type { Executor, SyncSession } from "../engines/executor.ts";
import { GRADIENTS } from "../limits.ts";
import { copyInto, extremeSlices, takeSlices } from "../engines/backwards.ts";
import { productGradients } from "../kernels/backwards.ts";
import { divide } from "../kernels/divide.ts";
import { absoluteOffsets, type Plan } from "../plan/plan.ts";
import { split, packMost, packTargets, replacedSlices, type PackedPlan } from "../plan/targets.ts";
import { allocate, DTYPES, type NumericStorage, type Storage } from "../tensor/dtype.ts";
import { clear } from "../tensor/storage.ts";
import { Tensor } from "../tensor/tensor.ts";
import type { GradientArguments } from "./gradient-options.ts";
import { divisorOf, gatherNow, stepOf, type Reducing } from "./steps.ts";

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

/** Checked arguments of a scatter's gradients. Records are not spread, because a spread takes longer than a small call. */
export interface ScatterBackwards {
  readonly executor: Executor;
  readonly plan: Plan;
  readonly reducing: Reducing;
  readonly data: Tensor;
  readonly updates: Tensor;
  readonly chosen: GradientArguments;
}

/** Gradients of a scatter's inputs; null for a gradient that was not requested. */
type ScatterGradients = [data: Tensor | null, updates: Tensor | null];

/** Returns a scatter's gradients. The gradient of data is written last, because it may replace `gradient`. */
export function scatterBackwards(session: SyncSession, call: ScatterBackwards): ScatterGradients {
  const { plan, reducing } = call;
  const { gradient, wantsData, wantsUpdates } = call.chosen;
  const { reduction, includeSelf } = reducing;
  const { dtype } = gradient;
  if (reduction === "mul") return productBackwards(session, call);
  if (reduction === "max" || reduction === "min") return extremeBackwards(session, call);
  if (reduction === "none" && wantsData && wantsUpdates) {
    // The last update of a target takes the target's gradient and leaves 0.
    const updates = newUpdates(call);
    const data = dataTensor(call);
    takeSlices(session, plan, dtype, arrayOf(gradient), arrayOf(data), arrayOf(updates));
    return [data, updates];
  }
  const packed = reduction === "mean" ? packTargets(plan) : null;
  const ofUpdates = wantsUpdates ? updatesGradient(session, call, packed) : null;
  if (!wantsData) return [null, ofUpdates];
  const data = dataGradient(call);
  if (reduction === "none" || !includeSelf) {
    clearSlices(data, 1, absoluteOffsets(plan), plan.slice);
  } else if (packed !== null) {
    const { targets, counts } = packed;
    const divisors = counts.map((count) => divisorOf(reducing, count));
    divide(dtype, data.data, targets.slice, targets.offsets, divisors);
  }
  return [data, ofUpdates];
}

/** Returns the tensor for the gradient of updates, with 0 at positions that the Plan leaves out. */
function newUpdates({ executor, plan, updates, chosen }: ScatterBackwards): Tensor {
  const result = chosen.updatesOut ?? executor.newLike(updates);
  if (plan.source !== undefined) clear(result.data);
  return result;
}

/** Writes zeros to the slices of a tensor that begin at `starts`, counted in `unit` elements. */
function clearSlices(
  { dtype, data }: Tensor,
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

/**
 * Returns the gradient of updates, which the Plan gathers from the result's gradient. With `none`, only the last update
 * of a target has a gradient.
 */
function updatesGradient(
  session: SyncSession,
  call: ScatterBackwards,
  packed: PackedPlan | null,
): Tensor {
  const { executor, plan, reducing, updates } = call;
  const { gradient, updatesOut } = call.chosen;
  const { reduction, includeSelf } = reducing;
  const { dtype } = gradient;
  const shape = Tensor.dimsOf(updates);
  const result = gatherNow(session, executor, plan, gradient, shape, updates.size, updatesOut);
  const { slice } = plan;
  if (reduction === "none") clearSlices(result, slice, replacedSlices(plan), slice);
  if (reduction === "sub") {
    const minus = includeSelf ? plan : split(plan).later;
    const positions = positionsOf(minus);
    divide(dtype, result.data, slice, positions, new Int32Array(positions.length).fill(-1));
  } else if (packed !== null) {
    const counts = packed.plan.offsets.map((offset) =>
      divisorOf(reducing, packed.counts[slice === 0 ? 0 : offset / slice]),
    );
    divide(dtype, result.data, slice, positionsOf(packed.plan), counts);
  }
  return result;
}

/** Returns the beginning of each position's slice on the sequential side. */
const positionsOf = ({ offsets, source, slice, count, batches }: Plan): Uint32Array =>
  source === undefined
    ? Uint32Array.from({ length: Math.max(offsets.length, batches * count) }, (_, p) => p * slice)
    : source.map((p) => p * slice);

/** Returns a copy of the result's gradient for data, to be changed at the targets. */
function dataGradient(call: ScatterBackwards): Tensor {
  const result = dataTensor(call);
  copyInto(arrayOf(call.chosen.gradient), arrayOf(result));
  return result;
}

/** Returns the tensor for the gradient of data, with arbitrary contents. */
const dataTensor = ({ executor, data, chosen }: ScatterBackwards): Tensor =>
  chosen.dataOut ?? executor.newLike(data);

/** Returns the gradients of `mul`, computed on packed targets to save memory. */
function productBackwards(session: SyncSession, call: ScatterBackwards): ScatterGradients {
  const { plan, data, updates } = call;
  const { gradient, wantsData, wantsUpdates } = call.chosen;
  const { dtype } = gradient;
  const { includeSelf } = call.reducing;
  // If data is replaced, the first update of each target must be known, and only targets have gradient 0.
  const packed = includeSelf ? packMost(plan) : packTargets(plan);
  const { targets } = packed;
  const packedOf = ({ data: from }: Tensor): Storage => {
    const to = allocate(dtype, packed.plan.size);
    session.gather(targets, dtype, from, to);
    return to;
  };
  const share = packedOf(gradient);
  const made = newUpdates(call);
  productGradients(packed, dtype, includeSelf, packedOf(data), updates.data, share, made.data);
  const ofUpdates = wantsUpdates ? made : null;
  if (!wantsData) return [null, ofUpdates];
  const result = dataGradient(call);
  session.scatter(targets, dtype, "none", result.data, share, result.data);
  return [result, ofUpdates];
}

/** Returns the elements of a tensor with a gradient, which is never text. */
const arrayOf = ({ data }: Tensor): NumericStorage => data as NumericStorage;

/** Returns the gradients of `max` and `min`: operands that equal the result receive its gradient, according to `ties`. */
function extremeBackwards(session: SyncSession, call: ScatterBackwards): ScatterGradients {
  const { plan, reducing, data, updates } = call;
  const { ties, gradient, wantsData, wantsUpdates } = call.chosen;
  const { dtype } = data;
  const ofUpdates = wantsUpdates ? newUpdates(call) : null;
  const ofData = wantsData ? dataTensor(call) : null;
  extremeSlices(session, plan, {
    dtype,
    step: stepOf(reducing, dtype),
    includesSelf: reducing.includeSelf,
    ties,
    slice: plan.slice,
    data: arrayOf(data),
    updates: arrayOf(updates),
    gradient: arrayOf(gradient),
    ofData: ofData && arrayOf(ofData),
    ofUpdates: ofUpdates && arrayOf(ofUpdates),
  });
  return [ofData, ofUpdates];
}
