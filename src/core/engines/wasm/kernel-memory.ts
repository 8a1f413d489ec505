/** A WebAssembly memory, with its allocator and the kernels that work on it. */

import { hasCode, TensorError } from "../../errors.ts";
import { KERNELS, SCRATCH } from "../../limits.ts";
import { MEMORY } from "../../resources.ts";
import type { NumericStorage } from "../../tensor/dtype.ts";
import {
  exportsOf,
  Kernels,
  webAssembly,
  type Kernel,
  type KernelSource,
  type WasmMemory,
} from "./kernels.ts";

export const PAGE = 2 ** 16;

/**
 * Returns a compiled module for a shared or an unshared memory, from a cache if possible. If `source` is absent, the
 * module has the kernels for scatters and gathers.
 */
type KernelModule = (isShared: boolean, source?: KernelSource) => object;

/** Slices of each batch, described by their offsets. */
export interface Slices {
  /** Address of the offsets in memory. */
  readonly offsets: number;
  readonly slice: number;
  readonly count: number;
  /** Number such that two positions share a target only if they are equal modulo `lanes`, as in a Plan. */
  readonly lanes: number;
}

/** Position and form of a Plan's offsets in memory. */
export interface Layout {
  /** Slices to work on, which are fewer and longer if runs were merged. Merged runs may partly overlap. */
  readonly slices: Slices;
  /**
   * Slices of the Plan before merging, any two of which are equal or disjoint; null unless `slices` may partly
   * overlap.
   */
  readonly unmerged: Slices | null;
}

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
    this.#limits = this.wordsAt(0, 5);
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
    return (this.#kernels ??= new Kernels(this.module(), this.memory));
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

  /** Runs the kernel with the given name. */
  call(name: string, a: number, b: number, c: number, d = 0, e = 0): number {
    const kernels = this.kernels();
    return kernels.all[kernels.find(name)](a, b, c, d, e) ?? 0;
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

/** Returns the result of `action`, or null if memory is too small and JavaScript must do the work. */
export function attempt<T>(action: () => T): T | null {
  try {
    return action();
  } catch (error) {
    if (hasCode(error, "too-large")) return null;
    throw error;
  }
}

/**
 * Memory, with views of it, that calls use one at a time. Allocating and freeing memory takes 0.2 µs, creating a view
 * takes 40 ns, and a call with 256 updates would need five of each.
 */
export class Block {
  readonly pointer: number;
  readonly bytes: number;
  /** True while a call is using the block. */
  isLent = false;
  readonly #buffer: ArrayBufferLike;
  readonly #views = new Map<unknown, NumericStorage>();

  constructor(buffer: ArrayBufferLike, pointer: number, bytes: number) {
    this.#buffer = buffer;
    this.pointer = pointer;
    this.bytes = bytes;
  }

  /** Returns a view of the whole block with an array's class. */
  like(array: NumericStorage): NumericStorage {
    const known = this.#views.get(array.constructor);
    if (known !== undefined) return known;
    const view = viewLike(array, this.#buffer, this.pointer, this.bytes);
    this.#views.set(array.constructor, view);
    return view;
  }
}

/** Creates a view of memory with an array's class, which must be the plain class of its data type. */
export const viewLike = (
  array: NumericStorage,
  buffer: ArrayBufferLike,
  pointer: number,
  bytes: number,
): NumericStorage =>
  Reflect.construct(array.constructor, [buffer, pointer, bytes / array.BYTES_PER_ELEMENT]);

/** Alignment of allocations, in bytes: a cache line, which suffices for every vector and element. */
export const ALIGNMENT = 64;

interface Range {
  readonly pointer: number;
  readonly bytes: number;
}

/**
 * Allocates ranges of a memory, which it does not access. The algorithm is first fit, over a list of free ranges sorted
 * by address, because an engine has only a handful of ranges at a time.
 */
export class Allocator {
  /** Free ranges, sorted by address; no two ranges are adjacent. */
  readonly #free: Range[];
  readonly #taken = new Map<number, number>();

  /**
   * Creates an allocator.
   * @param bytes the size of the memory
   */
  constructor(bytes: number) {
    // Address 0 is never allocated, so that no pointer is 0. The end is never allocated, so that no kernel counts past
    // 2^32.
    this.#free = [{ pointer: ALIGNMENT, bytes: bytes - 2 * ALIGNMENT }];
  }

  /** Number of allocated bytes, including alignment. */
  get taken(): number {
    let sum = 0;
    for (const bytes of this.#taken.values()) sum += bytes;
    return sum;
  }

  /**
   * Allocates memory with arbitrary contents, and returns its address.
   * @throws TensorError `too-large`
   */
  allocate(bytes: number): number {
    const needed = Math.max(Math.ceil(bytes / ALIGNMENT), 1) * ALIGNMENT;
    const position = this.#free.findIndex((range) => range.bytes >= needed);
    if (position === -1) {
      throw new TensorError("too-large", `the engine's memory does not have ${bytes} free bytes`, {
        got: bytes,
      });
    }
    const { pointer, bytes: found } = this.#free[position];
    const rest = found > needed ? [{ pointer: pointer + needed, bytes: found - needed }] : [];
    this.#free.splice(position, 1, ...rest);
    this.#taken.set(pointer, needed);
    return pointer;
  }

  /**
   * Frees memory that `allocate` returned, exactly once, and returns the number of bytes freed, including alignment.
   */
  free(pointer: number): number {
    const bytes = this.#taken.get(pointer);
    // A second call would free the range of the next owner of the address.
    if (bytes === undefined) throw new Error(`address ${pointer} is not allocated`);
    this.#taken.delete(pointer);
    const after = this.#free.findIndex((range) => range.pointer > pointer);
    const position = after === -1 ? this.#free.length : after;
    this.#free.splice(position, 0, { pointer, bytes });
    this.#merge(position);
    this.#merge(position - 1);
    return bytes;
  }

  /** Merges two adjacent ranges into one. */
  #merge(position: number): void {
    const [a, b] = [this.#free[position], this.#free[position + 1]];
    if (a === undefined || b === undefined || a.pointer + a.bytes !== b.pointer) return;
    this.#free.splice(position, 2, { pointer: a.pointer, bytes: a.bytes + b.bytes });
  }
}
