/** A WebAssembly memory, with its allocator and the kernels that work on it. */

import { Allocator } from "./allocator.ts";
import { KERNELS, SCRATCH } from "../../limits.ts";
import { MEMORY } from "../../resources.ts";
import { Block } from "./block.ts";
import {
  exportsOf,
  instantiateKernels,
  type Kernel,
  type Kernels,
  type KernelSource,
} from "./kernels.ts";
import type { Layout } from "./layout.ts";
import { webAssembly, type WasmMemory } from "./web-assembly.ts";

export const PAGE = 2 ** 16;

/**
 * Returns a compiled module for a shared or an unshared memory, from a cache if possible. If `source` is absent, the
 * module has the kernels for scatters and gathers.
 */
export type KernelModule = (isShared: boolean, source?: KernelSource) => object;

export class KernelMemory {
  readonly memory: WasmMemory;
  readonly isShared: boolean;
  /** Cached, because in V8 `memory.buffer` becomes a different object after any shared memory in the program grows. */
  readonly buffer: ArrayBuffer | SharedArrayBuffer;
  /**
   * Layouts of kept Plans, whose offsets stay in this memory while the Plan exists; null after the Plan's first call.
   */
  readonly kept: WeakMap<Uint32Array, Layout | null> = new WeakMap();
  readonly #module: KernelModule;
  readonly #allocator: Allocator;
  readonly #dropped = new FinalizationRegistry<number>((pointer) => this.free(pointer));
  #kernels: Kernels | undefined;
  readonly #extensions = new Map<KernelSource, Readonly<Record<string, Kernel>>>();
  #block: Block;
  /** Words from which kernels read their limits, in the first cache line of the memory, which is never allocated. */
  readonly #limits: Uint32Array;
  /** Offsets that a kernel wrote last, which `has` recognizes. */
  lastOffsets: Uint32Array | undefined;

  /**
   * Creates a memory.
   * @param pages the number of pages of address space to request
   * @throws the platform's own error if it refuses address space or, for a shared memory, a SharedArrayBuffer
   */
  constructor(module: KernelModule, isShared: boolean, pages: number) {
    this.#module = module;
    this.isShared = isShared;
    this.memory = largestMemory(isShared, pages);
    this.buffer = this.memory.buffer;
    this.#allocator = new Allocator(this.buffer.byteLength);
    this.#limits = this.wordsAt(0, 6);
    this.setLimits();
    this.#block = this.#newBlock();
  }

  /** Writes the limits into the memory before a call, for the kernels of all threads. */
  setLimits(): void {
    const limits = this.#limits;
    // The order of the limits must match assembly/limits.ts.
    limits[0] = KERNELS.ahead;
    limits[1] = KERNELS.far;
    limits[2] = KERNELS.long;
    limits[3] = KERNELS.prefetched;
    limits[4] = KERNELS.narrow;
    limits[5] = KERNELS.distant;
  }

  #newBlock(): Block {
    const bytes = SCRATCH.block;
    return new Block(this.buffer, this.allocate(bytes), bytes);
  }

  /** Returns the compiled module for workers, which instantiate it with this memory. */
  module(): object {
    return this.#module(this.isShared);
  }

  /** Returns the kernels, which are compiled and instantiated when first needed. */
  kernels(): Kernels {
    return (this.#kernels ??= instantiateKernels(this.module(), this.memory));
  }

  /** Returns the kernels of another module, which is instantiated when first needed. */
  extension(source: KernelSource): Readonly<Record<string, Kernel>> {
    let kernels = this.#extensions.get(source);
    if (kernels === undefined) {
      kernels = exportsOf(this.#module(this.isShared, source), this.memory);
      this.#extensions.set(source, kernels);
    }
    return kernels;
  }

  /** Runs the kernel at a position among the exports. */
  call(kernel: number, a: number, b: number, c: number, d = 0): number {
    return this.kernels().all[kernel](a, b, c, d) ?? 0;
  }

  /** Number of allocated bytes, excluding the block, which is always allocated. */
  get taken(): number {
    return this.#allocator.taken - this.#block.bytes;
  }

  /**
   * Allocates memory with arbitrary contents, and returns its address.
   * @throws TensorError `too-large`
   */
  allocate(bytes: number): number {
    return this.#allocator.allocate(bytes);
  }

  free(pointer: number): void {
    const bytes = this.#allocator.free(pointer);
    MEMORY.onRelease?.(this.bytesAt(pointer, bytes));
  }

  /**
   * Returns this memory's block for use until its `isLent` is set to false; returns null while another call is using
   * the block.
   */
  lendBlock(): Block | null {
    if (this.#block.isLent) return null;
    if (this.#block.bytes !== SCRATCH.block) {
      const { pointer } = this.#block;
      this.#block = this.#newBlock();
      this.free(pointer);
    }
    this.#block.isLent = true;
    return this.#block;
  }

  /** Frees the allocation at an address when `owner` is garbage-collected. A pending call keeps `owner` alive. */
  freeWith(owner: object, pointer: number): void {
    this.#dropped.register(owner, pointer);
  }

  /**
   * Returns true if an array is known to be in this memory; its `byteOffset` is then its address. Unshared memory holds
   * no tensors, so only `lastOffsets` is recognized there, because reading an array's buffer takes 30 ns.
   */
  has(array: ArrayBufferView): boolean {
    return this.isShared ? array.buffer === this.buffer : array === this.lastOffsets;
  }

  bytesAt(pointer: number, length: number): Uint8Array {
    return new Uint8Array(this.buffer, pointer, length);
  }

  wordsAt(pointer: number, length: number): Uint32Array {
    return new Uint32Array(this.buffer, pointer, length);
  }
}

/**
 * Creates a memory with the given number of pages, or half as many, and so on, until the platform accepts. Creating a
 * memory takes 0.1 ms, and only written pages use memory. The memory never grows, because every view would need the new
 * buffer. The maximum size equals the initial size, because some platforms reserve the maximum.
 */
function largestMemory(shared: boolean, most: number): WasmMemory {
  const { Memory } = webAssembly();
  for (let pages = most; ; pages = Math.floor(pages / 2)) {
    try {
      return new Memory({ initial: pages, maximum: pages, shared });
    } catch (error) {
      if (pages <= SCRATCH.leastPages) throw error;
    }
  }
}
