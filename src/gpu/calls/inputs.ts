/**
 * Checks the inputs of a GPU call, which are tensors of the engine or, for indices and updates, also values on the
 * host.
 */

import type { Call, Form, PlainCall } from "../../core/call/call.ts";
import type { Place } from "../../core/call/gradient-options.ts";
import {
  checkAlive,
  checkIndexBytes,
  checkLike,
  listOrTensor,
  sharedOut,
} from "../../core/call/inputs.ts";
import { knownFormOf } from "../../core/call/run.ts";
import { TensorError, type ErrorContext } from "../../core/errors.ts";
import { printValue } from "../../core/foreign.ts";
import type { Inputs } from "../../core/operators/operator.ts";
import { isNumericStorage, type DType } from "../../core/tensor/dtype.ts";
import { asTensor, Tensor } from "../../core/tensor/tensor.ts";
import type { GpuCore } from "./core.ts";
import { checkHolds, DeviceTensor, runtimeTensor, typeOf, type GpuInput } from "./tensor.ts";

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
    const dtype = role === "indices" ? "int64" : data.dtype;
    if (role === "indices") checkIndexBytes(value, data.shape, call, name);
    inputs[position] = inputOf(core, value, dtype, fields, name);
  }
  const types = inputs.map((input) => input && typeOf(input));
  checkAlive(rules, types, fields);
  // Type checks also succeed for released GPU tensors, whose types are on the host, so tensors are checked separately.
  checkStillAlive(inputs, rules, fields);
  return inputs;
}

/** Checks data types and shapes, unless a recent call had the same. */
export const formOnGpu = (call: Call | PlainCall, inputs: Inputs<GpuInput>): Form =>
  knownFormOf(
    call,
    inputs.map((input) => input && typeOf(input)),
  );

/** Checks GPU tensors again, because a getter of a foreign object may have disposed of a checked tensor. */
export function checkStillAlive(
  inputs: Inputs<GpuInput>,
  names: readonly { readonly name: string }[],
  fields: ErrorContext,
): void {
  for (const [position, input] of inputs.entries()) {
    if (DeviceTensor.isTensor(input)) input.checkAlive(names[position].name, fields);
  }
}

/** Returns data as a GPU tensor, without uploading, because an implicit upload would hide the slowest step. */
export function dataOnGpu(
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

/** Returns indices or updates as a GPU input. */
export function inputOf(
  core: GpuCore,
  given: unknown,
  dtype: DType,
  fields: ErrorContext,
  input: string,
): GpuInput {
  if (DeviceTensor.isTensor(given)) return dataOnGpu(core, given, fields, input);
  return (
    runtimeTensor(core, given, { ...fields, input }) ?? listOrTensor(dtype, given, fields, input)
  );
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

/** Returns the checks of tensors for gradients. */
export const placeOn = (
  core: GpuCore,
  checkArithmetic: () => void,
): Place<GpuInput, DeviceTensor> => ({
  typeOf,
  tensorOf: (given, fields, input) => dataOnGpu(core, given, fields, input),
  checkArithmetic,
  checkOut: (...given) => outOnGpu(core, ...given),
});

/** Returns a tensor whose data type GPUs support. Throws a `dtype` error for text. */
export function numericTensor(given: unknown): Tensor {
  const tensor = asTensor(given, {});
  checkHolds(tensor.dtype, {});
  if (isNumericStorage(tensor.data)) return tensor;
  throw new Error("a string tensor has no numeric storage");
}
