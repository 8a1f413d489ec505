/** The scratch memory of one call: everything is freed together when the call ends. */

import type { NumericStorage } from "../../tensor/dtype.ts";
import { ALIGNMENT } from "./allocator.ts";
import { MEMORY, OPEN } from "../../resources.ts";
import { clear } from "../../tensor/storage.ts";
import { viewLike, type Block } from "./block.ts";
import type { KernelMemory } from "./kernel-memory.ts";

export class Arena {
  readonly memory: KernelMemory;
  /** The block of the memory, and the bytes taken from it; null if another call has the block. */
  #block: Block | null | undefined;
  #taken = 0;
  /** Addresses of allocations that did not fit into the block. */
  readonly #pointers: number[] = [];

  constructor(memory: KernelMemory) {
    this.memory = memory;
    memory.setLimits();
  }

  /**
   * The address of that many bytes, with arbitrary contents.
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

  /** The address of a copy of an array, or of the array itself where it lives in this memory. */
  addressOf(array: NumericStorage): number {
    if (this.memory.has(array)) return array.byteOffset;
    const { byteLength } = array;
    const pointer = this.allocate(byteLength);
    this.copyIn(array, 0, byteLength, pointer);
    return pointer;
  }

  /** Copies `length` bytes of an array, from its byte `begin` on, or zeros to an address of this arena. */
  copyIn(array: NumericStorage | null, begin: number, length: number, pointer: number): void {
    if (array === null) return clear(this.memory.bytesAt(pointer, length));
    const { byteLength, BYTES_PER_ELEMENT: bytes } = array;
    const isWhole = length === byteLength;
    const from = isWhole ? array : array.subarray(begin / bytes, (begin + length) / bytes);
    const block = this.#blockAt(pointer);
    if (block === null) viewLike(array, this.memory.buffer, pointer, length).set(from as never);
    else block.like(array).set(from as never, (pointer - block.pointer) / bytes);
  }

  /** Copies `length` bytes at an address of this arena to an array, from its byte `begin` on. */
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

  /** The block, where an address is in it. */
  #blockAt(pointer: number): Block | null {
    const block = this.#block;
    return block && pointer >= block.pointer && pointer < block.pointer + block.bytes
      ? block
      : null;
  }

  /**
   * Keeps an allocation of this arena in memory until `owner` is garbage.
   * @returns its address, which changes if the allocation was in the block
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
