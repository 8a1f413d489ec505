/** Function operators of ONNX: their bodies, and what is found in them by inspection, inference and conversion. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  buildModel,
  convertModel,
  inspectModel,
  readModel,
  runNode,
  writeModel,
  type Model,
  type ModelNodeSpec,
} from "../../src/entries/onnx.ts";
import { BODIES } from "../../src/models/model/standard-bodies.ts";
import { standardBody } from "../../src/models/model/standard-function.ts";
import { BODY_ROWS } from "../fixtures/standard-bodies.ts";
import { knownFrom } from "../support/known-text.ts";
import { F16, F32, I32, I64, f32, i64, onnxModel, UNRANKED } from "../support/node-models.ts";
import { assertRefused } from "../support/refusal.ts";

for (const [op, opset, inputs, attributes, count, body] of BODY_ROWS) {
  test(`${op}-${opset} of ${inputs} (${Object.keys(attributes).join()}) is ${body}`, () => {
    const types = inputs.split("; ").map((text) => knownFrom(text).type);
    const names = types.map((_, at) => `x${at}`);
    const outputs = Array.from({ length: count }, (_, at) => `y${at}`);
    const spec = { op, inputs: names, outputs, attributes };
    const [node] = buildModel({ opsets: {}, nodes: [spec], outputs: {} }).graph.nodes;
    const found = standardBody(node, opset, (name) => types[names.indexOf(name)]);
    assert.ok(found !== null);
    const { nodes } = found.graph;
    assert.deepEqual(nodes.map((one) => one.op).join(" "), body);
    assert.deepEqual(
      found.graph.outputs.map(({ name }) => name),
      outputs,
    );
    const made = new Set([...names, "", ...nodes.flatMap((one) => one.outputs)]);
    for (const one of nodes) for (const name of one.inputs) assert.ok(made.has(name), name);
    for (const name of outputs) assert.ok(made.has(name), name);
  });
}

test("every operator with a recorded body has a row", () => {
  assert.deepEqual(
    [...new Set(BODY_ROWS.map(([op]) => op))].toSorted(),
    Object.keys(BODIES).toSorted(),
  );
});

const rotary = (x = F32("B", 2, "L", 8)): Model =>
  onnxModel(23, {
    inputs: { x, c: F32(9, 4), s: F32(9, 4), p: I64("B", "L") },
    nodes: [{ op: "RotaryEmbedding", inputs: ["x", "c", "s", "p"], outputs: ["y"] }],
  });

test("inspection reports the gathers that define an operator, and their faults", () => {
  const { nodeCount, nodes } = inspectModel(rotary());
  assert.equal(nodeCount, 1);
  assert.deepEqual(
    nodes.map(({ path, op, opset, version, inputs }) => [
      ...path,
      op,
      opset,
      version,
      inputs.map(({ name, type }) => [name, type?.shape]),
    ]),
    ["c", "s"].map((cache) => [
      'RotaryEmbedding "y"',
      "Gather",
      23,
      13,
      [
        [cache, [9, 4]],
        ["p", ["B", "L"]],
      ],
    ]),
  );
  const outside = rotary();
  outside.graph.inputs = outside.graph.inputs.filter(({ name }) => name !== "p");
  outside.graph.constants = [{ ...constantOf("p"), name: "p" }];
  assert.deepEqual(
    inspectModel(outside).nodes.map(({ findings }) => findings.map(({ id }) => id)),
    [["index-out-of-range"], ["index-out-of-range"]],
  );
  // The body depends on the rank and on interleaved, and needs three inputs.
  const [strange, short] = [rotary(), rotary()];
  strange.graph.nodes[0].attributes = { interleaved: { type: "int", value: 2 } };
  short.graph.nodes[0].inputs = ["x", "c"];
  for (const odd of [rotary(UNRANKED), rotary(F32(2, 2)), strange, short])
    assert.deepEqual(inspectModel(odd).nodes, []);
});

const constantOf = (name: string) => ({
  name,
  dtype: "int64" as const,
  shape: [1, 2],
  read: () => i64([1, 2], 8, 9),
});

test("a gather that defines an operator runs by its path, with the constants of the body", () => {
  const model = onnxModel(29, {
    inputs: { x: F32(2, 1), w: F32(3, 1, 2), g: I64(2, 2) },
    nodes: [{ op: "GroupedMatMul", inputs: ["x", "w", "g"], outputs: ["y"] }],
  });
  const paths = inspectModel(model).nodes.map(({ path, name }) => [...path, name].join(" / "));
  assert.equal(paths[4], 'GroupedMatMul "y" / y/selected_weights');
  const [selected] = Object.values(
    runNode(model, paths[4], {
      w: f32([3, 1, 2], 1, 2, 3, 4, 5, 6),
      "y/indices_flat": i64([4], 2, 0, 1, 2),
    }),
  );
  assert.deepEqual(selected.toArray(), [[[5, 6]], [[1, 2]], [[3, 4]], [[5, 6]]]);
  const [rows] = Object.values(runNode(model, "y/M", { "y/input_shape": i64([2], 2, 1) }));
  assert.deepEqual(rows.toArray(), [2n]);
});

test("a body in a body is inspected, too", () => {
  const model = onnxModel(13, {
    inputs: { x: F32("N", 5), t: I64("N") },
    nodes: [{ op: "SoftmaxCrossEntropyLoss", inputs: ["x", "t"], outputs: ["y"] }],
  });
  assert.deepEqual(
    inspectModel(model).nodes.map(({ path, op }) => [...path, op]),
    [['SoftmaxCrossEntropyLoss "y"', 'NegativeLogLikelihoodLoss "y"', "GatherElements"]],
  );
});

const swiglu: ModelNodeSpec = {
  op: "SwiGLU",
  inputs: ["a", "b"],
  outputs: ["y"],
  attributes: { alpha: 2.5 },
};

test("an operator that the target lacks becomes the nodes that define it", () => {
  const model = onnxModel(28, { inputs: { a: F32(2), b: F32(2) }, nodes: [swiglu] });
  const { model: older, changes, notes } = convertModel(model, { opset: 27 });
  const [swish, product] = readModel(writeModel(older)).graph.nodes;
  assert.deepEqual([swish.op, swish.attributes["alpha"].value], ["Swish", 2.5]);
  assert.deepEqual(
    [product.op, product.inputs, product.outputs],
    ["Mul", [swish.outputs[0], "b"], ["y"]],
  );
  assert.deepEqual([changes.length, notes.length], [1, 2]);
  const oldest = convertModel(model, { opset: 19 }).model.graph.nodes;
  assert.equal(oldest.map(({ op }) => op).join(" "), "Constant CastLike Mul Sigmoid Mul Mul");
  assertRefused("unsupported-model", {}, () => convertModel(model, { opset: 14 }));

  const grouped = onnxModel(29, {
    inputs: { x: F16("M", 4), w: F16(3, 4, 5), i: I32("M", 2) },
    nodes: [{ op: "GroupedMatMul", inputs: ["x", "w", "i"], outputs: ["y"] }],
  });
  for (const opset of [28, 14]) {
    const { graph } = convertModel(grouped, { opset }).model;
    const gathers = graph.nodes.filter(({ op }) => op === "Gather");
    assert.equal(gathers.length, 5);
    assert.ok(gathers.some(({ inputs }) => inputs[0] === "w"));
  }
});

test("SpaceToDepth by columns becomes reshapes", () => {
  const model = onnxModel(28, {
    inputs: { x: F32(1, 2, 4, 6) },
    nodes: [
      {
        op: "SpaceToDepth",
        inputs: ["x"],
        outputs: ["y"],
        attributes: { blocksize: 3n, mode: "CRD" },
      },
    ],
  });
  const { nodes } = convertModel(model, { opset: 27 }).model.graph;
  const [sizes, area] = nodes.map(({ attributes: { value } }) => value);
  assert.ok(sizes.type === "tensor" && area.type === "tensor");
  assert.deepEqual([sizes.value.read().toArray(), area.value.read().toArray()], [[3n], [9n]]);
  assert.deepEqual(
    nodes.find(({ op }) => op === "Transpose")?.attributes["perm"].value,
    [0, 1, 3, 5, 2, 4],
  );
});

test("a size beyond int64 has no body", () => {
  const model = onnxModel(28, {
    inputs: { x: F32(1, 2, 4, 6) },
    nodes: [
      {
        op: "SpaceToDepth",
        inputs: ["x"],
        outputs: ["y"],
        attributes: { blocksize: 2n ** 40n, mode: "CRD" },
      },
    ],
  });
  assert.deepEqual(inspectModel(model).nodes, []);
  assertRefused("unsupported-model", {}, () => convertModel(model, { opset: 27 }));
});

test("with force, an operator whose body cannot be converted stays, without nodes of the body", () => {
  const model = onnxModel(28, { inputs: { a: F32(2), b: F32(2) }, nodes: [swiglu] });
  const { model: older, changes, unchecked } = convertModel(model, { opset: 14 }, { force: true });
  assert.deepEqual(older.graph.nodes, model.graph.nodes);
  assert.deepEqual([changes, [...unchecked]], [[], [["SwiGLU", 1]]]);
});

test("a body with graphs is converted and written", () => {
  const model = onnxModel(20, {
    inputs: { t: F32(2, 2, 3), size: I64(4) },
    nodes: [{ op: "AffineGrid", inputs: ["t", "size"], outputs: ["y"] }],
  });
  const older = readModel(writeModel(convertModel(model, { opset: 19 }).model));
  const branches = older.graph.nodes.filter(({ op }) => op === "If");
  assert.equal(branches.length, 4);
  assert.ok(inspectModel(older).nodes.some(({ op }) => op === "GatherElements"));
});

test("a function of the model with the name of an operator defines it instead", () => {
  const model = rotary();
  const { graph } = onnxModel(23, {
    inputs: { x: UNRANKED },
    nodes: [{ op: "Identity", inputs: ["x"], outputs: ["y"] }],
  });
  const own = { name: "RotaryEmbedding", domain: "ai.onnx", opsets: model.opsets, graph };
  const changed: Model = { ...model, functions: [own] };
  assert.deepEqual(inspectModel(changed).nodes, []);
  assert.notDeepEqual(inspectModel(model).nodes, []);
  const converted = convertModel(changed, { opset: 22 }, { force: true }).model;
  assert.deepEqual(
    converted.graph.nodes.map(({ op }) => op),
    ["RotaryEmbedding"],
  );
});
