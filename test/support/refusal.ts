/** Assertions on errors of the package: code and fields here, sentences in `test/fixtures/sentences.txt`. */

import assert from "node:assert/strict";
import { isTensorError, type ErrorCode, type TensorError } from "../../src/core/errors.ts";
import { reportSentence } from "./sentences.ts";

/** Fields that an error must have, with their values; undefined for a field that it must not have. */
export type Facts = Readonly<Record<string, unknown>>;

/** Asserts that a caught value is a TensorError with this code and these fields, and returns it. */
function assertFacts(code: ErrorCode, facts: Facts, error: unknown): TensorError {
  assert.ok(isTensorError(error, code), `not ${code}: ${String(error)}`);
  for (const [field, value] of Object.entries(facts)) {
    assert.deepEqual(Reflect.get(error, field), value, `${field} of: ${error.message}`);
  }
  return error;
}

/**
 * Returns the TensorError that `action` throws, which must have this code and these fields. The sentence may differ
 * between runs, because it quotes the platform or a random case; it is not reported.
 */
export function assertCode(code: ErrorCode, facts: Facts, action: () => unknown): TensorError {
  try {
    action();
  } catch (error) {
    return assertFacts(code, facts, error);
  }
  return assert.fail(`nothing was thrown, ${code} was expected`);
}

/** {@link assertCode} for an asynchronous action. */
export async function assertRejectedCode(
  code: ErrorCode,
  facts: Facts,
  action: () => Promise<unknown>,
): Promise<TensorError> {
  try {
    await action();
  } catch (error) {
    return assertFacts(code, facts, error);
  }
  return assert.fail(`nothing was thrown, ${code} was expected`);
}

function reported(error: TensorError): TensorError {
  reportSentence(error.code, error.message);
  return error;
}

/** {@link assertCode} for an error whose sentence is the same in every run. The sentence is reported. */
export const assertRefused = (code: ErrorCode, facts: Facts, action: () => unknown): TensorError =>
  reported(assertCode(code, facts, action));

/** {@link assertRefused} for an asynchronous action. */
export const assertRejected = async (
  code: ErrorCode,
  facts: Facts,
  action: () => Promise<unknown>,
): Promise<TensorError> => reported(await assertRejectedCode(code, facts, action));

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
