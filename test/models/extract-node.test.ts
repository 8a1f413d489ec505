/** One node of a model as a model of its own. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  convertModel,
  extractNode,
  NodeIndex,
  readModel,
  runModel,
  runNode,
  writeModel,
} from "../../src/entries/onnx.ts";
import { readIR, writeIR } from "../../src/entries/openvino.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { NET as FILES } from "../support/cli-models.ts";
import { placesFile } from "../support/place-models.ts";
import { F32, I64, i64, onnxModel } from "../support/node-models.ts";
import { assertRefused } from "../support/refusal.ts";

const MODEL = readModel(placesFile());
const NET = readIR(FILES.xml, FILES.bin);
const x = tensor("float32", [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]);

/** Every node of the model that can stand alone takes x, and the rest of its inputs are constants. */
const ALONE: Readonly<Record<string, string>> = {
  own: "hidden",
  'If "choose" / then_branch / take': "i",
  'If "choose" / else_branch / take': "i",
  'If "choose" / then_branch / If "again" / then_branch / outer index': "i",
  'If "choose" / then_branch / If "again" / then_branch / made index': "made",
  'If "choose" / then_branch / If "again" / then_branch / inner index': "hidden",
};

for (const [path, constant] of Object.entries(ALONE)) {
  test(`${path} does alone what it does in its model`, () => {
    const alone = readModel(writeModel(extractNode(MODEL, path)));
    const { graph, opsets } = alone;
    assert.deepEqual(opsets, { "ai.onnx": 18 });
    assert.deepEqual(graph.inputs, [{ ...graph.inputs[0], name: "x", type: F32("N", 2) }]);
    assert.deepEqual(
      graph.constants.map(({ name }) => name),
      [constant],
    );
    const [[name, expected]] = Object.entries(runNode(MODEL, path, { x }));
    assert.ok(equals(runModel(alone, { x })[name], expected));
  });
}

test("a node of a file with older rules for constants is one that needs none", () => {
  const model = {
    ...onnxModel(7, { inputs: { x: F32(4), i: I64(1) }, nodes: [GATHER] }),
    irVersion: 3,
  };
  assert.equal(extractNode(model, "g").irVersion, 4);
  const newer = { ...model, irVersion: 9 };
  assert.equal(extractNode(newer, newer.graph.nodes[0]).irVersion, 9);
});

const GATHER = { op: "Gather", name: "g", inputs: ["x", "i"], outputs: ["y"] };

test("an input with a default stays an input, and an index that follows from a shape is a constant", () => {
  const nodes = [
    { op: "Shape", inputs: ["x"], outputs: ["s"] },
    { op: "Gather", name: "of shape", inputs: ["x", "s"], outputs: ["z"] },
    GATHER,
  ];
  const model = onnxModel(13, {
    inputs: { x: F32(4), i: I64(1) },
    constants: { i: i64([1], 2) },
    nodes,
  });
  assert.deepEqual(
    extractNode(model, "g").graph.inputs.map(({ name }) => name),
    ["x", "i"],
  );
  const { graph } = extractNode(model, "of shape");
  assert.deepEqual(
    graph.inputs.map(({ name }) => name),
    ["x"],
  );
  assert.deepEqual(
    graph.constants.map(({ name, read }) => [name, read().toArray()]),
    [["s", [4n]]],
  );
});

test("a node of an IR is an IR, or a model of ONNX", () => {
  const alone = extractNode(NET, "scatter");
  const { xml, bin } = writeIR(alone);
  const data = tensor("float32", [3, 2], [1, 2, 3, 4, 5, 6]);
  const updates = tensor("float32", [2, 2], [10, 20, 30, 40]);
  const expected = runModel(NET, { data, updates });
  const [[name, value]] = Object.entries(expected);
  assert.ok(equals(runModel(readIR(xml, bin), { data, updates })[name], value));
  const { model } = convertModel(alone, { opset: 18 });
  assert.ok(equals(runModel(readModel(writeModel(model)), { data, updates })[name], value));
});

for (const [name, input] of [
  ["first", "X"],
  ["second"],
  ['Loop "looped" / body / l', "carried"],
  ["choose"],
  ["owm"],
] as const) {
  test(`${name} is refused`, () => {
    assertRefused("unsupported-model", { input }, () => extractNode(MODEL, name));
  });
}

test("a node of another model is refused", () => {
  const other = new NodeIndex(NET).find("scatter").node;
  assertRefused("unsupported-model", {}, () => extractNode(MODEL, other));
});
