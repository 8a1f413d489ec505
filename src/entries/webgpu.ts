/**
 * Scatter and gather on GPU tensors; results equal those of every other engine bit for bit.
 *
 * @module
 */

export { createGpuEngine } from "../gpu/calls/engine.ts";
export type {
  GpuEngine,
  GpuEngineOptions,
  GpuGradientOptions,
  GpuPlan,
  GpuTensor,
} from "../gpu/calls/types.ts";
