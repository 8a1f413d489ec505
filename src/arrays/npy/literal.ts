/**
 * Parses the dictionary in the header of an NPY file. The parser accepts only the Python tokens that NumPy writes. The
 * parser reads each byte once, so its time and memory are bounded by the file size. The file `descr.ts` parses the
 * value of `descr`.
 */

import { malformed, TensorError, unsupported } from "../../core/errors.ts";
import { printValue } from "../../core/foreign.ts";
import { MAX_RANK } from "../../core/tensor/shape.ts";

export interface HeaderFields {
  readonly descr: string;
  readonly fortranOrder: boolean;
  readonly shape: readonly number[];
}

/**
 * The maximum length of quoted text, which is longer than any key or valid `descr`. The limit also bounds the quotes in
 * error messages.
 */
const MAX_QUOTED = 64;

/**
 * Parses the dictionary in the bytes from `start` to `end`. Only white space may surround the dictionary. Throws
 * `malformed-file`, `unsupported-file` for a structured data type, or `too-large` for a dimension of 2^53 or more.
 */
export function parseDictionary(bytes: Uint8Array, start: number, end: number): HeaderFields {
  const cursor = new LiteralCursor(bytes, start, end);
  const values: { descr?: string; fortranOrder?: boolean; shape?: number[] } = {};
  const seen: string[] = [];
  cursor.expect("{");
  while (!cursor.accept("}")) {
    const key = cursor.text("a key in quotes");
    if (seen.includes(key)) {
      throw malformed(`the header of the NPY file has the key '${key}' twice`, { key });
    }
    seen.push(key);
    cursor.expect(":");
    if (key === "descr") values.descr = parseTypeName(cursor);
    else if (key === "fortran_order") values.fortranOrder = parseBoolean(cursor);
    else if (key === "shape") values.shape = parseTuple(cursor);
    else {
      throw malformed(
        `the header of the NPY file has the key '${key}', but its keys are descr, fortran_order and shape`,
        { key, allowed: ["descr", "fortran_order", "shape"] },
      );
    }
    if (cursor.accept(",")) continue;
    cursor.expect("}");
    break;
  }
  cursor.expectEnd();
  const { descr, fortranOrder, shape } = values;
  if (descr === undefined || fortranOrder === undefined || shape === undefined) {
    const missing = ["descr", "fortran_order", "shape"].filter((key) => !seen.includes(key));
    throw malformed(`the header of the NPY file lacks ${missing.join(" and ")}`, {
      key: missing[0],
    });
  }
  return { descr, fortranOrder, shape };
}

function parseTypeName(cursor: LiteralCursor): string {
  if (cursor.accept("[") || cursor.accept("(")) {
    throw unsupported(
      "the descr of the NPY file is a structured data type, which cannot be read; save each field separately, " +
        "for example np.save(path, array['field'])",
      { key: "descr" },
    );
  }
  return cursor.text("a data type in quotes");
}

function parseBoolean(cursor: LiteralCursor): boolean {
  if (cursor.accept("True")) return true;
  if (cursor.accept("False")) return false;
  throw cursor.unexpected("True or False");
}

/** Parses a tuple such as `()`, `(3,)`, `(2, 3)` or `(2, 3,)`; `(3)` is a number. */
function parseTuple(cursor: LiteralCursor): number[] {
  const shape: number[] = [];
  cursor.expect("(");
  while (!cursor.accept(")")) {
    if (shape.length === MAX_RANK) {
      throw malformed(
        `the shape in the header of the NPY file has more than ${MAX_RANK} dimensions`,
        { key: "shape", limit: MAX_RANK },
      );
    }
    shape.push(parseDimension(cursor));
    if (cursor.accept(",")) continue;
    if (shape.length === 1)
      throw cursor.unexpected("a comma (a shape of one dimension is written (3,))");
    cursor.expect(")");
    break;
  }
  return shape;
}

function parseDimension(cursor: LiteralCursor): number {
  if (cursor.accept("-")) {
    throw malformed(
      `the shape in the header of the NPY file has a negative dimension, -${cursor.digits()}`,
    );
  }
  const dimension = cursor.digits();
  // Python 2 appends an L to long integers.
  cursor.accept("L");
  if (!Number.isSafeInteger(dimension)) {
    throw new TensorError(
      "too-large",
      "the shape in the header of the NPY file has a dimension of 2^53 or more, " +
        "but a tensor has at most 2^32 - 1 elements",
      { key: "shape", limit: 2 ** 32 - 1 },
    );
  }
  return dimension;
}

/** A cursor in the header. Every method skips white space before its token. */
class LiteralCursor {
  readonly bytes: Uint8Array;
  readonly end: number;
  at: number;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
  }

  /** Returns the next byte that is not white space, or -1 at the end. */
  peek(): number {
    while (this.at < this.end && isBlank(this.bytes[this.at])) this.at++;
    return this.at < this.end ? this.bytes[this.at] : -1;
  }

  /** Advances past `token` and returns true if this token is next. */
  accept(token: string): boolean {
    this.peek();
    if (this.at + token.length > this.end) return false;
    for (let i = 0; i < token.length; i++) {
      if (this.bytes[this.at + i] !== token.charCodeAt(i)) return false;
    }
    this.at += token.length;
    return true;
  }

  expect(token: string): void {
    if (!this.accept(token)) throw this.unexpected(`'${token}'`);
  }

  expectEnd(): void {
    if (this.peek() !== -1) throw this.unexpected("only blanks");
  }

  /** Parses printable ASCII text in single or double quotes, without escapes. */
  text(what: string): string {
    const quote = this.peek();
    if (quote !== 0x27 && quote !== 0x22) throw this.unexpected(what);
    this.at++;
    let text = "";
    while (this.at < this.end && text.length <= MAX_QUOTED) {
      const byte = this.bytes[this.at];
      if (byte === quote) {
        this.at++;
        return text;
      }
      if (byte < 0x20 || byte > 0x7e || byte === 0x5c)
        throw this.unexpected("a plain ASCII character");
      text += String.fromCharCode(byte);
      this.at++;
    }
    throw this.unexpected(`the quote that ends ${printValue(text)}`);
  }

  /** Parses a decimal number. The result is inexact from 2^53, but never a safe integer. */
  digits(): number {
    if (!isDigit(this.peek())) throw this.unexpected("a number");
    let number = 0;
    // Above 2^53, each further digit multiplies the number by ten, so rounding cannot make it smaller than 2^53 again.
    for (; this.at < this.end && isDigit(this.bytes[this.at]); this.at++) {
      number = number * 10 + (this.bytes[this.at] - 0x30);
    }
    return number;
  }

  unexpected(what: string): TensorError {
    const byte = this.peek();
    const found =
      byte === -1
        ? "ends"
        : byte > 0x20 && byte < 0x7f
          ? `has ${JSON.stringify(String.fromCharCode(byte))}`
          : `has the byte 0x${byte.toString(16).padStart(2, "0")}`;
    return malformed(
      `the header of the NPY file ${found} at byte ${this.at}, but expected ${what}`,
      { byte: this.at },
    );
  }
}

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;

/** Returns true for white space: a space, tab, newline or carriage return. */
const isBlank = (byte: number): boolean =>
  byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
