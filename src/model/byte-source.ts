/** A file that is read in parts: the format asks for ranges, whoever opened the file has them. */

import { malformed, TensorError } from "../errors.ts";

/** A file of any size, wherever it lies. */
export interface ByteSource {
  /** In bytes. */
  readonly size: number;
  /** Exactly `length` bytes from `offset`, which lie inside the file. */
  read(offset: number, length: number): Uint8Array;
}

/**
 * The bytes of a range.
 * @throws TensorError `malformed-file` where the source does not give them, `too-large` where memory does not hold them.
 */
export function readRange(source: ByteSource, start: number, end: number): Uint8Array {
  const length = end - start;
  let bytes: unknown;
  try {
    bytes = source.read(start, length);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new TensorError("too-large", `${length} bytes do not fit in memory`, {}, { cause });
  }
  if (bytes instanceof Uint8Array && bytes.length === length) return bytes;
  const got = bytes instanceof Uint8Array ? `${bytes.length} bytes` : typeof bytes;
  throw malformed(`reading ${length} bytes from byte ${start} of the file gave ${got}`);
}
