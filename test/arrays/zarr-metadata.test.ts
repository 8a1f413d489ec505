/** zarr.json and .zarray: what is read, in all forms that the specification has, and what is refused. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DTYPE_NAMES,
  DTYPES,
  storedRange,
  type DType,
  type Scalar,
} from "../../src/core/tensor/dtype.ts";
import { HAS_ALL } from "../support/cases.ts";
import { arrayOf as open, arrayInMemory } from "../support/memory-store.ts";
import { hexBytes } from "../support/npy-file.ts";
import { readKey } from "../../src/arrays/zarr/read-key.ts";
import { memorySource } from "../../src/arrays/zarr/stores/store.ts";
import { parseMetadataV2 } from "../../src/arrays/zarr/metadata-v2.ts";
import { SEED } from "../support/random.ts";
import { assertRefused, assertRejected } from "../support/refusal.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import {
  parseDataType,
  parseFillValue,
  printDataType,
  printFillValue,
} from "../../src/arrays/zarr/data-types.ts";
import { parseJson, printJson, type Json, type JsonObject } from "../../src/arrays/zarr/json.ts";

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const parse = (text: string): JsonObject => parseJson(utf8(text), "zarr.json");
const valueOf = (text: string): Json => parse(`{"value": ${text}}`)["value"];

const LITTLE: JsonObject = { name: "bytes", configuration: { endian: "little" } };

/** An array's metadata, as the specification's example has them. */
const V3: JsonObject = {
  ...{ zarr_format: 3, node_type: "array", shape: [10000, 1000], dimension_names: ["rows", null] },
  ...{ data_type: "float64", fill_value: "NaN", codecs: [LITTLE] },
  chunk_grid: { name: "regular", configuration: { chunk_shape: [1000, 100] } },
  chunk_key_encoding: { name: "default", configuration: { separator: "/" } },
  attributes: { foo: 42, bar: "apples", baz: [1, 2, 3, 4] },
};

const V2: JsonObject = {
  ...{ zarr_format: 2, shape: [20, 20], chunks: [10, 10], dtype: "<i4", order: "C" },
  ...{ compressor: null, fill_value: 42, filters: null },
};

const shards = (configuration: JsonObject): JsonObject => ({
  name: "sharding_indexed",
  configuration: {
    chunk_shape: [500, 50],
    codecs: [LITTLE],
    index_codecs: [LITTLE, "crc32c"],
    ...configuration,
  },
});

test("the example of the specification is read", () => {
  const array = open(V3);
  assert.deepEqual(
    [array.dtype, array.shape, array.chunkShape, array.version],
    ["float64", [10000, 1000], [1000, 100], 3],
  );
  assert.deepEqual(array.dimensionNames, ["rows", null]);
  assert.deepEqual(array.attributes, V3["attributes"]);
  assert.ok(Number.isNaN(array.fillValue));
  assert.equal(array.innerChunkShape, null);
});

test("an array of Zarr v2 is read, with its codecs in the words of v3", () => {
  const compressor = { id: "blosc", cname: "lz4", clevel: 5, shuffle: 1, blocksize: 0 };
  const array = open({ ...V2, dtype: ">f8", order: "F", compressor, dimension_separator: "/" });
  assert.equal(array.dtype, "float64");
  assert.equal(array.version, 2);
  assert.deepEqual(array.codecs, [
    { name: "transpose", configuration: { order: [1, 0] } },
    { name: "bytes", configuration: { endian: "big" } },
    {
      name: "blosc",
      configuration: { cname: "lz4", clevel: 5, shuffle: "shuffle", typesize: 8, blocksize: 0 },
    },
  ]);
  assert.equal(open(V2).fillValue, 42);
  assert.equal(open({ ...V2, fill_value: null }).fillValue, 0);
});

const BLOSC = { id: "blosc", cname: "zstd", clevel: 3, shuffle: -1 };
const blosc = (configuration: JsonObject): JsonObject => ({
  name: "blosc",
  configuration: { cname: "zstd", clevel: 3, ...configuration },
});

/** What arrays of Zarr v2 have beside the codec bytes. Shuffle -1 is by bits for one byte, else by bytes (numcodecs). */
// prettier-ignore
const OF_V2: readonly (readonly [string, JsonObject, readonly JsonObject[]])[] = [
  ["a level", { compressor: { id: "zstd", level: 3 } }, [{ name: "zstd", configuration: { level: 3 } }]],
  ["no level", { compressor: { id: "gzip" } }, [{ name: "gzip", configuration: {} }]],
  ["a checksum", { compressor: { id: "zstd", level: 3, checksum: true } },
    [{ name: "zstd", configuration: { level: 3, checksum: true } }]],
  ["a shuffle that is left open", { compressor: BLOSC }, [blosc({ shuffle: "shuffle", typesize: 4 })]],
  ["one of two bytes", { compressor: BLOSC, dtype: "<i2" }, [blosc({ shuffle: "shuffle", typesize: 2 })]],
  ["one of single bytes", { compressor: BLOSC, dtype: "|u1" }, [blosc({ shuffle: "bitshuffle", typesize: 1 })]],
  ["no shuffle", { compressor: { ...BLOSC, shuffle: 0 } }, [blosc({ shuffle: "noshuffle", typesize: 4 })]],
  ["one axis in the other order", { shape: [20], chunks: [10], order: "F" }, []],
];

for (const [name, changes, expected] of OF_V2) {
  test(`an array of Zarr v2 with ${name} is read`, () => {
    const codecs = open({ ...V2, ...changes }).codecs.filter((one) => one.name !== "bytes");
    assert.deepEqual(codecs, expected);
  });
}

test("an array of Zarr v2 may lack what has no effect", () => {
  const { zarr_format, shape, chunks, dtype } = V2;
  const array = open({ zarr_format, shape, chunks, dtype } as JsonObject);
  assert.deepEqual(array.codecs, [LITTLE]);
  assert.equal(array.fillValue, 0);
});

const turn = (...order: number[]): JsonObject => ({ name: "transpose", configuration: { order } });

const codecs = (...list: Json[]): JsonObject => ({ ...V3, codecs: list });

const filter = (id: string, configuration: JsonObject): JsonObject => ({ id, ...configuration });

const INTEGERS: JsonObject = { name: "numcodecs.delta", configuration: { astype: "<f4" } };

const castTo = (type: string, configuration: JsonObject = {}): JsonObject => ({
  name: "cast_value",
  configuration: { data_type: type, ...configuration },
});

// prettier-ignore
const TAKEN: readonly (readonly [string, JsonObject])[] = [
  ["extensions by their names", { ...V3, codecs: [LITTLE, "crc32c"], chunk_key_encoding: "v2" }],
  ["an unknown field that may be ignored", { ...V3, extra: { must_understand: false } }],
  ["an unknown codec that may be ignored", { ...V3, codecs: [LITTLE, { name: "hint", must_understand: false }] }],
  ["no storage transformers", { ...V3, storage_transformers: [] }],
  ["no attributes and names", { ...V3, attributes: {}, dimension_names: null }],
  ["a separator of its own", { ...V3, chunk_key_encoding: { name: "default", configuration: { separator: "." } } }],
  ["shards with an index at the start", { ...V3, codecs: [shards({ index_location: "start" })] }],
  ["an index with its axes in another order", { ...V3, codecs: [shards({ index_codecs: [turn(2, 0, 1), LITTLE] })] }],
  ["shards in shards", { ...V3, codecs: [shards({ codecs: [shards({ chunk_shape: [250, 25] }), "zstd"] }), "gzip"] }],
  ["a shape without elements", { ...V3, shape: [0, 1000] }],
  ["chunks larger than the array", { ...V3, shape: [3, 3] }],
  ["types of one byte without a byte order", { ...V3, data_type: "int8", fill_value: 0, codecs: ["bytes"] }],
  ["the data type as an object", { ...V3, data_type: { name: "float64" } }],
  ["another name of complex64", { ...V3, data_type: "complex_float32", fill_value: [0, "NaN"] }],
  ["zlib of numcodecs", { ...V2, compressor: { id: "zlib", level: 1 } }],
  ["the lowest level of zlib", { ...V2, compressor: { id: "zlib", level: -1 } }],
  ["the highest level of zlib", { ...V2, compressor: { id: "zlib", level: 9 } }],
  ["the number of a shuffle", codecs(LITTLE, { name: "blosc", configuration: { shuffle: 1, typesize: 8 } })],
  ["a shuffle that the encoder chooses", codecs(LITTLE, { name: "blosc", configuration: { shuffle: -1, typesize: 8 } })],
  ["the lowest levels", codecs(LITTLE, { name: "gzip", configuration: { level: 0 } }, { name: "zstd", configuration: { level: -131072, checksum: true } },
    { name: "blosc", configuration: { clevel: 0, blocksize: 0, typesize: 1 } })],
  ["the highest levels", codecs(LITTLE, { name: "gzip", configuration: { level: 9 } }, { name: "zstd", configuration: { level: 22 } },
    { name: "blosc", configuration: { clevel: 9, blocksize: 2 ** 31 - 1, typesize: 2 ** 31 - 1 } })],
  ["an empty list of filters", { ...V2, filters: [] }],
];

for (const [name, json] of TAKEN) {
  test(`metadata with ${name} are taken`, () => {
    assert.ok(open(json).dtype in DTYPES);
  });
}

const grid = (chunk_shape: Json): JsonObject => ({
  ...V3,
  chunk_grid: { name: "regular", configuration: { chunk_shape } },
});
const DEEP = [1, 2, 3, 4, 5].reduce<Json>(
  (inner) => shards({ chunk_shape: [1000, 100], codecs: [inner] }),
  LITTLE,
);

// prettier-ignore
const REFUSED: readonly (readonly [string, JsonObject, ErrorCode?])[] = [
  ["another version", { ...V3, zarr_format: 4 }, "unsupported-file"],
  ["a group", { ...V3, node_type: "group" }, "unsupported-file"],
  ["an unknown field", { ...V3, extra: {} }, "unsupported-file"],
  ["a storage transformer", { ...V3, storage_transformers: [{ name: "x" }] }, "unsupported-file"],
  ["another chunk grid", { ...V3, chunk_grid: { name: "rectilinear" } }, "unsupported-file"],
  ["no chunk grid", { ...V3, chunk_grid: null }],
  ["another key encoding", { ...V3, chunk_key_encoding: "fanout" }, "unsupported-file"],
  ["another separator", { ...V3, chunk_key_encoding: { name: "v2", configuration: { separator: ".." } } }],
  ["an unknown data type", { ...V3, data_type: "uint3" }, "unsupported-dtype"],
  ["our own name of a type", { ...V3, data_type: "float8e5m2" }, "unsupported-dtype"],
  ["text", { ...V3, data_type: "string" }, "unsupported-dtype"],
  ["a data type that is a number", { ...V3, data_type: 4 }],
  ["a data type that is null", { ...V3, data_type: null }],
  ["a data type without a name", { ...V3, data_type: { configuration: {} } }],
  ["a data type whose name is a number", { ...V3, data_type: { name: 4 } }],
  ["dates", { ...V3, data_type: "numpy.datetime64" }, "unsupported-dtype"],
  ["fields", { ...V3, data_type: { name: "struct" } }, "unsupported-dtype"],
  ["complex numbers of halves", { ...V3, data_type: "complex_float16" }, "unsupported-dtype"],
  ["floats of another form", { ...V3, data_type: "float8_e3m4" }, "unsupported-dtype"],
  ["a negative dimension", { ...V3, shape: [-1, 1000] }],
  ["half of a dimension", { ...V3, shape: [1.5, 1000] }],
  ["a shape that is text", { ...V3, shape: "10" }],
  ["a dimension beyond 2^53", { ...V3, shape: [2n ** 60n, 1000] }, "too-large"],
  ["more elements than 2^53", { ...V3, shape: [2 ** 40, 2 ** 20] }, "too-large"],
  ["more chunks than 2^53", { ...grid([1, 1]), shape: [2 ** 40, 2 ** 20] }, "too-large"],
  ["chunks beyond 2^53", grid([2 ** 40, 2 ** 20]), "too-large"],
  ["65 axes", { ...V3, shape: Array.from({ length: 65 }, () => 1) }, "rank"],
  ["chunks of no elements", grid([0, 100])],
  ["chunks of another rank", grid([100])],
  ["a fill value of another type", { ...V3, data_type: "int8", fill_value: 1.5 }],
  ["no fill value", { ...V3, fill_value: undefined as never }],
  ["attributes that are a list", { ...V3, attributes: [] }],
  ["too few names", { ...V3, dimension_names: ["x"] }],
  ["no codecs", codecs()],
  ["codecs that are no list", { ...V3, codecs: {} }],
  ["1000 codecs", codecs(...Array.from({ length: 1000 }, () => "gzip")), "unsupported-codec"],
  ["an unknown codec", codecs(LITTLE, "lzma"), "unsupported-codec"],
  ["a codec of Object's prototype", codecs(LITTLE, "toString"), "unsupported-codec"],
  ["compression before bytes", codecs("gzip", LITTLE)],
  ["bytes twice", codecs(LITTLE, LITTLE)],
  ["a transposition of bytes", codecs(LITTLE, { name: "transpose", configuration: { order: [1, 0] } })],
  ["an axis twice", codecs({ name: "transpose", configuration: { order: [0, 0] } }, LITTLE)],
  ["an axis beyond the rank", codecs({ name: "transpose", configuration: { order: [0, 2] } }, LITTLE)],
  ["an order of one axis", codecs({ name: "transpose", configuration: { order: [0] } }, LITTLE)],
  ["no byte order", codecs("bytes")],
  ["another byte order", codecs({ name: "bytes", configuration: { endian: "pdp" } })],
  ["a level of gzip", codecs(LITTLE, { name: "gzip", configuration: { level: 10 } })],
  ["a level of gzip below 0", codecs(LITTLE, { name: "gzip", configuration: { level: -1 } })],
  ["half a level of gzip", codecs(LITTLE, { name: "gzip", configuration: { level: 0.5 } })],
  ["a level of zlib", { ...V2, compressor: { id: "zlib", level: 10 } }],
  ["a level of zlib below -1", { ...V2, compressor: { id: "zlib", level: -2 } }],
  ["a level of zstd beyond 22", codecs(LITTLE, { name: "zstd", configuration: { level: 23 } })],
  ["a level of zstd below -2^17", codecs(LITTLE, { name: "zstd", configuration: { level: -131073 } })],
  ["a clevel of blosc", codecs(LITTLE, { name: "blosc", configuration: { clevel: 10 } })],
  ["a clevel of blosc below 0", codecs(LITTLE, { name: "blosc", configuration: { clevel: -1 } })],
  ["a blocksize of blosc below 0", codecs(LITTLE, { name: "blosc", configuration: { blocksize: -1 } })],
  ["a blocksize of blosc of 2 GiB", codecs(LITTLE, { name: "blosc", configuration: { blocksize: 2 ** 31 } })],
  ["a level of zstd", codecs(LITTLE, { name: "zstd", configuration: { level: "9" } })],
  ["a checksum of zstd", codecs(LITTLE, { name: "zstd", configuration: { checksum: 1 } })],
  ["a compressor of blosc", codecs(LITTLE, { name: "blosc", configuration: { cname: "constructor" } })],
  ["a shuffle of blosc", codecs(LITTLE, { name: "blosc", configuration: { shuffle: 3 } })],
  ["the number of a shuffle in quotes", codecs(LITTLE, { name: "blosc", configuration: { shuffle: "1" } })],
  ["no version", { ...V3, zarr_format: "3" }],
  ["another kind of node", { ...V3, node_type: "table" }],
  ["storage transformers that are no list", { ...V3, storage_transformers: {} }],
  ["a typesize of blosc", codecs(LITTLE, { name: "blosc", configuration: { typesize: 0 } })],
  ["chunks that do not divide shards", codecs(shards({ chunk_shape: [300, 50] }))],
  ["chunks of shards without elements", codecs(shards({ chunk_shape: [0, 50] }))],
  ["chunks of shards of another rank", codecs(shards({ chunk_shape: [500] }))],
  ["an index that is compressed", codecs(shards({ index_codecs: [LITTLE, "gzip"] }))],
  ["an index with an order of two axes", codecs(shards({ index_codecs: [turn(1, 0), LITTLE] }))],
  ["an index of shards", codecs(shards({ index_codecs: [shards({})] }))],
  ["an index in the middle", codecs(shards({ index_location: "middle" }))],
  ["shards in shards in shards in shards in shards", codecs(DEEP), "unsupported-codec"],
  [
    "100,000,000 chunks in a shard",
    { ...codecs(shards({ chunk_shape: [1, 1] })), chunk_grid: grid([10000, 10000])["chunk_grid"] },
    "unsupported-codec",
  ],
  ["fields as a dtype", { ...V2, dtype: [["x", "<f4"]] }, "unsupported-dtype"],
  ["text as a dtype", { ...V2, dtype: "<U8" }, "unsupported-dtype"],
  ["dates as a dtype", { ...V2, dtype: "<M8[ns]" }, "unsupported-dtype"],
  ["bytes as a dtype", { ...V2, dtype: "|S4" }, "unsupported-dtype"],
  ["times as a dtype", { ...V2, dtype: "<m8[s]" }, "unsupported-dtype"],
  ["two bytes of anything as a dtype", { ...V2, dtype: "|V2" }, "unsupported-dtype"],
  ["a number as a dtype", { ...V2, dtype: 4 }],
  ["objects as a dtype", { ...V2, dtype: "|O" }, "unsupported-dtype"],
  ["an unknown dtype", { ...V2, dtype: "<f16" }, "unsupported-dtype"],
  ["an unknown filter", { ...V2, filters: [{ id: "categorize" }] }, "unsupported-codec"],
  ["a filter of another type", { ...V2, filters: [filter("delta", { dtype: "<f4" })] }, "unsupported-codec"],
  ["a filter of another byte order", { ...V2, filters: [filter("delta", { dtype: ">i4" })] }, "unsupported-codec"],
  ["a filter of elements after one of bytes", { ...V2, filters: [{ id: "shuffle", elementsize: 4 }, { id: "delta" }] }, "unsupported-codec"],
  ["a filter of floats as integers", { ...V2, filters: [filter("delta", { dtype: "<i4", astype: "<f4" })] }, "unsupported-codec"],
  ["sums of uint64 as int32", { ...V2, filters: [filter("delta", { dtype: "<i4", astype: "<u8" })] }, "unsupported-codec"],
  ["a filter of text", { ...V2, filters: [filter("delta", { dtype: "<U4" })] }, "unsupported-dtype"],
  ["a filter without a scale", { ...V2, filters: [{ id: "fixedscaleoffset", offset: 1 }] }],
  ["packed bits of integers", { ...V2, filters: [{ id: "packbits" }] }, "unsupported-codec"],
  ["a filter for a compressor", { ...V2, compressor: { id: "delta" } }, "unsupported-codec"],
  ["names of filters", { ...V2, filters: ["delta"] }],
  ["seventeen filters", { ...V2, filters: Array.from({ length: 17 }, () => ({ id: "delta" })) }, "unsupported-codec"],
  ["big-endian bfloat16", { ...V2, dtype: ">bfloat16" }, "unsupported-dtype"],
  ["a filter after bytes", codecs(LITTLE, "numcodecs.bitround")],
  ["shards after a filter", codecs("bitround", shards({})), "unsupported-codec"],
  ["axes transposed after a sum", codecs(INTEGERS, turn(1, 0), LITTLE), "unsupported-codec"],
  ["a big-endian filter", codecs({ name: "numcodecs.astype", configuration: { encode_dtype: ">f4" } }, LITTLE), "unsupported-codec"],
  ["a filter to bfloat16", codecs({ name: "numcodecs.astype", configuration: { encode_dtype: "bfloat16" } }, LITTLE), "unsupported-codec"],
  ["a cast to bool", codecs(castTo("bool"), LITTLE), "unsupported-codec"],
  ["a cast to text", codecs(castTo("string"), LITTLE), "unsupported-dtype"],
  ["an unknown rounding", codecs(castTo("int8", { rounding: "up" }), LITTLE)],
  ["an unknown setting of a cast", codecs(castTo("int8", { speed: 1 }), LITTLE), "unsupported-codec"],
  ["a map of values", codecs(castTo("int8", { scalar_map: { decode: [[1, 2]] } }), LITTLE), "unsupported-codec"],
  ["a scale that is no number", codecs({ name: "scale_offset", configuration: { scale: "x" } }, LITTLE)],
  ["a part of the bits", codecs({ name: "packbits", configuration: { last_bit: 3 } }), "unsupported-codec"],
  ["an unknown padding", codecs({ name: "packbits", configuration: { padding_encoding: "middle" } })],
  ["a checksum in the middle", codecs(LITTLE, { name: "numcodecs.crc32c", configuration: { location: "middle" } })],
  ["an element without a size", codecs(LITTLE, { name: "numcodecs.shuffle", configuration: { elementsize: -1 } })],
  ["filters that are no list", { ...V2, filters: {} }],
  ["another order", { ...V2, order: "K" }],
  ["another compressor", { ...V2, compressor: { id: "lzma" } }, "unsupported-codec"],
  ["a compressor without an id", { ...V2, compressor: {} }],
  ["chunks of v2 of another rank", { ...V2, chunks: [10] }],
];

for (const [name, json, code = "malformed-file"] of REFUSED) {
  test(`metadata with ${name} are refused`, () => {
    assertRefused(code, {}, () => open(json));
  });
}

test("a .zarray of another version is refused", () => {
  const json = { ...V2, zarr_format: 3 };
  assertRefused("malformed-file", {}, () => parseMetadataV2(json, undefined, "it"));
});

// prettier-ignore
const FILLS: readonly (readonly [DType, string, string])[] = [
  // The type, the value as metadata have it, and the bytes in memory.
  ["bool", "true", "01"],
  ["int8", "-128", "80"],
  ["uint64", "18446744073709551615", "ffffffffffffffff"],
  ["int64", "-9223372036854775808", "0000000000000080"],
  ["int64", "9007199254740993", "0100000000002000"],
  ["float16", '"NaN"', "007e"],
  ["bfloat16", '"NaN"', "c07f"],
  ["float32", '"NaN"', "0000c07f"],
  ["float32", '"0x7fc00001"', "0100c07f"],
  ["float32", '"-Infinity"', "000080ff"],
  ["float32", "0.1", "cdcccc3d"],
  ["float64", '"Infinity"', "000000000000f07f"],
  ["float64", "1e-400", "0000000000000000"],
  ["float64", '"0x8000000000000000"', "0000000000000080"],
  ["float32", '"0X7FC00001"', "0100c07f"],
  ["float32", '"0x102"', "02010000"],
  ["complex128", '["-Infinity", "0x7ff8000000000001"]', "000000000000f0ff010000000000f87f"],
  ["complex64", '[1.0, "NaN"]', "0000803f0000c07f"],
  ["complex64", '["-Infinity", "0x7fc00001"]', "000080ff0100c07f"],
  ["complex128", "[0, -1]", "0000000000000000000000000000f0bf"],
  ["float8e5m2", '"NaN"', "7e"],
  ["float8e4m3fnuz", '"NaN"', "80"],
  ["float8e8m0", '"NaN"', "ff"],
  ["float8e8m0", '"0x00"', "00"],
  ["float8e8m0", "0.0", "00"],
  ["float4e2m1", "-6", "0f"],
  ["int4", "-8", "f8"],
  ["uint4", "15", "0f"],
  ["int2", "-2", "fe"],
  ["uint2", "3", "03"],
  // TensorStore 0.1.86 reads -6: it ignores the upper bits.
  ["float4e2m1", '"0xff"', "0f"],
  ["float6e2m3", "-7.5", "3f"],
  ["float6e3m2", "-0.0", "20"],
  ["float6e3m2", '"0x60"', "20"],
];

for (const [dtype, text, hex] of FILLS) {
  test(`${text} is a fill value of ${dtype}`, () => {
    const element = parseFillValue(dtype, valueOf(text), "it");
    assert.deepEqual(element, hexBytes(hex));
    const printed = valueOf(printJson(printFillValue(dtype, element)));
    assert.deepEqual(parseFillValue(dtype, printed, "it"), element);
  });
}

// prettier-ignore
const NO_FILLS: readonly (readonly [DType, string])[] = [
  ["float6e3m2", '"NaN"'],
  ["bool", "2"], ["bool", '"true"'], ["uint8", "256"], ["uint8", "-1"], ["int4", "8"], ["uint2", "4"], ["int2", "2"], ["int32", '"NaN"'],
  ["int64", "9223372036854775808"], ["float32", '"nan"'], ["float32", '"0x"'], ["float32", '"0x1234567890"'],
  ["float32", "[1]"], ["complex64", "1"], ["complex64", "[1]"], ["complex64", "[1, 2, 3]"], ["complex64", '"1+2j"'],
  ["int32", '"0x10"'], ["bool", '"NaN"'], ["int64", '"Infinity"'], ["uint8", '"-Infinity"'], ["float32", '"0x1g"'],
  ["float32", '"-0x1"'], ["complex64", "[null, 0]"],
  ["float4e2m1", '"NaN"'], ["float8e8m0", "-1"], ["float16", "{}"], ["int32", "true"],
];

for (const [dtype, text] of NO_FILLS) {
  test(`${text} is no fill value of ${dtype}`, () => {
    assertRefused("malformed-file", {}, () => parseFillValue(dtype, valueOf(text), "it"));
  });
}

test("a fill value of float8e8m0 is printed as its bits, because TensorStore reads 1 as 2^-64", () => {
  for (const bits of [0, 126, 127, 128]) {
    const hex = `0x${bits.toString(16).padStart(2, "0")}`;
    assert.equal(printFillValue("float8e8m0", Uint8Array.of(bits)), hex);
  }
});

/** Text in place of a number, and the value that zarr-python 3.1.6 reads. */
// prettier-ignore
const FILLS_OF_V2: readonly (readonly [dtype: string, text: string, value: Scalar])[] = [
  ["|i1", "0", 0], ["|i1", "7", 7], ["|i1", "+7", 7], ["|i1", " 7 ", 7], ["|i1", "1_0", 10], ["|i1", "-0", 0],
  ["<u8", "18446744073709551615", 2n ** 64n - 1n], ["<i8", "-1", -1n], ["<i4", "300", 300],
  ["<f4", "1e20", Math.fround(1e20)], ["<f2", "1e20", Infinity], ["<f8", "7.5", 7.5], ["<f8", "-0", -0], ["<f8", ".5", 0.5],
  ["<f8", "inf", Infinity], ["<f8", "-Infinity", -Infinity], ["<f8", "nan", NaN], ["<f8", "1e400", Infinity],
  ["<f8", "18446744073709551615", 2 ** 64], ["<f8", "5.", 5],
];

for (const [dtype, text, value] of FILLS_OF_V2) {
  test(`"${text}" is a fill value of ${dtype} in Zarr v2`, () => {
    assert.ok(Object.is(open({ ...V2, dtype, fill_value: text }).fillValue, value));
  });
}

// prettier-ignore
const NO_FILLS_OF_V2: readonly (readonly [dtype: string, text: string])[] = [
  ["|i1", "1e20"], ["|i1", ""], ["|i1", "7.0"], ["|i1", "300"], ["|i1", "NaN"], ["|i1", "0x10"], ["|u1", "-1"],
  ["<u8", "18446744073709551616"], ["<f4", ""], ["<f4", "abc"], ["<f4", "0x10"], ["<f4", "true"], ["<f4", "1+2j"], ["|b1", "0"],
];

for (const [dtype, text] of NO_FILLS_OF_V2) {
  test(`"${text}" is no fill value of ${dtype} in Zarr v2`, () => {
    assertRefused("malformed-file", { key: "fill_value" }, () =>
      open({ ...V2, dtype, fill_value: text }),
    );
  });
}

test("bit patterns of small types are printed such that they are read again", () => {
  for (const dtype of DTYPE_NAMES.filter(
    (one) => DTYPES[one].bytes === 1 || DTYPES[one].bytes === 2,
  )) {
    const { bytes } = DTYPES[dtype];
    const [, highest] = storedRange(dtype) ?? [0, 2 ** (8 * bytes) - 1];
    // The seed chooses an eighth of the many patterns.
    const step = HAS_ALL || bytes === 1 ? 1 : 8;
    for (let bits = step === 1 ? 0 : SEED % step; bits <= highest; bits += step) {
      const element = Uint8Array.from([bits & 255, bits >> 8].slice(0, bytes));
      const again = parseFillValue(dtype, printFillValue(dtype, element), "it");
      if (again.some((byte, at) => byte !== element[at])) assert.fail(`${dtype} ${bits}`);
    }
  }
});

test("data types have the names of the specification and of its registry", () => {
  const names = {
    ...{ float8e4m3fn: "float8_e4m3fn", float8e4m3fnuz: "float8_e4m3fnuz" },
    ...{ float8e5m2: "float8_e5m2", float8e5m2fnuz: "float8_e5m2fnuz" },
    ...{ float8e8m0: "float8_e8m0fnu", float4e2m1: "float4_e2m1fn" },
    ...{ float6e2m3: "float6_e2m3fn", float6e3m2: "float6_e3m2fn" },
  };
  for (const dtype of DTYPE_NAMES.filter((one) => one !== "string")) {
    const name = printDataType(dtype);
    assert.equal(name, dtype in names ? names[dtype as keyof typeof names] : dtype);
    assert.equal(parseDataType(name, "it"), dtype);
  }
  assert.equal(parseDataType("complex_float64", "it"), "complex128");
  assertRefused("dtype", {}, () => printDataType("string"));
});

test("what a new array is given is what its metadata say", () => {
  const { array } = arrayInMemory({
    dtype: "uint64",
    shape: [7, 5],
    chunkShape: [2, 5],
    shards: [4, 5],
    codecs: ["zstd", "crc32c"],
    fillValue: 2n ** 64n - 1n,
    attributes: { unit: "m", big: 2n ** 60n, "__proto__ ": [null, { deep: "é\u0000" }] },
    dimensionNames: ["x", null],
  });
  assert.equal(array.fillValue, 2n ** 64n - 1n);
  assert.deepEqual(array.chunkShape, [4, 5]);
  assert.deepEqual(array.innerChunkShape, [2, 5]);
  const { attributes } = array;
  assert.equal(attributes["big"], 2n ** 60n);
  assert.equal(printJson(attributes["__proto__ "]), printJson([null, { deep: "é\u0000" }]));
  assert.deepEqual(array.dimensionNames, ["x", null]);
  const [{ name, configuration }] = array.codecs;
  assert.equal(name, "sharding_indexed");
  assert.equal(
    printJson(configuration?.["codecs"] ?? null).replaceAll(/\s+/g, ""),
    '[{"name":"bytes","configuration":{"endian":"little"}},' +
      '{"name":"zstd","configuration":{"level":0,"checksum":false}},{"name":"crc32c"}]',
  );
});

const INT32 = { dtype: "int32", shape: [4, 6], chunkShape: [2, 3] } as const;
// prettier-ignore
const CODECS_OF: readonly (readonly [string, object, readonly Json[]])[] = [
  ["none", {}, [LITTLE]],
  ["one byte without an order", { dtype: "int8", codecs: ["bytes"] }, [{ name: "bytes" }]],
  ["halves of 4 bytes with an order", { dtype: "complex64", codecs: ["bytes"] }, [LITTLE]],
  ["another byte order", { codecs: [{ name: "bytes", configuration: { endian: "big" } }] }, [{ name: "bytes", configuration: { endian: "big" } }]],
  ["bytes behind the transpositions", { codecs: [turn(1, 0), turn(1, 0), "crc32c"] }, [turn(1, 0), turn(1, 0), LITTLE, { name: "crc32c" }]],
  ["gzip", { codecs: ["gzip"] }, [LITTLE, { name: "gzip", configuration: { level: 5 } }]],
  ["a level of its own", { codecs: [{ name: "gzip", configuration: { level: 9 } }] }, [LITTLE, { name: "gzip", configuration: { level: 9 } }]],
  ["an order of drafts", { codecs: [{ name: "transpose", configuration: { order: "F" } }] }, [turn(1, 0), LITTLE]],
  ["blosc", { codecs: ["blosc"] }, [LITTLE, { name: "blosc", configuration: { cname: "zstd", clevel: 5, shuffle: "shuffle", typesize: 4, blocksize: 0 } }]],
  ["blosc with another compressor", { dtype: "int16", codecs: [{ name: "blosc", configuration: { cname: "lz4" } }] },
    [LITTLE, { name: "blosc", configuration: { cname: "lz4", clevel: 5, shuffle: "shuffle", typesize: 2, blocksize: 0 } }]],
];

for (const [name, options, expected] of CODECS_OF) {
  test(`the codecs of a new array: ${name}`, () => {
    const { codecs } = arrayInMemory({ ...INT32, ...options } as never).array;
    assert.equal(JSON.stringify(codecs), JSON.stringify(expected));
  });
}

test("numbers in attributes that JSON cannot say: a copy keeps those of a file, and those that are given become text", () => {
  const odd = { nan: NaN, list: [1, { low: -Infinity }], "__proto__ ": Infinity };
  const text = { nan: "NaN", list: [1, { low: "-Infinity" }], "__proto__ ": "Infinity" };
  const { array } = arrayInMemory({ ...INT32, attributes: odd });
  assert.equal(printJson(array.attributes), printJson(text));
  const { array: copy } = arrayInMemory({ like: open({ ...V3, attributes: odd }) });
  assert.equal(printJson(copy.attributes), printJson(odd));
});

test("a copy has the numbers of attributes in the text of the file, unless the program changes them", () => {
  const numbers =
    '{ "a": 2.0, "b": 2, "c": [1.0, {"d": -0.0, "e": 1e-07}, 1e400], "f": 0.10, "2": 1e2 }';
  const attributesOf = (text: string): JsonObject =>
    arrayInMemory({ like: open({ ...V3, attributes: parse(text) }) }).array.attributes;
  const copied = printJson(parse(printJson(attributesOf(numbers)))).replaceAll(/\s+/g, "");
  assert.equal(copied, '{"2":1e2,"a":2.0,"b":2,"c":[1.0,{"d":-0.0,"e":1e-07},1e400],"f":0.10}');
  const digits = `{"a": 1${"0".repeat(50)}}`;
  assert.equal(printJson(attributesOf(digits)).replaceAll(/\s+/g, ""), digits.replace(" ", ""));
  const changed = attributesOf(numbers);
  Object.assign(changed, { a: 3, b: "2" });
  const given = arrayInMemory({ ...INT32, attributes: changed }).array.attributes;
  assert.match(printJson(given), /"a": 3,\s+"b": "2",\s+"c": \[\s+1.0,/);
  assert.match(printJson(given), /"Infinity"/);
});

test("a new array like another one has what no option says otherwise", () => {
  const { array: first } = arrayInMemory({
    ...INT32,
    ...{ shards: [4, 6], codecs: ["gzip"], fillValue: 7 },
    ...{ attributes: { unit: "m" }, dimensionNames: ["x", "y"] },
  });
  const { array: same } = arrayInMemory({ like: first });
  assert.deepEqual(same.metadata, first.metadata);
  const { array: other } = arrayInMemory({
    ...{ like: first, dtype: "int64", shape: [8], chunkShape: [2], shards: null },
    ...{ codecs: [], attributes: {} },
  });
  const { dtype, shape, chunkShape, innerChunkShape, fillValue } = other;
  assert.deepEqual([dtype, shape, chunkShape], ["int64", [8], [2]]);
  assert.deepEqual([innerChunkShape, fillValue, other.dimensionNames], [null, 0n, null]);
  assert.deepEqual(Object.keys(other.attributes), []);
  const { array: whole } = arrayInMemory({ like: first, shards: null });
  assert.deepEqual([whole.chunkShape, whole.innerChunkShape], [[2, 3], null]);
  const { array: plain } = arrayInMemory({ like: arrayInMemory(INT32).array, fillValue: -1 });
  assert.deepEqual([plain.chunkShape, plain.innerChunkShape, plain.fillValue], [[2, 3], null, -1]);
});

test("a copy has the names of blosc's shuffles", () => {
  const own = { name: "blosc", configuration: { cname: "lz4", shuffle: 2, typesize: 8 } };
  const [, copied] = arrayInMemory({ like: open(codecs(LITTLE, own)) }).array.codecs;
  assert.equal(copied.configuration?.["shuffle"], "bitshuffle");
});

test("zlib of Zarr v2 becomes gzip of the same level", () => {
  const old = open({ ...V2, compressor: { id: "zlib", level: 3 } });
  const codecsLike = (array: typeof old): string =>
    JSON.stringify(arrayInMemory({ like: array }).array.codecs);
  const gzip = (level: number): JsonObject => ({ name: "gzip", configuration: { level } });
  assert.equal(codecsLike(old), JSON.stringify([LITTLE, gzip(3)]));
  // The default level of zlib is 6; gzip of Zarr v3 has no level -1.
  const least = open({ ...V2, compressor: { id: "zlib", level: -1 } });
  assert.equal(codecsLike(least), JSON.stringify([LITTLE, gzip(6)]));
  // Earlier versions of this package wrote zlib into arrays of Zarr v3.
  const inner = (codec: Json): JsonObject => shards({ codecs: [LITTLE, codec] });
  const wrong = open({ ...V3, codecs: [inner({ name: "zlib", configuration: { level: 2 } })] });
  const right = open({ ...V3, codecs: [inner(gzip(2))] });
  assert.equal(codecsLike(wrong), codecsLike(right));
});

// prettier-ignore
const WRONG_OPTIONS: readonly (readonly [object, ErrorCode])[] = [
  [{ dtype: "float3" }, "dtype"],
  [{ dtype: "string" }, "dtype"],
  [{ shape: undefined }, "attribute"],
  [{ chunkShape: undefined }, "attribute"],
  [{ chunkShape: [0, 5] }, "attribute"],
  [{ chunkShape: [2] }, "attribute"],
  [{ shards: [3, 5] }, "attribute"],
  [{ codecs: ["lzma"] }, "attribute"],
  [{ codecs: "zstd" }, "attribute"],
  [{ codecs: ["zlib"] }, "attribute"],
  [{ codecs: [{ name: "zlib", configuration: { level: 3 } }] }, "attribute"],
  [{ codecs: [shards({ codecs: ["bytes", "zlib"] })] }, "attribute"],
  [{ codecs: [{ name: "blosc", configuration: { cname: "snappy" } }] }, "attribute"],
  [{ codecs: [{ name: "blosc", configuration: { cname: "lz5" } }] }, "attribute"],
  [{ codecs: [{ name: "blosc", configuration: { cname: 4 } }] }, "attribute"],
  [{ codecs: [{ name: "blosc", configuration: { cname: "toString" } }] }, "attribute"],
  [{ fillValue: 1.5 }, "dtype"],
  [{ shape: [2 ** 53, 5] }, "attribute"],
  [{ shape: [2 ** 52, 5] }, "too-large"],
  [{ dimensionNames: ["x"] }, "attribute"],
  [{ dimensionNames: ["x", 4] }, "attribute"],
  [{ dimensionNames: "xy" }, "attribute"],
  [{ chunks: [2, 5] }, "attribute"],
  [{ attributes: [] }, "attribute"],
];

for (const [options, code] of WRONG_OPTIONS) {
  test(`a new array with ${JSON.stringify(options)} is refused`, () => {
    const given = { dtype: "int32", shape: [7, 5], chunkShape: [2, 5], ...options } as const;
    assertRefused(code, {}, () => arrayInMemory(given as never));
  });
}

// prettier-ignore
const JSON_TEXTS: readonly (readonly [string, ErrorCode?])[] = [
  [""], ["[]"], ["{"],
  ['{"a": 1'], ['{"a": 1,}'], ['{"a": 01}'],
  ['{"a": 1} x'], ['{"a": tru}'], ['{"a": "\\x"}'], ['{"a": "\n"}'],
  ['{"a": 1, "a": 2}'], [`{"a": ${"[".repeat(200)}`, "unsupported-file"], ['{"a": -}'],
];

for (const [text, code = "malformed-file"] of JSON_TEXTS) {
  test(`${text.slice(0, 20)} is no JSON of metadata`, () => {
    assertRefused(code, {}, () => parse(text));
  });
}

test("JSON is read as JSON.parse reads it, but for integers that no number holds", () => {
  const text =
    ' {"a" : [1, -0.5e3, true, null, "\\u00e9\\n", {}], "b": 9007199254740993, "c": [NaN, -Infinity]}\r\n';
  const { a, b, c } = parse(text);
  assert.equal(JSON.stringify(a), JSON.stringify([1, -500, true, null, "é\n", {}]));
  assert.equal(b, 9007199254740993n);
  assert.deepEqual(c, [NaN, -Infinity]);
  assertRefused("malformed-file", {}, () => parseJson(Uint8Array.of(0xff), "zarr.json"));
});

test("an integer of up to 40 digits is exact, and a longer one is a number", () => {
  const digits = "1".repeat(40);
  assert.equal(valueOf(digits), BigInt(digits));
  assert.equal(valueOf(`${digits}1`), Number(`${digits}1`));
  assert.equal(valueOf("-9007199254740993"), -9007199254740993n);
  assert.equal(valueOf("9007199254740991"), 9007199254740991);
  assert.equal(valueOf("9007199254740993.0"), 9007199254740992);
  assert.equal(valueOf("9007199254740993e0"), 9007199254740992);
});

test("what the platform says of text that is broken is the cause of the error", () => {
  const causeOf = (action: () => unknown): unknown => {
    try {
      action();
    } catch (error) {
      return (error as Error).cause;
    }
    return assert.fail("nothing was thrown");
  };
  assert.ok(causeOf(() => parseJson(Uint8Array.of(0xff), "zarr.json")) instanceof TypeError);
  assert.ok(causeOf(() => parse('{"a": "\\x"}')) instanceof SyntaxError);
});

test("metadata have at most 16 MB and 100 levels", async () => {
  const read = (size: number) =>
    readKey({ path: "a.zarr" }, "zarr.json", async () => memorySource(new Uint8Array(size)));
  assert.equal((await read(2 ** 24))?.length, 2 ** 24);
  await assertRejected("unsupported-file", { limit: 2 ** 24 }, () => read(2 ** 24 + 1));
  const lists = (count: number): string => "[".repeat(count) + "]".repeat(count);
  assert.ok(Array.isArray(valueOf(lists(100))));
  assertRefused("unsupported-file", {}, () => valueOf(lists(101)));
});

test("text ends at the first quote without a backslash of its own, however long it is", () => {
  const long = ["x".repeat(2 ** 23), '\n"\\'.repeat(2 ** 20)];
  for (const text of ["a\\", '"', '\\"', "\\\\", '"\\"\n', ...long]) {
    assert.ok(valueOf(JSON.stringify(text)) === text, text.slice(0, 20));
  }
  for (const text of ['{"a": "', '{"a": "\\"}', '{"a": "\\\\\\"}']) {
    assertRefused("malformed-file", {}, () => parse(text));
  }
});

test("text in the wrong position is refused", () => {
  for (const text of [`{"a": ${"x".repeat(30)}}`, '{"a" 1}', '{"a": [1 2]}', "[1]", "null"]) {
    assertRefused("malformed-file", {}, () => parse(text));
  }
});

test("JSON is printed with a list of plain values in a line, and everything else in lines of its own", () => {
  const value = { a: [1, 2n ** 60n, "x", null, true, Infinity], b: {}, c: [{ d: [] }, [[0.5]]] };
  const text = `{
  "a": [1, 1152921504606846976, "x", null, true, Infinity],
  "b": {},
  "c": [
    {
      "d": []
    },
    [
      [0.5]
    ]
  ]
}`;
  assert.equal(printJson(value), text);
});
