/** The compiled kernels of `assembly/`, instantiated over a memory. */

import type { DType, Step } from "../../tensor/dtype.ts";
import type { ElementJob, IndexAxis } from "../../plan/index-job.ts";
import { KERNELS } from "./bytes.ts";
import type { Heap } from "./heap.ts";
import { webAssembly } from "./web-assembly.ts";

/** A compiled function. All arguments are addresses, counts and the like, of 32 bits. */
export type Kernel = (...args: number[]) => number | undefined;

/**
 * The kernels, each by its place among the exports, which is how threads are told of it. The parameters stand in
 * `assembly/`; those of the first three are where the side is that offsets point into, where the one that is walked in
 * order, where the offsets are, how many, how many elements a slice has, and how far it is from each to the next.
 */
export interface Kernels {
  combine(dtype: DType, reduction: Step): number;
  /** `out[offset p] = updates[p]` for elements of that many bytes. */
  scatter(bytes: number): number;
  /** `out[p] = data[offset p]` */
  gather(bytes: number): number;
  /** Of updates of that many bytes those whose targets are in a range. */
  deal(bytes: number): number;
  /** For indices of that many 32-bit words. They give 0 where all indices are in range. */
  tuples(words: 1 | 2): number;
  elements(words: 1 | 2): number;
  uniform(words: 1 | 2): number;
  readonly runLength: number;
  readonly every: number;
  readonly copy: number;
  readonly all: readonly Kernel[];
  /** For threads, which instantiate it themselves. */
  readonly module: object;
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
  // What the names stand for is settled by scripts/kernels.js.
  const places = new Map(Object.keys(exports).map((name, place) => [name, place]));
  const place = (name: string): number => places.get(name) ?? Number.NaN;
  return {
    combine: (dtype, reduction) => place(`combine_${dtype}_${reduction}`),
    scatter: (bytes) => place(`scatter_${bytes}`),
    gather: (bytes) => place(`gather_${bytes}`),
    deal: (bytes) => place(`deal_${bytes}`),
    tuples: (words) => place(`tuples_${32 * words}`),
    elements: (words) => place(`elements_${32 * words}`),
    uniform: (words) => place(`uniform_${32 * words}`),
    runLength: place("run_length"),
    every: place("every"),
    copy: place("copy_bytes"),
    all: Object.values(exports) as Kernel[],
    module,
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

/** Bytes of an Axis in a table, of what a Grid has beyond that, and of each of its outer axes: see offsets.ts there. */
export const AXIS_BYTES = 24;
const GRID_BYTES = 8;
const OUTER_BYTES = 12;

/** Writes the table of `tuples` for these axes. */
export function writeAxes(heap: Heap, pointer: number, axes: readonly IndexAxis[]): void {
  const table = new DataView(heap.memory.buffer, pointer, AXIS_BYTES * axes.length);
  for (const [j, axis] of axes.entries()) writeAxis(table, AXIS_BYTES * j, axis, 0);
}

/** The bytes of the table of `elements` and `uniform` for indices of that rank. */
export const gridBytes = (rank: number): number =>
  AXIS_BYTES + GRID_BYTES + OUTER_BYTES * (rank - 1);

/** Writes the table of `elements` and `uniform`, to begin at a row. */
export function writeGrid(heap: Heap, pointer: number, job: ElementJob, firstRow: number): void {
  const { axis, shape, steps } = job;
  const last = shape.length - 1;
  const table = new DataView(heap.memory.buffer, pointer, gridBytes(shape.length));
  writeAxis(table, 0, axis, steps[last]);
  let place = 0;
  for (let d = last - 1, rest = firstRow; d >= 0; rest = Math.floor(rest / shape[d]), d--) {
    const counter = rest % shape[d];
    place += counter * steps[d];
    const at = AXIS_BYTES + GRID_BYTES + OUTER_BYTES * d;
    table.setUint32(at, shape[d], true);
    table.setUint32(at + 4, steps[d], true);
    table.setUint32(at + 8, counter, true);
  }
  table.setUint32(AXIS_BYTES, place, true);
  table.setUint32(AXIS_BYTES + 4, last, true);
}

function writeAxis(table: DataView, at: number, axis: IndexAxis, step: number): void {
  table.setBigInt64(at, BigInt(axis.dim), true);
  table.setBigInt64(at + 8, BigInt(axis.wrap), true);
  table.setUint32(at + 16, axis.stride, true);
  table.setUint32(at + 20, step, true);
}
