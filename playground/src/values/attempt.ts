/** Converts library errors to values, so that the page never throws them. */

import { isTensorError } from "ndscatter";

/**
 * Returns the result of `action`, or the message of the library error that it throws. Other errors are bugs, and are
 * rethrown.
 */
export function attempt<T>(action: () => T): T | { readonly error: string } {
  try {
    return action();
  } catch (error) {
    if (!isTensorError(error)) throw error;
    return { error: error.message };
  }
}
