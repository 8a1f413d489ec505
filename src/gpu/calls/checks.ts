/** Tracks the outcomes of GPU calls, which include failures with their reasons and results without contents. */

import type { TensorError } from "../../core/errors.ts";
import type { BadIndex, RepeatFound, SlotState } from "../kernels/status.ts";

/** The outcome of a finished call. */
export interface Outcome {
  /** The reason why the call did nothing, or null for success. */
  readonly error: TensorError | null;
  /**
   * The reason why the call's result has no contents, or null if a failed call left the contents of `out` unchanged.
   */
  readonly lack: TensorError | null;
}

const FINE: Outcome = { error: null, lack: null };

/** The possible sources of a call's errors. */
export interface CheckParts {
  /** The call's slot in the status buffer, or null if the call cannot fail on the GPU. */
  readonly slot: number | null;
  /** The pending calls that compute the inputs of this call. */
  readonly inputs: readonly CallCheck[];
  /** The call that computed the previous contents of `out`, or `"new"` for a new result. */
  readonly before: CallCheck | null | "new";
  /** Returns the error for a failure that the GPU has found, or null if the GPU does not check the call. */
  readonly errorOf: ((failure: BadIndex | RepeatFound) => TensorError) | null;
  /** The reason why the device refused the call, or null if it accepted the call. */
  readonly refusal: Promise<TensorError | null>;
}

/** A call with its outcome, which is pending until `settle`. */
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

  /** The number of `done` reports when the call was settled. */
  get reports(): number {
    return this.#reports;
  }

  /** Waits until the device has accepted or refused the call. */
  refusal(): Promise<TensorError | null> {
    return this.#parts?.refusal ?? Promise.resolve(null);
  }

  /**
   * Ends the call. All earlier calls must already be settled. `failure` is the failure that the GPU has found, or null
   * for success and for a call that the GPU does not check.
   */
  settle(failure: SlotState, refusal: TensorError | null, reports: number): void {
    const parts = this.#parts;
    if (parts === null) return;
    this.#parts = null;
    this.#reports = reports;
    const lacking = parts.inputs.find(({ outcome }) => outcome.lack !== null)?.outcome.lack ?? null;
    // If a device could not create an input, it refuses every call that uses this input. Therefore the call reports the
    // input's error.
    const found = failure === null || failure === "input" ? null : parts.errorOf?.(failure);
    const error = lacking ?? refusal ?? found ?? null;
    if (error === null) return;
    const { before } = parts;
    // Parts of a refused call may have been executed.
    const isUntouched = refusal === null && before !== "new";
    this.#outcome = { error, lack: isUntouched ? (before?.outcome.lack ?? null) : error };
  }
}
