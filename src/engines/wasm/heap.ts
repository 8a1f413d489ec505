/**
 * The memory of a WebAssembly engine, and who has which part of it. First fit over a sorted list of free blocks: an
 * engine holds a handful of blocks at a time.
 */

import { TensorError } from "../../errors.ts";
import { webAssembly, type WasmMemory } from "./web-assembly.ts";

const PAGE = 2 ** 16;
/** 4 GiB, all that 32-bit addresses reach. */
const MOST_PAGES = 2 ** 16;
/** A cache line; also enough for every vector and element. */
const ALIGNMENT = 64;

interface Block {
  readonly pointer: number;
  readonly bytes: number;
}

export class Heap {
  readonly memory: WasmMemory;
  /** Whether it is backed by a SharedArrayBuffer; then views stay valid when it grows. */
  readonly isShared: boolean;
  /** Free blocks by address; no two of them touch. */
  #free: Block[] = [];
  readonly #taken = new Map<number, number>();
  /** The buffers that the memory has had: growing makes a new one over the same bytes. */
  readonly #buffers = new WeakSet<ArrayBufferLike>();

  constructor(isShared = typeof SharedArrayBuffer === "function") {
    this.isShared = isShared;
    const { Memory } = webAssembly();
    this.memory = new Memory({
      initial: 1,
      maximum: MOST_PAGES,
      shared: this.isShared,
    });
    // Address 0 is left alone, so that no pointer is 0.
    this.#free.push({ pointer: ALIGNMENT, bytes: PAGE - ALIGNMENT });
    this.#buffers.add(this.memory.buffer);
  }

  /**
   * The address of that many bytes, with arbitrary contents.
   * @throws TensorError `too-large`
   */
  take(bytes: number): number {
    const needed = Math.max(Math.ceil(bytes / ALIGNMENT), 1) * ALIGNMENT;
    let position = this.#free.findIndex((block) => block.bytes >= needed);
    if (position === -1) {
      this.#grow(needed);
      position = this.#free.length - 1;
    }
    const { pointer, bytes: found } = this.#free[position];
    const rest = found > needed ? [{ pointer: pointer + needed, bytes: found - needed }] : [];
    this.#free.splice(position, 1, ...rest);
    this.#taken.set(pointer, needed);
    return pointer;
  }

  /** Takes back what {@link take} gave; anything else is left alone. */
  give(pointer: number): void {
    const bytes = this.#taken.get(pointer);
    if (bytes === undefined) return;
    this.#taken.delete(pointer);
    const after = this.#free.findIndex((block) => block.pointer > pointer);
    const position = after === -1 ? this.#free.length : after;
    this.#free.splice(position, 0, { pointer, bytes });
    this.#merge(position);
    this.#merge(position - 1);
  }

  /** The elements at an address. */
  view<T>(
    view: new (buffer: ArrayBuffer, offset: number, length: number) => T,
    pointer: number,
    length: number,
  ): T {
    return new view(this.memory.buffer as ArrayBuffer, pointer, length);
  }

  /** Whether an array lives here; its `byteOffset` is its address then. */
  has(data: ArrayBufferView): boolean {
    return this.#buffers.has(data.buffer);
  }

  /** Makes the last free block one that is large enough. */
  #grow(needed: number): void {
    const end = this.memory.buffer.byteLength;
    const last = this.#free[this.#free.length - 1];
    const reaches = last !== undefined && last.pointer + last.bytes === end;
    const missing = needed - (reaches ? last.bytes : 0);
    try {
      this.memory.grow(Math.ceil(missing / PAGE));
    } catch (cause) {
      throw new TensorError(
        "too-large",
        `an engine's memory does not hold ${needed} bytes more`,
        {},
        { cause },
      );
    }
    this.#buffers.add(this.memory.buffer);
    this.#free.push({ pointer: end, bytes: this.memory.buffer.byteLength - end });
    this.#merge(this.#free.length - 2);
  }

  /** Makes one block of two that touch. */
  #merge(position: number): void {
    const [a, b] = [this.#free[position], this.#free[position + 1]];
    if (a === undefined || b === undefined || a.pointer + a.bytes !== b.pointer) return;
    this.#free.splice(position, 2, { pointer: a.pointer, bytes: a.bytes + b.bytes });
  }
}
