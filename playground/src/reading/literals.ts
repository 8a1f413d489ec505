/**
 * Parses literals and calls in pasted text: nested lists, words, quoted text, `np.array([1, 2], dtype=int32)`, `x[i]`,
 * `x.at[i].add(u)` and assignments. This file knows only the grammar; `blocks.ts` evaluates arrays, and `call/` calls.
 */

import { TensorError } from "ndscatter";
import { MOST_AXES, MOST_ELEMENTS } from "../values/limits.ts";

interface Span {
  readonly start: number;
}

/** A word as written in the text, such as `-1.5`, `True` or `np.float32`. */
export interface Word extends Span {
  readonly kind: "word";
  readonly text: string;
  readonly isQuoted: boolean;
}

export interface List extends Span {
  readonly kind: "list";
  readonly bracket: string;
  readonly items: readonly Value[];
}

export interface Argument {
  /** The argument's keyword; null for a positional argument. */
  readonly name: string | null;
  readonly value: Value;
}

/** A call, or an object literal, which is a call without a name. */
export interface Call extends Span {
  readonly kind: "call";
  readonly name: string;
  /** The value whose method is called; null for a function. */
  readonly self: Value | null;
  readonly arguments: readonly Argument[];
}

export interface Index extends Span {
  readonly kind: "index";
  readonly of: Value;
  readonly items: readonly Value[];
  /** True for `x.at[i]`. */
  readonly isAt: boolean;
}

export type Value = Word | List | Call | Index;

/** `target` is null for an expression; `sign` is `=`, or an operation such as `+=`. */
export interface Statement extends Span {
  readonly target: Value | null;
  readonly sign: string;
  readonly value: Value;
  readonly end: number;
}

/** Creates an error with the line and column of a position in the text. */
export type Wrong = (sentence: string, start: number) => TensorError;

/** The maximum bracket nesting: lists for all axes, with calls around and inside these lists. */
const DEEPEST = MOST_AXES + 3;

/** The maximum number of words, which is enough for three tensors. */
const MOST_WORDS = 4 * MOST_ELEMENTS;

const CLOSING: Readonly<Record<string, string>> = { "[": "]", "(": ")", "{": "}" };

/** Matches lines without effect on arrays. */
const IDLE = /(?:import|from)\b[^\n]*/y;
const NAME = /([A-Za-z_$][\w$]{0,60})\s*(=(?!=)|:)/y;

/** A recursive-descent parser with one method for each syntactic form. */
export class Reader {
  readonly text: string;
  at = 0;
  words = 0;
  /** The number of open brackets. Inside brackets, line breaks are spaces. */
  depth = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** Parses a text that consists of a single value. */
  whole(): Value {
    this.skip(/\s+/y);
    const value = this.value();
    while (this.skip(/[\s;,]+/y) || this.skipComment());
    if (this.at === this.text.length) return value;
    throw this.wrong(`expected the end of the text, got ${this.here()}`);
  }

  statements(): Statement[] {
    const found: Statement[] = [];
    for (;;) {
      while (this.skip(/[\s;]+/y) || this.skipComment() || this.skip(IDLE));
      if (this.at >= this.text.length) return found;
      found.push(this.statement());
      if (!/[\n;]/.test(this.peek() || "\n")) {
        throw this.wrong(`expected the end of the line, got ${this.here()}`);
      }
    }
  }

  statement(): Statement {
    const start = this.at;
    this.skip(/(?:const|let|var)\s+/y);
    const first = this.value();
    let said: Value | null = null;
    if (this.peek() === ":") {
      // The colon starts a type, such as Tensor, or a list.
      this.at++;
      said = this.value();
    }
    this.peek();
    const sign = this.match(/[-+*]?=(?!=)/y)?.[0];
    if (sign === undefined && said?.kind === "list")
      return { target: first, sign: "=", value: said, start, end: this.at };
    if (sign === undefined) return { target: null, sign: "", value: first, start, end: this.at };
    return { target: first, sign, value: this.value(), start, end: this.at };
  }

  value(): Value {
    const opening = this.peek();
    if (this.depth > DEEPEST) throw this.wrong(`brackets are nested ${this.depth} deep`);
    if (opening === "") throw this.wrong("expected a value, but the text ends");
    if (opening === "'" || opening === '"' || opening === "`") return this.quoted();
    if (Object.hasOwn(CLOSING, opening)) return this.after(this.list(opening));
    this.skip(/(?:new|await)\s+/y);
    const word = this.word();
    // Printed typed arrays look like Float32Array(3) [ 1, 2, 3 ].
    const isTyped = /^[A-Z]\w*Array$/.test(word.text);
    if (isTyped && this.skip(/(?:\(\d+\))?\s*(?=\[)/y))
      return this.called(word.text, [this.value()], word.start);
    return this.after(word);
  }

  /** Parses calls, methods and indices after a value. */
  after(first: Value): Value {
    let value = first;
    for (;;) {
      const isNamed = value.kind !== "word" || /^[A-Za-z_$]/.test(value.text);
      const next = this.text[this.at];
      const [dots, method] = this.match(/\.([A-Za-z_]\w{0,40})(?=[([])/y) ?? [];
      if (dots !== undefined && this.text[this.at] === "(") {
        value = {
          kind: "call",
          name: method,
          self: value,
          arguments: this.arguments("("),
          start: value.start,
        };
      } else if (dots === ".at" || (next === "[" && value.kind === "word" && isNamed)) {
        value = this.index(value, dots === ".at");
      } else if (next === "(" && value.kind === "word" && isNamed) {
        const { text, start } = value;
        value = { kind: "call", name: text, self: null, arguments: this.arguments("("), start };
      } else return value;
    }
  }

  index(of: Value, isMethod: boolean): Index {
    const bare = of.kind === "word" ? of.text.replace(/\.at$/, "") : "";
    const isAt = isMethod || (of.kind === "word" && bare !== of.text);
    const base = of.kind === "word" && isAt && !isMethod ? { ...of, text: bare } : of;
    const items = this.bracketed("[", () => {
      const { at } = this;
      return this.skip(/:/y) ? wordOf(":", at) : this.value();
    });
    return { kind: "index", of: base, items, isAt, start: of.start };
  }

  called = (name: string, values: readonly Value[], start: number): Call => ({
    kind: "call",
    name,
    self: null,
    arguments: values.map((value) => ({ name: null, value })),
    start,
  });

  list(bracket: string): Value {
    const start = this.at;
    const all = this.arguments(bracket);
    if (all.some(({ name }) => name !== null)) {
      return { kind: "call", name: "", self: null, arguments: all, start };
    }
    const items = all.map(({ value }) => value);
    // The text (1+2j) is a number, but (1,) is a list.
    const isBare =
      bracket === "(" &&
      items.length === 1 &&
      !/,\s*\)$/.test(this.text.slice(this.at - 9, this.at));
    return isBare ? items[0] : { kind: "list", bracket, items, start };
  }

  /** Parses the contents of brackets, with keywords such as `axis=1` in calls and `axis: 1` in objects. */
  arguments(bracket: string): Argument[] {
    return this.bracketed(bracket, () => {
      const separator = bracket === "{" ? ":" : bracket === "(" ? "=" : "";
      const { at } = this;
      const [, name, sign] = this.match(NAME) ?? [];
      if (sign === separator) return { name, value: this.value() };
      this.at = at;
      const value = this.value();
      // In an object, a name may be quoted.
      const isKey = bracket === "{" && value.kind === "word" && this.peek() === ":";
      if (!isKey) return { name: null, value };
      this.at++;
      return { name: value.text, value: this.value() };
    });
  }

  bracketed<T>(bracket: string, one: () => T): T[] {
    const closing = CLOSING[bracket];
    const all: T[] = [];
    this.at++;
    this.depth++;
    while (this.peek() !== closing) {
      all.push(one());
      // NumPy separates elements with spaces instead of commas.
      if (this.peek() === ",") this.at++;
      else if (/[\])}=:]/.test(this.peek()) && this.peek() !== closing) {
        throw this.wrong(`expected ${closing}, got ${this.here()}`);
      }
    }
    this.at++;
    this.depth--;
    return all;
  }

  word(): Word {
    const start = this.at;
    const [text] = this.match(/[^\s[\](){},;:'"`=#]+/y) ?? [];
    if (text === undefined) throw this.wrong(`expected a value, got ${this.here()}`);
    return this.counted({ kind: "word", text, isQuoted: false, start });
  }

  quoted(): Word {
    const start = this.at;
    const [all, , text] = this.match(/(['"`])((?:[^\\]|\\[^])*?)\1/y) ?? [];
    if (all === undefined) throw this.wrong("the closing quote is missing");
    return this.counted({ kind: "word", text: unescape(text), isQuoted: true, start });
  }

  counted(word: Word): Word {
    if (++this.words > MOST_WORDS) {
      const most = MOST_ELEMENTS.toLocaleString("en");
      throw new TensorError(
        "too-large",
        `the page shows up to ${most} elements, but the text has more`,
      );
    }
    return word;
  }

  /** Skips spaces and comments, and returns the next character; an empty string at the end of the text. */
  peek(): string {
    const spaces = this.depth > 0 ? /\s+/y : /[^\S\n]+/y;
    while (this.skip(spaces) || this.skipComment());
    return this.here();
  }

  skipComment = (): boolean => this.skip(/#[^\n]*|\/\/[^\n]*/y);

  skip = (pattern: RegExp): boolean => this.match(pattern) !== null;

  /** Matches a sticky pattern at the current position, and moves past the match. */
  match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    this.at += found?.[0].length ?? 0;
    return found;
  }

  here = (): string => this.text[this.at] ?? "";

  readonly wrong = (sentence: string, at = this.at): TensorError => {
    const lines = this.text.slice(0, at).split("\n");
    const column = lines[lines.length - 1].length + 1;
    const message = `line ${lines.length}, column ${column}: ${sentence}`;
    return new TensorError("shape-mismatch", message, { key: "text", at: [lines.length, column] });
  };
}

export const wordOf = (text: string, start: number): Word => ({
  kind: "word",
  text,
  isQuoted: false,
  start,
});

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
