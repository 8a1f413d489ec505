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
 *     kernels/status.ts, checks.ts, calls/checks.ts      how does the host learn of bad indices?
 *     calls/core.ts, watched.ts                          in which order do kernels run, and what if the device refuses?
 */

import { checkDuplicates } from "../../core/call/check.ts";
import { stepsOf, type Reducing } from "../../core/call/steps.ts";
import { plainCallOf, plainOptions } from "../../core/call/call.ts";
import { prepare, refusesRepeats, rulesOf, type PreparedCall } from "../../core/call/check.ts";
import { hasGpuArithmetic } from "../kernels/arithmetic.ts";
import { gatherOnGpu } from "../kernels/moves.ts";
import { applyUpdates, type Operands } from "../kernels/scatter.ts";
import { TensorError, type ErrorContext } from "../../core/errors.ts";
import { readIndices } from "../../core/kernels/read-indices.ts";
import { planIndices, type Inputs, type Operator } from "../../core/operators/operator.ts";
import type { DType, NumericStorage } from "../../core/tensor/dtype.ts";
import type { GpuCore } from "./core.ts";
import { gpuInputs, outOnGpu, type GpuInput } from "./inputs.ts";
import {
  checkedTargets,
  uploadedTargets,
  type TargetSource,
  type UploadedTargets,
} from "./target-source.ts";
import type { DeviceTensor } from "./tensor.ts";

/** Runs a call of a plain function on GPU tensors. */
export function callOnGpu(
  core: GpuCore,
  operator: Operator,
  given: Inputs<unknown>,
  options: unknown,
): DeviceTensor {
  const own = plainOptions(operator, options);
  const givenOut = own["out"];
  const call = plainCallOf(operator, own);
  const inputs = gpuInputs(core, call, given);
  const types = inputs.map((input) => input?.type);
  const prepared = prepare(call, types);
  const { shape, size, inPlace, updates: updateType } = prepared;
  const { fields, signature, settings } = call;
  const at = signature.positions;
  const data = inputs[at.data]?.device as DeviceTensor;
  const { dtype } = data;
  if (updateType !== undefined) checkArithmetic(dtype, settings, fields);
  const out =
    givenOut === undefined
      ? null
      : outOnGpu(core, givenOut, dtype, shape, signature.inputs, inputs, inPlace, fields);
  const updates = inputs[at.updates];
  const indices = inputs[at.indices]?.device ?? null;
  const source = sourceOf(prepared, indices);
  const work = { core, fields, source, data, out, shape, size };
  const others = indices ? [indices] : [];
  return updates === undefined
    ? gatherWork(work, others)
    : scatterWork(work, updates, settings, others);
}

/** Returns the source of a call's targets. `indices` is null for indices on the host. */
export function sourceOf(prepared: PreparedCall, indices: DeviceTensor | null): TargetSource {
  if (indices !== null) return checkedTargets(prepared, indices);
  return targetsOnHost(prepared, prepared.updates?.size ?? prepared.size);
}

/** Creates the targets for indices on the host, whose values are read immediately. */
function targetsOnHost({ call, planInputs }: PreparedCall, sequential: number): UploadedTargets {
  const rules = { ...rulesOf(call), merge: false };
  const plan = planIndices(planInputs, call, rules, readIndices);
  if (refusesRepeats(call)) checkDuplicates(plan, call, planInputs);
  const positions = plan.slice === 0 ? 0 : sequential / plan.slice;
  return uploadedTargets(plan, positions);
}

/** A call that has passed all checks on the host. */
export interface Work {
  readonly core: GpuCore;
  readonly fields: ErrorContext;
  readonly source: TargetSource;
  readonly data: DeviceTensor;
  /** The tensor that receives the result, or null for a new tensor. */
  readonly out: DeviceTensor | null;
  /** The shape of the result. */
  readonly shape: readonly number[];
  readonly size: number;
}

/** `others` contains all inputs except data. */
export function gatherWork(work: Work, others: readonly DeviceTensor[]): DeviceTensor {
  const { core, fields, source, data, out, shape, size } = work;
  const { dtype } = data;
  return core.call({
    ...{ fields, source, out, dtype, shape, size },
    inputs: [data, ...others],
    record(recording, { targets }, result, guard) {
      if (size === 0) return;
      gatherOnGpu(recording, targets, dtype, data.span, result, out === null, guard);
    },
  });
}

/** `others` contains all inputs except data and updates. */
export function scatterWork(
  work: Work,
  updates: GpuInput,
  reducing: Reducing,
  others: readonly DeviceTensor[],
): DeviceTensor {
  const { core, fields, source, data, out, shape, size } = work;
  const { dtype } = data;
  const given = updates.device === null ? [] : [updates.device];
  return core.call({
    ...{ fields, source, out, dtype, shape, size },
    inputs: [data, ...given, ...others],
    record(recording, { targets, arrangements }, span, guard) {
      if (size === 0) return;
      const { device, type } = updates;
      const operands: Operands = {
        dtype,
        data: data.span,
        updates: device?.span ?? recording.upload(type.data as NumericStorage),
        out: span,
        result: out === null ? "new" : out.span.buffer === data.span.buffer ? "in place" : "given",
      };
      applyUpdates(recording, targets, arrangements, stepsOf(reducing, dtype), operands, guard);
    },
  });
}

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
