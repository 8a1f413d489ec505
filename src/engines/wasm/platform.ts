/** WebAssembly as this process has it: what all engines share, which is the compiled kernels and one scratch memory. */

import { KERNELS, MEMORY_FLAGS_AT } from "./bytes.ts";
import { KernelMemory } from "./kernel-memory.ts";
import { webAssembly, whyUnsupported } from "./web-assembly.ts";

export class WasmPlatform {
  /** Scratch memory for tensors of the heap. It is not shared with threads: copies into shared memory are half as fast. */
  readonly scratch: KernelMemory;
  readonly #modules = new Map<boolean, object>();

  /** @throws Error that says why WebAssembly cannot be had; nothing is compiled yet */
  constructor() {
    const why = whyUnsupported();
    if (why !== null) throw new Error(why);
    this.scratch = new KernelMemory(this.#module, false);
  }

  /**
   * A memory for the tensors and threads of one engine.
   * @throws Error that says why there is none
   */
  sharedMemory(): KernelMemory {
    if (typeof SharedArrayBuffer !== "function") {
      throw new Error("there is no SharedArrayBuffer (a page must be isolated to have it)");
    }
    return new KernelMemory(this.#module, true);
  }

  readonly #module = (isShared: boolean): object => {
    const known = this.#modules.get(isShared);
    const module = known ?? compileKernels(isShared);
    this.#modules.set(isShared, module);
    return module;
  };
}

/** What the flags of a memory's import say of a memory that is not shared and has a maximum. */
const UNSHARED = 1;

/**
 * The kernels are compiled for a shared memory and use no atomics, so that one byte of the module, whose position the
 * build has checked, makes them fit a memory that is not shared.
 */
function compileKernels(isShared: boolean): object {
  const binary = Uint8Array.from(atob(KERNELS), (character) => character.charCodeAt(0));
  if (!isShared) binary[MEMORY_FLAGS_AT] = UNSHARED;
  return new (webAssembly().Module)(binary);
}
