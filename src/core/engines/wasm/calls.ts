/** Kernel calls as data, so that a worker can be given them, and the one function that runs them on every thread. */

import type { Kernel } from "./kernels.ts";

/** A kernel call, which may repeat. */
export interface Call {
  /** The position of the kernel among the exports. */
  readonly kernel: number;
  readonly args: readonly number[];
  /**
   * Number of times the call is made (1 if absent), and the increments of the first three arguments after each time.
   */
  readonly repeat?: number;
  readonly steps?: readonly [number, number, number];
  /** The position, 3 or more, of the argument that is the result of the call before, if one exists. */
  readonly previous?: number;
}

/**
 * Arguments of a kernel that moves or combines the slices of a Plan; see `assembly/combine.ts` and `assembly/move.ts`.
 */
export interface SliceArgs {
  /** Addresses of the random side, of the sequential side, and of the offsets. */
  readonly random: number;
  readonly sequential: number;
  readonly offsets: number;
  readonly count: number;
  /** Elements of a slice, and from each slice to the next on the sequential side. */
  readonly slice: number;
  readonly pitch: number;
  /** Number of elements that the offsets point into. */
  readonly span: number;
}

/** The arguments in the order of the kernels' parameters. This is the only place that knows the order. */
export const sliceArgs = (args: SliceArgs): number[] => [
  args.random,
  args.sequential,
  args.offsets,
  args.count,
  args.slice,
  args.pitch,
  args.span,
];

/** The most arguments that {@link runCalls} passes on. */
export const MOST_ARGS = 7;

const NO_STEPS = [0, 0, 0] as const;

/**
 * Runs calls one after the other.
 * @param onDone called after each kernel, so that others see that the thread makes progress
 * @returns true if every kernel returned 0 or nothing, except for results that the next call took as an argument
 */
export function runCalls(
  kernels: readonly Kernel[],
  calls: readonly Call[],
  onDone?: () => void,
): boolean {
  let isGood = true;
  let result = 0;
  for (const { kernel, args, repeat = 1, steps = NO_STEPS, previous } of calls) {
    const all = previous === undefined ? (args as number[]) : [...args];
    if (previous === undefined) isGood &&= result === 0;
    else all[previous] = result;
    result = 0;
    // Spreading a list would take ten times as long as the call. A kernel with fewer parameters ignores the others.
    for (let i = 0; i < repeat; i++) {
      const a = all[0] + i * steps[0];
      const b = all[1] + i * steps[1];
      const c = all[2] + i * steps[2];
      result |= kernels[kernel](a, b, c, all[3], all[4], all[5], all[6]) ?? 0;
      onDone?.();
    }
  }
  return isGood && result === 0;
}
