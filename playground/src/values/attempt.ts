/** Errors of the library as values: nothing is thrown on the page. */

import { isTensorError } from "ndscatter";

/** What `action` returns, or the sentence of the library's error that it throws. Other errors are bugs, and pass. */
export function attempt<T>(action: () => T): T | { readonly error: string } {
  try {
    return action();
  } catch (error) {
    if (!isTensorError(error)) throw error;
    return { error: error.message };
  }
}
