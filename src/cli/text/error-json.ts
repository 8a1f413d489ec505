/** Prints errors as JSON. */

import { isTensorError, type TensorError } from "../../entries/index.ts";
import type { Failure } from "../failure.ts";

/** Returns an error's code, its message and all its fields. */
export function errorJson(error: TensorError): Readonly<Record<string, unknown>> {
  const { name: _, code, message, ...fields } = error;
  return { code, message, ...fields };
}

/** Returns the failure of a command, with the code and the fields of the error that caused it, if any. */
export function failureJson({ message, cause }: Failure): Readonly<Record<string, unknown>> {
  if (isTensorError(cause)) return { ...errorJson(cause), message };
  const isCoded = cause instanceof Error && "errno" in cause && "code" in cause;
  return isCoded ? { code: cause.code, message } : { message };
}
