/**
 * What the published documents print, and what is right: the rows of `docs/errata.md` that no other file tests. That
 * each row names tests that are there is held by `docs.test.ts`.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { infer } from "../../src/core/call/check.ts";
import { run, gatherND, scatterElements, scatterND } from "../../src/core/functions.ts";
import { buildModel } from "../../src/entries/onnx.ts";
import { readIR, runModel, writeIR } from "../../src/entries/openvino.ts";
import { resolve } from "../../src/core/operators/registry.ts";
import { tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { EXAMPLES } from "../fixtures/examples.ts";
import { assertRefused } from "../support/refusal.ts";

const i64 = (shape: readonly number[], ...values: number[]) => tensor("int64", shape, values);
const f32 = (shape: readonly number[], ...values: number[]) => tensor("float32", shape, values);
const update = (reduction = "none") => ({
  domain: "openvino",
  op: "ScatterNDUpdate",
  opset: 15,
  attributes: { reduction },
});

const valuesOf = (value: Tensor) => value.toArray();

test("updates end with all of data.shape[k:]", () => {
  const data = zeros("float32", [4, 4, 5]);
  const indices = i64([2, 1], 0, 2);
  for (const opset of [11, 13, 16, 18]) {
    const node = { op: "ScatterND", opset };
    assert.deepEqual(run(node, [data, indices, zeros("float32", [2, 4, 5])])[0].shape, [4, 4, 5]);
    // indices.shape[0:q-1] ++ data.shape[k:r-1], as printed.
    assertRefused("shape-mismatch", {}, () => run(node, [data, indices, zeros("float32", [2, 4])]));
  }
});

test("an index tuple is a tuple, not a list of rows", () => {
  const output = scatterND(f32([2, 2], 0, 0, 0, 0), [[0, 1]], [9]);
  assert.deepEqual(valuesOf(output), [
    [0, 9],
    [0, 0],
  ]);
});

test("the rank of GatherND's output counts the batch dimensions", () => {
  for (const opset of [11, 12, 13]) {
    const [output] = resolve({ op: "GatherND", opset }).outputs;
    assert.equal(output.description.includes("batch_dims"), opset > 11);
  }
  const r = 4;
  for (const b of [0, 1, 2]) {
    for (const q of [b + 1, b + 2]) {
      for (let k = 1; k <= r - b; k++) {
        const shapes = { data: [2, 2, 5, 6], indices: [...[2, 2, 3].slice(0, q - 1), k] };
        const [{ shape }] = infer({ op: "GatherND", opset: 13, attributes: { batch_dims: b } }, [
          { dtype: "float32", shape: shapes.data },
          { dtype: "int64", shape: shapes.indices },
        ]);
        assert.equal(shape?.length, q + r - k - 1 - b);
      }
    }
  }
});

test("each batch of GatherND is addressed on its own", () => {
  const data = tensor("int32", [2, 2, 2], [0, 1, 2, 3, 4, 5, 6, 7]);
  const output = gatherND(data, [[[1, 0]], [[0, -1]]], { batchDims: 1 });
  assert.deepEqual(valuesOf(output), [[2], [5]]);
});

test("a gather gives the updates back where targets are distinct, and only there", () => {
  const data = zeros("float32", [4]);
  const updates = f32([2], 1, 2);
  const back = (indices: Tensor<"int64">) =>
    valuesOf(gatherND(scatterND(data, indices, updates), indices));
  assert.deepEqual(back(i64([2, 1], 3, 0)), [1, 2]);
  assert.deepEqual(back(i64([2, 1], 3, -1)), [2, 2]);
  assert.ok(
    resolve({ op: "ScatterND", opset: 18 }).attributes.every(({ name }) => name !== "batch_dims"),
  );
});

test("equal indices with distinct targets are no duplicates", () => {
  const example = EXAMPLES.find(({ source }) => source.startsWith("ScatterElements, example 1"));
  assert.ok(example);
  const indices = example.indices as number[][];
  assert.equal(new Set(indices.flat()).size, 3);
  const output = scatterElements(
    zeros("float32", [3, 3]),
    indices,
    [
      [1, 2, 3],
      [4, 5, 6],
    ],
    { duplicates: "error" },
  );
  assert.deepEqual(valuesOf(output), [
    [4, 2, 0],
    [1, 0, 6],
    [0, 5, 3],
  ]);
  // Different indices with one target.
  assertRefused("duplicate-index", {}, () =>
    scatterElements(zeros("float32", [3, 1]), [[-1], [2]], [[1], [2]], { duplicates: "error" }),
  );
});

test("every version of ScatterND takes -s to s - 1", () => {
  for (const opset of [11, 13, 16, 18]) {
    const at = (index: number) =>
      valuesOf(
        run({ op: "ScatterND", opset }, [f32([3], 0, 0, 0), i64([1, 1], index), f32([1], 9)])[0],
      );
    assert.deepEqual(at(2), [0, 0, 9]);
    assert.deepEqual(at(-3), [9, 0, 0]);
    assertRefused("index-out-of-range", {}, () => at(3));
    assertRefused("index-out-of-range", {}, () => at(-4));
  }
});

const FIVE = [0, 2, -3, -3, 0];

test("ScatterNDUpdate's examples as printed have k = 5, above the rank", () => {
  const updates = f32([5], 10, 20, 30, 40, 50);
  const indices = tensor("int32", [5], FIVE);
  assertRefused("rank", {}, () => run(update(), [f32([4], 1, 2, 3, 4), indices, updates]));
});

test("ScatterNDUpdate-15, examples 1 and 4", () => {
  const expected = { none: [50, 40, 20, 4], prod: [500, 2400, 60, 4] };
  for (const [reduction, values] of Object.entries(expected)) {
    const inputs = [
      f32([4], 1, 2, 3, 4),
      tensor("int32", [5, 1], FIVE),
      f32([5], 10, 20, 30, 40, 50),
    ];
    assert.deepEqual(valuesOf(run(update(reduction), inputs)[0]), values);
    const rows = EXAMPLES.filter(
      ({ attributes, output }) =>
        attributes?.["reduction"] === reduction &&
        JSON.stringify(output) === JSON.stringify(values),
    );
    assert.equal(rows.length, 1);
  }
});

test("ScatterNDUpdate-15 reduces what is at the tuple", () => {
  const inputs = [f32([2, 2], 1, 2, 3, 4), i64([1, 2], 0, 1), f32([1], 10)];
  assert.deepEqual(valuesOf(run(update("sum"), inputs)[0]), [
    [1, 12],
    [3, 4],
  ]);
});

test("ScatterNDUpdate-15 takes max and min of slices", () => {
  const inputs = [f32([2, 2], 1, 2, 3, 4), i64([1, 1], 0), f32([1, 2], 0, 9)];
  assert.deepEqual(valuesOf(run(update("max"), inputs)[0]), [
    [1, 9],
    [3, 4],
  ]);
  assert.deepEqual(valuesOf(run(update("min"), inputs)[0]), [
    [0, 2],
    [3, 4],
  ]);
  // Element by element, Python's function keeps the old value beside NaN and a zero of the other sign.
  const old = [f32([1, 4], 1, NaN, 0, -0), i64([1, 1], 0), f32([1, 4], NaN, 1, -0, 0)];
  assert.deepEqual(valuesOf(run(update("max"), old)[0]), [[1, NaN, 0, -0]]);
});

test("reduction is an attribute of the node", () => {
  const { attributes } = resolve(update());
  assert.deepEqual(
    attributes.map(({ name }) => name),
    ["reduction"],
  );
  assert.deepEqual(attributes[0].values, ["none", "sum", "sub", "prod", "min", "max"]);
});

test("the type is ScatterNDUpdate, to the letter", () => {
  assert.equal(resolve(update()).name, "ScatterNDUpdate");
  assertRefused("unknown-operator", {}, () => resolve({ ...update(), op: "ScatterNdUpdate" }));
});

test("a tuple has k indices", () => {
  const inputs = (...tuple: number[]) => [
    zeros("float32", [2, 2, 2]),
    i64([1, tuple.length], ...tuple),
    zeros("float32", [1, ...[2, 2, 2].slice(tuple.length)]),
  ];
  for (const tuple of [[1], [1, 1], [1, 1, 1]])
    assert.equal(run(update(), inputs(...tuple)).length, 1);
  assertRefused("rank", {}, () => run(update(), inputs(1, 1, 1, 1)));
});

test("a negative index counts from the end of its axis", () => {
  const inputs = [zeros("float32", [2, 3]), i64([1, 2], -1, -2), f32([1], 9)];
  assert.deepEqual(valuesOf(run(update(), inputs)[0]), [
    [0, 0, 0],
    [0, 9, 0],
  ]);
});

test("ScatterNDUpdate-15 takes max and min of booleans", () => {
  const inputs = [
    tensor("bool", [4], [false, false, true, true]),
    i64([4, 1], 0, 1, 2, 3),
    tensor("bool", [4], [false, true, false, true]),
  ];
  assert.deepEqual(valuesOf(run(update("max"), inputs)[0]), [false, true, true, true]);
  assert.deepEqual(valuesOf(run(update("min"), inputs)[0]), [false, false, false, true]);
});

test("attributes of ScatterElementsUpdate belong on <data>", () => {
  const sum = { reduction: "sum", use_init_val: false };
  const constants = { i: i64([3], 0, 0, 1), axis: i64([], 0) };
  const inputs = { x: f32([2], 1, 2), u: f32([3], 10, 20, 30) };
  const { xml, bin } = writeIR(
    buildModel({
      irVersion: 11,
      opsets: { openvino: 12 },
      constants,
      inputs,
      nodes: [
        {
          domain: "openvino",
          op: "ScatterElementsUpdate",
          inputs: ["x", "i", "u", "axis"],
          outputs: ["y"],
          attributes: sum,
        },
      ],
      outputs: { y: null },
    }),
  );
  const [onData, data] = /<data( reduction="sum" use_init_val="false")\s*\/>/.exec(xml) ?? [];
  assert.ok(onData, xml);
  assert.deepEqual(valuesOf(runModel(readIR(xml, bin), inputs)["y"]), [30, 30]);
  const onLayer = xml
    .replace(onData, "")
    .replace(/(<layer [^>]*type="ScatterElementsUpdate"[^>]*)>/, `$1${data}>`);
  assertRefused("malformed-file", {}, () => readIR(onLayer, bin));
});

test("batches of OpenVINO's GatherND must be equal", () => {
  const data = zeros("float32", [2, 3]);
  for (const opset of [5, 8]) {
    const gather = (batches: number) =>
      run({ domain: "openvino", op: "GatherND", opset, attributes: { batch_dims: 1 } }, [
        data,
        zeros("int64", [batches, 1]),
      ]);
    assert.deepEqual(gather(2)[0].shape, [2]);
    // 1 could be broadcast, as the documents have it; 4 is what one runtime takes, because 2 divides it.
    for (const batches of [1, 4]) assertRefused("shape-mismatch", {}, () => gather(batches));
  }
});
