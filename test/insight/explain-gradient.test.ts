/** Explained gradients: the factors and reasons of each rule by hand, and random calls, whose terms add up to the gradients. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { NodeSpec } from "../../src/core/call/call.ts";
import { run, vjp } from "../../src/core/functions.ts";
import type { Scalar } from "../../src/core/tensor/dtype.ts";
import { coordinatesOf } from "../../src/core/tensor/shape.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import type { ScatterStory } from "../../src/insight/explain/explanation.ts";
import { explainGradient, type GradientTerm } from "../../src/insight/explain/explain-gradient.ts";
import { i64, onnx, openvino } from "../support/calls.ts";
import { untied } from "../support/finite-differences.ts";
import { randomFrom, randomIndices, seedOf } from "../support/random.ts";
import { assertRefused } from "../support/refusal.ts";
import { reportNamed } from "../support/sentences.ts";

const f64 = (values: readonly number[], shape: readonly number[] = [values.length]): Tensor =>
  tensor("float64", shape, [...values]) as Tensor;

/**
 * Data, updates 0 to 2, the factor and the name of the reason of data[1] and of each update; update 1 goes to cell 3,
 * the others to cell 1.
 */
type Row = readonly [
  node: NodeSpec,
  values: readonly [number, number, number],
  data: readonly [number, string],
  updates: readonly (readonly [number, string])[],
];

const scatter = (reduction: string): NodeSpec => onnx("ScatterND", 18, { reduction });
const GREATEST = "greatest";
const NOT = "not greatest";
const SHARED = "one of 2 greatest";

/** Terms with the reported name of the reason in place of its sentence. */
function namedTerms(terms: Iterable<GradientTerm>, name: string): GradientTerm[] {
  return Array.from(terms, (term) => {
    reportNamed("reason", name, term.reason);
    return { ...term, reason: name };
  });
}

// prettier-ignore
const ROWS: readonly Row[] = [
  [scatter("none"), [2, 3, 4], [0, "updates[2]"],
    [[0, "later updates[2]"], [1, "last"], [1, "last"]]],
  [scatter("add"), [2, 3, 4], [1, "added"], [[1, "added"], [1, "added"], [1, "added"]]],
  [openvino("ScatterNDUpdate", 15, { reduction: "sub" }), [2, 3, 4], [1, "minuend"],
    [[-1, "subtracted"], [-1, "subtracted"], [-1, "subtracted"]]],
  // 6 * 2 * 4 and 8 * 3.
  [scatter("mul"), [2, 3, 4], [8, "factor"],
    [[24, "factor"], [8, "factor"], [12, "factor"]]],
  [scatter("max"), [2, 9, 7], [0, NOT], [[0, NOT], [1, GREATEST], [1, GREATEST]]],
  [scatter("max"), [6, 9, 2], [0.5, SHARED], [[0.5, SHARED], [1, GREATEST], [0, NOT]]],
  [scatter("min"), [7, 9, 8], [1, "least"],
    [[0, "not least"], [0, "not least"], [0, "not least"]]],
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
        namedTerms(terms, reason),
        [{ output, outputGradient, factor, reason }],
        `${input}[${position}]`,
      );
      assert.deepEqual([coordinates, value], [at, factor * outputGradient]);
    }
    assert.deepEqual(namedTerms(cell(0, [2]).terms, "untouched"), [
      { output: [2], outputGradient: 100, factor: 1, reason: "untouched" },
    ]);
  }
});

test("other treatments of ties, means, and results that begin without data", () => {
  const inputs = [f64([6]), i64([2, 1], [0, 0]), f64([6, 6])];
  const first = explainGradient(scatter("max"), inputs, f64([9]), { ties: "first" });
  namedTerms(first.cell("data", [0]).terms, GREATEST);
  namedTerms(first.cell("updates", [0]).terms, "other of equals");
  const attributes = { reduction: "mean", use_init_val: false };
  const own = [f64([6, 5]), i64([2], [0, 0]), f64([1, 2]), i64([], [0])];
  const mean = explainGradient(openvino("ScatterElementsUpdate", 12, attributes), own, f64([8, 4]));
  const means = [
    ["data", 0, 0, "without data"],
    ["data", 1, 1, "untouched"],
    ["updates", 1, 0.5, "mean of 2"],
  ] as const;
  for (const [input, at, factor, reason] of means) {
    const [term] = namedTerms(mean.cell(input, [at]).terms, reason);
    assert.equal(term.factor, factor);
  }
});

test("the update that replaces an element is the last of its target, and named by its element", () => {
  const data = f64([1, 2, 3, 4, 5, 6], [3, 2]);
  const updates = f64([10, 20, 30, 40, 50, 60], [3, 2]);
  const inputs = [data, i64([3, 1], [0, 2, 0]), updates];
  const { cell, call } = explainGradient(scatter("none"), inputs, f64([1, 2, 3, 4, 5, 6], [3, 2]));
  for (const column of [0, 1]) {
    const last = `updates[2, ${column}]`;
    const [replaced] = namedTerms(cell("data", [0, column]).terms, last);
    const [earlier] = namedTerms(cell("updates", [0, column]).terms, `later ${last}`);
    assert.deepEqual([replaced.factor, earlier.factor], [0, 0]);
  }
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
  const reason = "gathered";
  const { value, terms } = cell("data", [2, 1]);
  assert.equal(value, 202);
  assert.deepEqual(namedTerms(terms, reason), [
    { output: [0, 1], outputGradient: 2, factor: 1, reason },
    { output: [2, 1], outputGradient: 200, factor: 1, reason },
  ]);
  assert.equal(cell("data", [1, 0]).terms.length, 0);
  assert.equal(cell("data", [1, 0]).value, 0);
});

test("what is refused", () => {
  const inputs = [f64([5]), i64([1, 1], [0]), f64([1])];
  const { cell } = explainGradient(scatter("add"), inputs, f64([1]));
  assertRefused("attribute", {}, () => cell("indices", [0, 0]));
  assertRefused("attribute", {}, () => cell(7, [0]));
  assertRefused("index-out-of-range", {}, () => cell("data", [1]));
  assertRefused("attribute", {}, () =>
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
    assertRefused(code, {}, () => rest.cell("data", [0]));
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
