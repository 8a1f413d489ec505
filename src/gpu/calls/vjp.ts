/** Computes gradients on a GPU, after the checks in `core/call/vjp.ts`. */

import { callFrom, type FunctionSpec } from "../../core/call/call.ts";
import type { FunctionName } from "../../core/operators/plain.ts";
import type { NodeSpec } from "../../core/call/call.ts";
import {
  checkDifferentiable,
  GRADIENT_OPTIONS,
  readGradientOptions,
  replacedInput,
  type Differentiated,
} from "../../core/call/gradient-options.ts";
import { checkInputCount, readInputs } from "../../core/call/inputs.ts";
import { checkLike } from "../../core/call/inputs.ts";
import { prepare, type PreparedCall } from "../../core/call/check.ts";
import { TensorError, type ErrorContext } from "../../core/errors.ts";
import type { Inputs } from "../../core/operators/operator.ts";
import { optionsOf } from "../../core/foreign.ts";
import { checkGradientArithmetic, gatherGradient, scatterGradients } from "./backwards.ts";
import { sourceOf } from "./call.ts";
import type { GpuCore } from "./core.ts";
import { dataOnGpu, gpuInputs, outOnGpu, type GpuInput } from "./inputs.ts";
import { DeviceTensor } from "./tensor.ts";

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
  const list = readInputs(call.version, given, fields);
  const inputs = gpuInputs(core, call, "forms" in call ? list.given : checkInputCount(call, list));
  checkAxisOnHost(inputs, signature, fields);
  const prepared = prepare(
    call,
    inputs.map((input) => input?.type),
  );
  const chosen = optionsOf(options, GRADIENT_OPTIONS, fields);
  const { data: at, updates: updatesAt } = signature.positions;
  const data = inputs[at]?.device as DeviceTensor;
  const { name } = signature.inputs[at];
  checkDifferentiable(prepared.data, name, fields);
  const gradient = dataOnGpu(core, outputGradient, fields, "outputGradient");
  checkLike(gradient.type, data.dtype, prepared.shape, "outputGradient", fields);
  const { wanted, outs } = readGradientOptions(chosen, signature, fields);
  const { settings: reducing } = prepared.call;
  checkGradientArithmetic(data.dtype, updatesAt < 0 ? null : reducing.reduction, fields);
  // Even an omitted optional input has a position, which precedes the gradient.
  const all = signature.inputs.map((_, position) => inputs[position]);
  const own = outsOnGpu(core, outs, signature, [...all, gradient], fields);
  checkAllAlive(inputs, gradient.device, prepared);
  const indices = inputs[signature.positions.indices]?.device;
  const common = {
    ...{ core, fields, others: indices ? [indices] : [], gradient: gradient.device },
    source: sourceOf(prepared, indices ?? null),
    ...{ dataShape: data.shape, dataSize: data.size, dataOut: own[at] ?? null },
  };
  const results: (DeviceTensor | null)[] = signature.inputs.map(() => null);
  const updates = inputs[updatesAt];
  if (updates === undefined) {
    if (wanted.has(at)) results[at] = gatherGradient(common);
    return results;
  }
  const [wantsData, wantsUpdates] = [wanted.has(at), wanted.has(updatesAt)];
  const scatter = { ...common, updates, reducing, wantsData, wantsUpdates };
  const found = scatterGradients({ ...scatter, updatesOut: own[updatesAt] ?? null });
  [results[at], results[updatesAt]] = found;
  return results;
}

/** Throws a `dtype` error for an axis on the GPU, because the result's shape depends on its value. */
function checkAxisOnHost(
  inputs: Inputs<GpuInput>,
  { inputs: rules }: PreparedCall["call"]["signature"],
  fields: ErrorContext,
): void {
  for (const [position, { name, role }] of rules.entries()) {
    if (role !== "axis" || !inputs[position]?.device) continue;
    const sentence = `${name} must be on the host, because the shape of the result depends on it`;
    throw new TensorError("dtype", sentence, { ...fields, input: name });
  }
}

/**
 * Checks that each tensor in `out` has the type and shape of its input and shares no memory, and returns the tensors by
 * input position.
 */
export function outsOnGpu(
  core: GpuCore,
  outs: readonly unknown[],
  signature: Differentiated["signature"],
  inputs: Inputs<GpuInput>,
  fields: ErrorContext,
): (DeviceTensor | undefined)[] {
  const others: (GpuInput | undefined)[] = [...inputs];
  const names = [...signature.inputs, { name: "outputGradient" }];
  return outs.map((out, position) => {
    if (out === null) return undefined;
    const { dtype, shape } = (inputs[position] as GpuInput).type;
    const inPlace = replacedInput(position, signature);
    const own = outOnGpu(core, out, dtype, shape, names, others, inPlace, fields);
    others.push({ type: DeviceTensor.typeOf(own), device: own });
    names.push({ name: `out[${position}]` });
    return own;
  });
}

/**
 * Checks that all tensors are still alive, because a getter of a foreign object may have disposed of a checked tensor.
 */
function checkAllAlive(
  inputs: Inputs<GpuInput>,
  gradient: DeviceTensor,
  { call: { signature, fields } }: PreparedCall,
): void {
  for (const [position, { name }] of signature.inputs.entries()) {
    inputs[position]?.device?.checkAlive(name, fields);
  }
  gradient.checkAlive("outputGradient", fields);
}
