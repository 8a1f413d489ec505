/**
 * Copies objects and lists that callers supply, so that each field is read once. `foreign-model.ts` builds models from
 * the copies.
 */

import { isArray, printValue, readForeign, wrongValue } from "../../core/foreign.ts";
import { malformed } from "../../core/errors.ts";

/**
 * Returns a copy of an object's own properties. Throws `malformed-file` for other values, and for a Map, a promise or
 * bytes, whose copies would be empty.
 */
export function recordFrom<T>(what: string, given: T, advice = ""): T {
  const copy = readForeign(
    () => (isRecord(given) ? { ...given } : null),
    "malformed-file",
    `${what} cannot be read`,
    what,
  );
  if (copy !== null) return copy;
  throw wrongValue("malformed-file", `${what} must be an object`, given, { key: what }, advice);
}

const isRecord = (given: unknown): boolean =>
  typeof given === "object" &&
  given !== null &&
  (Object.getPrototypeOf(given) === Object.prototype || printValue(given) === "an object");

export function listFrom<T>(what: string, given: readonly T[] | unknown): T[] {
  if (!isArray(given))
    throw wrongValue("malformed-file", `${what} must be a list`, given, { key: what });
  const read = (): T[] => {
    const copy: T[] = [];
    const length = Number(given.length);
    for (let at = 0; at < length; at++) {
      const entry = given[at];
      if (entry === undefined)
        throw malformed(`${what} must be a list without holes`, { key: what, at: [at] });
      copy.push(entry as T);
    }
    return copy;
  };
  return readForeign(read, "malformed-file", `${what} cannot be read`, what);
}

export function objectsFrom<T>(what: string, given: readonly T[]): T[] {
  const list = listFrom<T>(what, given);
  const odd = list.find((entry) => typeof entry !== "object" || entry === null || isArray(entry));
  if (odd === undefined) return list;
  throw wrongValue("malformed-file", `${what} must be objects`, odd, { key: what });
}

/**
 * Returns the first entry for which `test` returns true. The test may read any field of an entry, and nothing is
 * copied. If a list's length is wrong, the search ends after the last actual entry.
 */
export const findIn = <T>(list: readonly T[], test: (entry: T) => boolean): T | undefined =>
  readForeign(
    () => {
      const length = Number(list.length);
      for (let at = 0; at < length; at++) {
        const entry = list[at];
        if (entry === undefined || test(entry)) return entry;
      }
      return undefined;
    },
    "malformed-file",
    "a list in a graph cannot be read",
    "list",
  );
