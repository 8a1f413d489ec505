/**
 * Decides the share of each thread. Work is split by destination, so that no two threads write the same element:
 * batches, positions of a gather, columns of long slices, lanes of elements, or ranges of targets. Each thread keeps
 * the original order in its share, so the bits of the result do not depend on the number of threads.
 */

import { THREADS } from "../../limits.ts";
import { sliceArgs, type Call } from "./calls.ts";
import type { Slices } from "./layout.ts";
import type { Work } from "./plan-work.ts";

/** The way in which work was split. */
export type Split = "batches" | "positions" | "columns" | "lanes" | "partition";

export interface SplitWork {
  readonly by: Split;
  /** The calls of each thread. */
  readonly lists: readonly (readonly Call[])[];
}

/** A cache line, which no two threads should write. */
const LINE = 64;

/** The call of one thread that does everything. */
export const wholeOf = (work: Work): Call => part(work, 0, work.batches, 0, work.slices.count);

/**
 * Lists of calls for that many threads; null if the work cannot be split so that no two write the same element.
 * @param areEqualOrDisjoint true if no two merged slices overlap in part; slow, so called last
 */
export function splitWork(
  work: Work,
  threads: number,
  areEqualOrDisjoint: (slices: Slices) => boolean,
): SplitWork | null {
  const { batches, slices, unmerged, bytes } = work;
  if (batches >= threads) {
    const lists = shares(batches, threads).map(([first, some]) => [
      part(work, first, some, 0, slices.count),
    ]);
    return { by: "batches", lists };
  }
  const isLong = ({ slice }: Slices): boolean => slice * bytes >= threads * LINE;
  // A gather writes each position once, whichever slices overlap.
  if (work.isGather) {
    if (slices.count < threads && isLong(slices)) return splitColumns(work, slices, threads);
    const lists = shares(slices.count, threads).map(([first, some]) => [
      part(work, 0, batches, first, some),
    ]);
    return { by: "positions", lists };
  }
  const own = unmerged ?? slices;
  // Runs that were merged may overlap in part: two threads with columns of them would write the same element.
  if (isLong(own)) {
    const isWhole = unmerged !== null && areEqualOrDisjoint(slices);
    return splitColumns(work, isWhole ? slices : own, threads);
  }
  if (own.slice === 1 && batches === 1 && own.lanes * bytes >= threads * LINE) {
    return splitLanes(work, own, threads);
  }
  return isLong(slices) && areEqualOrDisjoint(slices) ? splitColumns(work, slices, threads) : null;
}

/** Positions `first` to `first + some` of some batches. */
export function part(
  work: Work,
  batch: number,
  batches: number,
  first: number,
  some: number,
): Call {
  const { slice, count, offsets } = work.slices;
  const { kernel, random, sequential, bytes, span, sharesOffsets } = work;
  const stride = sharesOffsets ? 0 : count;
  return {
    kernel,
    args: sliceArgs({
      random: random + batch * span * bytes,
      sequential: sequential + (batch * count + first) * slice * bytes,
      offsets: offsets + 4 * (batch * stride + first),
      count: some,
      slice,
      pitch: slice,
      span: reachOf(work, batches),
    }),
    repeat: batches,
    steps: [span * bytes, count * slice * bytes, 4 * stride],
  };
}

/**
 * The elements that a call reaches, by which a kernel decides whether to prefetch: those of all its batches, because
 * batches do not share cache lines.
 */
const reachOf = ({ span }: Work, batches: number): number => span * batches;

/** Each thread does some columns, in whole cache lines, of all slices. */
function splitColumns(work: Work, slices: Slices, threads: number): SplitWork {
  const { offsets, slice, count } = slices;
  const { kernel, random, sequential, bytes, batches, span, sharesOffsets } = work;
  const lists = linesOf(slice, bytes, threads).map(([begin, some]): Call[] => [
    {
      kernel,
      args: sliceArgs({
        random: random + begin * bytes,
        sequential: sequential + begin * bytes,
        offsets,
        count,
        slice: some,
        pitch: slice,
        span: reachOf(work, batches),
      }),
      repeat: batches,
      steps: [span * bytes, count * slice * bytes, sharesOffsets ? 0 : 4 * count],
    },
  ]);
  return { by: "columns", lists };
}

/** Each thread does some positions of each row of `lanes` positions. */
function splitLanes(work: Work, { offsets, count, lanes }: Slices, threads: number): SplitWork {
  const { kernel, random, sequential, bytes, span } = work;
  const lists = linesOf(lanes, bytes, threads).map(([begin, some]): Call[] => [
    {
      kernel,
      args: sliceArgs({
        random,
        sequential: sequential + begin * bytes,
        offsets: offsets + 4 * begin,
        count: some,
        slice: 1,
        pitch: 1,
        span,
      }),
      repeat: count / lanes,
      steps: [0, lanes * bytes, 4 * lanes],
    },
  ]);
  return { by: "lanes", lists };
}

/** `length` elements in equal parts of whole cache lines, as the first element and the number of elements of each. */
function linesOf(length: number, bytes: number, threads: number): readonly (readonly number[])[] {
  const line = Math.max(LINE / bytes, 1);
  return shares(Math.ceil(length / line), threads).map(([first, some]) => {
    const begin = first * line;
    return [begin, Math.min(some * line, length - begin)];
  });
}

/** Number of updates that {@link partitionWork} partitions at once. */
export const blockOf = (count: number): number =>
  Math.max(THREADS.partitioned, Math.ceil(count / THREADS.blocks));

/** True for single updates in one batch, which can be partitioned by destination. */
export const isPartitionable = ({ slices: { slice }, batches, bytes }: Work): boolean =>
  slice === 1 && batches === 1 && (bytes === 4 || bytes === 8);

/**
 * Partitions single updates by destination: each thread looks at all of them and applies those in its range of targets,
 * in their order.
 * @param partition the position of the kernel that selects updates
 * @param buffers for each thread the addresses of two blocks: of {@link blockOf} offsets, and of as many updates
 */
export function partitionWork(
  work: Work,
  partition: number,
  buffers: readonly (readonly [targets: number, values: number])[],
): SplitWork {
  const { kernel, bytes, span, random, sequential, slices } = work;
  const { offsets, count } = slices;
  const block = blockOf(count);
  const lists = shares(span, buffers.length).map(([low, some], thread) => {
    const [targets, values] = buffers[thread];
    return Array.from({ length: Math.ceil(count / block) }, (_, b): Call[] => {
      const first = b * block;
      const from = [
        offsets + 4 * first,
        sequential + first * bytes,
        Math.min(block, count - first),
      ];
      const selected = { random, sequential: values, offsets: targets, count: 0 };
      return [
        { kernel: partition, args: [...from, low, some, targets, values] },
        // The partition's result is the count.
        { kernel, args: sliceArgs({ ...selected, slice: 1, pitch: 1, span }), previous: 3 },
      ];
    }).flat();
  });
  return { by: "partition", lists };
}

/** A copy of that many bytes, split among threads. */
export function copyWork(
  copyBytes: number,
  to: number,
  from: number,
  bytes: number,
  threads: number,
): Call[][] {
  return linesOf(bytes, 1, threads).map(([begin, some]) => [
    { kernel: copyBytes, args: [to + begin, from + begin, some] },
  ]);
}

/** `count` things in at most `most` equal parts, as the first and the length of each; no part is empty. */
export function shares(count: number, most: number): (readonly [first: number, length: number])[] {
  const parts = Math.min(count, most);
  return Array.from({ length: parts }, (_, part) => {
    const first = Math.floor((count * part) / parts);
    return [first, Math.floor((count * (part + 1)) / parts) - first] as const;
  });
}
