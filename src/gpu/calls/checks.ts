/** Tracks the outcomes of GPU calls: failures with their reasons, and results without contents. */

import type { TensorError } from "../../core/errors.ts";
import type { BadIndex, RepeatFound, SlotState } from "../kernels/status.ts";

/** The outcome of a finished call. */
export interface Outcome {
  /** The reason why the call did nothing; null if it succeeded. */
  readonly error: TensorError | null;
  /**
   * The reason why the call's result has no contents. The reason is null for an `out` whose contents a failed call left
   * unchanged.
   */
  readonly lack: TensorError | null;
}

const FINE: Outcome = { error: null, lack: null };

/** The sources of a call's errors. */
export interface CheckParts {
  /** The call's slot in the status buffer; null if the call cannot fail on the GPU. */
  readonly slot: number | null;
  /** The pending calls that compute the call's inputs. */
  readonly inputs: readonly CallCheck[];
  /** The call that computed the previous contents of `out`; `"new"` for a new result. */
  readonly before: CallCheck | null | "new";
  /** Returns the error for a failure that the GPU has found; null if the GPU checks nothing. */
  readonly errorOf: ((failure: BadIndex | RepeatFound) => TensorError) | null;
  /** The device's reason for refusing the call; null if it accepted it. */
  readonly refusal: Promise<TensorError | null>;
}

/** The outcome of a call, which is pending until `settle`. */
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

  /** The status slot of a pending call that may fail on the GPU. */
  get slot(): number | null {
    return this.#parts?.slot ?? null;
  }

  get outcome(): Outcome {
    return this.#outcome;
  }

  /** The number of `done` reports at the time when the call was settled. */
  get reports(): number {
    return this.#reports;
  }

  /** Waits until the device has accepted or refused the call. */
  refusal(): Promise<TensorError | null> {
    return this.#parts?.refusal ?? Promise.resolve(null);
  }

  /**
   * Ends the call. Earlier calls must have been settled. `failure` is the failure that the GPU has found; null for
   * success, and if the GPU was not queried.
   */
  settle(failure: SlotState, refusal: TensorError | null, reports: number): void {
    const parts = this.#parts;
    if (parts === null) return;
    this.#parts = null;
    this.#reports = reports;
    const lacking = parts.inputs.find(({ outcome }) => outcome.lack !== null)?.outcome.lack ?? null;
    // A device that could not create an input refuses every call that uses the input. The call therefore reports the
    // error of the input.
    const found = failure === null || failure === "input" ? null : parts.errorOf?.(failure);
    const error = lacking ?? refusal ?? found ?? null;
    if (error === null) return;
    const { before } = parts;
    // A refused call may have been partly executed.
    const isUntouched = refusal === null && before !== "new";
    this.#outcome = { error, lack: isUntouched ? (before?.outcome.lack ?? null) : error };
  }
}
