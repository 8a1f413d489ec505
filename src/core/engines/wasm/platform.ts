/**
 * WebAssembly as this process has it: the compiled kernels and scratch memory, which all engines share. Kernels are
 * compiled, memory is created and support is tested only when first needed.
 */

import { TensorError } from "../../errors.ts";
import { SCRATCH } from "../../limits.ts";
import { KERNELS, MEMORY_FLAGS_AT } from "./bytes.ts";
import { KernelMemory, PAGE } from "./kernel-memory.ts";
import type { KernelSource } from "./kernels.ts";
import { webAssembly, whyUnsupported } from "./web-assembly.ts";

/** Share of scratch memory for a call's data; windows and tables may take the rest. */
const USABLE = 0.75;

/** The least pages of scratch memory. The block must not take more than a quarter of them. */
const leastPages = (): number => Math.max(SCRATCH.pages, (4 * SCRATCH.block) / PAGE);

/** The pages for a call of `bytes`: a power of two between the least and the most. */
const pagesFor = (bytes: number): number =>
  Math.min(
    Math.max(2 ** Math.ceil(Math.log2(bytes / USABLE / PAGE)), Math.ceil(leastPages())),
    SCRATCH.mostPages,
  );

export class WasmPlatform {
  /** Compiled modules by their sources: for memories that are not shared, and for shared ones. */
  readonly #modules = [new Map<KernelSource, object>(), new Map<KernelSource, object>()] as const;
  #scratch: KernelMemory | undefined;
  /** Largest call, in bytes, that the scratch memory serves; the platform may have given less than requested. */
  #mostBytes = 0;
  /** The number of pages requested. */
  #pages = 0;
  /** Undefined until tested, which takes 0.25 ms and which small calls do not need. */
  #whyNone: string | null | undefined;

  /** The reason why WebAssembly or its scratch memory is unavailable; null if neither was refused. */
  get whyNone(): string | null {
    if (this.#whyNone === undefined) this.#whyNone = whyUnsupported();
    return this.#whyNone;
  }

  /** True if WebAssembly is known to be unavailable. */
  get isNone(): boolean {
    return typeof this.#whyNone === "string";
  }

  /**
   * Scratch memory for tensors of the heap, made when it is first needed, which takes 10 ms. Scratch memory is not
   * shared with threads: copies into shared memory are half as fast. A call that needs more than it holds gets a larger
   * memory, as do all later calls. JavaScriptCore counts the whole memory as in use, and lets as much garbage pile up:
   * 9.5 GB of dropped results in Bun with 4 GiB, and 0.5 with 64 MiB.
   * @param bytes upper bound of what a call will take
   * @throws TensorError `too-large` where the platform gives no address space
   */
  scratch(bytes: number): KernelMemory {
    if (this.whyNone !== null) throw new TensorError("too-large", this.whyNone);
    const isEnough = bytes <= this.#mostBytes && this.#pages >= leastPages();
    if (this.#scratch !== undefined && isEnough) return this.#scratch;
    const pages = pagesFor(bytes);
    try {
      this.#scratch = new KernelMemory(this.#module, false, pages);
    } catch (error) {
      if (this.#scratch === undefined) {
        this.#whyNone = `memory for WebAssembly is missing (${String(error)})`;
        throw new TensorError("too-large", this.#whyNone, {}, { cause: error });
      }
    }
    this.#pages = pages;
    this.#mostBytes = pages < SCRATCH.mostPages ? pages * PAGE * USABLE : Infinity;
    return this.#scratch;
  }

  /**
   * A memory for the tensors and threads of one engine. JavaScriptCore counts all of it as in use, so a process may get
   * only a few shared memories; later engines have one thread. A memory that begins small and grows would not help in
   * WebKit, which reserves the maximum.
   * @throws Error that says why it is unavailable, or the platform's own error
   */
  sharedMemory(): KernelMemory {
    if (typeof SharedArrayBuffer !== "function") {
      throw new Error("SharedArrayBuffer is missing (a page needs cross-origin isolation)");
    }
    return new KernelMemory(this.#module, true, SCRATCH.mostPages);
  }

  readonly #module = (isShared: boolean, source = MAIN): object => {
    const modules = this.#modules[isShared ? 1 : 0];
    const module = modules.get(source) ?? compileKernels(isShared, source);
    modules.set(source, module);
    return module;
  };
}

/** The kernels of scatters and gathers. */
const MAIN: KernelSource = { text: KERNELS, flagsAt: MEMORY_FLAGS_AT };

/** Flags of a memory's import for a memory that is not shared and has a maximum. */
const UNSHARED = 1;

/**
 * The kernels are compiled for a shared memory and use no atomics, so that one byte of the module, whose position the
 * build has checked, makes them fit a memory that is not shared.
 */
function compileKernels(isShared: boolean, { text, flagsAt }: KernelSource): object {
  const binary = kernelBytes(text);
  if (!isShared) binary[flagsAt] = UNSHARED;
  return new (webAssembly().Module)(binary);
}

/**
 * The bytes behind the characters of a module's text. Characters from 35 to 120 without the backslash, 92, stand for a number
 * from 0 to 84; each of the next three adds 85, 170 or 255 to the number behind it. A byte is 3 less than its number,
 * and wraps.
 */
function kernelBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  let [count, page] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 120) page = (code - 120) * 85;
    else {
      bytes[count++] = page + code - (code > 92 ? 39 : 38);
      page = 0;
    }
  }
  return bytes.subarray(0, count);
}
