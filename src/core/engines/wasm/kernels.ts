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

/**
 * The kernels, identified by their positions among the exports, because workers receive the position of the kernel to
 * run. `assembly/` describes the parameters.
 */
export interface Kernels {
  /**
   * Returns the kernel for `out[offset p] = f(out[offset p], updates[p])`; undefined if JavaScript must do the work.
   */
  combine(dtype: DType, step: Step): number | undefined;
  /** Returns the kernel for `out[offset p] = updates[p]`, for elements with the given number of bytes. */
  scatter(bytes: number): number;
  /** Returns the kernel for `out[p] = data[offset p]`, for elements with the given number of bytes. */
  gather(bytes: number): number;
  /** Returns the kernel for a step, or for a gather if `step` is null; undefined if JavaScript must do the work. */
  of(dtype: DType, step: Step | null): number | undefined;
  /** Returns the kernel that selects updates, with the given number of bytes each, whose targets are in a range. */
  partition(bytes: number): number;
  /** Returns the kernel that sorts updates of 4 or 8 bytes by region. */
  distribute(bytes: number): number;
  /**
   * Returns the kernel that reads tuples of indices with one or two 32-bit words. `tuples`, `elements` and `rows`
   * kernels return 0 if all indices are in range.
   */
  tuples(words: 1 | 2): number;
  elements(words: 1 | 2): number;
  rows(words: 1 | 2): number;
  /** Returns the kernel that only checks indices along one axis; it returns 0 if all indices are in range. */
  check(words: 1 | 2): number;
  /** Returns the kernel that gathers elements of 4 bytes straight from checked indices. */
  pick(words: 1 | 2): number;
  /** Kernel that adds float16 with copies of the targets. */
  readonly sum: number;
  readonly runLength: number;
  readonly everyNth: number;
  readonly copyBytes: number;
  /** Kernels that copy all slices except those at some offsets; see `assembly/rearrange.ts`. */
  readonly mark: number;
  readonly copyUnmarked: number;
  readonly all: readonly Kernel[];
}

/** Returns the exports of a module, which are the kernels by name. */
export const exportsOf = (module: object, memory: WasmMemory): Readonly<Record<string, Kernel>> =>
  new (webAssembly().Instance)(module, { env: { memory } }).exports;

export function instantiateKernels(module: object, memory: WasmMemory): Kernels {
  const exports = exportsOf(module, memory);
  const positions = new Map(Object.keys(exports).map((name, position) => [name, position]));
  // The script scripts/kernels.js generates the names of the kernels. An unknown name is an error, because it must not
  // select another kernel.
  const find = (name: string): number => {
    const position = positions.get(name);
    if (position === undefined) throw new Error(`the kernel ${name} is missing`);
    return position;
  };
  const combining = remembered((dtype: DType) =>
    remembered((step: Step) => positions.get(`combine_${dtype}_${step}`)),
  );
  const combine = (dtype: DType, step: Step): number | undefined => combining(dtype)(step);
  const scatter = remembered((bytes: number) => find(`scatter_${bytes}`));
  const gather = remembered((bytes: number) => find(`gather_${bytes}`));
  return {
    combine,
    scatter,
    gather,
    of(dtype, step) {
      const { bytes } = DTYPES[dtype];
      if (step === null) return gather(bytes);
      return step === "none" ? scatter(bytes) : combine(dtype, step);
    },
    partition: (bytes) => find(`partition_${bytes}`),
    distribute: (bytes) => find(`distribute_${bytes}`),
    tuples: remembered((words: number) => find(`tuples_${32 * words}`)),
    elements: (words) => find(`elements_${32 * words}`),
    rows: (words) => find(`rows_${32 * words}`),
    check: (words) => find(`check_${32 * words}`),
    pick: (words) => find(`pick_${32 * words}`),
    sum: find("sum_float16"),
    runLength: find("run_length"),
    everyNth: find("every_nth"),
    copyBytes: find("copy_bytes"),
    mark: find("mark"),
    copyUnmarked: find("copy_unmarked"),
    all: Object.values(exports),
  };
}

/** Caches a function's results by key, because building a kernel's name takes 0.1 µs. */
function remembered<K, V>(make: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>();
  return (key) => {
    let value = known.get(key);
    if (value === undefined) known.set(key, (value = make(key)));
    return value;
  };
}
