/**
 * A read position in a file that is read piece by piece. At any time, memory contains one window of the file and the
 * range that the caller requested.
 */

import { printCount } from "../../core/foreign.ts";
import { malformed, type TensorError } from "../../core/errors.ts";
import { readRange, type ByteSource } from "../model/byte-source.ts";
import { MAX_VARINT } from "./wire.ts";

/**
 * The sizes of the read window. After a jump, the cursor reads one disk page. Each time reading continues at the
 * window's end, the window size doubles. For a 3 GB model with 20,000 tensors, the cursor reads 82 MB. Fixed windows of
 * 64 KiB would read 1,311 MB.
 */
const WINDOW = { least: 2 ** 12, most: 2 ** 16 };

export class FileCursor {
  position = 0;
  readonly #source: ByteSource;
  #window: Uint8Array = new Uint8Array();
  #start = 0;
  /** The current window size, which the next read doubles. */
  #size = WINDOW.least / 2;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  /** Reads an unsigned number that ends before `end`. Throws `malformed-file` for numbers of 2^53 or more. */
  varint(end: number): number {
    let value = 0;
    let scale = 1;
    for (let taken = 0; taken < MAX_VARINT; taken++, scale *= 128) {
      const byte = this.#byte(end);
      value += (byte & 0x7f) * scale;
      if (byte >= 0x80) continue;
      if (Number.isSafeInteger(value)) return value;
      throw malformed(
        `the file has a length or a number of 2^53 or more at byte ${this.position}`,
        {
          byte: this.position,
        },
      );
    }
    throw this.#endless();
  }

  skipVarint(end: number): void {
    for (let taken = 0; taken < MAX_VARINT; taken++) if (this.#byte(end) < 0x80) return;
    throw this.#endless();
  }

  /** Throws `malformed-file` if fewer than `length` bytes remain before `end`. */
  check(length: number, end: number): void {
    if (length <= end - this.position) return;
    throw this.#cutShort(length, end);
  }

  between(start: number, end: number): Uint8Array {
    const from = start - this.#start;
    return from >= 0 && end - this.#start <= this.#window.length
      ? this.#window.subarray(from, end - this.#start)
      : readRange(this.#source, start, end);
  }

  #byte(end: number): number {
    const { position } = this;
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
    this.position++;
    return this.#window[at];
  }

  #endless(): TensorError {
    return malformed(
      `the file has a number of more than ${MAX_VARINT} bytes at byte ${this.position}`,
      { byte: this.position, limit: MAX_VARINT },
    );
  }

  #cutShort(length: number, end: number): TensorError {
    const { position } = this;
    const part = `a part of ${printCount(length, "byte")} where ${end - position} are left`;
    return malformed(
      `the file is truncated or damaged; get it again: byte ${position} begins ${part}`,
      { byte: position },
    );
  }
}
