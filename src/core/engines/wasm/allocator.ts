/**
 * Allocates ranges of a WebAssembly memory. The algorithm is first fit, over a list of free blocks sorted by address,
 * because an engine has only a handful of blocks at a time. The allocator handles only addresses and does not access
 * the memory.
 */

import { TensorError } from "../../errors.ts";

/** Alignment of allocations, in bytes: a cache line, which suffices for every vector and element. */
export const ALIGNMENT = 64;

interface Block {
  readonly pointer: number;
  readonly bytes: number;
}

export class Allocator {
  /** Free blocks, sorted by address; no two blocks are adjacent. */
  readonly #free: Block[];
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
    const position = this.#free.findIndex((block) => block.bytes >= needed);
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
    // A second call would free the block of the next owner of the address.
    if (bytes === undefined) throw new Error(`address ${pointer} is not allocated`);
    this.#taken.delete(pointer);
    const after = this.#free.findIndex((block) => block.pointer > pointer);
    const position = after === -1 ? this.#free.length : after;
    this.#free.splice(position, 0, { pointer, bytes });
    this.#merge(position);
    this.#merge(position - 1);
    return bytes;
  }

  /** Merges two adjacent blocks into one. */
  #merge(position: number): void {
    const [a, b] = [this.#free[position], this.#free[position + 1]];
    if (a === undefined || b === undefined || a.pointer + a.bytes !== b.pointer) return;
    this.#free.splice(position, 2, { pointer: a.pointer, bytes: a.bytes + b.bytes });
  }
}
