/**
 * The WebAssembly support of this process: compiled kernels and scratch memory, which all engines share. Kernels are
 * compiled, memory is created and support is tested only when first needed.
 */

import { TensorError } from "../../errors.ts";
import { SCRATCH } from "../../limits.ts";
import { KERNELS, MEMORY_FLAGS_AT } from "./bytes.ts";
import { KernelMemory, PAGE } from "./kernel-memory.ts";
import { webAssembly, type KernelSource } from "./kernels.ts";

/** Fraction of scratch memory for a call's data; windows and tables may use the rest. */
const USABLE = 0.75;

/** Returns the minimum number of pages of scratch memory, so that the block takes at most a quarter. */
const leastPages = (): number => Math.max(SCRATCH.pages, (4 * SCRATCH.block) / PAGE);

/** Returns the number of pages for a call that needs `bytes`: a power of two between the minimum and the maximum. */
const pagesFor = (bytes: number): number =>
  Math.min(
    Math.max(2 ** Math.ceil(Math.log2(bytes / USABLE / PAGE)), Math.ceil(leastPages())),
    SCRATCH.mostPages,
  );

export class WasmPlatform {
  /** Compiled modules by source, first for unshared memories, then for shared memories. */
  readonly #modules = [new Map<KernelSource, object>(), new Map<KernelSource, object>()] as const;
  #scratch: KernelMemory | undefined;
  /**
   * Maximum bytes of a call that fits in the scratch memory, of which the platform may have provided less than
   * requested.
   */
  #mostBytes = 0;
  /** Number of pages that were requested. */
  #pages = 0;
  /**
   * Reason why WebAssembly is unavailable; undefined until it is tested. The test takes 0.25 ms, and small calls do not
   * need it.
   */
  #whyNone: string | null | undefined;

  /** Reason why WebAssembly or its scratch memory is unavailable; null if both are available. */
  get whyNone(): string | null {
    if (this.#whyNone === undefined) this.#whyNone = whyUnsupported();
    return this.#whyNone;
  }

  /** True if WebAssembly is known to be unavailable. */
  get isNone(): boolean {
    return typeof this.#whyNone === "string";
  }

  /**
   * Returns scratch memory for heap tensors, which is created when first needed, in 10 ms. Scratch memory is not shared
   * with threads, because copies into shared memory are half as fast. A call that needs more memory gets a larger
   * memory, as do all later calls. JavaScriptCore counts the whole memory as used, and lets garbage accumulate
   * accordingly: 9.5 GB of dropped results in Bun with 4 GiB of scratch memory, and 0.5 GB with 64 MiB.
   * @param bytes an upper bound for the memory that a call needs
   * @throws TensorError `too-large` if the platform refuses address space
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
        this.#whyNone = `WebAssembly memory is not available (${String(error)})`;
        throw new TensorError("too-large", this.#whyNone, {}, { cause: error });
      }
    }
    this.#pages = pages;
    this.#mostBytes = pages < SCRATCH.mostPages ? pages * PAGE * USABLE : Infinity;
    return this.#scratch;
  }

  /**
   * Creates a memory for the tensors and threads of one engine. JavaScriptCore counts the whole memory as used, so a
   * process may get only a few shared memories; later engines have one thread. A memory that starts small and grows
   * would not help in WebKit, which reserves the maximum.
   * @throws Error that says why shared memory is unavailable, or the platform's own error
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

/** Module with the kernels for scatters and gathers. */
const MAIN: KernelSource = { text: KERNELS, flagsAt: MEMORY_FLAGS_AT };

/** Import flags for an unshared memory that has a maximum. */
const UNSHARED = 1;

/**
 * Compiles kernels for a shared or an unshared memory. The kernels are built for a shared memory and use no atomics, so
 * changing one byte of the module, at a position that the build has checked, adapts them to an unshared memory.
 */
function compileKernels(isShared: boolean, { text, flagsAt }: KernelSource): object {
  const binary = kernelBytes(text);
  if (!isShared) binary[flagsAt] = UNSHARED;
  return new (webAssembly().Module)(binary);
}

/**
 * Decodes a module's text to bytes. Characters with codes 35 to 120, except the backslash (92), encode numbers from 0
 * to 84; each of the next three characters adds 85, 170 or 255 to the number that follows it. A byte is 3 less than its
 * number, modulo 256.
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

/** A test module with one function, which returns a vector of zeros: `i32.const 0, i32x4.splat`. */
// prettier-ignore
const VECTOR_PROBE = /* @__PURE__ */ Uint8Array.of(
  0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, // magic and version
  0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b, // type 0: no parameters, a v128
  0x03, 0x02, 0x01, 0x00, // function 0 is of type 0
  0x0a, 0x08, 0x01, 0x06, 0x00, 0x41, 0x00, 0xfd, 0x11, 0x0b, // its code
);

/**
 * Returns the reason why kernels cannot run on this platform; null if they can. Compiling the kernels takes 25 to 200
 * ms, whereas the 33-byte test module takes almost no time. Compiling either module fails if WebAssembly or vectors are
 * missing, or if a policy forbids compiling.
 */
function whyUnsupported(): string | null {
  if (!("WebAssembly" in globalThis)) return "WebAssembly is not available";
  try {
    // WebKit compiles a module even if a policy forbids WebAssembly, but refuses to instantiate the module.
    Reflect.construct(webAssembly().Instance, [new (webAssembly().Module)(VECTOR_PROBE)]);
    return null;
  } catch (error) {
    return `WebAssembly SIMD does not compile (${String(error)})`;
  }
}
