/**
 * Looks up the compiled kernels of `assembly/` that work on a memory, through the part of WebAssembly's JavaScript
 * interface that this package uses; TypeScript declares the interface only for browsers.
 */

import { DTYPES, type DType, type Step } from "../../tensor/dtype.ts";

export interface WasmMemory {
  readonly buffer: ArrayBuffer | SharedArrayBuffer;
}

interface WebAssemblyApi {
  readonly Memory: new (descriptor: {
    initial: number;
    maximum: number;
    shared: boolean;
  }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports?: { env: { memory: WasmMemory } },
  ) => { readonly exports: Readonly<Record<string, (...args: number[]) => number | undefined>> };
}

/** Returns WebAssembly's JavaScript interface, which exists if `whyUnsupported` returned null. */
export const webAssembly = (): WebAssemblyApi => Reflect.get(globalThis, "WebAssembly");

/** A compiled function. All arguments are 32-bit addresses, counts or similar numbers. */
export type Kernel = (...args: number[]) => number | undefined;

/** A compiled module that `scripts/kernels.js` wrote. */
export interface KernelSource {
  readonly text: string;
  /** Position of the byte with the flags of the imported memory. */
  readonly flagsAt: number;
}

/** Returns the exports of a module, which are the kernels by name. */
export const exportsOf = (module: object, memory: WasmMemory): Readonly<Record<string, Kernel>> =>
  new (webAssembly().Instance)(module, { env: { memory } }).exports;

/**
 * The kernels that work on a memory, identified by their positions among the exports, because workers receive the
 * position of the kernel to run. `scripts/kernels.js` generates the names, and `assembly/` describes the parameters.
 */
export class Kernels {
  readonly all: readonly Kernel[];
  readonly #positions: ReadonlyMap<string, number>;
  /** Positions by name and variant, because building a full name takes 0.1 µs. */
  readonly #known = new Map<string, Map<string | number, number | undefined>>();

  constructor(module: object, memory: WasmMemory) {
    const exports = exportsOf(module, memory);
    this.all = Object.values(exports);
    this.#positions = new Map(Object.keys(exports).map((name, position) => [name, position]));
  }

  /**
   * Returns a kernel by name.
   * @param variant the number at the end of the name, such as the bytes of an element, or the bits of an index; absent
   * for a kernel without variants
   */
  find(name: string, variant?: number): number {
    const position = variant === undefined ? this.#positions.get(name) : this.#look(name, variant);
    // An unknown name must not select another kernel.
    if (position === undefined) throw new Error(`the kernel ${name} is missing`);
    return position;
  }

  /** Returns the kernel for a step, or for a gather if `step` is null; undefined if JavaScript must do the work. */
  of(dtype: DType, step: Step | null): number | undefined {
    if (step !== null && step !== "none") return this.#look(dtype, step);
    return this.find(step === null ? "gather" : "scatter", DTYPES[dtype].bytes);
  }

  #look(name: string, variant: string | number): number | undefined {
    let variants = this.#known.get(name);
    if (variants === undefined) this.#known.set(name, (variants = new Map()));
    if (!variants.has(variant)) variants.set(variant, this.#positions.get(`${name}_${variant}`));
    return variants.get(variant);
  }
}
