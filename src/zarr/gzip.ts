/** The codec `gzip`, and the `zlib` of Zarr v2, by Node's zlib or by the streams of a browser. */

import { broken, mostCompressed, type ByteCodec, type Decoded } from "./byte-codec.ts";
import { zlibOfNode } from "./node.ts";

/** Deflate stores 258 bytes in two bits at best. */
const RATIO = 1032;

/** zlib asks for more room when it has filled all that it was given, even where nothing follows. */
const ROOM = 64;

/** Both containers of deflate: their functions in Node, and their names in a browser. */
const CONTAINERS = {
  gzip: { compress: "gzip", decompress: "gunzip", stream: "gzip" },
  zlib: { compress: "deflate", decompress: "inflate", stream: "deflate" },
} as const;

export function makeDeflateCodec(name: keyof typeof CONTAINERS, level: number): ByteCodec {
  const { compress, decompress, stream } = CONTAINERS[name];
  return {
    name,
    fixedSize: () => null,
    mostEncoded: mostCompressed,
    ratio: RATIO,
    decode(bytes, decoded) {
      const zlib = zlibOfNode();
      if (zlib === null) return inflateStream(stream, bytes, decoded);
      // One buffer for all, instead of many of 16 kB that are joined at the end.
      const room = decoded.size + ROOM;
      const options = { chunkSize: room, maxOutputLength: room };
      return byCallback((done) => zlib[decompress](bytes, options, done));
    },
    encode(bytes) {
      const zlib = zlibOfNode();
      if (zlib === null) return deflateStream(stream, bytes);
      return byCallback((done) => zlib[compress](bytes, { level }, done));
    },
  };
}

type Format = (typeof CONTAINERS)[keyof typeof CONTAINERS]["stream"];

type Done = (error: Error | null, result: Uint8Array) => void;

/** What a function of Node calls back with. */
export const byCallback = (start: (done: Done) => void): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    start((error, result) => (error === null ? resolve(result) : reject(error)));
  });

async function inflateStream(
  format: Format,
  bytes: Uint8Array,
  { size }: Decoded,
): Promise<Uint8Array> {
  const reader = piped(bytes, new DecompressionStream(format)).getReader();
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return join(pieces, length);
    length += value.length;
    if (length > size) {
      await reader.cancel();
      throw broken(`it decodes to more than ${size} bytes`);
    }
    pieces.push(value);
  }
}

/** Browsers choose the level themselves. */
async function deflateStream(format: Format, bytes: Uint8Array): Promise<Uint8Array> {
  const stream = piped(bytes, new CompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Copied, because a stream may keep what it is given. */
const piped = (
  bytes: Uint8Array,
  through: CompressionStream | DecompressionStream,
): ReadableStream<Uint8Array> => new Blob([bytes.slice()]).stream().pipeThrough(through);

/** Pieces one after the other; the one piece itself where there is one. */
export function join(pieces: readonly Uint8Array[], length = lengthOf(pieces)): Uint8Array {
  if (pieces.length === 1) return pieces[0];
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

export const lengthOf = (pieces: readonly Uint8Array[]): number =>
  pieces.reduce((sum, piece) => sum + piece.length, 0);
