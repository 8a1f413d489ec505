/**
 * Records the GPU commands of a call, copies and dispatches, in order, and submits them together. A device executes
 * work in the order of submission, so calls take effect in order.
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

/** A buffer and its accessible bytes; a user's buffer may be longer than its tensor. */
export interface Span {
  readonly buffer: GpuBufferLike;
  readonly bytes: number;
}

/** The alignment of the numbers of a dispatch, in bytes (`minUniformBufferOffsetAlignment` is at most 256). */
const ALIGNMENT = 256;

/**
 * The numbers that dispatches supply to kernels, on the host and on the device. All recordings of an engine share this
 * object, one after the other.
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

  /** An existing buffer, which replaces scratch memory if commands are not run. */
  protected get standIn(): GpuBufferLike {
    return this.#params.buffer;
  }

  /** Returns scratch memory for the call, with arbitrary contents. */
  scratch(bytes: number): Span {
    const buffer = this.gpu.takeScratch(bytes);
    this.#scratch.push(buffer);
    return { buffer, bytes };
  }

  /** Returns scratch memory for the call, with elements from the host. */
  upload(data: NumericStorage): Span {
    const span = this.scratch(data.byteLength);
    this.gpu.write(span.buffer, data);
    return span;
  }

  /** Returns scratch memory for the call, filled with zeros. */
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
   * Runs `threads` invocations of a kernel. `bytes` are the bytes that all invocations read and write, for `WORK`.
   * `most` is the maximum number of invocations per dispatch, a multiple of `WORKGROUP`, because drivers kill a
   * dispatch that takes seconds.
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

  /** Returns the command encoder, after ending the current pass. */
  #commands(): CommandEncoderLike {
    this.#pass?.end();
    this.#pass = null;
    return (this.#encoder ??= this.gpu.device.createCommandEncoder());
  }

  /** Submits the commands that have been recorded. */
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

  /** Submits the recorded commands, and releases scratch memory. */
  end(): void {
    this.submit();
    this.gpu.giveScratch(this.#scratch);
  }

  /** Discards commands that were not submitted. */
  abandon(): void {
    this.#pass?.end();
    this.gpu.giveScratch(this.#scratch);
  }
}

/** Counts a command and the bytes that it moves. */
function count(bytes: number): void {
  WORK.commands++;
  WORK.bytes += bytes;
}
