/** The codec `crc32c`: four bytes behind the others, the checksum of RFC 3720. Eight bytes at a time, by tables. */

import { broken, type ByteCodec } from "./byte-codec.ts";

/** Castagnoli's polynomial, reflected. */
const POLYNOMIAL = 0x82f63b78;

/** Bytes of a checksum. */
const WIDTH = 4;

/** Table k has the checksum of each byte with k zeros behind it. */
function makeTables(): readonly Uint32Array[] {
  const first = Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    return crc;
  });
  const tables = [first];
  for (let k = 1; k < 8; k++) {
    tables.push(tables[k - 1].map((crc) => (crc >>> 8) ^ first[crc & 0xff]));
  }
  return tables;
}

/** A function that computes checksums; its tables are made here, in 20 µs. */
export function makeCrc32c(): (bytes: Uint8Array) => number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = makeTables();
  return (bytes) => {
    let crc = 0xffffffff;
    let at = 0;
    for (const end = bytes.length - 7; at < end; at += 8) {
      const low =
        crc ^ (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24));
      crc =
        t7[low & 0xff] ^
        t6[(low >>> 8) & 0xff] ^
        t5[(low >>> 16) & 0xff] ^
        t4[low >>> 24] ^
        t3[bytes[at + 4]] ^
        t2[bytes[at + 5]] ^
        t1[bytes[at + 6]] ^
        t0[bytes[at + 7]];
    }
    for (; at < bytes.length; at++) crc = (crc >>> 8) ^ t0[(crc ^ bytes[at]) & 0xff];
    return ~crc >>> 0;
  };
}

export function makeCrc32cCodec(): ByteCodec {
  const checksum = makeCrc32c();
  return {
    name: "crc32c",
    fixedSize: (size) => size + WIDTH,
    mostEncoded: (size) => size + WIDTH,
    ratio: 1,
    held: { decode: () => 0, encode: () => 0 },
    async decode(bytes) {
      const end = bytes.length - WIDTH;
      if (end < 0) throw broken("it has no checksum");
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      const content = bytes.subarray(0, end);
      if (view.getUint32(end, true) !== checksum(content)) throw broken("its checksum is wrong");
      return content;
    },
    async encode(bytes) {
      const encoded = new Uint8Array(bytes.length + WIDTH);
      encoded.set(bytes);
      new DataView(encoded.buffer).setUint32(bytes.length, checksum(bytes), true);
      return encoded;
    },
  };
}
