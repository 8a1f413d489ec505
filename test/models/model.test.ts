/** A model as data: literals, titles of nodes, the types that casts make, and files that are read range by range. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { readRange } from "../../src/models/model/byte-source.ts";
import { destinationOf } from "../../src/models/model/inline.ts";
import { nodeTitle } from "../../src/models/model/model.ts";
import {
  buildModel,
  runModel,
  type AttributeInput,
  type Model,
  type Tensors,
} from "../../src/entries/onnx.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { cast, F32, i64, ovConvert } from "../support/node-models.ts";
import { assertRefused } from "../support/refusal.ts";
import { reportSentence } from "../support/sentences.ts";

test("what a literal leaves out has a default", () => {
  const bare = buildModel({ opsets: { "": 18 }, nodes: [], outputs: {} });
  const { irVersion, producer, opsets, graph } = bare;
  assert.deepEqual([irVersion, producer, opsets], [8, "ndscatter", { "ai.onnx": 18 }]);
  assert.deepEqual(graph, { name: "graph", inputs: [], outputs: [], nodes: [], constants: [] });
  const full = buildModel({
    opsets: { "ai.onnx": 18, openvino: 3 },
    irVersion: 9,
    producer: "tool",
    name: "net",
    inputs: { x: F32(2) },
    constants: { c: i64([1], 4) },
    nodes: [{ op: "Gather", inputs: ["x", "c"], outputs: ["y"], name: "n", domain: "my.domain" }],
    outputs: { y: F32("N"), z: null },
  });
  assert.deepEqual(
    [full.irVersion, full.producer, full.graph.name, full.opsets],
    [9, "tool", "net", { "ai.onnx": 18, openvino: 3 }],
  );
  const [{ name, op, domain, inputs, outputs, attributes }] = full.graph.nodes;
  assert.deepEqual(
    [name, op, domain, inputs, outputs, attributes],
    ["n", "Gather", "my.domain", ["x", "c"], ["y"], {}],
  );
  assert.deepEqual(full.graph.inputs, [{ name: "x", type: F32(2) }]);
  assert.deepEqual(full.graph.outputs, [
    { name: "y", type: F32("N") },
    { name: "z", type: null },
  ]);
  const [constant] = full.graph.constants;
  assert.deepEqual([constant.name, constant.dtype, constant.shape], ["c", "int64", [1]]);
});

test("an attribute has the type of its value", () => {
  const rows: readonly (readonly [AttributeInput, unknown])[] = [
    [1, { type: "int", value: 1 }],
    [2n, { type: "int", value: 2n }],
    [0.5, { type: "float", value: 0.5 }],
    ["add", { type: "string", value: "add" }],
    [true, { type: "boolean", value: true }],
    [[], { type: "ints", value: [] }],
    [[1, 2n], { type: "ints", value: [1, 2n] }],
    [[1, 0.5], { type: "floats", value: [1, 0.5] }],
    [["a", "b"], { type: "strings", value: ["a", "b"] }],
    [
      { type: "float", value: 1 },
      { type: "float", value: 1 },
    ],
  ];
  const build = (value: AttributeInput): Model =>
    buildModel({
      opsets: {},
      nodes: [{ op: "Foo", inputs: [], outputs: [], attributes: { a: value } }],
      outputs: {},
    });
  for (const [value, expected] of rows) {
    assert.deepEqual(build(value).graph.nodes[0].attributes, { a: expected });
  }
  const made = build(tensor("int64", [1], [3])).graph.nodes[0].attributes["a"];
  assert.ok(made.type === "tensor");
  assert.deepEqual(made.value.read().toArray(), [3n]);
  for (const odd of [null, undefined, {}, [1, "a"], Symbol("a")]) {
    assertRefused("attribute", {}, () => build(odd as never));
  }
  assertRefused("dtype", {}, () =>
    buildModel({
      opsets: {},
      inputs: { x: { dtype: "f32" as never, shape: [] } },
      nodes: [],
      outputs: {},
    }),
  );
});

test("sentences call a node by its name, or by what it makes", () => {
  const node = { op: "Gather", domain: "", inputs: [], attributes: {} };
  for (const [name, outputs, part] of [
    ["n", ["y"], '"n"'],
    ["", ["y", "z"], '"y"'],
    ["", [], "Gather"],
  ] as const) {
    const title = nodeTitle({ ...node, name, outputs: [...outputs] });
    assert.ok(title.includes(part), title);
    reportSentence("title", title);
  }
});

test("a cast says what data type it makes, and other nodes do not", () => {
  const [toInt64] = cast({ attributes: { to: 7 } }).graph.nodes;
  assert.equal(destinationOf(toInt64), "int64");
  assert.equal(destinationOf({ ...toInt64, op: "Relu" }), null);
  assert.equal(destinationOf({ ...toInt64, domain: "my.domain" }), null);
  assert.equal(
    destinationOf({ ...toInt64, attributes: { to: { type: "string", value: "7" } } }),
    null,
  );
  const [toHalf] = ovConvert({ attributes: { destination_type: "f16" } }).graph.nodes;
  assert.equal(destinationOf(toHalf), "float16");
  assert.equal(destinationOf({ ...toHalf, domain: "ai.onnx" }), null);
  assert.equal(destinationOf({ ...toHalf, op: "Gather" }), null);
});

test("an error of a cast names its input", () => {
  const text = { data: tensor("string", [1], ["a"]) };
  const models = [
    { model: cast({ ...text, attributes: { to: 1 } }), input: "input" },
    {
      model: cast({ data: tensor("float8e5m2", [1], [NaN]), attributes: { to: 6 } }),
      input: "input",
    },
    { model: ovConvert({ ...text, attributes: { destination_type: "f32" } }), input: "data" },
  ];
  for (const { model, input } of models) {
    const isInput = model.graph.inputs.length > 0;
    const inputs: Tensors = isInput ? { data: tensor("float32", [1], [1]) } : {};
    const { op } = model.graph.nodes[0];
    const opset = model.opsets["ai.onnx"] ?? 1;
    assertRefused("dtype", { op, opset, input }, () => runModel(model, inputs));
  }
  const far = cast({ data: tensor("float64", [2, 1], [1, NaN]), attributes: { to: 6 } });
  assertRefused("dtype", { op: "Cast", opset: 13, input: "input", at: [1, 0] }, () =>
    runModel(far, {}),
  );
});

test("a source that does not give what is asked for is a malformed file, and too much is too large", () => {
  const reading = (read: () => unknown) => () => readRange({ size: 8, read: read as never }, 2, 5);
  assert.deepEqual(reading(() => Uint8Array.of(1, 2, 3))(), Uint8Array.of(1, 2, 3));
  const asked: number[] = [];
  readRange({ size: 8, read: (...range) => (asked.push(...range), new Uint8Array(3)) }, 2, 5);
  assert.deepEqual(asked, [2, 3]);
  for (const given of [Uint8Array.of(1, 2), [1, 2, 3], undefined]) {
    assertRefused(
      "malformed-file",
      {},
      reading(() => given),
    );
  }
  const throwing = (error: Error) =>
    reading(() => {
      throw error;
    });
  assertRefused("too-large", {}, throwing(new RangeError("Array buffer allocation failed")));
  const own = new TypeError("the disk is gone");
  assert.throws(throwing(own), (error) => error === own);
});
