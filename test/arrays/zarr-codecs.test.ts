/** Codecs: what the specifications say of filters, and codecs of the caller. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { gatherChunked } from "../../src/arrays/chunked/functions.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import { DTYPE_NAMES, type DType } from "../../src/core/tensor/dtype.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { createArray, openArray } from "../../src/arrays/zarr/open.ts";
import { ZarrArray } from "../../src/arrays/zarr/array.ts";
import type { JsonObject } from "../../src/arrays/zarr/json.ts";
import type { Codec } from "../../src/arrays/zarr/metadata.ts";
import { arrayInMemory, MemoryStore } from "../support/memory-store.ts";
import { randomFrom, randomTensor } from "../support/random.ts";
import { assertRejected, assertRejectedCode } from "../support/refusal.ts";
import { elements } from "../support/zarr-cases.ts";

const PACKED = ["none", "first_byte", "last_byte"].map((padding_encoding) => ({
  name: "packbits",
  configuration: { padding_encoding },
}));

test("packed and summed elements of every type are read as they were written", async () => {
  for (const dtype of DTYPE_NAMES.filter((name) => name !== "string")) {
    const isWhole = /^u?int(?:8|16|32|64)$/.test(dtype);
    const lists = [
      ...PACKED.map((codec) => [codec, "crc32c"]),
      ...(isWhole ? [["numcodecs.delta"], ["numcodecs.delta", BIG]] : []),
      ...(isWhole
        ? [[{ name: "transpose", configuration: { order: [1, 0] } }, "numcodecs.delta"]]
        : []),
      ...(dtype === "bool" ? [["numcodecs.packbits", "gzip"]] : []),
    ];
    for (const codecs of lists) {
      for (const shards of [null, [4, 6]]) {
        const { array } = arrayInMemory({
          dtype,
          shape: [7, 5],
          chunkShape: [2, 3],
          shards,
          codecs,
        });
        const values = randomTensor(dtype, [7, 5], randomFrom(codecs.length));
        await array.write(values);
        assert.deepEqual([...elements(await array.read())], [...elements(values)], dtype);
      }
    }
  }
});

const BIG: Codec = { name: "bytes", configuration: { endian: "big" } };
const LITTLE: Codec = { name: "bytes", configuration: { endian: "little" } };

/** An array of one chunk, whose elements are stored as `stored`. */
function storedAs(dtype: DType, codecs: readonly Codec[], stored: Tensor): ZarrArray {
  const { shape } = stored;
  const { array } = arrayInMemory({ dtype, shape, chunkShape: shape });
  const store = new MemoryStore();
  store.objects.set("c/0", elements(stored));
  return new ZarrArray(store, { ...array.metadata, codecs }, "");
}

const castTo = (dtype: string, more: JsonObject = {}): Codec => ({
  name: "cast_value",
  configuration: { data_type: dtype, ...more },
});

const scaleOffset = (configuration: JsonObject): Codec => ({ name: "scale_offset", configuration });

// The examples of the specifications of cast_value and scale_offset, and one row for each of their rules.
// prettier-ignore
const DECODED: readonly (readonly [string, DType, readonly Codec[], Tensor, readonly unknown[]])[] = [
  ["a range", "uint16", [scaleOffset({ offset: 1000 }), castTo("uint8")], tensor("uint8", [3], [0, 7, 255]), [1000, 1007, 1255]],
  ["a range of floats", "float64", [scaleOffset({ offset: -10, scale: 0.1 }), castTo("uint8")], tensor("uint8", [3], [0, 1, 255]), [-10, 0, 2540]],
  ["float32 arithmetic", "float32", [scaleOffset({ offset: 5, scale: 0.1 })], tensor("float32", [2], [1, 2]), [15, 25]],
  ["int64", "int64", [scaleOffset({ offset: 9007199254740993n, scale: 2 })], tensor("int64", [1], [4n]), [9007199254740995n]],
  ["to nearest", "int8", [castTo("float32")], tensor("float32", [6], [0.5, 1.5, -0.5, -2.5, 2.4, -1.6]), [0, 2, 0, -2, 2, -2]],
  ["without rounding", "float32", [castTo("int8", { rounding: "towards-zero" })], tensor("int8", [2], [-3, 4]), [-3, 4]],
  ["wrapped", "int8", [castTo("int32", { out_of_range: "wrap" })], tensor("int32", [3], [128, -129, 5]), [-128, 127, 5]],
  ["clamped", "uint8", [castTo("float64", { out_of_range: "clamp" })], tensor("float64", [3], [1e30, -1, 7]), [255, 0, 7]],
  ["clamped to infinity", "float16", [castTo("float64", { out_of_range: "clamp" })], tensor("float64", [2], [1e30, -1e30]), [Infinity, -Infinity]],
  ["a rounded integer", "float32", [castTo("int64")], tensor("int64", [2], [2n ** 62n + 2n ** 38n, 2n ** 62n + 2n ** 38n + 1n]), [2 ** 62, 2 ** 62 + 2 ** 39]],
  ["4 bits", "int8", [castTo("int4")], tensor("int4", [3], [-8, 7, -1]), [-8, 7, -1]],
];

for (const [name, dtype, codecs, stored, expected] of DECODED) {
  test(`elements of ${dtype} are decoded: ${name}`, async () => {
    assert.deepEqual(
      (await storedAs(dtype, [...codecs, LITTLE], stored).read()).toArray(),
      expected,
    );
  });
}

// prettier-ignore
const LOST: readonly (readonly [string, DType, readonly Codec[], Tensor, ErrorCode?])[] = [
  ["out of range", "int8", [castTo("int16")], tensor("int16", [1], [128])],
  ["NaN as an integer", "int8", [castTo("float32", { out_of_range: "clamp" })], tensor("float32", [1], [NaN])],
  ["infinity as an integer", "int64", [castTo("float32", { out_of_range: "wrap" })], tensor("float32", [1], [Infinity])],
  ["a float beyond float16", "float16", [castTo("float32")], tensor("float32", [1], [1e30])],
  ["a float rounded down", "float32", [castTo("float64", { rounding: "towards-zero" })], tensor("float64", [1], [0.1]), "unsupported-codec"],
  ["an integer rounded up", "float64", [castTo("int64", { rounding: "towards-positive" })], tensor("int64", [1], [2n ** 60n + 1n]), "unsupported-codec"],
  ["a half rounded away", "int8", [castTo("float32", { rounding: "nearest-away" })], tensor("float32", [1], [0.5]), "unsupported-codec"],
  ["a fraction of integers", "int32", [scaleOffset({ scale: 2 })], tensor("int32", [1], [3])],
  ["a division by 0", "int64", [scaleOffset({ scale: 0 })], tensor("int64", [1], [3n])],
  ["an overflow", "uint8", [scaleOffset({ offset: 200 })], tensor("uint8", [1], [100])],
  ["an infinite result", "float32", [scaleOffset({ scale: 0 })], tensor("float32", [1], [1])],
  ["NumPy's undefined cast", "int8", [{ name: "numcodecs.astype", configuration: { encode_dtype: "<f4" } }], tensor("float32", [1], [1e10])],
];

for (const [name, dtype, codecs, stored, code = "malformed-file"] of LOST) {
  test(`elements of ${dtype} are refused: ${name}`, async () => {
    const array = storedAs(dtype, [...codecs, LITTLE], stored);
    await assertRejected(code, {}, () => array.read());
  });
}

const reversed = (bytes: Uint8Array): Uint8Array => Uint8Array.from(bytes).reverse();

test("codecs of the caller decode and encode chunks and shards of v2 and v3", async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "zarr-codecs-"));
  const codecs = {
    "numcodecs.turned": { decode: reversed, encode: async (bytes: Uint8Array) => reversed(bytes) },
  };
  const seen: unknown[] = [];
  const seeing = {
    "numcodecs.turned": {
      decode: (bytes: Uint8Array, one: unknown) => (
        seen.push(JSON.stringify(one)),
        reversed(bytes)
      ),
    },
  };
  const values = randomTensor("int32", [5, 4], randomFrom(9));
  const turned = { name: "numcodecs.turned", configuration: { by: 1 } };
  for (const [at, shards] of [null, [4, 4], null].entries()) {
    const place = path.join(folder, `${at}.zarr`);
    const file = path.join(place, at === 2 ? ".zarray" : "zarr.json");
    await createArray(place, {
      dtype: "int32",
      shape: [5, 4],
      chunkShape: [2, 4],
      shards,
      codecs: ["numcodecs.lz4"],
      zarrFormat: at === 2 ? 2 : 3,
    });
    const renamed = at === 2 ? { id: "turned", by: 1 } : turned;
    const text = JSON.stringify(JSON.parse(fs.readFileSync(file, "utf8")), (_, one) =>
      one?.name === "numcodecs.lz4" || one?.id === "lz4" ? renamed : one,
    );
    fs.writeFileSync(file, text);
    await assertRejectedCode("unsupported-codec", {}, () => openArray(place));
    const array = await openArray(place, { codecs });
    await array.write(values);
    assert.deepEqual(await array.read(), values);
    assert.deepEqual(await (await openArray(place, { codecs: seeing })).read(), values);
    assert.deepEqual(seen.at(-1), '{"by":1}');
    const fixed = await openArray(place, { codecs: seeing });
    await assertRejectedCode("attribute", { key: "codecs" }, () => fixed.write(values));
    const other = await openArray(place, {
      codecs: { "numcodecs.turned": { decode: () => "x" as never } },
    });
    await assertRejectedCode("malformed-file", {}, () => other.read());
    const longer = await openArray(place, {
      codecs: { "numcodecs.turned": { decode: () => new Uint8Array(99) } },
    });
    await assertRejectedCode("malformed-file", {}, () => longer.read());
    const out = path.join(folder, "rows.npy");
    await assertRejectedCode("unsupported-codec", {}, () =>
      gatherChunked(array, array, { out, function: "gatherElements", axis: 0 }),
    );
    assert.ok(!fs.existsSync(out));
  }
  fs.rmSync(folder, { recursive: true });
});

test("the memory that a codec of the caller returns stays its own", async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "zarr-codecs-"));
  const place = path.join(folder, "own.zarr");
  const length = 2 ** 17;
  await createArray(place, {
    dtype: "uint8",
    shape: [2 * length],
    chunkShape: [length],
    codecs: ["numcodecs.lz4"],
  });
  const file = path.join(place, "zarr.json");
  fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace("numcodecs.lz4", "numcodecs.own"));
  const memory = new Uint8Array(length);
  const copy = (bytes: Uint8Array): Uint8Array => (memory.set(bytes), memory);
  const array = await openArray(place, {
    codecs: { "numcodecs.own": { decode: copy, encode: copy } },
  });
  const values = randomTensor("uint8", [2 * length], randomFrom(10));
  await array.write(values);
  assert.deepEqual(await array.read(), values);
  assert.deepEqual(await array.read(), values);
  assert.equal(memory.length, length);
  fs.rmSync(folder, { recursive: true });
});

for (const codecs of [
  null,
  { zstd: { decode: reversed } },
  { "numcodecs.delta": { decode: reversed } },
  { x: null },
  { x: { decode: 1 } },
  { x: { decode: reversed, encode: 1 } },
]) {
  test(`codecs ${JSON.stringify(codecs)} of the caller are refused`, async () => {
    await assertRejected("attribute", {}, () =>
      openArray("nowhere.zarr", { codecs: codecs as never }),
    );
  });
}
