/** Codecs against encoders and decoders of others: RFC 3720's vectors, Node's zlib, and files that C-Blosc and zstd made. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import Blosc from "numcodecs/blosc";
import LZ4 from "numcodecs/lz4";
import Zstd from "numcodecs/zstd";
import {
  decodeBloscLz,
  decodeLz4,
  decodeSnappy,
  encodeLz4,
} from "../../src/arrays/zarr/codecs/blosc-streams.ts";
import { makeBloscCodec } from "../../src/arrays/zarr/codecs/blosc.ts";
import type { ByteCodec } from "../../src/arrays/zarr/codecs/byte-codec.ts";
import { makeChecksumCodec, makeCrc32c } from "../../src/arrays/zarr/codecs/crc32c.ts";
import { makeDeflateCodec } from "../../src/arrays/zarr/codecs/gzip.ts";
import { makeLz4Codec } from "../../src/arrays/zarr/codecs/lz4.ts";
import { makeShuffleCodec, moveBits, moveBytes } from "../../src/arrays/zarr/codecs/shuffle.ts";
import { decodeZstd, policyError } from "../../src/arrays/zarr/codecs/libzstd.ts";
import { makeZstdCodec } from "../../src/arrays/zarr/codecs/zstd.ts";
import { BLOSC_CHUNKS } from "../fixtures/blosc-chunks.ts";
import { hexBytes } from "../support/npy-file.ts";
import { caseList } from "../support/cases.ts";
import { randomFrom, SEED } from "../support/random.ts";
import { COMPRESSION, decodedOf, missingCodecs } from "../support/zarr-cases.ts";

// RFC 3720, section B.4.
const VECTORS: readonly (readonly [string, number[], number])[] = [
  ["32 bytes of zeros", Array.from({ length: 32 }, () => 0), 0x8a9136aa],
  ["32 bytes of ones", Array.from({ length: 32 }, () => 0xff), 0x62a8ab43],
  ["32 ascending bytes", Array.from({ length: 32 }, (_, at) => at), 0x46dd794e],
  ["32 descending bytes", Array.from({ length: 32 }, (_, at) => 31 - at), 0x113fdb5c],
  ["the digits 123456789", [..."123456789"].map((one) => one.charCodeAt(0)), 0xe3069283],
  ["nothing", [], 0],
];

for (const [name, bytes, expected] of VECTORS) {
  test(`crc32c of ${name}`, () => {
    assert.equal(makeCrc32c()(Uint8Array.from(bytes)), expected);
  });
}

test("crc32c is that of one byte after the other, at any length and address", () => {
  const checksum = makeCrc32c();
  const slow = (bytes: Uint8Array): number => {
    let crc = 0xffffffff;
    for (const byte of bytes) {
      crc ^= byte;
      for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    return ~crc >>> 0;
  };
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70, size: "max" }), fc.nat({ max: 5 }), (all, first) => {
      const bytes = all.subarray(first);
      assert.equal(checksum(bytes), slow(bytes));
    }),
  );
});

/** Compares bytes by a loop, which is fast where `deepEqual` is not. */
function assertSame(actual: Uint8Array, expected: Uint8Array, what = ""): void {
  assert.equal(actual.length, expected.length, what);
  let at = 0;
  while (at < expected.length && actual[at] === expected[at]) at++;
  if (at < expected.length) assert.fail(`byte ${at} is ${actual[at]} ${what}`);
}

const CODECS: readonly ByteCodec[] = [
  makeChecksumCodec("crc32c", "end"),
  makeChecksumCodec("crc32", "start"),
  makeLz4Codec(1),
  makeShuffleCodec(1),
  makeDeflateCodec("gzip", 1),
  makeDeflateCodec("zlib", 9),
  makeZstdCodec(0, false),
  makeZstdCodec(19, false),
  ...["lz4", "lz4hc", "zstd", "zlib"].flatMap((cname) =>
    ([0, 1, 2] as const).map((shuffle) =>
      makeBloscCodec({ cname, clevel: 5, shuffle, blocksize: 2 ** 14, typesize: 1 + 3 * shuffle }),
    ),
  ),
];

/** Bytes with repeats, and random ones. */
function sample(length: number, seed: number): Uint8Array {
  const random = randomFrom(seed);
  const period = 1 + random(200);
  const noise = random(3) * 100;
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at++)
    bytes[at] = (at % period) + (random(1000) < noise ? random(256) : 0);
  return bytes;
}

for (const [at, codec] of CODECS.entries()) {
  test(`${codec.name} (${at}) decodes what it encodes, and refuses other sizes`, async () => {
    for (const length of [1, 7, 100, 4096, 70_001, 300_000]) {
      const bytes = sample(length, length + at);
      const encoded = await codec.encode(bytes);
      assert.ok(encoded.length <= codec.mostEncoded(length));
      assert.ok(length <= codec.ratio * encoded.length);
      assert.equal(codec.fixedSize(length) ?? encoded.length, encoded.length);
      const decoded = await codec.decode(encoded, decodedOf(length));
      assertSame(decoded, bytes);
    }
  });
}

test("every codec is encoded and decoded here, and by the random arrays of test/support/zarr-cases.ts", () => {
  assert.deepEqual(missingCodecs([CODECS.map(({ name }) => name)]), []);
  assert.deepEqual(missingCodecs(COMPRESSION), []);
});

const refusesBytes = (codec: ByteCodec, bytes: Uint8Array, size: number, says: RegExp) =>
  assert.rejects(() => codec.decode(bytes, decodedOf(size)), says);

test("gzip is what the platform's own streams decode and encode", async () => {
  const bytes = sample(50_000, 1);
  for (const [name, format] of [
    ["gzip", "gzip"],
    ["zlib", "deflate"],
  ] as const) {
    const codec = makeDeflateCodec(name, 6);
    const through = async (stream: CompressionStream | DecompressionStream, content: Uint8Array) =>
      new Uint8Array(
        await new Response(new Blob([content.slice()]).stream().pipeThrough(stream)).arrayBuffer(),
      );
    const encoded = await codec.encode(bytes);
    assertSame(await through(new DecompressionStream(format), encoded), bytes);
    const theirs = await through(new CompressionStream(format), bytes);
    const decoded = await codec.decode(theirs, decodedOf(bytes.length));
    assertSame(decoded, bytes);
    await assert.rejects(() => codec.decode(theirs, decodedOf(100)));
    await assert.rejects(() => codec.decode(theirs.subarray(0, 50), decodedOf(50_000)));
  }
});

// What the command zstd 1.5.4 writes: text, and zeros in a frame with its size and in one without.
const HELLO = "28b52ffd04686500003068656c6c6f2001000295225ab1761b";
const ZEROS = "28b52ffd045855000010000001009b8639c002db234ef3";

test("zstd decodes frames of the command zstd, which do not say their size", async () => {
  const codec = makeZstdCodec(0, false);
  const hello = await codec.decode(hexBytes(HELLO), decodedOf(47));
  assert.equal(new TextDecoder().decode(hello), Array.from({ length: 8 }, () => "hello").join(" "));
  const zeros = await codec.decode(hexBytes(ZEROS), decodedOf(100_000));
  assert.deepEqual(new Uint8Array(zeros), new Uint8Array(100_000));
});

/** Words of the browsers' and workerd's own errors. */
const POLICIES: readonly (readonly [string, boolean])[] = [
  [
    "Evaluating a string as JavaScript violates the following Content Security Policy directive",
    true,
  ],
  [
    "Aborted(CompileError: Refused to compile because 'unsafe-eval' is not an allowed source)",
    true,
  ],
  ["call to WebAssembly.instantiate() blocked by CSP", true],
  ["WebAssembly.instantiate(): Wasm code generation disallowed by embedder", true],
  ["WebAssembly.instantiate(): Out of memory: Cannot allocate Wasm memory", false],
  ["memory access out of bounds", false],
];

test("an error by a policy names the source that script-src lacks", () => {
  for (const [words, isPolicy] of POLICIES) {
    const error = policyError(new Error(words));
    assert.equal(error?.code, isPolicy ? "engine" : undefined, words);
    assert.equal(error?.expected, isPolicy ? "'wasm-unsafe-eval'" : undefined, words);
  }
});

test("libzstd decodes after an error, and finds what does not fit", async () => {
  const frame = await Zstd.fromConfig({ id: "zstd", level: 3 }).encode(sample(5000, 1));
  for (const [bytes, size] of [
    [frame.subarray(0, -1), 5000],
    [frame.subarray(0, frame.length >> 1), 5000],
    [frame, 4999],
  ] as const) {
    await assert.rejects(() => decodeZstd(bytes, decodedOf(size)), /libzstd reports error \d+/);
    assertSame(await decodeZstd(frame, decodedOf(6000)), sample(5000, 1));
  }
});

test("chunks that are decoded at once load libzstd once, and a large chunk gives its memory back", async () => {
  const frame = await Zstd.fromConfig({ id: "zstd", level: 3 }).encode(sample(5000, 1));
  const api = Reflect.get(globalThis, "WebAssembly") as {
    instantiate: (...args: never[]) => unknown;
  };
  const { instantiate } = api;
  let loaded = 0;
  api.instantiate = (...args) => {
    loaded++;
    return Reflect.apply(instantiate, api, args);
  };
  try {
    await decodeZstd(frame, decodedOf(2 ** 26));
    loaded = 0;
    const decoded = await Promise.all(
      Array.from({ length: 8 }, () => decodeZstd(frame, decodedOf(5000))),
    );
    for (const one of decoded) assertSame(one, sample(5000, 1));
    assert.equal(loaded, 1);
  } finally {
    api.instantiate = instantiate;
  }
});

test("zstd is what numcodecs decodes and encodes", async () => {
  const bytes = sample(200_000, 7);
  for (const level of [-5, 0, 1, 19]) {
    const encoded = await makeZstdCodec(level, false).encode(bytes);
    assertSame(await Zstd.fromConfig({ id: "zstd" }).decode(encoded), bytes);
  }
  const theirs = await Zstd.fromConfig({ id: "zstd", level: 3 }).encode(bytes);
  const decoded = await makeZstdCodec(0, false).decode(theirs, decodedOf(200_000));
  assertSame(decoded, bytes);
});

// prettier-ignore
const FRAMES: readonly (readonly [string, string, number, RegExp])[] = [
  ["no frame", "00112233", 4, /does not begin with a frame of zstd/],
  ["half of a magic number", "28b52f", 4, /is truncated/],
  ["nothing behind the header", "28b52ffd2004", 4, /is truncated/],
  ["a promise that its blocks do not keep", "28b52ffda000000040 010000", 2 ** 30, /declares 1073741824 bytes, but has at most 0/],
  ["another size than is needed", "28b52ffd2004 210000 61626364", 5, /decodes to 4 bytes, not 5/],
  ["a window of 2 TB", "28b52ffd00f8 010000", 4, /window is 2199023255552 bytes/],
  ["blocks that may be far too much", `28b52ffd0058${"020010aa".repeat(40)}010000`, 4, /may decode to 5242880 bytes/],
  ["a block of an unknown type", "28b52ffd2004 070000", 4, /a block of an unknown type/],
];

for (const [name, hex, size, says] of FRAMES) {
  test(`zstd refuses ${name}`, () =>
    refusesBytes(makeZstdCodec(0, false), hexBytes(hex.replaceAll(" ", "")), size, says));
}

test("zstd takes a frame of a raw block, and frames that hold nothing", async () => {
  const raw = hexBytes(`502a4d1802000000ffff28b52ffd200421000061626364`);
  const decoded = await makeZstdCodec(0, false).decode(raw, decodedOf(4));
  assert.deepEqual([...decoded], [0x61, 0x62, 0x63, 0x64]);
  const twice = Uint8Array.from([...raw, ...raw]);
  const both = await makeZstdCodec(0, false).decode(twice, decodedOf(8));
  assert.deepEqual([...both], [0x61, 0x62, 0x63, 0x64, 0x61, 0x62, 0x63, 0x64]);
});

/** What C-Blosc was given. */
const COUNTS = new Uint8Array(
  Int32Array.from({ length: 300 }, (_, at) => Math.floor(at / 3) * 7).buffer,
);

const bloscOf = (cname: string, shuffle: 0 | 1 | 2, typesize: number): ByteCodec =>
  makeBloscCodec({ cname, clevel: 5, shuffle, blocksize: 0, typesize });

for (const [cname, shuffle, typesize, chunk] of BLOSC_CHUNKS) {
  test(`blosc decodes C-Blosc's ${cname} with shuffle ${shuffle} of ${typesize} bytes`, async () => {
    const bytes = Uint8Array.from(atob(chunk), (one) => one.charCodeAt(0));
    const codec = bloscOf(cname, shuffle, typesize);
    const decoded = await codec.decode(bytes, decodedOf(1200));
    assert.deepEqual(new Uint8Array(decoded), COUNTS);
    await refusesBytes(codec, bytes, 1199, /decodes to 1200 bytes, not 1199/);
    await refusesBytes(codec, bytes.subarray(0, -1), 1200, /but its header declares/);
  });
}

const widths = fc.integer({ min: 1, max: 17 });
/** How far an address is behind a multiple of eight. */
const skews = fc.nat({ max: 5 });

test("bytes and bits are shuffled by their definition at any width and address, and back", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 400 }),
      widths,
      skews,
      skews,
      (content, width, skew, other) => {
        const bytesAt = (from: number): Uint8Array =>
          new Uint8Array(content.length + from).subarray(from);
        const bytes = bytesAt(skew);
        bytes.set(content);
        const count = Math.floor(content.length / width);
        const place = { bytes: new Uint8Array(content), bits: new Uint8Array(content) };
        for (let e = 0; e < count; e++) {
          for (let j = 0; j < width; j++) place.bytes[j * count + e] = bytes[e * width + j];
        }
        if (count % 8 === 0) place.bits.fill(0, 0, count * width);
        for (let e = 0; e < (count % 8 === 0 ? count : 0); e++) {
          for (let bit = 0; bit < 8 * width; bit++) {
            const isSet = (bytes[e * width + (bit >> 3)] >> (bit & 7)) & 1;
            place.bits[(bit * count + e) >> 3] |= isSet << (e & 7);
          }
        }
        for (const [move, expected] of [
          [moveBytes, place.bytes],
          [moveBits, place.bits],
        ] as const) {
          const [shuffled, back] = [bytesAt(other), bytesAt(skew)];
          move(bytes, shuffled, width, false);
          assert.deepEqual([...shuffled], [...expected]);
          move(shuffled, back, width, true);
          assert.deepEqual([...back], [...content]);
        }
      },
    ),
  );
});

for (const cname of ["lz4", "lz4hc", "blosclz", "zstd", "snappy", "zlib"]) {
  test(`blosc and C-Blosc of numcodecs decode each other's ${cname}`, async () => {
    for (const shuffle of [0, 1, 2] as const) {
      for (const length of [1, 100, 513, 70_001, 530_000]) {
        const bytes = sample(length, length + shuffle);
        const theirs = Blosc.fromConfig({ id: "blosc", cname, clevel: 5, shuffle });
        const codec = bloscOf(cname, shuffle, 4);
        const decoded = await codec.decode(await theirs.encode(bytes), decodedOf(length));
        assertSame(decoded, bytes);
        if (cname === "blosclz" || cname === "snappy") {
          await assert.rejects(() => codec.encode(bytes), /read but not written/);
          continue;
        }
        // Long chunks have a third of the sizes, which the seed chooses.
        const parts = length > 1000 ? 3 : 1;
        for (const typesize of caseList([1, 2, 3, 4, 8, 16, 300], SEED + shuffle, parts)) {
          const ours = await bloscOf(cname, shuffle, typesize).encode(bytes);
          assertSame(await theirs.decode(ours), bytes, `${typesize} ${length} ${shuffle}`);
        }
      }
    }
  });
}

test("LZ4 of numcodecs decodes what is encoded here, at every length near a limit of the format", async () => {
  const lz4 = LZ4.fromConfig({ id: "lz4" });
  const lengths = [...Array.from({ length: 80 }, (_, at) => at + 1), 270, 300, 65_550, 140_000];
  for (const [at, length] of lengths.entries()) {
    for (const bytes of [sample(length, at), new Uint8Array(length), sample(length, 3 * at + 1)]) {
      const stream = encodeLz4(bytes, 1 + (at % 9));
      const encoded = new Uint8Array(4 + stream.length);
      new DataView(encoded.buffer).setUint32(0, length, true);
      encoded.set(stream, 4);
      assertSame(await lz4.decode(encoded), bytes, `of ${length}`);
    }
  }
});

test("streams of LZ4, Snappy and BloscLZ repeat what they refer to", () => {
  const decodes = (decode: typeof decodeLz4, hex: string, text: string): void => {
    const into = new Uint8Array(text.length);
    decode(hexBytes(hex), into);
    assert.equal(new TextDecoder().decode(into), text);
  };
  // Three literals, a match of 7 bytes 3 back; then two literals, as LZ4 ends with literals.
  decodes(decodeLz4, "336162630300207879", "abcabcabcaxy");
  // The length 10, three literals, a match of 7 bytes 3 back.
  decodes(decodeSnappy, "0a086162630d03", "abcabcabca");
  // The same with an offset of two bytes and of four.
  decodes(decodeSnappy, "0a086162631a0300", "abcabcabca");
  decodes(decodeSnappy, "0a086162631b03000000", "abcabcabca");
  // Three literals, a match of 7 bytes: its code is 5 + 2, its distance is kept less 1.
  decodes(decodeBloscLz, "02616263a002", "abcabcabca");
});

// prettier-ignore
const BROKEN: readonly (readonly [string, typeof decodeLz4, string, RegExp])[] = [
  ["LZ4 that is nothing", decodeLz4, "", /is truncated/],
  ["LZ4 without its literals", decodeLz4, "306162", /is truncated/],
  ["LZ4 with too many literals", decodeLz4, "b06162636465666768696a6b", /too long/],
  ["LZ4 with a match before the start", decodeLz4, "3361626304002061", /refers to bytes before its beginning/],
  ["LZ4 with a match of distance 0", decodeLz4, "3361626300002061", /refers to bytes before its beginning/],
  ["LZ4 with a match that is too long", decodeLz4, "3f6162630300ff002061", /too long/],
  ["LZ4 that ends early", decodeLz4, "30616263", /decodes to 3 bytes, not 10/],
  ["Snappy without a length", decodeSnappy, "ffffffffffff", /lacks its length/],
  ["Snappy without its literals", decodeSnappy, "0a086162", /is truncated/],
  ["Snappy with a match before the start", decodeSnappy, "0a086162630d04", /refers to bytes before its beginning/],
  ["Snappy that ends early", decodeSnappy, "0a08616263", /decodes to 3 bytes, not 10/],
  ["BloscLZ with a match before the start", decodeBloscLz, "02616263a003", /refers to bytes before its beginning/],
  ["BloscLZ without its distance", decodeBloscLz, "02616263a0", /is truncated/],
  ["BloscLZ that ends early", decodeBloscLz, "02616263", /decodes to 3 bytes, not 10/],
];

for (const [name, decode, hex, says] of BROKEN) {
  test(`${name} is refused`, () => {
    assert.throws(() => decode(hexBytes(hex), new Uint8Array(10)), says);
  });
}

/** A chunk of blosc: flags, bytes of an element, sizes, and what follows. */
const bloscChunk = (flags: number, typesize: number, size: number, block: number, rest: string) => {
  const bytes = hexBytes("00".repeat(16) + rest.replaceAll(" ", ""));
  bytes.set([2, 1, flags, typesize]);
  const view = new DataView(bytes.buffer);
  for (const [at, value] of [size, block, bytes.length].entries()) {
    view.setUint32(4 + 4 * at, value, true);
  }
  return bytes;
};

// prettier-ignore
const CHUNKS: readonly (readonly [string, Uint8Array, number, RegExp])[] = [
  ["half of a header", new Uint8Array(15), 4, /is truncated/],
  ["another version", bloscChunk(2, 1, 4, 4, "01020304").with(0, 3), 4, /version 3 of blosc's format/],
  ["too few copied bytes", bloscChunk(2, 1, 4, 4, "010203"), 4, /has 19 bytes for 4/],
  ["blocks of no size", bloscChunk(0, 1, 4, 0, "01020304"), 4, /have no size/],
  ["elements of no size", bloscChunk(0, 0, 4, 4, "01020304"), 4, /have no size/],
  ["blocks larger than the chunk", bloscChunk(0, 1, 4, 5, "01020304"), 4, /have no size/],
  ["more blocks than bytes", bloscChunk(0, 1, 2 ** 31, 1, "01020304"), 2 ** 31, /is truncated/],
  ["a block in the header", bloscChunk(0x10, 1, 4, 4, "04000000 04000000 01020304"), 4, /lies outside the chunk/],
  ["a block behind the end", bloscChunk(0x10, 1, 4, 4, "ffffffff 04000000 01020304"), 4, /lies outside the chunk/],
  ["a stream that is cut short", bloscChunk(0x10, 1, 4, 4, "14000000 05000000 01020304"), 4, /is truncated/],
  ["an unknown compressor", bloscChunk(0xf0, 1, 4, 4, "14000000 03000000 010203"), 4, /compressor 7/],
  ["a negative size", bloscChunk(0x10, 1, 4, 4, "14000000 ffffffff 01020304"), 4, /is truncated/],
];

for (const [name, bytes, size, says] of CHUNKS) {
  test(`blosc refuses ${name}`, () => refusesBytes(bloscOf("lz4", 0, 1), bytes, size, says));
}

test("blosc takes a block as it is, where it has the block's own length", async () => {
  const chunk = bloscChunk(0x10, 1, 4, 4, "14000000 04000000 01020304");
  const decoded = await bloscOf("lz4", 0, 1).decode(chunk, decodedOf(4));
  assert.deepEqual([...decoded], [1, 2, 3, 4]);
});
