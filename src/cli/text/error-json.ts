/** Prints errors as JSON. */

import type { TensorError } from "../../entries/index.ts";

/** Returns an error's code, its message and all its fields. */
export function errorJson(error: TensorError): Readonly<Record<string, unknown>> {
  const { name: _, code, message, ...fields } = error;
  return { code, message, ...fields };
}
