/** ONNX models: read, edited, written; what is not understood survives. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { DTYPE_NAMES } from "../src/tensor/dtype.ts";
import { isTensorError, type ErrorCode } from "../src/errors.ts";
import {
  buildModel,
  constant,
  readModel,
  writeModel,
  writeTensor,
  type AttributeInput,
  type Model,
} from "../src/onnx/index.ts";
import { tensor } from "../src/tensor/tensor.ts";
import { bytes, file, float, int, text, type Bytes } from "./onnx-encoder.ts";

const dim = (...parts: Bytes[]): Bytes => bytes(1, parts.flat());
const valueInfo = (name: string, ...type: Bytes[]): Bytes => [...text(1, name), ...type.flat()];
const tensorType = (elem: number, ...dims: Bytes[]): Bytes =>
  bytes(2, bytes(1, [...int(1, elem), ...bytes(2, dims.flat())]));
const attribute = (...parts: Bytes[]): Bytes => bytes(5, parts.flat());
const model = (...graph: Bytes[]): Uint8Array =>
  file(int(1, 8), bytes(7, graph.flat()), bytes(8, int(2, 18)));
const node = (op: string, ...parts: Bytes[]): Bytes => bytes(1, [...text(4, op), ...parts.flat()]);

/** A model with something unknown, or something that is not read, at every level. */
const RICH = file(
  int(1, 9),
  text(2, "tool"),
  text(3, "1.0"),
  text(4, "some.domain"),
  int(5, 7),
  text(6, "about the model"),
  bytes(7, [
    ...bytes(1, [
      ...text(1, "x"),
      ...text(2, "y"),
      ...text(3, "n"),
      ...text(4, "If"),
      ...attribute(
        text(1, "then_branch"),
        bytes(6, text(2, "subgraph")),
        text(13, "doc"),
        int(20, 5),
      ),
      ...attribute(text(1, "axis"), int(3, -1), int(20, 2), int(77, 3)),
      ...attribute(text(1, "big"), int(3, 2n ** 60n), int(20, 2)),
      ...attribute(text(1, "f"), float(2, 0.1), int(20, 1)),
      ...attribute(text(1, "s"), text(4, "ä"), int(20, 3)),
      ...attribute(text(1, "raw"), bytes(4, [0xff]), int(20, 3)),
      ...attribute(text(1, "ints"), int(8, 1), bytes(8, [2, 3]), int(20, 7)),
      ...attribute(text(1, "floats"), float(7, 1), int(20, 6)),
      ...attribute(text(1, "strings"), text(9, "a"), text(9, ""), int(20, 8)),
      ...attribute(
        text(1, "t"),
        bytes(5, [...int(1, 1), ...int(2, 3), ...bytes(9, [7])]),
        int(20, 4),
      ),
      ...attribute(text(1, "tensors"), bytes(10, [...int(2, 3), ...bytes(9, [7])]), int(20, 9)),
      ...attribute(text(1, "new"), int(20, 99)),
      ...attribute(text(1, "__proto__"), int(3, 1), int(20, 2)),
      ...text(6, "about the node"),
      ...text(7, "my.domain"),
      ...text(8, "overload"),
      ...bytes(9, [...text(1, "k"), ...text(2, "v")]),
    ]),
    ...text(2, "g"),
    // Weights of a type that is not known here, and some that are elsewhere.
    ...bytes(5, [...int(1, 3), ...int(2, 99), ...text(8, "new"), ...bytes(9, [1, 2, 3])]),
    ...bytes(5, [
      ...int(1, 2),
      ...int(2, 1),
      ...text(8, "far"),
      ...int(14, 1),
      ...bytes(13, [...text(1, "location"), ...text(2, "w.bin")]),
    ]),
    ...text(10, "about the graph"),
    ...bytes(11, [
      ...valueInfo(
        "x",
        tensorType(
          1,
          dim(int(1, 0)),
          dim(text(2, "N")),
          dim(),
          dim(int(1, -1)),
          dim(int(1, 5), text(3, "batch")),
        ),
      ),
      ...text(3, "doc"),
    ]),
    ...bytes(11, valueInfo("scalar", tensorType(7))),
    ...bytes(11, valueInfo("rank?", bytes(2, bytes(1, int(1, 10))))),
    ...bytes(11, valueInfo("newIn", tensorType(99, dim(int(1, 2))))),
    ...bytes(11, valueInfo("sequence", bytes(2, bytes(4, bytes(1, bytes(1, int(1, 1))))))),
    ...bytes(12, valueInfo("y")),
    ...bytes(13, valueInfo("between")),
    ...bytes(14, text(1, "x")),
    ...bytes(15, [1]),
    ...int(99, 1),
  ]),
  bytes(8, int(2, 18)),
  bytes(8, [...text(1, "my.domain"), ...int(2, 3), ...int(9, 1)]),
  bytes(14, [...text(1, "k"), ...text(2, "v")]),
  bytes(25, text(1, "function")),
  int(1000, 4),
);

/** The records of a message, as sorted text: two messages with the same records mean the same. */
function records(message: Uint8Array): string[] {
  const list: string[] = [];
  const next = { at: 0 };
  const number = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[next.at++];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (next.at < message.length) {
    const start = next.at;
    const tag = Number(number());
    const wire = tag & 7;
    const end =
      wire === 2 ? Number(number()) + next.at : wire === 5 ? next.at + 4 : (number(), next.at);
    list.push([...message.subarray(start, end)].join());
    next.at = end;
  }
  return list.sort();
}

const field = (message: Uint8Array, tag: number): Uint8Array[] =>
  records(message)
    .map((one) => Uint8Array.from(one.split(","), Number))
    .filter(([first]) => first === tag)
    .map((one) => {
      let at = 2;
      while (one[at - 1] >= 0x80) at++;
      return one.subarray(at);
    });

test("a model is read as plain data", () => {
  const { irVersion, producer, opsets, graph } = readModel(RICH);
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
  const [{ name, op, domain, inputs, outputs, attributes }] = graph.nodes;
  assert.deepEqual([name, op, domain, inputs, outputs], ["n", "If", "my.domain", ["x"], ["y"]]);
  const shown = Object.entries(attributes).map(([key, { type, value }]) => [
    key,
    type,
    typeof value === "object" && "read" in value
      ? value.read().toArray()
      : type === "tensors"
        ? value.length
        : value,
  ]);
  assert.deepEqual(shown, [
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
    ["tensors", "tensors", 1],
    ["new", "other", "type 99"],
    ["__proto__", "int", 1],
  ]);
  assert.deepEqual(
    graph.constants.map((one) => [one.name, one.dtype, one.shape]),
    [
      ["new", null, [3]],
      ["far", "float32", [2]],
    ],
  );
  assert.throws(
    () => graph.constants[0].read(),
    (error) => isTensorError(error, "malformed-file") && /data type 99/.test(error.message),
  );
  assert.throws(
    () => graph.constants[1].read(),
    (error) => isTensorError(error, "unsupported-model"),
  );
  const found = readModel(RICH, {
    external: (_location, _offset, length) => new Uint8Array(length),
  });
  assert.deepEqual(found.graph.constants[1].read().toArray(), [0, 0]);
});

test("everything survives a round trip, whatever it is", () => {
  const written = writeModel(readModel(RICH));
  assert.deepEqual(records(field(written, 0x3a)[0]).length, records(field(RICH, 0x3a)[0]).length);
  const [before, after] = [RICH, written].map((one) =>
    records(field(one, 0x3a)[0]).filter((record) => !record.startsWith("10,")),
  );
  assert.deepEqual(after, before);
  const outside = (one: Uint8Array): string[] =>
    records(one).filter((record) => !record.startsWith("58,"));
  assert.deepEqual(outside(written), outside(RICH));
  const [nodeBefore, nodeAfter] = [RICH, written].map((one) => field(field(one, 0x3a)[0], 0x0a)[0]);
  const notAttribute = (record: string): boolean => !record.startsWith("42,");
  assert.deepEqual(
    records(nodeAfter).filter(notAttribute),
    records(nodeBefore).filter(notAttribute),
  );
  const attributes = (one: Uint8Array): string[] =>
    field(one, 0x2a).flatMap((part) => [records(part).join(" ")]);
  // Packed ints come back one by one: the same values.
  const ints = records(file(text(1, "ints"), int(8, 1), int(8, 2), int(8, 3), int(20, 7))).join(
    " ",
  );
  const packed = records(file(text(1, "ints"), int(8, 1), bytes(8, [2, 3]), int(20, 7))).join(" ");
  assert.deepEqual(
    attributes(nodeAfter).sort(),
    attributes(nodeBefore)
      .map((one) => (one === packed ? ints : one))
      .sort(),
  );
  // And what is written once is written the same for ever.
  assert.deepEqual(writeModel(readModel(written)), written);
});

test("edits are written, and the rest stays", () => {
  const edited = readModel(RICH);
  const { graph } = edited;
  edited.opsets["ai.onnx"] = 13;
  edited.opsets["other"] = 2;
  edited.producer = "me";
  graph.nodes[0].op = "Loop";
  graph.nodes[0].domain = "ai.onnx";
  graph.nodes[0].attributes["axis"] = { type: "int", value: 2 };
  delete graph.nodes[0].attributes["f"];
  graph.nodes[0].inputs.push("z");
  graph.nodes.push({
    name: "",
    op: "Identity",
    domain: "ai.onnx",
    inputs: ["y"],
    outputs: ["w"],
    attributes: {},
  });
  graph.inputs[1].type = { dtype: "int32", shape: ["K", 2, null] };
  graph.outputs = [{ name: "w", type: null }];
  graph.constants[0] = constant("new", tensor("float16", [1], [1]));
  graph.constants[1] = { ...graph.constants[1], name: "renamed" };
  const again = readModel(writeModel(edited));
  assert.deepEqual(again.opsets, { "ai.onnx": 13, "my.domain": 3, other: 2 });
  assert.equal(again.producer, "me");
  const [first, second] = again.graph.nodes;
  assert.deepEqual([first.op, first.domain, first.inputs], ["Loop", "ai.onnx", ["x", "z"]]);
  assert.equal(first.attributes["axis"].value, 2);
  assert.equal(Object.keys(first.attributes).length, 12);
  assert.deepEqual([second.op, second.domain, second.attributes], ["Identity", "ai.onnx", {}]);
  assert.deepEqual(again.graph.inputs[1].type, { dtype: "int32", shape: ["K", 2, null] });
  assert.deepEqual(
    again.graph.outputs.map(({ name }) => name),
    ["w"],
  );
  assert.deepEqual(again.graph.constants[0].read().toArray(), [1]);
  assert.equal(again.graph.constants[1].name, "renamed");
  // The node kept its overload and metadata, the attribute its unknown field, the input its doc string.
  const graphBytes = field(writeModel(edited), 0x3a)[0];
  const shown = new TextDecoder().decode(graphBytes);
  for (const kept of ["overload", "about the node", "about the graph", "subgraph", "between"])
    assert.ok(shown.includes(kept), kept);
});

test("a model from literals", () => {
  const attributes: Record<string, AttributeInput> = {
    i: -1,
    big: 2n ** 62n,
    f: 0.5,
    s: "text",
    t: tensor("uint8", [2], [1, 2]),
    ints: [1, 2n],
    floats: [1, 0.5],
    strings: ["a"],
    one: { type: "float", value: 1 },
  };
  const types = Object.fromEntries(
    DTYPE_NAMES.map((dtype) => [dtype, { dtype, shape: [2, "N", null] }]),
  );
  const built = buildModel({
    opsets: { "": 18 },
    inputs: types,
    constants: { c: tensor("int64", [], 5) },
    nodes: [{ op: "Foo", inputs: ["float32"], outputs: ["y"], attributes }],
    outputs: { y: null },
  });
  const again = readModel(writeModel(built));
  assert.deepEqual(again.opsets, { "ai.onnx": 18 });
  assert.deepEqual(
    again.graph.inputs.map(({ name, type }) => [name, type]),
    Object.entries(types),
  );
  assert.equal(again.graph.constants[0].read().toArray(), 5n);
  const read = Object.entries(again.graph.nodes[0].attributes).map(
    ([name, { type }]) => `${name}:${type}`,
  );
  assert.deepEqual(read, [
    "i:int",
    "big:int",
    "f:float",
    "s:string",
    "t:tensor",
    "ints:ints",
    "floats:floats",
    "strings:strings",
    "one:float",
  ]);
  assert.deepEqual(writeModel(again), writeModel(built));
});

// prettier-ignore
const FAULTS: readonly (readonly [name: string, message: RegExp, bytes: Uint8Array])[] = [
  ["no bytes", /no graph/, file()],
  ["no graph", /no graph/, file(int(1, 8))],
  ["a tensor", /.*/, writeTensor(tensor("int32", [1], [1]))],
  ["a NPY file", /.*/, file([0x93, ...text(0, "UMPY").slice(2), 1, 0])],
  ["a node without op_type", /node 0 of the graph has no op_type/, model(bytes(1, text(1, "x")))],
  ["two attributes of one name", /two attributes "a"/, model(node("Foo", attribute(text(1, "a")), attribute(text(1, "a"))))],
  ["a constant of shape [-1]", /negative dimension/, model(bytes(5, int(1, -1)))],
  ["a graph beyond the end", /the ModelProto has a field 7 of 9 bytes where 0 are left/, file([0x3a, 9])],
  ["a node beyond its graph", /the GraphProto has a field 1 of 9 bytes where 0 are left/, file(bytes(7, [0x0a, 9]), Array(20).fill(0))],
  ["a length of 2^63", /more than 2\^32 bytes/, file([0x3a, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1])],
  ["a wrong wire type", /graph in the wrong encoding/, file(int(7, 1))],
  ["a group", /wire type 3/, file([0x0b, 0x0c])],
  ["a name that is no UTF-8", /the model cannot be decoded/, model(bytes(2, [0xff]))],
  ["an ir_version of 2^60", /ir_version is 1152921504606846976/, file(int(1, 2n ** 60n), bytes(7, []))],
  ["a dimension of 2^60", /a dimension is/, model(bytes(11, valueInfo("x", tensorType(1, dim(int(1, 2n ** 60n))))))],
];

for (const [name, message, hostile] of FAULTS) {
  test(`refused: ${name}`, () => {
    assert.throws(
      () => readModel(hostile),
      (error) =>
        isTensorError(error, "malformed-file") && message.test(error.message)
          ? true
          : assert.fail(String(error)),
    );
  });
}

const foo = (attributes: Record<string, AttributeInput>): Model =>
  buildModel({
    opsets: { "ai.onnx": 18 },
    nodes: [{ op: "Foo", name: "n", inputs: [], outputs: [], attributes }],
    outputs: {},
  });

// prettier-ignore
const UNWRITABLE: readonly (readonly [name: string, code: ErrorCode, make: () => Model])[] = [
  ["an int of 1.5", "attribute", () => foo({ a: { type: "int", value: 1.5 } })],
  ["an int of 2^63", "attribute", () => foo({ a: 2n ** 63n })],
  ["an attribute from nowhere", "attribute", () => foo({ a: { type: "other", value: "GRAPH" } })],
  ["an attribute of nothing", "attribute", () => foo({ a: null as never })],
  ["half a surrogate pair", "dtype", () => foo({ a: "\udc00" })],
  ["an unknown data type", "dtype", () => buildModel({ opsets: {}, nodes: [], outputs: { y: { dtype: "float8" as never, shape: [] } } })],
  ["a dimension of -1", "shape-mismatch", () => buildModel({ opsets: {}, nodes: [], outputs: { y: { dtype: "int8", shape: [-1] } } })],
  ["a node with a version of its own", "unsupported-model", () => { const one = foo({}); one.graph.nodes[0].opset = 3; return one; }],
  ["an opset of 1.5", "unsupported-model", () => buildModel({ opsets: { x: 1.5 }, nodes: [], outputs: {} })],
];

for (const [name, code, make] of UNWRITABLE) {
  test(`not written: ${name}`, () => {
    assert.throws(
      () => writeModel(make()),
      (error) => (isTensorError(error, code) ? true : assert.fail(String(error))),
    );
  });
}

test("100,000 nodes are read and written in linear time", () => {
  const seconds = (count: number): number => {
    const nodes = Array.from({ length: count }, (_, i) => ({
      op: "Identity",
      inputs: [`v${i}`],
      outputs: [`v${i + 1}`],
      attributes: { axis: i },
    }));
    const written = writeModel(buildModel({ opsets: { "ai.onnx": 18 }, nodes, outputs: {} }));
    const start = performance.now();
    assert.equal(readModel(written).graph.nodes.length, count);
    return (performance.now() - start) / 1000;
  };
  seconds(1000);
  assert.ok(seconds(100_000) < 5);
});
