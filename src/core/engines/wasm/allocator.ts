/**
 * Allocates ranges of a WebAssembly memory: first fit over a list of free blocks sorted by address, because an engine
 * holds a handful of blocks at a time. The allocator knows addresses only, not the memory.
 */

import { TensorError } from "../../errors.ts";

/** A cache line; enough for every vector and element. */
export const ALIGNMENT = 64;

interface Block {
  readonly pointer: number;
  readonly bytes: number;
}

export class Allocator {
  /** Free blocks by address; no two of them are adjacent. */
  readonly #free: Block[];
  readonly #taken = new Map<number, number>();

  /** @param bytes the size of the memory */
  constructor(bytes: number) {
    // Address 0 stays unused, so that no pointer is 0, and so does the end, so that no kernel counts past 2^32.
    this.#free = [{ pointer: ALIGNMENT, bytes: bytes - 2 * ALIGNMENT }];
  }

  /** Bytes taken, including alignment. */
  get taken(): number {
    let sum = 0;
    for (const bytes of this.#taken.values()) sum += bytes;
    return sum;
  }

  /**
   * The address of that many bytes, with arbitrary contents.
   * @throws TensorError `too-large`
   */
  allocate(bytes: number): number {
    const needed = Math.max(Math.ceil(bytes / ALIGNMENT), 1) * ALIGNMENT;
    const position = this.#free.findIndex((block) => block.bytes >= needed);
    if (position === -1) {
      throw new TensorError("too-large", `an engine's memory has no ${bytes} bytes left`);
    }
    const { pointer, bytes: found } = this.#free[position];
    const rest = found > needed ? [{ pointer: pointer + needed, bytes: found - needed }] : [];
    this.#free.splice(position, 1, ...rest);
    this.#taken.set(pointer, needed);
    return pointer;
  }

  /**
   * Takes back what {@link allocate} gave, once.
   * @returns the number of bytes freed, including alignment
   */
  free(pointer: number): number {
    const bytes = this.#taken.get(pointer);
    // Freeing twice would free the next owner's block at the same address.
    if (bytes === undefined) throw new Error(`address ${pointer} is not allocated`);
    this.#taken.delete(pointer);
    const after = this.#free.findIndex((block) => block.pointer > pointer);
    const position = after === -1 ? this.#free.length : after;
    this.#free.splice(position, 0, { pointer, bytes });
    this.#merge(position);
    this.#merge(position - 1);
    return bytes;
  }

  /** Makes one block of two that are adjacent. */
  #merge(position: number): void {
    const [a, b] = [this.#free[position], this.#free[position + 1]];
    if (a === undefined || b === undefined || a.pointer + a.bytes !== b.pointer) return;
    this.#free.splice(position, 2, { pointer: a.pointer, bytes: a.bytes + b.bytes });
  }
}
