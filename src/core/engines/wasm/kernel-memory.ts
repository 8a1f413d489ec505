/** A WebAssembly memory with its allocator and the kernels over it. */

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
 * Compiles kernels, or gives those that were compiled before, for memories that are shared or that are not. Without a
 * source they are those of scatters and gathers.
 */
export type KernelModule = (isShared: boolean, source?: KernelSource) => object;

export class KernelMemory {
  readonly memory: WasmMemory;
  readonly isShared: boolean;
  /** Kept because in V8 `memory.buffer` is another object after any shared memory of the program has grown. */
  readonly buffer: ArrayBuffer | SharedArrayBuffer;
  /**
   * The layouts of kept Plans, whose offsets stay in this memory as long as the Plan exists; null after the Plan's
   * first call.
   */
  readonly kept = new WeakMap<Uint32Array, Layout | null>();
  readonly #module: KernelModule;
  readonly #allocator: Allocator;
  readonly #dropped = new FinalizationRegistry<number>((pointer) => this.free(pointer));
  #kernels: Kernels | undefined;
  readonly #extensions = new Map<KernelSource, Readonly<Record<string, Kernel>>>();
  #block: Block;
  /**
   * The words from which the kernels read their limits, in the first cache line of the memory, which is never allocated.
   */
  readonly #limits: Uint32Array;
  /** The offsets that a kernel has written last, which {@link has} knows. */
  lastOffsets: Uint32Array | undefined;

  /**
   * @param pages pages of address space to ask for
   * @throws the platform's own error if it gives no address space or, for a shared memory, no SharedArrayBuffer
   */
  constructor(module: KernelModule, isShared: boolean, pages: number) {
    this.#module = module;
    this.isShared = isShared;
    this.memory = largestMemory(isShared, pages);
    this.buffer = this.memory.buffer;
    this.#allocator = new Allocator(this.buffer.byteLength);
    this.#limits = this.wordsAt(0, 5);
    this.setLimits();
    this.#block = this.#newBlock();
  }

  /** Writes the limits into the memory before a call. Kernels of all threads read them there. */
  setLimits(): void {
    const limits = this.#limits;
    // In the order of assembly/limits.ts.
    limits[0] = KERNELS.ahead;
    limits[1] = KERNELS.far;
    limits[2] = KERNELS.long;
    limits[3] = KERNELS.prefetched;
    limits[4] = KERNELS.narrow;
  }

  #newBlock(): Block {
    const bytes = SCRATCH.block;
    return new Block(this.buffer, this.allocate(bytes), bytes);
  }

  /** The compiled module, for workers, which instantiate it over this memory themselves. */
  module(): object {
    return this.#module(this.isShared);
  }

  /** Compiles and instantiates the kernels when they are first needed. */
  kernels(): Kernels {
    return (this.#kernels ??= instantiateKernels(this.module(), this.memory));
  }

  /** The kernels of another module, instantiated when they are first needed. */
  extension(source: KernelSource): Readonly<Record<string, Kernel>> {
    let kernels = this.#extensions.get(source);
    if (kernels === undefined) {
      kernels = exportsOf(this.#module(this.isShared, source), this.memory);
      this.#extensions.set(source, kernels);
    }
    return kernels;
  }

  /** Runs a kernel, given by its position. */
  call(kernel: number, a: number, b: number, c: number, d = 0): number {
    return this.kernels().all[kernel](a, b, c, d) ?? 0;
  }

  /** Bytes taken, not counting the block, which is always taken. */
  get taken(): number {
    return this.#allocator.taken - this.#block.bytes;
  }

  /**
   * The address of that many bytes, with arbitrary contents.
   * @throws TensorError `too-large`
   */
  allocate(bytes: number): number {
    return this.#allocator.allocate(bytes);
  }

  free(pointer: number): void {
    const bytes = this.#allocator.free(pointer);
    MEMORY.onRelease?.(this.bytesAt(pointer, bytes));
  }

  /** The block of this memory, until its `isLent` is false again; null while another call has it. */
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

  /** Frees the allocation at an address when `owner` is garbage. A pending call keeps `owner` alive. */
  freeWith(owner: object, pointer: number): void {
    this.#dropped.register(owner, pointer);
  }

  /**
   * True if an array is known to live in this memory; its `byteOffset` is then its address. In memory that is not
   * shared only `lastOffsets` is known: no tensor lives there, and reading an array's buffer takes 30 ns.
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
 * A memory of that many pages, or half as many, and so on, until the platform agrees. Creating one takes 0.1 ms, and
 * only pages that are written cost memory. The memory never grows, because every view would need the new buffer. The
 * maximum equals the initial size, because some platforms reserve the maximum.
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
