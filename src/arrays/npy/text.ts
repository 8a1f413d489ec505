/**
 * Converts text to and from NumPy's format, in which all elements have the same number of code points (UCS-4), padded
 * with NULs.
 *
 * NumPy treats a lone surrogate as a code point, so lone surrogates are converted unchanged. A surrogate pair is two
 * characters in Python but one in JavaScript, so a file with such a pair is rejected.
 */

import { printCount, printValue } from "../../core/foreign.ts";
import { malformed, TensorError, unsupported } from "../../core/errors.ts";
import { coordinatesOf, printShape } from "../../core/tensor/shape.ts";
import { ARRAYS } from "../../core/limits.ts";

const MAX_CODE_POINT = 0x10ffff;

/**
 * Decodes strings of `length` code points, and removes trailing NULs. Throws `malformed-file` for a number that is not
 * a code point, or `too-large` for a string that is too long for JavaScript.
 */
export function decodeUcs4(
  codes: Uint32Array,
  length: number,
  size: number,
  shape: readonly number[],
): string[] {
  // The array grows step by step, because V8 stores an array with more than 2^25 initial elements as a hash table,
  // which is 15 times as slow.
  const texts: string[] = [];
  for (let position = 0; position < size; position++) {
    const start = position * length;
    let end = start + length;
    while (end > start && codes[end - 1] === 0) end--;
    for (let i = start; i < end; i++) {
      const isPair =
        i > start && isSurrogate(codes[i - 1], 0xd800) && isSurrogate(codes[i], 0xdc00);
      if (isPair || codes[i] > MAX_CODE_POINT)
        throw wrongCode(codes[i], isPair, coordinatesOf(position, shape));
    }
    texts.push(textOf(codes, start, end));
  }
  return texts;
}

function textOf(codes: Uint32Array, start: number, end: number): string {
  let text = "";
  try {
    for (let from = start; from < end; from += ARRAYS.codes) {
      const part = codes.subarray(from, Math.min(from + ARRAYS.codes, end));
      text += Reflect.apply(String.fromCodePoint, null, part);
    }
  } catch (cause) {
    const sentence = `the NPY file has a text of ${printCount(end - start, "character")}, too long for a JavaScript string`;
    throw new TensorError("too-large", sentence, {}, { cause });
  }
  return text;
}

function wrongCode(got: number, isPair: boolean, at: readonly number[]): TensorError {
  const what = isPair
    ? "half of a surrogate pair; store the pair as a single character"
    : `greater than the largest code point, 0x${MAX_CODE_POINT.toString(16)}`;
  const sentence = `the text at ${printShape(at)} of the NPY file has the code 0x${got.toString(16)}, ${what}`;
  return (isPair ? unsupported : malformed)(sentence, { at, got });
}

/** Returns true if `code` is one of 1,024 consecutive surrogates, the first of which is `first`. */
const isSurrogate = (code: number, first: number): boolean => code >= first && code < first + 0x400;

/**
 * Returns the length of the longest text in code points, but at least NumPy's minimum of 1. Throws a `dtype` error for
 * text that ends in a NUL, because readers would remove the NUL as padding.
 */
export function longestText(texts: readonly string[], shape: readonly number[]): number {
  let longest = 1;
  for (let position = 0; position < texts.length; position++) {
    const text: unknown = texts[position];
    if (typeof text !== "string" || text.endsWith("\0")) {
      const at = coordinatesOf(position, shape);
      const sentence =
        typeof text === "string"
          ? `the text at ${printShape(at)} ends in a NUL character, which NPY files cannot keep`
          : `tensor${printShape(at)} must be a string, got ${printValue(text)}`;
      throw new TensorError("dtype", sentence, { input: "tensor", at });
    }
    longest = Math.max(longest, countCodePoints(text));
  }
  return longest;
}

function countCodePoints(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) if (Number(text.codePointAt(i)) > 0xffff) count--;
  return count;
}

/** Writes texts into `codes` with `length` code points each. The memory of `codes` must contain zeros. */
export function encodeUcs4(texts: readonly string[], length: number, codes: Uint32Array): void {
  for (let position = 0; position < texts.length; position++) {
    let out = position * length;
    for (const character of texts[position]) codes[out++] = Number(character.codePointAt(0));
  }
}
