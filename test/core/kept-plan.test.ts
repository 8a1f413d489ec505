import assert from "node:assert/strict";
import { test } from "node:test";
import type { ErrorCode } from "../../src/core/errors.ts";
import { gatherElements, gatherND, scatterElements, scatterND } from "../../src/core/functions.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { full, tensor, zeros } from "../../src/core/tensor/tensor.ts";
import { ENGINES } from "../support/engines.ts";
import { assertRefused } from "../support/refusal.ts";

const data = tensor(
  "float32",
  [3, 4],
  Float32Array.from({ length: 12 }, (_, i) => i),
);

for (const [name, engine] of Object.entries(ENGINES)) {
  test(`plans do what the functions do, on ${name}`, () => {
    const rows = tensor("int64", [3, 1], [2, 0, -1]);
    const plan = engine.planScatterND([3, 4], rows);
    const updates = full("float32", [3, 4], 5);
    assert.deepEqual(
      [plan.dataShape, plan.shape],
      [
        [3, 4],
        [3, 4],
      ],
    );
    for (const reduction of ["none", "add", "max"] as const) {
      assert.ok(
        equals(
          plan.scatter(data, updates, { reduction }),
          scatterND(data, rows, updates, { reduction }),
        ),
      );
    }
    assert.ok(equals(plan.gather(data), gatherND(data, rows)));
    const out = zeros("float32", [3, 4]);
    assert.equal(plan.gather(data, { out }), out);
    assert.equal(plan.scatter(out, updates, { out, reduction: "add" }), out);
    assert.deepEqual(plan.duplicates(), [{ target: [2], count: 2 }]);

    const columns = tensor("int32", [3, 2], [0, 0, 3, -1, 1, 2]);
    const elements = engine.planScatterElements([3, 4], columns, { axis: 1 });
    const pairs = full("float32", [3, 2], 7);
    assert.ok(
      equals(elements.scatter(data, pairs), scatterElements(data, columns, pairs, { axis: 1 })),
    );
    assert.ok(equals(elements.gather(data), gatherElements(data, columns, { axis: 1 })));
    assert.deepEqual(elements.duplicates(), [
      { target: [0, 0], count: 2 },
      { target: [1, 3], count: 2 },
    ]);
    assert.ok(
      equals(
        engine.planGatherElements([3, 4], columns, { axis: 1 }).gather(data),
        elements.gather(data),
      ),
    );

    const batched = engine.planGatherND([3, 4], [[1], [1], [-4]], { batchDims: 1 });
    assert.deepEqual([...batched.gather(data).data], [1, 5, 8]);
    assert.deepEqual(batched.scatter(data, [9, 9, 9]).data[8], 9);
  });
}

for (const [name, engine] of Object.entries(ENGINES)) {
  test(`rows that hold one index each are counted index by index, on ${name}`, () => {
    const rows = Int32Array.from({ length: 4 * 16 }, (_, p) => (p < 32 ? 2 : p >> 4));
    const plan = engine.planScatterElements([4, 16], tensor("int32", [4, 16], rows), { axis: 0 });
    // Rows 0, 1 and 2 go to row 2.
    const expected = Array.from({ length: 16 }, (_, column) => ({ target: [2, column], count: 3 }));
    assert.deepEqual(plan.duplicates(), expected);
  });
}

test("a plan is good for every data type, and does not see later changes of the indices", () => {
  const [engine] = Object.values(ENGINES);
  const indices = tensor("int64", [1], [1]);
  const plan = engine.planScatterND([2], indices);
  indices.data[0] = 9n;
  assert.deepEqual(
    plan.scatter(tensor("string", [2], ["a", "b"]), "c", { reduction: "add" }).toArray(),
    ["a", "bc"],
  );
  assert.deepEqual(plan.gather(tensor("int8", [2], [1, 2])).toArray(), 2);
});

test("what does not fit a plan is an error", () => {
  const [engine] = Object.values(ENGINES);
  const plan = engine.planScatterND([3, 4], [[0]]);
  const inside = tensor("float32", [1, 4], data.data.subarray(0, 4));
  const rows: readonly (readonly [ErrorCode, () => unknown])[] = [
    ["index-out-of-range", () => engine.planScatterND([3, 4], [[3]])],
    ["rank", () => engine.planScatterND([3, 4], [[0, 0, 0]])],
    ["shape-mismatch", () => engine.planScatterND([-1], [[0]])],
    ["dtype", () => engine.planScatterND([3], zeros("float32", [1, 1]))],
    ["attribute", () => engine.planScatterND([3], [[0]], { axis: 0 as never })],
    ["attribute", () => engine.planScatterND([3], [[0]], { reduction: "add" } as never)],
    ["shape-mismatch", () => plan.gather(zeros("float32", [4, 3]))],
    ["shape-mismatch", () => plan.scatter(data, zeros("float32", [4]))],
    ["dtype", () => plan.scatter(data, zeros("float64", [1, 4]))],
    [
      "reduction",
      () => plan.scatter(data, zeros("float32", [1, 4]), { reduction: "median" as "add" }),
    ],
    ["attribute", () => plan.gather(data, { reduction: "add" } as object)],
    ["overlap", () => plan.scatter(data, inside, { out: data })],
    ["dtype", () => plan.gather([1, 2, 3] as never)],
  ];
  for (const [code, call] of rows) {
    assertRefused(code, {}, call);
  }
});

test("an error of a kept plan names the input and the shape that it must have", () => {
  const [engine] = Object.values(ENGINES);
  const plan = engine.planScatterND([3, 4], [[0], [2]]);
  const rows: readonly (readonly [input: string, expected: readonly number[], () => unknown])[] = [
    ["data", [3, 4], () => plan.gather(zeros("float32", [4, 3]))],
    ["updates", [2, 4], () => plan.scatter(data, zeros("float32", [4]))],
  ];
  for (const [input, expected, call] of rows) {
    assertRefused("shape-mismatch", { input, expected }, call);
  }
});
