/** The compiled kernels of `assembly/`, instantiated over a memory. */

import type { DType, Reduction } from "../../dtype.ts";
import type { IndexAxis } from "../../offsets.ts";
import { KERNELS } from "./bytes.ts";
import type { Heap } from "./heap.ts";
import { webAssembly } from "./web-assembly.ts";

/**
 * Combines or moves `count` slices of `slice` elements between the side that offsets point into and the one that is
 * walked in order. All are addresses and counts of 32 bits.
 */
export type SliceKernel = (
  random: number,
  sequential: number,
  offsets: number,
  count: number,
  slice: number,
) => void;

/** Reads `count` tuples of `k` indices into offsets by a table of axes; 0 where all are in range. */
export type TupleKernel = (
  indices: number,
  offsets: number,
  count: number,
  k: number,
  axes: number,
) => number;

/** Reads a row of indices into offsets, from `place` on in steps; 0 where all are in range. */
export type ElementKernel = (
  indices: number,
  offsets: number,
  count: number,
  place: number,
  step: number,
  dim: bigint,
  wrap: bigint,
  stride: number,
) => number;

export interface Kernels {
  combine(dtype: DType, reduction: Reduction): SliceKernel;
  /** `out[offset p] = updates[p]` for elements of that many bytes. */
  scatter(bytes: number): SliceKernel;
  /** `out[p] = data[offset p]` */
  gather(bytes: number): SliceKernel;
  /** For indices of that many 32-bit words. */
  tuples(words: 1 | 2): TupleKernel;
  elements(words: 1 | 2): ElementKernel;
  /** For threads: what they instantiate, and the place of a kernel among the exports. */
  readonly module: object;
  readonly all: readonly ((...args: number[]) => number | undefined)[];
  placeOf(kernel: SliceKernel | TupleKernel): number;
}

/**
 * The kernels over the memory of a heap.
 * @throws what the platform throws where WebAssembly, its vectors or its compilation are not to be had
 */
export function instantiate(heap: Heap): Kernels {
  const binary = Uint8Array.from(atob(KERNELS), (character) => character.charCodeAt(0));
  if (!heap.isShared) importUnshared(binary);
  const imports = { env: { memory: heap.memory } };
  const { Instance, Module } = webAssembly();
  const module = new Module(binary);
  const { exports } = new Instance(module, imports);
  const all = Object.values(exports) as Kernels["all"];
  // What the names stand for is settled by scripts/kernels.js.
  const kernel = <K>(name: string): K => exports[name] as K;
  return {
    combine: (dtype, reduction) => kernel(`combine_${dtype}_${reduction}`),
    scatter: (bytes) => kernel(`scatter_${bytes}`),
    gather: (bytes) => kernel(`gather_${bytes}`),
    tuples: (words) => kernel(`tuples_${32 * words}`),
    elements: (words) => kernel(`elements_${32 * words}`),
    module,
    all,
    placeOf: (one) => all.indexOf(one as Kernels["all"][number]),
  };
}

/** The import `env.memory`, of a memory with a maximum: its flags follow. */
const MEMORY_IMPORT = [3, ...ascii("env"), 6, ...ascii("memory"), 2];
const SHARED = 3;
const UNSHARED = 1;

/** The kernels are compiled for a shared memory and use no atomics, so that one flag makes them fit any other. */
function importUnshared(binary: Uint8Array): void {
  const start = binary.findIndex((_, at) =>
    MEMORY_IMPORT.every((byte, i) => binary[at + i] === byte),
  );
  const flags = start + MEMORY_IMPORT.length;
  if (start !== -1 && binary[flags] === SHARED) binary[flags] = UNSHARED;
}

function ascii(text: string): number[] {
  return Array.from(text, (character) => character.charCodeAt(0));
}

/** Bytes of one axis in the table that tuple kernels read: dim and wrap as 64 bits, stride as 32, and as many unused. */
export const AXIS_BYTES = 24;

export function writeAxes(heap: Heap, pointer: number, axes: readonly IndexAxis[]): void {
  const table = new DataView(heap.memory.buffer, pointer, AXIS_BYTES * axes.length);
  for (const [j, { dim, wrap, stride }] of axes.entries()) {
    table.setBigInt64(AXIS_BYTES * j, BigInt(dim), true);
    table.setBigInt64(AXIS_BYTES * j + 8, BigInt(wrap), true);
    table.setUint32(AXIS_BYTES * j + 16, stride, true);
  }
}
