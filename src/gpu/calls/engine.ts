/** Implements the engine of `ndscatter/webgpu`, which provides the package's functions for GPU tensors. */

import { splitArguments } from "../../core/call/call.ts";
import { keptParts } from "../../core/call/kept-plan.ts";
import { Executor } from "../../core/engines/executor.ts";
import { factOf, printValue, optionsOf } from "../../core/foreign.ts";
import { TensorError } from "../../core/errors.ts";
import {
  forEach,
  FUNCTIONS,
  PLAN_FUNCTIONS,
  type FunctionName,
} from "../../core/operators/plain.ts";
import type { DType, NumericStorage } from "../../core/tensor/dtype.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import { tensorOver, typeOf } from "./buffers.ts";
import { callOnGpu } from "./call.ts";
import { GpuCore } from "./core.ts";
import { checkDevice, requestDevice } from "./device.ts";
import { numericTensor } from "./inputs.ts";
import { gpuPlan } from "./kept-plan.ts";
import { DeviceTensor } from "./tensor.ts";
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

type Functions = Pick<GpuEngine, FunctionName>;
type PlanFunctions = Pick<GpuEngine, keyof typeof PLAN_FUNCTIONS>;

function engineOn(core: GpuCore): GpuEngine {
  // A kept plan reads its indices on the host.
  const host = new Executor();
  const functions = forEach(
    FUNCTIONS,
    (operator) =>
      (...args: readonly unknown[]) =>
        callOnGpu(core, operator, ...splitArguments(operator, args)),
  );
  const plans = forEach(
    PLAN_FUNCTIONS,
    (operator) => (shape: readonly number[], indices: unknown, options: unknown) =>
      gpuPlan(core, keptParts(host, operator, shape, hostIndices(indices), options)),
  );
  return {
    ...(functions as Functions),
    ...(plans as PlanFunctions),
    vjp: (node, inputs, outputGradient, options) =>
      vjpOnGpu(core, node, inputs, outputGradient, options),
    device: core.gpu.device,
    fromBuffer: (buffer, dtype, shape) => tensorOver(core, buffer, dtype, shape),
    upload: (tensor) => upload(core, tensor),
    alloc: (dtype, shape) => alloc(core, dtype, shape),
    compile: (calls) => compile(core, calls),
    done: () => core.done(),
    dispose: () => core.dispose(),
  };
}

/** Compiles the kernels of the calls in the function `calls`. The promise rejects with the errors of the calls. */
async function compile(core: GpuCore, calls: unknown): Promise<void> {
  if (typeof calls === "function") return core.compile(calls as () => unknown);
  const sentence = `compile needs a function that makes calls, got ${printValue(calls)}`;
  throw new TensorError("attribute", sentence, { key: "calls", got: factOf(calls) });
}

function alloc<D extends DType>(
  core: GpuCore,
  dtype: D,
  shape: readonly number[],
): DeviceTensor<D> {
  const { shape: dims, size } = typeOf(dtype, shape);
  return core.make(dtype, dims, size, null) as DeviceTensor<D>;
}

function upload<D extends DType>(core: GpuCore, given: unknown): DeviceTensor<D> {
  const tensor = numericTensor(given);
  const { dtype, size } = tensor;
  const made = core.make(dtype, Tensor.dimsOf(tensor), size, tensor.data as NumericStorage);
  return made as DeviceTensor<D>;
}

/** Checks that the indices of a kept plan are on the host, because their values are checked immediately. */
function hostIndices(indices: unknown): unknown {
  if (!DeviceTensor.isTensor(indices)) return indices;
  const sentence =
    "indices of a kept plan must be on the host, because they are checked immediately";
  throw new TensorError("dtype", sentence, { input: "indices" });
}
