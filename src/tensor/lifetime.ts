/** How long the memory of a tensor may be used, and who gets it back. */

import type { Storage } from "./dtype.ts";

/** An engine that made the memory of a tensor, and can use it again. */
export interface MemoryOwner {
  recycle(data: Storage): void;
}

/** The use of one tensor's memory. Proxies and clones of the tensor share it. */
export class Lifetime {
  readonly #data: Storage;
  #owner: MemoryOwner | undefined;
  #hasEnded = false;

  constructor(data: Storage, owner: MemoryOwner | undefined) {
    this.#data = data;
    this.#owner = owner;
  }

  /** Whether `value` was made here. A deep clone has the class but not the private fields. */
  static isLifetime(value: unknown): value is Lifetime {
    return typeof value === "object" && value !== null && #data in value;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Whether these elements may no longer be used. */
  hasEndedFor(data: unknown): boolean {
    return this.#hasEnded && this.#data === data;
  }

  /** Gives the memory back, the first time. */
  end(): void {
    this.#hasEnded = true;
    const owner = this.#owner;
    this.#owner = undefined;
    owner?.recycle(this.#data);
  }
}
