/** Provides the device of an engine, which is the user's device or is requested from the browser. */

import type { GpuDeviceLike, GpuLimits } from "../kernels/webgpu.ts";
import { isTensorError, TensorError } from "../../core/errors.ts";
import { wrongOption } from "../../core/foreign.ts";

/** The members of `navigator.gpu` that this package uses. */
interface GpuLike {
  requestAdapter(options: object): Promise<AdapterLike | null>;
}

interface AdapterLike {
  readonly limits: GpuLimits;
  requestDevice(descriptor: object): Promise<GpuDeviceLike>;
}

const METHODS = [
  "createBuffer",
  "createShaderModule",
  "createComputePipeline",
  "createComputePipelineAsync",
  "createBindGroup",
  "createCommandEncoder",
  "pushErrorScope",
  "popErrorScope",
] as const satisfies readonly (keyof GpuDeviceLike)[];

/** Throws an `attribute` error for a value that is not a `GPUDevice`. */
export function checkDevice(device: unknown): GpuDeviceLike {
  const one = device as Partial<GpuDeviceLike> | null;
  try {
    if (
      METHODS.every((name) => typeof one?.[name] === "function") &&
      typeof one?.queue?.submit === "function" &&
      typeof one.limits?.maxBufferSize === "number" &&
      typeof one.lost?.then === "function"
    ) {
      return one as GpuDeviceLike;
    }
  } catch {
    // A Proxy or a getter has thrown an error, so the value is not a device.
  }
  throw wrongOption("device", "a GPUDevice", device);
}

/**
 * Requests a device with the largest limits of the fastest adapter. Throws an `engine` error if WebGPU is unavailable
 * or finds no adapter.
 */
export async function requestDevice(): Promise<GpuDeviceLike> {
  const gpu = (globalThis as { navigator?: { gpu?: GpuLike } }).navigator?.gpu;
  if (gpu === undefined) {
    const sentence =
      "WebGPU is missing (navigator.gpu); in Node pass a device, such as one of npm's webgpu";
    throw new TensorError("engine", sentence);
  }
  try {
    const options = { powerPreference: "high-performance" };
    const adapter =
      (await gpu.requestAdapter(options)) ??
      // Compatibility mode is sufficient, because this package uses no WebGPU feature that OpenGL devices lack.
      (await gpu.requestAdapter({ ...options, featureLevel: "compatibility" }));
    if (adapter === null)
      throw new TensorError("engine", "WebGPU found no adapter on this machine");
    const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
    const requiredLimits = { maxBufferSize, maxStorageBufferBindingSize };
    return await adapter.requestDevice({ requiredLimits });
  } catch (cause) {
    if (isTensorError(cause)) throw cause;
    throw new TensorError("engine", `WebGPU returned no device: ${String(cause)}`, {}, { cause });
  }
}
