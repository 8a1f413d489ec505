/**
 * Records the GPU commands of a call, which are copies and dispatches, and submits them together in order. A device
 * executes work in the order of submission, so calls also take effect in order.
 */

import { GPU } from "../../core/limits.ts";
import { MEMORY } from "../../core/resources.ts";
import type { NumericStorage } from "../../core/tensor/dtype.ts";
import { WORK } from "./counts.ts";
import { paddedBytes, type Gpu } from "./gpu.ts";
import { WORKGROUP, type Kernel } from "./kernel.ts";
import {
  BUFFER_USAGE,
  type CommandEncoderLike,
  type ComputePassLike,
  type GpuBufferLike,
} from "./webgpu.ts";

/** A buffer and the number of bytes in use, because a user's buffer may be longer than its tensor. */
export interface Span {
  readonly buffer: GpuBufferLike;
  readonly bytes: number;
}

/** The alignment of a dispatch's numbers, in bytes (`minUniformBufferOffsetAlignment` is at most 256). */
const ALIGNMENT = 256;

/**
 * The numbers that dispatches supply to kernels, both on the host and on the device. The recordings of an engine use
 * this object one after the other.
 */
export class Params {
  readonly numbers = new Uint32Array(GPU.params / 4);
  readonly buffer: GpuBufferLike;

  constructor(gpu: Gpu) {
    const usage = BUFFER_USAGE.UNIFORM | BUFFER_USAGE.COPY_DST;
    this.buffer = gpu.createBuffer(GPU.params, usage, "numbers of dispatches");
  }
}

export class Recording {
  readonly gpu: Gpu;
  readonly #params: Params;
  /** The number of bytes in use. */
  #used = 0;
  #encoder: CommandEncoderLike | null = null;
  #pass: ComputePassLike | null = null;
  readonly #scratch: GpuBufferLike[] = [];

  constructor(gpu: Gpu, params: Params) {
    this.gpu = gpu;
    this.#params = params;
  }

  /** A buffer that replaces all scratch memory if commands are not run. */
  protected get standIn(): GpuBufferLike {
    return this.#params.buffer;
  }

  /** Returns scratch memory with arbitrary contents for the call. */
  scratch(bytes: number): Span {
    const buffer = this.gpu.takeScratch(bytes);
    this.#scratch.push(buffer);
    return { buffer, bytes };
  }

  /** Returns scratch memory with elements from the host for the call. */
  upload(data: NumericStorage): Span {
    const span = this.scratch(data.byteLength);
    this.gpu.write(span.buffer, data);
    return span;
  }

  /** Returns scratch memory with zeros for the call. */
  zeros(bytes: number): Span {
    const span = this.scratch(bytes);
    this.clear(span);
    return span;
  }

  /** Fills a buffer with zeros, up to the next multiple of 4 bytes. */
  clear({ buffer, bytes }: Span): void {
    this.#commands().clearBuffer(buffer, 0, paddedBytes(bytes));
    count(paddedBytes(bytes));
  }

  /** Copies between two different buffers. */
  copy(from: Span, to: Span): void {
    const bytes = paddedBytes(from.bytes);
    this.#commands().copyBufferToBuffer(from.buffer, 0, to.buffer, 0, bytes);
    count(2 * bytes);
  }

  /**
   * Runs `threads` invocations of a kernel. `bytes` is the number of bytes that all invocations read and write, for
   * `WORK`. `most` is the maximum number of invocations per dispatch, which must be a multiple of `WORKGROUP`, because
   * drivers kill a dispatch that takes seconds.
   */
  run(
    kernel: Kernel,
    threads: number,
    bytes: number,
    params: Readonly<Record<string, number>>,
    buffers: Readonly<Record<string, Span>>,
    most = GPU.workgroups * WORKGROUP,
  ): void {
    for (let first = 0; first < threads; first += most) {
      const part = Math.min(most, threads - first);
      this.#dispatch(kernel, { ...params, first, threads: part }, buffers);
    }
    WORK.bytes += bytes;
  }

  #dispatch(
    kernel: Kernel,
    params: Readonly<Record<string, number>>,
    buffers: Readonly<Record<string, Span>>,
  ): void {
    const { pipeline, layout, params: names, buffers: bound } = this.gpu.compiled(kernel);
    const { numbers, buffer: uniforms } = this.#params;
    const bytes = ALIGNMENT * Math.ceil((4 * names.length) / ALIGNMENT);
    if (this.#used + bytes > Math.min(GPU.params, numbers.byteLength)) this.submit();
    const offset = this.#used;
    this.#used += bytes;
    for (const [at, name] of names.entries()) numbers[offset / 4 + at] = params[name];
    const entries = bound.map((name, at) => {
      const { buffer, bytes: size } = buffers[name];
      return { binding: at + 1, resource: { buffer, size: paddedBytes(size) } };
    });
    const uniform = { binding: 0, resource: { buffer: uniforms, offset, size: bytes } };
    const group = this.gpu.device.createBindGroup({
      layout,
      entries: [uniform, ...entries],
    });
    this.#pass ??= this.#beginPass();
    this.#pass.setPipeline(pipeline);
    this.#pass.setBindGroup(0, group);
    this.#pass.dispatchWorkgroups(Math.ceil(params.threads / WORKGROUP));
    WORK.dispatches++;
    count(0);
  }

  #beginPass(): ComputePassLike {
    WORK.passes++;
    return this.#commands().beginComputePass();
  }

  /** Ends the current pass, and returns the command encoder. */
  #commands(): CommandEncoderLike {
    this.#pass?.end();
    this.#pass = null;
    return (this.#encoder ??= this.gpu.device.createCommandEncoder());
  }

  /** Submits all recorded commands. */
  submit(): void {
    if (this.#encoder === null) return;
    const { queue } = this.gpu.device;
    const { numbers, buffer } = this.#params;
    if (this.#used > 0) queue.writeBuffer(buffer, 0, numbers.buffer, 0, this.#used);
    queue.submit([this.#commands().finish()]);
    WORK.submits++;
    MEMORY.onRelease?.(new Uint8Array(numbers.buffer));
    this.#encoder = null;
    this.#used = 0;
  }

  /** Submits all recorded commands, and releases scratch memory. */
  end(): void {
    this.submit();
    this.gpu.giveScratch(this.#scratch);
  }

  /** Discards all commands that were not submitted. */
  abandon(): void {
    this.#pass?.end();
    this.gpu.giveScratch(this.#scratch);
  }
}

/** Counts a command, and the bytes that it reads and writes. */
function count(bytes: number): void {
  WORK.commands++;
  WORK.bytes += bytes;
}
