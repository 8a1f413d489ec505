/** Streams of codecs in their rarer forms: long lengths, far matches, and those that a platform without Node decodes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  decodeBloscLz,
  decodeLz4,
  decodeSnappy,
} from "../../src/arrays/zarr/codecs/blosc-streams.ts";
import { makeDeflateCodec } from "../../src/arrays/zarr/codecs/gzip.ts";
import { makeZstdCodec } from "../../src/arrays/zarr/codecs/zstd.ts";
import { openArray, type Fetch } from "../../src/entries/zarr.ts";
import { decodedOf } from "../support/zarr-cases.ts";
import { setLimits } from "../support/limits.ts";
import { WITHOUT_NODE_ITSELF } from "../support/platform.ts";

/** What `np.savez_compressed` writes for two arrays: see test/fixtures/archives.py. */
const SAVED = [
  "UEsDBC0AAAAIAAAAIQB9GSya//////////8KABQAdmFsdWVzLm5weQEAEACwAAAAAAAAAHYAAAAAAAAAm+wX6hsQychQxlCtnpJa",
  "nFykbqWgbpNpoq6joJ6WX1RSlJgXn1+UkgoSd0vMKU4FihdnJBakAvkaJjoKxpo6CrUKZAMudgYGhvfMDAzXgYz93AwMy/kZGPqF",
  "GRjKxRkY4qUZGNzlGRj0lRkYxNUZGP5rMTAAAFBLAwQtAAAACAAAACEA90AS6v//////////BwAUAGlkcy5ucHkBABAAmAAAAAAA",
  "AABMAAAAAAAAAJvsF+obEMnIUMZQrZ6SWpxcpG6loG6TaaGuo6Cell9UUpSYF59flJIKEndLzClOBYoXZyQWpAL5GsY6mjoKtQoU",
  "AC4GKGCE0kxQGgBQSwECLQMtAAAACAAAACEAfRksmnYAAACwAAAACgAAAAAAAAAAAAAAgAEAAAAAdmFsdWVzLm5weVBLAQItAy0A",
  "AAAIAAAAIQD3QBLqTAAAAJgAAAAHAAAAAAAAAAAAAACAAbIAAABpZHMubnB5UEsFBgAAAAACAAIAbQAAADcBAAAAAA==",
].join("");

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

test(
  "gzip, zlib and members of archives need no zlib of Node",
  { skip: WITHOUT_NODE_ITSELF },
  async () => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, at) => (at * at) >>> 7);
    const { getBuiltinModule } = process;
    for (const name of ["gzip", "zlib", "raw"] as const) {
      const codec = makeDeflateCodec(name, 5);
      const ofNode = await codec.encode(bytes);
      Object.assign(process, { getBuiltinModule: undefined });
      try {
        const encoded = await codec.encode(bytes);
        for (const one of [ofNode, encoded]) {
          const decoded = await codec.decode(one, decodedOf(100_000));
          assert.deepEqual(new Uint8Array(decoded), bytes);
        }
        await assert.rejects(() => codec.decode(ofNode, decodedOf(99_999)), {
          message: "it decodes to more than 99999 bytes",
        });
        await assert.rejects(() => codec.decode(ofNode.subarray(0, 100), decodedOf(100_000)));
      } finally {
        Object.assign(process, { getBuiltinModule });
      }
      assert.deepEqual(new Uint8Array(await codec.encode(bytes)), new Uint8Array(ofNode));
    }
  },
);

test("the arrays in an .npz file on a server are read", async () => {
  const file = Uint8Array.from(atob(SAVED), (one) => one.charCodeAt(0));
  const fetch: Fetch = async (url) =>
    String(url).endsWith("/x.npz") ? new Response(file) : new Response(null, { status: 404 });
  const array = await openArray("https://host/x.npz/values", { fetch });
  const rows = [0, 1, 2, 3].map((row) => [0, 1, 2].map((column) => (3 * row + column) * 1000 + 7));
  assert.deepEqual((await array.read()).toArray(), rows);
  assert.deepEqual(
    (await (await openArray("https://host/x.npz/ids", { fetch })).read()).toArray(),
    [0n, 1n, 2n],
  );
});

/** Runs `action` where Node's zlib is another object. */
async function withZlib(zlib: object, action: () => Promise<void>): Promise<void> {
  const { getBuiltinModule } = process;
  const other = (name: string): unknown => (name.endsWith("zlib") ? zlib : getBuiltinModule(name));
  Object.assign(process, { getBuiltinModule: other });
  try {
    await action();
  } finally {
    Object.assign(process, { getBuiltinModule });
  }
}

/** A frame of zstd with one block, which is stored as it is: its size, and the four bytes. */
const FRAME = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x20, 4, 0x21, 0, 0, 1, 2, 3, 4);

test(
  "zstd of Node gets the level, the checksum and sizes",
  { skip: WITHOUT_NODE_ITSELF },
  async () => {
    const asked: {
      params?: object;
      pledgedSrcSize?: number;
      chunkSize: number;
      maxOutputLength?: number;
    }[] = [];
    const broken = new Error("broken");
    const { PassThrough } = process.getBuiltinModule("node:stream");
    const zlib = {
      // The numbers of zstd's own interface.
      constants: { ZSTD_c_compressionLevel: 100, ZSTD_c_checksumFlag: 201 },
      zstdCompress() {},
      createZstdCompress(options: (typeof asked)[number]) {
        asked.push(options);
        return new PassThrough();
      },
      // Short frames are decoded without another thread.
      zstdDecompressSync(bytes: Uint8Array, options: (typeof asked)[number]) {
        asked.push(options);
        if (asked.length > 3) throw broken;
        return bytes.subarray(9);
      },
    };
    const bytes = Uint8Array.of(5, 6, 7);
    await withZlib(zlib, async () => {
      for (const [level, checksum] of [
        [7, true],
        [-5, false],
      ] as const) {
        assert.deepEqual([...(await makeZstdCodec(level, checksum).encode(bytes))], [5, 6, 7]);
      }
      const codec = makeZstdCodec(0, false);
      const decoded = await codec.decode(FRAME, decodedOf(4));
      assert.deepEqual([...decoded], [1, 2, 3, 4]);
      await assert.rejects(codec.decode(FRAME, decodedOf(4)), broken);
      // Node decodes by pieces. A compressor has tables, the larger the higher its level is.
      assert.equal(codec.held.decode(2 ** 30), codec.held.decode(1));
      const held = [1, 9, 12, 19, 20, 21, 22].map((level) =>
        makeZstdCodec(level, false).held.encode(2 ** 30),
      );
      assert.deepEqual(
        held,
        held.toSorted((a, b) => a - b),
      );
      assert.equal(new Set(held).size, 7);
    });
    const [high, low, read] = asked;
    assert.deepEqual(high.params, { 100: 7, 201: 1 });
    assert.deepEqual(low.params, { 100: -5, 201: 0 });
    assert.equal(high.pledgedSrcSize, 3);
    assert.ok(high.chunkSize >= 64);
    // One buffer for all, with room for what a broken frame may make at most before it is noticed.
    assert.equal(read.chunkSize, read.maxOutputLength);
    assert.ok(read.chunkSize >= 4 && read.chunkSize <= 4 + 2 ** 17);
  },
);

test(
  "without zstd of Node there is none with a checksum, or of more than 512 MB",
  { skip: WITHOUT_NODE_ITSELF },
  async () => {
    await withZlib({}, async () => {
      await assert.rejects(makeZstdCodec(0, true).encode(FRAME), {
        message: "zstd with a checksum needs Node 22.15 or newer",
      });
      assert.equal(makeZstdCodec(0, false).unwritable?.(2 ** 29), null);
      assert.match(makeZstdCodec(0, false).unwritable?.(2 ** 29 + 1) ?? "", /Node 22\.15/);
      // The other decoder copies what it reads and what it makes into its own memory.
      assert.ok(makeZstdCodec(0, false).held.decode(2 ** 24) > 2 ** 25);
      const size = 2 ** 29 + 1;
      await assert.rejects(makeZstdCodec(0, false).decode(FRAME, decodedOf(size, false)), {
        code: "too-large",
        got: size,
        message: /^a zstd chunk of 536870913 bytes needs Node 22\.15/,
      });
      const decoded = await makeZstdCodec(0, false).decode(FRAME, decodedOf(4));
      assert.deepEqual([...decoded], [1, 2, 3, 4]);
    });
  },
);
