/**
 * Converts errors to plain data for another thread or a file. Errors lose their class in transit, so errors are
 * recognized by their fields.
 */

import {
  isError,
  isTensorError,
  messageOf,
  sentenceOf,
  TensorError,
  type ErrorCode,
  type ErrorFields,
} from "../../../core/errors.ts";

export type SentError =
  | { readonly code: ErrorCode; readonly sentence: string; readonly fields: ErrorFields }
  | { readonly message: string; readonly system: Readonly<Record<string, unknown>> };

export function sendError(error: unknown): SentError {
  if (isTensorError(error)) {
    return { code: error.code, sentence: sentenceOf(error), fields: { ...error } };
  }
  const system: Record<string, unknown> = {};
  for (const name of ["code", "errno", "syscall", "path"]) {
    if (isError(error) && name in error) system[name] = Reflect.get(error, name);
  }
  return { message: messageOf(error), system };
}

export function receiveError(sent: SentError): Error {
  return "fields" in sent
    ? new TensorError(sent.code, sent.sentence, sent.fields)
    : Object.assign(new Error(sent.message), sent.system);
}
