/**
 * Records the GPU commands of a call, which are copies and dispatches, and submits them together in order. A device
 * executes work in the order of submission, so calls also take effect in order.
 */

import { GPU } from "../../core/limits.ts";
import { MEMORY } from "../../core/resources.ts";
import type { NumericStorage } from "../../core/tensor/dtype.ts";
import { paddedBytes, type Gpu } from "./gpu.ts";
import { WORKGROUP, type Guard, type Kernel, type Span } from "./kernel.ts";
import {
  BUFFER_USAGE,
  type CommandEncoderLike,
  type ComputePassLike,
  type GpuBufferLike,
} from "./webgpu.ts";

/** Counts the work that all engines have submitted to devices, for tests and the benchmark. */
export const WORK = {
  /** The number of command buffers. */
  submits: 0,
  /** The number of dispatches, copies between buffers, and buffer clears. */
  commands: 0,
  dispatches: 0,
  /** The number of compute passes, each of which contains consecutive dispatches. */
  passes: 0,
  /** The number of bytes that the commands read and write, if caches keep data that neighboring invocations share. */
  bytes: 0,
};

/** A kernel to run, and the size of its work. */
export interface Dispatch extends Kernel {
  /** The number of invocations. */
  readonly threads: number;
  /** The number of bytes that all invocations read and write, for `WORK`. */
  readonly bytes: number;
  /**
   * The maximum number of invocations per dispatch, which must be a multiple of `WORKGROUP`, because drivers kill a
   * dispatch that takes seconds.
   */
  readonly most?: number;
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
  readonly #kernels: Map<string, Kernel> | null;
  /** The status of the call. */
  readonly guard: Guard;
  /** The number of bytes in use. */
  #used = 0;
  #encoder: CommandEncoderLike | null = null;
  #pass: ComputePassLike | null = null;
  readonly #scratch: GpuBufferLike[] = [];

  /**
   * `kernels` is null for a recording that is run. Otherwise, the recording does no GPU work, but collects the kernels
   * of calls, so that they can be compiled in advance.
   */
  constructor(gpu: Gpu, params: Params, guard: Guard, kernels: Map<string, Kernel> | null) {
    this.gpu = gpu;
    this.#params = params;
    this.guard = guard;
    this.#kernels = kernels;
  }

  /** Returns scratch memory with arbitrary contents for the call. Calls that are not run share a single buffer. */
  scratch(bytes: number): Span {
    if (this.#kernels !== null) return { buffer: this.#params.buffer, bytes };
    const buffer = this.gpu.takeScratch(bytes);
    this.#scratch.push(buffer);
    return { buffer, bytes };
  }

  /** Returns scratch memory with elements from the host for the call. */
  upload(data: NumericStorage): Span {
    const span = this.scratch(data.byteLength);
    if (this.#kernels === null) this.gpu.write(span.buffer, data);
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
    const size = paddedBytes(bytes);
    this.#command(size, (encoder) => encoder.clearBuffer(buffer, 0, size));
  }

  /** Copies between two different buffers. */
  copy(from: Span, to: Span): void {
    const size = paddedBytes(from.bytes);
    this.#command(2 * size, (encoder) =>
      encoder.copyBufferToBuffer(from.buffer, 0, to.buffer, 0, size),
    );
  }

  /** Records a command that reads and writes the given number of bytes. */
  #command(bytes: number, record: (encoder: CommandEncoderLike) => void): void {
    if (this.#kernels !== null) return;
    record(this.#encoding());
    WORK.commands++;
    WORK.bytes += bytes;
  }

  run(dispatch: Dispatch): void {
    if (this.#kernels !== null) {
      this.#kernels.set(dispatch.name, dispatch);
      return;
    }
    const { threads, bytes, most = GPU.workgroups * WORKGROUP } = dispatch;
    for (let first = 0; first < threads; first += most) {
      this.#dispatch(dispatch, first, Math.min(most, threads - first));
    }
    WORK.bytes += bytes;
  }

  #dispatch(kernel: Kernel, first: number, threads: number): void {
    const { pipeline, layout, params: names, buffers: bound } = this.gpu.compiled(kernel);
    const { numbers, buffer: uniforms } = this.#params;
    const bytes = ALIGNMENT * Math.ceil((4 * (2 + names.length)) / ALIGNMENT);
    if (this.#used + bytes > Math.min(GPU.params, numbers.byteLength)) this.submit();
    const offset = this.#used;
    this.#used += bytes;
    const { params, buffers } = kernel;
    const { status, slot } = this.guard;
    let at = offset / 4;
    numbers[at++] = first;
    numbers[at++] = threads;
    for (const name of names) numbers[at++] = params?.[name] ?? slot;
    const entries = bound.map(([kind, name], place) => {
      const { buffer, bytes: size } = buffers[kind]?.[name] ?? status;
      return { binding: place + 1, resource: { buffer, size: paddedBytes(size) } };
    });
    const uniform = { binding: 0, resource: { buffer: uniforms, offset, size: bytes } };
    const group = this.gpu.device.createBindGroup({
      layout,
      entries: [uniform, ...entries],
    });
    this.#pass ??= this.#beginPass();
    this.#pass.setPipeline(pipeline);
    this.#pass.setBindGroup(0, group);
    this.#pass.dispatchWorkgroups(Math.ceil(threads / WORKGROUP));
    WORK.dispatches++;
    WORK.commands++;
  }

  #beginPass(): ComputePassLike {
    WORK.passes++;
    return this.#encoding().beginComputePass();
  }

  /** Ends the current pass, and returns the command encoder. */
  #encoding(): CommandEncoderLike {
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
    queue.submit([this.#encoding().finish()]);
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
