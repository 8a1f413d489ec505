/**
 * A block of WebAssembly memory, with views of it, that calls use one at a time. Allocating and freeing memory takes
 * 0.2 µs, creating a view takes 40 ns, and a call with 256 updates would need five of each.
 */

import type { NumericStorage } from "../../tensor/dtype.ts";

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
