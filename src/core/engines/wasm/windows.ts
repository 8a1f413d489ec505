/**
 * Processes heap tensors, which pass through windows of scratch memory that stay in the cache. Windows pay off although
 * everything is copied twice; `bench/LOG.md` has the figures.
 */

import { MOVE, type WasmLimits } from "../../limits.ts";
import type { Plan } from "../../plan/plan.ts";
import { DTYPES, type DType, type NumericStorage, type Step } from "../../tensor/dtype.ts";
import { bytesOf, copy } from "../../tensor/storage.ts";
import { runCalls, sliceArgs } from "./calls.ts";
import type { Arena } from "./arena.ts";
import { isPartitionable } from "./split-work.ts";
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
    job.kernel !== memory.kernels().scatter(bytes);
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
    const some = Math.min(group, batches - first);
    const begin = first * span * bytes;
    const end = begin + some * span * bytes;
    if (!isHere) arena.copyIn(data, begin, end - begin, region);
    const base = isHere ? random.byteOffset + begin : region;
    runBatches(arena, work, { first, some, base, most, ordered, copies });
    if (!isHere && !isGather) arena.copyOut(region, end - begin, random, begin);
  }
  // Elements that do not belong to a batch are only copied.
  const reached = batches * span * bytes;
  if (isHere || isGather) return;
  copy(data && bytesOf(data).subarray(reached), bytesOf(random).subarray(reached));
}

/** The sequential side, part by part: in place if it is in the arena's memory, or copied to a window there. */
class Window {
  readonly #arena: Arena;
  readonly #array: NumericStorage;
  /** Address of the window; null if the array does not need a window. */
  readonly #address: number | null;

  constructor(arena: Arena, array: NumericStorage, size: number) {
    this.#arena = arena;
    this.#array = array;
    this.#address = arena.memory.has(array) ? null : arena.allocate(size);
  }

  /** Returns the address of the bytes that start at `begin`. */
  at(begin: number): number {
    return this.#address ?? this.#array.byteOffset + begin;
  }

  /** Copies bytes into the window, if the array needs a window. */
  load(begin: number, length: number): void {
    if (this.#address !== null) this.#arena.copyIn(this.#array, begin, length, this.#address);
  }

  /** Copies bytes back from the window, if the array needs a window. */
  store(begin: number, length: number): void {
    if (this.#address !== null) this.#arena.copyOut(this.#address, length, this.#array, begin);
  }
}

/** Batches that are in memory together. */
interface Group {
  readonly first: number;
  readonly some: number;
  /** Address of the first batch in the group, on the random side. */
  readonly base: number;
  /** Maximum number of slices that pass through the window at once. */
  readonly most: number;
  readonly ordered: Window;
  /** Address for copies of a batch, or 0. */
  readonly copies: number;
}

/**
 * Processes all batches of a group at once if their slices fit in the window; otherwise one batch after another, in
 * pieces.
 */
function runBatches(arena: Arena, work: Work, group: Group): void {
  const { count } = work.slices;
  const { some, most } = group;
  if (some * count <= most) return runPart(arena, work, group, 0, some, 0, count);
  for (let batch = 0; batch < some; batch++) {
    for (let p = 0; p < count; p += most) {
      runPart(arena, work, group, batch, 1, p, Math.min(most, count - p));
    }
  }
}

/**
 * Processes `positions` slices in each of `batches` batches, starting with slice `position` in batch `batch` of the
 * group.
 */
function runPart(
  arena: Arena,
  work: Work,
  { first, base, ordered, copies }: Group,
  batch: number,
  batches: number,
  position: number,
  positions: number,
): void {
  const { kernel, isGather, bytes, span, sharesOffsets } = work;
  const { offsets, slice, count } = work.slices;
  const length = slice * bytes;
  const stride = sharesOffsets ? 0 : count;
  const begin = ((first + batch) * count + position) * length;
  const bytesMoved = batches * positions * length;
  if (!isGather) ordered.load(begin, bytesMoved);
  const args = sliceArgs({
    random: base + batch * span * bytes,
    sequential: ordered.at(begin),
    offsets: offsets + 4 * ((first + batch) * stride + position),
    count: positions,
    slice,
    pitch: slice,
    span,
  });
  const steps = [span * bytes, count * length, 4 * stride] as const;
  const call = { kernel, args, repeat: batches, steps };
  const copying = copies === 0 ? undefined : copyingKernel(arena, work, positions);
  const best = copying === undefined ? call : callWithCopies(call, copying, work, copies);
  runCalls(arena.memory.kernels().all, [best]);
  if (isGather) ordered.store(begin, bytesMoved);
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
  const { all, distribute } = memory.kernels();
  const region = length / bytes;
  all[distribute(bytes)](offsets, updates, count, region, ends, regions, targets, values);
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
