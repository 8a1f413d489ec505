/** Memory that is used again, chunk after chunk. Calls may overlap in time, so there may be several buffers of one size. */

import { TensorError } from "../errors.ts";

/** Buffers that are kept. */
const MOST_KEPT = 2;

export class Buffers {
  readonly #free: Uint8Array[] = [];

  /** Runs `action` with a buffer of `size` bytes, which hold anything. @throws TensorError `too-large` */
  async use<T>(size: number, action: (buffer: Uint8Array) => Promise<T>): Promise<T> {
    const at = this.#free.findIndex(({ length }) => length === size);
    const buffer = at === -1 ? newBytes(size) : this.#free.splice(at, 1)[0];
    try {
      return await action(buffer);
    } finally {
      this.#free.push(buffer);
      if (this.#free.length > MOST_KEPT) this.#free.shift();
    }
  }
}

/** New memory. @throws TensorError `too-large` */
export function newBytes(size: number): Uint8Array {
  try {
    return new Uint8Array(size);
  } catch (cause) {
    const sentence = `${size} bytes of a chunk do not fit in memory; an array with smaller chunks does`;
    throw new TensorError("too-large", sentence, {}, { cause });
  }
}
