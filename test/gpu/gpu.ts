/** The device and the engine that all tests of a place share, and bytes in buffers as the tests themselves see them. */

import {
  DTYPES,
  isArithmetic,
  viewOf,
  type DType,
  type NumericStorage,
} from "../../src/core/tensor/dtype.ts";
import { bytesOf } from "../../src/core/tensor/storage.ts";
import { product } from "../../src/core/tensor/shape.ts";
import { Tensor } from "../../src/core/tensor/tensor.ts";
import {
  BUFFER_USAGE,
  MAP_MODE_READ,
  type GpuBufferLike,
  type GpuDeviceLike,
} from "../../src/gpu/kernels/webgpu.ts";
import { createGpuEngine } from "../../src/entries/webgpu.ts";
import type { GpuEngine, GpuEngineOptions, GpuPlan, GpuTensor } from "../../src/gpu/calls/types.ts";
import { setLimits } from "../support/limits.ts";
import { atEnd } from "../support/resources.ts";

interface Adapter {
  readonly limits: {
    readonly maxBufferSize: number;
    readonly maxStorageBufferBindingSize: number;
  };
  requestDevice(descriptor: object): Promise<GpuDeviceLike>;
}

interface Gpu {
  requestAdapter(options?: object): Promise<Adapter | null>;
}

/** A new device, of the compatibility mode where there is no other, with the default limits but for those given. */
export async function openDevice(
  limitsOf: (adapter: Adapter["limits"]) => object = () => ({}),
): Promise<GpuDeviceLike> {
  const { gpu }: { gpu: Gpu } = Reflect.get(globalThis, "navigator");
  // An adapter gives one device.
  const adapter =
    (await gpu.requestAdapter()) ??
    (await gpu.requestAdapter({ featureLevel: "compatibility" })) ??
    noAdapter();
  return adapter.requestDevice({ requiredLimits: limitsOf(adapter.limits) });
}

const noAdapter = (): never => {
  throw new Error("there is no adapter");
};

const engines: GpuEngine[] = [];
const disposables: { dispose(): void }[] = [];

function kept<T extends object>(value: T): T {
  // The gradients of a call.
  if (Array.isArray(value)) for (const one of value) if (one !== null) kept(one as object);
  if ("dispose" in value) disposables.push(value as T & { dispose(): void });
  return value;
}

type Call = (...args: readonly unknown[]) => object;

/** The functions of an engine or a plan; what they return is disposed of when all tests have ended. */
const keeping = <T extends object>(one: T, wrap: (result: object) => object): T =>
  Object.fromEntries(
    Object.entries(one).map(([name, value]) => [
      name,
      typeof value === "function" && name !== "dispose"
        ? (...args: readonly unknown[]) => wrap((value as Call)(...args))
        : value,
    ]),
  ) as T;

const wrapped = (result: object): object =>
  kept("duplicates" in result ? keeping<GpuPlan>(result as GpuPlan, kept) : result);

/** A new engine. What tests leave to the garbage collector is disposed of at their end, so that only the engine's own is left. */
export async function openEngine(options?: GpuEngineOptions): Promise<GpuEngine> {
  const engine = await createGpuEngine(options);
  engines.push(engine);
  return keeping(engine, wrapped);
}

atEnd(async () => {
  // Errors of calls are those of tests that did not ask.
  await Promise.all(engines.map((engine) => engine.done().catch(() => {})));
  for (const one of [...disposables, ...engines]) one.dispose();
});

export const device = await openDevice();

/** Shared, because a driver may take seconds to compile a kernel. Its board of slots grows in the first tests. */
const restore = setLimits({ GPU: { slots: 1 } });
export const engine = await openEngine({ device });
restore();

/** What the buffer of a tensor has to be usable for. */
export const TENSOR_USAGE = BUFFER_USAGE.STORAGE | BUFFER_USAGE.COPY_SRC | BUFFER_USAGE.COPY_DST;

/** The number of bytes behind a tensor in {@link guarded}. */
const GUARD = 20;

/**
 * The byte that fills each buffer behind its values. Neighboring buffers have different bytes, so a kernel that copies
 * the end of a last word from one buffer to another is seen.
 */
const guards = new WeakMap<GpuBufferLike, number>();
let guard = 0;

/** Sizes of buffers, and of what is copied, are multiples of 4. */
const rounded = (bytes: number): number => Math.ceil(bytes / 4) * 4;

/** A buffer that holds bytes, and others behind them. */
export function bufferOf(bytes: Uint8Array, behind = 0, on = device): GpuBufferLike {
  guard = (guard % 255) + 1;
  const all = new Uint8Array(Math.max(4, rounded(bytes.length + behind))).fill(guard);
  all.set(bytes);
  const buffer = on.createBuffer({ size: all.length, usage: TENSOR_USAGE });
  guards.set(buffer, guard);
  on.queue.writeBuffer(buffer, 0, all.buffer);
  return buffer;
}

/** The bytes of buffers, read by the test itself, when all that was submitted so far is done. */
export async function readBuffers(
  buffers: readonly GpuBufferLike[],
  on = device,
): Promise<Uint8Array[]> {
  const begins: number[] = [];
  let size = 0;
  for (const buffer of buffers) {
    begins.push(size);
    size += buffer.size;
  }
  if (size === 0) return [];
  const usage = BUFFER_USAGE.MAP_READ | BUFFER_USAGE.COPY_DST;
  const staging = on.createBuffer({ size, usage });
  const encoder = on.createCommandEncoder();
  for (const [i, buffer] of buffers.entries()) {
    encoder.copyBufferToBuffer(buffer, 0, staging, begins[i], buffer.size);
  }
  on.queue.submit([encoder.finish()]);
  await staging.mapAsync(MAP_MODE_READ);
  const all = new Uint8Array(staging.getMappedRange().slice(0));
  staging.destroy();
  return buffers.map((buffer, i) => all.slice(begins[i], begins[i] + buffer.size));
}

/** A tensor over the first bytes of an array. */
export function tensorOf(dtype: DType, shape: readonly number[], bytes: Uint8Array): Tensor {
  const size = product(shape);
  const data = viewOf(dtype, bytes.slice().buffer, 0, size * DTYPES[dtype].lanes);
  return new Tensor(dtype, [...shape], size, data);
}

/** The bytes of a tensor of numbers. */
export const bytesOfTensor = ({ data }: Tensor): Uint8Array => bytesOf(data as NumericStorage);

/** A tensor in a buffer of the test's own, with bytes behind it that must stay what they are. */
export interface Guarded {
  readonly tensor: GpuTensor;
  readonly buffer: GpuBufferLike;
}

/** A copy of a tensor of the heap in a {@link Guarded}. */
export function guarded(tensor: Tensor): Guarded {
  const buffer = bufferOf(bytesOfTensor(tensor), GUARD);
  return { tensor: engine.fromBuffer(buffer, tensor.dtype, tensor.shape), buffer };
}

/** Whether all bytes are those that {@link bufferOf} put behind the values of a buffer. */
export const areGuards = (bytes: Uint8Array, buffer: GpuBufferLike): boolean =>
  bytes.every((one) => one === guards.get(buffer));

/** Whether a GPU has the arithmetic of a data type; without it elements are moved alone. */
export const hasArithmetic = (dtype: DType): boolean =>
  dtype !== "float64" && DTYPES[dtype].family !== "complex" && isArithmetic(dtype);

/** The reductions whose gradients a GPU computes. */
export const WITH_GRADIENTS = ["none", "add", "sub", "mean"] as const;
