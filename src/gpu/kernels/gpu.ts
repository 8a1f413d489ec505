/**
 * Wraps a device for the engine, with buffers, compiled kernels and scratch memory, and detects the loss of the device.
 */

import { TensorError } from "../../core/errors.ts";
import { GPU } from "../../core/limits.ts";
import { MEMORY, OPEN } from "../../core/resources.ts";
import type { NumericStorage } from "../../core/tensor/dtype.ts";
import { bytesOf, isUnshared } from "../../core/tensor/storage.ts";
import { textOf, type Kernel, type KernelText } from "./kernel.ts";
import {
  BUFFER_USAGE,
  MAP_MODE_READ,
  type BindGroupLayoutLike,
  type ComputePipelineDescriptor,
  type ComputePipelineLike,
  type GpuBufferLike,
  type GpuDeviceLike,
} from "./webgpu.ts";

const { COPY_DST, COPY_SRC, STORAGE } = BUFFER_USAGE;

/** The usage flags of a tensor's buffer. */
export const TENSOR_USAGE = STORAGE | COPY_SRC | COPY_DST;

/**
 * Returns the buffer size for `bytes` bytes, which is a positive multiple of 4, because shaders and copies use whole
 * words.
 */
export const paddedBytes = (bytes: number): number => Math.max(4, 4 * Math.ceil(bytes / 4));

/** A compiled kernel. */
interface Compiled extends Omit<KernelText, "code"> {
  readonly pipeline: ComputePipelineLike;
  readonly layout: BindGroupLayoutLike;
}

export class Gpu {
  readonly device: GpuDeviceLike;
  readonly #compiled = new Map<string, Compiled>();
  /**
   * The free buffers, which neither calls nor code outside the package use. The next call may use a free buffer
   * immediately, because a device executes work in order.
   */
  #free: GpuBufferLike[] = [];
  #lost: string | null = null;
  /** True after the end of the engine, so that later calls throw. */
  hasEnded = false;

  constructor(device: GpuDeviceLike) {
    this.device = device;
    void device.lost.then(({ message, reason }) => {
      this.#lost = message === "" ? reason : message;
    });
  }

  /** Throws `engine` if the device is lost, or `disposed` if the engine has ended. */
  checkThere(): void {
    if (this.hasEnded) {
      throw new TensorError("disposed", "the engine is gone (disposed)", { key: "engine" });
    }
    if (this.#lost !== null) throw lostError(this.#lost);
  }

  /** Returns the error for a failed wait, which states that the device is lost or why the wait failed. */
  failureOf(cause: unknown): TensorError {
    if (this.#lost !== null) return lostError(this.#lost);
    const message = String((cause as Partial<Error> | null)?.message ?? cause);
    return new TensorError("engine", `the GPU failed: ${firstLine(message)}`, {}, { cause });
  }

  /** Throws a `too-large` error for more bytes than a binding allows. */
  checkBytes(bytes: number, what: string): void {
    const { maxBufferSize, maxStorageBufferBindingSize } = this.device.limits;
    const most = Math.min(maxBufferSize, maxStorageBufferBindingSize);
    if (bytes <= most) return;
    const sentence = `${what} takes ${bytes} bytes, but a kernel on this device can access at most ${most}`;
    throw new TensorError("too-large", sentence, { got: bytes, limit: most });
  }

  /** Throws a `too-large` error beyond the device's limits. */
  createBuffer(bytes: number, usage: number, what: string): GpuBufferLike {
    this.checkThere();
    const size = paddedBytes(bytes);
    this.checkBytes(size, what);
    const buffer = this.device.createBuffer({ size, usage, label: what });
    OPEN.buffers++;
    return buffer;
  }

  /** Copies elements into a buffer of the same size, rounded up to 4 bytes. */
  write(buffer: GpuBufferLike, data: NumericStorage): void {
    const { queue } = this.device;
    // A queue accepts neither shared memory nor part of a word.
    const bytes = bytesOf(data);
    const isPlain = isUnshared(bytes.buffer) && bytes.length % 4 === 0;
    if (isPlain) {
      const { byteOffset, byteLength } = bytes;
      if (byteLength > 0) queue.writeBuffer(buffer, 0, bytes.buffer, byteOffset, byteLength);
      return;
    }
    const padded = new Uint8Array(paddedBytes(bytes.length));
    padded.set(bytes);
    queue.writeBuffer(buffer, 0, padded.buffer);
  }

  /** Copies the first bytes of a buffer after all earlier work, for `contentsOf`. */
  copyForHost(buffer: GpuBufferLike, bytes: number, what: string): GpuBufferLike {
    const staging = this.createBuffer(bytes, BUFFER_USAGE.MAP_READ | COPY_DST, what);
    try {
      const encoder = this.device.createCommandEncoder();
      encoder.copyBufferToBuffer(buffer, 0, staging, 0, paddedBytes(bytes));
      this.device.queue.submit([encoder.finish()]);
      return staging;
    } catch (error) {
      // A device refuses an object that has the fields of a GPUBuffer but is not a real GPUBuffer.
      destroyBuffer(staging);
      throw error;
    }
  }

  /** Returns the smallest free buffer of at least `bytes` bytes, or creates a buffer. */
  takeScratch(bytes: number): GpuBufferLike {
    const size = paddedBytes(bytes);
    let best = -1;
    for (const [at, buffer] of this.#free.entries()) {
      if (buffer.size < size || buffer.size > 4 * size + GPU.spare) continue;
      if (best === -1 || buffer.size < this.#free[best].size) best = at;
    }
    const found =
      best === -1
        ? this.createBuffer(bytes, TENSOR_USAGE, "scratch memory of the call")
        : this.#free.splice(best, 1)[0];
    OPEN.scratch++;
    return found;
  }

  /** Returns a free buffer of exactly `bytes` bytes with arbitrary contents, or null without such a buffer. */
  takeUsed(bytes: number): GpuBufferLike | null {
    const at = this.#free.findLastIndex(({ size }) => size === paddedBytes(bytes));
    return at === -1 ? null : this.#free.splice(at, 1)[0];
  }

  giveScratch(buffers: readonly GpuBufferLike[]): void {
    OPEN.scratch -= buffers.length;
    this.keep(buffers);
  }

  /** Stores buffers for later calls, and destroys the oldest buffers if necessary. */
  keep(buffers: readonly GpuBufferLike[]): void {
    for (const buffer of buffers) this.overwrite(buffer, 0, buffer.size);
    let kept = 0;
    const newestFirst = [...this.#free, ...buffers].toReversed();
    const free = newestFirst.filter((buffer) => {
      kept += buffer.size;
      if (kept <= GPU.kept) return true;
      destroyBuffer(buffer);
      return false;
    });
    this.#free = free.toReversed();
  }

  /** Overwrites released memory, for tests. */
  overwrite(buffer: GpuBufferLike, from: number, length: number): void {
    if (MEMORY.onRelease === null) return;
    const bytes = new Uint8Array(length);
    MEMORY.onRelease(bytes);
    this.device.queue.writeBuffer(buffer, from, bytes.buffer);
  }

  /** Returns a compiled kernel, and compiles it on first use. */
  compiled(kernel: Kernel): Compiled {
    const known = this.#compiled.get(kernel.name);
    if (known !== undefined) return known;
    const { descriptor, keep } = this.#toCompile(kernel);
    return keep(this.device.createComputePipeline(descriptor));
  }

  /** Compiles kernels in the background, unless they are already compiled. */
  async compileAll(kernels: Iterable<Kernel>): Promise<void> {
    const missing = [...kernels].filter(({ name }) => !this.#compiled.has(name));
    const compile = async (kernel: Kernel): Promise<void> => {
      const { descriptor, keep } = this.#toCompile(kernel);
      const pipeline = await this.device.createComputePipelineAsync(descriptor);
      // Another call may already have compiled the kernel.
      if (!this.#compiled.has(kernel.name)) keep(pipeline);
    };
    await Promise.all(missing.map(compile));
  }

  #toCompile(kernel: Kernel): {
    readonly descriptor: ComputePipelineDescriptor;
    readonly keep: (pipeline: ComputePipelineLike) => Compiled;
  } {
    const { code, params, buffers } = textOf(kernel);
    const { name: label } = kernel;
    const module = this.device.createShaderModule({ code, label });
    const keep = (pipeline: ComputePipelineLike): Compiled => {
      const compiled = { pipeline, layout: pipeline.getBindGroupLayout(0), params, buffers };
      this.#compiled.set(label, compiled);
      return compiled;
    };
    const compute = { module, entryPoint: "main" };
    return { descriptor: { label, layout: "auto", compute }, keep };
  }

  /** Frees unused memory. */
  clear(): void {
    for (const buffer of this.#free) destroyBuffer(buffer);
    this.#free = [];
  }
}

/** Returns the bytes of a buffer from `copyForHost`, and destroys the buffer. */
export async function contentsOf(staging: GpuBufferLike): Promise<ArrayBuffer> {
  try {
    await staging.mapAsync(MAP_MODE_READ);
    return staging.getMappedRange().slice();
  } finally {
    destroyBuffer(staging);
  }
}

export function destroyBuffer(buffer: GpuBufferLike): void {
  OPEN.buffers--;
  buffer.destroy();
}

/**
 * Returns the first line of a driver's message, in a form that fits into a sentence. Further lines refer to the
 * driver's source.
 */
export const firstLine = (message: string): string =>
  message.split("\n", 1)[0].replace(/[.\s]+$/, "");

const lostError = (why: string): TensorError =>
  new TensorError("engine", `the GPU device is lost (${firstLine(why)})`);
