/**
 * Provides the targets of a call, which come from a Plan on the host or from indices on the GPU. For indices on the
 * GPU, the Plan of the operator supplies everything except the offsets, such as the rules for reading indices.
 */

import { refusesRepeats, repeatError, rulesOf, type PreparedCall } from "../../core/call/check.ts";
import { checkIndices, findRepeat, type CheckedCall } from "../kernels/checks.ts";
import { jobReading, sequenceReading, type Reading } from "../kernels/read-indices.ts";
import type { Span } from "../kernels/kernel.ts";
import type { Recording } from "../kernels/recording.ts";
import { arrangementsOf, type Arrangements } from "../kernels/scatter.ts";
import { sortOnHost } from "../kernels/sort.ts";
import type { BadIndex, RepeatFound } from "../kernels/status.ts";
import { flatTargetsFrom, targetsFrom, targetsOf, type Targets } from "../kernels/targets.ts";
import { isTensorError, type TensorError } from "../../core/errors.ts";
import { planIndices } from "../../core/operators/operator.ts";
import type { IndexJob, IndexRules } from "../../core/plan/indices.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { firstRepeat } from "../../core/plan/targets.ts";
import type { Storage } from "../../core/tensor/dtype.ts";
import { product } from "../../core/tensor/shape.ts";
import { Tensor, zeros } from "../../core/tensor/tensor.ts";
import type { DeviceTensor } from "./tensor.ts";

/** The targets and their arrangements for reductions. */
export interface Placed {
  readonly targets: Targets;
  readonly arrangements: Arrangements;
}

/** The targets of indices that the GPU checks. */
export interface CheckedTargets {
  /** Returns the error for a failed check. */
  errorOf(failure: BadIndex | RepeatFound): TensorError;
  /** Records the checks of the call, which write failures into its status slot. */
  record(recording: Recording, call: CheckedCall): Placed;
}

/** The targets of indices that need no check on the GPU. */
export interface UploadedTargets {
  readonly errorOf: null;
  record(recording: Recording): Placed;
}

/** The source of targets for a call. */
export type TargetSource = UploadedTargets | CheckedTargets;

/**
 * Returns the targets of a Plan with checked indices, and uploads them for one call. `positions` is the number of
 * slices on the sequential side.
 */
export const uploadedTargets = (plan: Plan, positions: number): UploadedTargets => ({
  errorOf: null,
  record(recording) {
    const words = targetsFrom(plan, positions);
    const span = recording.upload(words);
    const known = { isPartial: plan.source !== undefined, isDistinct: false };
    const targets = targetsOf(formOf(plan, positions), words.length, span, known);
    // The value is computed on demand, because only a scatter without a reduction needs it, and computing it takes
    // time.
    let winners: Arrangements | undefined;
    const moving = (): Arrangements =>
      (winners ??= arrangementsOf({ ...targets, isDistinct: firstRepeat(plan) === null }));
    return {
      targets,
      arrangements: {
        ...arrangementsOf(targets),
        last: (recording) => moving().last(recording),
        hasTable: () => moving().hasTable(),
        sorted: () => {
          const [keys, order] = sortOnHost(flatTargetsFrom(plan, positions), targets.slices);
          const sorted = { count: keys.length, slice: plan.slice, slices: targets.slices };
          return { ...sorted, keys: recording.upload(keys), positions: recording.upload(order) };
        },
      },
    };
  },
});

/**
 * Returns a Plan's description for the GPU. If positions are skipped, the Plan has a single batch, and skipped
 * positions have no target on the GPU.
 */
const formOf = (plan: Plan, positions: number): Plan =>
  plan.source === undefined ? plan : { ...plan, count: positions };

/** Returns the targets of indices on the GPU, which kernels read and check. */
export function checkedTargets(prepared: PreparedCall, indices: DeviceTensor): CheckedTargets {
  const { call, planInputs } = prepared;
  const rules = { ...rulesOf(call), merge: false };
  const step = indices.dtype === "int64" ? 2 : 1;
  return {
    record(recording, checked) {
      const { reading, placed } =
        call.version.indexForm === "sequences"
          ? sequencesOf(prepared, step)
          : tuplesOf(prepared, rules, step);
      const words = recording.scratch(4 * placed.words);
      const targets = placed.at(words);
      const between = refusesRepeats(call) ? () => findRepeat(recording, targets, checked) : null;
      checkIndices(recording, checked, reading, { ...indices.span, step }, words, between);
      return { targets, arrangements: arrangementsOf(targets) };
    },
    errorOf(failure) {
      if (failure.kind === "index") return badIndexError(prepared, rules, failure);
      const { position, earlier, target } = failure;
      const repeat = { position, earlier, target: target * slicesOf(prepared).slice };
      return repeatError(repeat, call, planInputs);
    },
  };
}

/** The code that reads indices, and the number and position of its targets. */
interface Placing {
  readonly reading: Reading;
  readonly placed: { readonly words: number; at(words: Span): Targets };
}

function tuplesOf({ call, planInputs }: PreparedCall, rules: IndexRules, step: 1 | 2): Placing {
  let job: IndexJob | undefined;
  // The operator supplies the rules for reading indices, and receives meaningless offsets, because the real offsets
  // stay on the GPU.
  const read = (given: IndexJob): Uint32Array => {
    job = given;
    return new Uint32Array(given.count);
  };
  const plan = planIndices(planInputs, call, rules, read);
  if (job === undefined) throw new Error("the operator did not read its indices");
  const { negative, bounds } = rules;
  const { count } = job;
  const known = { isPartial: bounds === "drop" || bounds === "fill", isDistinct: count === 1 };
  return {
    reading: jobReading(job, plan.slice, { negative, bounds, step }),
    placed: { words: count, at: (words) => targetsOf(plan, count, words, known) },
  };
}

function sequencesOf(prepared: PreparedCall, step: 1 | 2): Placing {
  const { call, planInputs } = prepared;
  const plan = slicesOf(prepared);
  const layout = call.operator.layout(planInputs, call);
  const [axis] = layout.axes;
  const positions = plan.batches * plan.count;
  const job = {
    samples: planInputs.data[0],
    dim: planInputs.data[axis],
    length: layout.positions[axis],
    perSample: product(planInputs.data, 1, axis),
    positions,
    isCircular: call.settings.mode === "circular",
  };
  // Every batch has one sequence, which cannot be longer than its axis.
  const known = { isPartial: false, isDistinct: true };
  return {
    reading: sequenceReading(job, step),
    placed: { words: positions, at: (words) => targetsOf(plan, positions, words, known) },
  };
}

/** Returns the Plan for indices that are all zero, of which everything but the offsets is valid for any indices. */
function slicesOf({ call, planInputs }: PreparedCall): Plan {
  const { dtype, shape } = planInputs.indices;
  const indices = zeros(dtype, shape);
  const rules = { ...rulesOf(call), merge: false };
  return planIndices({ ...planInputs, indices }, call, rules, zeroOffsets);
}

const zeroOffsets = (job: IndexJob): Uint32Array => new Uint32Array(job.count);

/**
 * Returns the error for a bad index that the GPU has found. The operator creates the error, from indices that are all
 * zero except for the bad index.
 */
function badIndexError(
  { call, planInputs }: PreparedCall,
  rules: IndexRules,
  { place, low, high }: BadIndex,
): TensorError {
  const { dtype, shape } = planInputs.indices;
  const indices: Tensor = zeros(dtype, shape);
  const data = indices.data as Storage<"int32" | "int64">;
  if (data instanceof BigInt64Array) data[place] = (BigInt(high) << 32n) | BigInt(low);
  else data[place] = low;
  const found: IndexRules = { ...rules, bounds: "error" };
  try {
    planIndices({ ...planInputs, indices }, call, found, () => ({ bad: place }));
  } catch (error) {
    if (isTensorError(error)) return error;
    throw error;
  }
  throw new Error("a bad index was accepted");
}
