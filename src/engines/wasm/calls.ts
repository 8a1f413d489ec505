/**
 * Work as lists of kernel calls, one list for each thread. It is split by what is written: batches, columns of long
 * slices, columns of positions, or ranges of targets. No two threads write the same place, each does its part in the old
 * order, and so the result has the same bits however many they are.
 */

import type { Kernel } from "./kernels.ts";

/** A kernel call, which may repeat. */
export interface Call {
  /** The place of the kernel among the exports. */
  readonly kernel: number;
  readonly args: readonly number[];
  /** How often it is done, 1 if absent, and what is added to the first three arguments after each time. */
  readonly repeat?: number;
  readonly steps?: readonly [number, number, number];
  /** The position, 3 or more, of the argument that is the result of the call before, where there is one. */
  readonly previous?: number;
}

/** Runs calls one after the other. @returns whether all gave 0 or nothing, but for results that the next call took */
export function runCalls(kernels: readonly Kernel[], calls: readonly Call[]): boolean {
  let isGood = true;
  let result = 0;
  for (const { kernel, args, repeat = 1, steps = [0, 0, 0], previous } of calls) {
    const [a, b, c, ...rest] = args;
    if (previous === undefined) isGood &&= result === 0;
    else rest[previous - 3] = result;
    result = 0;
    for (let i = 0; i < repeat; i++) {
      result |= kernels[kernel](a + i * steps[0], b + i * steps[1], c + i * steps[2], ...rest) ?? 0;
    }
  }
  return isGood && result === 0;
}

/** A Plan over memory: what {@link split} splits. */
export interface Work {
  readonly kernel: number;
  readonly isGather: boolean;
  /** Bytes of an element. */
  readonly bytes: number;
  /** Addresses: of the side that offsets point into, the one that is walked in order, and the offsets. */
  readonly random: number;
  readonly sequential: number;
  readonly offsets: number;
  readonly slice: number;
  readonly count: number;
  readonly batches: number;
  /** Elements of a batch of the random side. */
  readonly span: number;
  /** From the offsets of a batch to those of the next, 4 bytes each: `count`, or 0 where they are the same. */
  readonly stride: number;
  /** As in Plan: positions that differ by this modulo never meet. */
  readonly lanes: number;
}

/** A cache line, which no two threads should write. */
const LINE = 64;

/** The calls of one thread that does everything. */
export const wholeOf = (work: Work): Call[] => [part(work, 0, work.batches, 0, work.count)];

/** Lists of calls for that many threads; null where the work cannot be split so that no two write the same place. */
export function splitWork(work: Work, threads: number): Call[][] | null {
  const { batches, count, slice, bytes, isGather, lanes } = work;
  if (batches >= threads) {
    return shares(batches, threads).map(([first, some]) => [part(work, first, some, 0, count)]);
  }
  if (isGather) {
    return shares(count, threads).map(([first, some]) => [part(work, 0, batches, first, some)]);
  }
  const line = Math.max(LINE / bytes, 1);
  if (slice >= threads * line) {
    return shares(Math.ceil(slice / line), threads).map(([first, some]) => {
      const begin = first * line;
      return [columns(work, begin, Math.min(some * line, slice - begin))];
    });
  }
  if (slice === 1 && batches === 1 && lanes >= threads * line) {
    return shares(Math.ceil(lanes / line), threads).map(([first, some]) => {
      const begin = first * line;
      return [lanesOf(work, begin, Math.min(some * line, lanes - begin))];
    });
  }
  return null;
}

/**
 * Positions `first` to `first + some` of a number of batches. To its kernel the targets lie in all of them: what another
 * batch left in the cache is nothing of this one's.
 */
function part(work: Work, batch: number, batches: number, first: number, some: number): Call {
  const { kernel, bytes, slice, count, span, stride } = work;
  return {
    kernel,
    args: [
      work.random + batch * span * bytes,
      work.sequential + (batch * count + first) * slice * bytes,
      work.offsets + 4 * (batch * stride + first),
      some,
      slice,
      slice,
      span * batches,
    ],
    repeat: batches,
    steps: [span * bytes, count * slice * bytes, 4 * stride],
  };
}

/** Some columns of all slices. */
function columns(work: Work, begin: number, some: number): Call {
  const { kernel, bytes, slice, count, batches, span, stride } = work;
  const at = begin * bytes;
  return {
    kernel,
    args: [
      work.random + at,
      work.sequential + at,
      work.offsets,
      count,
      some,
      slice,
      span * batches,
    ],
    repeat: batches,
    steps: [span * bytes, count * slice * bytes, 4 * stride],
  };
}

/** Some positions of each row of positions, `lanes` in number. */
function lanesOf(work: Work, begin: number, some: number): Call {
  const { kernel, bytes, count, span, lanes } = work;
  return {
    kernel,
    args: [
      work.random,
      work.sequential + begin * bytes,
      work.offsets + 4 * begin,
      some,
      1,
      1,
      span,
    ],
    repeat: count / lanes,
    steps: [0, lanes * bytes, 4 * lanes],
  };
}

/** Updates that are dealt out at once, so that they stay in the cache; more where the calls would be too many. */
const DEALT = 2 ** 14;
const MOST_DEALS = 256;

/** How many updates {@link dealWork} deals out at once. */
export const dealt = (count: number): number => Math.max(DEALT, Math.ceil(count / MOST_DEALS));

/**
 * Single updates by ranges of their targets: each thread looks at all of them and takes its own, in their order.
 * @param buffers the addresses of two blocks of {@link dealt} offsets and of as many updates, for each thread
 */
export function dealWork(
  work: Work,
  deal: number,
  buffers: readonly (readonly [targets: number, values: number])[],
): Call[][] {
  const { kernel, bytes, count, span, random, sequential, offsets } = work;
  const block = dealt(count);
  return shares(span, buffers.length).map(([low, some], thread) => {
    const [targets, values] = buffers[thread];
    return Array.from({ length: Math.ceil(count / block) }, (_, b): Call[] => {
      const first = b * block;
      const from = [
        offsets + 4 * first,
        sequential + first * bytes,
        Math.min(block, count - first),
      ];
      return [
        { kernel: deal, args: [...from, low, some, targets, values] },
        { kernel, args: [random, values, targets, 0, 1, 1, span], previous: 3 },
      ];
    }).flat();
  });
}

/** A copy of that many bytes. */
export function copyWork(
  copy: number,
  to: number,
  from: number,
  bytes: number,
  threads: number,
): Call[][] {
  return shares(Math.ceil(bytes / LINE), threads).map(([first, some]) => {
    const begin = first * LINE;
    const args = [to + begin, from + begin, Math.min(some * LINE, bytes - begin)];
    return [{ kernel: copy, args }];
  });
}

/** `count` things in equal parts, as the first and the length of each. */
export function shares(count: number, parts: number): (readonly [first: number, length: number])[] {
  return Array.from({ length: parts }, (_, part) => {
    const first = Math.floor((count * part) / parts);
    return [first, Math.floor((count * (part + 1)) / parts) - first] as const;
  });
}
