/** Implements `numcodecs.lz4`: the decoded size in four little-endian bytes, and one LZ4 block. */

import { newBytes } from "../chunks/buffers.ts";
import {
  broken,
  checkDeclared,
  makeCompressor,
  mostCompressed,
  type ByteCodec,
} from "./byte-codec.ts";

/** The size of the header, in bytes. */
const HEADER = 4;

/** The maximum number of bytes that LZ4 encodes (LZ4_MAX_INPUT_SIZE). */
const MOST = 0x7e000000;

const unwritable = (size: number): string | null =>
  size > MOST ? `lz4 encodes at most ${MOST} bytes, not ${size}` : null;

export function makeLz4Codec(acceleration: number): ByteCodec {
  // Loaded on demand and kept, as for blosc.
  let work: typeof import("./blosc-blocks.ts") | undefined;
  return makeCompressor({
    name: "numcodecs.lz4",
    // Each byte of an LZ4 length stands for at most 255 decoded bytes.
    ratio: 255,
    held: { decode: () => 0, encode: mostCompressed },
    unwritable,
    async decode(bytes, decoded) {
      if (bytes.length < HEADER) throw broken("it is truncated");
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      const promised = view.getUint32(0, true);
      checkDeclared(promised, decoded);
      work ??= await import("./blosc-blocks.ts");
      const into = decoded.allocate(promised);
      work.decodeLz4(bytes.subarray(HEADER), into);
      return into;
    },
    async encode(bytes) {
      const refusal = unwritable(bytes.length);
      if (refusal !== null) throw broken(refusal);
      work ??= await import("./blosc-blocks.ts");
      const stream = work.encodeLz4(bytes, Math.max(1, acceleration));
      const encoded = newBytes(HEADER + stream.length);
      new DataView(encoded.buffer).setUint32(0, bytes.length, true);
      encoded.set(stream, HEADER);
      return encoded;
    },
  });
}
