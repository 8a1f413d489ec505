/**
 * Tracks the outcomes of GPU calls, which include failures with their reasons and results without contents, and
 * converts the errors that a device reports in error scopes to errors of this package.
 */

import { withOperator } from "../../core/call/steps.ts";
import { isTensorError, TensorError, type ErrorContext } from "../../core/errors.ts";
import { firstLine, type Gpu } from "../kernels/gpu.ts";
import type { BadIndex, RepeatFound, SlotState } from "../kernels/checks.ts";

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
interface CheckParts {
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

  /** By default, the call creates a new tensor, has no inputs, and is not checked on the GPU. */
  constructor(parts: Pick<CheckParts, "refusal"> & Partial<CheckParts>) {
    this.#parts = { slot: null, inputs: [], before: "new", errorOf: null, ...parts };
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

/** Calls `make`, and returns its result and the reason if the device refused any part. */
export function watched<T>(
  gpu: Gpu,
  make: () => T,
): { readonly made: T; readonly refusal: Promise<TensorError | null> } {
  for (const filter of ["out-of-memory", "internal", "validation"] as const) {
    gpu.device.pushErrorScope(filter);
  }
  try {
    return { made: make(), refusal: endScopes(gpu) };
  } catch (error) {
    void endScopes(gpu);
    // For a value that is not a buffer, the device throws an error.
    throw isTensorError(error) ? error : gpu.failureOf(error);
  }
}

/** Returns the error that the device has reported since the scopes began. */
async function endScopes(gpu: Gpu): Promise<TensorError | null> {
  try {
    const scopes = Array.from({ length: 3 }, () => gpu.device.popErrorScope());
    const [refusal, failure, noMemory] = await Promise.all(scopes);
    // Memory errors have priority, because commands with a missing buffer are also invalid.
    if (noMemory !== null) {
      const sentence = `GPU memory is exhausted: ${firstLine(noMemory.message)}`;
      return new TensorError("too-large", sentence);
    }
    if (refusal !== null) {
      return new TensorError("engine", `the GPU refused the call: ${firstLine(refusal.message)}`);
    }
    // An internal error means that the driver has failed in a valid operation, such as compiling a kernel.
    return failure && gpu.failureOf(failure);
  } catch {
    // The loss of the device is reported when the program waits for results.
    return null;
  }
}

/** Calls `use` and returns its result, or adds fields such as the operator to its error. */
export function withFields<T>(fields: ErrorContext, use: () => T): T {
  try {
    return use();
  } catch (error) {
    throw withOperator(error, fields);
  }
}
