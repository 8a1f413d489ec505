/** What conversions make of nodes and of small models: what is rewritten, what is refused, what is noted. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { isTensorError } from "../../src/core/errors.ts";
import {
  convertModel,
  runModel,
  type ConvertTarget,
  type Model,
  type ModelNode,
  type ModelNodeSpec,
} from "../../src/entries/onnx.ts";
import { elementTypeOf } from "../../src/models/model/element-type.ts";
import { writeIR } from "../../src/entries/openvino.ts";
import { DTYPES, type DType } from "../../src/core/tensor/dtype.ts";
import { equals } from "../../src/core/tensor/tensor.ts";
import { REASON_PATTERNS } from "../fixtures/convert-reasons.ts";
import { REFUSALS } from "../fixtures/refusals.ts";
import { G, ND, OPENVINO, REWRITES } from "../fixtures/rewrites.ts";
import { asFile } from "../support/model-files.ts";
import {
  cast,
  declaredAs,
  F16,
  F32,
  gather,
  I64,
  i64,
  onnxModel,
  openvinoModel,
  ovConvert,
  ovGather,
  ovGatherND,
  scatterNDUpdate,
  scatterUpdate,
  UNRANKED,
} from "../support/node-models.ts";

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

for (const { of, to, says, code = "unsupported-model" } of REFUSALS) {
  test(`refused: ${says instanceof RegExp ? says.source : says}`, () => {
    assert.throws(
      () => convertModel(of, to),
      (error) => {
        assert.ok(isTensorError(error, code), String(error));
        const { message } = error;
        if (says instanceof RegExp) assert.match(message, says);
        else assert.ok(message === says || message.endsWith(`: ${says}`), message);
        return true;
      },
    );
  });
}

test("every refusal has a reason that is listed, and every reason a refusal", () => {
  const unused = new Set(REASON_PATTERNS);
  for (const { of, to, code } of REFUSALS) {
    if (code !== undefined) continue;
    let message = "";
    try {
      convertModel(of, to);
    } catch (error) {
      message = String(error);
    }
    const fitting = REASON_PATTERNS.filter((pattern) => pattern.test(message));
    assert.ok(fitting.length > 0, message);
    for (const pattern of fitting) unused.delete(pattern);
  }
  assert.deepEqual([...unused], []);
});

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
  assert.throws(() => convertModel(model, { opset: 16 }), {
    code: "unsupported-model",
    message:
      "25 nodes cannot be converted to opset 16 of ai.onnx: " +
      '24 ScatterND nodes, first node "n0": ScatterND-16 has no reduction "max"; opset 18 supports it; ' +
      'node "n3": ScatterND-16 has no reduction "min"; opset 18 supports it',
  });
});

for (const [count, end] of [
  [20, /; node "n19": this package does not know the versions of Odd19$/],
  [25, /; node "n19": this package does not know the versions of Odd19; and 5 more reasons$/],
] as const) {
  test(`of ${count} reasons 20 are named`, () => {
    const nodes = Array.from({ length: count }, (_, at) => ({
      op: `Odd${at}`,
      inputs: ["data"],
      name: `n${at}`,
      outputs: [`y${at}`],
    }));
    const model = onnxModel(18, { inputs: { data: F32(4) }, nodes, outputs: {} });
    assert.throws(() => convertModel(model, { opset: 16 }), { message: end });
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
      assert.throws(() => convertModel(model, { opset: since - 1 }), {
        message: new RegExp(`Cast in opset ${since - 1} does not accept ${dtype}; opset ${since} `),
      });
    }
  }
});

for (const [since, dtypes] of TYPES_SINCE) {
  test(`${dtypes.join(", ")} can be cast to from opset ${since} on`, () => {
    for (const dtype of dtypes) {
      const model = cast({ opset: 25, attributes: { to: DTYPES[dtype].onnx.number } });
      assert.equal(convertModel(model, { opset: since }).unchecked.size, 0);
      assert.throws(
        () => convertModel(model, { opset: since - 1 }),
        (error) =>
          isTensorError(error, "unsupported-model") &&
          error.message.endsWith(`does not accept ${dtype}; opset ${since} supports it`),
      );
    }
  });
}

test("an input with a default is no constant, because a caller may replace it", () => {
  const model = gather({ data: F32(4), indices: i64([1], -1) });
  model.graph.inputs.push({ name: "indices", type: I64(1) });
  assert.throws(
    () => convertModel(model, { opset: 10 }),
    /"indices" are unknown because it is not a constant/,
  );
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
  const undeclared =
    'the data type of "r" is not declared; ScatterND-11 accepts all data types of ScatterND-13 except bfloat16';
  assert.throws(() => convertModel(model, { opset: 12 }), {
    message: `node "n" cannot be converted to opset 12 of ai.onnx: ${undeclared}`,
  });
  const { notes } = convertModel(model, { opset: 12 }, { force: true });
  assert.deepEqual(notes, [`node "n": ${undeclared}`]);
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
  const refused = (error: unknown): boolean =>
    isTensorError(error, "unsupported-model") && /makes "s"[^;]*got \[7\]$/.test(error.message);
  assert.throws(() => convertModel(model, { opset: 18 }), refused);
});

const COUNTED = '"indices" were counted from the front according to it';
const AXIS_1 = { axis: i64([], 1) };

/** What rests on a declaration alone is noted where it decides the result, and only there. */
// prettier-ignore
const TRUSTED: readonly { of: Model; to: ConvertTarget; notes: readonly string[] }[] = [
  { of: declaredAs(gather(G), "data", UNRANKED), to: { opset: 10 },
    notes: [`the shape of "declared" is only declared; ${COUNTED}`] },
  { of: declaredAs(gather(G), "data", F32("N", 3)), to: { opset: 10 },
    notes: [`the shape of "declared" is only declared; ${COUNTED}`] },
  { of: declaredAs(gather(G), "data", F32(4, "N")), to: { opset: 10 }, notes: [] },
  { of: declaredAs(gather({ ...G, indices: i64([1], 3) }), "data", UNRANKED), to: { opset: 10 }, notes: [] },
  { of: declaredAs(gather(G), "data", UNRANKED), to: { opset: 18 }, notes: [] },
  { of: declaredAs(scatterNDUpdate({ ...ND, data: F32(4, 3), indices: i64([2, 2], 1, 2, 0, -1) }), "data", F32(4, "N")),
    to: { ...OPENVINO, opset: 4 }, notes: [`the shape of "declared" is only declared; ${COUNTED}`] },
  { of: declaredAs(ovGather({ ...G, indices: i64([1], 3) }), "data", UNRANKED), to: { opset: 18 },
    notes: ['the shape of "declared" is only declared; "indices" are in range according to it'] },
  { of: declaredAs(ovGather(G), "data", F32(4, "N")), to: { opset: 18 }, notes: [] },
  { of: declaredAs(scatterUpdate({ ...SLICES, axis: i64([], -2) }), "data", UNRANKED), to: { opset: 18 },
    notes: ['the rank of "declared" is only declared; the axis was counted from the front according to it'] },
  { of: declaredAs(scatterUpdate(SLICES), "data", UNRANKED), to: { opset: 18 }, notes: [] },
  { of: declaredAs(scatterUpdate({ ...SLICES, updates: F32(4, 2), ...AXIS_1 }), "updates", UNRANKED), to: { opset: 18 },
    notes: ['the shape of "declared" is only declared; "indices" were repeated to fit it'] },
];

for (const [position, { of, to, notes }] of TRUSTED.entries()) {
  test(`row ${position} of what is trusted: ${notes.join(" ") || "nothing"}`, () => {
    assert.deepEqual(
      convertModel(of, to).notes,
      notes.map((note) => `node "n": ${note}`),
    );
  });
}

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
  assert.deepEqual(changes, [
    'the Constant that makes "c": Constant-19 to Constant-11',
    'the Cast that makes "y": Cast-19 to Cast-9',
  ]);
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
const OTHERS: readonly { name: string; opset: number; to: number; node: ModelNodeSpec; says: RegExp | null }[] = [
  { name: "Relu", opset: 13, to: 7, node: one("Relu"), says: null },
  { name: "an operator that ONNX does not have", opset: 13, to: 18, node: one("Odd"), says: /does not know the versions of Odd/ },
  { name: "an operator that is younger", opset: 18, to: 17, node: one("Mish"),
    says: /opset 17 does not have Mish yet; opset 18 has it$/ },
  { name: "Identity of a known type", opset: 13, to: 7, node: one("Identity"), says: null },
  { name: "Identity of an unknown type", opset: 13, to: 7, node: one("Identity", "unknown"),
    says: /Identity-1 accepts fewer data types, and the data type of "unknown" is unknown; opset 13 supports it$/ },
  { name: "Identity of an unknown type, upwards", opset: 11, to: 18, node: one("Identity", "unknown"), says: null },
  { name: "Cast to a number", opset: 13, to: 7, node: { ...one("Cast"), attributes: { to: 6 } }, says: null },
  { name: "Cast to a number at its first opset", opset: 6, to: 7, node: { ...one("Cast"), attributes: { to: 6 } },
    says: null },
  { name: "Cast to a word that is none", opset: 5, to: 7, node: { ...one("Cast"), attributes: { to: "INT33" } },
    says: /Cast-6 has no data type named INT33$/ },
  { name: "Constant of a list", opset: 12, to: 9, node: madeOf({ value_ints: [1] }), says: null },
  { name: "Constant of a list before integers", opset: 12, to: 8, node: madeOf({ value_ints: [1] }),
    says: /Constant-1 does not accept int64; opset 9 supports it$/ },
  { name: "Constant of an unknown kind", opset: 12, to: 11, node: madeOf({ sparse_value: SPARSE }), says: null },
  { name: "Constant of two", opset: 12, to: 11, node: madeOf({ value_ints: [1], note: "odd" }),
    says: /Constant-11 accepts only a tensor value; opset 12 supports it$/ },
];

for (const { name, opset, to, node, says } of OTHERS) {
  test(`${name}, from opset ${opset} to ${to}, is ${says === null ? "converted" : "refused"}`, () => {
    const unknown = { op: "Custom", domain: "com.example", inputs: ["data"], outputs: ["unknown"] };
    const model = onnxModel(opset, {
      opsets: { "": opset, "com.example": 1 },
      inputs: { data: F32(4) },
      nodes: [unknown, node],
    });
    if (says !== null) {
      assert.throws(() => convertModel(model, { opset: to }), {
        code: "unsupported-model",
        message: says,
      });
    }
    const { unchecked, model: forced } = convertModel(model, { opset: to }, { force: true });
    assert.deepEqual([...unchecked], says === null ? [] : [[node.op, 1]]);
    if (says !== null) assert.equal(forced.graph.nodes[1], model.graph.nodes[1]);
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
  assert.throws(() => convertModel(model, { ...OPENVINO, opset: 8 }), {
    message:
      /the Relu that makes "Relu" cannot be .*: it has opset 9, and this package cannot convert it$/,
  });
  const target = { ...OPENVINO, opset: 8 };
  const { model: converted, unchecked } = convertModel(model, target, { force: true });
  assert.deepEqual(Object.fromEntries(unchecked), { Relu: 1 });
  assert.deepEqual(converted.graph.nodes, model.graph.nodes);
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
  assert.throws(
    () => convertModel(loop(5), { ...OPENVINO, opset: 8 }),
    (error) =>
      isTensorError(error, "unsupported-model") &&
      /"if" cannot be converted to opset 8 of openvino: its body has nodes of another opset/.test(
        error.message,
      ),
  );
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
