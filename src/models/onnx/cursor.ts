/**
 * A read position in a file that is read piece by piece. At any time, memory contains one window of the file and the
 * range that the caller requested.
 */

import { printCount } from "../../core/foreign.ts";
import { malformed, type TensorError } from "../../core/errors.ts";
import { readRange, type ByteSource } from "../model/byte-source.ts";
import { WIRE } from "./schema.ts";
import { MAX_VARINT } from "./wire.ts";

/**
 * The sizes of the read window. After a jump, the cursor reads one disk page. Each time reading continues at the
 * window's end, the window size doubles. For a 3 GB model with 20,000 tensors, the cursor reads 82 MB. Fixed windows of
 * 64 KiB would read 1,311 MB.
 */
const WINDOW = { least: 2 ** 12, most: 2 ** 16 };

/** A record of a message: its field and wire type, its first byte, the end of its tag, and the range of its payload. */
export interface FileRecord {
  readonly number: number;
  readonly wireType: number;
  readonly begin: number;
  readonly tagEnd: number;
  readonly start: number;
  readonly end: number;
}

export class FileCursor {
  #position: number;
  readonly #source: ByteSource;
  #window: Uint8Array = new Uint8Array();
  #start = 0;
  /** The current window size, which the next read doubles. */
  #size = WINDOW.least / 2;

  constructor(source: ByteSource, position = 0) {
    this.#source = source;
    this.#position = position;
  }

  /**
   * Yields the records of a message, from the cursor to `end`. The payload of a varint is empty. A consumer may read the
   * records of a payload before the next record.
   */
  *records(end: number): Generator<FileRecord> {
    while (this.#position < end) {
      const begin = this.#position;
      const tag = this.#varint(end);
      // `wire.ts` rejects the same tags, so both readers accept the same files.
      if (tag < 8 || tag >= 2 ** 32)
        throw malformed(`byte ${begin} of the file is an illegal tag`, { byte: begin });
      const tagEnd = this.#position;
      const wireType = tag % 8;
      const length = this.#payloadLength(wireType, end);
      if (length > end - this.#position) throw this.#cutShort(length, end);
      const start = this.#position;
      yield { number: Math.floor(tag / 8), wireType, begin, tagEnd, start, end: start + length };
      this.#position = start + length;
    }
  }

  /** Returns a record's payload length, and moves past the length field or the varint. */
  #payloadLength(wireType: number, end: number): number {
    switch (wireType) {
      case WIRE.varint: {
        for (let taken = 0; taken < MAX_VARINT; taken++) if (this.#byte(end) < 0x80) return 0;
        throw this.#endless();
      }
      case WIRE.bit64:
        return 8;
      case WIRE.bit32:
        return 4;
      case WIRE.length:
        return this.#varint(end);
      default:
        throw malformed(
          `byte ${this.#position} of the file begins a field of wire type ${wireType}, which ONNX does not use`,
          { byte: this.#position, got: wireType },
        );
    }
  }

  /** Reads an unsigned number that ends before `end`. Throws `malformed-file` for numbers of 2^53 or more. */
  #varint(end: number): number {
    let value = 0;
    let scale = 1;
    for (let taken = 0; taken < MAX_VARINT; taken++, scale *= 128) {
      const next = this.#byte(end);
      value += (next & 0x7f) * scale;
      if (next >= 0x80) continue;
      if (Number.isSafeInteger(value)) return value;
      const byte = this.#position;
      const sentence = `the file has a length or a number of 2^53 or more at byte ${byte}`;
      throw malformed(sentence, { byte });
    }
    throw this.#endless();
  }

  between(start: number, end: number): Uint8Array {
    const from = start - this.#start;
    return from >= 0 && end - this.#start <= this.#window.length
      ? this.#window.subarray(from, end - this.#start)
      : readRange(this.#source, start, end);
  }

  #byte(end: number): number {
    const position = this.#position;
    if (position >= end) throw this.#cutShort(1, end);
    let at = position - this.#start;
    // The read position never moves back, so it cannot precede the window.
    if (at >= this.#window.length) {
      // Skipping a name or a small tensor at the window's end does not count as a jump.
      const isNext = at <= this.#window.length + WINDOW.least;
      this.#size = isNext ? Math.min(2 * this.#size, WINDOW.most) : WINDOW.least;
      const last = Math.min(position + this.#size, this.#source.size);
      this.#window = readRange(this.#source, position, last);
      this.#start = position;
      at = 0;
    }
    this.#position++;
    return this.#window[at];
  }

  #endless(): TensorError {
    const byte = this.#position;
    const sentence = `the file has a number of more than ${MAX_VARINT} bytes at byte ${byte}`;
    return malformed(sentence, { byte, limit: MAX_VARINT });
  }

  #cutShort(length: number, end: number): TensorError {
    const position = this.#position;
    const part = `a part of ${printCount(length, "byte")} where ${end - position} are left`;
    const sentence = `the file is truncated or damaged; get it again: byte ${position} begins ${part}`;
    return malformed(sentence, { byte: position });
  }
}
