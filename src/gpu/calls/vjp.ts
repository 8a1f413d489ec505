/**
 * Computes the gradients of scatters and gathers on a GPU, by calls with the same targets. The checks, the rules and
 * the results are identical to those in `core/call/vjp.ts` and `core/call/backwards.ts`.
 */

import type { NodeSpec } from "../../core/call/call.ts";
import { callFrom, type FunctionSpec } from "../../core/call/vjp.ts";
import {
  GRADIENT_OPTIONS,
  gradientArguments,
  type GradientArguments,
} from "../../core/call/gradient-options.ts";
import { checkInputCount, readInputs } from "../../core/call/inputs.ts";
import { divisorOf, type Reducing } from "../../core/call/steps.ts";
import { oneOf, TensorError, type ErrorContext } from "../../core/errors.ts";
import { optionsOf, printValue } from "../../core/foreign.ts";
import type { FunctionName } from "../../core/operators/registry.ts";
import { DTYPES, type DType, type Reduction, type Steps } from "../../core/tensor/dtype.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { hasGpuArithmetic } from "../kernels/arithmetic.ts";
import type { Span } from "../kernels/kernel.ts";
import { clearOnGpu, gatherOnGpu } from "../kernels/moves.ts";
import { divideOnGpu, negateOnGpu } from "../kernels/combine.ts";
import type { Recording } from "../kernels/recording.ts";
import { applyUpdates, checkCounted, copyData, splitTargets } from "../kernels/scatter.ts";
import { positionsOf, tableOf, type Targets } from "../kernels/targets.ts";
import { formOnGpu, checkStillAlive, placeOn, type Work } from "./call.ts";
import type { GpuCore } from "./core.ts";
import { sourceOf, type TargetSource } from "./target-source.ts";
import { typeOf, type DeviceTensor } from "./tensor.ts";

/** Computes the gradients of a call on GPU tensors, in the order of its inputs. */
export function vjpOnGpu(
  core: GpuCore,
  node: NodeSpec | FunctionSpec | FunctionName,
  given: readonly unknown[],
  outputGradient: unknown,
  options: unknown = {},
): (DeviceTensor | null)[] {
  const call = callFrom(node);
  const { signature, fields } = call;
  const list = readInputs(signature, given, fields);
  const counted = "forms" in call ? list.given : checkInputCount(call, list);
  const { inputs, form } = formOnGpu(core, call, counted);
  const rest = optionsOf(options, GRADIENT_OPTIONS, fields);
  const { data: at, updates: updatesAt, indices } = form.positions;
  const data = inputs[at] as DeviceTensor;
  const updates = inputs[updatesAt];
  const reducing = form.call.settings;
  const differentiated = { signature, tensors: inputs, shape: form.shape, fields };
  const chosen = gradientArguments(differentiated, outputGradient, rest, placeOn(core), () =>
    checkGradientArithmetic(data.dtype, updates && reducing.reduction, fields),
  );
  const names = [...signature.inputs, { name: "outputGradient" }];
  checkStillAlive([...inputs, chosen.gradient], names, fields);
  const source = sourceOf(form, inputs[indices]);
  const results: (DeviceTensor | null)[] = signature.inputs.map(() => null);
  if (updates !== undefined) {
    const scatter = { ...chosen, core, source, reducing, updates: typeOf(updates) };
    [results[at], results[updatesAt]] = scatterGradients(scatter);
  } else if (chosen.wantsData) {
    const { gradient, dataOut: out } = chosen;
    results[at] = gatherGradient({ core, source, out }, gradient, data.shape, data.size);
  }
  return results;
}

/** A scatter whose gradients are computed. */
interface DifferentiatedScatter extends GradientArguments<DeviceTensor> {
  readonly core: GpuCore;
  readonly source: TargetSource;
  /** The type of updates, whose values the gradients do not need. */
  readonly updates: Tensor;
  readonly reducing: Reducing;
}

const ADD: Steps = { first: "add", later: "add", divides: false };
const REPLACE: Steps = { first: "none", later: "none", divides: false };

/** The reductions whose gradients only move, add, negate or divide. The host computes the other gradients. */
const SUPPORTED: readonly string[] = ["none", "add", "sub", "mean"] satisfies Reduction[];

/**
 * `reduction` is undefined for a gather. Throws a `reduction` error for a product and for extreme values, and a `dtype`
 * error for gradients that need arithmetic on a data type without arithmetic on the GPU.
 */
export function checkGradientArithmetic(
  dtype: DType,
  reduction: Reduction | undefined,
  fields: ErrorContext,
): void {
  if (reduction !== undefined && !SUPPORTED.includes(reduction)) {
    const sentence = `the reduction must be ${oneOf(SUPPORTED)} for a gradient on a GPU, got ${printValue(reduction)}; vjp in ndscatter computes the gradient on the host`;
    throw new TensorError("reduction", sentence, { ...fields, got: reduction, allowed: SUPPORTED });
  }
  if (reduction === "none" || reduction === "add" || hasGpuArithmetic(dtype)) return;
  const what =
    reduction === undefined ? "of a gather" : `of the reduction ${printValue(reduction)}`;
  const sentence = `data must be float16, bfloat16 or float32 for the gradient ${what}, because the GPU engine has no arithmetic for ${dtype}; vjp in ndscatter computes the gradient on the host`;
  throw new TensorError("dtype", sentence, { ...fields, input: "data" });
}

/** Computes the gradient of data by adding the gradient of each gathered slice to zeros, in order. */
export function gatherGradient(
  { core, source, out }: Work,
  gradient: DeviceTensor,
  shape: readonly number[],
  size: number,
): DeviceTensor {
  return core.call({
    ...{ source, inputs: [gradient], out, result: { dtype: gradient.dtype, shape, size } },
    record(recording, placed, made) {
      clearOnGpu(recording, made);
      const inPlace = {
        ...made,
        data: made.out,
        updates: gradient.span,
        result: "in place",
      } as const;
      applyUpdates(recording, placed, ADD, inPlace);
    },
  });
}

/** Computes the requested gradients of data and updates, and returns null for the others. */
export function scatterGradients(
  call: DifferentiatedScatter,
): [data: DeviceTensor | null, updates: DeviceTensor | null] {
  // The gradient of data is computed last, because it may overwrite the gradient of the result.
  const ofUpdates = call.wantsUpdates ? updatesGradient(call) : null;
  return [call.wantsData ? dataGradient(call) : null, ofUpdates];
}

function updatesGradient(call: DifferentiatedScatter): DeviceTensor {
  const { core, source, gradient, reducing, updates, updatesOut: out } = call;
  const { reduction, includeSelf } = reducing;
  return core.call({
    ...{ source, inputs: [gradient], out, result: updates },
    record(recording, placed, made) {
      const { targets } = placed;
      // In a mean, the gradient of each update is the quotient at the update's target.
      const data = reduction === "mean" ? quotients(recording, call, targets) : gradient.span;
      const taken = reduction === "none" ? placed.last(recording) : targets;
      gatherOnGpu(recording, taken, { ...made, data });
      if (reduction !== "sub") return;
      const minus = includeSelf ? targets : splitTargets(recording, targets).later;
      negateOnGpu(recording, minus, made.dtype, made.out);
    },
  });
}

/** Returns a copy of the result's gradient, in which each target is divided by the number of values in its mean. */
function quotients(recording: Recording, call: DifferentiatedScatter, targets: Targets): Span {
  const { span } = call.gradient;
  const made = recording.scratch(span.bytes);
  recording.copy(span, made);
  divideTargets(recording, call, targets, made);
  return made;
}

function divideTargets(
  recording: Recording,
  { gradient: { dtype }, reducing }: DifferentiatedScatter,
  targets: Targets,
  out: Span,
): void {
  checkCounted("the gradient of a mean", positionsOf(targets));
  const extra = divisorOf(reducing, 0) as 0 | 1;
  const counts = tableOf(recording, targets, "counts", true);
  divideOnGpu(recording, dtype, counts, targets, extra, out);
}

/** Computes the gradient of data, which is the gradient of the result except at the targets. */
function dataGradient(call: DifferentiatedScatter): DeviceTensor {
  const { core, source, gradient, dataOut: out, reducing } = call;
  // Without data, the result at each target depends only on updates.
  const isReplaced = reducing.reduction === "none" || !reducing.includeSelf;
  return core.call({
    ...{ source, inputs: [gradient], out, result: gradient },
    record(recording, placed, made) {
      const { targets } = placed;
      const elements = positionsOf(targets) * targets.slice;
      if (isReplaced && elements > 0) {
        const updates = recording.zeros(elements * DTYPES[made.dtype].bytes);
        applyUpdates(recording, placed, REPLACE, { ...made, data: gradient.span, updates });
        return;
      }
      copyData(recording, gradient.span, made);
      if (reducing.reduction !== "mean" || elements === 0) return;
      divideTargets(recording, call, targets, made.out);
    },
  });
}
