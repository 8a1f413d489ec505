/** Provides memory that consecutive tasks reuse, because allocation is slow and unused memory is freed late. */

import { chooseExecutor } from "../../../core/engines/choice.ts";
import type { Executor } from "../../../core/engines/executor.ts";

export class Workspace {
  /** Runs WebAssembly kernels on shared memory, without copies. */
  readonly executor: Executor;
  readonly #buffers = new Map<string, Uint8Array>();
  readonly #lanes: (Workspace | undefined)[] = [];

  constructor(executor = chooseExecutor("wasm").executor) {
    this.executor = executor;
  }

  /** Returns another workspace with its own buffers, for concurrent work. */
  lane(number: number): Workspace {
    return (this.#lanes[number] ??= new Workspace(this.executor));
  }

  /**
   * Returns a buffer with arbitrary contents. The buffer belongs to the caller until the same name is requested again.
   * Throws a `too-large` error if memory is exhausted.
   */
  bytes(name: string, length: number): Uint8Array {
    const { buffer, byteOffset } = this.#buffer(name, length);
    return new Uint8Array(buffer, byteOffset, length);
  }

  words(name: string, length: number): Uint32Array {
    const { buffer, byteOffset } = this.#buffer(name, 4 * length);
    return new Uint32Array(buffer, byteOffset, length);
  }

  /** Recycles all buffers. */
  clear(): void {
    for (const buffer of this.#buffers.values()) this.executor.recycle(buffer);
    this.#buffers.clear();
    // A lane whose first step failed has no workspace.
    for (const lane of this.#lanes) lane?.clear();
  }

  #buffer(name: string, length: number): Uint8Array {
    const known = this.#buffers.get(name);
    if (known !== undefined && known.byteLength >= length) return known;
    if (known !== undefined) this.executor.recycle(known);
    this.#buffers.delete(name);
    // Buffer sizes are multiples of 16, which suits elements of any type.
    const size = Math.max(16, Math.ceil(length / 16) * 16);
    const buffer = this.executor.alloc("uint8", size) as Uint8Array;
    this.#buffers.set(name, buffer);
    return buffer;
  }
}
