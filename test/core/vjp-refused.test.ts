/** Calls of gradients that are refused, each with its code, its sentence and its fields; and what stays as it was. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { vjp } from "../../src/core/call/vjp.ts";
import { isTensorError, type ErrorFields } from "../../src/core/errors.ts";
import { planGather, planScatterND } from "../../src/core/plan-functions.ts";
import { full, tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";

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
  code: string,
  says: RegExp,
  fields?: ErrorFields,
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
    /^ScatterND-18: data must be one of float16, bfloat16, float32, float64, complex64, complex128 to have a gradient, got int32$/,
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
    /got string$/,
  ],
  [
    "a gradient of another type",
    () => vjp(SCATTER, INPUTS, zeros("float32", [4])),
    "dtype",
    /outputGradient must be float64, got float32$/,
    { input: "outputGradient" },
  ],
  [
    "a gradient of another shape",
    () => vjp(SCATTER, INPUTS, f64([1, 2, 3])),
    "shape-mismatch",
    /outputGradient must have the shape of the result, \[4\], got \[3\]$/,
    { input: "outputGradient" },
  ],
  ["no gradient", () => vjp(SCATTER, INPUTS, undefined as never), "dtype", /outputGradient/],
  [
    "an unknown tie",
    () => vjp(SCATTER, INPUTS, GRADIENT, { ties: "odd" as never }),
    "attribute",
    /ties must be one of "even", "first", "last", "all", got "odd"$/,
  ],
  [
    "an unknown option",
    () => vjp(SCATTER, INPUTS, GRADIENT, { wanted: [0] } as never),
    "attribute",
    /unknown option "wanted"; the options are argnums, ties, out, engine$/,
  ],
  [
    "the gradient of indices",
    () => vjp(SCATTER, INPUTS, GRADIENT, { argnums: [0, 1] }),
    "attribute",
    /argnums must be 0 \(data\) or 2 \(updates\), or a list of these, got 1$/,
  ],
  [
    "a word for a position",
    () => vjp(SCATTER, INPUTS, GRADIENT, { argnums: "updates" as never }),
    "attribute",
    /got "updates"$/,
  ],
  [
    "too many positions",
    () => vjp(SCATTER, INPUTS, GRADIENT, { argnums: [0, 0, 0, 0] }),
    "attribute",
    /argnums must have at most 3 entries, one per input, got 4$/,
  ],
  [
    "out that is a tensor",
    () => vjp(SCATTER, INPUTS, GRADIENT, { out: DATA as never }),
    "attribute",
    /out must be a list, got/,
  ],
  [
    "out for what is not wanted",
    () => vjp(SCATTER, INPUTS, GRADIENT, { argnums: 2, out: [zeros("float64", [4])] }),
    "attribute",
    /out\[0\] must be null, because the gradient of data is not requested$/,
  ],
  [
    "out for indices",
    () => vjp(SCATTER, INPUTS, GRADIENT, { out: [null, zeros("int64", [3, 1])] }),
    "attribute",
    /out\[1\] must be null/,
  ],
  [
    "out of another shape",
    () => vjp(SCATTER, INPUTS, GRADIENT, { out: [null, null, zeros("float64", [4])] }),
    "shape-mismatch",
    /out must have the shape of the result, \[3\]/,
  ],
  [
    "out that is data",
    () => vjp(SCATTER, INPUTS, GRADIENT, { out: [DATA] }),
    "overlap",
    /out shares memory with data/,
  ],
  [
    "out of updates that is the gradient",
    () =>
      vjp(SCATTER, [DATA, i64([1, 3, 1, 0]), f64([1, 2, 3, 4])], GRADIENT, {
        out: [null, null, GRADIENT],
      }),
    "overlap",
    /shares memory with outputGradient/,
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
    /shares memory with out\[0\]/,
  ],
  [
    "out of a gather that is the gradient",
    () =>
      vjp({ op: "Gather", opset: 13 }, [DATA, i64([1, 0, 3, 2], [4])], GRADIENT, {
        out: [GRADIENT],
      }),
    "overlap",
    /the out of a gather must have separate memory$/,
  ],
  [
    "an index outside",
    () => vjp(SCATTER, [DATA, i64([1, 4, 1]), UPDATES], GRADIENT),
    "index-out-of-range",
    /indices\[1, 0\] is 4/,
  ],
  [
    "repeats where they are refused",
    () => vjp({ function: "scatterND", options: { duplicates: "error" } }, INPUTS, GRADIENT),
    "duplicate-index",
    /indices\[2\]/,
  ],
  [
    "an unknown function",
    () => vjp({ function: "toString" as never }, INPUTS, GRADIENT),
    "unknown-operator",
    /function must be one of scatterND, .*, got "toString"$/,
  ],
  [
    "the function's out",
    () => vjp({ function: "scatterND", options: { out: DATA } }, INPUTS, GRADIENT),
    "attribute",
    /out is an option of vjp, not of the function/,
  ],
  [
    "no node",
    () => vjp(null as never, INPUTS, GRADIENT),
    "unknown-operator",
    /a node must be an object/,
  ],
  [
    "an unknown operator",
    () => vjp({ op: "Add", opset: 13 }, INPUTS, GRADIENT),
    "unknown-operator",
    /unknown operator of ai\.onnx/,
  ],
  [
    "no engine",
    () => vjp(SCATTER, INPUTS, GRADIENT, { engine: {} as never }),
    "engine",
    /createEngine/,
  ],
  [
    "of a kept plan: data of integers",
    () => planGather([4], [1]).gatherVjp(tensor("int8", [1], [1])),
    "dtype",
    /outputGradient must be one of .* to have a gradient, got int8$/,
  ],
  [
    "of a kept plan: another shape",
    () => planGather([4], [1]).gatherVjp(f64([1, 2])),
    "shape-mismatch",
    /outputGradient must have the shape \[1\], got \[2\]$/,
  ],
  [
    "of a kept plan: a reduction",
    () => planScatterND([4], [[1]]).scatterVjp(DATA, [1], GRADIENT, { reduction: "sum" as never }),
    "reduction",
    /"sum"/,
  ],
  [
    "of a kept plan: an unknown option",
    () => planScatterND([4], [[1]]).scatterVjp(DATA, [1], GRADIENT, { axis: 0 } as never),
    "attribute",
    /unknown option "axis"/,
  ],
];

for (const [who, call, code, says, fields = {}] of REFUSED) {
  test(`refused: ${who}`, () => {
    assert.throws(call, (error) => {
      assert.ok(isTensorError(error), String(error));
      assert.equal(error.code, code, String(error));
      assert.match(error.message, says);
      for (const [field, value] of Object.entries(fields)) {
        assert.deepEqual(error[field as keyof ErrorFields], value, field);
      }
      return true;
    });
  });
}

test("after an error outs are what they were", () => {
  const out = [full("float64", [4], 7), null, full("float64", [3], 7)];
  const bad = [DATA, i64([1, 4, 1]), UPDATES];
  assert.throws(() => vjp(SCATTER, bad, GRADIENT, { out }));
  assert.deepEqual(lists(out as (Tensor | null)[]), [[7, 7, 7, 7], null, [7, 7, 7]]);
});
