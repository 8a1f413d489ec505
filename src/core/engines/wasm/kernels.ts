/** The compiled kernels of `assembly/` over a memory, and the lookup of a kernel. */

import type { DType, Step } from "../../tensor/dtype.ts";
import { webAssembly, type WasmMemory } from "./web-assembly.ts";

/** A compiled function. All arguments are addresses, counts and the like, of 32 bits. */
export type Kernel = (...args: number[]) => number | undefined;

/** A compiled module, as `scripts/kernels.js` writes it. */
export interface KernelSource {
  readonly text: string;
  /** The position of the flags of its memory. */
  readonly flagsAt: number;
}

/**
 * The kernels by their position among the exports; workers receive the position of the kernel to run. The parameters
 * are described in `assembly/`.
 */
export interface Kernels {
  /** `out[offset p] = f(out[offset p], updates[p])`; undefined if JavaScript must do it. */
  combine(dtype: DType, step: Step): number | undefined;
  /** `out[offset p] = updates[p]` for elements of that many bytes. */
  scatter(bytes: number): number;
  /** `out[p] = data[offset p]` */
  gather(bytes: number): number;
  /** Selects the updates, of that many bytes each, whose targets are in a range. */
  partition(bytes: number): number;
  /** Sorts updates of 4 or 8 bytes by region. */
  distribute(bytes: number): number;
  /** For indices of that many 32-bit words; these three return 0 where all indices are in range. */
  tuples(words: 1 | 2): number;
  elements(words: 1 | 2): number;
  rows(words: 1 | 2): number;
  readonly runLength: number;
  readonly everyNth: number;
  readonly copyBytes: number;
  readonly all: readonly Kernel[];
}

/** The exports of a module: the kernels by name, and nothing else. */
export const exportsOf = (module: object, memory: WasmMemory): Readonly<Record<string, Kernel>> =>
  new (webAssembly().Instance)(module, { env: { memory } }).exports;

export function instantiateKernels(module: object, memory: WasmMemory): Kernels {
  const exports = exportsOf(module, memory);
  const positions = new Map(Object.keys(exports).map((name, position) => [name, position]));
  // The names are made by scripts/kernels.js. A wrong one must not become the position of another kernel.
  const find = (name: string): number => {
    const position = positions.get(name);
    if (position === undefined) throw new Error(`the kernel ${name} is missing`);
    return position;
  };
  const combining = remembered((dtype: DType) =>
    remembered((step: Step) => positions.get(`combine_${dtype}_${step}`)),
  );
  return {
    combine: (dtype, step) => combining(dtype)(step),
    scatter: remembered((bytes: number) => find(`scatter_${bytes}`)),
    gather: remembered((bytes: number) => find(`gather_${bytes}`)),
    partition: (bytes) => find(`partition_${bytes}`),
    distribute: (bytes) => find(`distribute_${bytes}`),
    tuples: remembered((words: number) => find(`tuples_${32 * words}`)),
    elements: (words) => find(`elements_${32 * words}`),
    rows: (words) => find(`rows_${32 * words}`),
    runLength: find("run_length"),
    everyNth: find("every_nth"),
    copyBytes: find("copy_bytes"),
    all: Object.values(exports),
  };
}

/** Caches a function's results by key: building a kernel's name takes 0.1 µs. */
function remembered<K, V>(make: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>();
  return (key) => {
    let value = known.get(key);
    if (value === undefined) known.set(key, (value = make(key)));
    return value;
  };
}
