/**
 * Describes the codec `blosc`, which shuffles and compresses blocks separately, in the format of C-Blosc 1; its work is
 * in `blosc-blocks.ts`. The package numcodecs contains C-Blosc, but returns uninitialized memory for a broken chunk,
 * and shuffles every type as if elements had 4 bytes.
 */

import {
  makeCompressor,
  mostCompressed,
  OtherKind,
  type ByteCodec,
  type Held,
} from "./byte-codec.ts";
import { makeDeflateCodec } from "./gzip.ts";
import { makeZstdCodec } from "./zstd.ts";
import { ZARR } from "../../../core/limits.ts";
import type { Json } from "../json.ts";

/** The maximum compression ratio, which is that of zstd, the best of blosc's compressors. */
const RATIO = 2 ** 15;

/** The number of each shuffle in metadata. */
export const SHUFFLES: Readonly<Record<string, 0 | 1 | 2>> = {
  noshuffle: 0,
  shuffle: 1,
  bitshuffle: 2,
};

/**
 * Returns the name of a shuffle that metadata gives as a number, as numcodecs does; -1 and null leave the choice to the
 * encoder. All other values are returned unchanged.
 */
export function nameOfShuffle(value: Json | undefined, typesize: Json | undefined): Json {
  if (value === undefined || value === null || value === -1) {
    return typesize === 1 ? "bitshuffle" : "shuffle";
  }
  return Object.keys(SHUFFLES).find((name) => SHUFFLES[name] === value) ?? value;
}

/** The number of each compressor's format in a chunk header. */
export const COMPRESSORS: Readonly<Record<string, number>> = {
  blosclz: 0,
  lz4: 1,
  lz4hc: 1,
  snappy: 2,
  zlib: 3,
  zstd: 4,
};

export interface BloscSettings {
  readonly cname: string;
  readonly clevel: number;
  readonly shuffle: 0 | 1 | 2;
  /** The block size, in bytes; 0 leaves the choice to the encoder. */
  readonly blocksize: number;
  /** The element size for shuffling, in bytes. */
  readonly typesize: number;
}

export function makeBloscCodec(settings: BloscSettings): ByteCodec {
  // Loaded on demand, because pages without arrays of this codec do not need it; and kept, because an import per chunk
  // would slow down reading small chunks.
  let work: typeof import("./blosc-blocks.ts") | undefined;
  return makeCompressor({
    name: "blosc",
    ratio: RATIO,
    held: heldBy(settings),
    decode: async (bytes, decoded) =>
      (work ??= await import("./blosc-blocks.ts")).decode(bytes, decoded),
    encode: async (bytes) => (work ??= await import("./blosc-blocks.ts")).encode(bytes, settings),
    unwritable: (size) => refusalOf(settings.cname, size),
  });
}

/**
 * Returns the memory for encoding or decoding: the streams of all blocks, which are finally joined, two copies of a
 * block, and the compressor's state.
 */
function heldBy({ cname, clevel, blocksize }: BloscSettings): Held {
  const inner = streamCodec(COMPRESSORS[cname], clevel)?.held;
  const block = (size: number): number => Math.min(size, blocksize === 0 ? ZARR.block : blocksize);
  return {
    decode: (size) => 2 * block(size) + (inner?.decode(block(size)) ?? 0),
    encode: (size) =>
      mostCompressed(size) + 2 * block(size) + (inner?.encode(block(size)) ?? 4 * block(size)),
  };
}

/** Returns the codec of a format, or null for a format of `blosc-streams.ts`. */
export function streamCodec(format: number, clevel: number): ByteCodec | null {
  if (format === COMPRESSORS.zlib) return makeDeflateCodec("zlib", clevel);
  // Level n of blosc is level 2n - 1 of zstd, as in C-Blosc.
  if (format === COMPRESSORS.zstd) return makeZstdCodec(2 * clevel - 1, false);
  if (format <= COMPRESSORS.snappy) return null;
  throw new OtherKind(`its compressor ${format} is not supported`);
}

/** The size of the header, in bytes. */
export const HEADER = 16;

/** The maximum chunk size, in bytes, for which block offsets fit in 4 bytes. */
const MOST = 2 ** 31 - HEADER - 1;

export function refusalOf(cname: string, size: number): string | null {
  const isWritten = cname !== "blosclz" && cname !== "snappy";
  if (!isWritten) return `${cname} in blosc can be read but not written`;
  return size > MOST ? `blosc encodes at most ${MOST} bytes, not ${size}` : null;
}
