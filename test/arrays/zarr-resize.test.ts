/** Arrays that change their shape: what was not there is the fill value, whatever a larger array has left in its chunks. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { metadataOf, type CreateOptions } from "../../src/arrays/zarr/create.ts";
import { parseJson } from "../../src/arrays/zarr/json.ts";
import { parseMetadata, printMetadata } from "../../src/arrays/zarr/metadata.ts";
import { fingerprintOf } from "../../src/arrays/zarr/read-key.ts";
import { ZarrArray } from "../../src/arrays/zarr/array.ts";
import { coordinatesOf, product } from "../../src/core/tensor/shape.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { writeNpy } from "../../src/entries/npy.ts";
import { append, createArray, openArray, resize } from "../../src/entries/zarr.ts";
import { caseCount } from "../support/cases.ts";
import { makeHome } from "../support/job-files.ts";
import { MemoryStore } from "../support/memory-store.ts";
import { WITHOUT_NODE_ITSELF } from "../support/platform.ts";
import { assertRejected } from "../support/refusal.ts";

const FILL = -7;

/** The array whose metadata are in a store. */
async function opened(store: MemoryStore): Promise<ZarrArray> {
  const text = store.objects.get("zarr.json") ?? assert.fail();
  const metadata = parseMetadata(parseJson(text, "zarr.json"), "memory");
  return new ZarrArray(store, metadata, await fingerprintOf(text));
}

async function make(options: CreateOptions): Promise<{ store: MemoryStore; array: ZarrArray }> {
  const store = new MemoryStore();
  const text = printMetadata(metadataOf({ ...options, fillValue: FILL }, "memory"));
  await store.put("zarr.json", [new TextEncoder().encode(text)]);
  return { store, array: await opened(store) };
}

/** The coordinates of all elements, in row-major order. */
const places = (shape: readonly number[]): number[][] =>
  Array.from({ length: product(shape) }, (_, at) => coordinatesOf(at, shape));

let next = 0;
const fresh = (shape: readonly number[]): Tensor =>
  tensor(
    "int32",
    shape,
    Int32Array.from({ length: product(shape) }, () => ++next),
  );

const dims = fc.array(fc.nat(9), { minLength: 2, maxLength: 2 });
const step = fc.oneof(
  fc.record({ kind: fc.constant("resize" as const), shape: dims }),
  fc.record({ kind: fc.constant("append" as const), axis: fc.nat(1), count: fc.nat(7) }),
  fc.record({
    kind: fc.constant("write" as const),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
);
const cases = fc.record({
  shape: dims,
  chunkShape: fc.constantFrom([2, 3], [4, 2], [1, 9], [3, 3]),
  shards: fc.boolean(),
  codecs: fc.constantFrom([], ["crc32c"]),
  steps: fc.array(step, { maxLength: 8 }),
});

test("whatever an array was before, it has what was written within its shape, and the fill value", async () => {
  await fc.assert(
    fc.asyncProperty(cases, async ({ shape: first, chunkShape, shards, codecs, steps }) => {
      const { store } = await make({
        dtype: "int32",
        shape: first,
        chunkShape,
        codecs,
        shards: shards ? chunkShape.map((dim) => 2 * dim) : null,
      });
      // Values by coordinates; all other elements have the fill value.
      const model = new Map<string, number>();
      let shape = [...first];
      const put = (values: Tensor, start: readonly number[]): void => {
        for (const [i, at] of places(values.shape).entries()) {
          model.set(String(at.map((one, d) => one + start[d])), Number(values.data[i]));
        }
      };
      for (const one of steps) {
        const array = await opened(store);
        if (one.kind === "resize") {
          shape = [...one.shape];
          const kept = new Set(places(shape).map(String));
          for (const at of model.keys()) if (!kept.has(at)) model.delete(at);
          assert.deepEqual((await resize(array, shape)).shape, shape);
        } else if (one.kind === "append") {
          const { axis, count } = one;
          const start = shape.map((dim, d) => (d === axis ? dim : 0));
          const values = fresh(shape.map((dim, d) => (d === axis ? count : dim)));
          shape = shape.map((dim, d) => (d === axis ? dim + count : dim));
          const longer = await append(array, values, { axis: axis - (count % 2 === 0 ? 0 : 2) });
          assert.deepEqual(longer.shape, shape);
          put(values, start);
        } else {
          const values = fresh(shape.map((dim) => Math.ceil(dim * one.share)));
          await array.write(values);
          put(values, [0, 0]);
        }
        const now = await opened(store);
        assert.deepEqual(now.shape, shape);
        const expected = places(shape).map((at) => model.get(String(at)) ?? FILL);
        assert.deepEqual([...(await now.read()).data], expected);
      }
    }),
    { numRuns: caseCount(600) },
  );
});

test("a reader sees all of what is appended, or nothing", async () => {
  const { store, array } = await make({ dtype: "int32", shape: [5], chunkShape: [2] });
  await array.write(tensor("int32", [5], [1, 2, 3, 4, 5]));
  const cut = new Error("cut off");
  for (const most of [0, 1, 2, 3]) {
    let writes = 0;
    const put = store.put.bind(store);
    store.put = async (key, parts) => {
      if (writes++ === most) throw cut;
      await put(key, parts);
    };
    const values = tensor("int32", [4], [6, 7, 8, 9]);
    await assert.rejects(() => append(array, values), cut);
    store.put = put;
    assert.deepEqual([...(await (await opened(store)).read()).data], [1, 2, 3, 4, 5]);
    const other = await resize(array, [9]);
    assert.deepEqual([...(await other.read()).data], [1, 2, 3, 4, 5, FILL, FILL, FILL, FILL]);
    await resize(other, [5]);
  }
  const longer = await append(await opened(store), tensor("int32", [4], [6, 7, 8, 9]));
  assert.deepEqual([...(await longer.read()).data], [1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

const asWritten = (shape: string): string => `{
  "zarr_format": 3, "node_type":"array",
 "shape" : ${shape} , "data_type": "int32",
  "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
  "chunk_key_encoding": {"name": "default"}, "fill_value": 0, "dimension_names": ["x"],
  "note": {"must_understand": false, "a": 1}, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
  "attributes": {"shape": [9], "float": 1.0, "nan": NaN, "low": -Infinity, "zero": -0.0, "big": 1180591620717411303424,
    "long": 12345678901234567890123456789012345678901234567890, "far": 1e400, "text": "\\u00fc\u{1f600}\\/", "a": {"b": []}}}`;

test("append and resize leave all metadata but the shape, and the text of numbers", async () => {
  const store = new MemoryStore();
  await store.put("zarr.json", [new TextEncoder().encode(asWritten("[\n2 ]"))]);
  // Outside of text, blanks mean nothing.
  const plain = (text: string): string => text.replaceAll(/\s+/g, "");
  const textOf = (): string => plain(new TextDecoder().decode(store.objects.get("zarr.json")));
  const expected = (shape: string): string =>
    plain(asWritten(shape)).replace("\\u00fc", "\u00fc").replace("\\/", "/");
  await append(await opened(store), tensor("int32", [3], [1, 2, 3]), { axis: "x" });
  assert.equal(textOf(), expected("[5]"));
  await resize(await opened(store), [1]);
  assert.equal(textOf(), expected("[1]"));
});

test("an array that got another shape is not written by the object that has the old one", async () => {
  const { store, array } = await make({ dtype: "int32", shape: [5], chunkShape: [4] });
  const values = tensor("int32", [5], [1, 2, 3, 4, 5]);
  await array.write(values);
  const part = array.slice([4, 5]);
  const longer = await append(array, tensor("int32", [2], [6, 7]));

  const one = tensor("int32", [1], [0]);
  const bytes = new Uint8Array(4);
  await assertRejected("attribute", {}, () => array.write(one, [4]));
  await assertRejected("attribute", {}, () => part.write(one));
  await assertRejected("attribute", {}, () => array.writeChunk([1], bytes));
  await assertRejected("attribute", {}, () => array.stageChunk([1], bytes, "a"));
  await longer.write(one, [4]);
  assert.deepEqual([...(await longer.read()).data], [1, 2, 3, 4, 0, 6, 7]);
  // The same shape again is no other one.
  const same = await resize(longer, [7]);
  await longer.write(one, [0]);
  assert.deepEqual([...(await same.read()).data], [0, 2, 3, 4, 0, 6, 7]);
  assert.deepEqual([...(await (await opened(store)).read()).data], [0, 2, 3, 4, 0, 6, 7]);
});

test("an append during which somebody else changes the array changes no metadata", async () => {
  for (const other of ["shape", "job"]) {
    const { store, array } = await make({ dtype: "int32", shape: [4], chunkShape: [2] });
    const put = store.put.bind(store);
    store.put = async (key, parts) => {
      await put(key, parts);
      if (!key.startsWith("c/")) return;
      store.put = put;
      if (other === "shape") await resize(await opened(store), [1]);
      else await put(".ndscatter/job", [new Uint8Array(1)]);
    };

    await assertRejected("attribute", {}, () => append(array, fresh([3])));
    assert.deepEqual((await opened(store)).shape, other === "shape" ? [1] : [4]);
  }
});

test("values, shapes and axes that do not fit are refused, and so is an array that has changed", async () => {
  const { store, array } = await make({ dtype: "int32", shape: [4, 3], chunkShape: [2, 2] });
  const rows = (shape: readonly number[]) => tensor("int32", shape, new Int32Array(product(shape)));
  const before = [...store.objects.keys()];
  for (const values of [5, null, undefined, "x", [1], {}, tensor("int64", [1, 3], [1, 2, 3])]) {
    await assertRejected("dtype", {}, () => append(array, values as never));
  }
  for (const shape of [[2, 4], [3]]) {
    await assertRejected("shape-mismatch", {}, () => append(array, rows(shape)));
  }
  for (const axis of [2, -3, 0.5, "x", null, NaN]) {
    await assertRejected("axis", {}, () => append(array, rows([1, 3]), { axis: axis as number }));
  }
  for (const one of [null, undefined, 3, {}]) {
    await assertRejected("attribute", {}, () => resize(one as never, [1]));
  }
  await assertRejected("rank", {}, () => resize(array, [4]));
  await assertRejected("attribute", {}, () => append(array.slice([1, 2]), rows([1, 3])));
  for (const shape of [
    [4, -1],
    [4, 0.5],
    [2 ** 40, 2 ** 40],
  ]) {
    await assert.rejects(() => resize(array, shape));
  }
  await store.put(".ndscatter/job", [new Uint8Array(1)]);
  await assertRejected("attribute", {}, () => resize(array, [5, 3]));
  await store.remove(".ndscatter/job");
  assert.deepEqual([...store.objects.keys()], before);
  await resize(array, [5, 3]);
  await assertRejected("attribute", {}, () => append(array, rows([1, 3])));
  const options: CreateOptions = { dtype: "int32", shape: [4, 3], chunkShape: [2, 3] };
  const twice = await make({ ...options, dimensionNames: ["x", "x"] });
  await assertRejected("axis", {}, () => append(twice.array, rows([1, 3]), { axis: "x" }));
  assert.deepEqual((await append(twice.array, rows([4, 1]), { axis: 1 })).shape, [4, 4]);
});

test("arrays of v2 and larger ones in files grow too", { skip: WITHOUT_NODE_ITSELF }, async () => {
  const home = makeHome();
  const at = (name: string): string => path.join(home, name);
  fs.mkdirSync(at("old.zarr"));
  const old = {
    ...{ zarr_format: 2, shape: [3, 2], chunks: [2, 2], dtype: "<i4", order: "F" },
    ...{ compressor: { id: "zlib", level: 1 }, fill_value: 9, filters: null },
  };
  fs.writeFileSync(at("old.zarr/.zarray"), JSON.stringify(old));
  fs.writeFileSync(at("old.zarr/.zattrs"), JSON.stringify({ _ARRAY_DIMENSIONS: ["time", "x"] }));
  const array = await openArray(at("old.zarr"));
  await array.write(tensor("int32", [1, 2], [1, 2]), [2, 0]);
  fs.writeFileSync(at("more.npy"), writeNpy(tensor("int32", [3, 2], [3, 4, 5, 6, 7, 8])));
  const seen: unknown[] = [];
  const longer = await append(array, await openArray(at("more.npy")), {
    axis: "time",
    onProgress: (one) => seen.push(one),
  });
  assert.deepEqual(seen, [
    { done: 1, chunks: 2 },
    { done: 2, chunks: 2 },
  ]);
  const expected = [9, 9, 9, 9, 1, 2, 3, 4, 5, 6, 7, 8];
  assert.deepEqual([...(await longer.read()).data], expected);
  assert.deepEqual([...(await (await openArray(at("old.zarr"))).read()).data], expected);
  const json = JSON.parse(fs.readFileSync(at("old.zarr/.zarray"), "utf8"));
  assert.deepEqual(json, { ...old, shape: [6, 2] });
  await resize(longer, [1, 2]);
  assert.deepEqual(fs.readdirSync(at("old.zarr")).toSorted(), [".zarray", ".zattrs"]);
  const npy = await openArray(at("more.npy"));
  await assertRejected("attribute", {}, () => resize(npy, [1, 2]));
  // Snappy is read and not written, and that is said before anything is.
  await createArray(at("s.zarr"), {
    dtype: "int8",
    shape: [2],
    chunkShape: [2],
    codecs: ["blosc"],
  });
  const file = at("s.zarr/zarr.json");
  fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace('"zstd"', '"snappy"'));
  const read = await openArray(at("s.zarr"));
  await assertRejected("attribute", {}, () => append(read, tensor("int8", [1], [1])));
  await assertRejected("attribute", {}, () => read.write(tensor("int8", [1], [1])));
});
