/**
 * The control words that a worker pool shares with its workers, in a SharedArrayBuffer: a header of counters, and each
 * worker's list of calls for the current round.
 */

import { MOST_ARGS, type Call } from "./calls.ts";

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
