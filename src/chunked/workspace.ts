/** Memory that one task after the other uses: fresh memory costs more than what is done with it, and comes back late. */

import { chooseExecutor } from "../engines/choice.ts";
import type { Executor } from "../engines/executor.ts";
import { TensorError } from "../errors.ts";

export class Workspace {
  /** In JavaScript: kernels in WebAssembly would need a copy of the chunk, and the disk is slower than either. */
  readonly executor: Executor = chooseExecutor("js").executor;
  readonly #buffers = new Map<string, ArrayBuffer>();

  /**
   * Bytes of any content, which belong to the caller until it asks for the same name again.
   * @throws TensorError `too-large`
   */
  bytes(name: string, length: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#buffer(name, length), 0, length);
  }

  words(name: string, length: number): Uint32Array<ArrayBuffer> {
    return new Uint32Array(this.#buffer(name, 4 * length), 0, length);
  }

  /** How much memory it keeps. */
  get size(): number {
    return [...this.#buffers.values()].reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  #buffer(name: string, length: number): ArrayBuffer {
    const known = this.#buffers.get(name);
    if (known !== undefined && known.byteLength >= length) return known;
    this.#buffers.delete(name);
    // A multiple of 8, so that elements of any type fit in.
    const rounded = Math.max(8, Math.ceil(length / 8) * 8);
    try {
      const buffer = new ArrayBuffer(rounded);
      this.#buffers.set(name, buffer);
      return buffer;
    } catch (cause) {
      throw new TensorError("too-large", `${length} bytes do not fit in memory`, {}, { cause });
    }
  }
}
