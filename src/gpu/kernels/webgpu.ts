/**
 * Declares the types for the parts of WebGPU that this package uses. The package is compiled without browser types, so
 * that its code cannot accidentally depend on a browser. The objects of browsers, and of libraries such as Dawn, match
 * these types structurally.
 */

import type { Known } from "../../core/foreign.ts";

export interface GpuBufferLike {
  readonly size: number;
  readonly usage: number;
  mapAsync(mode: number): Promise<undefined>;
  getMappedRange(offset?: number, size?: number): ArrayBuffer;
  destroy(): void;
}

/** The types of opaque objects, which the package only passes on. */
export interface BindGroupLayoutLike {
  readonly label: string;
}
export interface BindGroupLike {
  readonly label: string;
}
export interface ShaderModuleLike {
  readonly label: string;
}
export interface CommandBufferLike {
  readonly label: string;
}

export interface ComputePipelineLike {
  getBindGroupLayout(index: number): BindGroupLayoutLike;
}

export interface ComputePipelineDescriptor {
  label?: string;
  layout: "auto";
  compute: { module: ShaderModuleLike; entryPoint: string };
}

export interface ComputePassLike {
  setPipeline(pipeline: ComputePipelineLike): void;
  setBindGroup(index: number, group: BindGroupLike): void;
  dispatchWorkgroups(x: number, y?: number): void;
  end(): void;
}

export interface CommandEncoderLike {
  beginComputePass(): ComputePassLike;
  clearBuffer(buffer: GpuBufferLike, offset?: number, size?: number): void;
  copyBufferToBuffer(
    source: GpuBufferLike,
    sourceOffset: number,
    destination: GpuBufferLike,
    destinationOffset: number,
    size: number,
  ): void;
  finish(): CommandBufferLike;
}

export interface QueueLike {
  submit(buffers: CommandBufferLike[]): void;
  writeBuffer(
    buffer: GpuBufferLike,
    bufferOffset: number,
    data: ArrayBuffer,
    dataOffset?: number,
    size?: number,
  ): void;
}

export interface GpuErrorLike {
  readonly message: string;
}

export interface GpuLimits {
  readonly maxBufferSize: number;
  readonly maxStorageBufferBindingSize: number;
}

export interface GpuDeviceLike {
  readonly limits: GpuLimits;
  readonly queue: QueueLike;
  readonly lost: Promise<{ readonly message: string; readonly reason: string }>;
  createBuffer(descriptor: { size: number; usage: number; label?: string }): GpuBufferLike;
  createShaderModule(descriptor: { code: string; label?: string }): ShaderModuleLike;
  createComputePipeline(descriptor: ComputePipelineDescriptor): ComputePipelineLike;
  createComputePipelineAsync(descriptor: ComputePipelineDescriptor): Promise<ComputePipelineLike>;
  createBindGroup(descriptor: {
    layout: BindGroupLayoutLike;
    entries: {
      binding: number;
      resource: { buffer: GpuBufferLike; offset?: number; size?: number };
    }[];
  }): BindGroupLike;
  createCommandEncoder(): CommandEncoderLike;
  pushErrorScope(filter: "validation" | "out-of-memory" | "internal"): void;
  popErrorScope(): Promise<GpuErrorLike | null>;
  destroy(): void;
}

/** The usage flags of a buffer (WebGPU, section 5.1.2). */
export const BUFFER_USAGE = {
  MAP_READ: 0x1,
  COPY_SRC: 0x4,
  COPY_DST: 0x8,
  UNIFORM: 0x40,
  STORAGE: 0x80,
} as const;

export const MAP_MODE_READ = 1;

/** The type `GPUBuffer`. */
export type GpuBuffer = Known<"GPUBuffer", GpuBufferLike>;

/** The type `GPUDevice`. */
export type GpuDevice = Known<"GPUDevice", GpuDeviceLike>;
