/** The clock that submitters and workers use for waiting. Simulations supply their own clock. */

import type { Signal } from "../../core/foreign.ts";
import { setTimeout as sleep } from "node:timers/promises";

export interface Clock {
  /** Returns the time since an arbitrary moment, in ms. */
  now(): number;
  /**
   * Waits for some time, or rejects with an AbortError as soon as the signal aborts. With `ref: false`, the wait does
   * not keep the process alive.
   */
  sleep(milliseconds: number, signal?: Signal, ref?: boolean): Promise<void>;
}

export const CLOCK: Clock = {
  now: () => performance.now(),
  sleep: (milliseconds, signal, ref = true) =>
    sleep(milliseconds, undefined, signal === undefined ? { ref } : { ref, signal }),
};
