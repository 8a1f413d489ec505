/** Errors of the package, compared as records. */

import assert from "node:assert/strict";
import { isTensorError, type TensorError } from "../../src/core/errors.ts";

/** The code, the message and all fields of an error. */
export interface Said {
  readonly code: string;
  readonly message: string;
}

const saidBy = (error: TensorError): Said => ({
  ...error,
  code: error.code,
  message: error.message,
});

/** Returns the error that an action throws. */
export function thrownBy(what: string, action: () => unknown): Said {
  try {
    action();
  } catch (error) {
    assert.ok(isTensorError(error), `${what}: ${String(error)}`);
    return saidBy(error);
  }
  return assert.fail(`${what}: nothing was thrown`);
}

/** Returns the error with which a promise rejects. */
async function rejectedBy(what: string, promise: Promise<unknown>): Promise<Said> {
  try {
    await promise;
  } catch (error) {
    return thrownBy(what, () => {
      throw error;
    });
  }
  return assert.fail(`${what}: was not rejected`);
}

/** Checks that a promise rejects with just this error. */
export async function assertRejects(
  what: string,
  promise: Promise<unknown>,
  expected: Said,
): Promise<void> {
  assert.deepEqual(await rejectedBy(what, promise), expected, what);
}
