/**
 * A tensor from pasted text: arrays as JavaScript, Python and spreadsheets print them.
 *
 *     [[1, 2], [3, 4],]                     JSON, lists and tuples of Python, trailing commas
 *     array([[1., 2.], [3., 4.]], dtype=float32)    NumPy, with or without np.; [[1. 2.] [3. 4.]] as it prints
 *     tensor([[True, False]], device='cuda:0')      torch, and what the library prints
 *     Float32Array(3) [ 1, 2, 3 ]           a typed array as Node prints it
 *     1  2  3                               a table, one row a line
 *
 * The shape is that of the brackets. If the text names a data type, the tensor has it.
 */

import { isDType, printShape, TensorError, type DType } from "ndscatter";
import type { Edited } from "./edit.ts";
import { checkShape, MOST_AXES, MOST_ELEMENTS } from "./limits.ts";
import { parseScalar } from "./scalar-text.ts";
import { sizeOf } from "./shape.ts";
import type { TensorText } from "./state.ts";
import { tensorOf, textOf } from "./tensor-text.ts";
import { attempt } from "./attempt.ts";

/** Characters; enough for as many elements as the page shows. */
const LONGEST = 2_000_000;

/** The tensor in `text`, in the data type of `input` unless the text names one; or an error with line and column. */
export const withText = (input: TensorText, text: string): Edited =>
  attempt(() => {
    if (text.length > LONGEST) {
      throw new TensorError("too-large", `the text has more than ${LONGEST} characters`);
    }
    const reader = new Reader(text);
    const value = reader.whole();
    const { dtype = input.dtype, shape: said } = reader;
    const words: Word[] = [];
    const nesting = shapeOf(value, words, reader);
    const shape = said ?? nesting;
    checkShape(shape, "the text");
    const size = sizeOf(shape);
    if (size !== words.length) {
      const sentence = `the text says shape=${printShape(shape)}, but has ${words.length} elements`;
      throw new TensorError("shape-mismatch", sentence);
    }
    const values = words.map((word) => textOfWord(word, dtype, reader));
    const read = { dtype, shape, values };
    const { tensor, wrong } = tensorOf(read, "the text");
    // An element that the data type cannot hold stays as it was written; the page reports it.
    return { input: wrong.length === 0 ? textOf(tensor) : read };
  });

/** An element as it was written. */
interface Word {
  readonly text: string;
  readonly isQuoted: boolean;
  /** Where in the text it begins. */
  readonly start: number;
}

interface List {
  readonly items: readonly Value[];
  readonly start: number;
}

type Value = Word | List;

const isList = (value: Value): value is List => "items" in value;

/** The shape of nested lists. It adds their words to `words`. */
function shapeOf(value: Value, words: Word[], reader: Reader): number[] {
  if (!isList(value)) {
    words.push(value);
    return [];
  }
  const { items } = value;
  const shapes = items.map((item) => shapeOf(item, words, reader));
  const [first = []] = shapes;
  const other = shapes.findIndex((shape) => String(shape) !== String(first));
  if (other === -1) return [items.length, ...first];
  const [got, wanted] = [shapes[other], first].map((shape) =>
    shape.length === 0 ? "an element" : `a list of the shape ${printShape(shape)}`,
  );
  throw reader.wrong(`expected ${wanted}, as the first one is, got ${got}`, items[other].start);
}

/** The text of an element without the marks that a language adds. */
function textOfWord({ text, isQuoted, start }: Word, dtype: DType, reader: Reader): string {
  if (dtype === "string" || isQuoted) return text;
  const bare = text
    // np.nan, np.True_, -math.inf
    .replace(/^([+-]?)[a-z]\w*\.(?=[a-z])/i, "$1")
    .replace(/^(true|false)_$/i, "$1")
    // 1n, a bigint of JavaScript
    .replace(/^([+-]?\d+)n$/, "$1");
  if (typeof parseScalar(dtype, bare) !== "string") return bare;
  throw reader.wrong(`${JSON.stringify(bare.slice(0, 40))} is no value of ${dtype}`, start);
}

/** How deep brackets may nest: the lists of all axes, with calls around them and in them. */
const DEEPEST = MOST_AXES + 3;

const LONGEST_NAME = 40;

const CLOSING: Readonly<Record<string, string>> = { "[": "]", "(": ")", "{": "}" };

/** A parser by recursive descent: a position in the text, and what may stand there. */
class Reader {
  readonly text: string;
  at = 0;
  count = 0;
  dtype: DType | undefined;
  shape: readonly number[] | undefined;

  constructor(text: string) {
    // <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2])>
    const [begin, end] = [text.indexOf("numpy="), text.lastIndexOf(">")];
    const isNamed = text.trimStart().startsWith("<tf.") && begin !== -1 && begin < end;
    this.text = isNamed ? text.slice(begin + "numpy=".length, end) : text;
  }

  whole(): Value {
    const value = this.isTable() ? this.table() : this.value(0);
    this.skip(/[\s;,]*/y);
    if (this.at === this.text.length) return value;
    throw this.wrong(`expected the end of the text, got ${this.here()}`);
  }

  /** Whether the text is bare words only, and more than one. */
  isTable(): boolean {
    return !/[[\](){}'"]/.test(this.text) && /[^\s,;][\s,;]+[^\s,;]/.test(this.text);
  }

  /** Lines of words. A single line, or lines of one word each, make a list. */
  table(): Value {
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
    if (rows.length === 1) return rows[0];
    const isColumn = rows.every(({ items }) => items.length === 1);
    return { items: isColumn ? rows.flatMap(({ items }) => items) : rows, start: 0 };
  }

  value(depth: number): Value {
    const opening = this.peek();
    if (depth > DEEPEST) throw this.wrong(`brackets are nested ${depth} deep`);
    if (opening === "") throw this.wrong("expected a value, but the text ends");
    if (Object.hasOwn(CLOSING, opening)) return this.list(opening, depth);
    if (opening === "'" || opening === '"') return this.quoted();
    const word = this.word();
    if (word.text === "new") return this.value(depth + 1);
    if (word.text === "...") {
      throw this.wrong("elements are left out here: print the whole array", word.start);
    }
    const isTyped = /^(?:[A-Z]\w*)?Array$/.test(word.text);
    if (isTyped) this.name(word.text.replace(/^Big|Array$/g, "").toLowerCase());
    if (this.peek() === "[" && isTyped) return this.value(depth);
    if (this.peek() !== "(") return word;
    const value = this.call(depth);
    // Float32Array(3) [ 1, 2, 3 ]
    return isTyped && this.peek() === "[" ? this.value(depth) : value;
  }

  list(opening: string, depth: number): Value {
    const start = this.at;
    this.at++;
    const items: Value[] = [];
    let hasComma = false;
    while (this.peek() !== CLOSING[opening]) {
      items.push(this.value(depth + 1));
      // NumPy prints blanks instead of commas.
      if (this.peek() === ",") {
        this.at++;
        hasComma = true;
      } else if (/[\])}=]/.test(this.peek()) && this.peek() !== CLOSING[opening]) {
        throw this.wrong(`expected ${CLOSING[opening]}, got ${this.here()}`);
      }
    }
    this.at++;
    // (1+2j) is a number, (1,) is a list.
    return opening === "(" && items.length === 1 && !hasComma ? items[0] : { items, start };
  }

  /** The arguments of a call: the value, then perhaps a shape, a data type and others. */
  call(depth: number): Value {
    this.at++;
    const value = this.value(depth + 1);
    while (this.peek() === ",") {
      this.at++;
      const [, name, argument] = /^\s*(?:(\w+)\s*=)?([^]*)$/.exec(this.argument()) ?? [];
      if (name === "shape") this.shape = sizesOf(argument);
      else if (name === undefined || name === "dtype") this.name(argument);
    }
    if (this.peek() !== ")") throw this.wrong(`expected ), got ${this.here()}`);
    this.at++;
    return value;
  }

  /** The text of an argument, up to the comma or the bracket that ends it. */
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

  /** Notes a data type as languages name it: `np.float32`, `'float32'`, `torch.long`, `<class 'numpy.int8'>`. */
  name(text: string): void {
    const name = /(\w+)\W*$/.exec(text.slice(-LONGEST_NAME))?.[1].replace(/_$/, "") ?? "";
    const known = OTHER_NAMES[name] ?? name;
    if (isDType(known)) this.dtype ??= known;
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
    if (all === undefined) throw this.wrong("there is no closing quote");
    return this.counted({ text: unescape(text), isQuoted: true, start });
  }

  counted(word: Word): Word {
    if (++this.count > 2 * MOST_ELEMENTS) {
      const most = MOST_ELEMENTS.toLocaleString("en");
      throw new TensorError(
        "too-large",
        `the page shows up to ${most} elements, and the text has more`,
      );
    }
    return word;
  }

  /** The next character that is not blank; the empty string at the end. */
  peek(): string {
    this.skip(/\s*/y);
    return this.text[this.at] ?? "";
  }

  skip(pattern: RegExp): void {
    this.match(pattern);
  }

  /** Matches a sticky pattern here and moves behind the match. */
  match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    this.at += found?.[0].length ?? 0;
    return found;
  }

  here(): string {
    return this.text[this.at] ?? "the end";
  }

  wrong(sentence: string, at = this.at): TensorError {
    const lines = this.text.slice(0, at).split("\n");
    const column = lines[lines.length - 1].length + 1;
    return new TensorError("shape-mismatch", `line ${lines.length}, column ${column}: ${sentence}`);
  }
}

/** Names of data types in torch, NumPy and file formats that differ from the library's. */
const OTHER_NAMES: Readonly<Record<string, DType | undefined>> = Object.assign(
  Object.create(null),
  {
    bool8: "bool",
    str: "string",
    object: "string",
    half: "float16",
    float: "float32",
    double: "float64",
    long: "int64",
    int: "int64",
  },
);

/** The sizes in `(2, 3)` or `torch.Size([2, 3])`. */
const sizesOf = (text: string): number[] =>
  [...text.matchAll(/-?\d+/g)].slice(0, MOST_AXES + 1).map(([digits]) => Number(digits));

/** Replaces the escape sequences of Python and JavaScript. */
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
