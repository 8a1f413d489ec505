/**
 * Converts a call to recorded GPU commands. The functions in `src/core/call/` check the call as if its tensors were on
 * the host. Then the operator creates the Plan, and this file chooses the kernels.
 *
 * The files of GPU calls, by the question that each file answers:
 *
 *     kernels/kernel.ts, recording.ts, gpu.ts            what is a kernel, and how does it get numbers and buffers?
 *     kernels/targets.ts, read-indices.ts                where do positions go?
 *     kernels/scatter.ts                                 which kernels does a reduction use?
 *     kernels/moves.ts, combine.ts, packed.ts, sort.ts   what do these kernels do?
 *     kernels/arithmetic.ts, soft-float.ts, integers.ts  how are numbers added without floats?
 *     kernels/status.ts, checks.ts, calls/outcome.ts     how does the host learn of bad indices?
 *     calls/core.ts                                      in which order do kernels run, and what if the device refuses?
 */

import { plainCallOf, plainOptions } from "../../core/call/call.ts";
import { stepsOf, type Reducing } from "../../core/call/steps.ts";
import { TensorError, type ErrorContext } from "../../core/errors.ts";
import type { Inputs, Operator } from "../../core/operators/operator.ts";
import type { DType, NumericStorage } from "../../core/tensor/dtype.ts";
import { hasGpuArithmetic } from "../kernels/arithmetic.ts";
import { gatherOnGpu, type Operands } from "../kernels/moves.ts";
import { applyUpdates } from "../kernels/scatter.ts";
import type { GpuCore } from "./core.ts";
import { formOnGpu, gpuInputs, outOnGpu } from "./inputs.ts";
import { sourceOf, type TargetSource } from "./target-source.ts";
import { DeviceTensor, onGpu, type GpuInput } from "./tensor.ts";

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
  const inputs = gpuInputs(core, call, given);
  const form = formOnGpu(call, inputs);
  const { shape, size, inPlace } = form;
  const at = signature.positions;
  const data = inputs[at.data] as DeviceTensor;
  const updates = inputs[at.updates];
  const { dtype } = data;
  if (updates !== undefined) checkArithmetic(dtype, settings, fields);
  const { inputs: names } = signature;
  const out = outOnGpu(core, own["out"], dtype, shape, names, inputs, inPlace, fields);
  const source = sourceOf(form, inputs[at.indices]);
  const work = { core, source, data, out, shape, size };
  return updates === undefined ? gatherWork(work) : scatterWork(work, updates, settings);
}

/** A call that has passed all checks on the host. */
export interface Work {
  readonly core: GpuCore;
  readonly source: TargetSource;
  readonly data: DeviceTensor;
  /** The tensor that receives the result, or undefined for a new tensor. */
  readonly out: DeviceTensor | undefined;
  /** The shape of the result. */
  readonly shape: readonly number[];
  readonly size: number;
}

export function gatherWork({ core, source, data, out, shape, size }: Work): DeviceTensor {
  const { dtype } = data;
  return core.call({
    ...{ source, inputs: [data], out, dtype, shape, size },
    record(recording, { targets }, span) {
      const result = out === undefined ? "new" : "given";
      gatherOnGpu(recording, targets, { dtype, data: data.span, out: span, result });
    },
  });
}

export function scatterWork(
  { core, source, data, out, shape, size }: Work,
  updates: GpuInput,
  reducing: Reducing,
): DeviceTensor {
  const { dtype } = data;
  return core.call({
    ...{ source, inputs: [data, ...onGpu([updates])], out, dtype, shape, size },
    record(recording, placed, span) {
      const operands: Operands = {
        dtype,
        data: data.span,
        updates: DeviceTensor.isTensor(updates)
          ? updates.span
          : recording.upload(updates.data as NumericStorage),
        out: span,
        result: resultOf(data, out),
      };
      applyUpdates(recording, placed, stepsOf(reducing, dtype), operands);
    },
  });
}

/** Returns the origin of a scatter's result. */
export const resultOf = (data: DeviceTensor, out: DeviceTensor | undefined): Operands["result"] =>
  out === undefined ? "new" : out.sharesMemory(data) ? "in place" : "given";

/** Throws a `dtype` error if the GPU does not support the reduction for the data type. */
export function checkArithmetic(
  dtype: DType,
  { reduction }: Pick<Reducing, "reduction">,
  fields: ErrorContext,
): void {
  if (reduction === "none" || hasGpuArithmetic(dtype)) return;
  const sentence = `data must have another data type for the reduction ${reduction}, because the GPU engine has no arithmetic for ${dtype}`;
  throw new TensorError("dtype", sentence, { ...fields, input: "data" });
}
