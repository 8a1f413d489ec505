/**
 * Decodes the blosc streams LZ4, Snappy and BloscLZ, for which no available library reports errors, and encodes LZ4.
 * Each decoder copies literals and matches until its output is full, and throws if the stream refers to bytes outside
 * its input or output.
 */

import { printCount } from "../../../core/foreign.ts";
import { broken } from "./byte-codec.ts";
import { ZARR } from "../../../core/limits.ts";

/** A stream and its output, with a bounds check at every step. */
class Copier {
  readonly #from: Uint8Array;
  readonly #into: Uint8Array;
  readonly #longRun = ZARR.run;
  #at = 0;
  #done = 0;

  constructor(from: Uint8Array, into: Uint8Array) {
    this.#from = from;
    this.#into = into;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#from.length;
  }

  byte(): number {
    if (this.#at === this.#from.length) throw broken("one of its streams is truncated");
    return this.#from[this.#at++];
  }

  /** Reads a little-endian number. */
  number(width: number): number {
    let value = 0;
    for (let shift = 1; width > 0; width--, shift *= 256) value += this.byte() * shift;
    return value;
  }

  literals(count: number): void {
    const [from, into] = [this.#from, this.#into];
    if (count > from.length - this.#at) throw broken("one of its streams is truncated");
    if (count > into.length - this.#done) throw broken("one of its streams is too long");
    if (count > this.#longRun) into.set(from.subarray(this.#at, this.#at + count), this.#done);
    else for (let i = 0; i < count; i++) into[this.#done + i] = from[this.#at + i];
    this.#at += count;
    this.#done += count;
  }

  /**
   * Copies `count` bytes of the output from `distance` bytes earlier. If the source and the target overlap, the bytes
   * repeat.
   */
  match(distance: number, count: number): void {
    const into = this.#into;
    const [start, end] = [this.#done, this.#done + count];
    if (distance === 0 || distance > start)
      throw broken("one of its streams refers to bytes before its beginning");
    if (end > into.length) throw broken("one of its streams is too long");
    if (distance >= count && count > this.#longRun)
      into.copyWithin(start, start - distance, end - distance);
    else if (distance === 1) into.fill(into[start - 1], start, end);
    else for (let i = start; i < end; i++) into[i] = into[i - distance];
    this.#done = end;
  }

  checkFull(): void {
    const { length } = this.#into;
    if (this.#done !== length)
      throw broken(
        `one of its streams decodes to ${printCount(this.#done, "byte")}, not ${length}`,
      );
  }
}

/** Decodes LZ4's block format, in which literals and matches alternate and literals come last. */
export function decodeLz4(from: Uint8Array, into: Uint8Array): void {
  const copier = new Copier(from, into);
  for (;;) {
    const token = copier.byte();
    copier.literals(lengthOf(copier, token >> 4, 15));
    if (copier.isAtEnd) break;
    const distance = copier.number(2);
    copier.match(distance, lengthOf(copier, token & 15, 15) + 4);
  }
  copier.checkFull();
}

/** The number of bits in a hash of four bytes. With this number, the table of positions takes 64 kB. */
const HASH = 14;

/**
 * The limits of LZ4's block format: the distance of a match, and the number of bytes after the start and the end of the
 * last match.
 */
const FARTHEST = 65_535;
const LAST_START = 12;
const LAST_END = 5;

/**
 * Encodes LZ4's block format, and finds matches with a hash table. `acceleration` is the distance between searches, in
 * bytes, which increases by one after 64 searches without a match.
 */
export function encodeLz4(from: Uint8Array, acceleration: number): Uint8Array {
  const { length } = from;
  const into = new Uint8Array(length + Math.ceil(length / 255) + 16);
  const view = new DataView(from.buffer, from.byteOffset, length);
  const latest = new Int32Array(2 ** HASH).fill(-1);
  const slotOf = (word: number): number => Math.imul(word, 0x9e3779b1) >>> (32 - HASH);
  let [done, anchor, searched] = [0, 0, acceleration * 64];
  const putLength = (count: number): void => {
    if (count < 15) return;
    let rest = count - 15;
    for (; rest >= 255; rest -= 255) into[done++] = 255;
    into[done++] = rest;
  };
  const put = (at: number, match: number): void => {
    const literals = at - anchor;
    into[done++] = (Math.min(literals, 15) << 4) | Math.min(match, 15);
    putLength(literals);
    into.set(from.subarray(anchor, at), done);
    done += literals;
  };
  for (let at = 0; at <= length - LAST_START;) {
    const word = view.getInt32(at, true);
    const slot = slotOf(word);
    let before = latest[slot];
    latest[slot] = at;
    if (before < 0 || at - before > FARTHEST || view.getInt32(before, true) !== word) {
      at += searched++ >> 6;
      continue;
    }
    let end = at + 4;
    for (let same = before + 4; end < length - LAST_END && from[end] === from[same]; same++) end++;
    while (at > anchor && before > 0 && from[at - 1] === from[before - 1]) {
      at--;
      before--;
    }
    put(at, end - at - 4);
    into[done++] = (at - before) & 255;
    into[done++] = (at - before) >> 8;
    putLength(end - at - 4);
    latest[slotOf(view.getInt32(end - 2, true))] = end - 2;
    [at, anchor, searched] = [end, end, acceleration * 64];
  }
  put(length, 0);
  return into.slice(0, done);
}

/** Reads a length that continues in the next byte as long as each byte is 255. */
function lengthOf(copier: Copier, first: number, full: number): number {
  let length = first;
  if (first !== full) return length;
  for (let byte = 255; byte === 255;) {
    byte = copier.byte();
    length += byte;
  }
  return length;
}

/** Decodes Snappy's format, which consists of a length and elements whose lowest two bits are their kind. */
export function decodeSnappy(from: Uint8Array, into: Uint8Array): void {
  const copier = new Copier(from, into);
  for (let byte = 128, bytes = 0; byte >= 128; bytes++) {
    if (bytes === 5) throw broken("one of its streams lacks its length");
    byte = copier.byte();
  }
  while (!copier.isAtEnd) {
    const tag = copier.byte();
    const [kind, upper] = [tag & 3, tag >> 2];
    if (kind === 0) copier.literals(1 + (upper < 60 ? upper : copier.number(upper - 59)));
    else if (kind === 1) copier.match((tag >> 5) * 256 + copier.byte(), 4 + (upper & 7));
    else copier.match(copier.number(kind === 2 ? 2 : 4), 1 + upper);
  }
  copier.checkFull();
}

/** The limit of short distances in BloscLZ, which marks a far match. */
const FAR = 8191;

/** Decodes BloscLZ's format, which adds far matches to FastLZ. */
export function decodeBloscLz(from: Uint8Array, into: Uint8Array): void {
  const copier = new Copier(from, into);
  let control = copier.byte() & 31;
  for (;;) {
    if (control < 32) {
      copier.literals(control + 1);
    } else {
      const count = lengthOf(copier, (control >> 5) - 1, 6) + 3;
      const high = (control & 31) << 8;
      const low = copier.byte();
      const isFar = low === 255 && high === 31 << 8;
      const distance = isFar ? FAR + copier.byte() * 256 + copier.byte() : high + low;
      copier.match(distance + 1, count);
    }
    if (copier.isAtEnd) break;
    control = copier.byte();
  }
  copier.checkFull();
}
