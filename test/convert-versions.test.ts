/** Operators outside the family in another opset: what becomes of them, and what the table knows of their versions. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { HISTORIES } from "../src/convert/versions/table.ts";
import { TYPE_RULES } from "../src/model/types/table.ts";
import { isOperator } from "../src/operators/registry.ts";
import { buildModel, convertModel, type ModelNode } from "../src/onnx/index.ts";
import { equals } from "../src/tensor/tensor.ts";
import { VERSION_REWRITES, versionModel } from "./cases/version-rewrites.ts";
import type { TensorType } from "../src/index.ts";
import { F32, i64, onnxModel, UNRANKED } from "./support/node-models.ts";

const plain = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(Number) : typeof value === "bigint" ? Number(value) : value;

/** `op inputs | attributes` */
function printNode({ op, inputs, attributes }: ModelNode): string {
  const settings = Object.entries(attributes).map(
    ([name, { value }]) => `${name}=${JSON.stringify(plain(value))}`,
  );
  const words = [op, ...inputs.map((name) => name || "-")].join(" ");
  return settings.length === 0 ? words : `${words} | ${settings.join(" ")}`;
}

for (const row of VERSION_REWRITES) {
  const { from, to, node, attributes = {}, becomes, adds = {} } = row;
  const settings = Object.keys(attributes).join(" ");
  test(`opset ${from} to ${to}: ${node} ${settings}`, () => {
    const model = buildModel(versionModel(row));
    const before = new Set(model.graph.constants.map(({ name }) => name));
    if (becomes instanceof RegExp) {
      assert.throws(() => convertModel(model, { opset: to }), {
        code: "unsupported-model",
        message: becomes,
      });
      return;
    }
    const { graph } = convertModel(model, { opset: to }).model;
    // 2^63 - 1 is no number of JavaScript.
    const wanted = becomes.map((one) =>
      one.replaceAll("9223372036854775807", "9223372036854776000"),
    );
    assert.deepEqual(graph.nodes.map(printNode), wanted);
    assert.deepEqual(graph.nodes.at(-1)?.outputs, model.graph.nodes[0].outputs);
    const added = graph.constants.filter(({ name }) => !before.has(name));
    assert.deepEqual(added.map(({ name }) => name).toSorted(), Object.keys(adds).toSorted());
    for (const { name, read } of added)
      assert.ok(equals(read(), adds[name]), `${name} is ${read()}`);
  });
}

test("every operator of ONNX that has a rule for its types has its versions, or is of the family", () => {
  const known = Object.keys(TYPE_RULES["ai.onnx"]).filter((op) => !EXPERIMENTAL.has(op));
  for (const op of known) {
    assert.ok(op in HISTORIES || isOperator({ domain: "ai.onnx", op }), op);
  }
  assert.ok(known.length > 130);
});

/** Operators of before version 1.3, which are in no released opset, or only in ONNX Runtime. */
const EXPERIMENTAL = new Set(
  "Affine ImageScaler ParametricSoftplus Scale ScaledTanh SimplifiedLayerNormalization".split(" "),
);

test("versions of an operator are in order, and those of one opset are one", () => {
  for (const [op, [first, ...changes]] of Object.entries(HISTORIES)) {
    const all = [first, ...changes.map(({ since }) => since)];
    assert.deepEqual(
      all,
      [...new Set(all)].toSorted((a, b) => a - b),
      op,
    );
  }
});

test("what stays as it is in another opset is the same node", () => {
  const model = onnxModel(13, {
    inputs: { x: F32(2, 3) },
    nodes: [
      { op: "Relu", inputs: ["x"], outputs: ["a"] },
      { op: "Transpose", inputs: ["a"], outputs: ["y"], attributes: { perm: [1, 0] } },
    ],
  });
  const { model: converted, changes } = convertModel(model, { opset: 24 });
  assert.equal(converted.graph, model.graph);
  assert.deepEqual(changes, []);
});

test("a constant that other nodes use stays for them, and one that is left is removed", () => {
  const model = onnxModel(13, {
    inputs: { x: F32(2, 1) },
    constants: { axes: i64([1], 1), own: i64([1], 0) },
    nodes: [
      { op: "Squeeze", inputs: ["x", "axes"], outputs: ["a"] },
      { op: "Unsqueeze", inputs: ["a", "own"], outputs: ["b"] },
      { op: "Gather", inputs: ["b", "axes"], outputs: ["y"] },
    ],
  });
  const { graph } = convertModel(model, { opset: 12 }).model;
  assert.deepEqual(
    graph.constants.map(({ name }) => name),
    ["axes"],
  );
});

test("a Softmax that is reshaped in opset 13 needs elements, and says so where it may have none", () => {
  const notesOf = (x: TensorType, axis: number, opset: number): readonly string[] => {
    const nodes = [
      { op: "Softmax", name: "s", inputs: ["x"], outputs: ["y"], attributes: { axis } },
    ];
    return convertModel(onnxModel(11, { inputs: { x }, nodes }), { opset }).notes;
  };
  const note = 'node "s": "x" must have elements, as long as the opset is below 14';
  assert.deepEqual(notesOf(F32(2, 3, 4), 1, 13), []);
  assert.deepEqual(notesOf(F32("N", 3, 4), 1, 13), []);
  assert.deepEqual(notesOf(F32("N", 3, 4), 0, 13), [note]);
  assert.deepEqual(notesOf(F32(2, 3, "N"), 1, 13), [note]);
  assert.deepEqual(notesOf(F32(2, 3, "N"), 1, 14), []);
  assert.deepEqual(notesOf(UNRANKED, 1, 13), [note]);
});

test("nodes in bodies are converted, with constants of their own graphs", () => {
  const body = onnxModel(11, {
    nodes: [{ op: "Unsqueeze", inputs: ["x"], outputs: ["b"], attributes: { axes: [0] } }],
    outputs: { b: null },
  }).graph;
  const model = onnxModel(11, {
    inputs: { c: { dtype: "bool", shape: [] }, x: F32(2) },
    nodes: [{ op: "If", inputs: ["c"], outputs: ["y"] }],
  });
  const branch = { type: "other", value: "GRAPH", graphs: [body] } as const;
  model.graph.nodes[0].attributes = { then_branch: branch, else_branch: branch };
  const { graph } = convertModel(model, { opset: 13 }).model;
  const { then_branch: changed } = graph.nodes[0].attributes;
  assert.ok(changed.type === "other" && changed.graphs);
  assert.deepEqual(changed.graphs[0].nodes.map(printNode), ["Unsqueeze x b/axes"]);
  assert.deepEqual(
    changed.graphs[0].constants.map(({ name }) => name),
    ["b/axes"],
  );
  assert.deepEqual(graph.constants, []);
});
