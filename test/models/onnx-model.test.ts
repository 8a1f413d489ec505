/** ONNX models as they are read: what `Model` shows of a file, and files that are refused. */

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  externalFiles,
  readModel,
  writeModel,
  writeTensor,
  type Attribute,
} from "../../src/entries/onnx.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { RICH_MODEL } from "../fixtures/onnx-rich.ts";
import { bytes, file, float, int, text, type Bytes } from "../support/onnx-encoder.ts";
import {
  attribute,
  ATTRIBUTE,
  dim,
  external,
  FUNCTION,
  functionNode,
  GRAPH,
  head,
  initializer,
  MODEL,
  modelFile,
  node,
  NODE,
  opset,
  sparseInitializer,
  TENSOR,
  tensorType,
  valueInfo,
} from "../support/onnx-parts.ts";
import { i64 } from "../support/node-models.ts";
import { assertRefused } from "../support/refusal.ts";

test("a model is read as plain data", () => {
  const { irVersion, producer, opsets, graph, functions } = readModel(RICH_MODEL);
  assert.deepEqual([irVersion, producer, graph.name], [9, "tool", "g"]);
  assert.deepEqual(opsets, { "ai.onnx": 18, "my.domain": 3 });
  assert.deepEqual(
    graph.inputs.map(({ name, type }) => [name, type]),
    [
      ["x", { dtype: "float32", shape: [0, "N", null, null, 5] }],
      ["scalar", { dtype: "int64", shape: [] }],
      ["rank?", { dtype: "float16", shape: null }],
      ["newIn", null],
      ["sequence", null],
    ],
  );
  assert.deepEqual(
    graph.outputs.map(({ name, type }) => [name, type]),
    [["y", null]],
  );
  assert.deepEqual(
    graph.values?.map(({ name, type }) => [name, type]),
    [["between", null]],
  );
  const [{ name, op, domain, inputs, outputs }] = graph.nodes;
  assert.deepEqual([name, op, domain, inputs, outputs], ["n", "If", "my.domain", ["x"], ["y"]]);
  assert.deepEqual(
    functions?.map((one) => [one.name, one.domain, one.graph.nodes]),
    [["function", "ai.onnx", []]],
  );
});

/** What a test compares of an attribute: its type and its value, of tensors what they hold. */
function shown({ type, value }: Attribute): readonly unknown[] {
  if (type === "tensor") return [type, value.read().toArray()];
  if (type === "tensors") return [type, value.map((one) => one.read().toArray())];
  return [type, value];
}

test("attributes have the types of the file", () => {
  const { attributes } = readModel(RICH_MODEL).graph.nodes[0];
  assert.deepEqual(
    Object.entries(attributes).map(([key, one]) => [key, ...shown(one)]),
    [
      ["then_branch", "other", "GRAPH"],
      ["axis", "int", -1],
      ["big", "int", 2n ** 60n],
      ["f", "float", Math.fround(0.1)],
      ["s", "string", "ä"],
      ["raw", "other", "string of bytes"],
      ["ints", "ints", [1, 2, 3]],
      ["floats", "floats", [1]],
      ["strings", "strings", ["a", ""]],
      ["t", "tensor", [7]],
      ["tensors", "tensors", [7]],
      ["new", "other", "type 99"],
      ["__proto__", "int", 1],
    ],
  );
});

/** One attribute of each kind, and what it is read as. */
// prettier-ignore
const ATTRIBUTES: readonly (readonly [what: string, attribute: Bytes, value: readonly unknown[]])[] = [
  ["an int below 2^32", attribute("a", "INT", int(ATTRIBUTE.i, 2 ** 32 - 1)), ["int", 2 ** 32 - 1]],
  ["an int of 2^32 + 1", attribute("a", "INT", int(ATTRIBUTE.i, 2 ** 32 + 1)), ["int", 2 ** 32 + 1]],
  ["an int of -2^32 - 1", attribute("a", "INT", int(ATTRIBUTE.i, -(2 ** 32) - 1)), ["int", -(2 ** 32) - 1]],
  ["the last safe int", attribute("a", "INT", int(ATTRIBUTE.i, 2 ** 53 - 1)), ["int", 2 ** 53 - 1]],
  ["the first bigint", attribute("a", "INT", int(ATTRIBUTE.i, 2n ** 53n)), ["int", 2n ** 53n]],
  ["the least int", attribute("a", "INT", int(ATTRIBUTE.i, -(2n ** 63n))), ["int", -(2n ** 63n)]],
  ["ints of both kinds", attribute("a", "INTS", int(ATTRIBUTE.ints, 2 ** 40), int(ATTRIBUTE.ints, 2n ** 62n)),
    ["ints", [2 ** 40, 2n ** 62n]]],
  ["an int that is left out", attribute("a", "INT"), ["int", 0]],
  ["an int twice, the last counts", attribute("a", "INT", int(ATTRIBUTE.i, 1), int(ATTRIBUTE.i, 2)), ["int", 2]],
  ["packed floats", attribute("a", "FLOATS", bytes(ATTRIBUTE.floats, float(0, 2).slice(1))), ["floats", [2]]],
  ["a float of type int", attribute("a", "INT", float(ATTRIBUTE.f, 1)), ["int", 0]],
  ["a byte order mark", attribute("a", "STRING", text(ATTRIBUTE.s, "\ufeffx")), ["string", "\ufeffx"]],
  ["strings of which one is no text", attribute("a", "STRINGS", text(9, "x"), bytes(9, [0xc3])),
    ["other", "strings of bytes"]],
  ["no type", attribute("a", 0, int(ATTRIBUTE.i, 1)), ["other", "UNDEFINED"]],
  ["a negative type", attribute("a", -1), ["other", "type -1"]],
  ["a sparse tensor", attribute("a", 11), ["other", "SPARSE_TENSOR"]],
  ["a type of 14", attribute("a", 14), ["other", "TYPE_PROTOS"]],
  ["a type of 15", attribute("a", 15), ["other", "type 15"]],
  ["a reference", attribute("a", "INT", text(ATTRIBUTE.refAttrName, "of")), ["other", "int"]],
  ["a reference of no known type", attribute("a", 77, text(ATTRIBUTE.refAttrName, "of")), ["other", "type 77"]],
];

for (const [what, one, value] of ATTRIBUTES) {
  test(`an attribute is read: ${what}`, () => {
    assert.deepEqual(
      shown(readModel(modelFile(node("Foo", one))).graph.nodes[0].attributes["a"]),
      value,
    );
  });
}

test("a reference keeps the name of the attribute that it stands for", () => {
  const one = attribute("a", "INT", text(ATTRIBUTE.refAttrName, "of"));
  const { a } = readModel(modelFile(node("Foo", one))).graph.nodes[0].attributes;
  assert.equal(a.type === "other" && a.reference, "of");
});

// prettier-ignore
const DIMS: readonly (readonly [dim: Bytes, read: unknown])[] = [
  [dim(0), 0],
  [dim(2 ** 32 + 1), 2 ** 32 + 1],
  [dim(2n ** 53n - 1n), 2 ** 53 - 1],
  [dim(-1), null],
  [dim(-(2n ** 63n)), null],
  [dim("N"), "N"],
  [dim(""), null],
  [dim(), null],
  // Of a value and a name the last counts.
  [bytes(1, [...int(1, 5), ...text(2, "N")]), "N"],
  [bytes(1, [...text(2, "N"), ...int(1, 5)]), 5],
];

test("dimensions are sizes, names, or unknown", () => {
  for (const [one, read] of DIMS) {
    const { inputs } = readModel(
      modelFile(bytes(GRAPH.input, valueInfo("x", tensorType(1, one)))),
    ).graph;
    assert.deepEqual(inputs[0].type, { dtype: "float32", shape: [read] });
  }
});

test("an import of `` is one of ai.onnx, and of two the last version counts", () => {
  const imports = [opset(13, ""), opset(18, "ai.onnx"), opset(7), opset(3, "b"), opset(4, "b")];
  const { opsets, otherOpsets } = readModel(file(bytes(MODEL.graph, []), ...imports));
  assert.deepEqual(opsets, { "ai.onnx": 7, b: 4 });
  assert.deepEqual(otherOpsets, { "ai.onnx": [13, 18], b: [3] });
  assert.deepEqual(readModel(file(bytes(MODEL.graph, []), opset(2, "__proto__"))).opsets, {
    ["__proto__"]: 2,
  });
});

const FUNCTION_FILE = file(
  bytes(MODEL.graph, []),
  bytes(MODEL.functions, [
    ...text(FUNCTION.name, "f"),
    ...text(FUNCTION.domain, "my.domain"),
    ...text(FUNCTION.input, "x"),
    ...text(FUNCTION.output, "y"),
    ...functionNode("Relu", text(NODE.input, "x"), text(NODE.output, "y")),
    ...opset(17, undefined, FUNCTION.opsetImport),
    ...bytes(FUNCTION.valueInfo, valueInfo("y", tensorType(1, dim(2)))),
  ]),
);

test("a function is a graph without types for its inputs and outputs", () => {
  const [{ name, domain, opsets, graph }] = readModel(FUNCTION_FILE).functions ?? [];
  assert.deepEqual([name, domain, opsets], ["f", "my.domain", { "ai.onnx": 17 }]);
  assert.equal(graph.name, "f");
  assert.deepEqual(
    [graph.inputs, graph.outputs].map((list) => list.map((one) => [one.name, one.type])),
    [[["x", null]], [["y", null]]],
  );
  assert.deepEqual(
    graph.nodes.map(({ op, inputs, outputs }) => [op, inputs, outputs]),
    [["Relu", ["x"], ["y"]]],
  );
  assert.deepEqual(
    graph.values?.map((one) => [one.name, one.type]),
    [["y", { dtype: "float32", shape: [2] }]],
  );
});

test("constants are decoded when they are read", () => {
  const { constants } = readModel(RICH_MODEL).graph;
  assert.deepEqual(
    constants.map((one) => [one.name, one.dtype, one.shape]),
    [
      ["new", null, [3]],
      ["far", "float32", [2]],
      ["thin", "uint8", [3]],
    ],
  );
  assert.deepEqual(constants[2].read().toArray(), [0, 0, 7]);
  assertRefused("unsupported-file", {}, () => constants[0].read());
  assertRefused("unsupported-model", {}, () => constants[1].read());
  const found = readModel(RICH_MODEL, {
    external: (_location, _offset, length) => new Uint8Array(length),
  });
  assert.deepEqual(found.graph.constants[1].read().toArray(), [0, 0]);
});

const thin = (indices: Tensor, ...dims: readonly number[]): Uint8Array =>
  file(
    bytes(
      MODEL.graph,
      sparseInitializer(
        writeTensor(tensor("float32", [2], [5, -0]), "w"),
        writeTensor(indices),
        ...dims,
      ),
    ),
  );

for (const [indices, dims, dense] of [
  [i64([2], 1, 4), [3, 2], [[0, 5], [0, 0], [-0, 0]]], // prettier-ignore
  [i64([2, 2], 0, 1, 2, 0), [3, 2], [[0, 5], [0, 0], [-0, 0]]], // prettier-ignore
  [i64([2, 1], 2, 0), [3], [-0, 0, 5]],
] as const) {
  test(`a sparse initializer with indices ${indices} is dense, and is written as it was`, () => {
    const bytesOfFile = thin(indices, ...dims);
    const model = readModel(bytesOfFile);
    const [one] = model.graph.constants;
    assert.deepEqual([one.name, one.dtype, one.shape], ["w", "float32", dims]);
    assert.deepEqual(one.read().toArray(), dense);
    assert.deepEqual(writeModel(model), bytesOfFile);
    const changed = readModel(
      writeModel({ ...model, graph: { ...model.graph, constants: [{ ...one, name: "v" }] } }),
    );
    assert.deepEqual(changed.graph.constants.map(({ name }) => name), ["v"]); // prettier-ignore
    assert.deepEqual(changed.graph.constants[0].read().toArray(), dense);
  });
}

for (const [title, code, indices, dims] of [
  ["an index out of range", "malformed-file", i64([2], 1, 6), [3, 2]],
  ["a negative index", "malformed-file", i64([2], -1, 1), [3, 2]],
  ["a coordinate out of range", "malformed-file", i64([2, 2], 0, 2, 0, 0), [3, 2]],
  ["fewer indices than values", "malformed-file", i64([1], 1), [3, 2]],
  ["indices of int32", "malformed-file", tensor("int32", [2], [1, 2]), [3, 2]],
  ["more elements than memory", "too-large", i64([2], 1, 2), [2 ** 29]],
] as const) {
  test(`refused: a sparse initializer with ${title}`, () => {
    const [one] = readModel(thin(indices, ...dims)).graph.constants;
    assertRefused(code, {}, () => one.read());
  });
}

/** A tensor of a byte that is in another file. */
const far = (location: string): Bytes => [...head("uint8", 1), ...external({ location })];
const farAttribute = (location: string): Bytes =>
  attribute("value", "TENSOR", bytes(ATTRIBUTE.t, far(location)));

test("the files of a model are named, wherever their tensors are", () => {
  const body = [...initializer(far("body")), ...node("Constant", farAttribute("in body"))];
  const graph = [
    initializer(far("w"), text(TENSOR.name, "a")),
    initializer(far("w"), text(TENSOR.name, "b")),
    initializer(head("uint8", 1), bytes(TENSOR.rawData, [1])),
    node("Constant", farAttribute("attribute")),
    node("Foo", attribute("a", "TENSORS", bytes(ATTRIBUTE.tensors, far("list")))),
    node("If", attribute("then_branch", "GRAPH", bytes(ATTRIBUTE.g, body))),
    node("Bar", attribute("bodies", "GRAPHS", bytes(ATTRIBUTE.graphs, initializer(far("graphs"))))),
  ];
  const inner = functionNode("Constant", farAttribute("function"));
  const whole = file(modelFile(...graph), bytes(MODEL.functions, inner));
  const names = ["attribute", "body", "function", "graphs", "in body", "list", "w"];
  assert.deepEqual(externalFiles(readModel(whole)).sort(), names);
  const leading = modelFile(initializer(far("../w"), text(TENSOR.name, "a")));
  assertRefused("malformed-file", {}, () => externalFiles(readModel(leading)));
});

/** A name in a place where it is no UTF-8. */
const unreadable = (field: number): Bytes => bytes(field, [0xff]);

test("a file of another format is named, and is not called malformed", () => {
  for (const [content, name] of [
    ["\u0093NUMPY\u0001\0", "an NPY file"],
    ["PK\u0003\u0004 and more", "a ZIP archive"],
    ["\u0089HDF\r\n", "an HDF5 file"],
    ["\u001c\0\0\0TFL3", "a TensorFlow Lite model"],
    ["\u0080\u0002\u008a", "a Python pickle"],
    ["# a text", "text"],
    ["<?xml version='1.0'?><net/>", "an XML file"],
    ["<!DOCTYPE html>\n<title>404", "an HTML page"],
    ["\u00ef\u00bb\u00bf <!-- saved -->\n<HTML lang='en'>", "an HTML page"],
    ["<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC", "an HTML page"],
  ] as const) {
    assertRefused("unsupported-file", { got: name }, () =>
      readModel(Uint8Array.from(content, (one) => one.charCodeAt(0))),
    );
  }
});

// prettier-ignore
const FAULTS: readonly (readonly [name: string, bytes: Uint8Array])[] = [
  ["no bytes", file()],
  ["no graph", file(int(MODEL.irVersion, 8))],
  ["a tensor", writeTensor(tensor("int32", [1], [1]))],
  ["a node without op_type", modelFile(bytes(GRAPH.node, text(NODE.input, "x")))],
  ["a second node without op_type", modelFile(node("A"), bytes(GRAPH.node, []))],
  ["two attributes of one name", modelFile(node("Foo", attribute("a", 0), attribute("a", "INT")))],
  ["two attributes of no name", modelFile(node("Foo", attribute("", 0), attribute("", 0)))],
  ["a constant of shape [-1]", modelFile(initializer(int(TENSOR.dims, -1)))],
  ["a bad tensor in an attribute",
    modelFile(node("Foo", attribute("a", "TENSOR", bytes(ATTRIBUTE.t, int(TENSOR.dims, -1)))))],
  ["a graph beyond the end", file([0x3a, 9])],
  ["a node beyond its graph", file(bytes(MODEL.graph, [0x0a, 9]), Array(20).fill(0))],
  ["an attribute beyond its node", modelFile(node("Foo", [0x2a, 3, 0]))],
  ["a node beyond its body", modelFile(node("If", attribute("b", "GRAPH", bytes(ATTRIBUTE.g, [0x0a, 9]))))],
  ["a node beyond its function", file(bytes(MODEL.graph, []), bytes(MODEL.functions, [0x3a, 9]))],
  ["a length of 2^63", file([0x3a, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1])],
  ["a length of 2^32", file([0x3a, 0x80, 0x80, 0x80, 0x80, 0x10])],
  ["a wrong wire type", file(int(MODEL.graph, 1))],
  ["a list of nodes as numbers", modelFile(int(GRAPH.node, 1))],
  ["an operator as a number", modelFile(bytes(GRAPH.node, int(NODE.opType, 1)))],
  ["a float as a varint", modelFile(node("Foo", attribute("a", "FLOAT", int(ATTRIBUTE.f, 1))))],
  ["two packed values of a single field", modelFile(node("Foo", attribute("a", "INT", bytes(ATTRIBUTE.i, [1, 2]))))],
  ["an open packed int", modelFile(node("Foo", attribute("a", "INTS", bytes(ATTRIBUTE.ints, [1, 0x80]))))],
  ["a packed int that never ends",
    modelFile(node("Foo", attribute("a", "INTS", bytes(ATTRIBUTE.ints, [...Array(11).fill(0xff), 0]))))],
  ["a group", file([0x0b, 0x0c])],
  ["the end of a group", file([0x0c])],
  ["a name that is no UTF-8", modelFile(unreadable(GRAPH.name))],
  ["a name in a body that is no UTF-8",
    modelFile(node("If", attribute("b", "GRAPH", bytes(ATTRIBUTE.g, unreadable(GRAPH.name)))))],
  ["a name of a function that is no UTF-8",
    file(bytes(MODEL.graph, []), bytes(MODEL.functions, unreadable(FUNCTION.name)))],
  ["an ir_version of 2^60", file(int(1, 2n ** 60n), bytes(MODEL.graph, []))],
  ["an ir_version of 2^53", file(int(1, 2n ** 53n), bytes(MODEL.graph, []))],
  ["an opset of -2^60", file(bytes(MODEL.graph, []), opset(-(2n ** 60n)))],
  ["a dimension of 2^60", modelFile(bytes(GRAPH.input, valueInfo("x", tensorType(1, dim(2n ** 60n)))))],
];

for (const [name, hostile] of FAULTS) {
  test(`refused: ${name}`, () => {
    assertRefused("malformed-file", {}, () => readModel(hostile));
  });
}

test("what is no bytes is refused", () => {
  assertRefused("malformed-file", {}, () => readModel("model.onnx" as never));
});
