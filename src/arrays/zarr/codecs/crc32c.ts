/**
 * Implements the codec `crc32c`, which appends a checksum of four bytes (RFC 3720), and numcodecs' variants. The
 * implementation processes sixteen bytes at a time with lookup tables.
 */

import { broken, makeFixedCodec, type ByteCodec } from "./byte-codec.ts";

/** The polynomials of Castagnoli and of zlib, reflected. */
export const POLYNOMIALS = { crc32c: 0x82f63b78, crc32: 0xedb88320 } as const;

/** The size of a checksum, in bytes. */
const WIDTH = 4;

/** The number of bytes per step. */
const STEP = 16;

/**
 * Computes the lookup tables. Table k contains the checksum of each byte followed by k zeros. All tables share one
 * array of signed numbers, because separate arrays are half as fast, and unsigned numbers a third as fast.
 */
function makeTables(polynomial: number): Int32Array {
  const tables = new Int32Array(256 * STEP);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ polynomial : crc >>> 1;
    tables[byte] = crc;
  }
  for (let at = 256; at < tables.length; at++) {
    const crc = tables[at - 256];
    tables[at] = (crc >>> 8) ^ tables[crc & 0xff];
  }
  return tables;
}

/**
 * Returns a function that computes checksums. Computing its tables takes 20 µs. The second argument is the checksum of
 * all preceding bytes, so that bytes may arrive in parts.
 */
export function makeCrc32c(
  name: keyof typeof POLYNOMIALS = "crc32c",
): (bytes: Uint8Array, before?: number) => number {
  const t = makeTables(POLYNOMIALS[name]);
  const byBytes = (from: number, bytes: Uint8Array): number => {
    let crc = from;
    for (let at = 0; at < bytes.length; at++) crc = (crc >>> 8) ^ t[(crc ^ bytes[at]) & 0xff];
    return crc;
  };
  const bySteps = (from: number, words: Int32Array): number => {
    let crc = from;
    for (let at = 0; at < words.length; at += 4) {
      const a = crc ^ words[at];
      const b = words[at + 1];
      const c = words[at + 2];
      const d = words[at + 3];
      crc =
        t[0xf00 + (a & 0xff)] ^
        t[0xe00 + ((a >>> 8) & 0xff)] ^
        t[0xd00 + ((a >>> 16) & 0xff)] ^
        t[0xc00 + (a >>> 24)] ^
        t[0xb00 + (b & 0xff)] ^
        t[0xa00 + ((b >>> 8) & 0xff)] ^
        t[0x900 + ((b >>> 16) & 0xff)] ^
        t[0x800 + (b >>> 24)] ^
        t[0x700 + (c & 0xff)] ^
        t[0x600 + ((c >>> 8) & 0xff)] ^
        t[0x500 + ((c >>> 16) & 0xff)] ^
        t[0x400 + (c >>> 24)] ^
        t[0x300 + (d & 0xff)] ^
        t[0x200 + ((d >>> 8) & 0xff)] ^
        t[0x100 + ((d >>> 16) & 0xff)] ^
        t[d >>> 24];
    }
    return crc;
  };
  return (bytes, before = 0) => {
    const { buffer, byteOffset, length } = bytes;
    // Words must be aligned to four bytes, so leading bytes are processed individually.
    const first = -byteOffset & 3;
    const steps = Math.floor((length - first) / STEP);
    if (steps <= 0) return ~byBytes(~before, bytes) >>> 0;
    const words = new Int32Array(buffer, byteOffset + first, (steps * STEP) / 4);
    const crc = bySteps(byBytes(~before, bytes.subarray(0, first)), words);
    return ~byBytes(crc, bytes.subarray(first + steps * STEP)) >>> 0;
  };
}

export function makeChecksumCodec(
  name: keyof typeof POLYNOMIALS,
  location: "start" | "end",
): ByteCodec {
  const checksum = makeCrc32c(name);
  const isFirst = location === "start";
  return makeFixedCodec(
    {
      name,
      async decode(bytes) {
        const size = bytes.length - WIDTH;
        if (size < 0) throw broken("it has no checksum");
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
        const content = isFirst ? bytes.subarray(WIDTH) : bytes.subarray(0, size);
        const stored = view.getUint32(isFirst ? 0 : size, true);
        if (stored !== checksum(content)) throw broken("its checksum is wrong");
        return content;
      },
      async encode(bytes) {
        const encoded = new Uint8Array(bytes.length + WIDTH);
        encoded.set(bytes, isFirst ? WIDTH : 0);
        const at = isFirst ? 0 : bytes.length;
        new DataView(encoded.buffer).setUint32(at, checksum(bytes), true);
        return encoded;
      },
    },
    (size) => size + WIDTH,
  );
}
