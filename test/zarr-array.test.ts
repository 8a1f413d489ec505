/**
 * Arrays of Zarr in memory: whatever the data type, the shape, the chunks and the codecs are, boxes read back are those of
 * a plain array of elements; and what is asked of a store.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { product } from "../src/tensor/shape.ts";
import { DTYPE_NAMES, DTYPES, isNumericStorage, type DType } from "../src/tensor/dtype.ts";
import { bytesOf } from "../src/tensor/storage.ts";
import { full, tensor, type Tensor } from "../src/tensor/tensor.ts";
import type { CreateOptions } from "../src/zarr/create.ts";
import type { Codec } from "../src/zarr/metadata.ts";
import { arrayInMemory } from "./support/memory-store.ts";
import { randomFrom, randomTensor } from "./support/random.ts";
import { assertRejected } from "./support/refusal.ts";

const NUMERIC = DTYPE_NAMES.filter((dtype) => dtype !== "string");

const elements = ({ data }: Tensor): Uint8Array =>
  isNumericStorage(data) ? bytesOf(data) : assert.fail();

/** The bytes of a box, element by element. */
function boxOf(
  bytes: Uint8Array,
  shape: readonly number[],
  start: readonly number[],
  box: readonly number[],
  width: number,
): number[] {
  const result: number[] = [];
  const visit = (axis: number, position: number): void => {
    if (axis === shape.length) {
      result.push(...bytes.subarray(position * width, (position + 1) * width));
      return;
    }
    for (let i = 0; i < box[axis]; i++) visit(axis + 1, position * shape[axis] + start[axis] + i);
  };
  visit(0, 0);
  return result;
}

const axis = fc.record({
  dim: fc.integer({ min: 0, max: 9 }),
  chunk: fc.integer({ min: 1, max: 4 }),
  perShard: fc.integer({ min: 1, max: 3 }),
  start: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.double({ min: 0, max: 1, noNaN: true }),
});

const compression = fc.constantFrom<readonly (string | Codec)[]>(
  [],
  ["crc32c"],
  ["gzip"],
  ["zstd"],
  ["blosc"],
  [{ name: "blosc", configuration: { cname: "lz4", shuffle: "bitshuffle" } }],
  ["zstd", "crc32c"],
  ["gzip", "zstd"],
);

const cases = fc.record({
  dtype: fc.constantFrom(...NUMERIC),
  axes: fc.array(axis, { maxLength: 4 }),
  isSharded: fc.boolean(),
  isTransposed: fc.boolean(),
  endian: fc.constantFrom("little", "big"),
  compression,
  seed: fc.nat(),
});

type Case = typeof cases extends fc.Arbitrary<infer C> ? C : never;

function optionsOf({ dtype, axes, isSharded, isTransposed, endian, compression, seed }: Case) {
  const chunkShape = axes.map(({ chunk }) => chunk);
  const order = axes.map((_, d) => (d + seed) % axes.length);
  const codecs = [
    ...(isTransposed ? [{ name: "transpose", configuration: { order } }] : []),
    { name: "bytes", configuration: { endian } },
    ...compression,
  ];
  const shards = isSharded ? axes.map(({ chunk, perShard }) => chunk * perShard) : null;
  return { dtype, shape: axes.map(({ dim }) => dim), chunkShape, shards, codecs };
}

test("boxes that are written and read are those of a plain array", async () => {
  await fc.assert(
    fc.asyncProperty(cases, async (one) => {
      const { dtype, axes, seed } = one;
      const options = optionsOf(one);
      const { array } = arrayInMemory({ ...options, fillValue: fillOf(dtype) });
      const { bytes: width } = DTYPES[dtype];
      const { shape } = options;
      const model = elements(full(dtype, shape, fillOf(dtype) as never)).slice();
      const random = randomFrom(seed);
      for (let turn = 0; turn < 3; turn++) {
        const start = axes.map(({ start, dim }) => Math.floor(((start * (turn + 1)) % 1) * dim));
        const box = axes.map(({ length, dim }, d) => Math.ceil(length * (dim - start[d])));
        const values = randomTensor(dtype, box, random);
        await array.write(values, start);
        const source = elements(values);
        // The box of the model is replaced, element by element.
        const positions = boxOf(numbered(shape), shape, start, box, 4);
        const places = new Uint32Array(Uint8Array.from(positions).buffer);
        for (const [at, place] of places.entries()) {
          model.set(source.subarray(at * width, (at + 1) * width), place * width);
        }
        const read = await array.read(start, box);
        assert.deepEqual([...elements(read)], [...source]);
      }
      const whole = await array.read();
      assert.deepEqual([...elements(whole)], [...model]);
      const start = shape.map((dim) => random(dim + 1));
      const box = shape.map((dim, d) => random(dim - start[d] + 1));
      const into = new Uint8Array(product(box) * width);
      await array.readBytes(start, box, into);
      assert.deepEqual([...into], boxOf(model, shape, start, box, width));
    }),
    { numRuns: 150 },
  );
});

/** The number of each element, as bytes. */
const numbered = (shape: readonly number[]): Uint8Array =>
  new Uint8Array(Uint32Array.from({ length: product(shape) }, (_, at) => at).buffer);

const fillOf = (dtype: DType): CreateOptions["fillValue"] & {} => {
  const { family } = DTYPES[dtype];
  if (family === "bool") return true;
  return family === "complex" ? [1, -2] : 1;
};

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

test("a chunk that is not stored is the fill value", async () => {
  const { array } = arrayInMemory({ ...ROWS, fillValue: -1.5 });
  const into = new Uint8Array(32).fill(9);
  assert.equal(await array.readChunk([2, 0], into), false);
  assert.deepEqual(
    [...new Float32Array(into.buffer)],
    Array.from({ length: 8 }, () => -1.5),
  );
});

test("of an uncompressed chunk only the rows of a box are read, straight into their place", async () => {
  const { array, store } = arrayInMemory(ROWS);
  await array.writeChunk([1, 0], bytesFor(16));
  const into = new Uint8Array(32);
  await array.readBytes([5, 0], [2, 4], into);
  assert.deepEqual(store.reads, [{ key: "c/1/0", offset: 16, length: 32 }]);
  assert.deepEqual(into, bytesFor(16).slice(16, 48));
});

test("of a shard only the index and the chunks of a box are read", async () => {
  const options: CreateOptions = {
    dtype: "uint8",
    shape: [8, 8],
    chunkShape: [2, 2],
    shards: [8, 8],
  };
  const { array, store } = arrayInMemory({ ...options, fillValue: 9 });
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
  for (const name of [
    "../c/0/0",
    "a/b",
    "",
    ".",
    "..",
    ".hidden",
    "a\0",
    "zarr.json",
    "x".repeat(201),
  ]) {
    const stage = () => array.stageChunk([0, 0], bytesFor(16), name);
    await assertRejected("attribute", /staged/, stage);
    await assertRejected("attribute", /staged/, () => array.publishChunk([0, 0], name));
    await assertRejected("attribute", /staged/, () => array.discard(name));
  }
});

test("what is stored is counted, and nothing else", async () => {
  const { array, store } = arrayInMemory(ROWS);
  await array.write(full("float32", [10, 4], 1));
  for (const key of [
    "zarr.json",
    "c/3/0",
    "c/0/0/0",
    "c/00/0",
    "c/0",
    "x/0/0",
    "c/0/0.tmp",
    ".ndscatter/a",
  ]) {
    store.objects.set(key, new Uint8Array(5));
  }
  assert.deepEqual(await array.stored(), { chunks: 3, bytes: 3 * 64 });
});

test("arguments are checked before anything is read or written", async () => {
  const { array, store } = arrayInMemory(ROWS);
  const short = new Uint8Array(63);
  const at = [0, 0];
  await assertRejected("index-out-of-range", /no chunk \[3, 0\]; .* \[3, 1\] chunks/, () =>
    array.readChunk([3, 0], bytesFor(16)),
  );
  await assertRejected("rank", /list of 2 integers, got 1/, () =>
    array.readChunk([0], bytesFor(16)),
  );
  await assertRejected("shape-mismatch", /at least 64 bytes.* got 63/, () =>
    array.readChunk(at, short),
  );
  await assertRejected("shape-mismatch", /at least 64 bytes.* got 63/, () =>
    array.writeChunk(at, short),
  );
  await assertRejected("shape-mismatch", /from 0 on, got -1/, () =>
    array.readBytes([-1, 0], [1, 1], short),
  );
  await assertRejected("index-out-of-range", /ends at 11 along axis 0/, () =>
    array.read([9, 0], [2, 1]),
  );
  await assertRejected("index-out-of-range", /along axis 1/, () =>
    array.write(full("float32", [1, 4], 0), [0, 1]),
  );
  await assertRejected("dtype", /values are float64, but the array is float32/, () =>
    array.write(full("float64", [1, 4], 0) as never),
  );
  await assertRejected("rank", /values have the shape \[4\]/, () =>
    array.write(full("float32", [4], 0)),
  );
  assert.equal(store.objects.size + store.reads.length, 0);
});

test("an array that is like another one has its type and encoding", () => {
  const { array } = arrayInMemory({
    ...ROWS,
    shards: [8, 4],
    codecs: ["gzip"],
    fillValue: 3,
    attributes: { unit: "m" },
  });
  const same = arrayInMemory({ like: array }).array;
  assert.deepEqual(same.metadata, array.metadata);
  const other = arrayInMemory({ like: array, dtype: "int64", shape: [3, 4], codecs: [] }).array;
  assert.equal(other.dtype, "int64");
  assert.deepEqual(other.innerChunkShape, [4, 4]);
  assert.equal(other.fillValue, 0n);
});
