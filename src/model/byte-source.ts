/** A file that is read range by range: the format asks for ranges, and whoever opened the file reads them. */

import { malformed, TensorError } from "../errors.ts";

/** A file of any size, on a disk, in memory or elsewhere. */
export interface ByteSource {
  /** In bytes. */
  readonly size: number;
  /** Exactly `length` bytes from `offset` on; the range lies inside the file. */
  read(offset: number, length: number): Uint8Array;
}

/**
 * The bytes from `start` to `end`.
 * @throws TensorError `malformed-file` where the source returns anything else, `too-large` where memory does not hold
 * that many bytes
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
