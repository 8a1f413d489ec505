/**
 * Where the targets of a call come from: a Plan of the host, which is uploaded, or indices on the GPU. Of the latter the
 * operator makes a Plan all the same, for the job that reading them is and for all of the Plan but its offsets.
 */

import { repeatError } from "../../core/call/duplicates.ts";
import type { Policies } from "../../core/call/policies.ts";
import { refusesRepeats, rulesOf, type PreparedCall } from "../../core/call/prepare.ts";
import { checkIndices, type CheckedCall } from "../kernels/checks.ts";
import { jobReading, sequenceReading, type Reading } from "../kernels/read-indices.ts";
import type { Recording, Span } from "../kernels/recording.ts";
import { findRepeat } from "../kernels/repeats.ts";
import { arrangementsOf, type Arrangements } from "../kernels/scatter.ts";
import { sortOnHost } from "../kernels/sort.ts";
import type { BadIndex, RepeatFound } from "../kernels/status.ts";
import { flatTargetsFrom, targetsFrom, targetsOf, type Targets } from "../kernels/targets.ts";
import { isTensorError, type TensorError } from "../../core/errors.ts";
import { planIndices } from "../../core/operators/operator.ts";
import type { IndexJob, IndexRules } from "../../core/plan/index-job.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { firstRepeat } from "../../core/plan/repeats.ts";
import type { Storage } from "../../core/tensor/dtype.ts";
import { product } from "../../core/tensor/shape.ts";
import { Tensor, zeros } from "../../core/tensor/tensor.ts";
import type { DeviceTensor } from "./tensor.ts";

/** Targets, and what is made of them for reductions. */
export interface Placed {
  readonly targets: Targets;
  readonly arrangements: Arrangements;
}

/** Targets of indices that are checked on the GPU. */
export interface CheckedTargets {
  /** What was wrong. */
  errorOf(failure: BadIndex | RepeatFound): TensorError;
  /** Records the checks of the call, which leave what is wrong in its slot. */
  record(recording: Recording, call: CheckedCall): Placed;
}

/** Targets that need no check on the GPU. */
export interface UploadedTargets {
  readonly errorOf: null;
  record(recording: Recording): Placed;
}

/** Where the targets of a call come from. */
export type TargetSource = UploadedTargets | CheckedTargets;

/**
 * The targets of a Plan whose indices were checked on the host, uploaded for one call.
 * @param positions slices of the sequential side
 */
export const uploadedTargets = (plan: Plan, positions: number): UploadedTargets => ({
  errorOf: null,
  record(recording) {
    const words = targetsFrom(plan, positions);
    const span = recording.upload(words);
    const known = { isPartial: plan.source !== undefined, isDistinct: false };
    const targets = targetsOf(formOf(plan, positions), words.length, span, known);
    // Only a scatter without a reduction has to know, and to look takes time.
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

/** A Plan that leaves positions out has one batch; on the GPU these positions are there, and lead nowhere. */
const formOf = (plan: Plan, positions: number): Plan =>
  plan.source === undefined ? plan : { ...plan, count: positions };

/** The reading of indices on the GPU for a call. */
export function checkedTargets(
  prepared: PreparedCall,
  policies: Policies,
  indices: DeviceTensor,
): CheckedTargets {
  const { call, planInputs } = prepared;
  const rules = { ...rulesOf(call, policies), merge: false };
  const step = indices.dtype === "int64" ? 2 : 1;
  return {
    record(recording, checked) {
      const { reading, placed } =
        call.version.indexForm === "sequences"
          ? sequencesOf(prepared, step)
          : tuplesOf(prepared, rules, step);
      const words = recording.scratch(4 * placed.words);
      const targets = placed.at(words);
      const between = refusesRepeats(call, policies)
        ? () => findRepeat(recording, targets, checked)
        : null;
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

/** A reading of indices, and where it puts how many targets. */
interface Placing {
  readonly reading: Reading;
  readonly placed: { readonly words: number; at(words: Span): Targets };
}

function tuplesOf({ call, planInputs }: PreparedCall, rules: IndexRules, step: 1 | 2): Placing {
  let job: IndexJob | undefined;
  // The operator gives the job, and gets offsets of no meaning: their values stay on the GPU.
  const read = (given: IndexJob): Uint32Array => {
    job = given;
    return new Uint32Array(given.count);
  };
  const plan = planIndices(planInputs, call, rules, read);
  if (job === undefined) throw new Error("the operator has read no indices");
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
  // A sequence is not longer than its axis, and each batch has one.
  const known = { isPartial: false, isDistinct: true };
  return {
    reading: sequenceReading(job, step),
    placed: { words: positions, at: (words) => targetsOf(plan, positions, words, known) },
  };
}

/** The Plan of indices that are all 0: what does not depend on their values is as in any other. */
function slicesOf({ call, planInputs }: PreparedCall): Plan {
  const { dtype, shape } = planInputs.indices;
  const indices = zeros(dtype, shape);
  const rules = { ...rulesOf(call, {}), merge: false };
  return planIndices({ ...planInputs, indices }, call, rules, zeroOffsets);
}

const zeroOffsets = (job: IndexJob): Uint32Array => new Uint32Array(job.count);

/** The error of a bad index that the GPU found: the operator makes it, of indices that are 0 but for this one. */
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
  throw new Error("a bad index was taken");
}
