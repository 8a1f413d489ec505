/**
 * The shuffles of blosc: bytes, or bits, of equal weight are put next to each other, because those of neighbouring numbers
 * are alike. Bytes behind a block's last whole element stay where they are.
 */

export const unshuffleBytes = (from: Uint8Array, into: Uint8Array, width: number): void =>
  moveBytes(from, into, width, true);

export const shuffleBytes = (from: Uint8Array, into: Uint8Array, width: number): void =>
  moveBytes(from, into, width, false);

/** Byte j of element e lies at `e * width + j` among elements, and at `j * count + e` among shuffled bytes. */
function moveBytes(from: Uint8Array, into: Uint8Array, width: number, isBack: boolean): void {
  const count = Math.floor(from.length / width);
  const read = isBack ? 1 : width;
  const write = isBack ? width : 1;
  for (let j = 0; j < width; j++) {
    let at = isBack ? j * count : j;
    let to = isBack ? j : j * count;
    for (let e = 0; e < count; e++, at += read, to += write) into[to] = from[at];
  }
  into.set(from.subarray(count * width), count * width);
}

/** Rows of bits go by eights of elements; blosc leaves other blocks as they are. */
const hasEights = (from: Uint8Array, width: number): boolean =>
  Math.floor(from.length / width) % 8 === 0;

export const unshuffleBits = (from: Uint8Array, into: Uint8Array, width: number): void =>
  moveBits(from, into, width, true);

export const shuffleBits = (from: Uint8Array, into: Uint8Array, width: number): void =>
  moveBits(from, into, width, false);

/** Bit k of element e's byte j is, among shuffled bits, bit `e % 8` of the byte `(8j + k) * count / 8 + e / 8`. */
function moveBits(from: Uint8Array, into: Uint8Array, width: number, isBack: boolean): void {
  if (!hasEights(from, width)) return into.set(from);
  const count = Math.floor(from.length / width);
  const row = count / 8;
  const [read, write] = isBack ? [row, width] : [width, row];
  const eight = new Uint8Array(8);
  for (let j = 0; j < width; j++) {
    for (let group = 0; group < row; group++) {
      const elements = 8 * group * width + j;
      const bits = 8 * j * row + group;
      const at = isBack ? bits : elements;
      const to = isBack ? elements : bits;
      for (let i = 0; i < 8; i++) eight[i] = from[at + i * read];
      transposeBits(eight);
      for (let i = 0; i < 8; i++) into[to + i * write] = eight[i];
    }
  }
  into.set(from.subarray(count * width), count * width);
}

/**
 * Exchanges bit k of byte e with bit e of byte k, in squares of 1, 2 and 4 bits ("Hacker's Delight", section 7-3).
 */
function transposeBits(eight: Uint8Array): void {
  let low = eight[0] | (eight[1] << 8) | (eight[2] << 16) | (eight[3] << 24);
  let high = eight[4] | (eight[5] << 8) | (eight[6] << 16) | (eight[7] << 24);
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
  for (let i = 0; i < 4; i++) {
    eight[i] = low >>> (8 * i);
    eight[i + 4] = high >>> (8 * i);
  }
}
