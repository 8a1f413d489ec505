/** The codec `blosc`, by numcodecs. Its header is checked first, because its decoder believes it. */

import { broken, mostCompressed, type ByteCodec, type Decoded } from "./byte-codec.ts";

/** That of zstd, the tightest of its compressors. */
const RATIO = 2 ** 15;

const HEADER = 16;

/** The number of each shuffle. */
export const SHUFFLES: Readonly<Record<string, 0 | 1 | 2>> = {
  noshuffle: 0,
  shuffle: 1,
  bitshuffle: 2,
};

export const COMPRESSORS = ["lz4", "lz4hc", "blosclz", "zstd", "snappy", "zlib"];

export interface BloscSettings {
  readonly cname: string;
  readonly clevel: number;
  readonly shuffle: 0 | 1 | 2;
  readonly blocksize: number;
}

export const makeBloscCodec = (settings: BloscSettings): ByteCodec => ({
  name: "blosc",
  fixedSize: () => null,
  mostEncoded: mostCompressed,
  ratio: RATIO,
  async decode(bytes, decoded) {
    checkHeader(bytes, decoded);
    const { default: Blosc } = await import("numcodecs/blosc");
    return Blosc.fromConfig({ id: "blosc", ...settings }).decode(bytes);
  },
  async encode(bytes) {
    const { default: Blosc } = await import("numcodecs/blosc");
    return Blosc.fromConfig({ id: "blosc", ...settings }).encode(bytes);
  },
});

/** The header: four bytes, then the sizes of what was encoded, of a block, and of the encoded bytes. */
function checkHeader(bytes: Uint8Array, { size, isExact }: Decoded): void {
  if (bytes.length < HEADER) throw broken("it is cut short");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const [promised, block, length] = [4, 8, 12].map((at) => view.getUint32(at, true));
  if (bytes[0] !== 2) throw broken(`it is of blosc's format ${bytes[0]}, but 2 is read`);
  if (isExact ? promised !== size : promised > size) {
    throw broken(`it decodes to ${promised} bytes, not ${size}`);
  }
  if (length !== bytes.length) throw broken(`it has ${bytes.length} bytes, but says ${length}`);
  if (promised > 0 && (block === 0 || block > promised)) throw broken("its blocks have no size");
}
