/** A model as data: literals, titles of nodes, the types that casts make, and files that are read range by range. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { isTensorError } from "../../src/core/errors.ts";
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
import { tensor, zeros } from "../../src/core/tensor/tensor.ts";
import { cast, F32, i64, ovConvert } from "../support/node-models.ts";

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
    assert.throws(
      () => build(odd as never),
      (error) => isTensorError(error, "attribute") && /"a" has a value/.test(error.message),
    );
  }
  assert.throws(
    () =>
      buildModel({
        opsets: {},
        inputs: { x: { dtype: "f32" as never, shape: [] } },
        nodes: [],
        outputs: {},
      }),
    (error) =>
      isTensorError(error, "dtype") && /the data type of "x" is unknown: f32/.test(error.message),
  );
});

test("sentences call a node by its name, or by what it makes", () => {
  const node = { op: "Gather", domain: "", inputs: [], attributes: {} };
  assert.equal(nodeTitle({ ...node, name: "n", outputs: ["y"] }), 'node "n"');
  assert.equal(nodeTitle({ ...node, name: "", outputs: ["y", "z"] }), 'the Gather that makes "y"');
  assert.equal(nodeTitle({ ...node, name: "", outputs: [] }), "an unnamed Gather");
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
    { model: cast({ data: F32(1), attributes: { to: 17 } }), input: "input" },
    { model: cast({ data: zeros("float8e4m3fn", [1]), attributes: { to: 1 } }), input: "input" },
    { model: ovConvert({ ...text, attributes: { destination_type: "f32" } }), input: "data" },
  ];
  for (const { model, input } of models) {
    const isInput = model.graph.inputs.length > 0;
    const inputs: Tensors = isInput ? { data: tensor("float32", [1], [1]) } : {};
    assert.throws(
      () => runModel(model, inputs),
      (error) => {
        assert.ok(isTensorError(error, "dtype"), String(error));
        assert.equal(error.input, input);
        assert.equal(error.op, model.graph.nodes[0].op);
        assert.equal(error.opset, model.opsets["ai.onnx"] ?? 1);
        return true;
      },
    );
  }
  const far = cast({ data: tensor("float64", [2, 1], [1, NaN]), attributes: { to: 6 } });
  assert.throws(
    () => runModel(far, {}),
    (error) => {
      assert.ok(isTensorError(error, "dtype"), String(error));
      assert.deepEqual(error.at, [1, 0]);
      return /int32 has no value for the NaN of the input/.test(error.message);
    },
  );
});

test("a source that does not give what is asked for is a malformed file, and too much is too large", () => {
  const reading = (read: () => unknown) => () => readRange({ size: 8, read: read as never }, 2, 5);
  assert.deepEqual(reading(() => Uint8Array.of(1, 2, 3))(), Uint8Array.of(1, 2, 3));
  const asked: number[] = [];
  readRange({ size: 8, read: (...range) => (asked.push(...range), new Uint8Array(3)) }, 2, 5);
  assert.deepEqual(asked, [2, 3]);
  const rows: readonly (readonly [unknown, RegExp])[] = [
    [Uint8Array.of(1, 2), /reading 3 bytes from byte 2 of the file gave 2 bytes/],
    [[1, 2, 3], /must give a Uint8Array, got a list/],
    [undefined, /must give a Uint8Array, got undefined/],
  ];
  for (const [given, says] of rows) {
    assert.throws(
      reading(() => given),
      (error) => isTensorError(error, "malformed-file") && says.test(error.message),
    );
  }
  const throwing = (error: Error) =>
    reading(() => {
      throw error;
    });
  assert.throws(
    throwing(new RangeError("Array buffer allocation failed")),
    (error) => isTensorError(error, "too-large") && /3 bytes do not fit/.test(error.message),
  );
  const own = new TypeError("the disk is gone");
  assert.throws(throwing(own), (error) => error === own);
});
