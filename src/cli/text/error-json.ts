/** Converts errors to JSON. */

import { isTensorError, type TensorError } from "../../entries/index.ts";
import type { Failure } from "../failure.ts";

/** Returns an error's code, message and fields. */
export function errorJson(error: TensorError): Readonly<Record<string, unknown>> {
  const { name: _, code, message, ...fields } = error;
  return { code, message, ...fields };
}

/** Returns a command's failure, with the code and fields of its cause, if available. */
export function failureJson({ message, cause }: Failure): Readonly<Record<string, unknown>> {
  if (isTensorError(cause)) return { ...errorJson(cause), message };
  const isCoded = cause instanceof Error && "errno" in cause && "code" in cause;
  return isCoded ? { code: cause.code, message } : { message };
}
