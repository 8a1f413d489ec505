/** Arrays of Zarr v2 that zarr-python has written. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { full, tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import type { Scalar } from "../../src/core/tensor/dtype.ts";
import { parseJson, type JsonObject } from "../../src/arrays/zarr/json.ts";
import { ZarrArray } from "../../src/arrays/zarr/array.ts";
import { parseMetadataV2 } from "../../src/arrays/zarr/metadata-v2.ts";
import { ZARR_V2 } from "../fixtures/zarr-v2.ts";
import { MemoryStore } from "../support/memory-store.ts";
import { assertRefused } from "../support/refusal.ts";

const SHAPE = [5, 3] as const;
const COUNT = Array.from({ length: 15 }, (_, at) => at);

// What the script that wrote them has computed.
const EXPECTED: Readonly<Record<string, readonly [Tensor, Scalar]>> = {
  default: [tensor("int32", SHAPE, COUNT), 0],
  "f-order-big": [
    tensor(
      "float32",
      SHAPE,
      COUNT.map((at) => at * 0.5),
    ),
    -1.5,
  ],
  "zstd-nested": [tensor("int64", SHAPE, COUNT), 0n],
  "gzip-attrs": [
    tensor(
      "complex64",
      SHAPE,
      COUNT.flatMap((at) => [at, 2 * at]),
    ),
    [NaN, 1],
  ],
  zlib: [
    tensor(
      "bool",
      SHAPE,
      COUNT.map((at) => at % 2),
    ),
    true,
  ],
  "blosc-zstd": [
    tensor(
      "float16",
      SHAPE,
      COUNT.map((at) => at - 3),
    ),
    Infinity,
  ],
  scalar: [full("uint16", [], 7), 0],
};

for (const [name, files] of Object.entries(ZARR_V2)) {
  test(`zarr-python's array "${name}" is read`, async () => {
    const store = new MemoryStore();
    const metadata = new Map<string, JsonObject>();
    for (const [key, content] of Object.entries(files)) {
      if (typeof content === "string") {
        store.objects.set(
          key,
          Uint8Array.from(atob(content), (one) => one.charCodeAt(0)),
        );
      } else {
        metadata.set(key, parseJson(new TextEncoder().encode(JSON.stringify(content)), key));
      }
    }
    const json = metadata.get(".zarray") ?? assert.fail();
    const array = new ZarrArray(store, parseMetadataV2(json, metadata.get(".zattrs"), name), "");
    const [expected, fill] = EXPECTED[name];
    assert.ok(equals(await array.read(), expected));
    assert.deepEqual(array.fillValue, fill);
    assert.deepEqual(await array.stored(), {
      chunks: store.objects.size,
      bytes: [...store.objects.values()].reduce((sum, { length }) => sum + length, 0),
    });
    if (name === "gzip-attrs") assert.equal(array.attributes["unit"], "m");
    const [key] = store.objects.keys();
    store.objects.delete(key);
    assert.ok(!equals(await array.read(), expected), "a missing chunk is the fill value");
  });
}

test("every recorded array has its values here", () => {
  assert.deepEqual(Object.keys(ZARR_V2).toSorted(), Object.keys(EXPECTED).toSorted());
});

test("a .zarray of another version is refused", () => {
  assertRefused("malformed-file", {}, () =>
    parseMetadataV2({ zarr_format: 3 }, undefined, "memory"),
  );
});
