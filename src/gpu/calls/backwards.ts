/**
 * Computes the gradients of scatters and gathers on a GPU, by calls with the same targets. The rules and the results
 * are identical to those in `core/call/backwards.ts`. Callers must check all arguments.
 */

import { divisorOf, type Reducing } from "../../core/call/steps.ts";
import { oneOf, TensorError, type ErrorContext } from "../../core/errors.ts";
import { printValue } from "../../core/foreign.ts";
import { DTYPES, type DType, type Reduction, type Steps } from "../../core/tensor/dtype.ts";
import { hasGpuArithmetic } from "../kernels/arithmetic.ts";
import { gatherOnGpu, clearOnGpu } from "../kernels/moves.ts";
import { divideOnGpu, negateOnGpu } from "../kernels/packed.ts";
import type { Span } from "../kernels/kernel.ts";
import type { Recording } from "../kernels/recording.ts";
import { applyUpdates, checkCounted, copyData, type Operands } from "../kernels/scatter.ts";
import type { Guard } from "../kernels/kernel.ts";
import { countsOfTargets, positionsOf, type Targets } from "../kernels/targets.ts";
import type { GpuCore } from "./core.ts";
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
  readonly updates: GpuInput;
  readonly reducing: Reducing;
  readonly wantsData: boolean;
  readonly wantsUpdates: boolean;
  readonly updatesOut: DeviceTensor | null;
}

const ADD: Steps = { first: "add", later: "add", divides: false };
const REPLACE: Steps = { first: "none", later: "none", divides: false };

/** The reductions whose gradients only move, add, negate or divide. The host computes the other gradients. */
const SUPPORTED: readonly string[] = ["none", "add", "sub", "mean"] satisfies Reduction[];

/**
 * `reduction` is null for a gather. Throws a `reduction` error for a product and for extreme values, and a `dtype` error
 * for gradients that need arithmetic on a data type without arithmetic on the GPU.
 */
export function checkGradientArithmetic(
  dtype: DType,
  reduction: Reducing["reduction"] | null,
  fields: ErrorContext,
): void {
  if (reduction !== null && !SUPPORTED.includes(reduction)) {
    const sentence = `the reduction must be ${oneOf(SUPPORTED)} for a gradient on a GPU, got ${printValue(reduction)}; vjp in ndscatter computes the gradient on the host`;
    throw new TensorError("reduction", sentence, { ...fields, got: reduction, allowed: SUPPORTED });
  }
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
  // The gradient of data is computed last, because it may overwrite the gradient of the result.
  const ofUpdates = call.wantsUpdates ? updatesGradient(call) : null;
  return [call.wantsData ? dataGradient(call) : null, ofUpdates];
}

function updatesGradient(call: DifferentiatedScatter): DeviceTensor {
  const { core, fields, source, gradient, reducing, others, updates, updatesOut: out } = call;
  const { reduction, includeSelf } = reducing;
  const { dtype } = gradient;
  const { shape, size } = updates.type;
  return core.call({
    ...{ fields, source, out, dtype, shape, size, inputs: [gradient, ...others] },
    record(recording, { targets, arrangements }, span, guard) {
      if (size === 0) return;
      // In a mean, the gradient of each update is the quotient at the update's target.
      const from =
        reduction === "mean" ? quotients(recording, call, targets, guard) : gradient.span;
      const taken = reduction === "none" ? arrangements.last(recording) : targets;
      gatherOnGpu(recording, taken, dtype, from, span, out === null, guard);
      if (reduction !== "sub") return;
      const minus = includeSelf ? targets : arrangements.split(recording).later;
      negateOnGpu(recording, minus, dtype, span, guard);
    },
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
  const { core, gradient, reducing, others } = call;
  return core.call({
    ...dataCall(call),
    inputs: [gradient, ...others],
    record(recording, placed, span, guard) {
      const { targets } = placed;
      const operands = operandsOf(call, span);
      const hasTargets = targets.slice > 0 && positionsOf(targets) > 0;
      if (call.dataSize === 0) return;
      if (hasTargets && replacesData(reducing)) replaceByZeros(recording, placed, operands, guard);
      else {
        copyData(recording, operands, guard);
        if (hasTargets && reducing.reduction === "mean") {
          divideTargets(recording, call, targets, span, guard);
        }
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
