/**
 * Options and attributes as callers give them. Options are copied once, because an object may have getters or be a
 * Proxy: the checked values must be the used values.
 */

import { isTensorError, printValue, TensorError, type ErrorFields } from "../errors.ts";

/**
 * A copy of `value`: its own properties, and properties inherited from objects and from getters of its class.
 * @param name the object's name in errors
 * @throws TensorError `attribute` for anything except an object of named values, such as a Map, a list or text
 */
export function objectOf(
  name: string,
  value: unknown,
  fields: ErrorFields,
): Record<string, unknown> {
  // Every call with options runs this, so nothing is made that only an error needs.
  let copy: Record<string, unknown> | string;
  try {
    copy = copyOrKindOf(value);
  } catch (cause) {
    const must = `${name} must be an object whose properties can be read`;
    throw isTensorError(cause) ? cause : new TensorError("attribute", must, fields, { cause });
  }
  if (typeof copy !== "string") return copy;
  throw new TensorError("attribute", `${name} must be an object, got ${copy}`, fields);
}

/** A copy of an object of named values; any other value is printed for a sentence. */
function copyOrKindOf(value: unknown): Record<string, unknown> | string {
  if (typeof value !== "object" || value === null) return printValue(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  // Nearly every object is a literal.
  if (prototype === Object.prototype || prototype === null) return { ...value };
  // Collections, arrays, promises and the like have a tag of their own, and would look empty.
  const [, tag] = /^\[object (.{1,40})/.exec(Object.prototype.toString.call(value)) ?? [];
  if (tag !== "Object]") {
    const kind = printValue(value);
    return kind === "an object" ? `an object of the class ${tag?.replace(/\]$/, "")}` : kind;
  }
  const copy: Record<string, unknown> = { ...value };
  for (const key of inheritedNames(prototype)) {
    if (!Object.hasOwn(copy, key)) copy[key] = Reflect.get(value, key);
  }
  return copy;
}

/** The names of values that prototypes up to Object's hold for their instances; methods are left out. */
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
 * {@link objectOf} that allows only `known` names.
 * @throws TensorError `attribute` if the value is not an object or has an unknown name
 */
export function optionsOf(
  options: unknown,
  known: readonly string[],
  fields: ErrorFields,
): Record<string, unknown> {
  const given = objectOf("options", options, fields);
  // This loop creates no list of names.
  for (const name in given) {
    if (known.includes(name) || !Object.hasOwn(given, name)) continue;
    const sentence = `unknown option ${printValue(name)}; the options are ${known.join(", ")}`;
    throw new TensorError("attribute", sentence, fields);
  }
  return given;
}
