/**
 * Scatter and gather on tensors of a GPU, with the bits of every other engine.
 *
 * @module
 */

export { createGpuEngine } from "../gpu/calls/engine.ts";
export type { GpuEngine, GpuEngineOptions, GpuPlan, GpuTensor } from "../gpu/calls/types.ts";
