/**
 * Implements the codec `gzip` and, for Zarr v2, `zlib`, with Node's zlib or the compression streams of a browser. ZIP
 * archives contain `raw` streams, without a container.
 */

import { printCount } from "../../../core/foreign.ts";
import type { Transform } from "node:stream";
import { ZARR } from "../../../core/limits.ts";
import {
  broken,
  makeCompressor,
  mostCompressed,
  type ByteCodec,
  type Release,
} from "./byte-codec.ts";
import { moduleOfNode } from "../../boxes/node.ts";
import { newBytes } from "../chunks/buffers.ts";

/** The maximum compression ratio, because deflate stores at most 258 bytes in two bits. */
const RATIO = 1032;

/**
 * The size of a compressor's state, in bytes, according to zlib's documentation. The state of a decompressor takes 40
 * kB.
 */
const STATE = 2 ** 18;

/** The number of extra output bytes, because zlib requests another buffer whenever the output is full. */
const ROOM = 64;

/** The container formats of deflate, with their functions in Node and their names in browsers. */
const CONTAINERS = {
  gzip: { compress: "createGzip", decompress: "gunzip", stream: "gzip" },
  zlib: { compress: "createDeflate", decompress: "inflate", stream: "deflate" },
  raw: { compress: "createDeflateRaw", decompress: "inflateRaw", stream: "deflate-raw" },
} as const;

export function makeDeflateCodec(name: keyof typeof CONTAINERS, level: number): ByteCodec {
  const { compress, decompress, stream } = CONTAINERS[name];
  return makeCompressor({
    name,
    ratio: RATIO,
    held: { decode: () => STATE, encode: () => STATE + ZARR.piece },
    decode(bytes, decoded) {
      const zlib = moduleOfNode("node:zlib");
      if (zlib === null) return inflateStream(new DecompressionStream(stream), bytes, decoded.size);
      // One large buffer avoids many 16 kB buffers that must then be joined.
      const room = decoded.size + ROOM;
      const options = { chunkSize: room, maxOutputLength: room };
      return byCallback((done) => zlib[decompress](bytes, options, done));
    },
    async encode(bytes, release) {
      const zlib = moduleOfNode("node:zlib");
      if (zlib === null) {
        // The browser chooses the compression level.
        const body = piped(bytes, new CompressionStream(stream));
        return new Uint8Array(await new Response(body).arrayBuffer());
      }
      return compressed(bytes, release, (chunkSize) => zlib[compress]({ level, chunkSize }));
    },
  });
}

type Done = (error: Error | null, result: Uint8Array) => void;

/** Converts a Node callback to a promise. */
export const byCallback = (start: (done: Done) => void): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    start((error, result) => (error === null ? resolve(result) : reject(error)));
  });

/** Compresses bytes with a zlib stream, because zlib's callback functions collect thousands of 16 kB buffers. */
export async function compressed(
  bytes: Uint8Array,
  release: Release | undefined,
  start: (chunkSize: number) => Transform,
): Promise<Uint8Array> {
  const chunkSize = Math.max(64, Math.min(ZARR.piece, mostCompressed(bytes.length)));
  const stream = start(chunkSize);
  stream.end(bytes);
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece as Uint8Array);
  return join(pieces, undefined, release);
}

/** Decodes bytes with a stream of the platform. An output of more than `size` bytes is an error. */
export async function inflateStream(
  stream: DecompressionStream,
  bytes: Uint8Array,
  size: number,
): Promise<Uint8Array> {
  const reader = piped(bytes, stream).getReader();
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return join(pieces, length);
    length += value.length;
    if (length > size) {
      await reader.cancel();
      throw broken(`it decodes to more than ${printCount(size, "byte")}`);
    }
    pieces.push(value);
  }
}

/** Passes `bytes` through a stream. The bytes are copied first, because a stream may keep its input. */
const piped = (
  bytes: Uint8Array,
  through: CompressionStream | DecompressionStream,
): ReadableStream<Uint8Array> => new Blob([bytes.slice()]).stream().pipeThrough(through);

/** Joins pieces, or returns a single piece without a copy. `release` is called with each piece that was copied. */
export function join(
  pieces: readonly Uint8Array[],
  length = lengthOf(pieces),
  release?: Release,
): Uint8Array {
  if (pieces.length === 1) return pieces[0];
  const whole = newBytes(length);
  let at = 0;
  for (const [i, piece] of pieces.entries()) {
    whole.set(piece, at);
    at += piece.length;
    // Adjacent pieces may share a buffer, which is released only after its last piece.
    if (piece.buffer !== pieces.at(i + 1)?.buffer) release?.(piece);
  }
  return whole;
}

export const lengthOf = (pieces: readonly Uint8Array[]): number =>
  pieces.reduce((sum, piece) => sum + piece.length, 0);
