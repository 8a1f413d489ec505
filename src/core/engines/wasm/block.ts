/**
 * A block of a WebAssembly memory that calls use in turn, with views of it. Allocating and freeing memory takes 0.2 µs
 * and making a view 40 ns, and a call of 256 updates would need five of each.
 */

import type { NumericStorage } from "../../tensor/dtype.ts";

export class Block {
  readonly pointer: number;
  readonly bytes: number;
  /** True while a call has the block. */
  isLent = false;
  readonly #buffer: ArrayBufferLike;
  readonly #views = new Map<unknown, NumericStorage>();

  constructor(buffer: ArrayBufferLike, pointer: number, bytes: number) {
    this.#buffer = buffer;
    this.pointer = pointer;
    this.bytes = bytes;
  }

  /** All of it as elements of an array's class. */
  like(array: NumericStorage): NumericStorage {
    const known = this.#views.get(array.constructor);
    if (known !== undefined) return known;
    const view = viewLike(array, this.#buffer, this.pointer, this.bytes);
    this.#views.set(array.constructor, view);
    return view;
  }
}

/** A view of memory of an array's class, which is the plain one of its data type. */
export const viewLike = (
  array: NumericStorage,
  buffer: ArrayBufferLike,
  pointer: number,
  bytes: number,
): NumericStorage =>
  Reflect.construct(array.constructor, [buffer, pointer, bytes / array.BYTES_PER_ELEMENT]);
