/**
 * Parses and prints the JSON of metadata. `JSON.parse` rounds integers beyond 2^53, such as an int64 fill value, rejects
 * the NaN and Infinity that Python writes into attributes, and accepts a name twice. These are handled before and after
 * its call.
 */

import { factOf, isArray, printValue } from "../../core/foreign.ts";
import { malformed, unsupported } from "../../core/errors.ts";

/** A JSON value. Integers that JavaScript numbers cannot represent exactly become bigints. */
export type Json =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly Json[]
  | { readonly [name: string]: Json };

/** A JSON object, such as the attributes of a group. */
export type JsonObject = { readonly [name: string]: Json };

/**
 * The maximum nesting depth, because deeper input could overflow the stack. Real metadata has at most five levels, and
 * attributes have perhaps ten.
 */
export const MAX_DEPTH = 100;

export const isList = (value: Json | undefined): value is readonly Json[] => isArray(value);

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !isArray(value);

/**
 * Parses a JSON object. Errors call the input `file`. Throws `malformed-file` for other text, or `unsupported-file` for
 * text that is nested too deeply.
 */
export function parseJson(bytes: Uint8Array, file: string): JsonObject {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw malformed(`${file} must be text in UTF-8`, {}, { cause });
  }
  const { plain, numbers, names } = scan(text, file);
  let value: Json;
  try {
    value = JSON.parse(plain) as Json;
  } catch (cause) {
    throw malformed(`${file} must be JSON, but is not`, { file }, { cause });
  }
  const kept: string[] = [];
  if (typeof value === "object" && value !== null) restore(value, numbers, kept);
  if (kept.length < names.length) {
    kept.sort();
    const all = names.map((name) => JSON.parse(name) as string).sort();
    const key = all.find((name, at) => name !== kept[at]);
    throw malformed(`${file} has the name ${printValue(key)} twice`, { file, key });
  }
  if (isObject(value)) return value;
  const sentence = `${file} must hold an object, but it holds ${printValue(value)}`;
  throw malformed(sentence, { file, got: factOf(value) });
}

/**
 * The key under which parsed objects and lists store the original text of numbers such as 2.0, which JavaScript prints
 * differently. The original text matters, because Python reads 2.0 as a float but 2 as an int. The property is not
 * enumerable, so comparisons ignore it.
 */
const TEXTS = Symbol("texts of numbers");

type Texts = Record<string | number, string>;

const textsIn = (parent: object): Texts | undefined =>
  Reflect.get(parent, TEXTS) as Texts | undefined;

/** Returns a copy of parsed JSON with numbers replaced by `change`; unchanged numbers keep their original text. */
export function mapNumbers(value: Json, change: (value: number) => Json): Json {
  if (typeof value === "number") return change(value);
  if (typeof value !== "object" || value === null) return value;
  const copy = isList(value)
    ? value.map((one) => mapNumbers(one, change))
    : Object.fromEntries(
        Object.entries(value).map(([name, one]) => [name, mapNumbers(one, change)]),
      );
  const texts = textsIn(value);
  if (texts !== undefined) Object.defineProperty(copy, TEXTS, { value: texts });
  return copy;
}

/**
 * Numbers that `JSON.parse` rejects, or whose text it forgets: with a fraction or an exponent, beyond 2^53, -0, NaN and
 * infinities.
 */
const UNUSUAL =
  /-?(?:0|[1-9]\d*)(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)|-?[1-9]\d{15}\d*|-0|NaN|-?Infinity/g;

/**
 * The maximum number of digits in an integer, because BigInt takes quadratic time to parse; no integer type has more
 * digits.
 */
const MAX_DIGITS = 40;

interface Scanned {
  /** The text, in which fractions are the positions of unusual numbers in `numbers`: 0.5 for the first, then 1.5. */
  readonly plain: string;
  readonly numbers: readonly string[];
  /** The names of all members, in quotes. */
  readonly names: readonly string[];
}

function scan(text: string, file: string): Scanned {
  const [numbers, names]: string[][] = [[], []];
  let [plain, quoted] = ["", ""];
  for (let at = 0, depth = 0; at < text.length;) {
    const quote = text.indexOf('"', at);
    const outside = text.slice(at, quote === -1 ? text.length : quote);
    if (/^\s*:/.test(outside)) names.push(quoted);
    for (const one of outside) {
      if (one === "{" || one === "[") depth++;
      else if (one === "}" || one === "]") depth--;
      if (depth <= MAX_DEPTH + 1) continue;
      throw unsupported(`${file} nests more than ${MAX_DEPTH} levels`, { file, limit: MAX_DEPTH });
    }
    // Between blanks, a number next to other characters remains an error.
    plain += outside.replaceAll(UNUSUAL, (number) => ` ${numbers.push(number) - 1}.5 `);
    at = quote === -1 ? text.length : endOfText(text, quote);
    quoted = text.slice(quote, at);
    if (quote !== -1) plain += quoted;
  }
  return { plain, numbers, names };
}

/** Finds the closing quote in a loop, because a regular expression would overflow the stack on megabytes of text. */
function endOfText(text: string, start: number): number {
  for (let quote = start; ;) {
    quote = text.indexOf('"', quote + 1);
    if (quote === -1) return text.length;
    let escapes = 0;
    while (text.charAt(quote - 1 - escapes) === "\\") escapes++;
    if (escapes % 2 === 0) return quote + 1;
  }
}

/** Restores the unusual numbers in `parent`, and appends the names of all members to `names`. */
function restore(parent: object, numbers: readonly string[], names: string[]): void {
  const members = isArray(parent) ? parent.entries() : Object.entries(parent);
  for (const [name, value] of members as Iterable<[string | number, Json]>) {
    if (typeof name === "string") names.push(name);
    if (typeof value === "object" && value !== null) restore(value, numbers, names);
    if (typeof value !== "number" || Number.isInteger(value)) continue;
    const text = numbers[Math.floor(value)];
    const number = Number(text);
    const isBig = /^-?\d+$/.test(text) && !Number.isSafeInteger(number);
    const isExact = isBig && text.length <= MAX_DIGITS;
    Reflect.set(parent, name, isExact ? BigInt(text) : number);
    if (isExact || String(number) === text) continue;
    const texts = textsIn(parent) ?? (Object.create(null) as Texts);
    texts[name] = text;
    Object.defineProperty(parent, TEXTS, { value: texts, configurable: true });
  }
}

/**
 * Prints `value` as JSON. A parsed number is printed exactly as in the original file. Values that JSON lacks, such as
 * NaN, are printed in a form that Python and this parser accept. `text` is the original text of a parsed number.
 */
export function printJson(value: Json, indent = "", text?: string): string {
  if (typeof value === "bigint") return value.toString();
  // A program may have changed the value after parsing.
  if (text !== undefined && Object.is(Number(text), value)) return text;
  if (typeof value === "number" && !Number.isFinite(value)) return `${value}`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  const texts = textsIn(value);
  if (Array.isArray(value)) {
    if (value.every((one) => typeof one !== "object" || one === null)) {
      return `[${value.map((one, at) => printJson(one, "", texts?.[at])).join(", ")}]`;
    }
    const items = value.map((one, at) => inner + printJson(one, inner, texts?.[at]));
    return `[\n${items.join(",\n")}\n${indent}]`;
  }
  const members = Object.entries(value).map(
    ([name, one]) => `${inner}${JSON.stringify(name)}: ${printJson(one, inner, texts?.[name])}`,
  );
  return members.length === 0 ? "{}" : `{\n${members.join(",\n")}\n${indent}}`;
}
