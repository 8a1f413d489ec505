/**
 * The interface of codecs from bytes to bytes: `gzip`, `zstd`, `blosc`, `crc32c`. The pipeline names the chunk in
 * errors.
 */

import { messageOf } from "../../../core/errors.ts";

/** Known facts about the bytes before encoding. */
export interface Decoded {
  /** Maximum number of bytes. */
  readonly size: number;
  /** True if there must be exactly `size` bytes. */
  readonly isExact: boolean;
}

/** Frees the memory of bytes that are no longer used. */
export type Release = (bytes: Uint8Array) => void;

/** Bytes that a codec takes for a chunk of `size` bytes, excluding the chunk and the encoded chunk. */
export interface Held {
  decode(size: number): number;
  encode(size: number): number;
}

export interface ByteCodec {
  readonly name: string;
  /** The encoded length of `size` bytes, if it depends on nothing else; null for compression. */
  fixedSize(size: number): number | null;
  /** Maximum encoded bytes that any sane encoder makes from `size` bytes. */
  mostEncoded(size: number): number;
  readonly held: Held;
  /**
   * Maximum bytes that one encoded byte can stand for; input that promises more is refused before memory is allocated.
   */
  readonly ratio: number;
  /**
   * Decodes bytes. May throw any error; the caller attributes it to the chunk. Takes no more memory than `decoded.size`
   * bytes and a margin.
   */
  decode(bytes: Uint8Array, decoded: Decoded): Promise<Uint8Array>;
  encode(bytes: Uint8Array, release?: Release): Promise<Uint8Array>;
}

/** Compression makes random bytes a little longer. */
export const mostCompressed = (size: number): number => size + Math.ceil(size / 8) + 4096;

/** An error thrown by a decoder, whose text the caller includes in its own error. */
export const broken = (reason: string): Error => new Error(reason);

/** The message of a library's error, as part of a sentence. */
export const reasonOf = (cause: unknown): string =>
  messageOf(cause)
    .split("\n")[0]
    .replace(/\.\s*$/, "");
