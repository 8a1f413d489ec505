/** Streams of codecs in their rarer forms: long lengths, far matches, and those that a platform without Node decodes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeBloscLz, decodeLz4, decodeSnappy } from "../src/arrays/zarr/codecs/blosc-streams.ts";
import { makeDeflateCodec } from "../src/arrays/zarr/codecs/gzip.ts";
import { setLimits } from "./support/limits.ts";
import { WITHOUT_NODE_ITSELF } from "./support/platform.ts";

/** `count` bytes that do not repeat within 251. */
const literals = (count: number): number[] => Array.from({ length: count }, (_, at) => at % 251);

/** A match as its formats define it: one byte after the other. */
function repeated(bytes: readonly number[], distance: number, count: number): number[] {
  const all = [...bytes];
  for (let i = 0; i < count; i++) all.push(all[all.length - distance]);
  return all;
}

/** BloscLZ has at most 32 literals in a piece. Its first byte has the format's number in the upper bits. */
function pieces(bytes: readonly number[]): number[] {
  const all: number[] = [];
  for (let at = 0; at < bytes.length; at += 32) {
    const piece = bytes.slice(at, at + 32);
    all.push(piece.length - 1 + (at === 0 ? 0x20 : 0), ...piece);
  }
  return all;
}

const few = literals(15);
const some = literals(300);
const many = literals(9000);

/** A decoder, a stream, and what it makes. */
// prettier-ignore
const STREAMS: readonly (readonly [string, typeof decodeLz4, readonly number[], readonly number[]])[] = [
  ["LZ4 with 15 literals", decodeLz4, [0xf0, 0, ...few], few],
  ["LZ4 with 15 + 255 + 30 literals", decodeLz4, [0xf0, 255, 30, ...some], some],
  // A token of 15 literals and 15 + 4 bytes, to which 255 and 1 are added; then no literals.
  ["LZ4 with a long match", decodeLz4, [0xff, 255, 30, ...some, 2, 1, 255, 1, 0x00], repeated(some, 258, 275)],
  ["LZ4 with a match of 18 bytes", decodeLz4, [0xfe, 0, ...few, 3, 0, 0x00], repeated(few, 3, 18)],
  ["LZ4 with a match of 19 bytes", decodeLz4, [0xff, 0, ...few, 3, 0, 0, 0x00], repeated(few, 3, 19)],
  ["LZ4 with a long match of one byte", decodeLz4, [0xff, 0, ...few, 1, 0, 100, 0x00], repeated(few, 1, 119)],
  ["Snappy with a length of five bytes", decodeSnappy, [0x8f, 0x80, 0x80, 0x80, 0, 14 << 2, ...few], few],
  ["Snappy with 60 literals", decodeSnappy, [60, 59 << 2, ...literals(60)], literals(60)],
  ["Snappy with 61 literals", decodeSnappy, [61, 60 << 2, 60, ...literals(61)], literals(61)],
  // 299 is 0x012b.
  ["Snappy with 300 literals", decodeSnappy, [0xac, 2, 61 << 2, 0x2b, 1, ...some], some],
  ["Snappy with a length of three bytes", decodeSnappy, [0xac, 2, 62 << 2, 0x2b, 1, 0, ...some], some],
  ["Snappy with a length of four bytes", decodeSnappy, [0xac, 2, 63 << 2, 0x2b, 1, 0, 0, ...some], some],
  // The upper three bits are those of the distance 258, the middle ones 11 - 4.
  ["Snappy with a near match", decodeSnappy, [0xb7, 2, 61 << 2, 0x2b, 1, ...some, (1 << 5) | (7 << 2) | 1, 2], repeated(some, 258, 11)],
  ["Snappy with a match of 64 bytes", decodeSnappy, [0xec, 2, 61 << 2, 0x2b, 1, ...some, (63 << 2) | 2, 2, 1], repeated(some, 258, 64)],
  ["Snappy with a far match", decodeSnappy, [0xec, 2, 61 << 2, 0x2b, 1, ...some, (63 << 2) | 3, 2, 1, 0, 0], repeated(some, 258, 64)],
  // The code of a match is its length less 2, its distance is kept less 1.
  ["BloscLZ with a match of 8 bytes", decodeBloscLz, [...pieces(few), 6 << 5, 2], repeated(few, 3, 8)],
  ["BloscLZ with a match of 9 bytes", decodeBloscLz, [...pieces(few), 7 << 5, 0, 2], repeated(few, 3, 9)],
  ["BloscLZ with a match of 9 + 255 + 4 bytes", decodeBloscLz, [...pieces(few), 7 << 5, 255, 4, 2], repeated(few, 3, 268)],
  ["BloscLZ with a distance of 256", decodeBloscLz, [...pieces(some), 1 << 5, 255], repeated(some, 256, 3)],
  ["BloscLZ with a distance of 258", decodeBloscLz, [...pieces(some), (1 << 5) | 1, 1], repeated(some, 258, 3)],
  ["BloscLZ with its longest near distance", decodeBloscLz, [...pieces(many), (1 << 5) | 31, 254], repeated(many, 8191, 3)],
  ["BloscLZ with its shortest far distance", decodeBloscLz, [...pieces(many), (1 << 5) | 31, 255, 0, 0], repeated(many, 8192, 3)],
  ["BloscLZ with a far distance of two bytes", decodeBloscLz, [...pieces(many), (1 << 5) | 31, 255, 1, 2], repeated(many, 8192 + 258, 3)],
];

for (const [name, decode, stream, expected] of STREAMS) {
  test(`${name} is decoded`, () => {
    // Runs of both kinds: those that the engine copies, and those that a loop does.
    for (const run of [0, 2 ** 20]) {
      const restore = setLimits({ ZARR: { run } });
      try {
        const into = new Uint8Array(expected.length);
        decode(Uint8Array.from(stream), into);
        assert.deepEqual([...into], expected);
      } finally {
        restore();
      }
    }
  });
}

test("gzip and zlib need no zlib of Node", { skip: WITHOUT_NODE_ITSELF }, async () => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, at) => (at * at) >>> 7);
  const { getBuiltinModule } = process;
  for (const name of ["gzip", "zlib"] as const) {
    const codec = makeDeflateCodec(name, 5);
    const ofNode = await codec.encode(bytes);
    Object.assign(process, { getBuiltinModule: undefined });
    try {
      const encoded = await codec.encode(bytes);
      for (const one of [ofNode, encoded]) {
        const decoded = await codec.decode(one, { size: 100_000, isExact: true });
        assert.deepEqual(new Uint8Array(decoded), bytes);
      }
      await assert.rejects(() => codec.decode(ofNode, { size: 99_999, isExact: true }), {
        message: "it decodes to more than 99999 bytes",
      });
      await assert.rejects(() =>
        codec.decode(ofNode.subarray(0, 100), { size: 100_000, isExact: true }),
      );
    } finally {
      Object.assign(process, { getBuiltinModule });
    }
    assert.deepEqual(new Uint8Array(await codec.encode(bytes)), new Uint8Array(ofNode));
  }
});
