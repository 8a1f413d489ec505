/**
 * Parses and prints the JSON of metadata. `JSON.parse` rounds integers beyond 2^53, such as an int64 fill value, and
 * rejects the NaN and Infinity that Python writes into attributes. The parser in this file reads each byte once.
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

/** The maximum size of a metadata file, in bytes; real metadata takes about 1 kB. */
export const MAX_JSON_BYTES = 2 ** 24;

export const isList = (value: Json | undefined): value is readonly Json[] => isArray(value);

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !isArray(value);

/**
 * Parses a JSON object. Errors call the input `file`. Throws `malformed-file` for other text, or `unsupported-file` for
 * text that exceeds a limit.
 */
export function parseJson(bytes: Uint8Array, file: string): JsonObject {
  if (bytes.length > MAX_JSON_BYTES) {
    const sentence = `${file} has ${bytes.length} bytes, more than the limit for metadata`;
    throw unsupported(sentence, { file, got: bytes.length, limit: MAX_JSON_BYTES });
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw malformed(`${file} must be text in UTF-8`, {}, { cause });
  }
  const value = new Parser(text, file).parse();
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

const BLANKS = /[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const WORD = /null|true|false|NaN|-?Infinity/y;

/**
 * The maximum number of digits in an integer, because BigInt takes quadratic time to parse; no integer type has more
 * digits.
 */
const MAX_DIGITS = 40;

class Parser {
  readonly #text: string;
  readonly #file: string;
  #at = 0;

  constructor(text: string, file: string) {
    this.#text = text;
    this.#file = file;
  }

  parse(): Json {
    const [value] = this.#readInto([], 0, 0) as readonly Json[];
    this.#match(BLANKS);
    if (this.#at < this.#text.length) throw this.#unexpected("the end");
    return value;
  }

  /** Reads a value as the member `name` of `parent`. */
  #readInto<P extends object>(parent: P, name: string | number, depth: number): P {
    this.#match(BLANKS);
    const from = this.#at;
    const value = this.#value(depth);
    Reflect.set(parent, name, value);
    const text = this.#text.slice(from, this.#at);
    if (typeof value !== "number" || String(value) === text) return parent;
    const texts = textsIn(parent) ?? (Object.create(null) as Texts);
    texts[name] = text;
    return Object.defineProperty(parent, TEXTS, { value: texts, configurable: true });
  }

  #value(depth: number): Json {
    if (depth > MAX_DEPTH) {
      const sentence = `${this.#file} nests more than ${MAX_DEPTH} levels`;
      throw unsupported(sentence, { file: this.#file, limit: MAX_DEPTH });
    }
    const first = this.#text.charAt(this.#at);
    if (first === "{") return this.#object(depth);
    if (first === '"') return this.#string();
    if (first === "[") {
      const list: Json[] = [];
      this.#members("]", () => this.#readInto(list, list.length, depth + 1));
      return list;
    }
    const [word] = this.#match(WORD);
    if (word === undefined) return this.#number();
    return word.endsWith("N") || word.endsWith("y") ? Number(word) : (JSON.parse(word) as Json);
  }

  #object(depth: number): JsonObject {
    // The object has no prototype, so that "__proto__" is an ordinary member.
    const object = Object.create(null) as JsonObject;
    this.#members("}", () => {
      this.#match(BLANKS);
      const name = this.#string();
      if (name in object) {
        const fields = { file: this.#file, key: name };
        throw malformed(`${this.#file} has the name ${printValue(name)} twice`, fields);
      }
      this.#expect(":");
      this.#readInto(object, name, depth + 1);
    });
    return object;
  }

  /** Reads comma-separated items up to the closing bracket `end`. */
  #members(end: string, read: () => void): void {
    this.#at++;
    if (this.#accept(end)) return;
    do read();
    while (this.#accept(","));
    this.#expect(end);
  }

  /** Finds the closing quote in a loop, because a regular expression would overflow the stack on megabytes of text. */
  #string(): string {
    let quote = this.#at;
    let escapes = 1;
    if (this.#text.charAt(quote) !== '"') throw this.#unexpected("text in quotes");
    while (escapes % 2 === 1) {
      quote = this.#text.indexOf('"', quote + 1);
      if (quote === -1) throw this.#unexpected("text in quotes");
      escapes = 0;
      while (this.#text.charAt(quote - 1 - escapes) === "\\") escapes++;
    }
    try {
      const value = JSON.parse(this.#text.slice(this.#at, quote + 1)) as string;
      this.#at = quote + 1;
      return value;
    } catch (cause) {
      throw malformed(`${this.#file} has text that JSON does not allow`, {}, { cause });
    }
  }

  #number(): Json {
    const [digits, fraction, exponent] = this.#match(NUMBER);
    if (digits === undefined) throw this.#unexpected("a value");
    const value = Number(digits);
    if (fraction !== undefined || exponent !== undefined) return value;
    return Number.isSafeInteger(value) || digits.length > MAX_DIGITS ? value : BigInt(digits);
  }

  /** Reads the text that matches a sticky pattern, and returns the match and its groups, or nothing. */
  #match(pattern: RegExp): readonly (string | undefined)[] {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text) ?? [];
    this.#at += match[0]?.length ?? 0;
    return match;
  }

  #accept(character: string): boolean {
    this.#match(BLANKS);
    if (this.#text.charAt(this.#at) !== character) return false;
    this.#at++;
    return true;
  }

  #expect(character: string): void {
    if (!this.#accept(character)) throw this.#unexpected(`"${character}"`);
  }

  #unexpected(expected: string): Error {
    const found = this.#text.slice(this.#at, this.#at + 20);
    const got = found === "" ? "it ends" : `it has ${printValue(found)}`;
    const sentence = `${this.#file} must be JSON: expected ${expected}, but ${got}`;
    return malformed(sentence, { file: this.#file });
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
  if (isList(value)) {
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
