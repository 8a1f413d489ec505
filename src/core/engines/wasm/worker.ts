/**
 * The code of a pool worker, which runs rounds of kernel calls until the pool stops. The build converts this file and
 * its imports to a string (`WORKER` in bytes.ts), because a worker created from a string needs no file that a bundler
 * must find.
 */

import {
  BAD,
  BY_MESSAGE,
  DONE,
  FAILED,
  PROGRESS,
  readCalls,
  RESULT,
  roundOf,
  runCalls,
  SPINS,
  STARTED,
} from "./calls.ts";
import { exportsOf, type WasmMemory } from "./kernels.ts";

/** Data that a worker receives when it starts. */
export interface WorkerParts {
  /** Compiled kernels. */
  readonly module: object;
  /** Shared memory that the kernels work on. */
  readonly memory: WasmMemory;
  /** Buffer with the control words. */
  readonly control: SharedArrayBuffer;
  /** Number of the worker in its pool. */
  readonly index: number;
}

/**
 * Runs rounds until the pool stops.
 * @param post sends the pool the number of the round that has ended, or 0 when the worker has started
 */
export function work(
  { module, memory, control, index }: WorkerParts,
  post: (round: number) => void,
): void {
  const all = Object.values(exportsOf(module, memory));
  const words = new Int32Array(control);
  const onDone = (): void => void Atomics.add(words, PROGRESS, 1);
  const own = roundOf(index);
  Atomics.add(words, STARTED, 1);
  post(0);
  for (let round = 0; ;) {
    for (let spins = words[SPINS]; spins > 0 && Atomics.load(words, own) === round; spins--);
    Atomics.wait(words, own, round);
    const next = Atomics.load(words, own);
    if (next === round) continue;
    if (next < 0) return;
    round = next;
    try {
      if (!runCalls(all, readCalls(words, index), onDone)) Atomics.or(words, RESULT, BAD);
    } catch {
      // The pool reports the exception as an error, and the round still ends.
      Atomics.or(words, RESULT, FAILED);
    }
    const byMessage = words[BY_MESSAGE] !== 0;
    Atomics.add(words, DONE, 1);
    if (byMessage) post(round);
    else Atomics.notify(words, DONE);
  }
}
