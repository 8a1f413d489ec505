/**
 * Reads options and attributes that callers pass. Options are copied once, because an object may have getters or be a
 * Proxy: the values that are used must be the values that were checked.
 */

import { hasCode, printValue, TensorError, type ErrorContext } from "../errors.ts";
import { nearestName } from "./nearest.ts";

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
