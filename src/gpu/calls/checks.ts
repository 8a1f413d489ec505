/** The outcomes of calls on the GPU: which calls failed, why, and which results therefore have no contents. */

import type { TensorError } from "../../core/errors.ts";
import type { BadIndex, RepeatFound, SlotState } from "../kernels/status.ts";

/** What a call reports when it has been done. */
export interface Outcome {
  /** Why the call did nothing; null where it did what it should. */
  readonly error: TensorError | null;
  /** Why its result has no contents: an `out` that a failed call has left untouched may have some. */
  readonly lack: TensorError | null;
}

const FINE: Outcome = { error: null, lack: null };

/** What finds a call's errors. */
export interface CheckParts {
  /** The slot of the call in the status of calls; null where nothing can go wrong on the GPU. */
  readonly slot: number | null;
  /** The calls that made its inputs, as far as they were pending. */
  readonly inputs: readonly CallCheck[];
  /** The call that made what `out` held before; `new` where the result is new. */
  readonly before: CallCheck | null | "new";
  /** The error of a failure that the GPU found; null where it has checked nothing. */
  readonly errorOf: ((failure: BadIndex | RepeatFound) => TensorError) | null;
  /** Why the device refused the call; null where it did not. */
  readonly refusal: Promise<TensorError | null>;
}

/** One call. It is pending until {@link settle}. */
export class CallCheck {
  #parts: CheckParts | null;
  #outcome: Outcome = FINE;
  #reports = 0;

  constructor(parts: CheckParts) {
    this.#parts = parts;
  }

  get isPending(): boolean {
    return this.#parts !== null;
  }

  /** The slot of a pending call that may fail on the GPU. */
  get slot(): number | null {
    return this.#parts?.slot ?? null;
  }

  get outcome(): Outcome {
    return this.#outcome;
  }

  /** The number of times that `done` had reported when the call was settled. */
  get reports(): number {
    return this.#reports;
  }

  /** Waits until the device has accepted or refused the call. */
  refusal(): Promise<TensorError | null> {
    return this.#parts?.refusal ?? Promise.resolve(null);
  }

  /**
   * Ends the call. Calls before it must have been settled.
   * @param failure what the GPU found; null also where it was not asked
   */
  settle(failure: SlotState, refusal: TensorError | null, reports: number): void {
    const parts = this.#parts;
    if (parts === null) return;
    this.#parts = null;
    this.#reports = reports;
    const lacking = parts.inputs.find(({ outcome }) => outcome.lack !== null)?.outcome.lack ?? null;
    // An input that the device could not make is also why it refuses what uses it.
    const found = failure === null || failure === "input" ? null : parts.errorOf?.(failure);
    const error = lacking ?? refusal ?? found ?? null;
    if (error === null) return;
    const { before } = parts;
    // What the device refused may have been done in part.
    const isUntouched = refusal === null && before !== "new";
    this.#outcome = { error, lack: isUntouched ? (before?.outcome.lack ?? null) : error };
  }
}
