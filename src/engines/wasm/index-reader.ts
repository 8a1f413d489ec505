/**
 * Reads indices by kernels: where they lie, on all threads if there are enough, or through a window. Which index is bad
 * is not known here, only that one is; JavaScript finds it.
 */

import type { ElementJob, IndexJob, TupleJob } from "../../plan/index-job.ts";
import type { Call } from "./calls.ts";
import { AXIS_BYTES, gridBytes, writeAxes, writeGrid } from "./index-tables.ts";
import type { Arena } from "./kernel-memory.ts";
import { LEAST_ROW } from "./limits.ts";
import { shares } from "./split-work.ts";

export interface IndexReader {
  readonly arena: Arena;
  /** Bytes of a window for indices of the heap. */
  readonly window: number;
  /** On how many threads that many bytes of indices of the arena's memory are read. */
  threadsFor(bytes: number): number;
  /** Runs each list on a thread of its own, or all on this one. @returns whether every kernel returned 0 */
  run(lists: readonly (readonly Call[])[]): boolean;
}

/** The offsets of a job, in the arena; null where an index is outside its axis. */
export const readByKernels = (reader: IndexReader, job: IndexJob): Uint32Array | null =>
  job.kind === "tuples" ? readTuples(reader, job) : readRows(reader, job);

function readTuples(reader: IndexReader, job: TupleJob): Uint32Array | null {
  const { words, step, count, axes } = job;
  const { arena } = reader;
  const k = axes.length;
  const kernel = arena.memory.kernels().tuples(step);
  const pointer = arena.allocate(4 * count);
  const table = arena.allocate(AXIS_BYTES * k);
  writeAxes(arena.memory.buffer, table, axes);
  const isGood = readUnits(reader, words, count, k * step, (from, first, some) => ({
    kernel,
    args: [from, pointer + 4 * first, some, k, table],
  }));
  return isGood ? arena.memory.wordsAt(pointer, count) : null;
}

/** The offsets of elements, or of rows where each row holds one index throughout and the job may be merged. */
function readRows(reader: IndexReader, job: ElementJob): Uint32Array | null {
  const { shape, steps, step, merge } = job;
  const { memory } = reader.arena;
  const last = shape.length - 1;
  const row = shape[last];
  if (merge && steps[last] === 1 && row >= LEAST_ROW) {
    // The first row that holds two indices ends this kernel, so that looking costs next to nothing.
    const rows = readElements(reader, job, memory.kernels().rows(step), 1);
    if (rows !== null) return rows;
  }
  return readElements(reader, job, memory.kernels().elements(step), row);
}

/** Reads rows of indices by a kernel that makes `perRow` offsets of each; null where the kernel found that it cannot. */
function readElements(
  reader: IndexReader,
  job: ElementJob,
  kernel: number,
  perRow: number,
): Uint32Array | null {
  const { words, step, count, shape } = job;
  const { arena } = reader;
  const { memory } = arena;
  const row = shape[shape.length - 1];
  const rows = count / row;
  const pointer = arena.allocate(4 * perRow * rows);
  // The kernel counts rows in its table. Each thread needs a table of its own; windows go on with one.
  let table = 0;
  const tableOf = (first: number): number => {
    if (first > 0 && !memory.has(words)) return table;
    table = arena.allocate(gridBytes(shape.length));
    writeGrid(memory.buffer, table, job, first);
    return table;
  };
  const isGood = readUnits(reader, words, rows, row * step, (from, first, some) => ({
    kernel,
    args: [from, pointer + 4 * perRow * first, some, row, tableOf(first)],
  }));
  return isGood ? memory.wordsAt(pointer, perRow * rows) : null;
}

/**
 * Reads `count` units of `perUnit` words each.
 * @param callOf the call that reads `some` units, from the unit `first` on, at an address
 * @returns whether every kernel returned 0
 */
function readUnits(
  reader: IndexReader,
  words: Int32Array,
  count: number,
  perUnit: number,
  callOf: (from: number, first: number, some: number) => Call,
): boolean {
  const { arena, window } = reader;
  const { memory } = arena;
  const unit = 4 * perUnit;
  if (memory.has(words)) {
    const lists = shares(count, reader.threadsFor(count * unit)).map(([first, some]) => [
      callOf(words.byteOffset + unit * first, first, some),
    ]);
    return reader.run(lists);
  }
  const most = Math.max(Math.floor(window / Math.max(unit, 1)), 1);
  const address = arena.allocate(Math.min(most, count) * unit);
  for (let first = 0; first < count; first += most) {
    const some = Math.min(most, count - first);
    const part = words.subarray(first * perUnit, (first + some) * perUnit);
    memory
      .bytesAt(address, some * unit)
      .set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
    if (!reader.run([[callOf(address, first, some)]])) return false;
  }
  return true;
}
