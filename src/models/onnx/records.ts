/**
 * The records of protobuf, which is the encoding of ONNX files, and their numbers. A downloaded file may be hostile: a
 * nested message may extend past its parent, and a number may never end. Every record is therefore checked before it is
 * decoded.
 *
 * protobuf.dev: "Encoding".
 */

import { printCount } from "../../core/foreign.ts";
import { malformed, type TensorError } from "../../core/errors.ts";
import { readRange, type ByteSource } from "../model/byte-source.ts";
import { WIRE } from "./schema.ts";

/** The maximum number of bytes in a varint, the last of which contains bit 63. */
const MAX_VARINT = 10;

/** The maximum total size, in bytes, of a tag and of the length or number after it. */
const MAX_HEAD = 2 * MAX_VARINT;

/**
 * The sizes of the window of a file. After a jump, one disk page is read. Each time reading continues at the window's
 * end, the window size doubles. Of a 3 GB model with 20,000 tensors, 82 MB are read. Fixed windows of 64 KiB would read
 * 1,311 MB.
 */
const WINDOW = { least: 2 ** 12, most: 2 ** 16 };

/** A range of a file or of a message. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * A read position in a message, and the record before it. The message is in memory, or in a file of which memory
 * contains one window at a time.
 */
export class Records {
  /** The current record: its field and wire type, its first byte, the end of its tag, and the range of its payload. */
  number = 0;
  wireType = 0;
  begin = 0;
  tagEnd = 0;
  start = 0;
  end = 0;
  readonly #what: string;
  /** The file; null for a message in memory, which is its own window. */
  readonly #file: ByteSource | null;
  readonly #end: number;
  #at: number;
  #window: Uint8Array;
  #windowStart = 0;
  #windowSize = WINDOW.least / 2;

  /** @param what the file or the message, for errors */
  constructor(from: ByteSource | Uint8Array, what: string, position = 0) {
    const isFile = !(from instanceof Uint8Array);
    this.#what = what;
    this.#file = isFile ? from : null;
    this.#end = isFile ? from.size : from.length;
    this.#at = position;
    this.#window = isFile ? new Uint8Array() : from;
  }

  /**
   * Moves to the next record of the message that ends at `limit`; returns false at the end of the message. Throws
   * `malformed-file` for bytes that are not a record, and for groups, which ONNX does not use.
   */
  next(limit = this.#end): boolean {
    const begin = this.#at;
    if (begin >= limit) return false;
    this.#fill();
    const tag = this.#size(limit);
    if (tag < 8 || tag >= 2 ** 32) throw this.#fault(begin, "is an illegal tag");
    this.begin = begin;
    this.number = tag >>> 3;
    this.wireType = tag & 7;
    this.tagEnd = this.#at;
    const length = this.#lengthOf(this.wireType, limit);
    this.start = this.#at;
    if (length === null) this.#varint(limit);
    else if (length > limit - this.#at) throw this.#cutShort(this.#at, length, limit);
    else this.#at += length;
    this.end = this.#at;
    return true;
  }

  /** Moves into the current record's payload, whose records come next. */
  enter(): void {
    this.#at = this.start;
  }

  between(start: number, end: number): Uint8Array {
    const from = start - this.#windowStart;
    const to = end - this.#windowStart;
    return this.#file === null || (from >= 0 && to <= this.#window.length)
      ? this.#window.subarray(from, to)
      : readRange(this.#file, start, end);
  }

  /** Returns the length of a payload, after moving past the field that says the length; null for a varint. */
  #lengthOf(wireType: number, limit: number): number | null {
    switch (wireType) {
      case WIRE.varint:
        return null;
      case WIRE.bit64:
        return 8;
      case WIRE.bit32:
        return 4;
      case WIRE.length:
        return this.#size(limit);
      default: {
        const what = `begins a field of wire type ${wireType}, which ONNX does not use`;
        throw this.#fault(this.#at, what, { got: wireType });
      }
    }
  }

  /** Reads a tag or a length. */
  #size(limit: number): number {
    const start = this.#at;
    const value = this.#varint(limit);
    if (!Number.isSafeInteger(value))
      throw this.#fault(this.#at, "follows a length or a number of 2^53 or more");
    // Runtimes refuse encodings of more than 5 bytes for numbers below 2^32.
    if (this.#at - start > 5 && value < 2 ** 32)
      throw this.#fault(this.#at, "follows a tag or a length of more than 5 bytes");
    return value;
  }

  /** Reads a varint, which is not exact from 2^53 on. */
  #varint(limit: number): number {
    const start = this.#at;
    let value = 0;
    for (let scale = 1; this.#at - start < MAX_VARINT; scale *= 128) {
      const byte = this.#window[this.#at++ - this.#windowStart] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte >= 0x80) continue;
      if (this.#at > limit) throw this.#cutShort(limit, 1, limit);
      return value;
    }
    const what = `is in a number of more than ${MAX_VARINT} bytes`;
    throw this.#fault(this.#at, what, { limit: MAX_VARINT });
  }

  /**
   * Reads the next window, unless the current window contains the next record's tag and the length or number after it.
   */
  #fill(): void {
    const at = this.#at;
    const skipped = at - this.#windowStart - this.#window.length;
    if (this.#file === null || Math.min(MAX_HEAD, this.#file.size - at) <= -skipped) return;
    // Skipping a name or a small tensor at the window's end does not count as a jump.
    const isNext = skipped <= WINDOW.least;
    this.#windowSize = isNext ? Math.min(2 * this.#windowSize, WINDOW.most) : WINDOW.least;
    this.#window = readRange(this.#file, at, Math.min(at + this.#windowSize, this.#file.size));
    this.#windowStart = at;
  }

  #cutShort(byte: number, length: number, limit: number): TensorError {
    const part = `begins a part of ${printCount(length, "byte")} where ${limit - byte} are left`;
    return this.#fault(byte, part, {}, "the file is truncated or damaged; get it again: ");
  }

  #fault(byte: number, what: string, fields: object = {}, advice = ""): TensorError {
    const sentence = `${advice}byte ${byte} of ${this.#what} ${what}`;
    // A message in memory may be a part of a file, whose position in the file is not known.
    return malformed(sentence, this.#file === null ? {} : { byte, ...fields });
  }
}

/** Reads the numbers of a payload. */
export class Numbers {
  at = 0;
  readonly #bytes: Uint8Array;
  readonly #what: string;
  /** The low and high 32 bits of the last number. */
  #low = 0;
  #high = 0;

  /** @param what the part of the file, for errors */
  constructor(bytes: Uint8Array, what: string) {
    this.#bytes = bytes;
    this.#what = what;
  }

  int32(): number {
    this.#varint();
    return this.#low;
  }

  int64(): bigint {
    this.#varint();
    return (BigInt(this.#high) << 32n) | BigInt(this.#low >>> 0);
  }

  uint64(): bigint {
    return BigInt.asUintN(64, this.int64());
  }

  #varint(): void {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 7 * MAX_VARINT; shift += 7) {
      const byte = this.#bytes[this.at++] ?? 0;
      const bits = byte & 0x7f;
      if (shift < 32) low |= bits << shift;
      if (shift === 28) high = bits >> 4;
      else if (shift > 28) high |= bits << (shift - 32);
      if (byte >= 0x80) continue;
      this.#low = low;
      this.#high = high;
      return;
    }
    throw malformed(`${this.#what} has a number of more than ${MAX_VARINT} bytes`);
  }
}
