/** The nodes of a model by name and path, wherever they stand, and how they run on their own. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  buildModel,
  inspectModel,
  nodeCall,
  NodeIndex,
  readModel,
  runNode,
} from "../../src/entries/onnx.ts";
import { isTensorError } from "../../src/core/errors.ts";
import { MAX_BODY_DEPTH } from "../../src/models/model/model.ts";
import { readIR } from "../../src/entries/openvino.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { attributesOfEveryType } from "../support/cli-models.ts";
import { SCATTER_BIN, scatterNet } from "../support/ir.ts";
import { deepFile, iteratorNet, placesFile, twinsFile } from "../support/place-models.ts";
import { takePutAgain } from "../support/node-models.ts";
import { assertRefused } from "../support/refusal.ts";

const MODEL = readModel(placesFile());
const INDEX = new NodeIndex(MODEL);
const x = tensor("float32", [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]);

const THEN = 'If "choose" / then_branch';
const DEEP = `${THEN} / If "again" / then_branch`;
const ELSE = 'If "choose" / else_branch';

test("every node that inspect prints is found by the path and the name that it prints", () => {
  for (const bytes of [placesFile(), twinsFile(), attributesOfEveryType()]) {
    const model = readModel(bytes);
    const index = new NodeIndex(model);
    const printed = inspectModel(model).nodes;
    assert.equal(printed.length, index.family.length);
    for (const [position, { path, name, outputs }] of printed.entries()) {
      const called = [name, ...outputs.map((one) => one.name)].find((one) => one !== "");
      if (called === undefined) continue;
      const placed = index.find([...path, called].join(" / "));
      assert.equal(placed.node, index.family[position].node, path.join(" / "));
      assert.equal(index.find(index.pathOf(placed)), placed);
    }
  }
});

// What is asked for, and the path of the node that it means.
const FOUND: readonly (readonly [string, string])[] = [
  ["own", "own"],
  ["o", "own"],
  ["t1", `${THEN} / take`],
  [`${THEN} / take`, `${THEN} / take`],
  [`${THEN} / "take"`, `${THEN} / take`],
  [`${THEN} / t1`, `${THEN} / take`],
  [`${THEN} / GatherND`, `${THEN} / take`],
  ["inner index", `${DEEP} / inner index`],
  ['Loop "looped" / body / l', 'Loop "looped" / body / l'],
  ["function d.F / second", "function d.F / second"],
  ["Gather", "function d.F / second"],
  // As ONNX Runtime 1.30 names nodes and values that it has inlined.
  ["_inlfunc_F_second", "function d.F / second"],
  ["_inlfunc_F_token_0_q", "function d.F / first"],
  ["_if_then_branch_t1", `${THEN} / take`],
  ["_if_then_branch_token_2_t1", `${THEN} / take`],
  ["_if_then_branch_token_2_t1_token_5", `${THEN} / take`],
  ["_if_then graph_t1", `${THEN} / take`],
  ["_if_else_branch_GatherND_token_4", `${ELSE} / take`],
  ["_if_then_branch__if_then_branch_token_3_d2", `${DEEP} / made index`],
  ["_if_then_branch__inlfunc_F_q", "function d.F / first"],
  ["own_token_12", "own"],
];

for (const [name, path] of FOUND) {
  test(`${name} means ${path}`, () => assert.equal(INDEX.pathOf(INDEX.find(name)), path));
}

const NOT_FOUND = [
  "take",
  "GatherND",
  "owm",
  "OWN",
  "function d.F / secind",
  "nowhere at all",
  "",
  `${THEN} / nothing`,
  "_if_no_branch_t1",
  "_inlfunc_F_",
];

for (const name of NOT_FOUND) {
  test(`${JSON.stringify(name)} means no one node`, () => {
    assertRefused("unsupported-model", {}, () => INDEX.find(name));
    assertRefused("unsupported-model", {}, () => nodeCall(MODEL, name, { x }));
  });
}

// A node, and the row of x that it takes: by an index of its own graph, or of one around it.
const ROWS: readonly (readonly [string, number])[] = [
  ["own", 3],
  ["t1", 1],
  ["outer index", 1],
  ["made index", 2],
  ["inner index", 0],
];

for (const [name, row] of ROWS) {
  test(`${name} takes row ${row}`, () => {
    const { node } = INDEX.find(name);
    const [output] = node.outputs;
    const taken = [2 * row + 1, 2 * row + 2];
    // The index that a Constant makes has no axis but that of its one tuple.
    const expected = name === "made index" ? taken : [taken];
    for (const [model, which] of [
      [MODEL, name],
      [MODEL, node],
      [INDEX, name],
      [INDEX, node],
    ] as const) {
      assert.deepEqual(runNode(model, which, { x })[output].toArray(), expected);
    }
  });
}

test("what an inner graph calls by a name hides what graphs around it call so", () => {
  // The Loop's `i` is an input of its body, so the constant `i` of the model is not its index.
  assertRefused("shape-mismatch", { input: "i" }, () => runNode(MODEL, "l", { carried: x }));
});

test("a function's nodes see no values of the model, and have the function's versions", () => {
  assertRefused("shape-mismatch", { input: "I" }, () => nodeCall(MODEL, "first", { X: x }));
  const { node } = nodeCall(MODEL, "first", { X: x, I: tensor("int64", [1, 1], [0]) });
  assert.equal(node.opset, 13);
});

test("an attribute that a function's caller decides is not known", () => {
  const I = tensor("int64", [1], [0]);
  assertRefused("attribute", { op: "Gather" }, () => nodeCall(MODEL, "second", { q: x, I }));
});

test("bodies are reached as deep as they are read", () => {
  const deepest = readModel(deepFile(MAX_BODY_DEPTH));
  assert.deepEqual(runNode(deepest, "inmost", { x }).y.toArray(), [[3, 4]]);
  assert.equal(new NodeIndex(deepest).find("inmost").place.path.length, 2 * MAX_BODY_DEPTH);
  const tooDeep = new NodeIndex(readModel(deepFile(MAX_BODY_DEPTH + 1)));
  assertRefused("unsupported-model", {}, () => tooDeep.find("inmost"));
});

test("layers in bodies of an IR are reached, with their own constants", () => {
  const model = readIR(iteratorNet(scatterNet()), SCATTER_BIN);
  const given = {
    data: tensor("float32", [4], [0, 0, 0, 0]),
    updates: tensor("float32", [5], [1, 2, 3, 4, 5]),
  };
  const path = 'TensorIterator "loop" / body / scatter';
  assert.equal(new NodeIndex(model).pathOf(new NodeIndex(model).find("scatter")), path);
  assert.deepEqual(runNode(model, path, given)["scatter"].toArray(), [5, 4, 2, 0]);
});

test("a body that is no graph is refused", () => {
  const model = readModel(placesFile());
  const [choose] = model.graph.nodes;
  const graphs = [{ nodes: 7 }] as never;
  choose.attributes["then_branch"] = { type: "other", value: "GRAPH", graphs };
  for (const action of [() => new NodeIndex(model).find("own"), () => inspectModel(model)]) {
    assert.throws(action, (error) => isTensorError(error, "malformed-file"));
  }
});

test("a node that no graph has runs with the constants of the model's own graph", () => {
  const { node } = INDEX.find("own");
  assert.deepEqual(runNode(MODEL, { ...node }, { x }).o.toArray(), [[7, 8]]);
});

test("10,000 calls of nodes of a model of 10,000 nodes take seconds", () => {
  const count = 10_000;
  const large = buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: { x: { dtype: "float32", shape: [4, 2] } },
    constants: { i: tensor("int64", [1, 1], [0]) },
    nodes: Array.from({ length: count }, (_, at) => ({
      op: "GatherND",
      inputs: ["x", "i"],
      outputs: [`y${at}`],
    })),
    outputs: { y0: null },
  });
  const start = performance.now();
  for (const node of large.graph.nodes) nodeCall(large, node, { x });
  // It takes 0.2 s, and took 300 s where the whole model was looked at in each call.
  assert.ok(performance.now() - start < 20_000);
});

test("paths of nodes that share a name have the names of their outputs", () => {
  const model = takePutAgain();
  for (const node of model.graph.nodes) node.name = "same";
  const index = new NodeIndex(model);
  for (const placed of index.family) {
    assert.equal(index.pathOf(placed), placed.node.outputs[0]);
    assert.equal(index.find(index.pathOf(placed)), placed);
  }
});
