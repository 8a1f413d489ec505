/**
 * Scatter and gather on tensors of a GPU, with the bits of every other engine.
 *
 * @module
 */

export { createGpuEngine } from "./engine.ts";
export type { GpuEngine, GpuEngineOptions, GpuPlan, GpuTensor } from "./types.ts";
