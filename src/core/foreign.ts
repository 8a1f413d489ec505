/**
 * Values from outside the package: reading and printing them, copying options, and finding the name that a user
 * probably meant. Options are copied once, because an object may have getters or be a Proxy: the values that are used
 * must be the values that were checked.
 */

import {
  hasCode,
  named,
  TensorError,
  type ErrorCode,
  type ErrorContext,
  type Fact,
  type FieldsOf,
} from "./errors.ts";

/**
 * Reads a value that may run user code when it is read, in a getter, a Proxy or a method. An exception from user code
 * becomes the cause of a TensorError, so callers of this package need to handle only one error class.
 *
 * Each kind of value is read in a single place: shapes by `shapeOf`, bytes by `plainBytes`, options by
 * `objectOf`, rows in `operators/rows.ts`, nodes and inputs in `call/call.ts` and `call/inputs.ts`, models in
 * `model/foreign-model.ts`, constants by `readConstant`. `test/core/hostile-values.test.ts` and
 * `test/models/foreign-models.test.ts` pass hostile values to every function.
 *
 * @param key the name of the value in the error's fields, unless they name an input
 */
export function readForeign<T>(
  read: () => T,
  code: ReadCode,
  sentence: string,
  key: string,
  fields?: ErrorContext,
): T {
  try {
    return read();
  } catch (cause) {
    if (hasCode(cause)) throw cause;
    throw new TensorError(code, sentence, named(fields, key), { cause });
  }
}

/** Codes of values that cannot be read. */
type ReadCode =
  | "attribute"
  | "disposed"
  | "dtype"
  | "malformed-file"
  | "shape-mismatch"
  | "too-large"
  | "unknown-operator";

/**
 * Maximum length of text quoted in a message. A beginning is enough to recognize the text, and the whole text could
 * exceed the maximum string length (2^29 in V8).
 */
const LONGEST_QUOTE = 200;

/** Prints any value for use in an error message. */
export function printValue(value: unknown): string {
  switch (typeof value) {
    case "string":
      return value.length <= LONGEST_QUOTE
        ? JSON.stringify(value)
        : `${JSON.stringify(value.slice(0, LONGEST_QUOTE))}...`;
    case "object":
      return value === null ? "null" : isArray(value) ? "a list" : printClass(value);
    case "function":
    case "symbol":
      return `a ${typeof value}`;
    default:
      return String(value);
  }
}

/** Returns a value for the field `got`: plain data as is, cut like a quote, and a description of anything else. */
export function factOf(value: unknown): Fact {
  switch (typeof value) {
    case "number":
    case "bigint":
    case "boolean":
      return value;
    case "string":
      return value.slice(0, LONGEST_QUOTE);
    default:
      return value === null ? value : printValue(value);
  }
}

/**
 * Prints the built-in class of an object, such as `a Float32Array`, and `an object` if it has none. The text in
 * parentheses is the advice for a forgotten `await`, or for an iterator instead of a list.
 */
function printClass(value: object): string {
  let tag: string | undefined;
  try {
    [, tag] = /^\[object ([\w ]{1,40})/.exec(Object.prototype.toString.call(value)) ?? [];
  } catch {
    // A revoked Proxy has no class.
  }
  if (tag === undefined || tag === "Object") return "an object";
  const advice = tag === "Promise" ? " (await it)" : /rator/.test(tag) ? " (use [...values])" : "";
  return `${/^[AEIO]/.test(tag) ? "an" : "a"} ${tag}${advice}`;
}

/**
 * Returns true if `value` is an array or a Proxy of an array, and false for a revoked Proxy, for which `Array.isArray`
 * throws.
 */
export function isArray(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

/** Freezes plain data. Returns false for data of more than `levels` levels, whose deeper parts are not frozen. */
export function freeze(value: object, levels: number): boolean {
  Object.freeze(value);
  for (const part of Object.values(value) as unknown[]) {
    if (typeof part !== "object" || part === null) continue;
    if (levels <= 1 || !freeze(part, levels - 1)) return false;
  }
  return true;
}

/**
 * The platform's type if the user's compiler knows it; otherwise this package's type. A project may have the types of a
 * browser, of Node, of both or of neither, so a public declaration must not name such a type directly.
 */
export type Known<Name extends string, Else> =
  typeof globalThis extends Record<Name, { readonly prototype: infer T }> ? T : Else;

/** The type `AbortSignal`. */
export type Signal = Known<"AbortSignal", { readonly aborted: boolean; readonly reason: unknown }>;

/** Returns a text such as `1 node` or `2 nodes`. */
export const printCount = (
  count: number | bigint | string,
  what: string,
  many = `${what}s`,
): string => `${count} ${Number(count) === 1 ? what : many}`;

const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** Returns a text such as `610 MB`, with three digits and powers of 1000, as disks are labelled. */
export function printAmount(bytes: number): string {
  let unit = 0;
  let amount = bytes;
  while (amount >= 999.5 && unit < UNITS.length - 1) {
    amount /= 1000;
    unit++;
  }
  const digits = unit === 0 || amount >= 100 ? String(Math.round(amount)) : amount.toPrecision(2);
  return `${digits} ${UNITS[unit]}`;
}

/** Creates the error for a wrong value: the sentence ends with the value, which the field `got` holds as well. */
export const wrongValue = <C extends ErrorCode>(
  code: C,
  must: string,
  got: unknown,
  fields: Omit<FieldsOf<C>, "got">,
  advice = "",
): TensorError =>
  new TensorError<ErrorCode>(code, `${must}, got ${printValue(got)}${advice}`, {
    ...fields,
    got: factOf(got),
  });

/** Creates the error for an argument or option with a wrong value: `threads must be from 1 to 64, got 0`. */
export const wrongOption = (
  key: string,
  must: string,
  got: unknown,
  fields?: Omit<FieldsOf<"attribute">, "key" | "got">,
): TensorError => wrongValue("attribute", `${key} must be ${must}`, got, { ...fields, key });

/**
 * Copies the properties of `value`: its own, and those inherited from other objects or from getters of its class.
 * @param name the object's name in errors
 * @throws TensorError `attribute` if `value` is not an object of named values: a Map, a list or text, for example
 */
export function objectOf(
  name: string,
  value: unknown,
  fields: ErrorContext,
): Record<string, unknown> {
  // Every call with options runs this code, so nothing is allocated that only an error needs.
  let copy: Record<string, unknown> | string;
  try {
    copy = copyOrKindOf(value);
  } catch (cause) {
    const must = `${name} must be an object whose properties can be read`;
    throw hasCode(cause)
      ? cause
      : new TensorError("attribute", must, { ...fields, key: name }, { cause });
  }
  if (typeof copy !== "string") return copy;
  throw new TensorError("attribute", `${name} must be an object, got ${copy}`, {
    ...fields,
    key: name,
    got: copy,
  });
}

/** Copies an object of named values; prints any other value for an error message. */
function copyOrKindOf(value: unknown): Record<string, unknown> | string {
  if (typeof value !== "object" || value === null) return printValue(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  // Literals are tested first, because nearly every object is a literal.
  if (prototype === Object.prototype || prototype === null) return { ...value };
  // Collections, arrays, promises and similar objects, which would look empty, have a class.
  const kind = printValue(value);
  if (kind !== "an object") return kind;
  const copy: Record<string, unknown> = { ...value };
  for (const key of inheritedNames(prototype)) {
    if (!Object.hasOwn(copy, key)) copy[key] = Reflect.get(value, key);
  }
  return copy;
}

/**
 * Returns the names of values that an object inherits from its prototypes, up to but excluding Object's; methods are
 * omitted.
 */
function inheritedNames(first: unknown): string[] {
  const names: string[] = [];
  let prototype = first;
  for (let next: unknown; prototype !== null; prototype = next) {
    next = Object.getPrototypeOf(prototype);
    if (next === null) break;
    for (const [name, one] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (one.enumerable === true || one.get !== undefined) names.push(name);
    }
  }
  return names;
}

/**
 * Copies options like `objectOf`, and allows only `known` names.
 * @param what the object's name in errors
 * @param meant as in `checkNames`
 * @throws TensorError `attribute` if the value is not an object or has an unknown name
 */
export function optionsOf(
  options: unknown,
  known: readonly string[],
  fields: ErrorContext,
  what = "options",
  meant?: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const given = objectOf(what, options, fields);
  checkNames("option", given, known, fields, meant);
  return given;
}

/**
 * Checks the names of an object's properties.
 * @param what the words for a property in errors, noun first, such as "key of a node"
 * @param meant known names, by the other names that people type for them; `attributes: { … }` if the name belongs in
 *   the object that has the known name
 * @throws TensorError `attribute` for a name that is not known, with the name that was probably meant
 */
export function checkNames(
  what: string,
  given: object,
  known: readonly string[],
  fields: ErrorContext,
  meant: Readonly<Record<string, string>> = {},
): void {
  // A loop visits the names, because `Object.keys` would create a list.
  for (const name in given) {
    if (known.includes(name) || !Object.hasOwn(given, name)) continue;
    const all = what.replace(/^\w+/, "$&s");
    const quoted = printValue(name).replaceAll("$", "$$$$");
    const nearest = Object.hasOwn(meant, name) ? meant[name] : nearestName(name, known);
    const those = known.length === 0 ? "none can be given" : `the ${all} are ${known.join(", ")}`;
    const isNested = nearest?.includes("{") === true;
    const near = isNested ? nearest?.replace("{ …", `{ ${name}: …`) : JSON.stringify(nearest);
    const hint = nearest === null ? those : `did you mean ${near}?`;
    const sentence = `unknown ${what.replace(/^\w+/, `$& ${quoted}`)}; ${hint}`;
    const facts = { ...fields, key: name, allowed: known, nearest: nearest?.split(":")[0] };
    throw new TensorError("attribute", sentence, facts);
  }
}

/** Returns the names of a type's properties; the compiler requires all of them. */
export const namesOf = <T extends object>(names: Readonly<Record<keyof T, true>>): string[] =>
  Object.keys(names);

/** Maximum length of a name that is compared, because the work grows with the square of the length. */
const LONGEST = 200;

/**
 * Returns the name that differs least from `name`, ignoring case (the first one in case of a tie). Returns null if no
 * name is similar: at most two letters may be wrong, and at most one letter in three.
 */
export function nearestName(name: string, names: Iterable<string>): string | null {
  const given = name.toLowerCase();
  if (given.length > LONGEST) return null;
  let best: string | null = null;
  let least = Math.min(Math.floor(given.length / 3), 2) + 1;
  for (const one of names) {
    if (Math.abs(one.length - given.length) >= least) continue;
    const distance = distanceOf(given, one.toLowerCase());
    if (distance >= least) continue;
    [best, least] = [one, distance];
  }
  return best;
}

/**
 * Returns the number of edits that change `a` to `b`: inserting, deleting or replacing a letter, or swapping two
 * adjacent letters (optimal string alignment distance).
 */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  let before = row;
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = row[j] + (a[i] === b[j] ? 0 : 1);
      const isSwap = i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j];
      const swapped = isSwap ? before[j - 1] + 1 : Infinity;
      next.push(Math.min(replaced, swapped, row[j + 1] + 1, next[j] + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length];
}

/** Lists the first `most` words, and counts the others as `noun`. */
export function listFirst(words: readonly string[], most: number, noun = ""): string {
  const left = words.length - most;
  const others = noun === "" ? `${left} more` : printCount(left, noun);
  return words.slice(0, most).join(", ") + (left > 0 ? ` and ${others}` : "");
}
