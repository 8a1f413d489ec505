/** Computes gradients with kept plans on a GPU. */

import {
  checkDifferentiable,
  GRADIENT_OPTIONS,
  readGradientOptions,
} from "../../core/call/gradient-options.ts";
import { checkShape, GATHER_OPTIONS, SCATTERED } from "../../core/call/kept-plan.ts";
import { checkLike } from "../../core/call/inputs.ts";
import { optionsOf } from "../../core/foreign.ts";
import { checkGradientArithmetic, gatherGradient, scatterGradients } from "./backwards.ts";
import { dataOnGpu, outOnGpu } from "./inputs.ts";
import { scatterInputs, type PlanOnGpu } from "./kept-on-gpu.ts";
import type { DeviceTensor } from "./tensor.ts";
import { outsOnGpu } from "./vjp.ts";

const VJP_OPTIONS = ["reduction", ...GRADIENT_OPTIONS] as const;

export function scatterVjpByPlan(
  plan: PlanOnGpu,
  given: unknown,
  list: unknown,
  outputGradient: unknown,
  options: unknown = {},
): readonly [data: DeviceTensor | null, updates: DeviceTensor | null] {
  const { core, parts, kept } = plan;
  const { dataDims, fields } = parts;
  const { reduction = "none", ...rest } = optionsOf(options, VJP_OPTIONS, fields);
  const { data, updates, reducing } = scatterInputs(plan, given, list, reduction);
  const { dtype, size } = data.device;
  checkDifferentiable(data.type, "data", fields);
  const gradient = dataOnGpu(core, outputGradient, fields, "outputGradient");
  checkLike(gradient.type, dtype, dataDims, "outputGradient", fields);
  const signature = { inputs: SCATTERED, positions: { data: 0, updates: 1 } };
  const { wanted, outs } = readGradientOptions(rest, signature, fields);
  checkGradientArithmetic(dtype, reducing.reduction, fields);
  const own = outsOnGpu(core, outs, signature, [data, updates, gradient], fields);
  return scatterGradients({
    ...{ core, fields, reducing, updates, gradient: gradient.device },
    ...{ dataShape: dataDims, dataSize: size },
    others: kept.prepare(dtype, reducing.reduction === "none" ? "none" : null),
    source: kept.source(),
    ...{ wantsData: wanted.has(0), wantsUpdates: wanted.has(1) },
    ...{ dataOut: own[0] ?? null, updatesOut: own[1] ?? null },
  });
}

export function gatherVjpByPlan(
  { core, parts, kept }: PlanOnGpu,
  outputGradient: unknown,
  options: unknown = {},
): DeviceTensor {
  const { plan, dataDims, dims, fields } = parts;
  kept.checkAlive();
  const { out } = optionsOf(options, GATHER_OPTIONS, fields);
  const { type, device: gradient } = dataOnGpu(core, outputGradient, fields, "outputGradient");
  checkDifferentiable(type, "outputGradient", fields);
  checkShape(type, dims, fields, "outputGradient");
  const { dtype } = gradient;
  checkGradientArithmetic(dtype, null, fields);
  const names = [{ name: "outputGradient" }];
  const inputs = [{ type, device: gradient }];
  const dataOut =
    out === undefined ? null : outOnGpu(core, out, dtype, dataDims, names, inputs, null, fields);
  const others = kept.prepare(dtype, "add");
  const common = { core, fields, source: kept.source(), others, gradient, dataOut };
  return gatherGradient({ ...common, dataShape: dataDims, dataSize: plan.size });
}
