/** Scatters rewritten as equivalent nodes and evaluated operator by operator have the bits of the original scatters. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/core/functions.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { buildModel, readModel, writeModel, type ModelNode } from "../../src/entries/onnx.ts";
import { Names } from "../../src/models/convert/context.ts";
import { cureOf, intentionOf } from "../../src/models/fix/candidates.ts";
import { KNOWN_FAULTS } from "../../src/models/fix/known-faults.ts";
import type { Scatter } from "../../src/models/fix/scatters.ts";
import { Words } from "../../src/models/fix/words.ts";
import { caseCount } from "../support/cases.ts";
import { f32, i32, i64 } from "../support/node-models.ts";
import { randomFrom } from "../support/random.ts";
import { randomScatter } from "../support/random-scatters.ts";
import { evaluate } from "../support/reference-operators.ts";

const NAMES = ["data", "indices", "updates"];

/** Evaluates what `write` writes, after it went through a file. */
function evaluated(
  inputs: readonly Tensor[],
  opset: number,
  write: (words: Words) => readonly ModelNode[],
): Tensor {
  const given = inputs.map((one, at) => [NAMES[at], one] as const);
  const model = buildModel({
    opsets: { "": opset },
    inputs: Object.fromEntries(given),
    nodes: [],
    outputs: { y: null },
  });
  model.graph.nodes = [...write(new Words(new Names(model.graph), "y"))];
  const { graph } = readModel(writeModel(model));
  return evaluate(graph, new Map(given), opset).get("y") as Tensor;
}

/** The result of a scatter that is rewritten as equivalent nodes. */
const worded = (
  write: (words: Words, scatter: Scatter) => string,
  scatter: Omit<Scatter, "data" | "indices" | "updates">,
  inputs: readonly Tensor[],
  opset: number,
): Tensor =>
  evaluated(inputs, opset, (words) => {
    const result = write(words, {
      ...scatter,
      data: "data",
      indices: "indices",
      updates: "updates",
    });
    words.putNode("Identity", [result], ["y"]);
    return words.nodes;
  });

const SCATTERS = caseCount(400);

test(`${SCATTERS} random scatters rewritten as equivalent nodes have the exact bits`, () => {
  const random = randomFrom(31);
  for (let nth = 0; nth < SCATTERS; nth++) {
    const { write, scatter, inputs, exact, opset, title } = randomScatter(random, nth);
    const found = worded(write, scatter, inputs, opset);
    assert.ok(equals(found, exact), `${title}: ${String(found)}, and not ${String(exact)}`);
  }
});

const half = (shape: readonly number[], ...values: number[]): Tensor =>
  tensor("float16", shape, values) as Tensor;
const text = (shape: readonly number[], ...values: string[]): Tensor =>
  tensor("string", [...shape], values);
const bools = (shape: readonly number[], ...values: boolean[]): Tensor =>
  tensor("bool", shape, values) as Tensor;

/** A call that is faulty in a runtime, the fault, and the words of the call that is meant. */
const FAULTS: readonly {
  readonly faults: readonly string[];
  readonly node: {
    readonly op: string;
    readonly opset: number;
    readonly attributes?: Readonly<Record<string, string | number>>;
  };
  readonly inputs: readonly Tensor[];
  readonly verdict: "failed" | "wrong" | "differs" | "nan-or-zero";
  /** The result by hand. */
  readonly result: readonly unknown[];
  readonly opset: number;
  /** The operators of the cure; any are right where it is left out. */
  readonly ops?: readonly string[];
}[] = [
  {
    faults: ["unknown-reduction"],
    node: { op: "ScatterND", opset: 16, attributes: { reduction: "sum" } },
    inputs: [f32([3], 1, 2, 3), i64([2, 1], 1, 1), f32([2], 10, 20)],
    verdict: "wrong",
    result: [1, 32, 3],
    opset: 16,
    ops: ["ScatterND"],
  },
  ...(["prod", "multiply"] as const).map((reduction) => ({
    faults: ["unknown-reduction"],
    node: { op: "ScatterElements", opset: 18, attributes: { reduction, axis: -1 } },
    inputs: [f32([1, 3], 1, 2, 3), i64([1, 2], 1, 1), f32([1, 2], 10, 20)],
    verdict: "wrong" as const,
    result: [[1, 400, 3]],
    opset: 18,
    ops: ["ScatterElements"],
  })),
  {
    faults: ["unknown-reduction", "older-opset"],
    node: { op: "ScatterND", opset: 16, attributes: { reduction: "amax" } },
    inputs: [f32([3], 1, 2, 3), i64([2, 1], 1, 1), f32([2], 10, -20)],
    verdict: "wrong",
    result: [1, 10, 3],
    opset: 18,
    ops: ["ScatterND"],
  },
  {
    faults: ["older-opset"],
    node: { op: "ScatterND", opset: 13, attributes: { reduction: "add" } },
    inputs: [f32([3], 1, 2, 3), i64([2, 1], 1, 1), f32([2], 10, 20)],
    verdict: "wrong",
    result: [1, 32, 3],
    opset: 18,
    ops: ["ScatterND"],
  },
  {
    faults: ["older-opset"],
    node: { op: "GatherND", opset: 11, attributes: { batch_dims: 1 } },
    inputs: [f32([2, 2], 1, 2, 3, 4), i64([2, 1], 1, 0)],
    verdict: "wrong",
    result: [2, 3],
    opset: 18,
    ops: ["GatherND"],
  },
  {
    faults: ["narrow-indices"],
    node: { op: "ScatterND", opset: 13 },
    inputs: [f32([3], 1, 2, 3), i32([1, 1], -1), f32([1], 10)],
    verdict: "wrong",
    result: [1, 2, 10],
    opset: 13,
    ops: ["Cast", "ScatterND"],
  },
  {
    faults: ["narrow-indices"],
    node: { op: "GatherElements", opset: 13, attributes: { axis: 0 } },
    inputs: [f32([3], 1, 2, 3), tensor("uint8", [2], [2, 0]) as Tensor],
    verdict: "wrong",
    result: [3, 1],
    opset: 13,
    ops: ["Cast", "GatherElements"],
  },
  {
    faults: ["deprecated-scatter"],
    node: { op: "Scatter", opset: 13, attributes: { axis: 1 } },
    inputs: [f32([1, 3], 1, 2, 3), i64([1, 1], -1), f32([1, 1], 10)],
    verdict: "wrong",
    result: [[1, 2, 10]],
    opset: 13,
    ops: ["ScatterElements"],
  },
  {
    faults: ["negative-indices"],
    node: { op: "Scatter", opset: 9, attributes: { axis: 1 } },
    inputs: [f32([1, 3], 1, 2, 3), i64([1, 1], -1), f32([1, 1], 10)],
    verdict: "wrong",
    result: [[1, 2, 10]],
    opset: 18,
    ops: ["ScatterElements"],
  },
  {
    faults: ["negative-indices"],
    node: { op: "Gather", opset: 1 },
    inputs: [f32([3], 1, 2, 3), i64([2], -1, 0)],
    verdict: "wrong",
    result: [3, 1],
    opset: 18,
    ops: ["Gather"],
  },
  {
    faults: ["flat-indices"],
    node: { op: "ScatterND", opset: 11 },
    inputs: [f32([3, 2], 1, 2, 3, 4, 5, 6), i64([2], 2, -3), f32([2, 2], 7, 8, 9, 10)],
    verdict: "wrong",
    result: [
      [9, 10],
      [3, 4],
      [7, 8],
    ],
    opset: 13,
    ops: ["Constant", "Unsqueeze", "ScatterND"],
  },
  {
    faults: ["narrow-indices", "flat-indices"],
    node: { op: "ScatterND", opset: 18, attributes: { reduction: "add" } },
    inputs: [f32([2, 1, 1], 1, 2), i32([1], 1), f32([1, 1, 1], 7)],
    verdict: "wrong",
    result: [[[1]], [[9]]],
    opset: 18,
    ops: ["Cast", "Constant", "Unsqueeze", "ScatterND"],
  },
  {
    faults: ["flat-indices"],
    node: { op: "GatherND", opset: 13 },
    inputs: [f32([3], 1, 2, 3), i64([2], -1, 0)],
    verdict: "wrong",
    result: [3, 1],
    opset: 13,
    ops: ["Constant", "Unsqueeze", "GatherND"],
  },
  {
    faults: ["lost-updates"],
    node: { op: "ScatterND", opset: 18, attributes: { reduction: "add" } },
    inputs: [f32([3], 1, 2, 3), i64([3, 1], 1, 1, -3), f32([3], 10, 20, 30)],
    verdict: "differs",
    result: [31, 32, 3],
    opset: 18,
  },
  {
    faults: ["nan-max"],
    node: { op: "ScatterND", opset: 18, attributes: { reduction: "max" } },
    inputs: [f32([3], -0, 2, 3), i64([4, 1], 1, 1, 0, 2), f32([4], NaN, 5, 0, -1)],
    verdict: "differs",
    result: [0, NaN, 3],
    opset: 18,
  },
  {
    faults: ["half-sum"],
    node: { op: "ScatterND", opset: 18, attributes: { reduction: "add" } },
    // Each step is rounded: 2048 + 1 is 2048 in float16, and 2048 + 2 is 2050.
    inputs: [half([2], 2048, 0), i64([3, 1], 0, 0, 1), half([3], 1, 1, 0.5)],
    verdict: "failed",
    result: [2048, 0.5],
    opset: 18,
  },
  {
    faults: ["half-max"],
    node: { op: "ScatterElements", opset: 18, attributes: { reduction: "min" } },
    inputs: [half([2], 0, 7), i64([3], 0, 1, 1), half([3], -0, 6, 8)],
    verdict: "failed",
    result: [-0, 6],
    opset: 18,
  },
  {
    faults: ["bool-max"],
    node: { op: "ScatterND", opset: 18, attributes: { reduction: "max" } },
    inputs: [bools([3], false, true, false), i64([3, 1], 0, 0, 1), bools([3], true, false, false)],
    verdict: "failed",
    result: [true, true, false],
    opset: 18,
  },
  {
    faults: ["string-gather"],
    node: { op: "Gather", opset: 13 },
    inputs: [text([3, 2], "a", "b", "c", "d", "e", "f"), i64([2], 2, -3)],
    verdict: "differs",
    result: [
      ["e", "f"],
      ["a", "b"],
    ],
    opset: 13,
    ops: ["Cast", "Constant", "Unsqueeze", "GatherND"],
  },
  {
    faults: ["string-gather"],
    node: { op: "Gather", opset: 18, attributes: { axis: -2 } },
    inputs: [text([2, 2, 1], "a", "b", "c", "d"), i32([], 1)],
    verdict: "differs",
    result: [["b"], ["d"]],
    opset: 18,
    ops: [
      ...["Cast", "Constant", "Unsqueeze", "Shape", "Constant", "Constant"],
      ...["Slice", "Shape", "Concat", "Expand", "GatherND"],
    ],
  },
];

for (const { faults, node, inputs, verdict, result, opset, ops } of FAULTS) {
  const { op, attributes = {} } = node;
  test(`${faults.join(" and ")}: ${op}-${node.opset} ${JSON.stringify(attributes)} is said anew`, () => {
    const call = { node, inputs };
    const intention = intentionOf(call);
    assert.ok(intention !== null);
    const isReproducible = verdict !== "differs";
    const cure = cureOf({ verdict, isReproducible, call }, intention);
    assert.ok(cure !== null);
    assert.deepEqual(
      cure.faults.map(({ id }) => id),
      faults,
    );
    assert.equal(cure.opset <= opset, true);
    const own = Object.entries(attributes).map(([name, value]) => [
      name,
      typeof value === "string" ? { type: "string", value } : { type: "int", value },
    ]);
    const faulty: ModelNode = {
      ...{ name: "odd", op, domain: "ai.onnx", outputs: ["y"] },
      inputs: NAMES.slice(0, inputs.length),
      attributes: Object.fromEntries(own),
    };
    let nodes: readonly ModelNode[] = [];
    const found = evaluated(inputs, opset, (words) => (nodes = cure.write(faulty, words)));
    assert.deepEqual(found.toArray(), result);
    assert.equal(nodes.at(-1)?.name, "odd");
    if (ops !== undefined)
      assert.deepEqual(
        nodes.map((one) => one.op),
        ops,
      );
  });
}

for (const [word, result] of [
  ["plus", [1, 32, 3]],
  ["Maximum", [1, 20, 3]],
  ["amin", [1, 2, 3]],
  ["replace", [1, 20, 3]],
  ["", [1, 20, 3]],
] as const) {
  test(`the reduction ${JSON.stringify(word)} means one of ONNX`, () => {
    const node = { op: "ScatterND", opset: 18, attributes: { reduction: word } };
    const inputs = [f32([3], 1, 2, 3), i64([2, 1], 1, 1), f32([2], 10, 20)];
    assert.deepEqual(intentionOf({ node, inputs })?.outputs[0].toArray(), result);
  });
}

test("the update of a TensorScatter is not taken for indices", () => {
  const node = { op: "TensorScatter", opset: 24, attributes: { axis: 1 } };
  const inputs = [i32([1, 2], 1, 2), i32([1, 1], 5), i64([1], 1)];
  assert.deepEqual(intentionOf({ node, inputs })?.repairs, []);
});

for (const [count, isRewritten] of [
  [4000, false],
  [6000, true],
] as const) {
  test(`${count} tuples of two indices ${isRewritten ? "may" : "do not"} race`, () => {
    const tuples = tensor("int64", [count, 2], new BigInt64Array(2 * count));
    const updates = tensor("float32", [count], new Float32Array(count));
    const call = {
      node: { op: "ScatterND", opset: 18, attributes: { reduction: "max" } },
      inputs: [f32([1, 1], NaN), tuples, updates],
    };
    const intention = intentionOf(call);
    assert.ok(intention !== null);
    const cure = cureOf({ verdict: "wrong", isReproducible: true, call }, intention);
    const faulty: ModelNode = {
      ...{ name: "odd", op: "ScatterND", domain: "ai.onnx", outputs: ["y"], attributes: {} },
      inputs: NAMES,
    };
    const { graph } = buildModel({ opsets: { "": 18 }, nodes: [], outputs: { y: null } });
    const nodes = cure?.write(faulty, new Words(new Names(graph), "y")) ?? [];
    assert.equal(
      nodes.some(({ op }) => op === "ScatterND"),
      !isRewritten,
    );
  });
}

test("every fault of a node has a row", () => {
  const known = FAULTS.flatMap(({ faults }) => faults);
  assert.deepEqual(new Set([...known, "newer-opset"]), new Set(KNOWN_FAULTS.map(({ id }) => id)));
});

for (const [title, node, inputs] of [
  [
    "a reduction whose meaning is not known",
    { op: "ScatterND", opset: 18, attributes: { reduction: "mean" } },
    null,
  ],
  ["an index that is out of range", { op: "ScatterND", opset: 18, attributes: {} }, i64([1, 1], 9)],
] as const) {
  test(`${title} has no equivalent nodes`, () => {
    const call = { node, inputs: [f32([3], 1, 2, 3), inputs ?? i64([1, 1], 0), f32([1], 1)] };
    assert.equal(intentionOf(call), null);
  });
}

test("the reference evaluates scatters as run does", () => {
  const inputs = [f32([3], 1, 2, 3), i64([2, 1], 1, 1), f32([2], 10, 20)];
  const attributes = { reduction: "add" };
  const found = evaluated(inputs, 18, (words) => {
    words.putNode("ScatterND", NAMES, ["y"], attributes);
    return words.nodes;
  });
  assert.ok(equals(found, run({ op: "ScatterND", opset: 18, attributes }, inputs)[0]));
});
