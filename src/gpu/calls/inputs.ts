/**
 * Checks the inputs of a GPU call, which are tensors of the engine or, for indices and updates, also values on the
 * host.
 */

import type { Call } from "../../core/call/call.ts";
import { checkAlive, checkIndexBytes, listOrTensor } from "../../core/call/inputs.ts";
import { checkLike, sharedOut } from "../../core/call/inputs.ts";
import { printValue } from "../../core/foreign.ts";
import { TensorError, type ErrorContext } from "../../core/errors.ts";
import type { Inputs } from "../../core/operators/operator.ts";
import { isNumericStorage, type DType } from "../../core/tensor/dtype.ts";
import { asTensor, Tensor } from "../../core/tensor/tensor.ts";
import { checkHolds, runtimeTensor } from "./buffers.ts";
import type { GpuCore } from "./core.ts";
import { DeviceTensor } from "./tensor.ts";

/** The type of an input, for checks, and its elements. */
export type GpuInput =
  | { readonly type: Tensor; readonly device: DeviceTensor }
  | { readonly type: Tensor; readonly device: null };

/** Throws the errors of the plain functions, or `dtype` if data is not on the GPU. */
export function gpuInputs(core: GpuCore, call: Call, given: Inputs<unknown>): Inputs<GpuInput> {
  const { signature, fields } = call;
  const rules = signature.inputs;
  const data = dataOnGpu(core, given[0], fields, rules[0].name);
  const inputs: (GpuInput | undefined)[] = [data];
  for (let position = 1; position < rules.length; position++) {
    const { name, role, isOptional } = rules[position];
    const value = given[position];
    if (value === undefined && isOptional) continue;
    const dtype = role === "indices" ? "int64" : data.type.dtype;
    if (role === "indices") checkIndexBytes(value, data.type.shape, call, name);
    inputs[position] = inputOf(core, value, dtype, fields, name);
  }
  checkAlive(
    rules,
    rules.map((_, position) => inputs[position]?.type),
    fields,
  );
  // Type checks also succeed for released GPU tensors, whose types are on the host, so tensors are checked separately.
  for (const [position, { name }] of rules.entries()) {
    inputs[position]?.device?.checkAlive(name, fields);
  }
  return inputs;
}

/** Returns data as a GPU tensor, without uploading, because an implicit upload would hide the slowest step. */
export function dataOnGpu(
  core: GpuCore,
  given: unknown,
  fields: ErrorContext,
  input: string,
): GpuInput & { readonly device: DeviceTensor } {
  if (!DeviceTensor.isTensor(given)) {
    const got = Tensor.isTensor(given) ? "a tensor of the host" : printValue(given);
    const sentence = `${input} must be a tensor on the GPU, got ${got}; create one with upload, alloc or fromBuffer`;
    throw new TensorError("dtype", sentence, { ...fields, input });
  }
  return deviceInput(core, given, fields, input);
}

function deviceInput(
  core: GpuCore,
  device: DeviceTensor,
  fields: ErrorContext,
  input: string,
): GpuInput & { readonly device: DeviceTensor } {
  device.checkAlive(input, fields);
  if (DeviceTensor.isOf(device, core)) return { type: DeviceTensor.typeOf(device), device };
  const sentence = `${input} belongs to another engine; use fromBuffer with its buffer if both engines share a device`;
  throw new TensorError("engine", sentence, { ...fields, input });
}

/** Returns indices or updates as a GPU input. */
export function inputOf(
  core: GpuCore,
  given: unknown,
  dtype: DType,
  fields: ErrorContext,
  input: string,
): GpuInput {
  if (DeviceTensor.isTensor(given)) return deviceInput(core, given, fields, input);
  const device = runtimeTensor(core, given, { ...fields, input });
  if (device !== null) return { type: DeviceTensor.typeOf(device), device };
  return { type: listOrTensor(dtype, given, fields, input), device: null };
}

/**
 * Checks that `out` is a tensor of the engine with the type and shape of the result, and shares no memory with other
 * inputs. `inPlace` is the name of the input that may also be `out`.
 */
export function outOnGpu(
  core: GpuCore,
  given: unknown,
  dtype: DType,
  shape: readonly number[],
  names: readonly { readonly name: string }[],
  inputs: Inputs<GpuInput>,
  inPlace: string | null,
  fields: ErrorContext,
): DeviceTensor {
  const { type, device } = dataOnGpu(core, given, fields, "out");
  checkLike(type, dtype, shape, "out", fields);
  for (const [position, input] of inputs.entries()) {
    if (input?.device?.span.buffer !== device.span.buffer || type.size === 0) continue;
    const { name } = names[position];
    if (name === inPlace) continue;
    throw sharedOut(name, inPlace, fields);
  }
  return device;
}

/** Returns a tensor whose data type GPUs support. Throws a `dtype` error for text. */
export function numericTensor(given: unknown): Tensor {
  const tensor = asTensor(given, {});
  checkHolds(tensor.dtype, {});
  if (isNumericStorage(tensor.data)) return tensor;
  throw new Error("a string tensor has no numeric storage");
}
