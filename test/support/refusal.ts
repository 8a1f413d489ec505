/** Assertions on errors of the package. */

import assert from "node:assert/strict";
import { isTensorError, type ErrorCode, type TensorError } from "../../src/core/errors.ts";

/**
 * The TensorError that `action` throws. Its code and its sentence must match, and the sentence must be one line without
 * a full stop.
 */
export function assertRefused(code: ErrorCode, says: RegExp, action: () => unknown): TensorError {
  try {
    action();
  } catch (error) {
    assert.ok(isTensorError(error, code), `not ${code}: ${String(error)}`);
    assert.match(error.message, says);
    assert.doesNotMatch(error.message, /[.\n]$|\n/);
    return error;
  }
  return assert.fail(`nothing was thrown, ${code} was expected (${String(says)})`);
}

/** True if `action` succeeds. An error other than a TensorError fails the test. */
export function isTaken(action: () => unknown): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if (isTensorError(error)) return false;
    throw error;
  }
}

/** {@link assertRefused} for an asynchronous action. */
export async function assertRejected(
  code: ErrorCode,
  says: RegExp,
  action: () => Promise<unknown>,
): Promise<TensorError> {
  try {
    await action();
  } catch (error) {
    return assertRefused(code, says, () => {
      throw error;
    });
  }
  return assert.fail(`nothing was thrown, ${code} was expected (${String(says)})`);
}
