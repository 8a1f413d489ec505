/** Single updates that are sorted by region, compared with JavaScript: the order of those with one target counts. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createEngine } from "../../src/core/create-engine.ts";
import {
  viewOf,
  type DType,
  type NumericStorage,
  type Reduction,
} from "../../src/core/tensor/dtype.ts";
import { bytesOf } from "../../src/core/tensor/storage.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import type { Path } from "../../src/core/engines/wasm/engine.ts";
import { tracedEngine } from "../support/engines.ts";
import { withLimits } from "../support/limits.ts";
import { randomFrom, randomTensor } from "../support/random.ts";

/** Regions of 64 bytes, and so much data that the last one is not whole. */
const { engine, paths } = await tracedEngine(1, {
  window: 64,
  work: 1,
  element: Infinity,
  regions: 1,
});
const SIZE = 1001;
const js = createEngine({ kind: "js" });
after(() => {
  engine.dispose();
  js.dispose();
});

const random = randomFrom(1);

/** Up to a quarter of data, which is what is sorted; many have one target, and most regions have none. */
function indicesOf(count: number): Tensor {
  const indices = Int32Array.from({ length: count }, () =>
    random(3) === 0 ? 500 + random(4) : random(SIZE) - (random(2) === 0 ? SIZE : 0),
  );
  return tensor("int32", [count, 1], indices);
}

/** The same elements in a buffer that begins some elements earlier. */
function moved({ dtype, shape, data }: Tensor, shared: boolean): Tensor {
  const { byteLength, BYTES_PER_ELEMENT: bytes, length } = data as NumericStorage;
  const Buffer = shared ? SharedArrayBuffer : ArrayBuffer;
  const copy = viewOf(dtype, new Buffer(byteLength + 3 * bytes), 3 * bytes, length);
  (copy as Uint8Array).set(data as Uint8Array);
  return tensor(dtype, shape, copy as never);
}

const bytesIn = ({ data }: Tensor): Uint8Array => bytesOf(data as NumericStorage);

// prettier-ignore
const ROWS: readonly (readonly [DType, readonly Reduction[], Path?])[] = [
  ["float32", ["add", "mul", "max", "min", "sub"]],
  ["float64", ["add", "max"]],
  ["int64", ["add", "min"]],
  ["uint32", ["mul", "max"]],
  // These have no kernel.
  ["complex64", ["add", "mul"], "js"],
  ["int16", ["add"], "js"],
  ["float16", ["add"]],
  ["complex128", ["add"], "js"],
];

for (const [dtype, reductions, path = "windows"] of ROWS) {
  test(`${dtype}: ${reductions.join(", ")}`, () => {
    for (const [turn, reduction] of reductions.entries())
      withLimits(turn, () => compare(reduction));

    function compare(reduction: Reduction): void {
      for (const count of [1, 2, 16, 17, 249, 250]) {
        const data = randomTensor(dtype, [SIZE], random);
        const indices = indicesOf(count);
        const updates = randomTensor(dtype, [count], random);
        const expected = bytesIn(js.scatterND(data, indices, updates, { reduction }));
        const shared = count % 2 === 0 && typeof SharedArrayBuffer === "function";
        const target = moved(data, shared);
        const what = `${reduction} of ${count}`;
        const made = engine.scatterND(data, indices, moved(updates, shared), { reduction });
        assert.deepEqual(bytesIn(made), expected, what);
        engine.scatterND(target, indices, updates, { reduction, out: target });
        assert.deepEqual(bytesIn(target), expected, `${what}, in place`);
        assert.deepEqual(paths().slice(-1), [path]);
      }
    }
  });
}

test("updates that are in the engine's memory, of data that is not", () => {
  const updates = engine.alloc("float32", [200]);
  for (let p = 0; p < 200; p++) updates.data[p] = 1 / (p + 1);
  const data = randomTensor("float32", [SIZE], random);
  const indices = indicesOf(200);
  const expected = bytesIn(js.scatterND(data, indices, updates, { reduction: "add" }));
  const result = engine.scatterND(data, indices, updates, { reduction: "add" });
  assert.deepEqual(bytesIn(result), expected);
  updates.dispose();
});
