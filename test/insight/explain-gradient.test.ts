/** Explained gradients: the factors and reasons of each rule by hand, and random calls, whose terms add up to the gradients. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { NodeSpec } from "../../src/core/call/call.ts";
import { run } from "../../src/core/call/run.ts";
import { vjp } from "../../src/core/call/vjp.ts";
import type { Scalar } from "../../src/core/tensor/dtype.ts";
import { coordinatesOf } from "../../src/core/tensor/shape.ts";
import { equals, tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import type { ScatterStory } from "../../src/insight/explain/explanation.ts";
import { explainGradient } from "../../src/insight/explain/explain-gradient.ts";
import { i64, onnx, openvino } from "../support/calls.ts";
import { untied } from "../support/finite-differences.ts";
import { randomFrom, randomIndices, seedOf } from "../support/random.ts";
import { assertRefused } from "../support/refusal.ts";

const f64 = (values: readonly number[], shape: readonly number[] = [values.length]): Tensor =>
  tensor("float64", shape, [...values]) as Tensor;

/** Data, updates 0 to 2, the factor and reason of data[1] and of each update; update 1 goes to cell 3, the others to cell 1. */
type Row = readonly [
  node: NodeSpec,
  values: readonly [number, number, number],
  data: readonly [number, string],
  updates: readonly (readonly [number, string])[],
];

const scatter = (reduction: string): NodeSpec => onnx("ScatterND", 18, { reduction });
const GREATEST = "it is the greatest value";
const NOT = "it is not the greatest value";
const SHARED = "it is one of 2 equal values that are the greatest";

// prettier-ignore
const ROWS: readonly Row[] = [
  [scatter("none"), [2, 3, 4], [0, "updates[2] replaces it"],
    [[0, "a later update, updates[2], replaces it"], [1, "it is the last update of its target"], [1, "it is the last update of its target"]]],
  [scatter("add"), [2, 3, 4], [1, "it is added"], [[1, "it is added"], [1, "it is added"], [1, "it is added"]]],
  [openvino("ScatterNDUpdate", 15, { reduction: "sub" }), [2, 3, 4], [1, "the others are subtracted from it"],
    [[-1, "it is subtracted"], [-1, "it is subtracted"], [-1, "it is subtracted"]]],
  // 6 * 2 * 4 and 8 * 3.
  [scatter("mul"), [2, 3, 4], [8, "the product of the other values"],
    [[24, "the product of the other values"], [8, "the product of the other values"], [12, "the product of the other values"]]],
  [scatter("max"), [2, 9, 7], [0, NOT], [[0, NOT], [1, GREATEST], [1, GREATEST]]],
  [scatter("max"), [6, 9, 2], [0.5, SHARED], [[0.5, SHARED], [1, GREATEST], [0, NOT]]],
  [scatter("min"), [7, 9, 8], [1, "it is the least value"],
    [[0, "it is not the least value"], [0, "it is not the least value"], [0, "it is not the least value"]]],
];

test("the factor of each reduction, and its reason", () => {
  for (const [node, values, data, updates] of ROWS) {
    const inputs = [f64([5, 6, 7, 8]), i64([3, 1], [1, 3, 1]), f64(values)];
    const gradient = f64([1, 10, 100, 1000]);
    const { cell, gradients, error } = explainGradient(node, inputs, gradient);
    assert.equal(error, null);
    assert.ok(
      gradients.every(
        (one, i) => one === null || equals(one, vjp(node, inputs, gradient)[i] as Tensor),
      ),
    );
    const all: (readonly [input: string, at: number, expected: Row[2]])[] = [
      ["data", 1, data],
      ...updates.map((row, at) => ["updates", at, row] as const),
    ];
    for (const [input, position, [factor, reason]] of all) {
      const at = [position];
      const { terms, value, coordinates } = cell(input, at);
      const output = input === "data" ? at : [[1], [3], [1]][position];
      const outputGradient = output[0] === 1 ? 10 : 1000;
      assert.deepEqual(
        [...terms],
        [{ output, outputGradient, factor, reason }],
        `${input}[${position}]`,
      );
      assert.deepEqual([coordinates, value], [at, factor * outputGradient]);
    }
    const [term] = cell(0, [2]).terms;
    assert.deepEqual(term, {
      output: [2],
      outputGradient: 100,
      factor: 1,
      reason: "no update reaches it",
    });
  }
});

test("other treatments of ties, means, and results that begin without data", () => {
  const inputs = [f64([6]), i64([2, 1], [0, 0]), f64([6, 6])];
  const first = explainGradient(scatter("max"), inputs, f64([9]), { ties: "first" });
  const reasons = [
    ["data", 0],
    ["updates", 0],
  ] as const;
  assert.deepEqual(
    reasons.map(([input, at]) => [...first.cell(input, [at]).terms][0].reason),
    [GREATEST, "another equal value receives the gradient"],
  );
  const attributes = { reduction: "mean", use_init_val: false };
  const own = [f64([6, 5]), i64([2], [0, 0]), f64([1, 2]), i64([], [0])];
  const mean = explainGradient(openvino("ScatterElementsUpdate", 12, attributes), own, f64([8, 4]));
  assert.deepEqual(
    [
      ["data", 0],
      ["data", 1],
      ["updates", 1],
    ].map(([input, at]) => {
      const [{ factor, reason }] = mean.cell(input as string, [at as number]).terms;
      return [factor, reason];
    }),
    [
      [0, "the result at a target does not include data"],
      [1, "no update reaches it"],
      [0.5, "it is one of 2 values of a mean"],
    ],
  );
});

test("the update that replaces an element is the last of its target, and named by its element", () => {
  const data = f64([1, 2, 3, 4, 5, 6], [3, 2]);
  const updates = f64([10, 20, 30, 40, 50, 60], [3, 2]);
  const inputs = [data, i64([3, 1], [0, 2, 0]), updates];
  const { cell, call } = explainGradient(scatter("none"), inputs, f64([1, 2, 3, 4, 5, 6], [3, 2]));
  const reasons = (["data", "updates"] as const).map((input) =>
    [0, 1].map((column) => [...cell(input, [0, column]).terms][0].reason),
  );
  assert.deepEqual(reasons, [
    ["updates[2, 0] replaces it", "updates[2, 1] replaces it"],
    ["a later update, updates[2, 0], replaces it", "a later update, updates[2, 1], replaces it"],
  ]);
  const story = call.story as ScatterStory;
  const orders = Array.from(story.targets, (target) =>
    Array.from(target.updates, ({ order }) => order),
  );
  assert.deepEqual(orders, [[0, 2], [1]]);
});

test("the factors of complex numbers are conjugates", () => {
  const one = (re: number, im: number): Tensor => tensor("complex64", [1], [[re, im]]) as Tensor;
  const inputs = [one(1, 2), i64([1, 1], [0]), one(3, 4)];
  // (1 - 2i) * (5 + 6i), and (3 - 4i) * (5 + 6i).
  const { cell } = explainGradient(scatter("mul"), inputs, one(5, 6));
  const found = (["updates", "data"] as const).map((input) => {
    const { value, terms } = cell(input, [0]);
    return [value, ...Array.from(terms, ({ factor, outputGradient }) => [factor, outputGradient])];
  });
  assert.deepEqual(found, [
    [
      [17, -4],
      [
        [1, -2],
        [5, 6],
      ],
    ],
    [
      [39, -2],
      [
        [3, -4],
        [5, 6],
      ],
    ],
  ]);
});

test("the elements that a gather takes from one element of data", () => {
  const data = f64([1, 2, 3, 4, 5, 6], [3, 2]);
  const node = onnx("Gather", 13, { axis: 0 });
  const gradient = f64([1, 2, 10, 20, 100, 200], [3, 2]);
  const { cell } = explainGradient(node, [data, i64([3], [2, 0, -1])], gradient);
  const reason = "it is gathered";
  const { value, terms } = cell("data", [2, 1]);
  assert.equal(value, 202);
  assert.deepEqual(
    [...terms],
    [
      { output: [0, 1], outputGradient: 2, factor: 1, reason },
      { output: [2, 1], outputGradient: 200, factor: 1, reason },
    ],
  );
  assert.equal(cell("data", [1, 0]).terms.length, 0);
  assert.equal(cell("data", [1, 0]).value, 0);
});

test("what is refused", () => {
  const inputs = [f64([5]), i64([1, 1], [0]), f64([1])];
  const { cell } = explainGradient(scatter("add"), inputs, f64([1]));
  assertRefused(
    "attribute",
    /^input must be data or updates, which have gradients, got "indices"$/,
    () => cell("indices", [0, 0]),
  );
  assertRefused("attribute", /got 7$/, () => cell(7, [0]));
  assertRefused("index-out-of-range", /^data \[1\] has no element \[1\]$/, () => cell("data", [1]));
  assertRefused("attribute", /the options are ties$/, () =>
    explainGradient(scatter("add"), inputs, f64([1]), { argnums: 0 } as never),
  );
  const rows = [
    [scatter("add"), [f64([5]), i64([1, 1], [1]), f64([1])], f64([1]), "index-out-of-range"],
    [scatter("add"), inputs, zeros("float32", [1]), "dtype"],
    [scatter("add"), inputs, f64([1, 2]), "shape-mismatch"],
    [scatter("add"), inputs, undefined, "dtype"],
    [onnx("Relu", 13, {}), inputs, f64([1]), "unknown-operator"],
  ] as const;
  for (const [node, given, gradient, code] of rows) {
    const { error, gradients, call, ...rest } = explainGradient(node, given, gradient as Tensor);
    assert.equal(error?.code, code);
    assert.deepEqual(gradients, []);
    assert.equal(call.error === null, code !== "index-out-of-range" && code !== "unknown-operator");
    assertRefused(code, /./, () => rest.cell("data", [0]));
  }
});

const numbersOf = (value: Scalar): number => Number(value);

/** Random calls of each kind of index, and the positions of the inputs that have gradients. */
const RANDOM: readonly (readonly [
  NodeSpec,
  shapes: readonly number[][],
  indices: readonly [number[], number],
  at: 1 | 2,
])[] = [
  ...["add", "none", "mul", "max"].map(
    (reduction) =>
      [
        scatter(reduction),
        [
          [3, 4, 2],
          [5, 4, 2],
        ],
        [[5, 1], 3],
        2,
      ] as const,
  ),
  ...["add", "none", "mul", "min"].map(
    (reduction) =>
      [
        onnx("ScatterElements", 18, { reduction, axis: 1 }),
        [
          [3, 4],
          [2, 5],
        ],
        [[2, 5], 4],
        2,
      ] as const,
  ),
  [
    onnx("TensorScatter", 24, { mode: "circular" }),
    [
      [2, 3, 4, 2],
      [2, 3, 2, 2],
    ],
    [[2], 4],
    1,
  ],
  [onnx("GatherND", 13, { batch_dims: 1 }), [[2, 3, 4]], [[2, 4, 1], 3], 1],
  [onnx("GatherElements", 13, { axis: 1 }), [[3, 4]], [[2, 5], 4], 1],
  [onnx("Gather", 13, { axis: 1 }), [[3, 4, 2]], [[2, 3], 4], 1],
] as never;

test("the terms of every cell add up to its gradient", () => {
  const random = randomFrom(seedOf("explain-gradient"));
  let cells = 0;
  for (const [node, shapes, [shape, dim], at] of RANDOM) {
    const [data, updates] = untied("float64", shapes, random);
    const indices = randomIndices("int64", shape, () => dim, random);
    const inputs =
      shapes.length === 1
        ? [data, indices]
        : at === 1
          ? [data, updates, indices]
          : [data, indices, updates];
    const [gradient] = untied("float64", [run(node, inputs)[0].shape], random);
    const { cell, gradients, call } = explainGradient(node, inputs, gradient);
    const seen = new Map<string, number>();
    for (const [position, one] of gradients.entries()) {
      if (one === null) continue;
      for (let element = 0; element < one.size; element++) {
        const { value, terms } = cell(
          call.inputs[position].name,
          coordinatesOf(element, one.shape),
        );
        let sum = 0;
        for (const { output, outputGradient, factor } of terms) {
          sum += numbersOf(outputGradient) * numbersOf(factor);
          const key = output.join();
          seen.set(key, (seen.get(key) ?? 0) + 1);
        }
        const exact = numbersOf(value);
        assert.ok(
          Math.abs(sum - exact) <= 1e-12 * Math.abs(exact),
          `${node.op}: ${sum} is not ${exact}`,
        );
        assert.equal(exact, Number(one.data[element]));
        cells++;
      }
    }
    // Every element of the output depends on something.
    assert.equal(seen.size, gradient.size, node.op);
  }
  assert.ok(cells > 300, `${cells} cells`);
});
