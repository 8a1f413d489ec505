/**
 * Represents kernel calls as data that can be sent to workers, and has the only function that runs them, on every
 * thread.
 */

import type { Kernel } from "./kernels.ts";

/** A kernel call, which may be repeated. */
export interface Call {
  /** Position of the kernel among the module's exports. */
  readonly kernel: number;
  readonly args: readonly number[];
  /**
   * Number of repetitions of the call (1 if absent). `steps` are added to the first three arguments after each
   * repetition.
   */
  readonly repeat?: number;
  readonly steps?: readonly [number, number, number];
  /** Position of an argument, 3 or more, that is the result of the previous call; absent if no argument is. */
  readonly previous?: number;
}

/**
 * Arguments of a kernel that moves or combines the slices of a Plan; see `assembly/combine.ts` and `assembly/move.ts`.
 */
export interface SliceArgs {
  /** Address of the random side. */
  readonly random: number;
  /** Address of the sequential side. */
  readonly sequential: number;
  /** Address of the offsets. */
  readonly offsets: number;
  readonly count: number;
  /** Number of elements in a slice. */
  readonly slice: number;
  /** Distance between consecutive slices on the sequential side, in elements. */
  readonly pitch: number;
  /** Number of elements that the offsets point into. */
  readonly span: number;
}

/** Returns the arguments in the order of the kernels' parameters. */
export const sliceArgs = (args: SliceArgs): number[] => [
  args.random,
  args.sequential,
  args.offsets,
  args.count,
  args.slice,
  args.pitch,
  args.span,
];

/** Maximum number of arguments that `runCalls` passes to a kernel. */
export const MOST_ARGS = 8;

const NO_STEPS = [0, 0, 0] as const;

/**
 * Runs kernel calls in order. Returns true if every kernel returned 0 or nothing, apart from results that are arguments
 * of the next call.
 * @param onDone called after each kernel, so that other threads see progress
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
    // Spreading a list would take ten times as long as the call. A kernel with fewer parameters ignores extra
    // arguments.
    for (let i = 0; i < repeat; i++) {
      const a = all[0] + i * steps[0];
      const b = all[1] + i * steps[1];
      const c = all[2] + i * steps[2];
      result |= kernels[kernel](a, b, c, all[3], all[4], all[5], all[6], all[7]) ?? 0;
      onDone?.();
    }
  }
  return isGood && result === 0;
}
