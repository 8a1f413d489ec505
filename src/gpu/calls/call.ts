/**
 * Checks a call on GPU tensors, and converts the call to recorded commands. Data is a tensor of the engine, while
 * indices and updates may also be values on the host. The functions in `src/core/call/` check the call as if its
 * tensors were on the host. Then the operator creates the Plan, and this file chooses the kernels.
 *
 * The files of GPU calls, by the question that each file answers:
 *
 *     kernels/kernel.ts, recording.ts, gpu.ts            what is a kernel, and how does it get numbers and buffers?
 *     kernels/targets.ts, read-indices.ts                where do positions go?
 *     kernels/scatter.ts                                 which kernels does a reduction use?
 *     kernels/moves.ts, combine.ts, sort.ts              what do these kernels do?
 *     kernels/arithmetic.ts, soft-float.ts               how are numbers added without floats?
 *     kernels/checks.ts, calls/outcome.ts                how does the host learn of bad indices?
 *     calls/core.ts                                      in which order do kernels run, and what if the device refuses?
 */

import {
  plainCallOf,
  plainOptions,
  type Call,
  type Form,
  type PlainCall,
} from "../../core/call/call.ts";
import type { Place } from "../../core/call/gradient-options.ts";
import { checkLike, listOrTensor, sharedOut, tensorsBy } from "../../core/call/inputs.ts";
import type { PlanPlace } from "../../core/call/kept-plan.ts";
import { knownFormOf } from "../../core/call/run.ts";
import { stepsOf, type Reducing } from "../../core/call/steps.ts";
import { TensorError, type ErrorContext } from "../../core/errors.ts";
import { printValue } from "../../core/foreign.ts";
import type { Inputs, Operator } from "../../core/operators/operator.ts";
import type { DType, NumericStorage, Reduction } from "../../core/tensor/dtype.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import { hasGpuArithmetic } from "../kernels/arithmetic.ts";
import { gatherOnGpu } from "../kernels/moves.ts";
import { applyUpdates } from "../kernels/scatter.ts";
import type { GpuCall, GpuCore } from "./core.ts";
import { sourceOf } from "./target-source.ts";
import { DeviceTensor, runtimeTensor, typeOf, type GpuInput } from "./tensor.ts";

/** Runs a call of a plain function on GPU tensors. */
export function callOnGpu(
  core: GpuCore,
  operator: Operator,
  given: Inputs<unknown>,
  options: unknown,
): DeviceTensor {
  const own = plainOptions(operator, options);
  const call = plainCallOf(operator, own);
  const { fields, signature, settings } = call;
  const { inputs, form } = formOnGpu(core, call, given);
  const { shape, size, inPlace } = form;
  const at = signature.positions;
  const data = inputs[at.data] as DeviceTensor;
  const updates = inputs[at.updates];
  const { dtype } = data;
  if (updates !== undefined) checkArithmetic(dtype, settings.reduction, fields);
  const { inputs: names } = signature;
  const out = outOnGpu(core, own["out"], dtype, shape, names, inputs, inPlace, fields);
  const work = { core, source: sourceOf(form, inputs[at.indices]), out };
  return updates === undefined
    ? gatherWork(work, data, shape, size)
    : scatterWork(work, data, updates, settings);
}

/** The targets and the result of a call that has passed all checks on the host. */
export interface Work extends Pick<GpuCall, "source" | "out"> {
  readonly core: GpuCore;
}

export function gatherWork(
  { core, source, out }: Work,
  data: DeviceTensor,
  shape: readonly number[],
  size: number,
): DeviceTensor {
  return core.call({
    ...{ source, inputs: [data], out, result: { dtype: data.dtype, shape, size } },
    record: (recording, { targets }, made) =>
      gatherOnGpu(recording, targets, { ...made, data: data.span }),
  });
}

export function scatterWork(
  { core, source, out }: Work,
  data: DeviceTensor,
  updates: GpuInput,
  reducing: Reducing,
): DeviceTensor {
  const isOnGpu = DeviceTensor.isTensor(updates);
  return core.call({
    ...{ source, inputs: isOnGpu ? [data, updates] : [data], out, result: data },
    record(recording, placed, made) {
      const words = isOnGpu ? updates.span : recording.upload(updates.data as NumericStorage);
      const operands = { ...made, data: data.span, updates: words };
      applyUpdates(recording, placed, stepsOf(reducing, made.dtype), operands);
    },
  });
}

/** Throws a `dtype` error if the GPU does not support the reduction for the data type. */
export function checkArithmetic(
  dtype: DType,
  reduction: Reduction | undefined,
  fields: ErrorContext,
): void {
  if (reduction === undefined || reduction === "none" || hasGpuArithmetic(dtype)) return;
  const sentence = `data must have another data type for the reduction ${reduction}, because the GPU engine has no arithmetic for ${dtype}`;
  throw new TensorError("dtype", sentence, { ...fields, input: "data" });
}

/**
 * Checks data types and shapes. Throws the errors of the plain functions, or `dtype` if data is not on the GPU, or for
 * an axis on the GPU, because the result's shape depends on its value.
 */
export function formOnGpu(
  core: GpuCore,
  call: Call | PlainCall,
  given: Inputs<unknown>,
): { readonly inputs: Inputs<GpuInput>; readonly form: Form } {
  const { signature, fields } = call;
  const { inputs: rules } = signature;
  const devices = rules.map(({ name, role }, position) => {
    if (position === 0) return dataOnGpu(core, given[0], fields, name);
    const device = deviceTensor(core, given[position], fields, name);
    if (device === null || role !== "axis") return device;
    const sentence = `${name} must be on the host, because the shape of the result depends on it`;
    throw new TensorError("dtype", sentence, { ...fields, input: name });
  });
  const types = devices.map((device, position) => (device ? typeOf(device) : given[position]));
  const tensors = tensorsBy(call, types, true);
  // Type checks also succeed for released GPU tensors, whose types are on the host, so tensors are checked separately.
  checkStillAlive(devices, rules, fields);
  const inputs = tensors.map((tensor, position) => devices[position] ?? tensor);
  return { inputs, form: knownFormOf(call, tensors) };
}

/** Checks GPU tensors again, because a getter of a foreign object may have disposed of a checked tensor. */
export function checkStillAlive(
  inputs: Inputs<GpuInput | null>,
  names: readonly { readonly name: string }[],
  fields: ErrorContext,
): void {
  for (const [position, input] of inputs.entries()) {
    if (DeviceTensor.isTensor(input)) input.checkAlive(names[position].name, fields);
  }
}

/** Returns data as a GPU tensor, without uploading, because an implicit upload would hide the slowest step. */
function dataOnGpu(
  core: GpuCore,
  given: unknown,
  fields: ErrorContext,
  input: string,
): DeviceTensor {
  if (!DeviceTensor.isTensor(given)) {
    const got = Tensor.isTensor(given) ? "a tensor of the host" : printValue(given);
    const sentence = `${input} must be a tensor on the GPU, got ${got}; create one with upload, alloc or fromBuffer`;
    throw new TensorError("dtype", sentence, { ...fields, input });
  }
  given.checkAlive(input, fields);
  if (DeviceTensor.isOf(given, core)) return given;
  const sentence = `${input} belongs to another engine; use fromBuffer with its buffer if both engines share a device`;
  throw new TensorError("engine", sentence, { ...fields, input });
}

/** Returns a tensor of the engine or of onnxruntime that is on the GPU, or null for any other value. */
const deviceTensor = (
  core: GpuCore,
  given: unknown,
  fields: ErrorContext,
  input: string,
): DeviceTensor | null =>
  DeviceTensor.isTensor(given)
    ? dataOnGpu(core, given, fields, input)
    : runtimeTensor(core, given, { ...fields, input });

/**
 * Checks that `out` is a tensor of the engine with the type and shape of the result, and shares no memory with other
 * inputs. `inPlace` is the name of the input that may also be `out`.
 */
function outOnGpu(
  core: GpuCore,
  given: unknown,
  dtype: DType,
  shape: readonly number[],
  names: readonly { readonly name: string }[],
  inputs: Inputs<GpuInput>,
  inPlace: string | null,
  fields: ErrorContext,
): DeviceTensor | undefined {
  if (given === undefined) return undefined;
  const out = dataOnGpu(core, given, fields, "out");
  checkLike(typeOf(out), dtype, shape, "out", fields);
  for (const [position, input] of inputs.entries()) {
    if (!DeviceTensor.isTensor(input) || !input.sharesMemory(out)) continue;
    const { name } = names[position];
    if (name === inPlace) continue;
    throw sharedOut(name, inPlace, fields);
  }
  return out;
}

/** Returns the checks of tensors for kept plans and gradients. */
export const placeOn = (
  core: GpuCore,
): Pick<PlanPlace<GpuInput, DeviceTensor>, keyof Place<never, never> | "inputOf"> => ({
  typeOf,
  tensorOf: (given, fields, input) => dataOnGpu(core, given, fields, input),
  inputOf: (dtype, given, fields, input) =>
    deviceTensor(core, given, fields, input) ?? listOrTensor(dtype, given, fields, input),
  checkOut: (...given) => outOnGpu(core, ...given),
});
