/**
 * Provides the targets of a call, which come from a Plan on the host or from indices on the GPU. For indices on the
 * GPU, the Plan of the operator supplies everything except the offsets, such as the rules for reading indices.
 */

import type { Call, Form } from "../../core/call/call.ts";
import { checkDuplicates, refusesRepeats, repeatError, rulesOf } from "../../core/call/check.ts";
import { isTensorError, type ErrorContext, type TensorError } from "../../core/errors.ts";
import { readIndices } from "../../core/kernels/read-indices.ts";
import { planIndices, type PlanInputs } from "../../core/operators/operator.ts";
import type { IndexJob, IndexRules } from "../../core/plan/indices.ts";
import { absoluteOffsets, type Plan } from "../../core/plan/plan.ts";
import { firstRepeat, replacedSlices } from "../../core/plan/targets.ts";
import type { Storage } from "../../core/tensor/dtype.ts";
import { product } from "../../core/tensor/shape.ts";
import { zeros, type Tensor } from "../../core/tensor/tensor.ts";
import {
  checkIndices,
  findRepeat,
  type BadIndex,
  type CheckedCall,
  type RepeatFound,
} from "../kernels/checks.ts";
import { NOWHERE, type Span } from "../kernels/kernel.ts";
import { jobReading, sequenceReading, type Reading } from "../kernels/read-indices.ts";
import type { Recording } from "../kernels/recording.ts";
import { placedOnGpu, type Placed } from "../kernels/scatter.ts";
import { sortOnHost } from "../kernels/sort.ts";
import { flatTargets, targetsFrom, targetsOf } from "../kernels/targets.ts";
import { DeviceTensor, typeOf, type GpuInput } from "./tensor.ts";

/** The source of targets for a call. */
export interface TargetSource {
  /** The fields of all errors of the call. */
  readonly fields: ErrorContext;
  /** The tensors that the targets are read from. */
  readonly inputs: readonly DeviceTensor[];
  /** Returns the error for a check that has failed on the GPU, or is null if the targets need no such check. */
  readonly errorOf: ((failure: BadIndex | RepeatFound) => TensorError) | null;
  /** Records the checks of the call, which write failures into its status slot. */
  record(recording: Recording, call: CheckedCall): Placed;
}

/** Returns the source of a call's targets: indices on the GPU, or indices on the host, which are read immediately. */
export function sourceOf(form: Form, given: GpuInput | undefined): TargetSource {
  const { call, shapes, size } = form;
  const rules = { ...rulesOf(call), merge: false };
  const indices = given === undefined ? (form.defaultIndices as Tensor) : typeOf(given);
  const inputs = { ...shapes, indices };
  if (DeviceTensor.isTensor(given)) return checkedTargets({ call, rules, inputs }, given);
  const plan = planIndices(inputs, call, rules, readIndices);
  if (refusesRepeats(call)) checkDuplicates(plan, call, inputs);
  const sequential = shapes.updates === undefined ? size : product(shapes.updates);
  const positions = plan.slice === 0 ? 0 : sequential / plan.slice;
  const record = (recording: Recording): Placed =>
    placedFrom(plan, positions, (which) =>
      wordsOf(plan, positions, which).map((words) => recording.upload(words)),
    );
  return { fields: call.fields, inputs: [], errorOf: null, record };
}

/** The words of a Plan on the GPU: targets, the last position of each target, or positions sorted by target. */
export type PlanWords = "targets" | "last" | "sorted";

/** `positions` is the number of slices on the sequential side. */
export function wordsOf(plan: Plan, positions: number, which: PlanWords): readonly Uint32Array[] {
  if (which === "targets") return [targetsFrom(plan, positions)];
  if (which === "sorted") return sortOnHost(plan);
  const last = targetsFrom({ ...plan, offsets: absoluteOffsets(plan) }, positions).slice();
  for (const position of replacedSlices(plan)) last[position] = NOWHERE;
  return [last];
}

/**
 * Returns the targets of a Plan with checked indices. If positions are skipped, the Plan has a single batch, and
 * skipped positions have no target on the GPU. `last` is the upload of a kept plan with the last position of each
 * target.
 */
export function placedFrom(
  plan: Plan,
  positions: number,
  upload: (which: PlanWords) => readonly Span[],
  last?: "targets" | "last",
): Placed {
  const [words] = upload("targets");
  const isPartial = plan.source !== undefined;
  const form = isPartial ? { ...plan, count: positions } : plan;
  const targets = targetsOf(form, words.bytes / 4, words, { isPartial, isDistinct: false });
  // The value is computed on demand, because only a scatter without a reduction needs it, and computing it takes time.
  let winners: Placed | undefined;
  const moving = (): Placed =>
    (winners ??= placedOnGpu({ ...targets, isDistinct: firstRepeat(plan) === null }));
  return {
    targets,
    last(recording) {
      if (last === undefined) return moving().last(recording);
      return last === "last" ? flatTargets(targets, upload(last)[0], true) : targets;
    },
    hasTable: () => last === undefined && moving().hasTable(),
    sorted() {
      const [keys, order] = upload("sorted");
      // Skipped positions are omitted.
      const flat = { ...flatTargets(targets, keys, false), count: keys.bytes / 4 };
      return { keys: flat, positions: order };
    },
  };
}

/** A call whose indices are on the GPU. */
interface Unplanned {
  readonly call: Call;
  readonly rules: IndexRules;
  readonly inputs: PlanInputs;
}

/** Returns the targets of indices on the GPU, which kernels read and check. */
function checkedTargets(unplanned: Unplanned, indices: DeviceTensor): TargetSource {
  const { call, rules, inputs } = unplanned;
  return {
    ...{ fields: call.fields, inputs: [indices] },
    record(recording, checked) {
      const step = indices.dtype === "int64" ? 2 : 1;
      const { plan, job } = planOf(unplanned);
      // Every batch has one sequence, which cannot be longer than its axis.
      const [reading, words, isDistinct] =
        job === null
          ? [sequencesOf(unplanned, plan, step), plan.batches * plan.count, true]
          : [jobReading(job, plan.slice, rules, step), job.count, job.count === 1];
      const isPartial = rules.bounds === "drop" || rules.bounds === "fill";
      const span = recording.scratch(4 * words);
      const targets = targetsOf(plan, words, span, { isPartial, isDistinct });
      const between = refusesRepeats(call) ? () => findRepeat(recording, targets) : null;
      checkIndices(recording, checked, reading, { ...indices.span, step }, span, between);
      return placedOnGpu(targets);
    },
    errorOf(failure) {
      if (failure.kind === "index") return badIndexError(unplanned, failure);
      const { position, earlier, target } = failure;
      const { slice } = planOf(unplanned).plan;
      return repeatError({ position, earlier, target: target * slice }, call, inputs);
    },
  };
}

/**
 * Returns the Plan of a call whose indices stay on the GPU, and the job of reading them. Everything but the offsets of
 * the Plan is valid for any indices. A sequence has no job; the operator reads its few positions itself.
 */
function planOf({ call, rules, inputs }: Unplanned): {
  readonly plan: Plan;
  readonly job: IndexJob | null;
} {
  let job: IndexJob | null = null;
  const read = (given: IndexJob): Uint32Array => {
    job = given;
    return new Uint32Array(given.count);
  };
  const { dtype, shape } = inputs.indices;
  const isSequence = call.version.indexForm === "sequences";
  const indices = isSequence ? zeros(dtype, shape) : inputs.indices;
  return { plan: planIndices({ ...inputs, indices }, call, rules, read), job };
}

/** Returns the code that reads the positions of sequences. */
function sequencesOf({ call, inputs }: Unplanned, plan: Plan, step: 1 | 2): Reading {
  const layout = call.operator.layout(inputs, call);
  const [axis] = layout.axes;
  const sizes = {
    samples: inputs.data[0],
    dim: inputs.data[axis],
    count: layout.positions[axis],
    perSample: product(inputs.data, 1, axis),
    positions: plan.batches * plan.count,
  };
  return sequenceReading(sizes, call.settings.mode === "circular", step);
}

/**
 * Returns the error for a bad index that the GPU has found. The operator creates the error, from indices that are all
 * zero except for the bad index.
 */
function badIndexError(
  { call, rules, inputs }: Unplanned,
  { place, low, high }: BadIndex,
): TensorError {
  const { dtype, shape } = inputs.indices;
  const indices = zeros(dtype, shape);
  const data = indices.data as Storage<"int32" | "int64">;
  if (data instanceof BigInt64Array) data[place] = (BigInt(high) << 32n) | BigInt(low);
  else data[place] = low;
  const found: IndexRules = { ...rules, bounds: "error" };
  try {
    planIndices({ ...inputs, indices }, call, found, () => ({ bad: place }));
  } catch (error) {
    if (isTensorError(error)) return error;
    throw error;
  }
  throw new Error("a bad index was accepted");
}
