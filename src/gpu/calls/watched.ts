/** Converts the errors that a device reports in error scopes to errors of this package. */

import { isTensorError, TensorError, type ErrorContext } from "../../core/errors.ts";
import { firstLine, type Gpu } from "../kernels/gpu.ts";

/** Begins to collect errors of the device. The returned function ends the collection, and returns the error. */
function openScopes(gpu: Gpu): () => Promise<TensorError | null> {
  const { device } = gpu;
  for (const filter of ["out-of-memory", "internal", "validation"] as const) {
    device.pushErrorScope(filter);
  }
  return async () => {
    try {
      const scopes = Array.from({ length: 3 }, () => device.popErrorScope());
      const [refusal, failure, noMemory] = await Promise.all(scopes);
      // Memory errors have priority, because commands with a missing buffer are also invalid.
      if (noMemory !== null) {
        return new TensorError(
          "too-large",
          `GPU memory is exhausted: ${firstLine(noMemory.message)}`,
        );
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
  };
}

/** Calls `make`, and returns its result and the reason if the device refused any part. */
export function watched<T>(
  gpu: Gpu,
  make: () => T,
): { readonly made: T; readonly refusal: Promise<TensorError | null> } {
  const scopes = openScopes(gpu);
  try {
    return { made: make(), refusal: scopes() };
  } catch (error) {
    void scopes();
    // For a value that is not a buffer, the device throws an error.
    throw isTensorError(error) ? error : gpu.failureOf(error);
  }
}

/** Calls `use` and returns its result, or adds fields such as the operator to its error. */
export function withFields<T>(fields: ErrorContext, use: () => T): T {
  try {
    return use();
  } catch (error) {
    if (!isTensorError(error) || error.op !== undefined) throw error;
    throw new TensorError(error.code, error.message, { ...error, ...fields }, { cause: error });
  }
}
