/** A file that is read in ranges. The format's reader requests ranges, and the user's function reads them. */

import { factOf, printCount, printValue, readForeign } from "../../core/foreign.ts";
import { isError, malformed, TensorError } from "../../core/errors.ts";
import { isBytes, plainBytes } from "../../core/tensor/bytes.ts";

/** A file of any size, on disk, in memory or elsewhere. */
export interface ByteSource {
  readonly size: number;
  /** Returns exactly `length` bytes, starting at `offset`. The requested range always lies inside the file. */
  read(offset: number, length: number): Uint8Array;
}

/**
 * Returns the bytes from `start` to `end`. Throws `malformed-file` if the source returns anything else, `too-large` if
 * memory is exhausted.
 */
export function readRange(source: ByteSource, start: number, end: number): Uint8Array {
  const length = end - start;
  let bytes: unknown;
  try {
    bytes = source.read(start, length);
  } catch (cause) {
    if (!isError(cause, "RangeError")) throw cause;
    throw new TensorError(
      "too-large",
      `${printCount(length, "byte")} do not fit in memory`,
      { got: length },
      { cause },
    );
  }
  const reading = `reading ${printCount(length, "byte")} from byte ${start} of the file`;
  const range = plainBytes(bytes, `${reading} must give`);
  if (range.length === length) return range;
  throw malformed(`${reading} gave ${printCount(range.length, "byte")}`, {
    byte: start,
    got: range.length,
    expected: length,
  });
}

export function joinBytes(chunks: Iterable<Uint8Array>, length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/**
 * Treats bytes in memory as a file. The memory may be released before a range is read, long after the file was opened.
 */
export function sourceOfBytes(bytes: unknown, what: string): ByteSource {
  const whole = plainBytes(bytes, what, true);
  const read = (offset: number, length: number): Uint8Array =>
    plainBytes(whole, what).subarray(offset, offset + length);
  return { size: whole.length, read };
}

/**
 * Checks a file that the caller supplied, and reads its size once. The text `must` begins the error's sentence. Throws
 * `malformed-file` for other values.
 */
export function sourceFrom(value: unknown, must: string): ByteSource {
  if (typeof value !== "object" || value === null || isBytes(value)) {
    const advice = isBytes(value) ? "; readModel takes bytes" : "";
    const sentence = `${must}, got ${printValue(value)}${advice}`;
    throw malformed(sentence, { key: "source", got: factOf(value) });
  }
  const parts = (): { size: unknown; read: unknown } => ({
    size: Reflect.get(value, "size"),
    read: Reflect.get(value, "read"),
  });
  const { size, read } = readForeign(parts, "malformed-file", `${must} that can be read`, "source");
  if (typeof read !== "function") throw malformed(`${must}, got no function read`, { key: "read" });
  if (!Number.isSafeInteger(size) || Number(size) < 0) {
    throw malformed(`${must}, got a file of ${printValue(size)} bytes`, {
      key: "size",
      got: factOf(size),
    });
  }
  return {
    size: Number(size),
    read: (offset, length) => Reflect.apply(read, value, [offset, length]) as Uint8Array,
  };
}
