/**
 * Arrays of Zarr in memory: whatever the data type, the shape, the chunks and the codecs are, boxes read back are those of
 * a plain array of elements; and what is asked of a store.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ErrorCode } from "../../src/core/errors.ts";
import { DTYPES } from "../../src/core/tensor/dtype.ts";
import { coordinatesOf } from "../../src/core/tensor/shape.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { full, tensor } from "../../src/core/tensor/tensor.ts";
import { Buffers } from "../../src/arrays/zarr/chunks/buffers.ts";
import { encodeChunk } from "../../src/arrays/zarr/chunks/encode.ts";
import { makePipeline } from "../../src/arrays/zarr/chunks/pipeline.ts";
import type { JsonObject } from "../../src/arrays/zarr/json.ts";
import type { CreateOptions } from "../../src/arrays/zarr/create.ts";
import { parseJson, printJson } from "../../src/arrays/zarr/json.ts";
import { printMetadata } from "../../src/arrays/zarr/metadata.ts";
import { caseCount } from "../support/cases.ts";
import { setLimits, withLimits } from "../support/limits.ts";
import { checkBoxes, elements, zarrCases } from "../support/zarr-cases.ts";
import { arrayInMemory, arrayOf } from "../support/memory-store.ts";
import { assertRejected } from "../support/refusal.ts";

test("boxes that are written and read are those of a plain array", async () => {
  await fc.assert(
    fc.asyncProperty(zarrCases, (one) =>
      withLimits(one.seed, () => checkBoxes(one, async (options) => arrayInMemory(options).array)),
    ),
    { numRuns: caseCount(600) },
  );
});

const ROWS: CreateOptions = { dtype: "float32", shape: [10, 4], chunkShape: [4, 4] };
const bytesFor = (count: number): Uint8Array =>
  new Uint8Array(Float32Array.from({ length: count }, (_, at) => at + 1).buffer);

test("a chunk at the end of an axis is stored as a whole one, padded with the fill value", async () => {
  for (const codecs of [[], ["crc32c"]]) {
    const { array, store } = arrayInMemory({ ...ROWS, codecs, fillValue: 7 });
    await array.writeChunk([2, 0], bytesFor(8));
    const stored = store.objects.get("c/2/0")?.slice(0, 64);
    const values = [...new Float32Array(stored?.buffer ?? new ArrayBuffer(0))];
    assert.deepEqual(values, [1, 2, 3, 4, 5, 6, 7, 8, 7, 7, 7, 7, 7, 7, 7, 7]);
    const into = new Uint8Array(32);
    assert.equal(await array.readChunk([2, 0], into), true);
    assert.deepEqual(into, bytesFor(8));
  }
});

test("a chunk at the end of an axis is padded however much it lacks", async () => {
  const lengths = fc.integer({ min: 1, max: 40 });
  const dtypes = fc.constantFrom("uint8", "int16", "int64");
  await fc.assert(
    fc.asyncProperty(dtypes, lengths, lengths, fc.nat(3), async (dtype, length, chunk, pieces) => {
      const restore = setLimits({ ZARR: { padding: 16 * (pieces + 1) } });
      try {
        const options = { dtype, shape: [length], chunkShape: [chunk], fillValue: 3 } as const;
        const { array, store } = arrayInMemory(options);
        const values = full(dtype, [length], 5);
        await array.write(values);
        const last = Math.ceil(length / chunk) - 1;
        const stored = store.objects.get(`c/${last}`) ?? assert.fail();
        assert.equal(stored.length, chunk * DTYPES[dtype].bytes);
        const whole = full(dtype, [chunk], 3);
        elements(whole).set(elements(values).subarray(last * chunk * DTYPES[dtype].bytes));
        assert.deepEqual([...stored], [...elements(whole)]);
        assert.ok(equals(await array.read(), values));
      } finally {
        restore();
      }
    }),
  );
});

test("transpositions follow one another, from the first codec to the last", async () => {
  const orders = fc.shuffledSubarray([0, 1, 2], { minLength: 3 });
  await fc.assert(
    fc.asyncProperty(orders, orders, orders, async (...all) => {
      const codecs = all.map((order) => ({ name: "transpose", configuration: { order } }));
      const shape = [2, 3, 4];
      const { array, store } = arrayInMemory({ dtype: "uint8", shape, chunkShape: shape, codecs });
      const values = Uint8Array.from({ length: 24 }, (_, at) => at + 1);
      await array.write(tensor("uint8", shape, values));
      // Axis i of what a transposition makes is axis order[i] of what it is given.
      let stored = { shape, values: [...values] };
      for (const order of all) {
        const turned = order.map((from) => stored.shape[from]);
        const at = (coordinates: readonly number[]): number =>
          coordinates.reduce((sum, one, d) => sum * stored.shape[d] + one, 0);
        const positions = Array.from({ length: 24 }, (_, position) =>
          coordinatesOf(position, turned),
        );
        const next = positions.map(
          (to) => stored.values[at(stored.shape.map((_, d) => to[order.indexOf(d)]))],
        );
        stored = { shape: turned, values: next };
      }
      assert.deepEqual([...(store.objects.get("c/0/0/0") ?? [])], stored.values);
      assert.deepEqual([...(await array.read()).data], [...values]);
    }),
    { numRuns: 40 },
  );
});

test("a chunk that is not stored is the fill value", async () => {
  const { array } = arrayInMemory({ ...ROWS, fillValue: -1.5 });
  const into = new Uint8Array(32).fill(9);
  assert.equal(await array.readChunk([2, 0], into), false);
  assert.deepEqual(
    [...new Float32Array(into.buffer)],
    Array.from({ length: 8 }, () => -1.5),
  );
});

/** Boxes of an array of two chunks [4, 4] of float32, and what is read of the chunks: chunk, first byte, bytes. */
// prettier-ignore
const READS: readonly (readonly [start: number[], shape: number[], expected: readonly [string, number, number][]])[] = [
  [[5, 1], [1, 2], [["c/1/0", 20, 8]]],
  // Rows of which a box has a part are read as a whole.
  [[5, 1], [2, 2], [["c/1/0", 16, 32]]],
  [[4, 0], [4, 4], [["c/1/0", 0, 64]]],
  [[3, 1], [2, 2], [["c/0/0", 52, 8], ["c/1/0", 4, 8]]],
  [[2, 0], [3, 1], [["c/0/0", 32, 32], ["c/1/0", 0, 4]]],
];

for (const [start, box, expected] of READS) {
  test(`of uncompressed chunks only the rows of the box [${box}] at [${start}] are read`, async () => {
    const { array, store } = arrayInMemory({ ...ROWS, shape: [8, 4] });
    const values = Float32Array.from({ length: 32 }, (_, at) => at);
    await array.write(tensor("float32", [8, 4], values));
    const read = await array.read(start, box);
    const found = store.reads.map(({ key, offset, length }) => [key, offset, length]);
    assert.deepEqual(found.toSorted(), expected);
    const cells = Array.from({ length: box[0] * box[1] }, (_, at) => coordinatesOf(at, box));
    const at = cells.map(([row, column]) => (start[0] + row) * 4 + start[1] + column);
    assert.deepEqual([...read.data], at);
    store.reads.length = 0;
    const into = new Uint8Array(4 * at.length);
    await array.readBytes(start, box, into);
    assert.deepEqual(
      store.reads.map(({ key, offset, length }) => [key, offset, length]).toSorted(),
      expected,
    );
    assert.deepEqual(into, elements(read));
  });
}

test("an index may stand before the chunks of a shard, in the other byte order", async () => {
  const endian = (name: string) => ({ name: "bytes", configuration: { endian: name } });
  const inner = { chunk_shape: [2], codecs: [endian("big")], index_codecs: [endian("big")] };
  const shards = { name: "sharding_indexed", configuration: { ...inner, index_location: "start" } };
  const options: CreateOptions = { dtype: "int16", shape: [6], chunkShape: [6], codecs: [shards] };
  const { array, store } = arrayInMemory({ ...options, fillValue: 9 });
  const values = tensor("int16", [6], [1, 2, 9, 9, 3, -2]);
  await array.write(values);
  // Offsets and sizes of three chunks, 48 bytes; the second chunk is not stored.
  const number = (value: number): number[] => [0, 0, 0, 0, 0, 0, 0, value];
  const missing = Array.from({ length: 16 }, () => 255);
  const index = [...number(48), ...number(4), ...missing, ...number(52), ...number(4)];
  const stored = [...index, 0, 1, 0, 2, 0, 3, 255, 254];
  assert.deepEqual([...(store.objects.get("c/0") ?? [])], stored);
  assert.ok(equals(await array.read(), values));
  store.reads.length = 0;
  assert.deepEqual([...(await array.read([5], [1])).data], [-2]);
  const parts = [0, 54].map((offset, at) => ({ key: "c/0", offset, length: [48, 2][at] }));
  assert.deepEqual(store.reads, parts);
});

/** Offsets and sizes in the order in which TensorStore stores the index of the shard below, for orders of its axes. */
// prettier-ignore
const TURNED: readonly (readonly [readonly number[], readonly number[]])[] = [
  [[2, 0, 1], [0, -1, 2, 4, 6, 8, 2, -1, 2, 2, 2, 2]],
  [[1, 2, 0], [0, 4, 2, 2, -1, 6, -1, 2, 2, 8, 2, 2]],
];

for (const [order, index] of TURNED) {
  test(`the axes of a shard's index are stored in the order [${order.join(", ")}]`, async () => {
    const configuration: JsonObject = {
      chunk_shape: [1, 2],
      codecs: ["bytes"],
      index_codecs: [
        { name: "transpose", configuration: { order: [...order] } },
        { name: "bytes", configuration: { endian: "little" } },
      ],
    };
    const codecs = [{ name: "sharding_indexed", configuration }];
    const shape = [2, 6];
    const { array, store } = arrayInMemory({ dtype: "uint8", shape, chunkShape: shape, codecs });
    const values = tensor("uint8", shape, [1, 2, 0, 0, 5, 6, 7, 8, 9, 10, 11, 12]);
    await array.write(values);
    const entries = new Uint8Array(BigInt64Array.from(index, BigInt).buffer);
    const chunks = [1, 2, 5, 6, 7, 8, 9, 10, 11, 12];
    assert.deepEqual(store.objects.get("c/0/0"), Uint8Array.of(...chunks, ...entries));
    assert.ok(equals(await array.read(), values));
  });
}

test("of a shard that has far more in it than chunks only these are read", async () => {
  const options: CreateOptions = { dtype: "uint8", shape: [4], chunkShape: [2], shards: [4] };
  const { array, store } = arrayInMemory(options);
  await array.write(tensor("uint8", [4], [1, 2, 3, 4]));
  const shard = store.objects.get("c/0") ?? assert.fail();
  store.objects.set("c/0", Uint8Array.from([...shard.subarray(0, 4), 0, ...shard.subarray(4)]));
  store.reads.length = 0;
  assert.deepEqual([...(await array.read()).data], [1, 2, 3, 4]);
  // The index of 2 × 16 bytes and a checksum, then each chunk.
  const lengths = store.reads.map(({ length }) => length);
  assert.deepEqual(lengths, [36, 2, 2]);
});

test("of a shard only the index and the chunks of a box are read", async () => {
  const shapes = { shape: [8, 8], chunkShape: [2, 2], shards: [8, 8] };
  const { array, store } = arrayInMemory({ dtype: "uint8", ...shapes, fillValue: 9 });
  const bytes = Uint8Array.from({ length: 64 }, (_, at) => at);
  await array.writeChunk([0, 0], bytes);
  const index = 16 * 16 + 4;
  assert.equal(store.objects.get("c/0/0")?.length, 64 + index);
  store.reads.length = 0;
  const part = await array.read([4, 2], [2, 2]);
  assert.deepEqual([...part.data], [34, 35, 42, 43]);
  assert.deepEqual(store.reads, [
    { key: "c/0/0", offset: 64, length: index },
    { key: "c/0/0", offset: 4 * 9, length: 4 },
  ]);
  store.reads.length = 0;
  await array.read();
  assert.deepEqual(
    store.reads.map(({ length }) => length),
    [index, 64 + index],
  );
});

test("chunks of a shard that are nothing but the fill value are not stored", async () => {
  const options: CreateOptions = { dtype: "int16", shape: [6], chunkShape: [2], shards: [6] };
  const { array, store } = arrayInMemory({ ...options, fillValue: 5 });
  await array.write(tensor("int16", [6], [5, 5, 1, 2, 5, 5]));
  const shard = store.objects.get("c/0") ?? new Uint8Array(0);
  assert.equal(shard.length, 4 + 3 * 16 + 4);
  const index = new BigUint64Array(shard.slice(4, 52).buffer);
  const missing = 2n ** 64n - 1n;
  assert.deepEqual([...index], [missing, missing, 0n, 4n, missing, missing]);
  assert.deepEqual([...(await array.read()).data], [5, 5, 1, 2, 5, 5]);
});

test("a chunk is staged, copied, published and discarded", async () => {
  const { array, store } = arrayInMemory({ ...ROWS, codecs: ["zstd"] });
  const other = arrayInMemory({ ...ROWS, codecs: ["zstd"] });
  await array.stageChunk([0, 0], bytesFor(16), "one");
  assert.deepEqual([...store.objects.keys()], [".ndscatter/one"]);
  assert.equal(await array.publishChunk([0, 0], "one"), true);
  assert.equal(await array.publishChunk([0, 0], "one"), false);
  assert.deepEqual(elements(await array.read([0, 0], [4, 4])), bytesFor(16));
  assert.equal(await other.array.stageCopy(array, [0, 0], "copy"), true);
  assert.equal(await other.array.stageCopy(array, [1, 0], "none"), false);
  assert.deepEqual(other.store.objects.get(".ndscatter/copy"), store.objects.get("c/0/0"));
  const gzip = arrayInMemory({ ...ROWS, codecs: ["gzip"] }).array;
  assert.equal(await gzip.stageCopy(array, [0, 0], "other"), false, "another encoding");
  const filled = arrayInMemory({ ...ROWS, codecs: ["zstd"], fillValue: 1 }).array;
  assert.equal(await filled.stageCopy(array, [0, 0], "other"), false, "another fill value");
  await other.array.discard("copy");
  await other.array.discard("never-there");
  await array.stageChunk([1, 0], bytesFor(16), "two");
  await array.endStaging();
  assert.deepEqual([...store.objects.keys()], ["c/0/0"]);
});

test("names of staged chunks cannot lead elsewhere", async () => {
  const { array } = arrayInMemory(ROWS);
  const names = ["../c/0/0", "a/b", "", ".", "..", ".hidden", "a\0", "zarr.json", "x".repeat(201)];
  for (const name of names) {
    const stage = () => array.stageChunk([0, 0], bytesFor(16), name);
    await assertRejected("attribute", {}, stage);
    await assertRejected("attribute", {}, () => array.publishChunk([0, 0], name));
    await assertRejected("attribute", {}, () => array.discard(name));
  }
});

test("what is stored is counted, and nothing else", async () => {
  const { array, store } = arrayInMemory(ROWS);
  await array.write(full("float32", [10, 4], 1));
  const others = "zarr.json c/3/0 c/0/0/0 c/00/0 c/0 x/0/0 c/0/0.tmp .ndscatter/a".split(" ");
  for (const key of others) {
    store.objects.set(key, new Uint8Array(5));
  }
  assert.deepEqual(await array.stored(), { chunks: 3, bytes: 3 * 64 });
});

test("arguments are checked before anything is read or written", async () => {
  const { array, store } = arrayInMemory(ROWS);
  const short = new Uint8Array(63);
  const [at, values] = [[0, 0], full("float32", [1, 4], 0)];
  const refused: readonly (readonly [ErrorCode, () => Promise<unknown>])[] = [
    ["index-out-of-range", () => array.readChunk([3, 0], bytesFor(16))],
    ["rank", () => array.readChunk([0], bytesFor(16))],
    ["rank", () => array.readChunk("x" as never, short)],
    ["shape-mismatch", () => array.readChunk(at, short)],
    ["shape-mismatch", () => array.readChunk(at, "x" as never)],
    ["shape-mismatch", () => array.writeChunk(at, short)],
    ["shape-mismatch", () => array.writeChunk(at, null as never)],
    ["shape-mismatch", () => array.readBytes([-1, 0], [1, 1], short)],
    ["index-out-of-range", () => array.read([9, 0], [2, 1])],
    ["index-out-of-range", () => array.write(values, [0, 1])],
    ["dtype", () => array.write(full("float64", [1, 4], 0) as never)],
    ["rank", () => array.write(full("float32", [4], 0))],
  ];
  for (const [code, action] of refused) await assertRejected(code, {}, action);
  assert.equal(store.objects.size + store.reads.length, 0);
});

test("a codec that cannot encode says so, and what it was given", async () => {
  const { array, store } = arrayInMemory({ ...ROWS, codecs: ["blosc"] });
  const json = parseJson(new TextEncoder().encode(printMetadata(array.metadata)), "zarr.json");
  const text = printJson(json).replace('"zstd"', '"snappy"');
  const other = arrayOf(parseJson(new TextEncoder().encode(text), "zarr.json"), store);
  await assertRejected("attribute", {}, () => other.writeChunk([0, 0], bytesFor(16)));
  const { dtype, chunkShape, codecs, fill } = other.metadata;
  const pipeline = makePipeline(dtype, chunkShape, codecs, "memory");
  await assertRejected("engine", {}, () =>
    encodeChunk(pipeline, bytesFor(16), fill, new Buffers()),
  );
  assert.equal(store.objects.size, 0);
});
