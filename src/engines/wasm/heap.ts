/**
 * The memory of a WebAssembly engine, and who has which part of it. First fit over a list of free blocks by address:
 * an engine holds a handful of blocks at a time.
 *
 * It never grows, because growing gives every view another buffer. Address space is asked for at once, as much as
 * 32-bit addresses reach; it costs 0.1 ms, and memory only where it is written.
 */

import { TensorError } from "../../errors.ts";
import { webAssembly, type WasmMemory } from "./web-assembly.ts";

/** 4 GiB. */
const MOST_PAGES = 2 ** 16;
/** 16 MiB: with less there is no point. */
const LEAST_PAGES = 2 ** 8;
/** A cache line; enough for every vector and element. */
const ALIGNMENT = 64;

interface Block {
  readonly pointer: number;
  readonly bytes: number;
}

export class Heap {
  readonly memory: WasmMemory;
  readonly isShared: boolean;
  /** Free blocks by address; no two of them touch. */
  readonly #free: Block[];
  readonly #taken = new Map<number, number>();

  constructor(isShared = typeof SharedArrayBuffer === "function") {
    this.isShared = isShared;
    this.memory = largestMemory(isShared);
    // Address 0 is left alone, so that no pointer is 0; and the end, so that no kernel counts past 2^32.
    const bytes = this.memory.buffer.byteLength - 2 * ALIGNMENT;
    this.#free = [{ pointer: ALIGNMENT, bytes }];
  }

  /**
   * The address of that many bytes, with arbitrary contents.
   * @throws TensorError `too-large`
   */
  take(bytes: number): number {
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

  bytesAt(pointer: number, length: number): Uint8Array {
    return new Uint8Array(this.memory.buffer, pointer, length);
  }

  /** Whether an array lives here; its `byteOffset` is its address then. */
  has(data: ArrayBufferView): boolean {
    return data.buffer === this.memory.buffer;
  }

  /** Makes one block of two that touch. */
  #merge(position: number): void {
    const [a, b] = [this.#free[position], this.#free[position + 1]];
    if (a === undefined || b === undefined || a.pointer + a.bytes !== b.pointer) return;
    this.#free.splice(position, 2, { pointer: a.pointer, bytes: a.bytes + b.bytes });
  }
}

/** As much address space as the platform gives: 4 GiB, or half of it, and so on. */
function largestMemory(shared: boolean): WasmMemory {
  const { Memory } = webAssembly();
  for (let pages = MOST_PAGES; pages > LEAST_PAGES; pages /= 2) {
    try {
      return new Memory({ initial: pages, maximum: MOST_PAGES, shared });
    } catch {
      // Half of it may be there.
    }
  }
  return new Memory({ initial: LEAST_PAGES, maximum: MOST_PAGES, shared });
}
