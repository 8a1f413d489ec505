/**
 * The gradients of a Plan's scatter and gather, as calls of the same Plan: the gradient of a gather is a scatter `add`
 * into zeros, and the gradient of a scatter is a gather. All arguments have been checked.
 */

import type { Executor, Session } from "../engines/executor.ts";
import {
  divideShares,
  equalMarks,
  keepMarked,
  productGradients,
  type Ties,
} from "../kernels/backwards.ts";
import { divide } from "../kernels/divide.ts";
import { absoluteOffsets, type Plan } from "../plan/plan.ts";
import { split } from "../plan/repeats.ts";
import { packMost, packTargets, replacedSlices, type PackedPlan } from "../plan/targets.ts";
import { allocate, DTYPES, type Storage } from "../tensor/dtype.ts";
import { Tensor } from "../tensor/tensor.ts";
import { act, clear, gatherExecution, newResult, scatterActions } from "./execute.ts";
import { finish, type Resumable } from "./resumable.ts";
import { divisorOf, type Reducing } from "./steps.ts";

/** The backward half of a gather. */
export interface GatherBackwards {
  readonly executor: Executor;
  readonly plan: Plan;
  /** The gradient of the result. */
  readonly gradient: Tensor;
  readonly dataShape: readonly number[];
  readonly dataSize: number;
  readonly out: Tensor | undefined;
}

/** The gradient of data: zeros, to which each gathered slice has added its gradient, in order. */
export const gatherBackwards = (session: Session<void>, call: GatherBackwards): Tensor =>
  finish(gatherSteps(session, call));

/** {@link gatherBackwards}, step by step. */
export function* gatherSteps<Done>(
  session: Session<Done>,
  call: GatherBackwards,
): Resumable<Done, Tensor> {
  const { executor, plan, gradient, dataShape, dataSize, out } = call;
  const { dtype } = gradient;
  if (out !== undefined) clear(out.data);
  // Fresh memory is zero without being written, so a few slices of a large table cost no more than they hold.
  const result =
    out ?? new Tensor(dtype, dataShape.slice(), dataSize, allocate(dtype, dataSize), executor);
  yield session.scatter(plan, dtype, "add", result.data, gradient.data, result.data);
  return result;
}

/** The backward half of a scatter. */
export interface ScatterBackwards {
  readonly executor: Executor;
  readonly plan: Plan;
  readonly reducing: Reducing;
  readonly ties: Ties;
  readonly data: Tensor;
  readonly updates: Tensor;
  /** The gradient of the result. */
  readonly gradient: Tensor;
  readonly wantsData: boolean;
  readonly wantsUpdates: boolean;
  /** The tensor for the gradient of data, which may be `gradient` itself. */
  readonly dataOut: Tensor | undefined;
  readonly updatesOut: Tensor | undefined;
}

/** The gradients; null for a gradient that was not requested. */
export interface ScatterGradients {
  readonly data: Tensor | null;
  readonly updates: Tensor | null;
}

/** The gradients of a scatter's data and updates. That of data is written last, because it may replace `gradient`. */
export const scatterBackwards = (
  session: Session<void>,
  call: ScatterBackwards,
): ScatterGradients => finish(scatterSteps(session, call));

/** {@link scatterBackwards}, step by step. */
export function* scatterSteps<Done>(
  session: Session<Done>,
  call: ScatterBackwards,
): Resumable<Done | void, ScatterGradients> {
  const { reduction } = call.reducing;
  if (reduction === "mul" || reduction === "max" || reduction === "min") {
    return yield* combinedBackwards(session, call);
  }
  const { plan, updates, wantsData, wantsUpdates } = call;
  const packed = reduction === "mean" ? packTargets(plan) : null;
  const ofUpdates = wantsUpdates ? yield* updatesGradient(session, call, packed) : null;
  if (!wantsData) return { data: null, updates: ofUpdates };
  const data = yield* dataGradient(session, call, NO_TARGETS, allocate(updates.dtype, 0));
  const { slice } = plan;
  if (reduction === "none" || !call.reducing.includeSelf) {
    clearSlices(data, 1, absoluteOffsets(plan), slice);
  } else if (packed !== null) divideTargets(call, packed, data.data);
  return { data, updates: ofUpdates };
}

/** Writes zeros to slices of a tensor, which begin at multiples of `unit`. */
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
 * The gradient of updates: the Plan gathers the result's gradient. With `none` only the last update of a target has a
 * gradient.
 */
function* updatesGradient<Done>(
  session: Session<Done>,
  call: ScatterBackwards,
  packed: PackedPlan | null,
): Resumable<Done | void, Tensor> {
  const { executor, plan, reducing, gradient, updates, updatesOut } = call;
  const { reduction, includeSelf } = reducing;
  const { dtype } = gradient;
  const shape = Tensor.dimsOf(updates);
  const { size } = updates;
  const { result, actions } = gatherExecution(executor, plan, gradient, shape, size, updatesOut);
  for (const action of actions) yield act(session, action);
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

/** The beginning of each position's slice on the sequential side. */
const positionsOf = ({ offsets, source, slice, count, batches }: Plan): Uint32Array =>
  source === undefined
    ? Uint32Array.from({ length: Math.max(offsets.length, batches * count) }, (_, p) => p * slice)
    : source.map((p) => p * slice);

function divideTargets(
  { reducing, gradient }: ScatterBackwards,
  packed: PackedPlan,
  data: Storage,
): void {
  const { targets, counts } = packed;
  const divisors = counts.map((count) => divisorOf(reducing, count));
  divide(gradient.dtype, data, targets.slice, targets.offsets, divisors);
}

/** The gradient of the result, with `slices` written where the Plan points. */
function* dataGradient<Done>(
  session: Session<Done>,
  { executor, data, gradient, dataOut }: ScatterBackwards,
  plan: Plan,
  slices: Storage,
): Resumable<Done, Tensor> {
  const { dtype } = gradient;
  const result = dataOut ?? newResult(executor, dtype, Tensor.dimsOf(data), data.size);
  const isInPlace = Tensor.memoryOf(result).isSame(Tensor.memoryOf(gradient));
  const from = isInPlace ? result : gradient;
  const own = plan === NO_TARGETS ? { ...plan, size: data.size, span: data.size } : plan;
  yield session.scatter(own, dtype, "none", from.data, slices, result.data);
  return result;
}

const NO_TARGETS: Plan = {
  offsets: new Uint32Array(),
  slice: 1,
  count: 0,
  size: 0,
  batches: 1,
  span: 0,
};

/** Gradients of `mul`, `max` and `min`, computed on packed targets, because nothing else depends on them. */
function* combinedBackwards<Done>(
  session: Session<Done>,
  call: ScatterBackwards,
): Resumable<Done | void, ScatterGradients> {
  const { executor, plan, reducing, data, updates, gradient, updatesOut } = call;
  const { dtype } = gradient;
  const { reduction, includeSelf } = reducing;
  // Without data every target needs its first update, and only targets have the gradient 0.
  const packed = includeSelf ? packMost(plan) : packTargets(plan);
  const { targets } = packed;
  const own = allocate(dtype, packed.plan.size);
  yield session.gather(targets, dtype, data.data, own);
  const share = allocate(dtype, packed.plan.size);
  yield session.gather(targets, dtype, gradient.data, share);
  const made = updatesOut ?? newResult(executor, dtype, Tensor.dimsOf(updates), updates.size);
  if (plan.source !== undefined) clear(made.data);
  if (reduction === "mul") {
    productGradients(packed, dtype, includeSelf, own, updates.data, share, made.data);
  } else yield* extremeGradients(session, call, packed.plan, { own, share, made: made.data });
  return {
    data: call.wantsData ? yield* dataGradient(session, call, targets, share) : null,
    updates: call.wantsUpdates ? made : null,
  };
}

/**
 * The gradients of greatest and least values: operands that equal the result get its gradient; `ties` decides between
 * several.
 * @param own the packed targets of data
 * @param share the packed gradient of the result; it becomes that of data
 * @param made the gradient of updates, to be written
 */
function* extremeGradients<Done>(
  session: Session<Done>,
  { reducing, ties, updates, gradient: { dtype } }: ScatterBackwards,
  plan: Plan,
  { own, share, made }: Readonly<Record<"own" | "share" | "made", Storage>>,
): Resumable<Done | void, void> {
  const { size } = plan;
  const result = allocate(dtype, size);
  const start = new Tensor(dtype, [size], size, own);
  for (const action of scatterActions(plan, start, updates, reducing, result)) {
    yield act(session, action);
  }
  yield session.gather(plan, dtype, result, made);
  const marks = equalMarks(dtype, updates.data, made, updates.size);
  const { includeSelf } = reducing;
  const ownMarks = includeSelf ? equalMarks(dtype, own, result, size) : new Uint32Array(size);
  if (ties === "even") {
    const counts = new Uint32Array(size);
    yield session.scatter(plan, "uint32", "add", ownMarks, marks, counts);
    divideShares(dtype, share, counts);
  } else if (ties !== "all") yield* keepOne(session, plan, ties, marks, ownMarks);
  yield session.gather(plan, dtype, share, made);
  keepMarked(made, marks);
  keepMarked(share, ownMarks);
}

/** Keeps only the first or the last mark of each packed element; the mark of data comes first. */
function* keepOne<Done>(
  session: Session<Done>,
  plan: Plan,
  ties: "first" | "last",
  marks: Uint32Array,
  ownMarks: Uint32Array,
): Resumable<Done, void> {
  // Ranks count from 1 for data, or in reverse for "first", so the greatest rank wins.
  const isLast = ties === "last";
  const most = marks.length + 2;
  const ranks = marks.map((mark, at) => mark * (isLast ? at + 2 : most - 1 - at));
  const ownRanks = ownMarks.map((mark) => mark * (isLast ? 1 : most));
  const greatest = new Uint32Array(ownMarks.length);
  yield session.scatter(plan, "uint32", "max", ownRanks, ranks, greatest);
  const found = new Uint32Array(marks.length);
  yield session.gather(plan, "uint32", greatest, found);
  for (let at = 0; at < marks.length; at++) if (found[at] !== ranks[at]) marks[at] = 0;
  for (let at = 0; at < ownMarks.length; at++) if (greatest[at] !== ownRanks[at]) ownMarks[at] = 0;
}
