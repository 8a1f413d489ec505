/** A recording that gives the GPU nothing to do: it lists the kernels that calls need, so that they can be compiled ahead. */

import type { Kernel } from "./kernel.ts";
import { Recording, type Span } from "./recording.ts";

export class KernelList extends Recording {
  readonly #kernels = new Map<string, Kernel>();

  /** What was listed so far. */
  get kernels(): readonly Kernel[] {
    return [...this.#kernels.values()];
  }

  override run(kernel: Kernel): void {
    this.#kernels.set(kernel.name, kernel);
  }

  /** No call that is listed uses memory, so a buffer that is there anyway stands for all. */
  override scratch(bytes: number): Span {
    return { buffer: this.standIn, bytes };
  }

  override upload({ byteLength }: { readonly byteLength: number }): Span {
    return this.scratch(byteLength);
  }

  override zeros(bytes: number): Span {
    return this.scratch(bytes);
  }

  override copy(): void {}

  override submit(): void {}
}
