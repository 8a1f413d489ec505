/**
 * Manages memory for chunks. The memory of small buffers is reused. Large buffers are freed explicitly, because the
 * garbage collector reacts slowly to memory outside its heap. Without this measure, jobs with a limit of 512 MB took up
 * to 1,058 MB.
 */

import { TensorError } from "../../../core/errors.ts";
import { ZARR } from "../../../core/limits.ts";
import { MEMORY } from "../../../core/resources.ts";
import { isUnshared } from "../../../core/tensor/storage.ts";

type ClosedPort = InstanceType<typeof MessageChannel>["port1"];

export class Buffers {
  readonly #free: Uint8Array[] = [];
  #port: ClosedPort | null = null;

  /**
   * Calls `action` with a buffer of `size` bytes and arbitrary contents. Concurrent calls are allowed. Throws a
   * `too-large` error if memory is exhausted.
   */
  async use<T>(size: number, action: (buffer: Uint8Array) => Promise<T>): Promise<T> {
    const at = this.#free.findIndex(({ length }) => length === size);
    const buffer = at === -1 ? newBytes(size) : this.#free.splice(at, 1)[0];
    try {
      return await action(buffer);
    } finally {
      MEMORY.onRelease?.(buffer);
      if (size <= ZARR.keep) this.#free.push(buffer);
      else this.release(buffer);
      if (this.#free.length > ZARR.buffers) this.#free.shift();
    }
  }

  /** Frees the memory of unused bytes, and empties all views of this memory. */
  release({ buffer, byteLength }: Uint8Array): void {
    if (!isUnshared(buffer) || buffer.byteLength < ZARR.release) return;
    // Small arrays in Node share a buffer of 8 kB (64 kB in Node 24). Therefore a buffer is freed only if the array
    // covers at least half of it.
    if (2 * byteLength < buffer.byteLength) return;
    const own: ArrayBuffer & { transfer?(length: number): ArrayBuffer } = buffer;
    if (own.transfer !== undefined) own.transfer(0);
    else this.#closedPort().postMessage(null, [buffer]);
  }

  /** Returns a closed message port. Node 20 lacks `transfer`, but frees a buffer that is sent to a closed port. */
  #closedPort(): ClosedPort {
    if (this.#port !== null) return this.#port;
    const { port1, port2 } = new MessageChannel();
    port2.close();
    this.#port = port1;
    return port1;
  }
}

/** Allocates memory. Throws a `too-large` error if memory is exhausted. */
export function newBytes(size: number): Uint8Array {
  try {
    return new Uint8Array(size);
  } catch (cause) {
    const sentence = `a chunk takes ${size} bytes, which do not fit in memory; use an array with smaller chunks`;
    throw new TensorError("too-large", sentence, {}, { cause });
  }
}
