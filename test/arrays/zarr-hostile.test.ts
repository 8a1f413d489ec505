/** Chunks and metadata broken at random or on purpose: a TensorError, or values; and no memory for an empty promise. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { isTensorError, type ErrorCode } from "../../src/core/errors.ts";
import { product } from "../../src/core/tensor/shape.ts";
import { full } from "../../src/core/tensor/tensor.ts";
import { ZarrArray } from "../../src/arrays/zarr/array.ts";
import { makeDeflateCodec } from "../../src/arrays/zarr/codecs/gzip.ts";
import { makeBloscCodec } from "../../src/arrays/zarr/codecs/blosc.ts";
import { makeZstdCodec } from "../../src/arrays/zarr/codecs/zstd.ts";
import { parseJson, printJson, type Json, type JsonObject } from "../../src/arrays/zarr/json.ts";
import { printMetadata, type Codec } from "../../src/arrays/zarr/metadata.ts";
import type { CreateOptions } from "../../src/arrays/zarr/create.ts";
import { caseCount } from "../support/cases.ts";
import { arrayInMemory, arrayOf, MemoryStore } from "../support/memory-store.ts";
import { hexBytes } from "../support/npy-file.ts";
import { WITHOUT_NODE_ITSELF } from "../support/platform.ts";
import { randomFrom, randomTensor, type Random } from "../support/random.ts";
import { assertRejected } from "../support/refusal.ts";
import { decodedOf, missingCodecs, mutate } from "../support/zarr-cases.ts";

const SHAPE = [9, 8];

const blosc = (cname: string): Codec => ({
  name: "blosc",
  configuration: { cname, shuffle: "shuffle", blocksize: 64 },
});

const CODECS: readonly (readonly (string | Codec)[])[] = [
  [],
  ["crc32c"],
  ["gzip"],
  ["zstd"],
  [blosc("lz4")],
  [blosc("zstd")],
  [blosc("zlib")],
  ["zstd", "gzip"],
  ["numcodecs.shuffle", "numcodecs.lz4"],
  ["numcodecs.crc32"],
];

test("chunks of every codec are broken", () => assert.deepEqual(missingCodecs(CODECS), []));

/** Browsers decompress by streams, which takes ten times as long. */
const TURNS = caseCount("process" in globalThis ? 400 : 200, 8);

/** Whether a promise is kept. An error other than a TensorError fails the test. */
const isKept = async (action: () => Promise<unknown>): Promise<boolean> => {
  try {
    await action();
    return true;
  } catch (error) {
    if (isTensorError(error)) return false;
    throw error;
  }
};

for (const shards of [null, [4, 8]]) {
  for (const codecs of CODECS) {
    const named = printJson(codecs.map((one) => (typeof one === "string" ? one : { ...one })));
    test(`broken ${shards === null ? "chunks" : "shards"} of ${named}`, async () => {
      const random = randomFrom(codecs.length + (shards === null ? 0 : 50));
      let refused = 0;
      for (let turn = 0; turn < TURNS; turn++) {
        const dtype = turn % 3 === 0 ? "bool" : "int16";
        const options: CreateOptions = { dtype, shape: SHAPE, chunkShape: [4, 4], shards, codecs };
        const { array, store } = arrayInMemory(options);
        await array.write(randomTensor(dtype, SHAPE, random));
        for (const [key, bytes] of store.objects) store.objects.set(key, mutate(bytes, random));
        if (!(await isKept(() => array.read()))) refused++;
        await isKept(() => array.read([random(9), random(8)], [0, 0]));
        await isKept(() => array.read([3, 3], [3, 3]));
      }
      assert.ok(refused > TURNS / 8, `${refused} refused`);
    });
  }
}

// prettier-ignore
const HOSTILE: readonly Json[] = [
  null, true, -1, 0, 1, 1.5, 2 ** 31, 2 ** 32, 2 ** 53, 2n ** 64n, 1e308, NaN, "", "x", "NaN", "0xff", "zstd", "bytes",
  "sharding_indexed", [], [[]], [0], [-1], [2 ** 31, 2 ** 31], [1, 1], {}, { name: "gzip" }, { name: 4 }, "__proto__",
];

/** A value with one part replaced, taken away or added. */
function replaceIn(value: Json, random: Random): Json {
  if (random(4) === 0) return HOSTILE[random(HOSTILE.length)];
  if (Array.isArray(value)) {
    if (value.length === 0) return [HOSTILE[random(HOSTILE.length)]];
    const at = random(value.length);
    if (random(5) === 0) return value.toSpliced(at, 1);
    return value.with(at, replaceIn(value[at] as Json, random)) as Json;
  }
  if (typeof value !== "object" || value === null) return HOSTILE[random(HOSTILE.length)];
  const entries = Object.entries(value as JsonObject);
  if (entries.length === 0) return { x: HOSTILE[random(HOSTILE.length)] };
  const at = random(entries.length);
  const [name, part] = entries[at];
  if (random(8) === 0) return Object.fromEntries(entries.toSpliced(at, 1));
  return Object.fromEntries(entries.with(at, [name, replaceIn(part, random)]));
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

test("broken metadata are refused, or describe an array that can be read", async () => {
  const random = randomFrom(11);
  let refused = 0;
  for (let turn = 0; turn < 10 * TURNS; turn++) {
    const codecs = CODECS[random(CODECS.length)];
    const shards = random(2) === 0 ? null : [4, 8];
    const options = { dtype: "int16", shape: SHAPE, chunkShape: [4, 4], shards, codecs } as const;
    const { array, store } = arrayInMemory(options);
    await array.write(full("int16", SHAPE, 3));
    const text = printMetadata(array.metadata);
    const broken =
      turn % 2 === 0
        ? mutate(utf8(text), random)
        : utf8(printJson(replaceIn(parseJson(utf8(text), "it"), random)));
    const isRead = await isKept(async () => {
      const other = arrayOf(parseJson(broken, "zarr.json"), store);
      const box = other.shape.map((dim) => Math.min(dim, 2));
      if (product(box) < 1000)
        await other.read(
          box.map(() => 0),
          box,
        );
    });
    if (!isRead) refused++;
  }
  assert.ok(refused > 2.5 * TURNS, `${refused} refused`);
});

/** An array of one chunk with these bytes. */
function withChunk(options: Partial<CreateOptions>, bytes: Uint8Array) {
  const { shape = [4], chunkShape = [4], ...given } = options;
  const { array, store } = arrayInMemory({ dtype: "uint8", shape: [4], chunkShape: [4], ...given });
  store.objects.set("c/0", bytes);
  // Some codecs could not write chunks as large as these.
  return new ZarrArray(store, { ...array.metadata, shape, chunkShape }, "");
}

const GIB = 2 ** 30;
const LARGE: Partial<CreateOptions> = { shape: [3 * GIB], chunkShape: [3 * GIB] };

// prettier-ignore
const CHUNKS: readonly (readonly [string, Partial<CreateOptions>, Uint8Array, ErrorCode?])[] = [
  ["too few bytes", {}, new Uint8Array(3)],
  ["too many bytes", {}, new Uint8Array(5)],
  ["3 GB that are not there", LARGE, new Uint8Array(5)],
  ["3 GB in five bytes of gzip", { ...LARGE, codecs: ["gzip"] }, new Uint8Array(5)],
  ["3 GB in five bytes of zstd", { ...LARGE, codecs: ["zstd"] }, new Uint8Array(5)],
  ["3 GB in five bytes of blosc", { ...LARGE, codecs: ["blosc"] }, new Uint8Array(5)],
  ["a file far larger than its elements", { codecs: ["gzip"] }, new Uint8Array(10_000)],
  ["no gzip", { codecs: ["gzip"] }, new Uint8Array(20)],
  ["a wrong checksum", { codecs: ["crc32c"] }, new Uint8Array(8)],
  ["a bool of 2", { dtype: "bool" }, Uint8Array.of(2, 1, 0, 0)],
  ["a shard without an index", { shards: [4] }, new Uint8Array(19)],
  ["an index with a wrong checksum", { shards: [4] }, new Uint8Array(20)],
];

for (const [name, options, bytes, code = "malformed-file"] of CHUNKS) {
  test(`a chunk with ${name} is refused`, async () => {
    const array = withChunk(options, bytes);
    await assertRejected(code, {}, () => array.read([0], [1]));
  });
}

test("the upper bits of a byte of 4 or 2 bits mean nothing", async () => {
  const bytes = Uint8Array.of(0x7f, 0xf7, 0x08, 0x80);
  for (const [dtype, expected] of [
    ["int4", [-1, 7, -8, 0]],
    ["uint4", [15, 7, 8, 0]],
    ["int2", [-1, -1, 0, 0]],
    ["uint2", [3, 3, 0, 0]],
    ["float4e2m1", [15, 7, 8, 0]],
  ] as const) {
    assert.deepEqual([...(await withChunk({ dtype }, bytes).read()).data], expected);
  }
});

test("a bomb is not blown up", async () => {
  const zeros = new Uint8Array(50_000_000);
  const gzip = await makeDeflateCodec("gzip", 9).encode(zeros);
  assert.ok(gzip.length > 4100);
  const shape = [40_000];
  const options: CreateOptions = { dtype: "uint8", shape, chunkShape: shape, codecs: ["gzip"] };
  const { array, store } = arrayInMemory(options);
  // Cut to a size that such a chunk may have, it still makes 37 MB before it ends.
  store.objects.set("c/0", gzip.subarray(0, 37_000));
  await assertRejected("malformed-file", {}, () => array.read());
});

const LE32 = (...numbers: readonly number[]): number[] =>
  numbers.flatMap((one) => [...new Uint8Array(Uint32Array.of(one).buffer)]);

/** A zstd frame of 380 blocks of 128 kB that repeat one byte. @param size the declared size, if any */
function zstdBomb(size: number | null): Uint8Array {
  const head = size === null ? [0x00, 0x38] : [0x80, 0x38, ...LE32(size)];
  const blocks = Array.from({ length: 380 }, (_, at) => {
    const header = ((2 ** 17) << 3) | (1 << 1) | (at === 379 ? 1 : 0);
    return [...LE32(header).slice(0, 3), 7];
  });
  return Uint8Array.from([...LE32(0xfd2fb528), ...head, ...blocks.flat()]);
}

/** A chunk of blosc of one block, which holds a stream. @param format 3 for zlib, 4 for zstd */
const bloscOf = (size: number, format: number, stream: Uint8Array): Uint8Array =>
  Uint8Array.from([
    ...[2, 1, (format << 5) | 16, 1],
    ...LE32(size, size, 24 + stream.length, 20, stream.length),
    ...stream,
  ]);

type Grow = (this: unknown, pages: number) => number;

/**
 * Returns the bytes that decompressors allocate for their output: buffers of zlib, pages of WebAssembly, and pieces of
 * streams.
 */
async function inflatedBy(action: () => Promise<void>): Promise<number> {
  let bytes = 0;
  const { allocUnsafe } = Buffer;
  const { prototype: memory } = (
    Reflect.get(globalThis, "WebAssembly") as { Memory: { prototype: { grow: Grow } } }
  ).Memory;
  const { grow } = memory;
  const { DecompressionStream: Real } = globalThis;
  Buffer.allocUnsafe = (size) => {
    bytes += size;
    return allocUnsafe(size);
  };
  memory.grow = function (pages) {
    bytes += pages * 2 ** 16;
    return grow.call(this, pages);
  };
  class Counting extends TransformStream<Uint8Array, Uint8Array> {
    constructor() {
      super({
        transform: (piece, controller) => {
          bytes += piece.length;
          controller.enqueue(piece);
        },
      });
    }
  }
  globalThis.DecompressionStream = class {
    readonly readable: ReadableStream;
    readonly writable: WritableStream;
    constructor(format: "gzip" | "deflate") {
      const real = new Real(format);
      this.writable = real.writable;
      this.readable = real.readable.pipeThrough(new Counting());
    }
  } as typeof Real;
  try {
    await action();
  } finally {
    Object.assign(Buffer, { allocUnsafe });
    memory.grow = grow;
    globalThis.DecompressionStream = Real;
  }
  return bytes;
}

test(
  "no more of a bomb is inflated than the chunk may have",
  { skip: WITHOUT_NODE_ITSELF },
  async () => {
    const size = 40_000;
    const zeros = new Uint8Array(50_000_000);
    const [gzip, zlib, blosc] = [
      makeDeflateCodec("gzip", 9),
      makeDeflateCodec("zlib", 9),
      makeBloscCodec({ cname: "zlib", clevel: 5, shuffle: 0, typesize: 1, blocksize: 0 }),
    ];
    const [inGzip, inZlib] = [await gzip.encode(zeros), await zlib.encode(zeros)];
    const zstd = makeZstdCodec(3, false);
    // Loads the decoder of platforms whose zlib lacks zstd, whose memory grows at first.
    await zstd.decode(await zstd.encode(zeros.subarray(0, size)), decodedOf(size));
    const { getBuiltinModule } = process;
    const without = (name: string): unknown =>
      name === "node:zlib" ? undefined : getBuiltinModule(name);
    for (const [name, codec, bomb] of [
      ["gzip", gzip, inGzip],
      ["zlib", zlib, inZlib],
      ["zstd of no size", zstd, zstdBomb(null)],
      ["zstd of a wrong size", zstd, zstdBomb(size)],
      ["zstd of a large size", zstd, zstdBomb(380 * 2 ** 17)],
      ["blosc of a large size", blosc, bloscOf(zeros.length, 3, inZlib)],
      ["zlib in blosc", blosc, bloscOf(size, 3, inZlib)],
      ["zstd of no size in blosc", blosc, bloscOf(size, 4, zstdBomb(null))],
      ["zstd of a wrong size in blosc", blosc, bloscOf(size, 4, zstdBomb(size))],
    ] as const) {
      for (const hasZlib of name.includes("zstd") ? [true] : [true, false]) {
        if (!hasZlib) Object.assign(process, { getBuiltinModule: without });
        const inflated = await inflatedBy(() =>
          assert.rejects(codec.decode(bomb, decodedOf(size))),
        ).finally(() => Object.assign(process, { getBuiltinModule }));
        // A buffer of the chunk's size, and pieces of 16 to 128 kB.
        assert.ok(inflated < 2 ** 20, `${name}${hasZlib ? "" : " in a page"}: ${inflated} bytes`);
      }
    }
  },
);

const shardOf = (index: readonly bigint[], content: string): Uint8Array => {
  const bytes = hexBytes(content);
  const entries = new Uint8Array(BigUint64Array.from(index).buffer);
  return Uint8Array.from([...bytes, ...entries]);
};

/** An array of shards of two chunks, whose index has no checksum. */
function withShard(bytes: Uint8Array) {
  const little: JsonObject = { name: "bytes", configuration: { endian: "little" } };
  const store = new MemoryStore();
  store.objects.set("c/0", bytes);
  const sharding = { chunk_shape: [2], codecs: ["bytes"], index_codecs: [little] };
  const json = {
    ...{ zarr_format: 3, node_type: "array", shape: [4], data_type: "uint8", fill_value: 9 },
    chunk_grid: { name: "regular", configuration: { chunk_shape: [4] } },
    chunk_key_encoding: "default",
    codecs: [{ name: "sharding_indexed", configuration: sharding }],
  };
  return arrayOf(json, store);
}

const NONE = 2n ** 64n - 1n;

test("an index may leave gaps, share bytes and leave chunks out", async () => {
  const array = withShard(shardOf([1n, 2n, NONE, NONE], "00010203"));
  assert.deepEqual([...(await array.read()).data], [1, 2, 9, 9]);
  const shared = withShard(shardOf([1n, 2n, 1n, 2n], "00010203"));
  assert.deepEqual([...(await shared.read()).data], [1, 2, 1, 2]);
});

// prettier-ignore
const INDEXES: readonly (readonly [string, readonly bigint[]])[] = [
  ["leads out of the shard", [37n, 2n, 0n, 2n]],
  ["has a huge offset", [2n ** 63n, 2n, 0n, 2n]],
  ["has a huge size", [0n, 2n ** 64n - 2n, 0n, 2n]],
  ["misses an offset alone", [NONE, 2n, 0n, 2n]],
  ["has another size than the chunk", [0n, 2n, 0n, 3n]],
];

for (const [name, index] of INDEXES) {
  test(`an index that ${name} is refused`, async () => {
    const array = withShard(shardOf(index, "00010203"));
    await assertRejected("malformed-file", {}, () => array.read());
  });
}
