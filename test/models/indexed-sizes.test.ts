/** Which inputs of a model are indices, and of how many places. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  indexedSizes,
  runModel,
  type AttributeInput,
  type Model,
  type ModelSpec,
} from "../../src/entries/onnx.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { isTensorError } from "../../src/core/errors.ts";
import * as nodes from "../support/node-models.ts";
import { F32, f32, I32, I64, i64, onnxModel } from "../support/node-models.ts";

const sizesOf = (model: Model, shapes = {}): Record<string, readonly number[]> =>
  Object.fromEntries(indexedSizes(model, shapes));

const batched = { batch_dims: 1 };

/** A node and the sizes of the axes that its indices index. */
for (const [title, model, sizes] of [
  ["Gather", nodes.gather({ data: F32(5, 7), indices: I64(3) }), [5]],
  ["Gather along axis -1", nodes.gather({ data: F32(5, 7), attributes: { axis: -1 } }), [7]],
  ["GatherElements", nodes.gatherElements({ data: F32(5, 7), indices: I64(2, 7) }), [5]],
  ["ScatterElements", nodes.scatterElements({ data: F32(9) }), [9]],
  ["ScatterND", nodes.scatterND({ data: F32(8, 4), indices: I64(2, 1) }), [8]],
  ["GatherND", nodes.gatherND({ data: F32(5, 7, 2), indices: I64(3, 2) }), [5, 7]],
  [
    "GatherND with batches",
    nodes.gatherND({ data: F32(3, 5, 7), indices: I64(3, 4, 2), attributes: batched }),
    [5, 7],
  ],
  ["tuples of unknown length", nodes.gatherND({ data: F32(5, 7), indices: I64(3, "K") }), [5]],
  ["an axis of unknown size", nodes.gather({ data: F32("N", 7), indices: I64(3) }), [1]],
  ["one unknown axis of two", nodes.gatherND({ data: F32("N", 7), indices: I64(3, 2) }), [1, 7]],
  ["an axis without places", nodes.gather({ data: F32(0), indices: I64(0) }), [1]],
] as const) {
  test(`${title}: ${sizes.join(", ")}`, () => assert.deepEqual(sizesOf(model), { indices: sizes }));
}

test("a sequence must fit behind its position, unless it wraps around", () => {
  const parts = { data: F32(2, 9, 4), updates: F32(2, 3, 4), indices: I64(2) };
  assert.deepEqual(sizesOf(nodes.tensorScatter(parts)), { indices: [7] });
  const circular = nodes.tensorScatter({ ...parts, attributes: { mode: "circular" } });
  assert.deepEqual(sizesOf(circular), { indices: [9] });
});

test("shapes of the inputs replace unknown dimensions, also where the model computes with them", () => {
  const model = onnxModel(18, {
    inputs: { x: F32("N", 3), ids: I64("M") },
    nodes: [
      { op: "Transpose", inputs: ["x"], outputs: ["t"], attributes: { perm: [1, 0] } },
      { op: "Gather", inputs: ["t", "ids"], outputs: ["y"], attributes: { axis: 1 } },
    ],
  });
  assert.deepEqual(sizesOf(model), { ids: [1] });
  assert.deepEqual(sizesOf(model, { x: [6, 3], ids: [2] }), { ids: [6] });
});

/** ScatterND into [5, 7] with the indices that a node makes of an input. */
const through = (
  op: string,
  shape: readonly number[],
  attributes: Readonly<Record<string, AttributeInput>> = {},
  more: readonly string[] = [],
  constants: ModelSpec["constants"] = {},
): Model =>
  onnxModel(18, {
    inputs: { i: I64(...shape), data: F32(5, 7) },
    constants,
    nodes: [
      { op, inputs: ["i", ...more], outputs: ["indices"], attributes },
      { op: "GatherND", inputs: ["data", "indices"], outputs: ["y"] },
    ],
  });

/** An operator between an input and the indices of GatherND in [5, 7], and the sizes for the input. */
for (const [title, model, sizes] of [
  ["Identity", through("Identity", [3, 2]), [5, 7]],
  ["Unsqueeze", through("Unsqueeze", [3, 2], {}, ["a"], { a: i64([1], 0) }), [5, 7]],
  ["Unsqueeze of the last axis", through("Unsqueeze", [3], {}, ["a"], { a: i64([1], 1) }), [5]],
  ["Squeeze", through("Squeeze", [1, 3, 2], {}, ["a"], { a: i64([1], 0) }), [5, 7]],
  [
    "Reshape that keeps tuples",
    through("Reshape", [3, 2, 2], {}, ["a"], { a: i64([2], 6, 2) }),
    [5, 7],
  ],
  ["Reshape that makes tuples", through("Reshape", [6], {}, ["a"], { a: i64([2], 3, 2) }), [5]],
  ["Flatten", through("Flatten", [1, 3, 2], { axis: 2 }), [5, 7]],
  ["Transpose of the first axes", through("Transpose", [3, 4, 2], { perm: [1, 0, 2] }), [5, 7]],
  ["Transpose of the tuples", through("Transpose", [2, 2], { perm: [1, 0] }), [5]],
  ["Transpose by default", through("Transpose", [2, 2]), [5]],
  ["Expand", through("Expand", [3, 2], {}, ["a"], { a: i64([3], 4, 3, 2) }), [5, 7]],
  ["Expand along the tuples", through("Expand", [3, 1], {}, ["a"], { a: i64([2], 3, 2) }), [5]],
  [
    "Slice that turns tuples around",
    through("Slice", [3, 2], {}, ["b", "e", "a", "s"], {
      ...{ b: i64([1], 1), e: i64([1], -3), a: i64([1], 1), s: i64([1], -1) },
    }),
    [5],
  ],
  ["Neg, which computes", through("Neg", [3, 2]), undefined],
] as const) {
  test(`through ${title}: ${sizes?.join(", ") ?? "nothing is known"}`, () =>
    assert.deepEqual(indexedSizes(model).get("i"), sizes));
}

test("through Cast from any type; an input of two nodes has the smaller size, of tuples by component", () => {
  const model = onnxModel(18, {
    inputs: { i: I32(2, 2), five: F32(5, 9), nine: F32(9, 3), t: F32(8) },
    nodes: [
      { op: "Cast", inputs: ["i"], outputs: ["wide"], attributes: { to: 7 } },
      { op: "GatherND", inputs: ["five", "wide"], outputs: ["a"] },
      { op: "GatherND", inputs: ["nine", "wide"], outputs: ["b"] },
      { op: "Gather", inputs: ["t", "i"], outputs: ["c"] },
    ],
    outputs: { a: null, b: null, c: null },
  });
  assert.deepEqual(sizesOf(model), { i: [5, 3] });
});

test("Concat of two inputs: each has the smallest of the axes", () => {
  const model = onnxModel(18, {
    inputs: { row: I64(3, 1), column: I64(3, 1), data: F32(5, 7) },
    nodes: [
      { op: "Concat", inputs: ["row", "column"], outputs: ["i"], attributes: { axis: 1 } },
      { op: "GatherND", inputs: ["data", "i"], outputs: ["y"] },
    ],
  });
  assert.deepEqual(sizesOf(model), { row: [5], column: [5] });
});

/** The body of an If. */
const branch = (spec: Partial<ModelSpec>): object => ({
  type: "other",
  value: "GRAPH",
  graphs: [onnxModel(18, spec).graph],
});

test("values of the graph around a body are followed into it; a body's own value of that name is not", () => {
  const take = { op: "Gather", inputs: ["table", "i"], outputs: ["y"] };
  const own = { constants: { i: i64([1], 0), j: i64([1], 0) } };
  const choose = (then: Partial<ModelSpec>): Model =>
    onnxModel(18, {
      inputs: { c: nodes.BOOL(), ids: I64(1) },
      constants: { table: f32([4], 1, 2, 3, 4) },
      nodes: [
        { op: "Identity", inputs: ["ids"], outputs: ["i"] },
        {
          op: "If",
          inputs: ["c"],
          outputs: ["y"],
          attributes: {
            then_branch: branch(then) as never,
            else_branch: branch({ nodes: [], ...own, outputs: { j: null } }) as never,
          },
        },
      ],
    });
  assert.deepEqual(sizesOf(choose({ nodes: [take] })), { ids: [4] });
  assert.deepEqual(sizesOf(choose({ nodes: [take], ...own })), {});
});

test("nodes that are wrong, and inputs that are no indices, have no sizes", () => {
  assert.deepEqual(sizesOf(nodes.gather({ data: F32(), indices: I64(2) })), {});
  assert.deepEqual(sizesOf(nodes.gather({ opset: 1, attributes: { axis: 9 } })), {});
  assert.deepEqual(sizesOf(nodes.scatterND({ indices: i64([2, 1], 0, 0) })), {});
});

test("the largest index within the sizes is right, and the next one is out of range", () => {
  const data = tensor(
    "float32",
    [5, 7],
    Array.from({ length: 35 }, (_, at) => at),
  );
  const model = through("Identity", [1, 2]);
  const [rows, columns] = indexedSizes(model).get("i") ?? [];
  const run = (...at: number[]): unknown => runModel(model, { data, i: i64([1, 2], ...at) }).y;
  assert.deepEqual(run(rows - 1, columns - 1), f32([1], 34));
  for (const at of [
    [rows, 0],
    [0, columns],
  ])
    assert.throws(
      () => run(...at),
      (error) => isTensorError(error, "index-out-of-range"),
    );
});

/** A function that takes rows of its first input by the second, and returns both, the second in another type. */
const TAKE = {
  name: "take",
  domain: "local",
  attributes: {},
  opsets: { "ai.onnx": 18 },
  graph: onnxModel(18, {
    inputs: { table: F32(1), at: I64(1) },
    nodes: [
      { op: "Cast", inputs: ["at"], outputs: ["wide"], attributes: { to: 7 } },
      { op: "Gather", inputs: ["table", "at"], outputs: ["rows"] },
    ],
    outputs: { rows: null, wide: null },
  }).graph,
};

const call = (inputs: string[], outputs: string[]) =>
  ({ op: "take", domain: "local", inputs, outputs }) as const;

test("values are followed into each call of a function, and out of it", () => {
  const model = onnxModel(18, {
    inputs: { small: F32(3, 2), large: F32(9, 2), i: I64(1), j: I64(1), k: I64(1) },
    nodes: [
      call(["large", "i"], ["a", "b"]),
      call(["small", "b"], ["c", "d"]),
      call(["large", "j"], ["e", "f"]),
      { op: "Gather", inputs: ["small", "k"], outputs: ["g"] },
    ],
  });
  // The first call takes i by itself, the second what the first makes of it.
  assert.deepEqual(sizesOf({ ...model, functions: [TAKE] }), { i: [3], j: [9], k: [3] });
});

test("a graph that a call gives is not bound to the function's attributes", () => {
  const reference: AttributeInput = { type: "other", value: "GRAPH", reference: "part" };
  const choose = (output: string) =>
    ({
      op: "If",
      inputs: ["at"],
      outputs: [output],
      attributes: { then_branch: reference },
    }) as const;
  const { graph } = onnxModel(18, { inputs: {}, nodes: [choose("x")], outputs: { x: null } });
  const { nodes: more } = onnxModel(18, { inputs: {}, nodes: [choose("y")] }).graph;
  const own = { ...TAKE, graph: { ...TAKE.graph, nodes: [...TAKE.graph.nodes, ...more] } };
  const model = onnxModel(18, {
    inputs: { table: F32(5, 2), i: I64(1) },
    nodes: [
      {
        ...call(["table", "i"], ["a", "b"]),
        attributes: { part: { type: "other", value: "GRAPH", graphs: [graph] } },
      },
    ],
  });
  // The given graph has an attribute that refers to the graph itself, which must not be followed.
  assert.deepEqual(sizesOf({ ...model, functions: [own] }), { i: [5] });
});

test("a function that calls itself is followed once", () => {
  const { nodes: inner } = onnxModel(18, {
    inputs: {},
    nodes: [call(["table", "at"], ["x", "y"])],
  }).graph;
  const own = { ...TAKE, graph: { ...TAKE.graph, nodes: [...TAKE.graph.nodes, ...inner] } };
  const model = onnxModel(18, {
    inputs: { table: F32(5, 2), i: I64(1) },
    nodes: [call(["table", "i"], ["a", "b"])],
  });
  assert.deepEqual(sizesOf({ ...model, functions: [own] }), { i: [5] });
});
