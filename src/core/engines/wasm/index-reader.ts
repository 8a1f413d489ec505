/**
 * Reads indices with kernels: in place, on all threads if the number of indices is large enough, or through a window.
 * Kernels only report that an index is bad; JavaScript finds the bad index.
 */

import { KERNELS, type WasmLimits } from "../../limits.ts";
import type { ElementJob, IndexAxis, IndexJob, TupleJob } from "../../plan/indices.ts";
import { DTYPES, type DType, type NumericStorage } from "../../tensor/dtype.ts";
import type { Followed } from "../executor.ts";
import type { Call } from "./calls.ts";
import type { Arena } from "./arena.ts";
import type { KernelMemory } from "./kernel-memory.ts";
import { shares } from "./split-work.ts";
import { Window } from "./windows.ts";

// `assembly/offsets.ts` describes the tables that tell kernels how each axis is addressed.

/** Number of words that an Axis takes in a table. */
const AXIS_WORDS = 6;
/** Number of words that a Grid takes in addition to its Axis. */
const GRID_WORDS = 2;
/** Number of words that each outer axis of a Grid takes. */
const OUTER_WORDS = 3;

export interface IndexReader {
  readonly limits: WasmLimits;
  /** Returns the number of threads to use for reading the given number of index bytes in shared memory. */
  threadsFor(bytes: number): number;
  /**
   * Runs each list of calls on a separate thread, or all lists on this thread. Returns true if every kernel returned 0.
   */
  run(memory: KernelMemory, lists: readonly (readonly Call[])[]): boolean;
}

/** Computes the offsets of a job in the arena; returns null if an index is outside its axis. */
export const readByKernels = (
  reader: IndexReader,
  arena: Arena,
  job: IndexJob,
): Uint32Array | null =>
  job.kind === "tuples" ? readTuples(reader, arena, job) : readRows(reader, arena, job);

function readTuples(reader: IndexReader, arena: Arena, job: TupleJob): Uint32Array | null {
  const { words, step, count, axes } = job;
  const k = axes.length;
  const kernel = arena.memory.kernels().find("tuples", 32 * step);
  const pointer = arena.allocate(4 * count);
  const table = arena.allocate(4 * AXIS_WORDS * k);
  writeAxes(arena.memory.wordsAt(table, AXIS_WORDS * k), axes);
  const isGood = runUnits(reader, arena, words, count, 4 * k * step, (from, first, some) => ({
    kernel,
    args: [from, pointer + 4 * first, some, k, table],
  }));
  return isGood ? offsetsAt(arena, pointer, count) : null;
}

/** Computes one offset per element, or one per row if the job allows merging and all indices in each row are equal. */
function readRows(reader: IndexReader, arena: Arena, job: ElementJob): Uint32Array | null {
  const { shape, steps, step, merge } = job;
  const { memory } = arena;
  const last = shape.length - 1;
  const row = shape[last];
  if (merge && steps[last] === 1 && row >= reader.limits.row) {
    // The kernel stops at the first row with two different indices, so the check costs almost nothing.
    const rows = readElements(reader, arena, job, memory.kernels().find("rows", 32 * step), 1);
    if (rows !== null) return rows;
  }
  return readElements(reader, arena, job, memory.kernels().find("elements", 32 * step), row);
}

/**
 * Reads rows of indices with a kernel that computes `perRow` offsets for each row; returns null if the kernel rejected
 * a row.
 */
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
  // The kernel counts rows in its table, so each thread needs its own table, whereas consecutive windows continue with
  // the same table.
  let table = 0;
  const tableOf = (first: number): number => {
    if (first > 0 && !memory.has(words)) return table;
    const size = gridWords(shape.length);
    table = arena.allocate(4 * size);
    writeGrid(memory.wordsAt(table, size), job, first);
    return table;
  };
  const isGood = runUnits(reader, arena, words, rows, 4 * row * step, (from, first, some) => ({
    kernel,
    args: [from, pointer + 4 * perRow * first, some, row, tableOf(first)],
  }));
  return isGood ? offsetsAt(arena, pointer, perRow * rows) : null;
}

/**
 * Returns true if `gatherByIndices` can follow a job's indices without offsets, unless one is negative: they address
 * the last axis, and each row of indices has its own row of data.
 */
export const isDirect = (job: IndexJob): job is ElementJob =>
  job.kind === "elements" &&
  job.steps.every((step) => step === 0) &&
  job.axis.dim > 0 &&
  // On a longer axis, the bits of a negative int32 are also those of a valid index.
  job.axis.dim <= KERNELS.narrow;

/** Returns the most bytes that `gatherByIndices` needs for its windows, each of which has one row at least. */
export const bytesForRows = ({ shape }: ElementJob, { window }: WasmLimits): number =>
  3 * window + 20 * shape[shape.length - 1];

/** Checks indices in the arena's memory; returns false if one is outside its axis or negative. */
export function checkIndices(reader: IndexReader, arena: Arena, job: ElementJob): boolean {
  const { words, step, count, axis } = job;
  const kernel = arena.memory.kernels().find("check", 32 * step);
  return runUnits(reader, arena, words, count, 4 * step, (from, _, some) => ({
    kernel,
    args: [from, some, axis.dim],
  }));
}

/**
 * Gathers by the indices of a job that `isDirect` accepts: on all threads if everything is in the arena's memory, or
 * else through windows. Returns false if other kernels must gather, because an index is outside its axis or negative,
 * or for lack of a kernel; parts of `out` are then written, which the caller must overwrite.
 */
export function gatherByIndices(
  reader: IndexReader,
  arena: Arena,
  { job, isChecked }: Followed,
  dtype: DType,
  data: NumericStorage,
  out: NumericStorage,
): boolean {
  const { words, step, count, shape, axis } = job;
  const { dim } = axis;
  const { memory } = arena;
  const { bytes } = DTYPES[dtype];
  const row = shape[shape.length - 1];
  // Other widths are rare, so they have no kernels. Rows of data that are much longer than rows of indices are not
  // worth copying to a window.
  if (bytes !== 4 || (dim > 2 * row && !memory.has(data))) return false;
  const rows = count / row;
  const kernel = memory.kernels().find("pick", 32 * step);
  const sides = [
    { array: words, unit: 4 * step * row },
    { array: out, unit: bytes * row },
    { array: data, unit: bytes * dim },
  ];
  const callOf = ([from, to, random]: readonly number[], some: number): Call => ({
    kernel,
    args: [from, to, random, some, row, dim, Number(isChecked)],
  });
  if (sides.every(({ array }) => memory.has(array))) {
    const lists = shares(rows, reader.threadsFor(count * bytes)).map(([first, some]) => {
      const at = sides.map(({ array, unit }) => array.byteOffset + unit * first);
      return [callOf(at, some)];
    });
    return reader.run(memory, lists);
  }
  const most = Math.min(Math.max(Math.floor(reader.limits.window / sides[0].unit), 1), rows);
  const windows = sides.map(({ array, unit }) => new Window(arena, array, most * unit));
  for (let first = 0; first < rows; first += most) {
    const some = Math.min(most, rows - first);
    const pieces = sides.map(({ unit }) => [unit * first, unit * some] as const);
    for (const side of [0, 2]) windows[side].load(...pieces[side]);
    const at = windows.map((window, side) => window.at(pieces[side][0]));
    if (!reader.run(memory, [[callOf(at, some)]])) return false;
    windows[1].store(...pieces[1]);
  }
  return true;
}

const offsetsAt = ({ memory }: Arena, pointer: number, count: number): Uint32Array =>
  (memory.lastOffsets = memory.wordsAt(pointer, count));

/**
 * Processes `count` units of an array, with `unit` bytes each: in place and on all threads if the array is in the
 * arena's memory, or else through a window. Returns true if every kernel returned 0.
 * @param callOf returns the call for `some` units at an address, starting with unit number `first`
 */
function runUnits(
  reader: IndexReader,
  arena: Arena,
  array: NumericStorage,
  count: number,
  unit: number,
  callOf: (address: number, first: number, some: number) => Call,
): boolean {
  const { memory } = arena;
  if (memory.has(array)) {
    const lists = shares(count, reader.threadsFor(count * unit)).map(([first, some]) => [
      callOf(array.byteOffset + unit * first, first, some),
    ]);
    return reader.run(memory, lists);
  }
  const most = Math.max(Math.floor(reader.limits.window / Math.max(unit, 1)), 1);
  const window = new Window(arena, array, Math.min(most, count) * unit);
  for (let first = 0; first < count; first += most) {
    const some = Math.min(most, count - first);
    window.load(first * unit, some * unit);
    if (!reader.run(memory, [[callOf(window.at(0), first, some)]])) return false;
  }
  return true;
}

/** Writes the table that the kernel `tuples` needs for the given axes. */
function writeAxes(table: Uint32Array, axes: readonly IndexAxis[]): void {
  for (let j = 0; j < axes.length; j++) writeAxis(table, AXIS_WORDS * j, axes[j], 0);
}

/** Returns the number of words in the table of the kernels `elements` and `rows`, for indices of the given rank. */
const gridWords = (rank: number): number => AXIS_WORDS + GRID_WORDS + OUTER_WORDS * (rank - 1);

/** Writes the table for the kernels `elements` and `rows`, so that they begin at row `firstRow` of the indices. */
function writeGrid(table: Uint32Array, job: ElementJob, firstRow: number): void {
  const { axis, shape, steps } = job;
  const last = shape.length - 1;
  writeAxis(table, 0, axis, steps[last]);
  let place = 0;
  for (let d = last - 1, rest = firstRow; d >= 0; rest = Math.floor(rest / shape[d]), d--) {
    const counter = rest % shape[d];
    place += counter * steps[d];
    const at = AXIS_WORDS + GRID_WORDS + OUTER_WORDS * d;
    table[at] = shape[d];
    table[at + 1] = steps[d];
    table[at + 2] = counter;
  }
  table[AXIS_WORDS] = place;
  table[AXIS_WORDS + 1] = last;
}

/** Writes an axis. The dimension and the wrap have 64 bits in the table, although they are less than 2^32. */
function writeAxis(table: Uint32Array, at: number, axis: IndexAxis, step: number): void {
  table[at] = axis.dim;
  table[at + 1] = 0;
  table[at + 2] = axis.wrap;
  table[at + 3] = 0;
  table[at + 4] = axis.stride;
  table[at + 5] = step;
}
