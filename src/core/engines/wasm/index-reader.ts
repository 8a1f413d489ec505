/**
 * Reads indices by kernels: in place, on all threads if the indices are many enough, or through a window. Kernels
 * report only that an index is bad; JavaScript finds the bad index.
 */

import type { WasmLimits } from "../../limits.ts";
import type { ElementJob, IndexJob, TupleJob } from "../../plan/index-job.ts";
import type { Call } from "./calls.ts";
import { AXIS_WORDS, gridWords, writeAxes, writeGrid } from "./index-tables.ts";
import type { Arena } from "./arena.ts";
import type { KernelMemory } from "./kernel-memory.ts";
import { shares } from "./split-work.ts";

export interface IndexReader {
  readonly limits: WasmLimits;
  /** Number of threads that read that many bytes of indices in shared memory. */
  threadsFor(bytes: number): number;
  /** Runs each list on a thread of its own, or all on this one. @returns true if every kernel returned 0 */
  run(memory: KernelMemory, lists: readonly (readonly Call[])[]): boolean;
}

/** The offsets of a job, in the arena; null where an index is outside its axis. */
export const readByKernels = (
  reader: IndexReader,
  arena: Arena,
  job: IndexJob,
): Uint32Array | null =>
  job.kind === "tuples" ? readTuples(reader, arena, job) : readRows(reader, arena, job);

function readTuples(reader: IndexReader, arena: Arena, job: TupleJob): Uint32Array | null {
  const { words, step, count, axes } = job;
  const k = axes.length;
  const kernel = arena.memory.kernels().tuples(step);
  const pointer = arena.allocate(4 * count);
  const table = arena.allocate(4 * AXIS_WORDS * k);
  writeAxes(arena.memory.wordsAt(table, AXIS_WORDS * k), axes);
  const isGood = readUnits(reader, arena, words, count, k * step, (from, first, some) => ({
    kernel,
    args: [from, pointer + 4 * first, some, k, table],
  }));
  return isGood ? offsetsAt(arena, pointer, count) : null;
}

/** The offsets of elements, or of rows where each row holds one index throughout and the job may be merged. */
function readRows(reader: IndexReader, arena: Arena, job: ElementJob): Uint32Array | null {
  const { shape, steps, step, merge } = job;
  const { memory } = arena;
  const last = shape.length - 1;
  const row = shape[last];
  if (merge && steps[last] === 1 && row >= reader.limits.row) {
    // The first row that holds two indices ends this kernel, so the check costs almost nothing.
    const rows = readElements(reader, arena, job, memory.kernels().rows(step), 1);
    if (rows !== null) return rows;
  }
  return readElements(reader, arena, job, memory.kernels().elements(step), row);
}

/** Reads rows of indices by a kernel that makes `perRow` offsets of each; null if the kernel found a reason not to. */
function readElements(
  reader: IndexReader,
  arena: Arena,
  job: ElementJob,
  kernel: number,
  perRow: number,
): Uint32Array | null {
  const { words, step, count, shape } = job;
  const { memory } = arena;
  const row = shape[shape.length - 1];
  const rows = count / row;
  const pointer = arena.allocate(4 * perRow * rows);
  // The kernel counts rows in its table. Each thread needs a table of its own; windows go on with one.
  let table = 0;
  const tableOf = (first: number): number => {
    if (first > 0 && !memory.has(words)) return table;
    const size = gridWords(shape.length);
    table = arena.allocate(4 * size);
    writeGrid(memory.wordsAt(table, size), job, first);
    return table;
  };
  const isGood = readUnits(reader, arena, words, rows, row * step, (from, first, some) => ({
    kernel,
    args: [from, pointer + 4 * perRow * first, some, row, tableOf(first)],
  }));
  return isGood ? offsetsAt(arena, pointer, perRow * rows) : null;
}

const offsetsAt = ({ memory }: Arena, pointer: number, count: number): Uint32Array =>
  (memory.lastOffsets = memory.wordsAt(pointer, count));

/**
 * Reads `count` units of `perUnit` words each.
 * @param callOf the call that reads `some` units, from the unit `first` on, at an address
 * @returns true if every kernel returned 0
 */
function readUnits(
  reader: IndexReader,
  arena: Arena,
  words: Int32Array,
  count: number,
  perUnit: number,
  callOf: (from: number, first: number, some: number) => Call,
): boolean {
  const { memory } = arena;
  const unit = 4 * perUnit;
  if (memory.has(words)) {
    const lists = shares(count, reader.threadsFor(count * unit)).map(([first, some]) => [
      callOf(words.byteOffset + unit * first, first, some),
    ]);
    return reader.run(memory, lists);
  }
  const most = Math.max(Math.floor(reader.limits.window / Math.max(unit, 1)), 1);
  const address = arena.allocate(Math.min(most, count) * unit);
  for (let first = 0; first < count; first += most) {
    const some = Math.min(most, count - first);
    arena.copyIn(words, first * unit, some * unit, address);
    if (!reader.run(memory, [[callOf(address, first, some)]])) return false;
  }
  return true;
}
