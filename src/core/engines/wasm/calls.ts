/**
 * Kernel calls as data, the only function that runs them, on every thread, and the control words that send them to
 * workers. A worker pool shares the control words with its workers in a SharedArrayBuffer: a header of counters, and
 * each worker's list of calls for the current round.
 */

import type { Kernel } from "./kernels.ts";

/** A kernel call, which may be repeated. */
export interface Call {
  /** Position of the kernel among the module's exports. */
  readonly kernel: number;
  /**
   * The kernel's arguments. A kernel that moves or combines the slices of a Plan has the addresses of the random side,
   * the sequential side and the offsets; the number of slices; the number of elements in a slice; the distance between
   * consecutive slices on the sequential side, in elements; and the number of elements that the offsets point into. See
   * `assembly/combine.ts` and `assembly/move.ts`.
   */
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

/** Maximum number of arguments that `runCalls` passes to a kernel. */
const MOST_ARGS = 8;

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

/** Word for the number of workers that have finished the round. */
export const DONE = 0;
/** Word for the number of workers that take part in the round. */
export const PARTS = 1;
/**
 * Word for the result of the round: 0 if every kernel returned 0, `BAD` if a kernel did not, at least
 * `FAILED` if a kernel threw.
 */
export const RESULT = 2;
export const BAD = 1;
export const FAILED = 2;
/** Word for the number of kernels that have returned. */
export const PROGRESS = 3;
/** Word that is 1 if workers must post a message at the end of the round, because the caller does not wait. */
export const BY_MESSAGE = 4;
/** Word for the number of workers that have started. */
export const STARTED = 5;
/** Word for the number of checks for a new round before a worker sleeps. */
export const SPINS = 6;
const HEADER = 16;

/**
 * Position of the arguments in a call's words, which are: kernel, repeat, three steps, position of the previous result,
 * arguments.
 */
const ARGS = 6;
const CALL_WORDS = ARGS + MOST_ARGS;
/**
 * Maximum number of calls for one worker in one round: more than two for each of the at most 256 partitioned blocks.
 */
export const MOST_CALLS = 1024;
/** Number of words before a worker's calls, which hold the number of its last round and the number of calls. */
const WORKER_HEADER = 16;
const WORKER_WORDS = WORKER_HEADER + CALL_WORDS * MOST_CALLS;

export const controlWords = (workers: number): Int32Array =>
  new Int32Array(
    new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * (HEADER + WORKER_WORDS * workers)),
  );

/**
 * Returns the position of the word with the number of a worker's last round; the number is negative if the worker must
 * end. Each worker sleeps on its own word, because waking idle workers takes longer than a small round.
 */
export const roundOf = (worker: number): number => HEADER + worker * WORKER_WORDS;

/** Writes one worker's calls into the control words. */
export function writeCalls(words: Int32Array, worker: number, calls: readonly Call[]): void {
  // Calls beyond this limit would overwrite the next worker's calls.
  if (calls.length > MOST_CALLS) throw new Error(`${calls.length} calls, but ${MOST_CALLS} fit`);
  const at = roundOf(worker);
  words[at + 1] = calls.length;
  for (const [i, call] of calls.entries()) {
    const { kernel, args, repeat = 1, steps = [0, 0, 0], previous = -1 } = call;
    if (args.length > MOST_ARGS) throw new Error(`${args.length} arguments, but ${MOST_ARGS} fit`);
    const first = at + WORKER_HEADER + CALL_WORDS * i;
    words.set([kernel, repeat, ...steps, previous, ...args], first);
    words.fill(0, first + ARGS + args.length, first + CALL_WORDS);
  }
}

/**
 * Reads the calls that `writeCalls` wrote. Arguments are read as signed numbers, which kernels interpret modulo
 * 2^32.
 */
export function readCalls(words: Int32Array, worker: number): Call[] {
  const at = roundOf(worker);
  return Array.from({ length: words[at + 1] }, (_, i) => {
    const first = at + WORKER_HEADER + CALL_WORDS * i;
    const [kernel, repeat, x, y, z, previous] = words.subarray(first, first + ARGS);
    const args = [...words.subarray(first + ARGS, first + CALL_WORDS)];
    return { kernel, args, repeat, steps: [x, y, z], ...(previous >= 0 && { previous }) };
  });
}
