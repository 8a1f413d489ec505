/** Arrays of Zarr as zarrita reads and writes them, which shares no code with this package but numcodecs. */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as zarrita from "zarrita";
import { DTYPES, isNumericStorage, type DType } from "../../src/core/tensor/dtype.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import type { CreateOptions } from "../../src/arrays/zarr/create.ts";
import { parseJson } from "../../src/arrays/zarr/json.ts";
import { printMetadata, type Codec } from "../../src/arrays/zarr/metadata.ts";
import { arrayInMemory, arrayOf, MemoryStore } from "../support/memory-store.ts";
import { randomFrom, randomTensor } from "../support/random.ts";

/** A store of zarrita over the objects of another one. */
const storeFor = (objects: Map<string, Uint8Array>) => {
  const get = (key: string): Uint8Array | undefined => objects.get(key.replace(/^\//, ""));
  return {
    get: async (key: zarrita.AbsolutePath) => get(key),
    getRange: async (
      key: zarrita.AbsolutePath,
      range: { offset: number; length: number } | { suffixLength: number },
    ) =>
      "suffixLength" in range
        ? get(key)?.slice(-range.suffixLength)
        : get(key)?.slice(range.offset, range.offset + range.length),
    set: async (key: zarrita.AbsolutePath, bytes: Uint8Array) => {
      objects.set(key.replace(/^\//, ""), bytes.slice());
    },
  };
};

/** The data types that zarrita has. Complex ones, and float16 without a Float16Array, it has not. */
const THEIRS = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split(
  " ",
) as readonly DType[];

const CODECS: readonly (readonly (string | Codec)[])[] = [
  [],
  ["crc32c"],
  ["gzip"],
  ["zstd"],
  ["blosc"],
  [{ name: "blosc", configuration: { cname: "lz4", shuffle: "bitshuffle" } }, "crc32c"],
  [{ name: "transpose", configuration: { order: [1, 0] } }, "zstd"],
  [{ name: "bytes", configuration: { endian: "big" } }, "gzip"],
];

const SHAPE = [11, 7];

const bytesOf = (data: ArrayBufferView): Uint8Array =>
  new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

/** The bytes of what zarrita has read. Its array of booleans is a class of its own. */
function bytesOfTheirs(data: unknown): Uint8Array {
  if (ArrayBuffer.isView(data)) return bytesOf(data);
  return Uint8Array.from(data as Iterable<boolean>, Number);
}

/** Elements in row-major order: zarrita leaves transposed chunks as they are. */
function rowMajor(bytes: Uint8Array, stride: readonly number[], width: number): Uint8Array {
  const rows = new Uint8Array(bytes.length);
  for (let position = 0; position < bytes.length / width; position++) {
    const from = Math.floor(position / SHAPE[1]) * stride[0] + (position % SHAPE[1]) * stride[1];
    rows.set(bytes.subarray(from * width, (from + 1) * width), position * width);
  }
  return rows;
}

for (const shards of [null, [8, 6]]) {
  for (const codecs of CODECS) {
    const named = codecs.map((codec) => (typeof codec === "string" ? codec : codec.name)).join();
    test(`zarrita reads ${shards === null ? "chunks" : "shards"} of ${named || "bytes"}`, async () => {
      for (const dtype of THEIRS) {
        const one: CreateOptions = { dtype, shape: SHAPE, chunkShape: [4, 3], shards, codecs };
        const { array, store } = arrayInMemory(one);
        const values = randomTensor(dtype, SHAPE, randomFrom(codecs.length));
        await array.write(values);
        // One chunk or shard is missing, and so is the fill value.
        store.objects.delete("c/0/0");
        const expected = await array.read();
        store.objects.set("zarr.json", new TextEncoder().encode(printMetadata(array.metadata)));
        const theirs = await zarrita.open(storeFor(store.objects), { kind: "array" });
        const { data, shape, stride } = await zarrita.get(theirs);
        assert.deepEqual(shape, SHAPE);
        if (!isNumericStorage(expected.data)) assert.fail();
        const { bytes: width } = DTYPES[dtype];
        assert.deepEqual(
          rowMajor(bytesOfTheirs(data), stride, width),
          bytesOf(expected.data),
          dtype,
        );
        assert.equal(equals(expected, values), false, "the missing chunk is the fill value");
      }
    });
  }
}

const LITTLE: Codec = { name: "bytes", configuration: { endian: "little" } };
const BLOSC = { cname: "lz4", clevel: 5, shuffle: "shuffle", blocksize: 0 };

const WRITTEN: readonly (readonly Codec[])[] = [
  [LITTLE],
  [{ name: "bytes", configuration: { endian: "big" } }],
  [{ name: "transpose", configuration: { order: "F" } }, LITTLE],
  [LITTLE, { name: "zstd", configuration: { level: 3 } }],
  [LITTLE, { name: "blosc", configuration: BLOSC }],
];

for (const codecs of WRITTEN) {
  const named = codecs.map((codec) => JSON.stringify(codec)).join();
  test(`what zarrita writes with ${named} is read`, async () => {
    // It makes no JSON of the fill values of 64-bit integers.
    for (const dtype of ["int16", "uint32", "float32", "float64"] as const) {
      const store = new MemoryStore();
      const values = randomTensor(dtype, SHAPE, randomFrom(5));
      const theirs = await zarrita.create(storeFor(store.objects), {
        shape: SHAPE,
        chunkShape: [4, 3],
        dtype,
        codecs: codecs as never,
        attributes: { unit: "m" },
      });
      const { data } = values;
      await zarrita.set(theirs, null, { data: data as never, shape: SHAPE, stride: [7, 1] });
      const text = store.objects.get("zarr.json") ?? assert.fail();
      const array = arrayOf(parseJson(text, "zarr.json"), store);
      assert.deepEqual(array.attributes["unit"], "m");
      assert.ok(equals(await array.read(), values), dtype);
    }
  });
}

test("a scalar is an array of no axes", async () => {
  const { array, store } = arrayInMemory({ dtype: "float64", shape: [], chunkShape: [] });
  await array.write(tensor("float64", [], 1.5));
  assert.deepEqual([...store.objects.keys()], ["c"]);
  store.objects.set("zarr.json", new TextEncoder().encode(printMetadata(array.metadata)));
  const theirs = await zarrita.open(storeFor(store.objects), { kind: "array" });
  assert.equal(await zarrita.get(theirs, []), 1.5);
});
