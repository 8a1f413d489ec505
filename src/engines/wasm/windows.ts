/**
 * Work on tensors of the heap: they pass through windows of scratch memory, which stay in the cache. That pays although
 * everything is copied twice; `bench/README.md` has the figures.
 */

import type { Plan } from "../../plan/plan.ts";
import type { NumericStorage } from "../../tensor/dtype.ts";
import { bytesOf } from "../../tensor/storage.ts";
import { runCalls, sliceArgs } from "./calls.ts";
import type { Arena } from "./kernel-memory.ts";
import type { Limits } from "./limits.ts";
import { isPartitionable } from "./split-work.ts";
import { workOf, type KernelJob, type Work } from "./plan-work.ts";

/**
 * Does a job of which not every tensor is in the arena's memory. The random side is copied in, as many batches at once as
 * fit into a window, or one where not even one fits; the side that is walked in order passes through a window of its own.
 */
export function runThroughWindows(arena: Arena, limits: Limits, plan: Plan, job: KernelJob): void {
  const work = workOf(arena, plan, job);
  const { slices, batches, span, bytes } = work;
  const { data, target, sequential } = job;
  const { memory } = arena;
  const length = slices.slice * bytes;
  const random = target ?? data;
  const isHere = memory.has(random);
  const limit = limits.window;
  // Stores wait for nothing. Sorted updates take no more memory than data.
  const isSorted =
    span * bytes >= limits.regions &&
    4 * slices.count <= span &&
    isPartitionable(work) &&
    (bytes === 4 || bytes === 8) &&
    job.kernel !== memory.kernels().scatter(bytes);
  if (target !== null && !isHere && isSorted) {
    runByRegions(arena, limit, work, { data, target, sequential });
    return;
  }
  const fitting = Math.floor(limit / Math.max(span * bytes, slices.count * length));
  const group = Math.max(Math.min(fitting, batches), 1);
  const most = Math.max(Math.floor(limit / length), 1);
  const ordered = windowOf(arena, sequential, Math.min(most, group * slices.count) * length);
  const region = isHere ? 0 : arena.allocate(group * span * bytes);
  const from = bytesOf(data);
  const to = target === null ? null : bytesOf(target);
  if (isHere && to !== null && random !== data) to.set(from);
  for (let first = 0; first < batches; first += group) {
    const some = Math.min(group, batches - first);
    const begin = first * span * bytes;
    const end = begin + some * span * bytes;
    if (!isHere) memory.bytesAt(region, end - begin).set(from.subarray(begin, end));
    const base = isHere ? random.byteOffset + begin : region;
    runBatches(arena, work, { first, some, base, most, ordered });
    if (!isHere) to?.set(memory.bytesAt(region, end - begin), begin);
  }
  // What lies in no batch is only copied.
  const reached = batches * span * bytes;
  if (!isHere) to?.set(from.subarray(reached, plan.size * bytes), reached);
}

type ScatterJob = Record<"data" | "target" | "sequential", NumericStorage>;

/** Where the side that is walked in order is, part by part. */
interface Window {
  /** The address of the bytes from `begin` on; `load` copies them into the window first, where there is one. */
  at(begin: number): number;
  load(begin: number, length: number): number;
  /** Copies the bytes back from the window, where there is one. */
  store(begin: number, length: number): void;
}

function windowOf(arena: Arena, array: NumericStorage, size: number): Window {
  const { memory } = arena;
  const at = (begin: number): number => array.byteOffset + begin;
  if (memory.has(array)) return { at, load: at, store() {} };
  const all = bytesOf(array);
  const window = arena.allocate(size);
  return {
    at: () => window,
    load(begin, length) {
      memory.bytesAt(window, length).set(all.subarray(begin, begin + length));
      return window;
    },
    store(begin, length) {
      all.set(memory.bytesAt(window, length), begin);
    },
  };
}

/** Batches that are in memory together. */
interface Group {
  readonly first: number;
  readonly some: number;
  /** The address of the first of them on the random side. */
  readonly base: number;
  /** Slices that pass through the window at once. */
  readonly most: number;
  readonly ordered: Window;
}

/** All batches of a group at once where the window holds their slices, else one after the other in pieces. */
function runBatches(arena: Arena, work: Work, { first, some, base, most, ordered }: Group): void {
  const { kernel, isGather, bytes, span, sharesOffsets } = work;
  const { offsets, slice, count } = work.slices;
  const { all } = arena.memory.kernels();
  const length = slice * bytes;
  const stride = sharesOffsets ? 0 : count;
  const run = (batch: number, batches: number, position: number, positions: number): void => {
    const begin = ((first + batch) * count + position) * length;
    const bytesMoved = batches * positions * length;
    const args = sliceArgs({
      random: base + batch * span * bytes,
      sequential: isGather ? ordered.at(begin) : ordered.load(begin, bytesMoved),
      offsets: offsets + 4 * ((first + batch) * stride + position),
      count: positions,
      slice,
      pitch: slice,
      span,
    });
    const steps = [span * bytes, count * length, 4 * stride] as const;
    runCalls(all, [{ kernel, args, repeat: batches, steps }]);
    if (isGather) ordered.store(begin, bytesMoved);
  };
  if (some * count <= most) return run(0, some, 0, count);
  for (let batch = 0; batch < some; batch++) {
    for (let p = 0; p < count; p += most) run(batch, 1, p, Math.min(most, count - p));
  }
}

/**
 * Single updates of more data than the cache holds, sorted by the region of data that they change, those of one region in
 * their order. So data passes by once and in order, and each update finds its target in the cache. Measured: adding
 * 1,000,000 float32 at random into 16 MB 7.6 to 6.0 ms, into 64 MB 20.5 to 13.5.
 * @param length bytes of a region, a power of two
 */
function runByRegions(
  arena: Arena,
  length: number,
  { kernel, bytes, slices: { offsets, count } }: Work,
  { data, target, sequential }: ScatterJob,
): void {
  const { memory } = arena;
  const [from, to] = [bytesOf(data), bytesOf(target)];
  const regions = Math.ceil(to.length / length);
  const sizes = [4 * regions, 4 * count, bytes * count, length];
  const [ends, targets, values, window] = sizes.map((size) => arena.allocate(size));
  const region = [length / bytes, ends, regions, targets, values];
  const sort = memory.kernels().distribute(bytes);
  memory.call(sort, offsets, arena.addressOf(sequential), count, ...region);
  let p = 0;
  for (const [r, end] of memory.wordsAt(ends, regions).entries()) {
    const begin = r * length;
    const part = from.subarray(begin, begin + length);
    const here = memory.bytesAt(window, part.length);
    here.set(part);
    const first = [window - begin, values + bytes * p, targets + 4 * p];
    memory.call(kernel, ...first, end - p, 1, 1, length / bytes);
    to.set(here, begin);
    p = end;
  }
}
