/**
 * The part of `node:assert/strict` that the suite uses, for browsers. `test/platform/assert.test.ts` compares it with Node's.
 * Values that it cannot compare are an error.
 */

import fc from "fast-check";

class AssertionError extends Error {
  override readonly name = "AssertionError";
}

type Message = string | undefined;
/** A pattern of the error as text, its class, a test, or properties: a pattern of one is for text, others are equal. */
type Expected =
  | RegExp
  | ErrorConstructor
  | ((error: unknown) => boolean)
  | Readonly<Record<string, unknown>>;

const fail = (message = "failed"): never => {
  throw new AssertionError(message);
};

/** Fails with the message, or else with the two values and what was expected of them. */
function check(holds: boolean, message: Message, words: string, ...values: unknown[]): void {
  if (!holds) fail(message ?? values.map((value) => fc.stringify(value)).join(` ${words} `));
}

function throws(action: () => unknown, expected?: Expected, message?: string): void {
  try {
    action();
  } catch (error) {
    checkError(error, expected);
    return;
  }
  fail(message ?? "nothing was thrown");
}

async function rejects(
  action: Promise<unknown> | (() => Promise<unknown>),
  expected?: Expected,
  message?: string,
): Promise<void> {
  try {
    await (typeof action === "function" ? action() : action);
  } catch (error) {
    checkError(error, expected);
    return;
  }
  fail(message ?? "nothing was rejected");
}

/** @throws the error itself where it is not the expected one */
function checkError(error: unknown, expected: Expected | undefined): void {
  if (!isExpected(error, expected)) throw error;
}

function isExpected(error: unknown, expected: Expected | undefined): boolean {
  if (expected === undefined) return true;
  if (expected instanceof RegExp) return expected.test(String(error));
  if (isClass(expected)) return error instanceof expected;
  if (typeof expected === "function") return expected(error) === true;
  return Object.entries(expected).every(([key, value]) => {
    if (!isObject(error) || !(key in error)) return false;
    const own: unknown = Reflect.get(error, key);
    return value instanceof RegExp && typeof own === "string"
      ? value.test(own)
      : isSame(own, value);
  });
}

const isClass = (expected: Expected): expected is ErrorConstructor =>
  expected === Error || Object.prototype.isPrototypeOf.call(Error, expected);

/** Objects that their class and their own enumerable properties describe completely. */
const PLAIN = /^\[object (Object|\w*Array)\]$/;

function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!isObject(a) || !isObject(b)) return false;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (a instanceof Set && b instanceof Set && ![...a].some(isObject)) {
    return a.size === b.size && [...a].every((member) => b.has(member));
  }
  if (!PLAIN.test(Object.prototype.toString.call(a))) {
    throw new TypeError(`the stand-in for node:assert cannot compare ${fc.stringify(a)}`);
  }
  const keys = keysOf(a);
  return (
    keys.length === keysOf(b).length &&
    (a as ArrayLike<unknown>).length === (b as ArrayLike<unknown>).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSame(Reflect.get(a, key), Reflect.get(b, key)))
  );
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

const keysOf = (value: object): PropertyKey[] =>
  Reflect.ownKeys(value).filter((key) => Object.prototype.propertyIsEnumerable.call(value, key));

const assert = {
  fail,
  throws,
  rejects,
  /** An error that is thrown is reported as it is. */
  doesNotThrow: (action: () => unknown) => void action(),
  ok: (value: unknown, message?: string) => check(Boolean(value), message, "is not", value, true),
  equal: (a: unknown, b: unknown, message?: string) =>
    check(Object.is(a, b), message, "is not", a, b),
  notEqual: (a: unknown, b: unknown, message?: string) =>
    check(!Object.is(a, b), message, "is", a, b),
  deepEqual: (a: unknown, b: unknown, message?: string) =>
    check(isSame(a, b), message, "is not", a, b),
  notDeepEqual: (a: unknown, b: unknown, message?: string) =>
    check(!isSame(a, b), message, "is", a, b),
  match: (text: string, pattern: RegExp, message?: string) =>
    check(pattern.test(text), message, "does not match", text, pattern),
  doesNotMatch: (text: string, pattern: RegExp, message?: string) =>
    check(!pattern.test(text), message, "matches", text, pattern),
};

// As node:assert/strict is imported.
export { assert as default };
