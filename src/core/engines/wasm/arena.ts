/** The scratch memory of one call, all of which is freed when the call ends. */

import type { NumericStorage } from "../../tensor/dtype.ts";
import { MEMORY, OPEN } from "../../resources.ts";
import { clear } from "../../tensor/storage.ts";
import { ALIGNMENT, viewLike, type Block, type KernelMemory } from "./kernel-memory.ts";

export class Arena {
  readonly memory: KernelMemory;
  /** The memory's shared block; null if another call is using the block. */
  #block: Block | null | undefined;
  #taken = 0;
  /** Addresses of allocations that did not fit in the block. */
  readonly #pointers: number[] = [];

  constructor(memory: KernelMemory) {
    this.memory = memory;
    memory.setLimits();
  }

  /**
   * Allocates memory with arbitrary contents, and returns its address.
   * @throws TensorError `too-large`
   */
  allocate(bytes: number): number {
    if (this.#block === undefined) {
      this.#block = this.memory.lendBlock();
      if (this.#block !== null) OPEN.scratch++;
    }
    const begin = this.#taken;
    if (this.#block !== null && begin + bytes <= this.#block.bytes) {
      this.#taken = Math.ceil((begin + bytes) / ALIGNMENT) * ALIGNMENT;
      return this.#block.pointer + begin;
    }
    const pointer = this.memory.allocate(bytes);
    this.#pointers.push(pointer);
    OPEN.scratch++;
    return pointer;
  }

  /**
   * Returns the address of an array that is in this memory; copies any other array, and returns the address of the
   * copy.
   */
  addressOf(array: NumericStorage): number {
    if (this.memory.has(array)) return array.byteOffset;
    const { byteLength } = array;
    const pointer = this.allocate(byteLength);
    this.copyIn(array, 0, byteLength, pointer);
    return pointer;
  }

  /** Copies `length` bytes of an array, from its byte `begin` on, or zeros to an address of this arena. */
  copyIn(array: NumericStorage | null, begin: number, length: number, pointer: number): void {
    if (!array) return clear(this.memory.bytesAt(pointer, length));
    const { byteLength, BYTES_PER_ELEMENT: bytes } = array;
    const isWhole = length === byteLength;
    const from = isWhole ? array : array.subarray(begin / bytes, (begin + length) / bytes);
    const block = this.#blockAt(pointer);
    if (block === null) viewLike(array, this.memory.buffer, pointer, length).set(from as never);
    else block.like(array).set(from as never, (pointer - block.pointer) / bytes);
  }

  /** Copies `length` bytes at an address in this arena to an array, starting at byte `begin`. */
  copyOut(pointer: number, length: number, array: NumericStorage, begin: number): void {
    const { BYTES_PER_ELEMENT: bytes } = array;
    const block = this.#blockAt(pointer);
    const first = (pointer - (block?.pointer ?? 0)) / bytes;
    const from =
      block === null
        ? viewLike(array, this.memory.buffer, pointer, length)
        : block.like(array).subarray(first, first + length / bytes);
    array.set(from as never, begin / bytes);
  }

  /** Returns the block if it contains an address; returns null otherwise. */
  #blockAt(pointer: number): Block | null {
    const block = this.#block;
    return block && pointer >= block.pointer && pointer < block.pointer + block.bytes
      ? block
      : null;
  }

  /**
   * Keeps an allocation of this arena until `owner` is garbage-collected. Returns the address, which changes if the
   * allocation was in the block.
   */
  leave(pointer: number, bytes: number, owner: object): number {
    const position = this.#pointers.indexOf(pointer);
    const { memory } = this;
    const address = position === -1 ? memory.allocate(bytes) : pointer;
    if (position === -1) memory.bytesAt(address, bytes).set(memory.bytesAt(pointer, bytes));
    else {
      this.#pointers.splice(position, 1);
      OPEN.scratch--;
    }
    memory.freeWith(owner, address);
    return address;
  }

  release(): void {
    const block = this.#block;
    if (block) {
      MEMORY.onRelease?.(this.memory.bytesAt(block.pointer, this.#taken));
      block.isLent = false;
      OPEN.scratch--;
    }
    this.#block = undefined;
    this.#taken = 0;
    if (this.#pointers.length === 0) return;
    OPEN.scratch -= this.#pointers.length;
    for (const pointer of this.#pointers.splice(0)) this.memory.free(pointer);
  }
}
