/** Creates kept plans on the GPU, so that targets and their arrangements for reductions are uploaded only once. */

import {
  GATHER_OPTIONS,
  repeatedTargets,
  SCATTER_OPTIONS,
  SCATTERED,
  type KeptParts,
} from "../../core/call/kept-plan.ts";
import { stepsOf } from "../../core/call/steps.ts";
import { optionsOf } from "../../core/foreign.ts";
import { checkArithmetic, gatherWork, scatterWork, type Work } from "./call.ts";
import type { GpuCore } from "./core.ts";
import { outOnGpu } from "./inputs.ts";
import { dataOf, KeptOnGpu, scatterInputs, type Data } from "./kept-on-gpu.ts";
import type { UploadedTargets } from "./target-source.ts";
import type { DeviceTensor } from "./tensor.ts";
import type { GpuPlan } from "./types.ts";
import { gatherVjpByPlan, scatterVjpByPlan } from "./vjp-by-plan.ts";

/** Returns the methods of a kept plan. */
export function gpuPlan(core: GpuCore, parts: KeptParts): GpuPlan {
  const kept = new KeptOnGpu(core, parts);
  // The targets are uploaded immediately, so that a plan that is too large for the device fails here and not in a later
  // call.
  kept.prepare("uint8", null);
  const plan: Pick<GpuPlan, "scatter" | "gather" | "scatterVjp" | "gatherVjp"> = {
    scatter: (data, updates, options) =>
      scatterByPlan(core, parts, kept, data, updates, options) as never,
    gather: (data, options) => gatherByPlan(core, parts, kept, data, options) as never,
    scatterVjp: (data, updates, outputGradient, options) =>
      scatterVjpByPlan({ core, parts, kept }, data, updates, outputGradient, options) as never,
    gatherVjp: (outputGradient, options) =>
      gatherVjpByPlan({ core, parts, kept }, outputGradient, options) as never,
  };
  return Object.freeze<GpuPlan>({
    ...plan,
    dataShape: parts.dataShape,
    shape: parts.shape,
    duplicates: () => repeatedTargets(parts),
    dispose: () => kept.dispose(),
  });
}

function scatterByPlan(
  core: GpuCore,
  parts: KeptParts,
  kept: KeptOnGpu,
  given: unknown,
  list: unknown,
  options: unknown = {},
): DeviceTensor {
  const { dataDims, fields } = parts;
  const { reduction = "none", out } = optionsOf(options, SCATTER_OPTIONS, fields);
  const inputs = scatterInputs({ core, parts, kept }, given, list, reduction);
  const { data, updates, reducing } = inputs;
  const { dtype } = data.device;
  checkArithmetic(dtype, reducing, fields);
  const target =
    out === undefined
      ? null
      : outOnGpu(core, out, dtype, dataDims, SCATTERED, [data, updates], "data", fields);
  const others = kept.prepare(dtype, stepsOf(reducing, dtype).later);
  const work = workOf(core, parts, kept.source(), data, target, dataDims, data.device.size);
  return scatterWork(work, updates, reducing, others);
}

function gatherByPlan(
  core: GpuCore,
  parts: KeptParts,
  kept: KeptOnGpu,
  given: unknown,
  options: unknown = {},
): DeviceTensor {
  const { dims, size, fields } = parts;
  kept.checkAlive();
  const { out } = optionsOf(options, GATHER_OPTIONS, fields);
  const data = dataOf(core, parts, given);
  const target =
    out === undefined
      ? null
      : outOnGpu(core, out, data.device.dtype, dims, SCATTERED, [data], null, fields);
  const others = kept.prepare(data.device.dtype, null);
  return gatherWork(workOf(core, parts, kept.source(), data, target, dims, size), others);
}

const workOf = (
  core: GpuCore,
  { fields }: KeptParts,
  source: UploadedTargets,
  { device: data }: Data,
  out: DeviceTensor | null,
  shape: readonly number[],
  size: number,
): Work => ({ core, fields, source, data, out, shape, size });
