/**
 * The control words that a worker pool shares with its workers, in a SharedArrayBuffer: a header of counters, and for
 * each worker the list of calls of the current round.
 */

import { MOST_ARGS, type Call } from "./calls.ts";

/** How many workers have ended the round. */
export const DONE = 0;
/** How many workers have a part in the round. */
export const PARTS = 1;
/** 0 if every kernel returned 0, {@link BAD} if one did not, {@link FAILED} and more if one threw. */
export const RESULT = 2;
export const BAD = 1;
export const FAILED = 2;
/** Counts kernels that returned. */
export const PROGRESS = 3;
/** 1 if workers post a message at the end of the round, because the caller does not wait. */
export const BY_MESSAGE = 4;
/** How many workers have started. */
export const STARTED = 5;
/** How often a worker checks for a new round before it sleeps. */
export const SPINS = 6;
const HEADER = 16;

/** A call as words: kernel, repeat, what is added to three arguments, the position of the previous result, arguments. */
const ARGS = 6;
const CALL_WORDS = ARGS + MOST_ARGS;
/** The most calls of one worker in one round: more than two for each of the 256 blocks that are partitioned at most. */
export const MOST_CALLS = 1024;
/** In front of a worker's calls are the number of its last round, and how many calls there are. */
const WORKER_HEADER = 16;
const WORKER_WORDS = WORKER_HEADER + CALL_WORDS * MOST_CALLS;

export const controlWords = (workers: number): Int32Array =>
  new Int32Array(
    new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * (HEADER + WORKER_WORDS * workers)),
  );

/**
 * Where the number of a worker's last round is; negative when the worker is to end. Each worker sleeps on a word of its
 * own, because waking those that have nothing to do costs more than small rounds take.
 */
export const roundOf = (worker: number): number => HEADER + worker * WORKER_WORDS;

/** Writes the calls of one worker. */
export function writeCalls(words: Int32Array, worker: number, calls: readonly Call[]): void {
  // Past its own words a worker would find the calls of the next one.
  if (calls.length > MOST_CALLS) throw new Error(`${calls.length} calls, but ${MOST_CALLS} fit`);
  const at = roundOf(worker);
  words[at + 1] = calls.length;
  for (const [i, call] of calls.entries()) {
    const { kernel, args, repeat = 1, steps = [0, 0, 0], previous = -1 } = call;
    if (args.length > MOST_ARGS) throw new Error(`a kernel with ${args.length} arguments`);
    const first = at + WORKER_HEADER + CALL_WORDS * i;
    words.set([kernel, repeat, ...steps, previous, ...args], first);
    words.fill(0, first + ARGS + args.length, first + CALL_WORDS);
  }
}

/** Reads what {@link writeCalls} wrote. Arguments are read as signed: the kernels take them modulo 2^32. */
export function readCalls(words: Int32Array, worker: number): Call[] {
  const at = roundOf(worker);
  return Array.from({ length: words[at + 1] }, (_, i) => {
    const first = at + WORKER_HEADER + CALL_WORDS * i;
    const [kernel, repeat, x, y, z, previous] = words.subarray(first, first + ARGS);
    const args = [...words.subarray(first + ARGS, first + CALL_WORDS)];
    return { kernel, args, repeat, steps: [x, y, z], ...(previous >= 0 && { previous }) };
  });
}
