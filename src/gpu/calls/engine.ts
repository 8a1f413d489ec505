/** Implements the engine of `ndscatter/webgpu`, which provides the package's functions for GPU tensors. */

import { splitArguments } from "../../core/call/call.ts";
import { keptParts } from "../../core/call/kept-plan.ts";
import { Executor } from "../../core/engines/executor.ts";
import { isTensorError, TensorError } from "../../core/errors.ts";
import { optionsOf, wrongOption } from "../../core/foreign.ts";
import {
  forEach,
  FUNCTIONS,
  PLAN_FUNCTIONS,
  type FunctionName,
} from "../../core/operators/registry.ts";
import type { DType, NumericStorage } from "../../core/tensor/dtype.ts";
import { asTensor } from "../../core/tensor/tensor.ts";
import type { GpuDeviceLike, GpuLimits } from "../kernels/webgpu.ts";
import { callOnGpu } from "./call.ts";
import { GpuCore } from "./core.ts";
import { gpuPlan } from "./kept-plan.ts";
import { checkedShape, checkHolds, DeviceTensor, tensorOver } from "./tensor.ts";
import type { GpuEngine, GpuEngineOptions } from "./types.ts";
import { vjpOnGpu } from "./vjp.ts";

/**
 * Creates an engine on a GPU. The results of all engines are bit-identical.
 *
 * @param options an existing `device`, by default a device that the browser provides
 *
 * @example
 * ```ts
 * const engine = await createGpuEngine();
 * const data = engine.alloc("float32", [4, 2]);
 * const sums = engine.scatterND(data, [[1], [1]], [[1, 2], [3, 4]], { reduction: "add" });
 * console.log(await sums.read()); // row 1 holds [4, 6]
 * ```
 * @throws TensorError `engine` if WebGPU is unavailable, `attribute` for a value that is not a device
 */
export async function createGpuEngine(options: GpuEngineOptions = {}): Promise<GpuEngine> {
  const { device } = optionsOf(options, ["device"], {});
  const own = device === undefined ? await requestDevice() : checkDevice(device);
  return engineOn(new GpuCore(own, device === undefined));
}

type Generic = Pick<GpuEngine, FunctionName | keyof typeof PLAN_FUNCTIONS | "upload" | "alloc">;

function engineOn(core: GpuCore): GpuEngine {
  // A kept plan reads its indices on the host.
  const host = new Executor();
  const generic = {
    ...forEach(
      FUNCTIONS,
      (operator) =>
        (...args: readonly unknown[]) =>
          callOnGpu(core, operator, ...splitArguments(operator, args)),
    ),
    ...forEach(
      PLAN_FUNCTIONS,
      (operator) => (shape: readonly number[], indices: unknown, options: unknown) =>
        gpuPlan(core, keptParts(host, operator, shape, hostIndices(indices), options)),
    ),
    upload(given: unknown) {
      const tensor = asTensor(given, {});
      checkHolds(tensor.dtype, {});
      return core.make(tensor, tensor.data as NumericStorage);
    },
    alloc: (dtype: DType, shape: readonly number[]) =>
      core.make({ dtype, ...checkedShape(dtype, shape) }, null),
  };
  return {
    ...(generic as Generic),
    vjp: (node, inputs, outputGradient, options) =>
      vjpOnGpu(core, node, inputs, outputGradient, options),
    device: core.gpu.device,
    fromBuffer: (buffer, dtype, shape) => tensorOver(core, buffer, dtype, shape),
    compile: (calls) => core.compile(calls),
    done: () => core.done(),
    dispose: () => core.dispose(),
  };
}

/** Checks that the indices of a kept plan are on the host, because their values are checked immediately. */
function hostIndices(indices: unknown): unknown {
  if (!DeviceTensor.isTensor(indices)) return indices;
  const sentence =
    "indices of a kept plan must be on the host, because they are checked immediately";
  throw new TensorError("dtype", sentence, { input: "indices" });
}

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
function checkDevice(device: unknown): GpuDeviceLike {
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
async function requestDevice(): Promise<GpuDeviceLike> {
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
