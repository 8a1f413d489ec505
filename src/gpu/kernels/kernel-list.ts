/** A recording that does no GPU work, but collects the kernels of calls, so that they can be compiled in advance. */

import type { Kernel } from "./kernel.ts";
import { Recording, type Span } from "./recording.ts";

export class KernelList extends Recording {
  readonly #kernels = new Map<string, Kernel>();

  /** The kernels collected so far. */
  get kernels(): readonly Kernel[] {
    return [...this.#kernels.values()];
  }

  override run(kernel: Kernel): void {
    this.#kernels.set(kernel.name, kernel);
  }

  /** Returns the same buffer for all scratch memory, because the collected calls never run. */
  override scratch(bytes: number): Span {
    return { buffer: this.standIn, bytes };
  }

  override upload({ byteLength }: { readonly byteLength: number }): Span {
    return this.scratch(byteLength);
  }

  override clear(): void {}

  override copy(): void {}

  override submit(): void {}
}
