/** Creates the errors for tensors whose memory is gone. */

import { named, TensorError, type ErrorContext } from "../errors.ts";

/** Creates the error for a tensor that was disposed of, or whose buffer was transferred. */
export const gone = (what: string, fields: ErrorContext): TensorError =>
  new TensorError(
    "disposed",
    `the memory of ${what} is gone (disposed, transferred or resized)`,
    named(fields, "tensor"),
  );

/** Creates the error for an input whose memory was transferred while its call was queued. */
export const transferred = (input: string, fields: ErrorContext): TensorError =>
  new TensorError("disposed", `the memory of ${input} was transferred before the call ended`, {
    ...fields,
    input,
  });
