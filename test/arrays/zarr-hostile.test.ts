/** Chunks and metadata broken at random or on purpose: a TensorError, or values; and no memory for an empty promise. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { isTensorError, type ErrorCode } from "../../src/core/errors.ts";
import { product } from "../../src/core/tensor/shape.ts";
import { full } from "../../src/core/tensor/tensor.ts";
import { makeDeflateCodec } from "../../src/arrays/zarr/codecs/gzip.ts";
import { parseJson, printJson, type Json, type JsonObject } from "../../src/arrays/zarr/json.ts";
import { printMetadata, type Codec } from "../../src/arrays/zarr/metadata.ts";
import type { CreateOptions } from "../../src/arrays/zarr/create.ts";
import { caseCount } from "../support/cases.ts";
import { arrayInMemory, arrayOf, MemoryStore } from "../support/memory-store.ts";
import { hexBytes } from "../support/npy-file.ts";
import { randomFrom, randomTensor, type Random } from "../support/random.ts";
import { assertRejected } from "../support/refusal.ts";
import { missingCodecs } from "../support/zarr-cases.ts";

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
];

test("chunks of every codec are broken", () => assert.deepEqual(missingCodecs(CODECS), []));

/** Bytes with one thing wrong. */
function mutate(bytes: Uint8Array, random: Random): Uint8Array {
  const copy = bytes.slice();
  const at = random(Math.max(1, bytes.length));
  switch (random(5)) {
    case 0:
      return copy.subarray(0, at);
    case 1:
      return Uint8Array.from([...copy, ...copy.subarray(at)]);
    case 2:
      return Uint8Array.from([...copy.subarray(0, at), ...copy.subarray(at + 1 + random(4))]);
    case 3: {
      for (let i = at; i < Math.min(at + 8, copy.length); i++) copy[i] = random(2) * 255;
      return copy;
    }
    default:
      if (copy.length > 0) copy[at] ^= 1 << random(8);
      return copy;
  }
}

/** Browsers decompress by streams, which takes ten times as long. */
const TURNS = caseCount("process" in globalThis ? 400 : 200);

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
    const options: CreateOptions = {
      dtype: "int16",
      shape: SHAPE,
      chunkShape: [4, 4],
      shards,
      codecs,
    };
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
  const given: CreateOptions = { dtype: "uint8", shape: [4], chunkShape: [4], ...options };
  const { array, store } = arrayInMemory(given);
  store.objects.set("c/0", bytes);
  return array;
}

const GIB = 2 ** 30;
const LARGE: Partial<CreateOptions> = { shape: [3 * GIB], chunkShape: [3 * GIB] };

// prettier-ignore
const CHUNKS: readonly (readonly [string, Partial<CreateOptions>, Uint8Array, RegExp, ErrorCode?])[] = [
  ["too few bytes", {}, new Uint8Array(3), /^the chunk c\/0 of memory has 3 bytes, but its elements take 4$/],
  ["too many bytes", {}, new Uint8Array(5), /has 5 bytes, but/],
  ["3 GB that are not there", LARGE, new Uint8Array(5), /has 5 bytes, but its elements take 3221225472/],
  ["3 GB in five bytes of gzip", { ...LARGE, codecs: ["gzip"] }, new Uint8Array(5), /has 5 bytes encoded with gzip, too few for/],
  ["3 GB in five bytes of zstd", { ...LARGE, codecs: ["zstd"] }, new Uint8Array(5), /has 5 bytes encoded with zstd, too few for/],
  ["3 GB in five bytes of blosc", { ...LARGE, codecs: ["blosc"] }, new Uint8Array(5), /has 5 bytes encoded with blosc, too few for/],
  ["a file far larger than its elements", { codecs: ["gzip"] }, new Uint8Array(10_000), /more than its elements can take/],
  ["no gzip", { codecs: ["gzip"] }, new Uint8Array(20), /cannot be decoded with gzip: incorrect header|cannot be decoded with gzip/],
  ["a wrong checksum", { codecs: ["crc32c"] }, new Uint8Array(8), /cannot be decoded with crc32c: its checksum is wrong/],
  ["a bool of 2", { dtype: "bool" }, Uint8Array.of(2, 1, 0, 0), /has the byte 2 where a bool must be 0 or 1/],
  ["a shard without an index", { shards: [4] }, new Uint8Array(19), /has 19 bytes, fewer than its index of 20/],
  ["an index with a wrong checksum", { shards: [4] }, new Uint8Array(20), /the index of the chunk c\/0 .* checksum is wrong/],
];

for (const [name, options, bytes, says, code = "malformed-file"] of CHUNKS) {
  test(`a chunk with ${name} is refused`, async () => {
    const array = withChunk(options, bytes);
    await assertRejected(code, says, () => array.read([0], [1]));
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
  const options: CreateOptions = {
    dtype: "uint8",
    shape: [40_000],
    chunkShape: [40_000],
    codecs: ["gzip"],
  };
  const { array, store } = arrayInMemory(options);
  // Cut to a size that such a chunk may have, it still makes 37 MB before it ends.
  store.objects.set("c/0", gzip.subarray(0, 37_000));
  await assertRejected("malformed-file", /cannot be decoded with gzip|not 40000/, () =>
    array.read(),
  );
});

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
  return arrayOf(
    {
      zarr_format: 3,
      node_type: "array",
      shape: [4],
      data_type: "uint8",
      chunk_grid: { name: "regular", configuration: { chunk_shape: [4] } },
      chunk_key_encoding: "default",
      codecs: [{ name: "sharding_indexed", configuration: sharding }],
      fill_value: 9,
    },
    store,
  );
}

const NONE = 2n ** 64n - 1n;

test("an index may leave gaps, share bytes and leave chunks out", async () => {
  const array = withShard(shardOf([1n, 2n, NONE, NONE], "00010203"));
  assert.deepEqual([...(await array.read()).data], [1, 2, 9, 9]);
  const shared = withShard(shardOf([1n, 2n, 1n, 2n], "00010203"));
  assert.deepEqual([...(await shared.read()).data], [1, 2, 1, 2]);
});

// prettier-ignore
const INDEXES: readonly (readonly [string, readonly bigint[], RegExp])[] = [
  ["leads out of the shard", [37n, 2n, 0n, 2n], /inner chunk 0 .* ends at byte 39, beyond the 36 bytes of the shard/],
  ["has a huge offset", [2n ** 63n, 2n, 0n, 2n], /inner chunk 0 .* ends at/],
  ["has a huge size", [0n, 2n ** 64n - 2n, 0n, 2n], /inner chunk 0 .* ends at/],
  ["misses an offset alone", [NONE, 2n, 0n, 2n], /inner chunk 0 .* ends at/],
  ["has another size than the chunk", [0n, 2n, 0n, 3n], /inner chunk 1 of the chunk c\/0 of memory has 3 bytes/],
];

for (const [name, index, says] of INDEXES) {
  test(`an index that ${name} is refused`, async () => {
    const array = withShard(shardOf(index, "00010203"));
    await assertRejected("malformed-file", says, () => array.read());
  });
}
