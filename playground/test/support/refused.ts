/** Sentences of the library, which its own tests assert: tests of the page ask the library for them. */

import assert from "node:assert/strict";
import { isTensorError, run, type ErrorCode } from "ndscatter";

/** The sentence of the error that a call must cause, with its code. */
export function sentenceOf(code: ErrorCode, ...call: Parameters<typeof run>): string {
  try {
    run(...call);
  } catch (error) {
    assert.ok(isTensorError(error, code), String(error));
    return error.message;
  }
  return assert.fail("the call succeeds");
}
