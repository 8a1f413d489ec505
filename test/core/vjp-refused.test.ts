/** Calls of gradients that are refused, each with its code, its sentence and its fields; and what stays as it was. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { vjp } from "../../src/core/functions.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import { planGather, planScatterND } from "../../src/core/plan-functions.ts";
import { full, tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { assertRefused, type Facts } from "../support/refusal.ts";

const f64 = (values: readonly number[], shape: readonly number[] = [values.length]): Tensor =>
  tensor("float64", shape, [...values]) as Tensor;
const i64 = (values: readonly number[], shape: readonly number[] = [values.length, 1]): Tensor =>
  tensor("int64", shape, [...values]) as Tensor;
const lists = (gradients: readonly (Tensor | null)[]) =>
  gradients.map((one) => one && [...(one.data as Float64Array)]);

const DATA = f64([5, 6, 7, 8]);
const UPDATES = f64([2, 3, 0]);
const GRADIENT = f64([1, 10, 100, 1000]);

const SCATTER = { op: "ScatterND", opset: 18, attributes: { reduction: "add" } };
const INPUTS = [DATA, i64([1, 3, 1]), UPDATES];

const REFUSED: readonly (readonly [
  who: string,
  call: () => unknown,
  code: ErrorCode,
  facts: Facts,
])[] = [
  [
    "data of integers",
    () =>
      vjp(
        SCATTER,
        [tensor("int32", [4], [1, 2, 3, 4]), i64([1]), tensor("int32", [1], [1])],
        tensor("int32", [4], [1, 1, 1, 1]),
      ),
    "dtype",
    { op: "ScatterND", opset: 18, input: "data" },
  ],
  [
    "text",
    () =>
      vjp(
        { function: "gather" },
        [tensor("string", [1], ["a"]), [0]],
        tensor("string", [1], ["a"]),
      ),
    "dtype",
    { input: "data" },
  ],
  [
    "a gradient of another type",
    () => vjp(SCATTER, INPUTS, zeros("float32", [4])),
    "dtype",
    { input: "outputGradient" },
  ],
  [
    "a gradient of another shape",
    () => vjp(SCATTER, INPUTS, f64([1, 2, 3])),
    "shape-mismatch",
    { expected: [4], input: "outputGradient" },
  ],
  [
    "no gradient",
    () => vjp(SCATTER, INPUTS, undefined as never),
    "dtype",
    { input: "outputGradient" },
  ],
  [
    "an unknown tie",
    () => vjp(SCATTER, INPUTS, GRADIENT, { ties: "odd" as never }),
    "attribute",
    {},
  ],
  [
    "an unknown option",
    () => vjp(SCATTER, INPUTS, GRADIENT, { wanted: [0] } as never),
    "attribute",
    {},
  ],
  [
    "the gradient of indices",
    () => vjp(SCATTER, INPUTS, GRADIENT, { argnums: [0, 1] }),
    "attribute",
    {},
  ],
  [
    "a word for a position",
    () => vjp(SCATTER, INPUTS, GRADIENT, { argnums: "updates" as never }),
    "attribute",
    {},
  ],
  [
    "too many positions",
    () => vjp(SCATTER, INPUTS, GRADIENT, { argnums: [0, 0, 0, 0] }),
    "attribute",
    {},
  ],
  [
    "out that is a tensor",
    () => vjp(SCATTER, INPUTS, GRADIENT, { out: DATA as never }),
    "attribute",
    {},
  ],
  [
    "out for what is not wanted",
    () => vjp(SCATTER, INPUTS, GRADIENT, { argnums: 2, out: [zeros("float64", [4])] }),
    "attribute",
    { input: "out" },
  ],
  [
    "out for indices",
    () => vjp(SCATTER, INPUTS, GRADIENT, { out: [null, zeros("int64", [3, 1])] }),
    "attribute",
    { input: "out" },
  ],
  [
    "out of another shape",
    () => vjp(SCATTER, INPUTS, GRADIENT, { out: [null, null, zeros("float64", [4])] }),
    "shape-mismatch",
    { input: "out", expected: [3] },
  ],
  [
    "out that is data",
    () => vjp(SCATTER, INPUTS, GRADIENT, { out: [DATA] }),
    "overlap",
    { input: "out" },
  ],
  [
    "out of updates that is the gradient",
    () =>
      vjp(SCATTER, [DATA, i64([1, 3, 1, 0]), f64([1, 2, 3, 4])], GRADIENT, {
        out: [null, null, GRADIENT],
      }),
    "overlap",
    { input: "out" },
  ],
  [
    "the same out twice",
    () => {
      const out = zeros("float64", [4]);
      vjp(SCATTER, [DATA, i64([1, 3, 1, 0]), f64([1, 2, 3, 4])], GRADIENT, {
        out: [out, null, out],
      });
    },
    "overlap",
    { input: "out" },
  ],
  [
    "out of a gather that is the gradient",
    () =>
      vjp({ op: "Gather", opset: 13 }, [DATA, i64([1, 0, 3, 2], [4])], GRADIENT, {
        out: [GRADIENT],
      }),
    "overlap",
    { input: "out" },
  ],
  [
    "an index outside",
    () => vjp(SCATTER, [DATA, i64([1, 4, 1]), UPDATES], GRADIENT),
    "index-out-of-range",
    { input: "indices", at: [1, 0], axis: 0, got: 4, expected: [-4, 3] },
  ],
  [
    "repeats where they are refused",
    () => vjp({ function: "scatterND", options: { duplicates: "error" } }, INPUTS, GRADIENT),
    "duplicate-index",
    { input: "indices", at: [2] },
  ],
  [
    "an unknown function",
    () => vjp({ function: "toString" as never }, INPUTS, GRADIENT),
    "unknown-operator",
    {},
  ],
  [
    "the function's out",
    () => vjp({ function: "scatterND", options: { out: DATA } }, INPUTS, GRADIENT),
    "attribute",
    {},
  ],
  ["no node", () => vjp(null as never, INPUTS, GRADIENT), "unknown-operator", {}],
  [
    "an unknown operator",
    () => vjp({ op: "Add", opset: 13 }, INPUTS, GRADIENT),
    "unknown-operator",
    {},
  ],
  ["no engine", () => vjp(SCATTER, INPUTS, GRADIENT, { engine: {} as never }), "engine", {}],
  [
    "of a kept plan: data of integers",
    () => planGather([4], [1]).gatherVjp(tensor("int8", [1], [1])),
    "dtype",
    { input: "outputGradient" },
  ],
  [
    "of a kept plan: another shape",
    () => planGather([4], [1]).gatherVjp(f64([1, 2])),
    "shape-mismatch",
    { input: "outputGradient", expected: [1] },
  ],
  [
    "of a kept plan: a reduction",
    () => planScatterND([4], [[1]]).scatterVjp(DATA, [1], GRADIENT, { reduction: "sum" as never }),
    "reduction",
    {},
  ],
  [
    "of a kept plan: an unknown option",
    () => planScatterND([4], [[1]]).scatterVjp(DATA, [1], GRADIENT, { axis: 0 } as never),
    "attribute",
    {},
  ],
];

for (const [who, call, code, facts] of REFUSED) {
  test(`refused: ${who}`, () => {
    assertRefused(code, facts, call);
  });
}

test("after an error outs are what they were", () => {
  const out = [full("float64", [4], 7), null, full("float64", [3], 7)];
  const bad = [DATA, i64([1, 4, 1]), UPDATES];
  assert.throws(() => vjp(SCATTER, bad, GRADIENT, { out }));
  assert.deepEqual(lists(out as (Tensor | null)[]), [[7, 7, 7, 7], null, [7, 7, 7]]);
});
