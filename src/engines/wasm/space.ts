/** A memory, the kernels over it, and the scratch that a call takes from it. */

import type { NumericStorage } from "../../tensor/dtype.ts";
import { Heap } from "./heap.ts";
import { instantiate, type Kernels } from "./kernels.ts";

export class Space {
  readonly heap: Heap;
  readonly kernels: Kernels;
  /** What {@link borrow} gave since the scope began that is open. */
  #scratch: number[] = [];

  /** @throws what the platform throws where it lacks WebAssembly or, for a shared memory, SharedArrayBuffer */
  constructor(isShared: boolean) {
    this.heap = new Heap(isShared);
    this.kernels = instantiate(this.heap);
  }

  /** Runs a kernel, given by its place. */
  call(kernel: number, ...args: number[]): number {
    return this.kernels.all[kernel](...args) ?? 0;
  }

  /**
   * Memory until the scope ends.
   * @throws TensorError `too-large`
   */
  borrow(bytes: number): number {
    const pointer = this.heap.take(bytes);
    this.#scratch.push(pointer);
    return pointer;
  }

  /** An array like this one, with arbitrary contents, until the scope ends. */
  view(like: NumericStorage): NumericStorage {
    const Class = like.constructor as new (
      buffer: ArrayBufferLike,
      offset: number,
      length: number,
    ) => NumericStorage;
    return new Class(this.heap.memory.buffer, this.borrow(like.byteLength), like.length);
  }

  /** What has been borrowed since the scope began, which it then does not give back. */
  keep(): readonly number[] {
    return this.#scratch.splice(0);
  }

  /** What `action` gives; after it, what it borrowed is given back. */
  scope<T>(action: () => T): T {
    const outer = this.#scratch;
    this.#scratch = [];
    try {
      return action();
    } finally {
      for (const pointer of this.#scratch) this.heap.give(pointer);
      this.#scratch = outer;
    }
  }

  /** The address of a window for parts of `data`; none where it is here already. */
  window(data: NumericStorage, bytes: number): number {
    return this.heap.has(data) ? 0 : this.borrow(bytes);
  }

  /** The address of `length` entries of `data` from `start` on, after a copy into the window where one is needed. */
  load(data: NumericStorage, start: number, length: number, window: number): number {
    const offset = data.byteOffset + start * data.BYTES_PER_ELEMENT;
    if (window === 0) return offset;
    const bytes = length * data.BYTES_PER_ELEMENT;
    this.heap.bytesAt(window, bytes).set(new Uint8Array(data.buffer, offset, bytes));
    return window;
  }
}
