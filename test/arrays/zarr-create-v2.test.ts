/** New arrays of Zarr v2: their metadata, their elements when they are opened again, and what v2 cannot express. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { DTYPE_NAMES, DTYPES } from "../../src/core/tensor/dtype.ts";
import { ZarrArray } from "../../src/arrays/zarr/array.ts";
import { createArray, createPending, openArray } from "../../src/arrays/zarr/open.ts";
import type { CreateOptions } from "../../src/arrays/zarr/create.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import { makeHome } from "../support/job-files.ts";
import { randomFrom, randomTensor } from "../support/random.ts";
import { assertRejected, assertRejectedCode } from "../support/refusal.ts";
import { elements } from "../support/zarr-cases.ts";

const newPlace = (): string => path.join(makeHome(), "x.zarr");

async function openZarr(place: string): Promise<ZarrArray> {
  const array = await openArray(place);
  return array instanceof ZarrArray ? array : assert.fail();
}

const turn = (...order: number[]) => ({ name: "transpose", configuration: { order } });
const BIG = { name: "bytes", configuration: { endian: "big" } };

const REST = { zarr_format: 2, shape: [5, 3], chunks: [2, 2], dimension_separator: "." };

// prettier-ignore
const WRITTEN: readonly (readonly [CreateOptions, object])[] = [
  [{ dtype: "int32" }, { dtype: "<i4", order: "C", filters: null, compressor: null, fill_value: 0 }],
  [{ dtype: "uint8", fillValue: 255, codecs: ["zlib"] },
    { dtype: "|u1", order: "C", filters: null, compressor: { id: "zlib", level: 1 }, fill_value: 255 }],
  [{ dtype: "bool", fillValue: true, codecs: ["numcodecs.packbits", "gzip"] },
    { dtype: "|b1", order: "C", filters: [{ id: "packbits" }], compressor: { id: "gzip", level: 5 }, fill_value: true }],
  [{ dtype: "int16", codecs: [turn(1, 0), "numcodecs.delta", BIG, "numcodecs.shuffle", "numcodecs.lz4"] },
    { dtype: ">i2", order: "F", filters: [{ id: "delta", dtype: ">i2" }, { id: "shuffle", elementsize: 2 }],
      compressor: { id: "lz4" }, fill_value: 0 }],
  [{ dtype: "complex64", fillValue: [1, -2], codecs: ["zstd", "crc32c"] },
    { dtype: "<c8", order: "C", filters: [{ id: "zstd", level: 0 }, { id: "crc32c" }], compressor: null, fill_value: [1, -2] }],
  [{ dtype: "float64", fillValue: NaN, codecs: ["blosc"] },
    { dtype: "<f8", order: "C", filters: null,
      compressor: { id: "blosc", cname: "zstd", clevel: 5, shuffle: 1, blocksize: 0 }, fill_value: "NaN" }],
  [{ dtype: "int32", codecs: [{ name: "numcodecs.blosc", configuration: { cname: "lz4", shuffle: "bitshuffle", typesize: 4 } }] },
    { dtype: "<i4", order: "C", filters: null, compressor: { id: "blosc", cname: "lz4", shuffle: 2 }, fill_value: 0 }],
  [{ dtype: "int32", codecs: [{ name: "numcodecs.zstd", configuration: { level: 3, checksum: false } }] },
    { dtype: "<i4", order: "C", filters: null, compressor: { id: "zstd", level: 3 }, fill_value: 0 }],
  [{ dtype: "bfloat16", fillValue: 1.5 }, { dtype: "bfloat16", order: "C", filters: null, compressor: null, fill_value: 1.5 }],
  [{ dtype: "float4e2m1", fillValue: 1.5 }, { dtype: "float4_e2m1fn", order: "C", filters: null, compressor: null, fill_value: "Aw==" }],
  [{ dtype: "float8e8m0" }, { dtype: "float8_e8m0fnu", order: "C", filters: null, compressor: null, fill_value: null }],
];

for (const [options, expected] of WRITTEN) {
  test(`.zarray of ${JSON.stringify(options)}`, async () => {
    const place = newPlace();
    const all = { shape: [5, 3], chunkShape: [2, 2], zarrFormat: 2, ...options } as const;
    const made = await createArray(place, all);
    const json = JSON.parse(fs.readFileSync(path.join(place, ".zarray"), "utf8"));
    assert.deepEqual(json, { ...REST, ...expected });
    assert.equal(fs.existsSync(path.join(place, ".zattrs")), false);
    const values = randomTensor(made.dtype, [5, 3], randomFrom(1));
    await made.write(values);
    const again = await openArray(place);
    assert.deepEqual([made.version, again.fingerprint], [2, made.fingerprint]);
    assert.deepEqual([...elements(await again.read())], [...elements(values)]);
    fs.rmSync(path.join(place, "0.0"));
    assert.deepEqual((await again.read([0, 0], [1, 1])).toArray(), [[made.fillValue]]);
  });
}

test("every data type that v2 has is written and read", async () => {
  for (const dtype of DTYPE_NAMES.filter((name) => !/^(?:string|uint[24]$|float6e)/.test(name))) {
    const options = { dtype, shape: [7], chunkShape: [3], zarrFormat: 2 } as const;
    const made = await createArray(newPlace(), { ...options, codecs: ["zstd"] });
    const values = randomTensor(dtype, [7], randomFrom(DTYPES[dtype].bytes));
    await made.write(values);
    const read = await (await openArray(made.location.path)).read();
    assert.deepEqual([...elements(read)], [...elements(values)], dtype);
  }
});

test("attributes and names of axes are in .zattrs, and an array may be overwritten", async () => {
  const place = newPlace();
  const shapes = { shape: [2, 2], chunkShape: [2, 2] };
  const options: CreateOptions = { dtype: "int32", ...shapes, zarrFormat: 2 };
  await createArray(place, { ...options, attributes: { unit: "m" }, dimensionNames: ["y", "x"] });
  const array = await openZarr(place);
  assert.deepEqual(array.dimensionNames, ["y", "x"]);
  assert.deepEqual({ ...array.attributes }, { unit: "m", _ARRAY_DIMENSIONS: ["y", "x"] });
  await assertRejectedCode("attribute", { key: "overwrite" }, () => createArray(place, options));
  const other = await createArray(place, { ...options, overwrite: true });
  assert.deepEqual([other.attributes, { ...(await openZarr(place)).attributes }], [{}, {}]);
  const copy = await createArray(newPlace(), { like: other, zarrFormat: 2 });
  assert.deepEqual([copy.version, copy.shape], [2, [2, 2]]);
  assert.equal((await createArray(newPlace(), { like: other })).version, 3);
});

// prettier-ignore
const REFUSED: readonly (readonly [string, CreateOptions, ErrorCode?])[] = [
  ["shards", { shards: [4, 4] }],
  ["packbits of v3", { dtype: "bool", codecs: ["packbits"] }],
  ["an order of axes that is no reversal", { shape: [2, 2, 2], chunkShape: [2, 2, 2], codecs: [turn(1, 0, 2)] }],
  ["a negative zero as fill value", { dtype: "float32", fillValue: -0 }],
  ["a name for one of two axes", { dimensionNames: ["x", null] }],
  ["a type that v2 lacks", { dtype: "uint4" }, "dtype"],
  ["another version", { zarrFormat: 1 as never }],
];

for (const [name, options, code = "attribute"] of REFUSED) {
  test(`v2 refuses ${name}`, async () => {
    const place = newPlace();
    const all = { dtype: "int32", shape: [4, 4], chunkShape: [2, 2], zarrFormat: 2 } as const;
    await assertRejected(code, {}, () => createArray(place, { ...all, ...options }));
    assert.equal(fs.existsSync(place), false);
  });
}

test("a pending array cannot be of v2", async () => {
  const options = { dtype: "int32", shape: [4], chunkShape: [2], zarrFormat: 2 } as const;
  const create = () => createPending(newPlace(), options);
  await assertRejected("attribute", { key: "zarrFormat" }, create);
});

test("attributes that a removed array left are not those of a new array", async () => {
  const place = newPlace();
  fs.mkdirSync(place, { recursive: true });
  fs.writeFileSync(path.join(place, ".zattrs"), '{"old": 1}');
  const options = { dtype: "int8", shape: [1], chunkShape: [1], zarrFormat: 2 } as const;
  const made = await createArray(place, options);
  assert.deepEqual({ ...made.attributes }, {});
  assert.deepEqual({ ...((await openArray(place)) as typeof made).attributes }, {});
});
