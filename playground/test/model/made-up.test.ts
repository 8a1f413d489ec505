/** Made-up inputs of a model: the CLI's rules for `--random`. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { tensor, type Tensor } from "ndscatter";
import { buildModel, type Model } from "ndscatter/onnx";
import { refusal } from "../../src/model/holds.ts";
import { withMadeUp } from "../../src/model/made-up.ts";

/** A gather along an axis of a size, which is an input or a number. */
const gathers = (rows: number, width: number | string): Model =>
  buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: {
      table: { dtype: "float32", shape: [rows, width] },
      ids: { dtype: "int64", shape: ["batch", "N"] },
      flag: { dtype: "bool", shape: [] },
    },
    nodes: [{ op: "Gather", inputs: ["table", "ids"], outputs: ["y"] }],
    outputs: { y: null, flag: null },
  });

function madeUp(model: Model, given: ReadonlyMap<string, Tensor> = new Map()) {
  const found = withMadeUp(model, given);
  if ("error" in found) assert.fail(found.error);
  return found;
}

test("indices are within their axis, and dimensions have usual sizes", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30_000 }), (rows) => {
      const { feeds, remarks } = madeUp(gathers(rows, 3));
      const { table, ids, flag } = feeds;
      assert.deepEqual([table.shape, ids.shape, flag.shape], [[rows, 3], [1, 4], []]);
      for (const id of ids.data as BigInt64Array) assert.ok(id >= 0n && id < BigInt(rows));
      // A large tensor repeats its first elements, so its last element is drawn too.
      const values = [...(table.data as Float32Array)];
      assert.ok(values.every((value) => value >= -1 && value <= 1));
      if (values.length > 100) assert.ok(values.slice(-50).some((value) => value !== 0));
      assert.match(
        remarks.join(),
        /^table float32\[\d+, 3\], ids int64\[1, 4\] and flag bool\[\] are/,
      );
    }),
  );
});

test("given tensors stay, and set the sizes of dimensions with the same name", () => {
  const model = buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: {
      a: { dtype: "float32", shape: ["N"] },
      b: { dtype: "float32", shape: ["N", 2] },
    },
    nodes: [],
    outputs: { a: null, b: null },
  });
  const a = tensor("float32", [7], [1, 2, 3, 4, 5, 6, 7]);
  const { feeds, remarks } = madeUp(model, new Map([["a", a]]));
  assert.equal(feeds["a"], a);
  assert.deepEqual(feeds["b"].shape, [7, 2]);
  assert.match(remarks.join(), /^b float32\[7, 2\] is made up/);
  assert.deepEqual(
    madeUp(
      model,
      new Map([
        ["a", a],
        ["b", feeds["b"]],
      ]),
    ).remarks,
    [],
  );
});

test("an input of an unknown shape, and one that is too large, are refused", () => {
  const model = buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: { x: { dtype: "float32", shape: null } },
    nodes: [],
    outputs: { x: null },
  });
  assert.match(String(Reflect.get(withMadeUp(model, new Map()), "error")), /input x .*x\.npy/);
  const large = withMadeUp(gathers(2 ** 20, 2 ** 12), new Map());
  assert.match(String(Reflect.get(large, "error")), /table of shape .* is too large/);
});

test("a device holds an eighth of its memory, and never more than 1 GB", () => {
  assert.equal(refusal(2 ** 29, 4), null);
  assert.match(refusal(2 ** 29 + 1, 4) ?? "", /537 MB, but a device with 4 GB of memory/);
  assert.equal(refusal(2 ** 30, undefined), null);
  assert.match(refusal(2 ** 30 + 1, 8) ?? "", /but a browser can hold models of up to 1,074 MB/);
});
