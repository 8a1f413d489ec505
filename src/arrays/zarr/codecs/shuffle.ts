/**
 * Implements blosc's shuffles and the codec `numcodecs.shuffle`, which group bytes or bits of equal weight, because
 * these are often similar in neighboring elements. Bytes after the last whole element of a block are not moved.
 */

import { broken, makeFixedCodec, type ByteCodec, type Span } from "./byte-codec.ts";
import { newBytes } from "../chunks/buffers.ts";

/** Shuffles or unshuffles bytes. The shuffle moves byte j of element e from `e * width + j` to `j * count + e`. */
export function moveBytes(
  from: Uint8Array,
  into: Uint8Array,
  width: number,
  isBack: boolean,
): void {
  const count = Math.floor(from.length / width);
  const areWords = (from.byteOffset | into.byteOffset | width | count) % 4 === 0;
  if (areWords) moveSquares(wordsOf(from), wordsOf(into), width / 4, count / 4, isBack);
  else {
    const [read, write] = isBack ? [1, width] : [width, 1];
    for (let j = 0; j < width; j++) {
      let [at, to] = isBack ? [j * count, j] : [j, j * count];
      for (let e = 0; e < count; e++, at += read, to += write) into[to] = from[at];
    }
  }
  into.set(from.subarray(count * width), count * width);
}

const wordsOf = ({ buffer, byteOffset, length }: Uint8Array): Int32Array =>
  new Int32Array(buffer, byteOffset, length >> 2);

/**
 * Transposes squares of four bytes of four elements, in either direction, which is four times as fast as moving single
 * bytes. `width` is the element size and `count` is the length of a shuffled row, both in words.
 */
function moveSquares(
  from: Int32Array,
  into: Int32Array,
  width: number,
  count: number,
  isBack: boolean,
): void {
  const [read, write] = isBack ? [count, width] : [width, count];
  for (let j = 0; j < width; j++) {
    for (let e = 0; e < count; e++) {
      const elements = 4 * e * width + j;
      const rows = 4 * j * count + e;
      const at = isBack ? rows : elements;
      const to = isBack ? elements : rows;
      const a = from[at];
      const b = from[at + read];
      const c = from[at + 2 * read];
      const d = from[at + 3 * read];
      // Squares of 2 x 2 bytes are transposed first. `evenAB` contains byte 0 of a, byte 0 of b, byte 2 of a and byte 2
      // of b.
      const evenAB = (a & 0x00ff00ff) | ((b & 0x00ff00ff) << 8);
      const oddAB = ((a >>> 8) & 0x00ff00ff) | (b & 0xff00ff00);
      const evenCD = (c & 0x00ff00ff) | ((d & 0x00ff00ff) << 8);
      const oddCD = ((c >>> 8) & 0x00ff00ff) | (d & 0xff00ff00);
      into[to] = (evenAB & 0xffff) | (evenCD << 16);
      into[to + write] = (oddAB & 0xffff) | (oddCD << 16);
      into[to + 2 * write] = (evenAB >>> 16) | (evenCD & 0xffff0000);
      into[to + 3 * write] = (oddAB >>> 16) | (oddCD & 0xffff0000);
    }
  }
}

/**
 * Unshuffles the elements with needed bytes, and maybe others. A few elements are moved byte by byte, which takes four
 * times as long per element as `moveBytes`.
 */
export function moveBack(
  from: Uint8Array,
  into: Uint8Array,
  width: number,
  needed: readonly Span[],
): void {
  const count = Math.floor(from.length / width);
  const some = needed.reduce((sum, [start, end]) => sum + end - start, 0);
  if (4 * some > from.length) return moveBytes(from, into, width, true);
  for (const [start, end] of needed) {
    const [first, last] = [Math.floor(start / width), Math.min(count, Math.ceil(end / width))];
    for (let j = 0; j < width; j++) {
      let at = j * count + first;
      for (let to = first * width + j; to < last * width; to += width) into[to] = from[at++];
    }
  }
  into.set(from.subarray(count * width), count * width);
}

/**
 * Shuffles or unshuffles bits. The shuffle moves bit k of byte j in element e to bit `e % 8` of byte `(8j + k) * count
 * / 8 + e / 8`. The algorithm exchanges bit k of byte e with bit e of byte k, in squares of 1, 2 and 4 bits ("Hacker's
 * Delight", section 7-3).
 */
export function moveBits(from: Uint8Array, into: Uint8Array, width: number, isBack: boolean): void {
  const count = Math.floor(from.length / width);
  // Blosc does not shuffle the bits of other blocks, because rows of bits need groups of eight elements.
  if (count % 8 !== 0) return into.set(from);
  const row = count / 8;
  const [read, write] = isBack ? [row, width] : [width, row];
  for (let j = 0; j < width; j++) {
    for (let group = 0; group < row; group++) {
      const elements = 8 * group * width + j;
      const bits = 8 * j * row + group;
      const at = isBack ? bits : elements;
      const to = isBack ? elements : bits;
      const fifth = at + 4 * read;
      let low =
        from[at] |
        (from[at + read] << 8) |
        (from[at + 2 * read] << 16) |
        (from[at + 3 * read] << 24);
      let high =
        from[fifth] |
        (from[fifth + read] << 8) |
        (from[fifth + 2 * read] << 16) |
        (from[fifth + 3 * read] << 24);
      let odd = (low ^ (low >>> 7)) & 0x00aa00aa;
      low ^= odd ^ (odd << 7);
      odd = (high ^ (high >>> 7)) & 0x00aa00aa;
      high ^= odd ^ (odd << 7);
      odd = (low ^ (low >>> 14)) & 0x0000cccc;
      low ^= odd ^ (odd << 14);
      odd = (high ^ (high >>> 14)) & 0x0000cccc;
      high ^= odd ^ (odd << 14);
      odd = (high ^ (low >>> 4)) & 0x0f0f0f0f;
      high ^= odd;
      low ^= odd << 4;
      for (let i = 0, place = to; i < 32; i += 8, place += write) {
        into[place] = low >>> i;
        into[place + 4 * write] = high >>> i;
      }
    }
  }
  into.set(from.subarray(count * width), count * width);
}

/** Makes the codec `numcodecs.shuffle`, which moves the bytes of whole chunks. */
export const makeShuffleCodec = (width: number): ByteCodec =>
  makeFixedCodec({
    name: "numcodecs.shuffle",
    decode: async (bytes) => shuffled(bytes, width, true),
    encode: async (bytes) => shuffled(bytes, width, false),
    unwritable: (size) =>
      width > 1 && size % width !== 0 ? `${size} bytes are not whole elements of shuffle` : null,
  });

function shuffled(bytes: Uint8Array, width: number, isBack: boolean): Uint8Array {
  if (width > 1 && bytes.length % width !== 0) throw broken("it ends within an element");
  const into = newBytes(bytes.length);
  // The width comes from a file, so it must not decide how long a loop runs.
  if (width <= 1 || bytes.length <= width) into.set(bytes);
  else moveBytes(bytes, into, width, isBack);
  return into;
}
