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

/**
 * Parses a JSON object. Errors call the input `file`. Throws `malformed-file` for other text, or `unsupported-file` for
 * text that exceeds a limit.
 */
export const parseJson = (bytes: Uint8Array, file: string): JsonObject =>
  parseObject(decodeText(bytes, file), file).value;

function parseObject(
  text: string,
  file: string,
): { readonly value: JsonObject; readonly spans: Parser["spans"] } {
  const parser = new Parser(text, file);
  const value = parser.parse();
  if (isObject(value)) return { value, spans: parser.spans };
  throw malformed(`${file} must hold an object, but it holds ${printValue(value)}`, {
    file,
    got: factOf(value),
  });
}

function decodeText(bytes: Uint8Array, file: string): string {
  if (bytes.length > MAX_JSON_BYTES) {
    throw unsupported(`${file} has ${bytes.length} bytes, more than the limit for metadata`, {
      file,
      got: bytes.length,
      limit: MAX_JSON_BYTES,
    });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw malformed(`${file} must be text in UTF-8`, {}, { cause });
  }
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !isArray(value);

const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const BLANKS = /[ \t\r\n]*/y;

const WORDS: Readonly<Record<string, Json>> = {
  null: null,
  true: true,
  false: false,
  NaN,
  Infinity,
  "-Infinity": -Infinity,
};

/**
 * The key under which parsed objects and lists store the original text of numbers such as 2.0, which JavaScript prints
 * differently. The original text matters, because Python reads 2.0 as a float but 2 as an int. The property is not
 * enumerable, so comparisons ignore it.
 */
const TEXTS = Symbol("texts of numbers");

type Texts = Record<string | number, string>;

function keepText(parent: object, name: string | number, value: Json, text: string): void {
  if (typeof value !== "number" || String(value) === text) return;
  const texts = textsIn(parent) ?? (Object.create(null) as Texts);
  texts[name] = text;
  Object.defineProperty(parent, TEXTS, { value: texts, configurable: true });
}

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

class Parser {
  readonly #text: string;
  readonly #file: string;
  #at = 0;
  /** The position of each value of the outermost object in the text. */
  readonly spans = new Map<string, readonly [from: number, to: number]>();

  constructor(text: string, file: string) {
    this.#text = text;
    this.#file = file;
  }

  parse(): Json {
    const value = this.#value(0);
    this.#skip();
    if (this.#at < this.#text.length) throw this.#unexpected("the end");
    return value;
  }

  #value(depth: number): Json {
    if (depth > MAX_DEPTH) {
      throw unsupported(`${this.#file} nests more than ${MAX_DEPTH} levels`, {
        file: this.#file,
        limit: MAX_DEPTH,
      });
    }
    this.#skip();
    const first = this.#text.charAt(this.#at);
    if (first === "{") return this.#object(depth);
    if (first === "[") return this.#list(depth);
    if (first === '"') return this.#string();
    for (const word of Object.keys(WORDS)) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return WORDS[word];
      }
    }
    return this.#number();
  }

  #object(depth: number): Json {
    // The object has no prototype, so that "__proto__" is an ordinary member.
    const object: Record<string, Json> = Object.create(null) as Record<string, Json>;
    this.#members("}", () => {
      this.#skip();
      const name = this.#string();
      if (name in object)
        throw malformed(`${this.#file} has the name ${printValue(name)} twice`, {
          file: this.#file,
          key: name,
        });
      this.#expect(":");
      this.#skip();
      const from = this.#at;
      object[name] = this.#value(depth + 1);
      keepText(object, name, object[name], this.#text.slice(from, this.#at));
      if (depth === 0) this.spans.set(name, [from, this.#at]);
    });
    return object;
  }

  #list(depth: number): Json {
    const list: Json[] = [];
    this.#members("]", () => {
      this.#skip();
      const from = this.#at;
      const value = this.#value(depth + 1);
      keepText(list, list.push(value) - 1, value, this.#text.slice(from, this.#at));
    });
    return list;
  }

  /** Reads comma-separated items up to the closing bracket `end`. */
  #members(end: string, read: () => void): void {
    this.#at++;
    this.#skip();
    if (this.#accept(end)) return;
    do read();
    while (this.#accept(","));
    this.#expect(end);
  }

  #string(): string {
    const end = this.#endOfText();
    if (end === -1) throw this.#unexpected("text in quotes");
    try {
      const value = JSON.parse(this.#text.slice(this.#at, end)) as string;
      this.#at = end;
      return value;
    } catch (cause) {
      throw malformed(`${this.#file} has text that JSON does not allow`, {}, { cause });
    }
  }

  /**
   * Returns the end of the quoted text that begins here, or -1 without an end. The function is a loop, because a
   * regular expression would overflow the stack on megabytes of text.
   */
  #endOfText(): number {
    if (this.#text.charAt(this.#at) !== '"') return -1;
    let quote = this.#at;
    let escapes = 0;
    do {
      quote = this.#text.indexOf('"', quote + 1);
      escapes = 0;
      while (this.#text.charAt(quote - 1 - escapes) === "\\") escapes++;
    } while (quote !== -1 && escapes % 2 === 1);
    return quote === -1 ? -1 : quote + 1;
  }

  #number(): Json {
    NUMBER.lastIndex = this.#at;
    const [digits, fraction, exponent] = NUMBER.exec(this.#text) ?? [];
    if (digits === undefined) throw this.#unexpected("a value");
    this.#at += digits.length;
    const value = Number(digits);
    if (fraction !== undefined || exponent !== undefined) return value;
    return Number.isSafeInteger(value) || digits.length > MAX_DIGITS ? value : BigInt(digits);
  }

  #skip(): void {
    BLANKS.lastIndex = this.#at;
    this.#at += BLANKS.exec(this.#text)?.[0].length ?? 0;
  }

  #accept(character: string): boolean {
    this.#skip();
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
    return malformed(`${this.#file} must be JSON: expected ${expected}, but ${got}`, {
      file: this.#file,
    });
  }
}

/**
 * Replaces or adds one member in the text of an object. The rest of the text is not changed, because parsing and
 * printing may change a number's type: Python reads 1.0 as a float but 1 as an int. `value` is the member's new value,
 * as JSON. Throws the errors of `parseJson`.
 */
export function withMember(
  bytes: Uint8Array,
  file: string,
  name: string,
  value: string,
): Uint8Array {
  const text = decodeText(bytes, file);
  const { spans } = parseObject(text, file);
  const begin = text.indexOf("{") + 1;
  const [from, to] = spans.get(name) ?? [begin, begin];
  const member = `\n  ${JSON.stringify(name)}: ${value}${spans.size === 0 ? "\n" : ","}`;
  const put = spans.has(name) ? value : member;
  return new TextEncoder().encode(text.slice(0, from) + put + text.slice(to));
}

/**
 * The maximum number of digits in an integer, because BigInt takes quadratic time to parse; no integer type has more
 * digits.
 */
const MAX_DIGITS = 40;

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

export const isList = (value: Json | undefined): value is readonly Json[] => isArray(value);
