/**
 * Parses brackets, tables, calls and methods in pasted text. This file knows only the grammar; `paste-calls.ts`
 * evaluates calls.
 */

import { TensorError, type DType } from "ndscatter";
import { MOST_AXES, MOST_ELEMENTS } from "../values/limits.ts";
import { IDLE_ARGUMENTS, made } from "./paste-calls.ts";
import {
  blockOf,
  dtypeNamed,
  tooMany,
  type List,
  type Value,
  type Word,
  type Wrong,
} from "./paste-value.ts";
import type { TensorText } from "../values/state.ts";

/** The maximum bracket nesting: lists for all axes, with calls around and inside these lists. */
const DEEPEST = MOST_AXES + 3;

/** The maximum number of elements that all calls in a text may create together. */
const MOST_WORK = 6 * MOST_ELEMENTS;

const CLOSING: Readonly<Record<string, string>> = { "[": "]", "(": ")", "{": "}" };

/** Matches up to two labels such as `x =`, `const x =`, `data:` and `Parameter containing:`. */
const LABEL = /^\s*(?:[A-Za-z_][\w.]{0,40}[^\S\n]{1,9}){0,3}[A-Za-z_][\w.]{0,40}\s{0,9}[:=](?!=)/;

/** A recursive-descent parser with one method for each syntactic form. */
export class Reader {
  readonly text: string;
  at = 0;
  count = 0;
  work = 0;
  dtype: DType | undefined;
  failedAt = 0;
  readonly names: ReadonlyMap<string, Known>;

  constructor(
    text: string,
    dtype: DType,
    part?: { readonly start: number; readonly names: ReadonlyMap<string, Known> },
  ) {
    this.names = part?.names ?? new Map();
    if (part !== undefined) {
      this.text = text;
      this.at = part.start;
      return;
    }
    // Printed TensorFlow tensors look like <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2])>.
    const [begin, end] = [text.indexOf("numpy="), text.lastIndexOf(">")];
    const isNamed = text.trimStart().startsWith("<tf.") && begin !== -1 && begin < end;
    this.text = isNamed ? text.slice(begin + "numpy=".length, end) : text;
    // A line in a table of strings may contain a colon.
    if (dtype === "string" && !HAS_BRACKET.test(this.text)) return;
    for (let labels = 0; labels < 2; labels++) {
      this.at += LABEL.exec(this.text.slice(this.at, this.at + 400))?.[0].length ?? 0;
    }
  }

  whole(): Value {
    const value = this.isTable() ? listOf(this.table()) : this.value(0);
    this.skip(/[\s;,]*/y);
    if (this.at === this.text.length) return value;
    throw this.wrong(`expected the end of the text, got ${this.here()}`);
  }

  /** Checks whether the text consists of two or more bare words. */
  isTable(): boolean {
    return !HAS_BRACKET.test(this.text) && /[^\s,;][\s,;]+[^\s,;]/.test(this.text.slice(this.at));
  }

  /** Parses lines of words. */
  table(): List[] {
    const rows: List[] = [];
    for (this.skip(/[\s;]*/y); this.at < this.text.length; this.skip(/[\s;]*/y)) {
      const items: Value[] = [];
      const start = this.at;
      while (/[^\n;]/.test(this.text[this.at] ?? ";")) {
        items.push(this.word());
        this.skip(/[^\S\n]*,?[^\S\n]*/y);
      }
      rows.push({ items, start });
    }
    return rows;
  }

  value(depth: number): Value {
    const opening = this.peek();
    if (depth > DEEPEST) throw this.wrong(`brackets are nested ${depth} deep`);
    if (opening === "") throw this.wrong("expected a value, but the text ends");
    if (Object.hasOwn(CLOSING, opening)) return this.methods(this.list(opening, depth), depth);
    if (opening === "'" || opening === '"') return this.quoted();
    const word = this.word();
    if (word.text === "new") return this.value(depth + 1);
    if (word.text === "...") {
      throw this.wrong("the array is abbreviated with ...: print the whole array", word.start);
    }
    const known = this.known(word, depth);
    if (known !== null) return known;
    const typed = /^((?:[A-Z]\w*)?)Array(?:\.from|\.of)?$/.exec(word.text)?.[1];
    if (typed !== undefined) this.name(typed.replace(/^Big/, "").toLowerCase());
    if (this.peek() === "[" && typed !== undefined) return this.value(depth);
    if (this.peek() !== "(") return word;
    const name = word.text.replace(/(?<=Array)\.from$/, "");
    const value = this.call(name, word.start, null, depth);
    // Printed typed arrays look like Float32Array(3) [ 1, 2, 3 ].
    if (typed !== undefined && this.peek() === "[") return this.value(depth);
    return this.methods(value, depth);
  }

  /** Returns a named array, its shape, or the result of its methods; null for any other word. */
  known({ text, start }: Word, depth: number): Value | null {
    const [, name = "", rest = ""] = /^([A-Za-z_$][\w$]*)((?:\.\w+)*)$/.exec(text) ?? [];
    const array = this.names.get(name);
    if (array === undefined) return null;
    const word = (value: string | number): Word => ({
      text: String(value),
      isQuoted: array.dtype === "string",
      start,
    });
    if (rest === ".shape") return { items: array.shape.map(word), start };
    this.work += array.values.length + 1;
    if (this.work > MOST_WORK) throw TOO_MANY();
    if (array.isSaid) this.dtype = array.dtype;
    this.at = start + name.length;
    return this.methods({ shape: array.shape, words: array.values.map(word), start }, depth);
  }

  /** Parses method calls on a value. */
  methods(first: Value, depth: number): Value {
    let value = first;
    for (;;) {
      const [text, name] = this.match(/\s*\.([A-Za-z_]\w*)/y) ?? [];
      if (text === undefined) return value;
      const start = this.at - name.length;
      const isCalled = this.peek() === "(";
      if (!isCalled && name !== "T") throw this.wrong(`expected ( after .${name}`);
      value = this.call(name, start, blockOf(value, this.wrongAt), depth);
    }
  }

  list(opening: string, depth: number): Value {
    const start = this.at;
    this.at++;
    const items: Value[] = [];
    let hasComma = false;
    while (this.peek() !== CLOSING[opening]) {
      const item = this.value(depth + 1);
      items.push(item);
      if (!("text" in item) && /[[(]/.test(this.text[this.at] ?? "")) {
        throw this.wrong("indexing into a list is not supported here");
      }
      // NumPy separates elements with spaces instead of commas.
      if (this.peek() === ",") {
        this.at++;
        hasComma = true;
      } else if (/[\])}=]/.test(this.peek()) && this.peek() !== CLOSING[opening]) {
        throw this.wrong(`expected ${CLOSING[opening]}, got ${this.here()}`);
      }
    }
    this.at++;
    // The text (1+2j) is a number, but (1,) is a list.
    return opening === "(" && items.length === 1 && !hasComma ? items[0] : { items, start };
  }

  call(name: string, start: number, self: ReturnType<typeof blockOf> | null, depth: number): Value {
    const before = this.dtype;
    const { positional, named, dtype } = this.peek() === "(" ? this.arguments(depth) : NO_ARGUMENTS;
    // A method uses its array's data type; a call uses the data type in its arguments.
    const known = self === null ? this.dtype : before;
    const { wrongAt: wrong } = this;
    const call = { name, start, positional, named, dtype: known, asked: dtype, wrong };
    const { value, dtype: types } = made(call, self);
    this.dtype = dtype ?? types ?? this.dtype;
    this.work += "words" in value ? value.words.length + 1 : 1;
    if (this.work > MOST_WORK) throw TOO_MANY();
    return value;
  }

  arguments(depth: number): Arguments {
    let dtype: DType | undefined;
    const positional: Value[] = [];
    const named = new Map<string, Value>();
    this.at++;
    while (this.peek() !== ")") {
      const [text, name] = this.match(/([A-Za-z_]\w{0,40})\s*=(?!=)/y) ?? [];
      if (text === undefined) positional.push(this.value(depth + 1));
      else if (IDLE_ARGUMENTS.has(name)) this.argument();
      else if (name === "dtype") dtype = dtypeNamed(this.argument()) ?? undefined;
      else if (name === "order") this.checkOrder(this.argument());
      else named.set(name, this.value(depth + 1));
      if (this.peek() === ",") this.at++;
      else if (this.peek() !== ")") throw this.wrong(`expected ), got ${this.here()}`);
    }
    this.at++;
    return { positional, named, dtype };
  }

  /** Refuses any memory order except C, because elements would have the wrong positions. */
  checkOrder(text: string): void {
    if (!/^\s*["']C["']\s*$/.test(text)) throw this.wrong("only order='C' is supported here");
  }

  /** Returns an argument's text, up to the comma or bracket that ends it. */
  argument(): string {
    const start = this.at;
    let depth = 0;
    for (; this.at < this.text.length; this.at++) {
      const character = this.text[this.at];
      if (/[([]/.test(character)) depth++;
      else if (/[)\]]/.test(character) && depth-- === 0) break;
      else if (character === "," && depth === 0) break;
    }
    return this.text.slice(start, this.at);
  }

  /** Records the data type that the text names. */
  name(text: string): void {
    this.dtype = dtypeNamed(text) ?? this.dtype;
  }

  word(): Word {
    const start = this.at;
    const [text] = this.match(/[^\s[\](){},;'"=]+/y) ?? [];
    if (text === undefined) throw this.wrong(`expected a value, got ${this.here()}`);
    return this.counted({ text, isQuoted: false, start });
  }

  quoted(): Word {
    const start = this.at;
    const [all, , text] = this.match(/(['"])((?:[^\\]|\\[^])*?)\1/y) ?? [];
    if (all === undefined) throw this.wrong("the closing quote is missing");
    return this.counted({ text: unescape(text), isQuoted: true, start });
  }

  counted(word: Word): Word {
    if (++this.count > 2 * MOST_ELEMENTS) throw TOO_MANY();
    return word;
  }

  peek(): string {
    this.skip(/\s*/y);
    return this.text[this.at] ?? "";
  }

  skip(pattern: RegExp): void {
    this.match(pattern);
  }

  /** Matches a sticky pattern at the current position, and moves past the match. */
  match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    this.at += found?.[0].length ?? 0;
    return found;
  }

  here(): string {
    return this.text[this.at] ?? "the end";
  }

  readonly wrongAt: Wrong = (sentence, start) => this.wrong(sentence, start);

  wrong(sentence: string, at = this.at): TensorError {
    this.failedAt = at;
    const lines = this.text.slice(0, at).split("\n");
    const column = lines[lines.length - 1].length + 1;
    const message = `line ${lines.length}, column ${column}: ${sentence}`;
    return new TensorError("shape-mismatch", message, { key: "text", at: [lines.length, column] });
  }
}

/** An array that a program names. */
export interface Known extends TensorText {
  /** True if the text names the data type. */
  readonly isSaid: boolean;
}

const HAS_BRACKET = /[[\](){}'"]/;

interface Arguments {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
  readonly dtype: DType | undefined;
}

const NO_ARGUMENTS: Arguments = { positional: [], named: new Map(), dtype: undefined };

const TOO_MANY = (): TensorError => tooMany(`up to ${MOST_ELEMENTS.toLocaleString("en")} elements`);

/** Returns rows as a table. A single line, or lines with one word each, become a list instead. */
function listOf(rows: readonly List[]): List {
  if (rows.length === 1) return rows[0];
  const isColumn = rows.every(({ items }) => items.length === 1);
  return { items: isColumn ? rows.flatMap(({ items }) => items) : rows, start: 0 };
}

/** Replaces Python and JavaScript escape sequences. */
const unescape = (text: string): string =>
  text.replaceAll(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|u\{([0-9a-fA-F]{1,6})\}|([^]))/g,
    (all, ...groups) => {
      const [x, u, long, brace, one] = groups as (string | undefined)[];
      const digits = x ?? u ?? long ?? brace;
      if (digits === undefined) return SIGNS[one ?? ""] ?? one ?? "";
      const code = Number.parseInt(digits, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : all;
    },
  );

const SIGNS: Readonly<Record<string, string | undefined>> = Object.assign(Object.create(null), {
  n: "\n",
  r: "\r",
  t: "\t",
  b: "\b",
  f: "\f",
  v: "\v",
  "0": "\0",
});
