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
  readonly #free: ArrayBuffer[] = [];
  #port: ClosedPort | null = null;

  /** Calls `action` with a buffer of `size` bytes, under the conditions of `allocate`. Concurrent calls are allowed. */
  async use<T>(size: number, action: (buffer: Uint8Array) => Promise<T>): Promise<T> {
    const buffer = this.allocate(size);
    try {
      return await action(buffer);
    } finally {
      this.release(buffer);
    }
  }

  /** Returns memory with arbitrary contents until it is released. Throws `too-large` if memory is exhausted. */
  allocate(size: number): Uint8Array {
    const at = this.#free.findIndex(
      ({ byteLength }) => byteLength >= size && byteLength <= 2 * size,
    );
    const [buffer] = at === -1 ? [newBytes(size).buffer] : this.#free.splice(at, 1);
    return new Uint8Array(buffer, 0, size);
  }

  /** Keeps or frees the memory of unused bytes. Freed memory empties all views. */
  release(bytes: Uint8Array): void {
    const { buffer, byteLength } = bytes;
    if (!isUnshared(buffer) || buffer.byteLength < ZARR.release) return;
    // Small arrays in Node share a buffer of 8 kB (64 kB in Node 24). Therefore a buffer is freed only if the array
    // covers at least half of it.
    if (2 * byteLength < buffer.byteLength) return;
    MEMORY.onRelease?.(bytes);
    if (buffer.byteLength <= ZARR.keep) this.#free.push(buffer);
    else this.#discard(buffer);
    if (this.#free.length > ZARR.buffers) this.#free.shift();
  }

  #discard(buffer: ArrayBuffer): void {
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
