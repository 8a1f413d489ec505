/** Implements the codecs `gzip` and, for Zarr v2, `zlib` with Node's zlib or with a browser's compression streams. */

import { printCount } from "../../../core/print-count.ts";
import type { Transform } from "node:stream";
import { ZARR } from "../../../core/limits.ts";
import { broken, mostCompressed, type ByteCodec, type Release } from "./byte-codec.ts";
import { moduleOfNode } from "../../boxes/node.ts";
import { newBytes } from "../chunks/buffers.ts";

/** Maximum compression ratio: at best, deflate stores 258 bytes in two bits. */
const RATIO = 1032;

/** Size of a compressor's state, in bytes, from zlib's documentation. A decompressor takes 40 kB. */
const STATE = 2 ** 18;

/**
 * Number of extra output bytes, because zlib requests another buffer when the output is full, even if nothing follows.
 */
const ROOM = 64;

/** Container formats for deflate, with their functions in Node and their names in a browser. */
const CONTAINERS = {
  gzip: { compress: "createGzip", decompress: "gunzip", stream: "gzip" },
  zlib: { compress: "createDeflate", decompress: "inflate", stream: "deflate" },
} as const;

export function makeDeflateCodec(name: keyof typeof CONTAINERS, level: number): ByteCodec {
  const { compress, decompress, stream } = CONTAINERS[name];
  return {
    name,
    fixedSize: () => null,
    mostEncoded: mostCompressed,
    ratio: RATIO,
    held: { decode: () => STATE, encode: () => STATE + ZARR.piece },
    decode(bytes, decoded) {
      const zlib = moduleOfNode("node:zlib");
      if (zlib === null) return inflateStream(new DecompressionStream(stream), bytes, decoded.size);
      // A single large buffer avoids many 16 kB buffers that would be joined at the end.
      const room = decoded.size + ROOM;
      const options = { chunkSize: room, maxOutputLength: room };
      return byCallback((done) => zlib[decompress](bytes, options, done));
    },
    encode(bytes, release) {
      const zlib = moduleOfNode("node:zlib");
      if (zlib === null) return deflateStream(stream, bytes);
      return compressed(bytes, release, (chunkSize) => zlib[compress]({ level, chunkSize }));
    },
  };
}

type Format = (typeof CONTAINERS)[keyof typeof CONTAINERS]["stream"];

type Done = (error: Error | null, result: Uint8Array) => void;

/** Converts a Node callback to a promise. */
export const byCallback = (start: (done: Done) => void): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    start((error, result) => (error === null ? resolve(result) : reject(error)));
  });

/**
 * Compresses `bytes` with a zlib stream, because zlib's callback functions collect thousands of 16 kB buffers before
 * joining them.
 */
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

/** Decodes with a platform's stream; more than `size` bytes are an error. */
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

/** Compresses `bytes` with a browser's stream; the browser chooses the level. */
async function deflateStream(format: Format, bytes: Uint8Array): Promise<Uint8Array> {
  const stream = piped(bytes, new CompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Passes `bytes` through a stream. The bytes are copied, because a stream may keep its input. */
const piped = (
  bytes: Uint8Array,
  through: CompressionStream | DecompressionStream,
): ReadableStream<Uint8Array> => new Blob([bytes.slice()]).stream().pipeThrough(through);

/** Joins pieces; a single piece is returned without a copy. `release` is called with each piece that was copied. */
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
    // Adjacent pieces may share a buffer, so a buffer is released after its last piece.
    if (piece.buffer !== pieces.at(i + 1)?.buffer) release?.(piece);
  }
  return whole;
}

export const lengthOf = (pieces: readonly Uint8Array[]): number =>
  pieces.reduce((sum, piece) => sum + piece.length, 0);
