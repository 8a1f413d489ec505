/**
 * Text as NumPy stores it: each element as many code points (UCS-4) as the longest has, filled up with NULs.
 *
 * A lone surrogate is a code point to NumPy and passes both ways unchanged. A high surrogate followed by a low one
 * can only be two characters in Python and one in JavaScript, so a file with such a pair is refused.
 */

import { TensorError } from "../errors.ts";
import { coordinatesOf, printShape } from "../tensor/shape.ts";

const MAX_CODE_POINT = 0x10ffff;

/** Code points that become text at once: characters added one by one would cost 32 bytes each. */
const CHUNK = 4096;

/**
 * The strings of `codes`, `length` code points each, without the NULs at their ends.
 * @throws TensorError `malformed-file` for what is no code point, `too-large` for text beyond the engine's limit.
 */
export function decodeText(
  codes: Uint32Array,
  length: number,
  size: number,
  shape: readonly number[],
): string[] {
  // Grown, not made at its length: V8 keeps an array made longer than 2^25 as a hash table (12 s instead of 0.8 s for
  // 4e7 texts).
  const texts: string[] = [];
  for (let position = 0; position < size; position++) {
    const start = position * length;
    let end = start + length;
    while (end > start && codes[end - 1] === 0) end--;
    checkCodes(codes, start, end, position, shape);
    texts.push(textOf(codes, start, end));
  }
  return texts;
}

function textOf(codes: Uint32Array, start: number, end: number): string {
  let text = "";
  try {
    for (let from = start; from < end; from += CHUNK) {
      text += Reflect.apply(
        String.fromCodePoint,
        null,
        codes.subarray(from, Math.min(from + CHUNK, end)),
      );
    }
  } catch (cause) {
    const sentence = `the NPY file holds a text of ${end - start} characters, which does not fit in a string`;
    throw new TensorError("too-large", sentence, {}, { cause });
  }
  return text;
}

function checkCodes(
  codes: Uint32Array,
  start: number,
  end: number,
  position: number,
  shape: readonly number[],
): void {
  let before = 0;
  for (let i = start; i < end; i++) {
    const code = codes[i];
    const isPair = isSurrogate(before, 0xd800) && isSurrogate(code, 0xdc00);
    if (code > MAX_CODE_POINT || isPair) {
      const at = coordinatesOf(position, shape);
      const what = isPair
        ? "half of a surrogate pair, which stands for one character"
        : `no character; the greatest code point is 0x${MAX_CODE_POINT.toString(16)}`;
      throw new TensorError(
        "malformed-file",
        `the NPY file has the code 0x${code.toString(16)} in the text at ${printShape(at)}, which is ${what}`,
        { at, got: code },
      );
    }
    before = code;
  }
}

const isSurrogate = (code: number, first: number): boolean => code >= first && code < first + 0x400;

/**
 * The greatest length of `texts` in code points; at least 1, as NumPy has no shorter text.
 * @throws TensorError `dtype` for text that ends in a NUL, which a reader could not tell from the filling.
 */
export function lengthOfText(texts: readonly string[], shape: readonly number[]): number {
  let longest = 1;
  for (let position = 0; position < texts.length; position++) {
    const text = texts[position];
    if (text.endsWith("\0")) {
      const at = coordinatesOf(position, shape);
      throw new TensorError(
        "dtype",
        `the text at ${printShape(at)} ends in a NUL character, which NPY files cannot keep`,
        { input: "tensor", at },
      );
    }
    // No text has more code points than UTF-16 units, so most need not be counted.
    if (text.length > longest) longest = Math.max(longest, countCodePoints(text));
  }
  return longest;
}

function countCodePoints(text: string): number {
  let count = text.length;
  for (let i = 1; i < text.length; i++) {
    if (isSurrogate(text.charCodeAt(i), 0xdc00) && isSurrogate(text.charCodeAt(i - 1), 0xd800))
      count--;
  }
  return count;
}

/** Writes `texts` into zeroed `codes`, `length` code points each. */
export function encodeText(texts: readonly string[], length: number, codes: Uint32Array): void {
  for (let position = 0; position < texts.length; position++) {
    const text = texts[position];
    let out = position * length;
    for (let i = 0; i < text.length; out++) {
      const code = text.codePointAt(i) ?? 0;
      codes[out] = code;
      i += code > 0xffff ? 2 : 1;
    }
  }
}
