/** Errors of the library as sentences: on the page nothing is thrown. */

import { isTensorError } from "ndscatter";

/** What is thrown as an error of the library, told as a sentence; anything else is a fault of the page. */
export function attempt<T>(action: () => T): T | { readonly error: string } {
  try {
    return action();
  } catch (error) {
    if (!isTensorError(error)) throw error;
    return { error: error.message };
  }
}
