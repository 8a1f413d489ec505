/** Parts of a model around some of its values, and the types of values. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  inferTypes,
  neededFor,
  readModel,
  runModel,
  splitModel,
  writeModel,
  type Attribute,
  type Model,
  type Tensors,
} from "../../src/entries/onnx.ts";
import { assertRefused } from "../support/refusal.ts";
import { F32, f32, i64, I64, onnxModel } from "../support/node-models.ts";

/** Two scatters one after the other, a gather of both results, and weights for each. */
const model = onnxModel(18, {
  inputs: { x: F32(4), i: I64(2) },
  constants: { at: i64([1, 1], 2), u: f32([1], 5), v: f32([1], 7) },
  nodes: [
    { op: "ScatterND", name: "first", inputs: ["x", "at", "u"], outputs: ["a"] },
    { op: "Gather", name: "beside", inputs: ["a", "i"], outputs: ["b"] },
    { op: "ScatterND", name: "second", inputs: ["a", "at", "v"], outputs: ["c"] },
    { op: "Gather", name: "taken", inputs: ["c", "i"], outputs: ["y"] },
    { op: "Identity", name: "same", inputs: ["b"], outputs: ["z"] },
  ],
  outputs: { y: null, z: null },
});

const feeds = { x: f32([4], 1, 2, 3, 4), i: i64([2], 2, 0) };

/** Runs parts in order, each written and read as a file. */
function runParts(parts: readonly Model[], given: Tensors): Record<string, unknown> {
  const values: Record<string, never> = { ...given } as never;
  for (const part of parts) {
    const own = part.graph.inputs.map(({ name }) => [name, values[name]] as const);
    const outputs = runModel(readModel(writeModel(part)), Object.fromEntries(own));
    Object.assign(values, outputs);
  }
  return values;
}

const partsOf = (parts: readonly Model[]): string[] =>
  parts.map(({ graph: { nodes, inputs, outputs, constants } }) =>
    [inputs, constants, nodes, outputs]
      .map((list) => list.map(({ name }) => name).join(" "))
      .join(" | "),
  );

for (const [values, parts] of [
  [[], ["x i | at u v | first beside second taken same | y z"]],
  [["a"], ["x | at u | first | a", "i a | at v | beside second taken same | y z"]],
  [["c"], ["x i | at u v | first beside second same | c z", "i c |  | taken | y"]],
  [
    ["b", "c"],
    ["x i | at u v | first beside second | b c", "i c b |  | taken same | y z"],
  ],
  [
    ["a", "c"],
    ["x | at u | first | a", "i a | at v | beside second same | c z", "i c |  | taken | y"],
  ],
] as const) {
  test(`cut at ${values.join(" and ") || "nothing"}: ${parts.length} parts that make the same`, () => {
    const split = splitModel(model, values);
    assert.deepEqual(partsOf(split), parts);
    const made = runParts(split, feeds);
    for (const [name, value] of Object.entries(runModel(model, feeds))) {
      assert.deepEqual(made[name], value);
    }
  });
}

test("a value that skips a part is handed over without being cut", () => {
  // b is made in the first part, and used in the second beside what is cut.
  const [first, second] = splitModel(
    onnxModel(18, {
      inputs: { x: F32(4) },
      constants: { i: i64([2], 0, 1) },
      nodes: [
        { op: "Gather", inputs: ["x", "i"], outputs: ["a"] },
        { op: "Gather", inputs: ["x", "i"], outputs: ["b"] },
        { op: "Gather", inputs: ["a", "i"], outputs: ["c"] },
        { op: "ScatterElements", inputs: ["c", "i", "b"], outputs: ["y"] },
      ],
      outputs: { y: null },
    }),
    ["a"],
  );
  assert.deepEqual(partsOf([first, second]), ["x | i |   | a b", "a b | i |   | y"]);
});

test("bodies use what is around them: it is handed over with their node", () => {
  const branch = (output: string): Attribute => ({
    type: "other",
    value: "GRAPH",
    graphs: [
      onnxModel(18, {
        nodes: [{ op: "ScatterND", inputs: ["a", "at", "u"], outputs: [output] }],
        outputs: { [output]: null },
      }).graph,
    ],
  });
  const whole = onnxModel(18, {
    inputs: { x: F32(4), c: { dtype: "bool", shape: [] }, u: F32(1) },
    constants: { at: i64([1, 1], 2), i: i64([4], 3, 2, 1, 0) },
    nodes: [
      { op: "Gather", name: "take", inputs: ["x", "i"], outputs: ["a"] },
      {
        op: "If",
        name: "choose",
        inputs: ["c"],
        outputs: ["y"],
        attributes: { then_branch: branch("t"), else_branch: branch("e") },
      },
    ],
    outputs: { y: null },
  });
  assert.deepEqual(partsOf(splitModel(whole, ["a"])), [
    "x | i | take | a",
    "c u a | at | choose | y",
  ]);
  assert.deepEqual(partsOf([neededFor(whole, ["y"])]), ["x c u | at i | take choose | y"]);
});

test("a value that no output needs can be cut too, and one value may have many users", () => {
  const wide = onnxModel(18, {
    inputs: { x: F32(4) },
    constants: { i: i64([2], 0, 1) },
    nodes: [
      { op: "Gather", name: "a", inputs: ["x", "i"], outputs: ["h"] },
      { op: "Gather", name: "b", inputs: ["h", "i"], outputs: ["p"] },
      { op: "Gather", name: "c", inputs: ["h", "i"], outputs: ["q"] },
      { op: "Gather", name: "side", inputs: ["x", "i"], outputs: ["aside"] },
      { op: "Gather", name: "unused", inputs: ["x", "i"], outputs: ["dropped"] },
    ],
    outputs: { p: null, q: null },
  });
  assert.deepEqual(partsOf(splitModel(wide, ["h", "aside"])), [
    "x | i | a side | h aside",
    "h | i | b c | p q",
  ]);
  assert.deepEqual(partsOf(splitModel(wide, ["p"])), ["x | i | a b c | p q"]);
});

test("outputs that no node makes are those of the first part, and declared shapes hold no part", () => {
  const declared = onnxModel(18, {
    inputs: { x: F32(4), z: F32(2) },
    constants: { w: f32([2], 1, 2), i: i64([2], 0, 1), unused: f32([1], 1) },
    nodes: [
      { op: "Odd", name: "odd", domain: "d", inputs: ["x"], outputs: ["h"] },
      { op: "Gather", name: "take", inputs: ["h", "i"], outputs: ["y"] },
    ],
    opsets: { "ai.onnx": 18, d: 1 },
    outputs: { y: null, z: null, w: null },
  });
  declared.graph.values = [{ name: "h", type: { dtype: "float32", shape: [9] } }];
  const [first, second] = splitModel(declared, ["h"]);
  assert.deepEqual(partsOf([first, second]), ["x z | w | odd | h z w", "h | i | take | y"]);
  assert.deepEqual(second.graph.inputs, [{ name: "h", type: { dtype: "float32", shape: null } }]);
  assert.deepEqual([first.graph.values, second.graph.values], [[], []]);
});

test("what a value needs is a model that runs on its own", () => {
  const part = neededFor(model, ["b"]);
  assert.deepEqual(partsOf([part]), ["x i | at u | first beside | b"]);
  assert.deepEqual(part.graph.outputs, [{ name: "b", type: { dtype: "float32", shape: [2] } }]);
  const { b } = runModel(readModel(writeModel(part)), feeds);
  assert.deepEqual(b.toArray(), [5, 1]);
});

test("the types of all values, in bodies by path, and which of them are certain", () => {
  const types = inferTypes({
    ...model,
    graph: { ...model.graph, values: [{ name: "c", type: { dtype: "float32", shape: [9] } }] },
  });
  assert.deepEqual(types.get("b"), { dtype: "float32", shape: [2], isCertain: true });
  assert.deepEqual(types.get("u"), { dtype: "float32", shape: [1], isCertain: true });
  // A declared shape that contradicts what is certain is ignored.
  assert.deepEqual(types.get("c"), { dtype: "float32", shape: [4], isCertain: true });
  assert.equal(types.get("nothing"), undefined);
  assert.deepEqual(
    [...inferTypes(onnxModel(18, { inputs: { x: F32(4) }, nodes: [] })).keys()],
    ["x"],
  );
  const open = onnxModel(18, {
    inputs: { x: F32("N") },
    nodes: [{ op: "Odd", domain: "d", inputs: ["x"], outputs: ["y"] }],
    opsets: { "ai.onnx": 18, d: 1 },
    outputs: { y: F32(3) },
  });
  assert.deepEqual(inferTypes(open).get("y"), { dtype: "float32", shape: [3], isCertain: false });
});

test("a value without a type can be cut where the caller tells it", () => {
  const odd = onnxModel(18, {
    inputs: { x: F32(4) },
    nodes: [
      { op: "Odd", name: "odd", domain: "d", inputs: ["x"], outputs: ["h"] },
      { op: "Odd", name: "end", domain: "d", inputs: ["h"], outputs: ["y"] },
    ],
    opsets: { "ai.onnx": 18, d: 1 },
    outputs: { y: null },
  });
  assertRefused("unsupported-model", {}, () => splitModel(odd, ["h"]));
  const [, second] = splitModel(odd, ["h"], { types: { h: F32(4) } });
  assert.deepEqual(second.graph.inputs, [{ name: "h", type: F32(4) }]);
});

for (const [title, code, action] of [
  ["a value that no node makes", "unsupported-model", () => splitModel(model, ["x"])],
  ["a value that is no name", "attribute", () => splitModel(model, [3 as never])],
  ["a need of nothing that is there", "unsupported-model", () => neededFor(model, ["w"])],
] as const) {
  test(`${title} is refused`, () => void assertRefused(code, {}, action));
}

test("a model of more nodes than a call may have arguments is split", () => {
  const length = 130_000;
  const name = (at: number): string => (at === 0 ? "x" : `v${at}`);
  const chain = onnxModel(18, {
    inputs: { x: F32(4) },
    nodes: Array.from({ length }, (_, at) => ({
      ...{ op: "Relu", inputs: [name(at)], outputs: [name(at + 1)] },
    })),
    outputs: { [name(length)]: null },
  });
  const parts = splitModel(chain, [name(length / 2)]);
  assert.deepEqual(
    parts.map(({ graph }) => graph.nodes.length),
    [length / 2, length / 2],
  );
});
