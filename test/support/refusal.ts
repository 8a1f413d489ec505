/** Assertions on errors of the package: code and fields here, sentences in `test/fixtures/sentences.txt`. */

import assert from "node:assert/strict";
import { isTensorError, type ErrorCode, type TensorError } from "../../src/core/errors.ts";
import { reportSentence } from "./sentences.ts";

/** Fields that an error must have, with their values; undefined for a field that it must not have. */
export type Facts = Readonly<Record<string, unknown>>;

/** Asserts that a caught value is a TensorError with this code and these fields, and returns it. */
export function assertFacts(code: ErrorCode, facts: Facts, error: unknown): TensorError {
  assert.ok(isTensorError(error, code), `not ${code}: ${String(error)}`);
  for (const [field, value] of Object.entries(facts)) {
    assert.deepEqual(Reflect.get(error, field), value, `${field} of: ${error.message}`);
  }
  return error;
}

/** The TensorError that `action` throws, which must have this code and these fields. Its sentence is reported. */
export function assertRefused(code: ErrorCode, facts: Facts, action: () => unknown): TensorError {
  try {
    action();
  } catch (error) {
    return checked(code, facts, error);
  }
  return assert.fail(`nothing was thrown, ${code} was expected`);
}

/** {@link assertRefused} for an asynchronous action. */
export async function assertRejected(
  code: ErrorCode,
  facts: Facts,
  action: () => Promise<unknown>,
): Promise<TensorError> {
  try {
    await action();
  } catch (error) {
    return checked(code, facts, error);
  }
  return assert.fail(`nothing was thrown, ${code} was expected`);
}

function checked(code: ErrorCode, facts: Facts, error: unknown): TensorError {
  const found = assertFacts(code, facts, error);
  reportSentence(code, found.message);
  return found;
}

/**
 * {@link assertRefused} for an error whose sentence differs between runs: it quotes the platform or a random case. The
 * sentence is not compared with the file.
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
