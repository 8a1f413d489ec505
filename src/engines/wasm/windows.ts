/**
 * Work on tensors of the heap: they pass through windows of scratch memory, which stay in the cache. That pays although
 * everything is copied twice; `bench/README.md` has the figures.
 */

import type { Plan } from "../../plan/plan.ts";
import type { NumericStorage } from "../../tensor/dtype.ts";
import { bytesOf } from "../../tensor/storage.ts";
import { runCalls, sliceArgs } from "./calls.ts";
import type { Arena } from "./kernel-memory.ts";
import { workOf, type KernelJob, type Work } from "./plan-work.ts";

/**
 * Does a job of which not every tensor is in the arena's memory. The random side is copied in, as many batches at once as
 * fit into a window, or one where not even one fits; the side that is walked in order passes through a window of its own.
 * @param limit bytes of a window
 */
export function runThroughWindows(arena: Arena, limit: number, plan: Plan, job: KernelJob): void {
  const work = workOf(arena, plan, job);
  const { slices, batches, span, bytes } = work;
  const { data, target, sequential } = job;
  const { memory } = arena;
  const length = slices.slice * bytes;
  const random = target ?? data;
  const isHere = memory.has(random);
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
