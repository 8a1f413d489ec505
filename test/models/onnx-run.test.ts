/** Running models: what is made of what, and what is refused. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { ErrorCode } from "../../src/core/errors.ts";
import {
  buildModel,
  readModel,
  runModel,
  runNode,
  unsupportedOperators,
  writeModel,
  type ModelNode,
  type ModelNodeSpec,
  type AttributeInput,
  type Model,
  type ModelSpec,
  type Tensors,
} from "../../src/entries/onnx.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { bytes, file, int, text } from "../support/onnx-encoder.ts";
import { assertRefused, type Facts } from "../support/refusal.ts";

const f32 = (shape: number[], values: number[]): Tensor => tensor("float32", shape, values);
const i64 = (shape: number[], values: number[]): Tensor => tensor("int64", shape, values);

/** Every model here also goes through a file. */
const build = (spec: Partial<ModelSpec> & Pick<ModelSpec, "nodes">): Model =>
  readModel(writeModel(buildModel({ opsets: { "ai.onnx": 18 }, outputs: { y: null }, ...spec })));

const scatter = {
  op: "ScatterND",
  name: "scatter",
  inputs: ["data", "indices", "updates"],
  outputs: ["y"],
  attributes: { reduction: "add" },
};

const CACHE = build({
  inputs: {
    data: { dtype: "float32", shape: ["N", 2] },
    updates: { dtype: "float32", shape: [1, 2] },
  },
  constants: { indices: i64([1, 1], [1]) },
  nodes: [scatter],
});

const data = f32([3, 2], [1, 2, 3, 4, 5, 6]);
const updates = f32([1, 2], [10, 20]);

test("a model is run with its constants", () => {
  const { y } = runModel(CACHE, { data, updates });
  assert.deepEqual(y.toArray(), [
    [1, 2],
    [13, 24],
    [5, 6],
  ]);
  assert.deepEqual(data.toArray(), [
    [1, 2],
    [3, 4],
    [5, 6],
  ]);
});

test("nodes are chained, and every kind of Constant makes a tensor", () => {
  const attributes: readonly (readonly [AttributeInput, string, Tensor])[] = [
    [tensor("bool", [2], [true, false]), "value", tensor("bool", [2], [true, false])],
    [7, "value_int", i64([], [7])],
    [2n ** 62n, "value_int", tensor("int64", [], 2n ** 62n)],
    [[1, -2], "value_ints", i64([2], [1, -2])],
    [[], "value_ints", i64([0], [])],
    [{ type: "float", value: 1 }, "value_float", f32([], [1])],
    [0.1, "value_float", f32([], [0.1])],
    [{ type: "floats", value: [1, 2] }, "value_floats", f32([2], [1, 2])],
    ["ä", "value_string", tensor("string", [], "ä")],
    [{ type: "strings", value: ["a", ""] }, "value_strings", tensor("string", [2], ["a", ""])],
  ];
  for (const [value, name, expected] of attributes) {
    const model = build({
      nodes: [
        { op: "Constant", inputs: [], outputs: ["c"], attributes: { [name]: value } },
        { op: "Identity", inputs: ["c"], outputs: ["y"], domain: "ai.onnx" },
      ],
    });
    assert.ok(equals(runModel(model, {}).y, expected), name);
  }
});

test("Cast makes another data type", () => {
  const two = 2n ** 32n;
  const rows: readonly (readonly [Tensor, to: number, Tensor])[] = [
    [
      tensor("int64", [4], [1n, -1n, two + 5n, two / 2n]),
      6,
      tensor("int32", [4], [1, -1, 5, -(2 ** 31)]),
    ],
    [tensor("int32", [3], [-1, 255, 256]), 2, tensor("uint8", [3], [255, 255, 0])],
    [tensor("uint8", [2], [200, 7]), 3, tensor("int8", [2], [-56, 7])],
    [tensor("int8", [2], [-1, 7]), 13, tensor("uint64", [2], [2n ** 64n - 1n, 7n])],
    [f32([3], [1.9, -1.9, 0.5]), 7, tensor("int64", [3], [1n, -1n, 0n])],
    [f32([4], [0, -0, 0.1, NaN]), 9, tensor("bool", [4], [false, false, true, true])],
    [tensor("bool", [2], [true, false]), 1, f32([2], [1, 0])],
    [tensor("float64", [2], [2049, 65520]), 10, tensor("float16", [2], [2048, Infinity])],
    [tensor("int64", [1], [2n ** 53n + 1n]), 11, tensor("float64", [1], [2 ** 53])],
    // Higher bits are discarded.
    [tensor("int32", [4], [-1, 4, 7, 2]), 25, tensor("uint2", [4], [3, 0, 3, 2])],
    [tensor("int32", [4], [-1, 2, 5, -3]), 26, tensor("int2", [4], [-1, -2, 1, 1])],
    [tensor("uint2", [2], [0, 3]), 1, f32([2], [0, 3])],
    [tensor("int2", [2], [-2, 1]), 7, tensor("int64", [2], [-2n, 1n])],
    [tensor("string", [1], ["a"]), 8, tensor("string", [1], ["a"])],
  ];
  for (const [input, to, expected] of rows) {
    const model = build({
      inputs: { x: { dtype: input.dtype, shape: null } },
      nodes: [{ op: "Cast", inputs: ["x"], outputs: ["y"], attributes: { to } }],
    });
    assert.ok(equals(runModel(model, { x: input }).y, expected), `${input.dtype} to ${to}`);
  }
});

test("outputs may be inputs and constants; a constant may be an input's default", () => {
  const model = build({
    inputs: { a: { dtype: "float32", shape: null }, d: { dtype: "int64", shape: [1] } },
    constants: { d: i64([1], [5]), c: i64([], [9]) },
    nodes: [],
    outputs: { a: null, d: null, c: null },
  });
  const a = f32([1], [1]);
  const first = runModel(model, { a });
  assert.equal(first["a"], a);
  assert.deepEqual([first["d"].toArray(), first["c"].toArray()], [[5n], 9n]);
  assert.deepEqual(runModel(model, { a, d: i64([1], [6]) })["d"].toArray(), [6n]);
  assertRefused("shape-mismatch", { input: "c" }, () => runModel(model, { a, c: i64([], [1]) }));
});

test("other domains, by the node's own version and by the model's", () => {
  const inputs = { data, indices: tensor("int32", [1, 1], [0]), updates };
  const model = buildModel({
    opsets: { openvino: 15 },
    inputs: {
      data: { dtype: "float32", shape: null },
      indices: { dtype: "int32", shape: null },
      updates: { dtype: "float32", shape: null },
    },
    nodes: [
      { ...scatter, op: "ScatterNDUpdate", domain: "openvino", attributes: { reduction: "sub" } },
    ],
    outputs: { y: null },
  });
  assert.deepEqual(runModel(model, inputs).y.toArray(), [
    [-9, -18],
    [3, 4],
    [5, 6],
  ]);
  model.graph.nodes[0].opset = 3;
  assertRefused("attribute", { op: "ScatterNDUpdate", opset: 3 }, () => runModel(model, inputs));
});

test("one node of a larger model", () => {
  const model = build({
    constants: { data },
    inputs: { x: { dtype: "float32", shape: null } },
    nodes: [
      { op: "Constant", inputs: [], outputs: ["indices"], attributes: { value: i64([1, 1], [2]) } },
      { op: "Conv", name: "conv", inputs: ["x"], outputs: ["updates"] },
      scatter,
      { op: "Identity", inputs: ["y"], outputs: ["z"] },
      { op: "Identity", inputs: ["z"], outputs: ["w"] },
    ],
    outputs: { z: null },
  });
  const expected = [
    [1, 2],
    [3, 4],
    [15, 26],
  ];
  const [, conv, node, identity, last] = model.graph.nodes;
  assert.deepEqual(runNode(model, node, { updates }).y.toArray(), expected);
  assert.deepEqual(
    runNode(model, node, { updates, indices: i64([1, 1], [2]) }).y.toArray(),
    expected,
  );
  assert.deepEqual(runNode(model, identity, { y: updates }), { z: updates });
  assert.deepEqual(unsupportedOperators(model), ['Conv at opset 18 (node "conv")']);
  // prettier-ignore
  const faults: readonly (readonly [ModelNode, Tensors, ErrorCode, Facts])[] = [
    [node, {}, "shape-mismatch", { input: "updates" }],
    [node, { update: updates }, "shape-mismatch", { input: "update" }],
    // What another node makes of its own inputs is an input, and not computed.
    [last, {}, "shape-mismatch", { input: "z" }],
    [conv, { x: updates }, "unsupported-model", {}],
  ];
  for (const [one, inputs, code, facts] of faults)
    assertRefused(code, facts, () => runNode(model, one, inputs));
});

/** A node of one output "y" unless it says another one. */
const node = (
  op: string,
  inputs: readonly string[],
  more: Partial<ModelNodeSpec> = {},
): ModelNodeSpec => ({ op, inputs, outputs: ["y"], ...more });

const identity = (from: string, to: string, name = ""): ModelNodeSpec =>
  node("Identity", [from], { outputs: [to], name });

const x = { x: { dtype: "float32", shape: [2, "N", "N", null] } } as const;
const zerosOf = (...shape: number[]): Tensors => ({ x: zeros("float32", shape) });
const X = zerosOf(2, 3, 3, 1);

interface Fault {
  readonly name: string;
  readonly code: ErrorCode;
  readonly facts?: Facts;
  readonly nodes: ModelSpec["nodes"];
  /** Beside the input "x" and the output "y". */
  readonly spec?: Partial<ModelSpec>;
  /** By default an "x" that fits. */
  readonly inputs?: Tensors;
}

const SAME = [identity("x", "y")];
const NONE = { inputs: {} };

// prettier-ignore
const FAULTS: readonly Fault[] = [
  // Inputs of the model.
  { name: "an input is missing", code: "shape-mismatch", facts: { input: "x" }, nodes: SAME, inputs: {} },
  { name: "an unknown input", code: "shape-mismatch", facts: { input: "z" }, nodes: SAME, inputs: { ...X, z: data } },
  { name: "another data type", code: "dtype", facts: { input: "x" }, nodes: SAME, inputs: { x: i64([1], [1]) } },
  { name: "another rank", code: "rank", facts: { input: "x", got: 2 }, nodes: SAME, inputs: { x: data } },
  { name: "another size", code: "shape-mismatch", facts: { input: "x", axis: 0, got: 1 }, nodes: SAME,
    inputs: zerosOf(1, 3, 3, 1) },
  { name: "a name of two sizes", code: "shape-mismatch", facts: { input: "x", axis: 2, got: 4 }, nodes: SAME,
    inputs: zerosOf(2, 3, 4, 1) },
  { name: "no tensor", code: "dtype", facts: { input: "x" }, nodes: SAME, inputs: { x: 5 as never } },
  // The graph.
  { name: "a value of nothing", code: "malformed-file", nodes: [identity("z", "y", "n")], spec: NONE, inputs: {} },
  { name: "an output of nothing", code: "malformed-file", nodes: [], spec: NONE, inputs: {} },
  { name: "a use before its making", code: "malformed-file", nodes: [identity("b", "y"), identity("x", "b")] },
  { name: "a ring", code: "malformed-file", nodes: [identity("y", "y")], spec: NONE, inputs: {} },
  { name: "a value made twice", code: "malformed-file", nodes: [identity("x", "y", "a"), identity("x", "y", "b")] },
  { name: "an input made again", code: "malformed-file", nodes: [identity("x", "x")], spec: { outputs: { x: null } } },
  // The version.
  { name: "no opset import", code: "malformed-file", nodes: [node("Foo", [], { name: "n", domain: "my.domain" })],
    spec: NONE, inputs: {} },
  { name: "a domain called as a method", code: "malformed-file", nodes: [node("Foo", [], { domain: "toString" })],
    spec: NONE, inputs: {} },
  { name: "an operator before its time", code: "unsupported-model", nodes: [{ ...scatter, inputs: ["x", "x", "x"] }],
    spec: { opsets: { "": 10 } } },
  // Operators without a Plan.
  { name: "a Constant of two values", code: "attribute", facts: { op: "Constant", opset: 18 }, spec: NONE, inputs: {},
    nodes: [node("Constant", [], { attributes: { value_int: 1, value_ints: [1] } })] },
  { name: "a Constant of nothing", code: "attribute", facts: { op: "Constant", opset: 18 },
    nodes: [node("Constant", [])], spec: NONE, inputs: {} },
  { name: "a Constant of the wrong type", code: "attribute", facts: { op: "Constant", opset: 18 }, spec: NONE,
    inputs: {},
    nodes: [node("Constant", [], { attributes: { value_float: 1 } })] },
  { name: "a Constant with an input", code: "shape-mismatch", facts: { op: "Constant", got: 1 },
    nodes: [node("Constant", ["x"], { attributes: { value_int: 1 } })] },
  { name: "value_int before 12", code: "attribute", facts: { op: "Constant", opset: 11 },
    spec: { ...NONE, opsets: { "": 11 } }, inputs: {},
    nodes: [node("Constant", [], { attributes: { value_int: 1 } })] },
  { name: "an Identity of two", code: "shape-mismatch", facts: { op: "Identity", got: 2 },
    nodes: [node("Identity", ["x", "x"])] },
  { name: "a Cast to nothing known", code: "attribute", facts: { op: "Cast", opset: 18 },
    nodes: [node("Cast", ["x"], { attributes: { to: 99 } })] },
  { name: "a Cast with another attribute", code: "attribute", facts: { op: "Cast", opset: 18 },
    nodes: [node("Cast", ["x"], { attributes: { to: 1, axis: 1 } })] },
  { name: "a Cast to text", code: "dtype", facts: { op: "Cast", input: "input" },
    nodes: [node("Cast", ["x"], { attributes: { to: 8 } })] },
  { name: "a Cast of two", code: "shape-mismatch", facts: { op: "Cast", got: 2 },
    nodes: [node("Cast", ["x", "x"], { attributes: { to: 1 } })] },
  { name: "an Identity with an attribute", code: "attribute", facts: { op: "Identity", opset: 18 },
    nodes: [node("Identity", ["x"], { attributes: { axis: 1 } })] },
  // Nodes.
  { name: "an input left out", code: "malformed-file", nodes: [{ ...scatter, inputs: ["x", "", "x"] }] },
  { name: "too many outputs", code: "malformed-file", nodes: [node("Identity", ["x"], { outputs: ["y", "z"] })] },
  { name: "an axis that is a float", code: "attribute", facts: { op: "GatherElements" },
    nodes: [node("GatherElements", ["x", "x"], { attributes: { axis: { type: "float", value: 1 } } })] },
];

for (const { name, code, facts = {}, nodes, spec = {}, inputs = X } of FAULTS) {
  test(`refused: ${name}`, () => {
    assertRefused(code, facts, () => runModel(build({ inputs: x, nodes, ...spec }), inputs));
  });
}

test("all operators that are not run are in one error", () => {
  const many = Array.from({ length: 25 }, (_, i) => ({
    op: `Op${i}`,
    inputs: [],
    outputs: [`v${i}`],
  }));
  const relu = { op: "Relu", inputs: ["x"], outputs: [""] };
  const nodes = [
    { ...relu, name: "first" },
    scatter,
    relu,
    { ...relu, domain: "my.domain", outputs: ["o"] },
  ];
  const model = (list: ModelSpec["nodes"]): Model =>
    build({
      opsets: { "": 18, "my.domain": 2 },
      inputs: { ...x, data: x.x, indices: x.x, updates: x.x },
      nodes: list,
    });
  assertRefused("unsupported-model", {}, () => runModel(model(nodes), {}));
  const { message } = assertRefused("unsupported-model", {}, () =>
    runModel(model([scatter, ...many]), {}),
  );
  assert.deepEqual(
    message.match(/\bOp\d+/g),
    many.slice(0, 20).map(({ op }) => op),
  );
});

test("an error in a node keeps its fields and names the node", () => {
  const model = build({ inputs: { data: x.x, indices: x.x, updates: x.x }, nodes: [scatter] });
  model.graph.inputs = [
    ...["data", "updates"].map((name) => ({ name, type: null })),
    { name: "indices", type: null },
  ];
  const inputs = { data, updates, indices: i64([1, 1], [3]) };
  const where = { op: "ScatterND", opset: 18, input: "indices", at: [0, 0], axis: 0 };
  const facts = { ...where, got: 3, expected: [-3, 2] };
  assertRefused("index-out-of-range", facts, () => runModel(model, inputs));
});

test("two constants of one name", () => {
  const one = bytes(5, [...int(2, 7), ...int(7, 1), ...text(8, "c")]);
  const model = readModel(file(int(1, 8), bytes(7, [...one, ...one]), bytes(8, int(2, 18))));
  assertRefused("malformed-file", {}, () => runModel(model, {}));
});
