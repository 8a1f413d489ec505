/**
 * Processes heap tensors, which pass through windows of scratch memory that stay in the cache. Windows pay off although
 * everything is copied twice; `bench/LOG.md` has the figures.
 */

import { MOVE, type WasmLimits } from "../../limits.ts";
import type { Plan } from "../../plan/plan.ts";
import { DTYPES, type DType, type NumericStorage, type Step } from "../../tensor/dtype.ts";
import { bytesOf, copy } from "../../tensor/storage.ts";
import { runCalls } from "./calls.ts";
import type { Arena } from "./arena.ts";
import { isPartitionable, part } from "./split-work.ts";
import { callWithCopies, copyingKernel, workOf, type KernelJob, type Work } from "./plan-work.ts";

/**
 * Returns true if kernels save more time than copying data for them takes. Compared with JavaScript, WebAssembly takes
 * 2.4 times as long for adding 33,000 float32 in place to 8 MB, and 0.88 times as long for 126,000. Gathering 256-byte
 * slices from 12 MB takes 1.4 times as long for 11,700 slices, and 0.71 times as long for 32,800.
 * @param copies the number of copies of data that only kernels need
 */
export function windowsPay(
  plan: Plan,
  dtype: DType,
  step: Step,
  copies: number,
  limits: WasmLimits,
): boolean {
  const { batches, count, slice, size } = plan;
  const { bytes, family } = DTYPES[dtype];
  const slices = batches * count;
  const copied = copies * size * bytes;
  if (step === "none") {
    // JavaScript takes as long for a slice as for 4 to 40 single elements, and half as long if it moves words.
    const length = slice * bytes;
    const isWide = length >= 64 && length % 8 === 0 && slices * length >= MOVE.large;
    const cost = isWide ? limits.element / 2 : limits.element;
    const saved = cost * Math.min(Math.max(slice, 4), 40);
    return length <= limits.slice && slices * saved >= copied + 3 * limits.call;
  }
  // JavaScript adds a float32 in 2.5 ns and a float16 in 40 ns, and waits 40 ns for a target that is not in a cache.
  const missed = size * bytes >= limits.regions ? 512 : 0;
  const saved = slice * limits.element * (family === "half" ? 16 : 2) + missed;
  return slices * saved >= copied + limits.call;
}

/**
 * Returns the scratch bytes that a Plan needs: a batch of the random side, a merged slice of up to that length, and the
 * offsets before and after merging.
 */
export const bytesFor = ({ span, offsets }: Plan, dtype: DType): number =>
  2 * (span * DTYPES[dtype].bytes + offsets.byteLength);

/**
 * Runs a job with a tensor outside the arena's memory. The random side is copied in, as many batches at a time as fit
 * in a window, but at least one; the sequential side passes through its own window.
 */
export function runThroughWindows(
  arena: Arena,
  limits: WasmLimits,
  plan: Plan,
  job: KernelJob,
): void {
  const work = workOf(arena, plan, job);
  const { slices, batches, span, bytes, isGather } = work;
  const { random, data, sequential } = job;
  const { memory } = arena;
  const length = slices.slice * bytes;
  const isHere = memory.has(random);
  const limit = limits.window;
  // Only reductions are sorted, because plain stores do not wait for memory. Updates must be at most a quarter of data,
  // so that the sorted updates take no more memory than data.
  const isSorted =
    span * bytes >= limits.regions &&
    4 * slices.count <= span &&
    isPartitionable(work) &&
    job.kernel !== memory.kernels().find("scatter", bytes);
  if (!isGather && !isHere && isSorted) {
    // The size is a power of two, because the kernel divides by shifting.
    const region = 2 ** Math.floor(Math.log2(limit));
    runByRegions(arena, region, work, data, random, sequential);
    return;
  }
  const fitting = Math.floor(limit / Math.max(span * bytes, slices.count * length));
  const group = Math.max(Math.min(fitting, batches), 1);
  const isCopied = copyingKernel(arena, work, slices.count) !== undefined;
  const most = Math.max(Math.floor((isCopied ? limits.halves : limit) / length), 1);
  const ordered = new Window(arena, sequential, Math.min(most, group * slices.count) * length);
  const region = isHere ? 0 : arena.allocate(group * span * bytes);
  const copies = isCopied ? arena.allocate(4 * span) : 0;
  if (isHere && data !== random) copy(data, random);
  for (let first = 0; first < batches; first += group) {
    const end = Math.min(first + group, batches);
    const begin = first * span * bytes;
    const loaded = (end - first) * span * bytes;
    if (!isHere) arena.copyIn(data, begin, loaded, region);
    // The address that batch 0 would have if all batches were contiguous with those of the group.
    const here = { ...work, random: isHere ? random.byteOffset : region - begin };
    for (const piece of piecesOf(slices.count, first, end, most)) {
      runPiece(arena, here, piece, ordered, copies);
    }
    if (!isHere && !isGather) arena.copyOut(region, loaded, random, begin);
  }
  // Elements that do not belong to a batch are only copied.
  const reached = batches * span * bytes;
  if (isHere || isGather) return;
  copy(data && bytesOf(data).subarray(reached), bytesOf(random).subarray(reached));
}

/**
 * An array that kernels process piece by piece: in place if it is in the arena's memory, or else copied to windows
 * there, which consecutive pieces use in turn.
 */
export class Window {
  readonly #arena: Arena;
  readonly #array: NumericStorage;
  /** Addresses of the windows; empty if the array does not need a window. */
  readonly #addresses: readonly number[];

  constructor(arena: Arena, array: NumericStorage, bytes: number, windows = 1) {
    this.#arena = arena;
    this.#array = array;
    const addresses: number[] = [];
    // A loop, because `Array.from` with a function takes a tenth of a call of 300 updates.
    if (!arena.memory.has(array)) {
      for (let w = 0; w < windows; w++) addresses.push(arena.allocate(bytes));
    }
    this.#addresses = addresses;
  }

  /** Returns the address of a piece, whose bytes start at `begin`. */
  at(begin: number, piece = 0): number {
    const { length } = this.#addresses;
    return length === 0 ? this.#array.byteOffset + begin : this.#addresses[piece % length];
  }

  /** Copies a piece into its window, if the array needs a window. */
  load(begin: number, length: number, piece = 0): void {
    if (this.#addresses.length === 0) return;
    this.#arena.copyIn(this.#array, begin, length, this.at(begin, piece));
  }

  /** Copies a piece back from its window, if the array needs a window. */
  store(begin: number, length: number, piece = 0): void {
    if (this.#addresses.length === 0) return;
    this.#arena.copyOut(this.at(begin, piece), length, this.#array, begin);
  }
}

/** Consecutive slices of the sequential side: some positions of one batch, or all positions of some batches. */
export interface Piece {
  readonly batch: number;
  readonly batches: number;
  readonly position: number;
  readonly positions: number;
}

/**
 * Splits the batches from `first` to `end`, with `count` slices each, into pieces of at most `most` slices: all
 * positions of as many batches as fit, or parts of a batch that does not fit.
 */
export function piecesOf(count: number, first: number, end: number, most: number): Piece[] {
  const pieces: Piece[] = [];
  const step = Math.max(Math.floor(most / count), 1);
  for (let batch = first; batch < end; batch += step) {
    const batches = Math.min(step, end - batch);
    for (let position = 0; position < count; position += most) {
      pieces.push({ batch, batches, position, positions: Math.min(most, count - position) });
    }
  }
  return pieces;
}

/** @param copies the address for copies of a batch, or 0 */
function runPiece(
  arena: Arena,
  work: Work,
  { batch, batches, position, positions }: Piece,
  ordered: Window,
  copies: number,
): void {
  const { isGather, bytes } = work;
  const { slice, count } = work.slices;
  const begin = (batch * count + position) * slice * bytes;
  const length = batches * positions * slice * bytes;
  if (!isGather) ordered.load(begin, length);
  const here = { ...work, sequential: ordered.at(begin) - begin };
  const call = part(here, batch, batches, position, positions);
  const copying = copies === 0 ? undefined : copyingKernel(arena, work, positions);
  const best = copying === undefined ? call : callWithCopies(call, copying, work, copies);
  runCalls(arena.memory.kernels().all, [best]);
  if (isGather) ordered.store(begin, length);
}

/**
 * Applies single-element updates to data that does not fit in the cache, after a stable sort by the region of data that
 * they change. Data is read once and in order, and each update finds its target in the cache. Adding 1,000,000 random
 * float32 takes 6.0 ms instead of 7.6 ms in 16 MB, and 13.5 ms instead of 20.5 ms in 64 MB.
 * @param length the size of a region in bytes, a power of two
 */
function runByRegions(
  arena: Arena,
  length: number,
  { kernel, bytes, slices: { offsets, count } }: Work,
  data: NumericStorage | null,
  target: NumericStorage,
  sequential: NumericStorage,
): void {
  const { memory } = arena;
  const regions = Math.ceil(target.byteLength / length);
  const sizes = [4 * regions, 4 * count, bytes * count, length];
  const [ends, targets, values, window] = sizes.map((size) => arena.allocate(size));
  const updates = arena.addressOf(sequential);
  const { all } = memory.kernels();
  const distribute = memory.kernels().find("distribute", bytes);
  const region = length / bytes;
  all[distribute](offsets, updates, count, region, ends, regions, targets, values);
  let p = 0;
  for (const [r, end] of memory.wordsAt(ends, regions).entries()) {
    const begin = r * length;
    const some = Math.min(length, target.byteLength - begin);
    arena.copyIn(data, begin, some, window);
    all[kernel](window - begin, values + bytes * p, targets + 4 * p, end - p, 1, 1, region);
    arena.copyOut(window, some, target, begin);
    p = end;
  }
}
