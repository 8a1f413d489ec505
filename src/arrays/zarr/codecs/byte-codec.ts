/**
 * Defines the interface of codecs that convert bytes to bytes, such as `gzip`, `zstd`, `blosc` and `crc32c`. The
 * pipeline adds the name of the chunk to errors.
 */

import { messageOf } from "../../../core/errors.ts";
import { printCount } from "../../../core/foreign.ts";

/** Facts about the decoded bytes that are known in advance. */
export interface Decoded {
  /** The maximum size, in bytes. */
  readonly size: number;
  /** True if the size must be exactly `size` bytes. */
  readonly isExact: boolean;
  /** Returns memory with arbitrary contents, which a decoder may use instead of new memory for its result. */
  allocate(size: number): Uint8Array;
  /** The bytes that are needed, in ascending order. The decoder may return others with any values. */
  readonly needed?: readonly Span[];
}

/** The first byte of a run of bytes, and the end of the run. */
export type Span = readonly [start: number, end: number];

/** Frees the memory of unused bytes. */
export type Release = (bytes: Uint8Array) => void;

/** The memory that a codec takes for a chunk of `size` bytes, excluding the chunk itself and the encoded chunk. */
export interface Held {
  decode(size: number): number;
  encode(size: number): number;
}

export interface ByteCodec {
  readonly name: string;
  /** Returns the encoded length if it depends only on the size, and null for compression. */
  fixedSize(size: number): number | null;
  /** Returns the maximum encoded length of `size` bytes with a reasonable encoder. */
  mostEncoded(size: number): number;
  readonly held: Held;
  /**
   * The maximum number of decoded bytes per encoded byte. Input that declares more is rejected before memory is
   * allocated.
   */
  readonly ratio: number;
  /**
   * Decodes bytes. The decoder may throw any error, to which the caller adds the chunk's name. The decoder allocates at
   * most `decoded.size` bytes and a margin.
   */
  decode(bytes: Uint8Array, decoded: Decoded): Promise<Uint8Array>;
  encode(bytes: Uint8Array, release?: Release): Promise<Uint8Array>;
  /**
   * Returns the reason why `size` bytes can be decoded but not encoded, or null if they can be encoded. The function is
   * absent if the codec encodes everything.
   */
  readonly unwritable?: (size: number) => string | null;
}

/** Returns the maximum compressed length of `size` bytes, because compression makes random bytes slightly longer. */
export const mostCompressed = (size: number): number => size + Math.ceil(size / 8) + 4096;

/** Makes a codec whose encoded length depends only on the size, and which takes no further memory. */
export const makeFixedCodec = (
  codec: Pick<ByteCodec, "name" | "decode" | "encode"> & Partial<ByteCodec>,
  sizeOf: (size: number) => number = (size) => size,
): ByteCodec => ({
  fixedSize: sizeOf,
  mostEncoded: sizeOf,
  ratio: 1,
  held: { decode: () => 0, encode: () => 0 },
  ...codec,
});

/** Makes a codec that compresses. */
export const makeCompressor = (codec: Omit<ByteCodec, "fixedSize" | "mostEncoded">): ByteCodec => ({
  fixedSize: () => null,
  mostEncoded: mostCompressed,
  ...codec,
});

/** Throws an error if encoded bytes declare a wrong decoded size. */
export function checkDeclared(declared: number, { size, isExact }: Decoded): void {
  if (isExact ? declared === size : declared <= size) return;
  throw broken(`it decodes to ${printCount(declared, "byte")}, not ${size}`);
}

/** Creates an error for a decoder to throw, whose text the caller includes in another error. */
export const broken = (reason: string): Error => new Error(reason);

/** An error for encoded bytes of a kind that a decoder does not support. */
export class OtherKind extends Error {}

/** Returns the message of a library's error, in a form that fits into a sentence. */
export const reasonOf = (cause: unknown): string =>
  messageOf(cause)
    .split("\n")[0]
    .replace(/\.\s*$/, "");
