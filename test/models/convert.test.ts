/** What conversions make of nodes and of small models: what is rewritten, what is refused, what is noted. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { isTensorError } from "../../src/core/errors.ts";
import {
  convertModel,
  runModel,
  type ConvertTarget,
  type Graph,
  type Model,
  type ModelNode,
  type ModelNodeSpec,
} from "../../src/entries/onnx.ts";
import { elementTypeOf } from "../../src/models/model/element-type.ts";
import { writeIR } from "../../src/entries/openvino.ts";
import { DTYPES, type DType } from "../../src/core/tensor/dtype.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { REFUSALS } from "../fixtures/refusals.ts";
import { EL, G, ND, OPENVINO, REWRITES } from "../fixtures/rewrites.ts";
import { assertSince } from "../support/convert-reasons.ts";
import { asFile } from "../support/model-files.ts";
import {
  cast,
  declaredAs,
  F16,
  F32,
  I32,
  gather,
  I64,
  i64,
  onnxModel,
  openvinoModel,
  ovConvert,
  ovGather,
  ovGatherND,
  scatterElements,
  scatterElementsUpdate,
  scatterND,
  scatterNDUpdate,
  scatterUpdate,
  UNRANKED,
} from "../support/node-models.ts";
import { assertRefused } from "../support/refusal.ts";
import { reportSentence } from "../support/sentences.ts";

const one = (op: string, input = "data"): ModelNodeSpec => ({
  op,
  inputs: [input],
  outputs: ["y"],
});

const SLICES = { data: F32(4, 3), indices: i64([2], 1, 2), updates: F32(2, 3) };

/** A node as the rows have it. */
function printNode({ op, opset, inputs, attributes }: ModelNode): string {
  const settings = Object.entries(attributes).map(
    ([name, { value }]) => `${name}=${JSON.stringify(value)}`,
  );
  return [opset === undefined ? op : `${op}-${opset}`, ...inputs, ...settings].join(" ");
}

for (const { name, of, to, nodes, constants = {} } of REWRITES) {
  test(`rewritten: ${name}`, () => {
    const before = new Set(of.graph.constants.map((one) => one.name));
    const { model, changes } = convertModel(of, to);
    const { graph } = model;
    assert.deepEqual(graph.nodes.map(printNode), nodes);
    // What does not change keeps all that its file says of it.
    const kept = graph.nodes.filter((node) => of.graph.nodes.includes(node));
    const same = of.graph.nodes.filter((node) => nodes.includes(printNode(node)));
    assert.equal(kept.length, same.length);
    assert.equal(changes.length, of.graph.nodes.length - same.length);
    const added = graph.constants.filter((one) => !before.has(one.name));
    assert.deepEqual(
      added.map((one) => one.name),
      Object.keys(constants),
    );
    for (const one of added) {
      if (!equals(one.read(), constants[one.name])) assert.fail(`${one.name} is ${one.read()}`);
    }
    const used = new Set(graph.nodes.flatMap(({ inputs }) => inputs));
    assert.deepEqual(
      graph.constants.filter((one) => !used.has(one.name)),
      [],
    );
  });
}

for (const [row, { of, to, since, code = "unsupported-model" }] of REFUSALS.entries()) {
  const { op } = of.graph.nodes[0];
  test(`refused, row ${row}: ${op} to ${to.domain ?? "ai.onnx"} ${to.opset ?? ""}`, () => {
    assertRefused(code, {}, () => convertModel(of, to));
    if (since !== undefined) assertSince(since, (opset) => convertModel(of, { ...to, opset }));
  });
}

test("nodes that are refused for one reason are counted", () => {
  const { indices, ...inputs } = ND;
  const nodes = Array.from({ length: 25 }, (_, at) => ({
    op: "ScatterND",
    inputs: ["data", "indices", "updates"],
    attributes: { reduction: at === 3 ? "min" : "max" },
    name: `n${at}`,
    outputs: [`y${at}`],
  }));
  const model = onnxModel(18, { inputs, constants: { indices }, nodes, outputs: {} });
  const { message } = assertRefused("unsupported-model", {}, () =>
    convertModel(model, { opset: 16 }),
  );
  // The first node of each of the two reasons.
  assert.deepEqual(message.match(/"n\d+"/g), ['"n0"', '"n3"']);
});

for (const count of [20, 25]) {
  test(`of ${count} reasons 20 are named`, () => {
    const nodes = Array.from({ length: count }, (_, at) => ({
      op: `Odd${at}`,
      inputs: ["data"],
      name: `n${at}`,
      outputs: [`y${at}`],
    }));
    const model = onnxModel(18, { inputs: { data: F32(4) }, nodes, outputs: {} });
    const { message } = assertRefused("unsupported-model", {}, () =>
      convertModel(model, { opset: 16 }),
    );
    assert.deepEqual(
      message.match(/"n\d+"/g),
      nodes.slice(0, 20).map(({ name }) => `"${name}"`),
    );
  });
}

for (const [op, from, to, count] of [
  ["AveragePool", 11, 19, 1],
  ["AveragePool", 19, 18, 1],
  ["AveragePool", 11, 18, 0],
  ["AveragePool", 19, 22, 0],
  ["MaxPool", 11, 19, 0],
] as const) {
  test(`${op} from opset ${from} to ${to} has ${count} notes on other kernels of a runtime`, () => {
    const model = onnxModel(from, {
      inputs: { x: F32(1, 1, 4, 4) },
      nodes: [{ op, inputs: ["x"], outputs: ["y"], attributes: { kernel_shape: [2, 2] } }],
      outputs: { y: null },
    });
    const { changes, notes } = convertModel(model, { opset: to });
    assert.deepEqual([changes.length, notes.length], [0, count]);
  });
}

test("the version of the file is raised where the opset needs it, and lowered with the opset", () => {
  // ONNX: Versioning, Released Versions.
  const rows: readonly [opset: number, before: number, after: number][] = [
    [8, 3, 3],
    [9, 3, 4],
    [10, 3, 5],
    [11, 4, 6],
    [12, 4, 7],
    [13, 3, 7],
    [15, 7, 8],
    [18, 8, 8],
    [19, 8, 9],
    [21, 8, 10],
    [23, 8, 11],
    [24, 9, 12],
    [25, 9, 13],
    [13, 10, 10],
    [12, 13, 7],
    [11, 10, 6],
    // Before IR version 4 every constant had to be an input.
    [8, 13, 4],
  ];
  for (const [opset, before, after] of rows) {
    const model = { ...gather({ ...G, indices: i64([1], 1) }), irVersion: before };
    assert.equal(convertModel(model, { opset }).model.irVersion, after, `opset ${opset}`);
  }
});

test("functions need a version of the file that has them", () => {
  const { graph } = gather(G);
  const functions = [{ name: "f", domain: "d", opsets: {}, graph }];
  const versionOf = (irVersion: number): number =>
    convertModel({ ...gather(G), irVersion, functions }, { opset: 12 }).model.irVersion;
  assert.deepEqual([8, 9, 10, 13].map(versionOf), [8, 8, 10, 10]);
});

test("a constant that is written anew leaves the old one to its other users, and is made once", () => {
  const gather = (from: string, to: string): ModelNodeSpec => ({
    op: "Gather",
    inputs: [from, "indices"],
    outputs: [to],
  });
  const nodes = [
    gather("data", "indices/nonnegative"),
    gather("data", "b"),
    gather("short", "c"),
    { op: "Relu", inputs: ["indices"], outputs: ["y"] },
  ];
  const model = onnxModel(13, {
    inputs: { data: F32(4), short: F32(2) },
    constants: { indices: i64([1], -1), "indices/nonnegative_1": i64([1], 7) },
    nodes,
  });
  const { graph } = convertModel(model, { opset: 10 }).model;
  assert.deepEqual(
    graph.nodes.map(({ inputs }) => inputs[1] ?? inputs[0]),
    ["indices/nonnegative_2", "indices/nonnegative_2", "indices/nonnegative_3", "indices"],
  );
  assert.deepEqual(
    graph.constants.map(({ name, read }) => [name, read().toArray()]),
    [
      ["indices", [-1n]],
      ["indices/nonnegative_1", [7n]],
      ["indices/nonnegative_2", [3n]],
      ["indices/nonnegative_3", [1n]],
    ],
  );
});

test("of two constants each is written anew for itself", () => {
  const read = (indices: string, output: string): ModelNodeSpec => ({
    op: "Gather",
    inputs: ["data", indices],
    outputs: [output],
  });
  const model = onnxModel(13, {
    inputs: { data: F32(4) },
    constants: { a: i64([1], -1), b: i64([1], -2) },
    nodes: [read("a", "x"), read("b", "y")],
  });
  const { graph } = convertModel(model, { opset: 10 }).model;
  assert.deepEqual(
    graph.nodes.map(({ inputs }) => inputs[1]),
    ["a/nonnegative", "b/nonnegative"],
  );
});

test("indices that are repeated for updates are shared by nodes of one shape and axis, and by no others", () => {
  const update = (data: string, updates: string, axis: string): ModelNodeSpec => ({
    op: "ScatterUpdate",
    inputs: [data, "indices", updates, axis],
    outputs: [`${updates}/${axis}`],
  });
  const model = openvinoModel(3, {
    inputs: { data: F32(2, 2, 2), other: F32(3, 2, 2), a: F32(2, 2, 2), b: F32(3, 2, 2) },
    constants: { indices: i64([2], 1, 0), one: i64([], 1), two: i64([], 2) },
    nodes: [
      update("data", "a", "one"),
      update("data", "a", "two"),
      update("other", "b", "one"),
      { ...update("data", "a", "one"), outputs: ["y"] },
    ],
  });
  const { graph } = convertModel(model, { opset: 18 }).model;
  assert.deepEqual(
    graph.nodes.map(({ inputs }) => inputs[1]),
    ["indices/expanded", "indices/expanded_1", "indices/expanded_2", "indices/expanded"],
  );
});

/** ONNX: Operators, the types that each version of Cast takes, beside those that its first one takes. */
const TYPES_SINCE: readonly (readonly [opset: number, dtypes: readonly DType[]])[] = [
  [13, ["bfloat16"]],
  [19, ["float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"]],
  [21, ["uint4", "int4"]],
  [23, ["float4e2m1"]],
  [24, ["float8e8m0"]],
  [25, ["uint2", "int2"]],
  [28, ["float6e2m3", "float6e3m2"]],
];

test("a Convert to a data type becomes a Cast from the opset on whose Cast takes the data type", () => {
  for (const [since, dtypes] of TYPES_SINCE) {
    for (const dtype of dtypes) {
      const elementType = elementTypeOf(dtype);
      if (elementType === null) continue;
      const model = ovConvert({ attributes: { destination_type: elementType } });
      const { nodes } = convertModel(model, { opset: since }).model.graph;
      assert.deepEqual(
        nodes.map(({ op }) => op),
        ["Cast"],
      );
      // Convert to float8 does not saturate, and to float8e8m0 rounds to nearest (run with OpenVINO 2026.4.1).
      const { saturate, round_mode: mode } = nodes[0].attributes;
      assert.equal(saturate?.value, /^float8e[45]/.test(dtype) ? 0 : undefined);
      assert.equal(mode?.value, dtype === "float8e8m0" ? "nearest" : undefined);
      assertRefused("unsupported-model", {}, () => convertModel(model, { opset: since - 1 }));
    }
  }
});

for (const [since, dtypes] of TYPES_SINCE) {
  test(`${dtypes.join(", ")} can be cast to from opset ${since} on`, () => {
    for (const dtype of dtypes) {
      const model = cast({ opset: 28, attributes: { to: DTYPES[dtype].onnx.number } });
      assert.equal(convertModel(model, { opset: since }).unchecked.size, 0);
      assertRefused("unsupported-model", {}, () => convertModel(model, { opset: since - 1 }));
    }
  });
}

test("an input with a default is no constant, because a caller may replace it", () => {
  const model = gather({ data: F32(4), indices: i64([1], -1) });
  model.graph.inputs.push({ name: "indices", type: I64(1) });
  assertRefused("unsupported-model", {}, () => convertModel(model, { opset: 10 }));
});

test("a data type that is not declared is refused where it matters, and noted by force", () => {
  const nodes = [
    { op: "Unknown", domain: "com.example", inputs: ["data"], outputs: ["r"] },
    { op: "ScatterND", name: "n", inputs: ["r", "indices", "r"], outputs: ["y"] },
  ];
  // The model imports no version of the other domain, which runtimes take.
  const model = onnxModel(13, {
    inputs: { data: F32(2) },
    constants: { indices: i64([2, 1], 0, 1) },
    nodes,
  });
  const { cause } = assertRefused("unsupported-model", {}, () =>
    convertModel(model, { opset: 12 }),
  );
  assert.ok(isTensorError(cause));
  const { notes } = convertModel(model, { opset: 12 }, { force: true });
  assert.deepEqual(notes, [`node "n": ${cause.message}`]);
  assert.deepEqual(convertModel(model, { opset: 18 }).notes, []);
});

test("a node behind one that is wrong is not refused as well", () => {
  const scatter = (data: string, updates: string, output: string): ModelNodeSpec => ({
    op: "ScatterNDUpdate",
    inputs: [data, "indices", updates],
    outputs: [output],
  });
  const model = openvinoModel(15, {
    inputs: { data: F32(4), wrong: F32(7), updates: F32(2) },
    constants: { indices: i64([2, 1], 1, 2) },
    nodes: [scatter("data", "wrong", "s"), scatter("s", "updates", "y")],
  });
  const { cause } = assertRefused("unsupported-model", {}, () =>
    convertModel(model, { opset: 18 }),
  );
  // The cause of the only refusal.
  assert.ok(isTensorError(cause, "unsupported-model"));
});

const AXIS_1 = { axis: i64([], 1) };

/** What rests on a declaration alone is noted where it decides the result, and only there. */
// prettier-ignore
const TRUSTED: readonly { of: Model; to: ConvertTarget; isNoted: boolean }[] = [
  { of: declaredAs(gather(G), "data", UNRANKED), to: { opset: 10 },
    isNoted: true },
  { of: declaredAs(gather(G), "data", F32("N", 3)), to: { opset: 10 },
    isNoted: true },
  { of: declaredAs(gather(G), "data", F32(4, "N")), to: { opset: 10 }, isNoted: false },
  { of: declaredAs(gather({ ...G, indices: i64([1], 3) }), "data", UNRANKED), to: { opset: 10 }, isNoted: false },
  { of: declaredAs(gather(G), "data", UNRANKED), to: { opset: 18 }, isNoted: false },
  { of: declaredAs(scatterNDUpdate({ ...ND, data: F32(4, 3), indices: i64([2, 2], 1, 2, 0, -1) }), "data", F32(4, "N")),
    to: { ...OPENVINO, opset: 4 }, isNoted: true },
  { of: declaredAs(ovGather({ ...G, indices: i64([1], 3) }), "data", UNRANKED), to: { opset: 18 },
    isNoted: true },
  { of: declaredAs(ovGather(G), "data", F32(4, "N")), to: { opset: 18 }, isNoted: false },
  { of: declaredAs(scatterUpdate({ ...SLICES, axis: i64([], -2) }), "data", UNRANKED), to: { opset: 18 },
    isNoted: true },
  { of: declaredAs(scatterUpdate(SLICES), "data", UNRANKED), to: { opset: 18 }, isNoted: false },
  { of: declaredAs(scatterUpdate({ ...SLICES, updates: F32(4, 2), ...AXIS_1 }), "updates", UNRANKED), to: { opset: 18 },
    isNoted: true },
];

/** The two rules of comparison differ for floats, of which a note tells. */
// prettier-ignore
const COMPARED: readonly { of: Model; to: ConvertTarget; notes: number }[] = [
  { of: scatterND({ ...ND, attributes: { reduction: "max" } }), to: OPENVINO, notes: 1 },
  { of: scatterElements({ ...EL, attributes: { reduction: "min" } }), to: OPENVINO, notes: 1 },
  { of: scatterNDUpdate({ ...ND, attributes: { reduction: "min" } }), to: { opset: 18 }, notes: 1 },
  { of: scatterElementsUpdate({ ...EL, attributes: { reduction: "max" } }), to: { opset: 18 }, notes: 1 },
  { of: scatterND({ ...ND, data: I32(4), updates: I32(2), attributes: { reduction: "max" } }), to: OPENVINO, notes: 0 },
  { of: scatterND({ ...ND, attributes: { reduction: "add" } }), to: OPENVINO, notes: 0 },
  { of: scatterND({ ...ND, attributes: { reduction: "max" } }), to: { opset: 20 }, notes: 0 },
  { of: scatterNDUpdate({ ...ND, attributes: { reduction: "max" } }), to: { ...OPENVINO, opset: 15 }, notes: 0 },
];

for (const [position, { of, to, notes: count }] of COMPARED.entries()) {
  test(`row ${position} of comparisons: ${count} notes`, () => {
    const { notes } = convertModel(of, to);
    assert.equal(notes.length, count, notes.join());
    for (const note of notes) reportSentence("note", note);
  });
}

/** Casts to floats of 8 bits, whose results Convert may not have. */
// prettier-ignore
const NARROWED: readonly (readonly [to: DType, attributes: ModelNodeSpec["attributes"], notes: number])[] = [
  ["float8e5m2", {}, 1], ["float8e4m3fn", { saturate: 1 }, 1], ["float8e4m3fn", { saturate: 0 }, 0],
  ["float8e8m0", {}, 1], ["float8e8m0", { round_mode: "nearest" }, 0],
  ["float8e8m0", { saturate: 0, round_mode: "nearest" }, 1], ["float4e2m1", {}, 0], ["int4", {}, 0],
];

for (const [dtype, attributes, count] of NARROWED) {
  test(`a Cast to ${dtype} ${Object.entries(attributes ?? {}).join(" ")} becomes a Convert: ${count} notes`, () => {
    const { number } = DTYPES[dtype].onnx;
    const model = cast({ data: F32(2), opset: 25, attributes: { to: number, ...attributes } });
    const { notes } = convertModel(model, OPENVINO);
    assert.equal(notes.length, count, notes.join());
    for (const note of notes) reportSentence("note", note);
  });
}

for (const [position, { of, to, isNoted }] of TRUSTED.entries()) {
  test(`row ${position} of what is trusted: ${isNoted ? "a declaration" : "nothing"}`, () => {
    const { notes } = convertModel(of, to);
    assert.equal(notes.length, Number(isNoted));
    for (const note of notes) reportSentence("note", note);
  });
}

const RANK = /^the rank of the output "\w+" is unknown/;

test("a note tells that an output of unknown rank has no shape in ONNX", () => {
  const ranksOf = (model: Model): string[] =>
    convertModel(model, { opset: 18 }).notes.filter((note) => RANK.test(note));
  const model = ovGatherND({});
  const { inputs, outputs } = model.graph;
  const unranked = (ports: Graph["inputs"]): Graph["inputs"] =>
    ports.map((port) => ({ ...port, type: port.type && { ...port.type, shape: null } }));
  const unknown = { ...model.graph, inputs: unranked(inputs), outputs: unranked(outputs) };
  assert.equal(ranksOf({ ...model, graph: unknown }).length, 1);
  assert.deepEqual(ranksOf(model), []);
});

test("a translated graph has the types that are known, and no declaration that contradicts them", () => {
  const typesOf = (model: Model): readonly unknown[] => {
    const { values = [], outputs } = convertModel(model, OPENVINO).model.graph;
    return [...values, ...outputs].map(({ name, type }) => [name, type]);
  };
  const node = (inputs: string[], output: string): ModelNodeSpec => ({
    op: "ScatterND",
    inputs,
    outputs: [output],
  });
  const { indices, data, updates } = ND;
  const model = onnxModel(18, {
    inputs: { data, updates },
    constants: { indices },
    nodes: [
      node(["data", "indices", "updates"], "s"),
      node(["s", "indices", "updates"], "t"),
      node(["t", "indices", "updates"], "y"),
    ],
  });
  const known = ["s", "t", "y"].map((name) => [name, F32(4)]);
  assert.deepEqual(typesOf(model), known);
  model.graph.values = [
    { name: "t", type: F32(5) },
    { name: "gone", type: F32(4) },
  ];
  assert.deepEqual(typesOf(model), [known[1], known[0], known[2]]);
  model.graph.outputs = [{ name: "y", type: F16(4) }];
  assert.deepEqual(typesOf(model), [known[1], known[0], known[2]]);
});

test("a node of openvino in a model of ONNX stays, and says its version itself", () => {
  const model = onnxModel(13, {
    opsets: { "": 13, openvino: 8 },
    inputs: { data: F32(4), i: I64(2) },
    constants: { axis: i64([], 0) },
    nodes: [{ op: "Gather", domain: "openvino", inputs: ["data", "i", "axis"], outputs: ["y"] }],
  });
  const { model: converted, changes } = convertModel(model, OPENVINO);
  assert.deepEqual(converted.graph.nodes.map(printNode), ["Gather-8 data i axis"]);
  assert.deepEqual(changes, []);
});

test("Constant and Cast lose what an older opset does not have", () => {
  const nodes: ModelNodeSpec[] = [
    { op: "Constant", inputs: [], outputs: ["c"], attributes: { value_ints: [1, 2] } },
    { op: "Cast", inputs: ["c"], outputs: ["y"], attributes: { to: 6, saturate: 1 } },
  ];
  const model = onnxModel(19, { nodes });
  const { model: converted, changes, unchecked } = convertModel(model, { opset: 11 });
  assert.equal(changes.length, 2);
  for (const change of changes) reportSentence("change", change);
  const [first, second] = converted.graph.nodes;
  assert.deepEqual(Object.keys(first.attributes), ["value"]);
  assert.deepEqual(Object.keys(second.attributes), ["to"]);
  assert.equal(unchecked.size, 0);
  assert.deepEqual(runModel(asFile(converted), {})["y"].toArray(), [1, 2]);
});

const madeOf = (attributes: ModelNodeSpec["attributes"]): ModelNodeSpec => ({
  op: "Constant",
  inputs: [],
  outputs: ["y"],
  attributes,
});
const SPARSE = { type: "other", value: "SPARSE_TENSOR" } as const;

/** What becomes of nodes on the way to an opset: null where nothing is refused. */
// prettier-ignore
const OTHERS: readonly { name: string; opset: number; to: number; node: ModelNodeSpec; isRefused: boolean }[] = [
  { name: "Relu", opset: 13, to: 7, node: one("Relu"), isRefused: false },
  { name: "an operator that ONNX does not have", opset: 13, to: 18, node: one("Odd"), isRefused: true },
  { name: "an operator that is younger", opset: 18, to: 17, node: one("Mish"),
    isRefused: true },
  { name: "Identity of a known type", opset: 13, to: 7, node: one("Identity"), isRefused: false },
  { name: "Identity of an unknown type", opset: 13, to: 7, node: one("Identity", "unknown"),
    isRefused: true },
  { name: "Identity of an unknown type, upwards", opset: 11, to: 18, node: one("Identity", "unknown"),
    isRefused: false },
  { name: "Cast to a number", opset: 13, to: 7, node: { ...one("Cast"), attributes: { to: 6 } }, isRefused: false },
  { name: "Cast to a number at its first opset", opset: 6, to: 7, node: { ...one("Cast"), attributes: { to: 6 } },
    isRefused: false },
  { name: "Cast to a word that is none", opset: 5, to: 7, node: { ...one("Cast"), attributes: { to: "INT33" } },
    isRefused: true },
  { name: "Constant of a list", opset: 12, to: 9, node: madeOf({ value_ints: [1] }), isRefused: false },
  { name: "Constant of a list before integers", opset: 12, to: 8, node: madeOf({ value_ints: [1] }),
    isRefused: true },
  { name: "Constant of an unknown kind", opset: 12, to: 11, node: madeOf({ sparse_value: SPARSE }), isRefused: false },
  { name: "Constant of two", opset: 12, to: 11, node: madeOf({ value_ints: [1], note: "odd" }),
    isRefused: true },
];

for (const { name, opset, to, node, isRefused } of OTHERS) {
  test(`${name}, from opset ${opset} to ${to}, is ${isRefused ? "refused" : "converted"}`, () => {
    const unknown = { op: "Custom", domain: "com.example", inputs: ["data"], outputs: ["unknown"] };
    const model = onnxModel(opset, {
      opsets: { "": opset, "com.example": 1 },
      inputs: { data: F32(4) },
      nodes: [unknown, node],
    });
    if (isRefused) assertRefused("unsupported-model", {}, () => convertModel(model, { opset: to }));
    const { unchecked, model: forced } = convertModel(model, { opset: to }, { force: true });
    assert.deepEqual([...unchecked], isRefused ? [[node.op, 1]] : []);
    if (isRefused) assert.equal(forced.graph.nodes[1], model.graph.nodes[1]);
  });
}

test("within OpenVINO other operators keep their versions, and newer ones than the opset are refused", () => {
  const node = (op: string): ModelNodeSpec => ({
    op,
    inputs: ["data"],
    outputs: [op],
  });
  const gather = {
    ...node("GatherElements"),
    inputs: ["data", "indices"],
    attributes: { axis: 0 },
  };
  const nodes = [gather, node("Relu"), node("Abs"), node("Exp")];
  const model = openvinoModel(6, {
    inputs: { data: F32(4) },
    constants: { indices: i64([2], 1, 3) },
    outputs: {},
    nodes,
  });
  model.graph.nodes[1].opset = 9;
  model.graph.nodes[2].opset = 8;
  const target = { ...OPENVINO, opset: 8 };
  assertRefused("unsupported-model", {}, () => convertModel(model, target));
  const { model: converted, unchecked } = convertModel(model, target, { force: true });
  assert.deepEqual(Object.fromEntries(unchecked), { Relu: 1 });
  assert.deepEqual(converted.graph.nodes, model.graph.nodes);
});

test("a cast that the other format does not have is refused with force, too", () => {
  const model = onnxModel(18, {
    inputs: { data: F32(4) },
    nodes: [{ op: "Cast", name: "n", inputs: ["data"], outputs: ["y"], attributes: { to: 14 } }],
  });
  for (const force of [false, true])
    assertRefused("unsupported-model", {}, () => convertModel(model, OPENVINO, { force }));
});

test("bodies in an IR are not converted, and refused where they would have to be", () => {
  const loop = (opset: number): Model => {
    const model = openvinoModel(1, {
      inputs: { data: F32(4) },
      nodes: [{ op: "If", name: "if", inputs: ["data"], outputs: ["y"] }],
    });
    const { graph } = ovGatherND({
      opset,
      data: F32(4),
      indices: I64(2, 1),
      attributes: { batch_dims: 0 },
    });
    const graphs = [graph];
    model.graph.nodes[0].attributes["then_body"] = { type: "other", value: "GRAPH", graphs };
    return model;
  };
  assert.equal(convertModel(loop(5), { ...OPENVINO, opset: 7 }).changes.length, 0);
  assertRefused("unsupported-model", {}, () => convertModel(loop(5), { ...OPENVINO, opset: 8 }));
  const model = loop(5);
  const forced = convertModel(model, { ...OPENVINO, opset: 8 }, { force: true });
  assert.equal(forced.model.graph.nodes[0], model.graph.nodes[0]);
  assert.deepEqual([forced.changes, [...forced.unchecked]], [[], [["If", 1]]]);
});

test("an IR stays one, in another version of its files", () => {
  const model = scatterNDUpdate(ND);
  const { model: converted } = convertModel(model, { domain: "openvino", version: 10 });
  assert.equal(converted.irVersion, 10);
  assert.equal(converted.graph, model.graph);
  assert.match(writeIR(converted).xml, /<net name="graph" version="10">/);
});
