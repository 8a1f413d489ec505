/** The clock by which submitters and workers wait. A simulation passes a clock of its own. */

import { setTimeout as sleep } from "node:timers/promises";

export interface Clock {
  /** Milliseconds since an arbitrary moment. */
  now(): number;
  /**
   * Rejects with an AbortError when the signal aborts.
   * @param ref false if the wait must not keep the process alive
   */
  sleep(milliseconds: number, signal?: AbortSignal, ref?: boolean): Promise<void>;
}

export const CLOCK: Clock = {
  now: () => performance.now(),
  sleep: (milliseconds, signal, ref = true) =>
    sleep(milliseconds, undefined, signal === undefined ? { ref } : { ref, signal }),
};
