/** Running models: what is made of what, and what is refused. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { isTensorError, type ErrorCode, type TensorError } from "../../src/core/errors.ts";
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
import { equals, tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { bytes, file, int, text } from "../support/onnx-encoder.ts";

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
  assert.throws(
    () => runModel(model, { a, c: i64([], [1]) }),
    /"c" is a constant of the model, not an input; it has "a", "d"/,
  );
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
  assert.throws(
    () => runModel(model, inputs),
    (error) => isTensorError(error, "attribute"),
  );
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
  const faults: readonly (readonly [ModelNode, Tensors, ErrorCode, RegExp])[] = [
    [node, {}, "shape-mismatch",
      /node "scatter" needs an input "updates"; its inputs are "data", "indices", "updates"/],
    [node, { update: updates }, "shape-mismatch", /has no input "update"; it has "data"/],
    // What another node makes of its own inputs is an input, and not computed.
    [last, {}, "shape-mismatch", /that makes "w" needs an input "z"; its inputs are "z"/],
    [conv, { x: updates }, "unsupported-model", /Conv at opset 18 \(node "conv"\)/],
  ];
  for (const [one, inputs, code, message] of faults)
    assertThrows(() => runNode(model, one, inputs), code, message);
});

function assertThrows(action: () => unknown, code: ErrorCode, message: RegExp): TensorError {
  try {
    action();
  } catch (error) {
    if (isTensorError(error, code) && message.test(error.message)) return error;
    assert.fail(`${String(error)} is not ${code} ${String(message)}`);
  }
  assert.fail(`nothing thrown, not ${code}`);
}

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
  readonly says: RegExp;
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
  { name: "an input is missing", code: "shape-mismatch", nodes: SAME, inputs: {},
    says: /the model needs an input "x"; its inputs are "x"/ },
  { name: "an unknown input", code: "shape-mismatch", nodes: SAME, inputs: { ...X, z: data },
    says: /no input "z"; it has "x"/ },
  { name: "another data type", code: "dtype", nodes: SAME, inputs: { x: i64([1], [1]) },
    says: /"x" is float32, got int64/ },
  { name: "another rank", code: "rank", nodes: SAME, inputs: { x: data },
    says: /"x" has rank 4, \[2, N, N, \?\], got \[3, 2\]/ },
  { name: "another size", code: "shape-mismatch", nodes: SAME, inputs: zerosOf(1, 3, 3, 1),
    says: /"x" has the shape \[2, N, N, \?\], got \[1, 3, 3, 1\]/ },
  { name: "a name of two sizes", code: "shape-mismatch", nodes: SAME, inputs: zerosOf(2, 3, 4, 1),
    says: /"N" stands for one size, but is 3 in "x" and 4 in "x"/ },
  { name: "no tensor", code: "dtype", nodes: SAME, inputs: { x: 5 as never }, says: /x must be a tensor/ },
  // The graph.
  { name: "a value of nothing", code: "malformed-file", nodes: [identity("z", "y", "n")], spec: NONE, inputs: {},
    says: /node "n" needs "z", which no node computes/ },
  { name: "an output of nothing", code: "malformed-file", nodes: [], spec: NONE, inputs: {},
    says: /no node computes the graph's output "y"/ },
  { name: "a use before its making", code: "malformed-file", nodes: [identity("b", "y"), identity("x", "b")],
    says: /needs "b" before the Identity that makes "b" computes it/ },
  { name: "a ring", code: "malformed-file", nodes: [identity("y", "y")], spec: NONE, inputs: {},
    says: /needs "y" before/ },
  { name: "a value made twice", code: "malformed-file", nodes: [identity("x", "y", "a"), identity("x", "y", "b")],
    says: /"y" is computed twice: by node "a" and by node "b"/ },
  { name: "an input made again", code: "malformed-file", nodes: [identity("x", "x")], spec: { outputs: { x: null } },
    says: /"x" is computed twice: by the inputs/ },
  // The version.
  { name: "no opset import", code: "malformed-file", nodes: [node("Foo", [], { name: "n", domain: "my.domain" })],
    spec: NONE, inputs: {},
    says: /imports no version of the domain my\.domain, to which node "n" belongs; it imports ai\.onnx/ },
  { name: "a domain called as a method", code: "malformed-file", nodes: [node("Foo", [], { domain: "toString" })],
    spec: NONE, inputs: {}, says: /imports no version of the domain toString/ },
  { name: "an operator before its time", code: "unsupported-model", nodes: [{ ...scatter, inputs: ["x", "x", "x"] }],
    spec: { opsets: { "": 10 } }, says: /ScatterND at opset 10/ },
  // Operators without a Plan.
  { name: "a Constant of two values", code: "attribute", spec: NONE, inputs: {},
    nodes: [node("Constant", [], { attributes: { value_int: 1, value_ints: [1] } })],
    says: /exactly one value, got 2 \(the Constant that makes "y"\)/ },
  { name: "a Constant of nothing", code: "attribute", nodes: [node("Constant", [])], spec: NONE, inputs: {},
    says: /exactly one value, got 0/ },
  { name: "a Constant of the wrong type", code: "attribute", spec: NONE, inputs: {},
    nodes: [node("Constant", [], { attributes: { value_float: 1 } })], says: /"value_float" of type int/ },
  { name: "a Constant with an input", code: "shape-mismatch", says: /0 inputs, got 1/,
    nodes: [node("Constant", ["x"], { attributes: { value_int: 1 } })] },
  { name: "value_int before 12", code: "attribute", spec: { ...NONE, opsets: { "": 11 } }, inputs: {},
    nodes: [node("Constant", [], { attributes: { value_int: 1 } })], says: /came with version 12/ },
  { name: "an Identity of two", code: "shape-mismatch", nodes: [node("Identity", ["x", "x"])],
    says: /1 inputs, got 2/ },
  { name: "a Cast to nothing known", code: "attribute", nodes: [node("Cast", ["x"], { attributes: { to: 99 } })],
    says: /to must be the number of a data type/ },
  { name: "a Cast with another attribute", code: "attribute",
    nodes: [node("Cast", ["x"], { attributes: { to: 1, axis: 1 } })],
    says: /unknown attribute "axis"; its attributes are to, saturate, round_mode/ },
  { name: "a Cast to a narrow float", code: "dtype", nodes: [node("Cast", ["x"], { attributes: { to: 17 } })],
    says: /a cast of float8e4m3fn is not supported/ },
  { name: "a Cast to text", code: "dtype", nodes: [node("Cast", ["x"], { attributes: { to: 8 } })],
    says: /string cannot be converted/ },
  { name: "a Cast of two", code: "shape-mismatch", nodes: [node("Cast", ["x", "x"], { attributes: { to: 1 } })],
    says: /1 inputs, got 2/ },
  { name: "an Identity with an attribute", code: "attribute",
    nodes: [node("Identity", ["x"], { attributes: { axis: 1 } })], says: /"axis"/ },
  // Nodes.
  { name: "an input left out", code: "malformed-file", nodes: [{ ...scatter, inputs: ["x", "", "x"] }],
    says: /the required input 1 is missing/ },
  { name: "too many outputs", code: "malformed-file", nodes: [node("Identity", ["x"], { outputs: ["y", "z"] })],
    says: /has 2 outputs, but Identity makes 1/ },
  { name: "an axis that is a float", code: "attribute", says: /"axis" contains floats/,
    nodes: [node("GatherElements", ["x", "x"], { attributes: { axis: { type: "float", value: 1 } } })] },
];

for (const { name, code, says, nodes, spec = {}, inputs = X } of FAULTS) {
  test(`refused: ${name}`, () => {
    assertThrows(() => runModel(build({ inputs: x, nodes, ...spec }), inputs), code, says);
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
  assertThrows(
    () => runModel(model(nodes), {}),
    "unsupported-model",
    /this package does not run: Relu at opset 18 \(2 nodes, first "first"\), my\.domain\.Relu at opset 2 \(node "o"\)$/,
  );
  assertThrows(
    () => runModel(model([scatter, ...many]), {}),
    "unsupported-model",
    /Op0 .*Op19 at opset 18 \(node "v19"\) and 5 more$/,
  );
});

test("an error in a node keeps its fields and names the node", () => {
  const model = build({ inputs: { data: x.x, indices: x.x, updates: x.x }, nodes: [scatter] });
  model.graph.inputs = [
    ...["data", "updates"].map((name) => ({ name, type: null })),
    { name: "indices", type: null },
  ];
  const inputs = { data, updates, indices: i64([1, 1], [3]) };
  const error = assertThrows(
    () => runModel(model, inputs),
    "index-out-of-range",
    /^ScatterND-18: indices\[0, 0\] is 3.* \(node "scatter"\)$/,
  );
  assert.deepEqual(
    [error.op, error.opset, error.input, error.at],
    ["ScatterND", 18, "indices", [0, 0]],
  );
  assert.deepEqual([error.axis, error.got, error.expected], [0, 3, [-3, 2]]);
});

test("two constants of one name", () => {
  const one = bytes(5, [...int(2, 7), ...int(7, 1), ...text(8, "c")]);
  const model = readModel(file(int(1, 8), bytes(7, [...one, ...one]), bytes(8, int(2, 18))));
  assertThrows(() => runModel(model, {}), "malformed-file", /two constants are named "c"/);
});
