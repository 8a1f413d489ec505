/**
 * Computes the gradients of scatters and gathers on a GPU, by calls with the same targets. The rules and the results
 * are identical to those in `core/call/backwards.ts`. Callers must check all arguments.
 */

import { divisorOf, type Reducing } from "../../core/call/steps.ts";
import { printValue } from "../../core/foreign.ts";
import { TensorError, type ErrorContext } from "../../core/errors.ts";
import type { Ties } from "../../core/kernels/backwards.ts";
import { DTYPES, type DType, type NumericStorage, type Steps } from "../../core/tensor/dtype.ts";
import { hasGpuArithmetic } from "../kernels/arithmetic.ts";
import {
  clearOnGpu,
  markEqual,
  negateOnGpu,
  productsAfter,
  productsBefore,
  reversed,
  sharesOfData,
  sharesOfUpdates,
  type Extremes,
} from "../kernels/backwards.ts";
import { combineInOrder } from "../kernels/combine.ts";
import { divideOnGpu } from "../kernels/divide.ts";
import { gatherOnGpu } from "../kernels/moves.ts";
import type { Recording, Span } from "../kernels/recording.ts";
import { applyUpdates, checkCounted, copyData, type Operands } from "../kernels/scatter.ts";
import type { Guard } from "../kernels/status.ts";
import { countsOfTargets, positionsOf, type Targets } from "../kernels/targets.ts";
import { scatterWork } from "./call.ts";
import type { GpuCall, GpuCore } from "./core.ts";
import type { GpuInput } from "./inputs.ts";
import type { Placed, TargetSource } from "./target-source.ts";
import type { DeviceTensor } from "./tensor.ts";

/** A call whose gradients are computed. */
interface Differentiated {
  readonly core: GpuCore;
  readonly fields: ErrorContext;
  readonly source: TargetSource;
  /** Indices on the GPU, or the tensors that a kept plan has computed from its indices. */
  readonly others: readonly DeviceTensor[];
  /** The gradient of the result. */
  readonly gradient: DeviceTensor;
  readonly dataShape: readonly number[];
  readonly dataSize: number;
  /** The tensor that receives the gradient of data, or null for a new tensor. */
  readonly dataOut: DeviceTensor | null;
}

/** A scatter whose gradients are computed. */
export interface DifferentiatedScatter extends Differentiated {
  readonly data: DeviceTensor;
  readonly updates: GpuInput;
  readonly reducing: Reducing;
  readonly ties: Ties;
  readonly wantsData: boolean;
  readonly wantsUpdates: boolean;
  readonly updatesOut: DeviceTensor | null;
}

const ADD: Steps = { first: "add", later: "add", divides: false };
const REPLACE: Steps = { first: "none", later: "none", divides: false };

/**
 * `reduction` is null for a gather. Throws a `dtype` error for gradients that need arithmetic on a data type without
 * arithmetic on the GPU.
 */
export function checkGradientArithmetic(
  dtype: DType,
  reduction: Reducing["reduction"] | null,
  fields: ErrorContext,
): void {
  if (reduction === "none" || reduction === "add" || hasGpuArithmetic(dtype)) return;
  const what = reduction === null ? "of a gather" : `of the reduction ${printValue(reduction)}`;
  const sentence = `data must be float16, bfloat16 or float32 for the gradient ${what}, because the GPU engine has no arithmetic for ${dtype}; vjp in ndscatter computes the gradient on the host`;
  throw new TensorError("dtype", sentence, { ...fields, input: "data" });
}

/** Computes the gradient of data by adding the gradient of each gathered slice to zeros, in order. */
export function gatherGradient(call: Differentiated): DeviceTensor {
  const { core, others, gradient, dataOut: out } = call;
  const { dtype } = gradient;
  return core.call({
    ...dataCall(call),
    inputs: [gradient, ...others],
    record(recording, { targets, arrangements }, span, guard) {
      clearOnGpu(recording, span, out === null, guard);
      const operands = { dtype, data: span, updates: gradient.span, out: span } as const;
      const inPlace = { ...operands, result: "in place" } as const;
      applyUpdates(recording, targets, arrangements, ADD, inPlace, guard);
    },
  });
}

/** Returns the common fields of all calls that compute the gradient of data. */
const dataCall = ({ fields, source, gradient, dataShape, dataSize, dataOut }: Differentiated) => ({
  ...{ fields, source, out: dataOut, dtype: gradient.dtype },
  ...{ shape: dataShape, size: dataSize },
});

/** Computes the requested gradients of data and updates, and returns null for the others. */
export function scatterGradients(
  call: DifferentiatedScatter,
): readonly [data: DeviceTensor | null, updates: DeviceTensor | null] {
  const { reduction } = call.reducing;
  if (reduction === "max" || reduction === "min") return extremeGradients(call);
  const ofUpdates = call.wantsUpdates
    ? reduction === "mul"
      ? productGradient(call)
      : movedGradient(call)
    : null;
  return [call.wantsData ? dataGradient(call) : null, ofUpdates];
}

/** Submits a call that computes the gradient of updates. */
const updatesCall = (
  { core, fields, source, gradient, updates: { type }, updatesOut: out }: DifferentiatedScatter,
  inputs: readonly DeviceTensor[],
  record: GpuCall["record"],
): DeviceTensor => {
  const { shape, size } = type;
  const { dtype } = gradient;
  return core.call({
    ...{ fields, source, out, dtype, shape, size, inputs },
    record(recording, placed, span, guard) {
      if (size > 0) record(recording, placed, span, guard);
    },
  });
};

/** Computes the gradient of updates for reductions that only move, negate or divide gradients. */
function movedGradient(call: DifferentiatedScatter): DeviceTensor {
  const { gradient, reducing, others, updatesOut } = call;
  const { reduction, includeSelf } = reducing;
  const { dtype } = gradient;
  const isNew = updatesOut === null;
  return updatesCall(call, [gradient, ...others], (recording, placed, span, guard) => {
    const { targets, arrangements } = placed;
    // In a mean, the gradient of each update is the quotient at the update's target.
    const from = reduction === "mean" ? quotients(recording, call, targets, guard) : gradient.span;
    const taken = reduction === "none" ? arrangements.last(recording) : targets;
    gatherOnGpu(recording, taken, dtype, from, span, isNew, guard);
    if (reduction !== "sub") return;
    const minus = includeSelf ? targets : arrangements.split(recording).later;
    negateOnGpu(recording, minus, dtype, span, guard);
  });
}

/** Returns a copy of the result's gradient, in which each target is divided by the number of values in its mean. */
function quotients(
  recording: Recording,
  call: DifferentiatedScatter,
  targets: Targets,
  guard: Guard,
): Span {
  const { span } = call.gradient;
  const made = recording.scratch(span.bytes);
  recording.copy(span, made);
  divideTargets(recording, call, targets, made, guard);
  return made;
}

function divideTargets(
  recording: Recording,
  { gradient: { dtype }, reducing }: DifferentiatedScatter,
  targets: Targets,
  out: Span,
  guard: Guard,
): void {
  checkCounted("the gradient of a mean", positionsOf(targets));
  const { slice, slices } = targets;
  const extra = divisorOf(reducing, 0) as 0 | 1;
  const counts = countsOfTargets(recording, targets);
  divideOnGpu(recording, dtype, counts, slice, slice * slices, extra, out, guard);
}

/** Computes the gradient of data, which is the gradient of the result except at the targets. */
function dataGradient(call: DifferentiatedScatter): DeviceTensor {
  const { core, gradient, updates, reducing, others } = call;
  const isProduct = reducing.reduction === "mul" && reducing.includeSelf;
  const inputs = isProduct && updates.device !== null ? [updates.device] : [];
  return core.call({
    ...dataCall(call),
    inputs: [gradient, ...inputs, ...others],
    record(recording, placed, span, guard) {
      const { targets } = placed;
      const operands = operandsOf(call, span);
      const hasTargets = targets.slice > 0 && positionsOf(targets) > 0;
      if (call.dataSize === 0) return;
      if (hasTargets && replacesData(reducing)) replaceByZeros(recording, placed, operands, guard);
      else {
        copyData(recording, operands, guard);
        if (!hasTargets) return;
        if (isProduct) multiplyByUpdates(recording, call, placed, span, guard);
        if (reducing.reduction === "mean") divideTargets(recording, call, targets, span, guard);
      }
    },
  });
}

/** Returns true if the result at each target does not depend on data. */
const replacesData = ({ reduction, includeSelf }: Reducing): boolean =>
  reduction === "none" || !includeSelf;

/** Returns the operands of a scatter that computes the gradient of data, with the result's gradient as data. */
function operandsOf(
  { gradient: { dtype, span: data }, dataOut }: DifferentiatedScatter,
  out: Span,
): Omit<Operands, "updates"> {
  const result = dataOut === null ? "new" : out.buffer === data.buffer ? "in place" : "given";
  return { dtype, data, out, result };
}

function replaceByZeros(
  recording: Recording,
  { targets, arrangements }: Placed,
  operands: Omit<Operands, "updates">,
  guard: Guard,
): void {
  const { bytes } = DTYPES[operands.dtype];
  const updates = recording.zeros(positionsOf(targets) * targets.slice * bytes);
  applyUpdates(recording, targets, arrangements, REPLACE, { ...operands, updates }, guard);
}

/** Multiplies each target of a product by its updates in reverse order. */
function multiplyByUpdates(
  recording: Recording,
  { gradient: { dtype }, updates }: DifferentiatedScatter,
  { arrangements }: Placed,
  out: Span,
  guard: Guard,
): void {
  const backwards = reversed(recording, arrangements.sorted(recording));
  combineInOrder(recording, backwards, dtype, "mul", spanOf(recording, updates), out, guard);
}

/** Returns the elements of an input on the GPU, and uploads elements on the host. */
const spanOf = (recording: Recording, { device, type }: GpuInput): Span =>
  device?.span ?? recording.upload(type.data as NumericStorage);

const deviceOf = ({ device }: GpuInput): readonly DeviceTensor[] =>
  device === null ? [] : [device];

/** Computes the gradient of a product's updates. */
function productGradient(call: DifferentiatedScatter): DeviceTensor {
  const { gradient, data, updates, reducing, others, updatesOut } = call;
  const { includeSelf } = reducing;
  const { dtype } = gradient;
  const given = deviceOf(updates);
  const forward = { ...call, updatesOut: null };
  const before = updatesCall(
    forward,
    [data, ...given, ...others],
    (recording, { arrangements }, span, guard) => {
      const sorted = arrangements.sorted(recording);
      const values = recording.scratch(data.span.bytes);
      recording.copy(data.span, values);
      recording.clear(span);
      const factors = spanOf(recording, updates);
      productsBefore(recording, sorted, dtype, includeSelf, factors, values, span, guard);
    },
  );
  try {
    // If updates or indices have no contents, the first call fails.
    return updatesCall(call, [gradient, before], (recording, { arrangements }, span, guard) => {
      const backwards = reversed(recording, arrangements.sorted(recording));
      const share = recording.scratch(gradient.span.bytes);
      recording.copy(gradient.span, share);
      clearOnGpu(recording, span, updatesOut === null, guard);
      const factors = spanOf(recording, updates);
      const terms = [factors, before.span, share, span] as const;
      productsAfter(recording, backwards, dtype, includeSelf, ...terms, guard);
    });
  } finally {
    before.dispose();
  }
}

/** Computes the gradients of `max` or `min`, in which operands that equal the result share its gradient. */
function extremeGradients(
  call: DifferentiatedScatter,
): readonly [data: DeviceTensor | null, updates: DeviceTensor | null] {
  const { core, fields, source, data, updates, reducing, ties, others } = call;
  const { dataShape: shape, dataSize: size } = call;
  const { dtype } = data;
  const { includeSelf } = reducing;
  const made: DeviceTensor[] = [];
  const keep = (tensor: DeviceTensor): DeviceTensor => {
    made.push(tensor);
    return tensor;
  };
  try {
    const work = { core, fields, source, data, out: null, shape, size };
    const best = keep(scatterWork(work, updates, reducing, others));
    const extremes = (recording: Recording): Extremes => ({
      ...{ dtype, ties, size, includeSelf, data: data.span, best: best.span },
      updates: spanOf(recording, updates),
    });
    const table =
      ties === "all"
        ? null
        : keep(
            core.call({
              ...{ fields, source, out: null, dtype: "uint32", shape, size, inputs: [best] },
              record(recording, { targets }, span, guard) {
                if (ties === "even") checkCounted("an even share", positionsOf(targets));
                markEqual(recording, targets, ties, extremes(recording), span, guard);
              },
            }),
          );
    const shared = { best, table, extremes };
    const ofUpdates = call.wantsUpdates ? extremeOfUpdates(call, shared) : null;
    return [call.wantsData ? extremeOfData(call, shared) : null, ofUpdates];
  } finally {
    for (const tensor of made) tensor.dispose();
  }
}

/** The values that both gradients of `max` and `min` need. */
interface Shared {
  readonly best: DeviceTensor;
  readonly table: DeviceTensor | null;
  extremes(recording: Recording): Extremes;
}

/** Returns the inputs whose calls may have failed, which include the call for the extreme values. */
const inputsOf = (
  { gradient }: DifferentiatedScatter,
  { best, table }: Shared,
): readonly DeviceTensor[] => [gradient, best, ...(table === null ? [] : [table])];

function extremeOfUpdates(call: DifferentiatedScatter, shared: Shared): DeviceTensor {
  const { gradient, updatesOut } = call;
  const inputs = inputsOf(call, shared);
  return updatesCall(call, inputs, (recording, { targets }, span, guard) => {
    const table = shared.table?.span ?? null;
    const isNew = updatesOut === null;
    const operands = shared.extremes(recording);
    sharesOfUpdates(recording, targets, operands, table, gradient.span, span, isNew, guard);
  });
}

function extremeOfData(call: DifferentiatedScatter, shared: Shared): DeviceTensor {
  if (!call.reducing.includeSelf) return dataGradient(call);
  return call.core.call({
    ...dataCall(call),
    inputs: inputsOf(call, shared),
    record(recording, _placed, span, guard) {
      if (call.dataSize === 0) return;
      copyData(recording, operandsOf(call, span), guard);
      const table = shared.table?.span ?? null;
      sharesOfData(recording, shared.extremes(recording), table, span, guard);
    },
  });
}
