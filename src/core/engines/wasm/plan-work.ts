/** Prepares a Plan for kernels: copies its offsets to a WebAssembly memory, and merges them if they form runs. */

import type { Plan } from "../../plan/plan.ts";
import { greatestCommonDivisor } from "../../tensor/shape.ts";
import { DTYPES, type DType, type NumericStorage } from "../../tensor/dtype.ts";
import { KERNELS } from "../../limits.ts";
import type { Arena } from "./arena.ts";
import type { Call } from "./calls.ts";
import type { Layout, Slices } from "./kernel-memory.ts";

/** A kernel, and the tensors that it works on. */
export interface KernelJob {
  readonly kernel: number;
  readonly dtype: DType;
  /** True for a gather. */
  readonly isGather?: boolean | undefined;
  /** The random side: data of a gather, the result of a scatter. */
  readonly random: NumericStorage;
  /**
   * The initial contents of the random side: `random` itself if it already holds them, an array to copy into it, or
   * null for zeros.
   */
  readonly data: NumericStorage | null;
  /** The sequential side: updates, or the result of a gather. */
  readonly sequential: NumericStorage;
}

/** A Plan in memory, and the kernel that executes it. */
export interface Work extends Layout {
  readonly kernel: number;
  readonly isGather?: boolean | undefined;
  /** True for a scatter in which no two positions share a target; absent if that is not known. */
  readonly isDistinct?: boolean;
  /** Bytes of an element. */
  readonly bytes: number;
  /** Address of the random side. */
  readonly random: number;
  /** Address of the sequential side. */
  readonly sequential: number;
  readonly batches: number;
  /** Number of elements per batch of the random side. */
  readonly span: number;
  /** True if all batches share the offsets of a single batch. */
  readonly sharesOffsets: boolean;
}

/** @param job `random` and `sequential` lie in the arena's memory, or in windows later */
export function workOf(arena: Arena, plan: Plan, job: KernelJob): Work {
  const { offsets, count, batches, span } = plan;
  const { kernel, dtype, isGather, random, sequential } = job;
  const { slices, unmerged } = layoutOf(arena, plan);
  return {
    kernel,
    isGather,
    bytes: DTYPES[dtype].bytes,
    random: random.byteOffset,
    sequential: sequential.byteOffset,
    slices,
    unmerged,
    batches,
    span,
    sharesOffsets: offsets.length === count,
  };
}

/**
 * Returns the kernel that sums halves with float32 copies of the targets; undefined if no kernel can do the work, or if
 * copies do not pay off, because few updates share a target or many targets exist.
 * @param positions the number of slices that the kernel adds in a call
 */
export function copyingKernel(
  { memory }: Arena,
  { kernel, slices: { slice }, unmerged, span }: Work,
  positions: number,
): number | undefined {
  // Merged runs may partly overlap, and the kernel needs whole vectors of halves.
  if (unmerged !== null || slice % 8 !== 0 || positions * slice < 2 * span) return undefined;
  const kernels = memory.kernels();
  const isSum = span <= KERNELS.copied && kernel === kernels.of("float16", "add");
  return isSum ? kernels.find("sum_float16") : undefined;
}

/** Returns lists of calls that use copies of the targets, one for each list, where copies pay off. */
export function withCopies(
  arena: Arena,
  work: Work,
  lists: readonly (readonly Call[])[],
): readonly (readonly Call[])[] {
  const kernel = copyingKernel(arena, work, work.slices.count);
  if (kernel === undefined) return lists;
  return lists.map((list) => {
    const copies = arena.allocate(4 * work.span);
    return list.map((call) => callWithCopies(call, kernel, work, copies));
  });
}

/** @param copies the address of the copies, which take 4 bytes for each element of the span */
export const callWithCopies = (call: Call, kernel: number, work: Work, copies: number): Call => ({
  ...call,
  kernel,
  args: [...call.args.slice(0, 6), work.span, copies],
});

/**
 * Returns the offsets of a Plan in memory, merged into runs. The offsets of a kept Plan stay in the engine's memory
 * from the second call on.
 */
function layoutOf(arena: Arena, plan: Plan): Layout {
  const { memory } = arena;
  const { offsets } = plan;
  // Memory that is not shared with threads is used by all engines in the process, so nothing may stay there.
  if (plan.isKept !== true || !memory.isShared) return newLayout(arena, plan);
  const known = memory.kept.get(offsets);
  if (known) return known;
  const layout = newLayout(arena, plan);
  const kept = known === undefined ? null : keptLayout(arena, plan, layout);
  memory.kept.set(offsets, kept);
  return kept ?? layout;
}

function newLayout(arena: Arena, { offsets, slice, count, lanes = 1 }: Plan): Layout {
  const unmerged = { offsets: arena.addressOf(offsets), slice, count, lanes };
  const merged = mergeRuns(arena, unmerged, offsets.length);
  return { slices: merged ?? unmerged, unmerged: merged && unmerged };
}

/** Creates a layout that stays at its address until the offsets are garbage-collected. */
function keptLayout(arena: Arena, { offsets, count }: Plan, { slices, unmerged }: Layout): Layout {
  const stay = (some: Slices): Slices => {
    const length = (offsets.length / count) * some.count;
    return { ...some, offsets: arena.leave(some.offsets, 4 * length, offsets) };
  };
  if (unmerged === null) return { slices: stay(slices), unmerged };
  const starts = arena.memory.wordsAt(slices.offsets, (offsets.length / count) * slices.count);
  // Runs that do not partly overlap can be split among threads directly.
  const isEnough = areEqualOrDisjoint(starts, slices);
  // The longer list is first, so that if memory is full, neither list stays.
  const all = isEnough ? null : stay(unmerged);
  return { slices: stay(slices), unmerged: all };
}

/**
 * Returns fewer, longer slices if the `length` offsets of all batches form runs of equal length; otherwise returns
 * null.
 */
function mergeRuns(arena: Arena, { offsets, slice, count }: Slices, length: number): Slices | null {
  const { memory } = arena;
  const run = greatestCommonDivisor(memory.call("run_length", offsets, length, slice), count);
  if (run <= 1) return null;
  const starts = arena.allocate((4 * length) / run);
  memory.call("every_nth", offsets, starts, length / run, run);
  return { offsets: starts, slice: slice * run, count: count / run, lanes: 1 };
}

/**
 * Returns true if any two slices in the same batch are equal or disjoint, given their offsets batch after batch. A
 * single pass suffices for slices whose distances are multiples of their length; otherwise, the offsets are sorted.
 */
export function areEqualOrDisjoint(
  offsets: Uint32Array,
  { slice, count }: Pick<Slices, "slice" | "count">,
): boolean {
  for (let begin = 0; begin < offsets.length; begin += count) {
    const batch = offsets.subarray(begin, begin + count);
    if (!areAligned(batch, slice) && !areApart(batch.slice().sort(), slice)) return false;
  }
  return true;
}

function areAligned(offsets: Uint32Array, slice: number): boolean {
  const rest = offsets[0] % slice;
  for (let p = 1; p < offsets.length; p++) if (offsets[p] % slice !== rest) return false;
  return true;
}

function areApart(sorted: Uint32Array, slice: number): boolean {
  for (let p = 1; p < sorted.length; p++) {
    const distance = sorted[p] - sorted[p - 1];
    if (distance > 0 && distance < slice) return false;
  }
  return true;
}
