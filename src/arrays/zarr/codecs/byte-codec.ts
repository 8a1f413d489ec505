/** What every codec from bytes to bytes is: `gzip`, `zstd`, `blosc`, `crc32c`. The pipeline names the chunk in errors. */

import { messageOf } from "../../../core/errors.ts";

/** What is known of the bytes that were encoded. */
export interface Decoded {
  /** The most there may be. */
  readonly size: number;
  /** Whether there must be as many. */
  readonly isExact: boolean;
}

/** Frees the memory of bytes that nobody uses any more. */
export type Release = (bytes: Uint8Array) => void;

/** Bytes that a codec takes for a chunk of `size` bytes, not counting the chunk and the encoded chunk. */
export interface Held {
  decode(size: number): number;
  encode(size: number): number;
}

export interface ByteCodec {
  readonly name: string;
  /** How many bytes `size` bytes become, where that depends on nothing else; null for compression. */
  fixedSize(size: number): number | null;
  /** Encoded bytes of no more than these are made of `size` bytes by any sane encoder. */
  mostEncoded(size: number): number;
  readonly held: Held;
  /** How many bytes one encoded byte can stand for at most: what promises more is refused before it takes memory. */
  readonly ratio: number;
  /**
   * May throw any error, for which the caller blames the chunk. Takes no more memory than for `decoded.size` bytes and a
   * margin.
   */
  decode(bytes: Uint8Array, decoded: Decoded): Promise<Uint8Array>;
  encode(bytes: Uint8Array, release?: Release): Promise<Uint8Array>;
}

/** Compression makes random bytes a little longer. */
export const mostCompressed = (size: number): number => size + Math.ceil(size / 8) + 4096;

/** Text that a decoder throws with, for what the caller then says of the chunk. */
export const broken = (reason: string): Error => new Error(reason);

/** What a library says of an error, as a part of a sentence. */
export const reasonOf = (cause: unknown): string =>
  messageOf(cause)
    .split("\n")[0]
    .replace(/\.\s*$/, "");
