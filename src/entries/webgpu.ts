/**
 * Scatter and gather on GPU tensors, with results that are bit-identical to those of all other engines.
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
