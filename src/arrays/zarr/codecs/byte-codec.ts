/**
 * Defines the interface of codecs that convert bytes to bytes, such as `gzip`, `zstd`, `blosc` and `crc32c`. The
 * pipeline adds the chunk's name to errors.
 */

import { messageOf } from "../../../core/errors.ts";

/** Known facts about the bytes before encoding. */
export interface Decoded {
  /** Maximum size, in bytes. */
  readonly size: number;
  /** True if there must be exactly `size` bytes. */
  readonly isExact: boolean;
}

/** Frees the memory of bytes that are no longer used. */
export type Release = (bytes: Uint8Array) => void;

/** Memory that a codec takes for a chunk of `size` bytes, excluding the chunk and the encoded chunk. */
export interface Held {
  decode(size: number): number;
  encode(size: number): number;
}

export interface ByteCodec {
  readonly name: string;
  /** Returns the encoded length of `size` bytes if it depends only on `size`; null for compression. */
  fixedSize(size: number): number | null;
  /** Returns the maximum length to which a reasonable encoder expands `size` bytes. */
  mostEncoded(size: number): number;
  readonly held: Held;
  /** Maximum decoded bytes per encoded byte; input that declares more is rejected before memory is allocated. */
  readonly ratio: number;
  /**
   * Decodes bytes. May throw any error; the caller attributes it to the chunk. Allocates at most `decoded.size` bytes
   * and a margin.
   */
  decode(bytes: Uint8Array, decoded: Decoded): Promise<Uint8Array>;
  encode(bytes: Uint8Array, release?: Release): Promise<Uint8Array>;
  /**
   * Returns why `size` bytes cannot be encoded here, although encoded bytes may be decoded; null if they can. Absent if
   * the codec encodes everything.
   */
  readonly unwritable?: (size: number) => string | null;
}

/** Returns the maximum compressed length of `size` bytes; random bytes become slightly longer. */
export const mostCompressed = (size: number): number => size + Math.ceil(size / 8) + 4096;

/** Creates an error for a decoder to throw; the caller includes the text in another error. */
export const broken = (reason: string): Error => new Error(reason);

/** Error of a decoder for bytes of a kind that it does not read. */
export class OtherKind extends Error {}

/** Returns the message of a library's error, in a form that fits within a sentence. */
export const reasonOf = (cause: unknown): string =>
  messageOf(cause)
    .split("\n")[0]
    .replace(/\.\s*$/, "");
