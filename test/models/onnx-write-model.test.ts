/** ONNX models as they are written: what is not understood survives, and what ONNX cannot say is refused. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { DTYPE_NAMES } from "../../src/core/tensor/dtype.ts";
import { type ErrorCode } from "../../src/core/errors.ts";
import {
  buildModel,
  constant,
  readModel,
  writeModel,
  type AttributeInput,
  type Model,
} from "../../src/entries/onnx.ts";
import type { TensorType } from "../../src/core/operators/operator.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { RICH_MODEL } from "../fixtures/onnx-rich.ts";
import { bytes, file, int, text } from "../support/onnx-encoder.ts";
import {
  attribute,
  ATTRIBUTE,
  ATTRIBUTE_TYPE,
  GRAPH,
  MODEL,
  modelFile,
  node,
  NODE,
  opset,
} from "../support/onnx-parts.ts";
import { payloadsOf, recordsBut } from "../support/onnx-records.ts";
import { assertRefused, type Facts } from "../support/refusal.ts";
import { secondsOf } from "../support/seconds.ts";

const graphOf = (model: Uint8Array): Uint8Array => payloadsOf(model, MODEL.graph)[0];
const nodeOf = (model: Uint8Array): Uint8Array => payloadsOf(graphOf(model), GRAPH.node)[0];
const attributesOf = (model: Uint8Array): string[] =>
  payloadsOf(nodeOf(model), NODE.attribute).map((one) => recordsBut(one, 0).join(" "));

test("everything survives a round trip, whatever it is", () => {
  const written = writeModel(readModel(RICH_MODEL));
  assert.deepEqual(recordsBut(written, MODEL.graph), recordsBut(RICH_MODEL, MODEL.graph));
  const [after, before] = [written, RICH_MODEL].map(graphOf);
  assert.deepEqual(recordsBut(after, GRAPH.node), recordsBut(before, GRAPH.node));
  assert.equal(payloadsOf(after, GRAPH.node).length, payloadsOf(before, GRAPH.node).length);
  const [nodeAfter, nodeBefore] = [written, RICH_MODEL].map(nodeOf);
  assert.deepEqual(recordsBut(nodeAfter, NODE.attribute), recordsBut(nodeBefore, NODE.attribute));
  // Packed ints come back one by one: the same values.
  const { ints } = ATTRIBUTE;
  const start = [...text(ATTRIBUTE.name, "ints"), ...int(ints, 1)];
  const end = int(ATTRIBUTE.type, ATTRIBUTE_TYPE.INTS);
  const packed = recordsBut(file(start, bytes(ints, [2, 3]), end), 0).join(" ");
  const unpacked = recordsBut(file(start, int(ints, 2), int(ints, 3), end), 0).join(" ");
  assert.deepEqual(
    attributesOf(written).sort(),
    attributesOf(RICH_MODEL)
      .map((one) => (one === packed ? unpacked : one))
      .sort(),
  );
  // And what is written once is written the same for ever.
  assert.deepEqual(writeModel(readModel(written)), written);
});

test("edits are written, and the rest stays", () => {
  const edited = readModel(RICH_MODEL);
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
  const shown = new TextDecoder().decode(graphOf(writeModel(edited)));
  for (const kept of ["overload", "about the node", "about the graph", "subgraph", "between"])
    assert.ok(shown.includes(kept), kept);
});

test("types are replaced, removed and added", () => {
  const model = readModel(RICH_MODEL);
  const [x, , , unknown] = model.graph.inputs;
  // The shape of x has a name of its batch that `Model` does not show: a type that is the same keeps it.
  x.type = { dtype: "float32", shape: [0, "N", null, null, 5] };
  assert.match(new TextDecoder().decode(writeModel(model)), /batch/);
  x.type = null;
  unknown.type = { dtype: "int8", shape: null };
  model.graph.outputs[0].type = { dtype: "string", shape: [] };
  const { graph } = readModel(writeModel(model));
  assert.deepEqual(
    [graph.inputs[0].type, graph.inputs[3].type, graph.outputs[0].type],
    [null, { dtype: "int8", shape: null }, { dtype: "string", shape: [] }],
  );
  assert.doesNotMatch(new TextDecoder().decode(writeModel(model)), /batch/);
});

const TYPES: readonly TensorType[] = [
  { dtype: "float64", shape: [0, "N", null, null, 5] },
  { dtype: "float32", shape: [0, "N", null, null] },
  { dtype: "float32", shape: [0, "M", null, null, 5] },
  { dtype: "float32", shape: [0, "N", null, null, 6] },
  { dtype: "float32", shape: [0, null, null, null, 5] },
  { dtype: "float32", shape: null },
];

test("a type that differs in any part is written anew", () => {
  for (const type of TYPES) {
    const model = readModel(RICH_MODEL);
    model.graph.inputs[0].type = type;
    assert.deepEqual(readModel(writeModel(model)).graph.inputs[0].type, type);
  }
});

/** A model with a body in a node, and one with two. */
const BODIES = modelFile(
  node("If", attribute("then_branch", "GRAPH", bytes(ATTRIBUTE.g, node("Relu")))),
  node(
    "Foo",
    attribute(
      "bodies",
      "GRAPHS",
      bytes(ATTRIBUTE.graphs, node("A")),
      // A body that says its name twice, of which the last counts.
      bytes(ATTRIBUTE.graphs, [...text(GRAPH.name, "x"), ...text(GRAPH.name, "y")]),
    ),
  ),
);

test("bodies are kept to the byte where they are not changed, and written where they are", () => {
  const model = readModel(BODIES);
  assert.deepEqual(
    payloadsOf(graphOf(writeModel(model)), GRAPH.node).map((one) => recordsBut(one, 0)),
    payloadsOf(graphOf(BODIES), GRAPH.node).map((one) => recordsBut(one, 0)),
  );
  const [first, second] = model.graph.nodes.map((one) => Object.values(one.attributes)[0]);
  assert.ok(first.type === "other" && second.type === "other");
  if (first.graphs) first.graphs[0].nodes[0].op = "Abs";
  if (second.graphs) second.graphs[1].name = "z";
  const [one, two] = readModel(writeModel(model)).graph.nodes.map(({ attributes }) => {
    const [{ type, value, ...rest }] = Object.values(attributes);
    assert.equal(type, "other");
    return "graphs" in rest ? [value, ...(rest.graphs ?? [])] : [];
  });
  assert.deepEqual([one[0], two[0]], ["GRAPH", "GRAPHS"]);
  assert.deepEqual(
    [...one.slice(1), ...two.slice(1)].map((graph) =>
      typeof graph === "object" ? [graph.name, graph.nodes.map(({ op }) => op)] : graph,
    ),
    [
      ["", ["Abs"]],
      ["", ["A"]],
      ["z", []],
    ],
  );
});

test("both spellings of ONNX's own domain are kept", () => {
  for (const domain of ["", "ai.onnx"]) {
    const content = file(
      bytes(MODEL.graph, node("Relu", text(NODE.domain, domain))),
      opset(18, domain),
    );
    const model = readModel(content);
    model.opsets["ai.onnx"] = 19;
    const written = writeModel(model);
    assert.deepEqual(payloadsOf(written, MODEL.opsetImport), [file(opset(19, domain).slice(2))]);
    assert.deepEqual(payloadsOf(nodeOf(written), NODE.domain), [file(text(0, domain).slice(2))]);
    assert.deepEqual(readModel(written).opsets, { "ai.onnx": 19 });
  }
  const fresh = buildModel({ opsets: { "ai.onnx": 18 }, nodes: [], outputs: {} });
  assert.deepEqual(payloadsOf(writeModel(fresh), MODEL.opsetImport), [
    file(opset(18, "").slice(2)),
  ]);
});

test("an import that is removed is not written, and of two for one domain the last is", () => {
  const model = readModel(RICH_MODEL);
  delete model.opsets["my.domain"];
  assert.deepEqual(readModel(writeModel(model)).opsets, { "ai.onnx": 18 });
  const twice = readModel(file(bytes(MODEL.graph, []), opset(17, ""), opset(18, "ai.onnx")));
  const imports = payloadsOf(writeModel(twice), MODEL.opsetImport);
  assert.deepEqual(imports, [file(opset(18, "ai.onnx").slice(2))]);
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

test("an attribute whose type changes is written with the new type and the new value alone", () => {
  const values = {
    float: { type: "float", value: 2 },
    int: { type: "int", value: 3 },
    string: { type: "string", value: "" },
    tensor: tensor("uint8", [1], [1]),
    floats: { type: "floats", value: [2] },
    ints: { type: "ints", value: [3, 4] },
    strings: { type: "strings", value: ["a"] },
    "no floats": { type: "floats", value: [] },
    "no ints": { type: "ints", value: [] },
    "no strings": { type: "strings", value: [] },
  } satisfies Record<string, AttributeInput>;
  const all: readonly (readonly [string, AttributeInput])[] = Object.entries(values);
  for (const [before, was] of all) {
    for (const [after, is] of all) {
      const model = readModel(writeModel(foo({ a: was, b: was })));
      const wanted = foo({ a: is, b: was });
      const { a } = wanted.graph.nodes[0].attributes;
      const { attributes } = model.graph.nodes[0];
      // An attribute that was read and changed keeps what else its file said of it.
      attributes["a"] = { ...attributes["a"], ...a } as typeof a;
      assert.deepEqual(writeModel(model), writeModel(wanted), `${before} to ${after}`);
      const { type } = readModel(writeModel(model)).graph.nodes[0].attributes["a"];
      assert.equal(type, after.replace("no ", ""), `${before} to ${after}`);
    }
  }
});

/** A model of one node with these attributes. */
const foo = (attributes: Record<string, AttributeInput>): Model =>
  buildModel({
    opsets: { "ai.onnx": 18 },
    nodes: [{ op: "Foo", name: "n", inputs: [], outputs: [], attributes }],
    outputs: {},
  });

const declaring = (dtype: string, shape: readonly unknown[]): Model =>
  buildModel({ opsets: {}, nodes: [], outputs: { y: { dtype, shape } as never } });

/** A model that `edit` has changed. */
function edited(edit: (model: Model) => void): Model {
  const model = foo({});
  edit(model);
  return model;
}

const HALF = "\ud800";
const tensorOf = (value: number): Tensor => tensor("int8", [], value);
const other = { type: "other", value: "GRAPH" } as const;

// prettier-ignore
const UNWRITABLE: readonly (readonly [name: string, code: ErrorCode, facts: Facts, make: () => Model])[] = [
  ["an int of 1.5", "attribute", { op: "Foo" },
    () => foo({ a: { type: "int", value: 1.5 } })],
  ["an int of 2^53", "attribute", { op: "Foo" },
    () => foo({ a: { type: "int", value: 2 ** 53 } })],
  ["an int of 2^63", "attribute", { op: "Foo" }, () => foo({ a: 2n ** 63n })],
  ["an int of -2^63 - 1", "attribute", { op: "Foo" }, () => foo({ a: -(2n ** 63n) - 1n })],
  ["ints of which one is none", "attribute", { op: "Foo" }, () => foo({ a: { type: "ints", value: [1, NaN] } })],
  ["true", "attribute", { op: "Foo" }, () => foo({ a: true })],
  ["an attribute from nowhere", "attribute", { op: "Foo" }, () => foo({ a: other })],
  ["an attribute of nothing", "attribute", {}, () => foo({ a: null as never })],
  ["an unknown data type", "dtype", {}, () => declaring("float8", [])],
  ["a data type that every object has", "dtype", { input: "x" },
    () => edited(({ graph }) => graph.inputs.push({ name: "x", type: { dtype: "toString" as never, shape: [] } }))],
  ["a dimension of -1", "shape-mismatch", { input: "y" }, () => declaring("int8", [-1])],
  ["a dimension of 0.5", "shape-mismatch", { input: "y" }, () => declaring("int8", [0.5])],
  ["a dimension of 2^53", "shape-mismatch", { input: "y" }, () => declaring("int8", [2 ** 53])],
  ["a node with a version of its own", "unsupported-model", { op: "Foo" },
    () => edited(({ graph }) => { graph.nodes[0].opset = 3; })],
  ["an opset of 1.5", "unsupported-model", {},
    () => edited((model) => { model.opsets["x"] = 1.5; })],
  ["an irVersion of NaN", "unsupported-model", {},
    () => edited((model) => { model.irVersion = NaN; })],
  ["a function that no file has", "unsupported-model", {},
    () => ({ ...foo({}), functions: [{ name: "f", domain: "d", opsets: {}, graph: foo({}).graph }] })],
];

for (const [name, code, facts, make] of UNWRITABLE) {
  test(`not written: ${name}`, () => {
    assertRefused(code, facts, () => writeModel(make()));
  });
}

/** Every place in a model that holds text. */
// prettier-ignore
const TEXTS: Readonly<Record<string, (model: Model) => void>> = {
  "the producer": (model) => { model.producer = HALF; },
  "a domain": (model) => { model.opsets[HALF] = 1; },
  "the name of the graph": ({ graph }) => { graph.name = HALF; },
  "the name of a node": ({ graph }) => { graph.nodes[0].name = HALF; },
  "an operator": ({ graph }) => { graph.nodes[0].op = HALF; },
  "the domain of a node": ({ graph }) => { graph.nodes[0].domain = HALF; },
  "an input of a node": ({ graph }) => { graph.nodes[0].inputs.push(HALF); },
  "an output of a node": ({ graph }) => { graph.nodes[0].outputs.push(HALF); },
  "the name of an attribute": ({ graph }) => { graph.nodes[0].attributes[HALF] = { type: "int", value: 1 }; },
  "a string": ({ graph }) => { graph.nodes[0].attributes["a"] = { type: "string", value: HALF }; },
  "strings": ({ graph }) => { graph.nodes[0].attributes["a"] = { type: "strings", value: ["a", HALF] }; },
  "a constant": ({ graph }) => { graph.constants.push(constant("c", tensor("string", [1], [HALF]))); },
  "the name of a constant": ({ graph }) => { graph.constants.push(constant(HALF, tensorOf(1))); },
  "an input": ({ graph }) => { graph.inputs.push({ name: HALF, type: null }); },
  "an output": ({ graph }) => { graph.outputs.push({ name: HALF, type: null }); },
  "a value": ({ graph }) => { graph.values = [{ name: HALF, type: null }]; },
  "a dimension": ({ graph }) => { graph.inputs.push({ name: "x", type: { dtype: "int8", shape: [HALF] } }); },
};

for (const [place, edit] of Object.entries(TEXTS)) {
  test(`half a surrogate pair is not written as ${place}`, () => {
    assertRefused("dtype", {}, () => writeModel(edited(edit)));
  });
}

test("half a surrogate pair is not the new name of a constant of a file", () => {
  const model = readModel(RICH_MODEL);
  model.graph.constants[1] = { ...model.graph.constants[1], name: HALF };
  assertRefused("dtype", {}, () => writeModel(model));
});

test("50,000 nodes are read and written in linear time", () => {
  const nodes = Array.from({ length: 50_000 }, (_, i) => ({
    op: "Identity",
    inputs: [`v${i}`],
    outputs: [`v${i + 1}`],
    attributes: { axis: i },
  }));
  const model = buildModel({ opsets: { "ai.onnx": 18 }, nodes, outputs: {} });
  const seconds = secondsOf(() => {
    assert.equal(readModel(writeModel(model)).graph.nodes.length, 50_000);
  });
  assert.ok(seconds < 5, `${seconds} s`);
});
