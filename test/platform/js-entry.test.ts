/** The entry `ndscatter/js`: the names of `ndscatter`, but for engines, and the same results and errors. */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as main from "../../src/entries/index.ts";
import * as js from "../../src/entries/js.ts";

test("it has the names of the main entry, but createEngine", () => {
  const expected = Object.keys(main).filter((name) => name !== "createEngine");
  assert.deepEqual(Object.keys(js).toSorted(), expected.toSorted());
});

const data = main.tensor("float32", [3, 2], [0, 1, 2, 3, 4, 5]);
const rows = [[2, 3], [8, 9]]; // prettier-ignore

/** A call of each function, and the elements that it gives, by hand. */
const CALLS: readonly (readonly [name: keyof typeof js, args: readonly unknown[], expected: readonly number[]])[] = [
  ["scatterND", [data, [[2], [0]], rows], [8, 9, 2, 3, 2, 3]],
  ["scatterElements", [data, [[2, 0]], [[7, 8]]], [0, 8, 2, 3, 7, 5]],
  ["scatter", [data, [[1, 1]], [[7, 8]], { axis: 0 }], [0, 1, 7, 8, 4, 5]],
  ["gatherND", [data, [[2, 1], [0, 0]]], [5, 0]],
  ["gatherElements", [data, [[1, 0], [0, 0]], { axis: 1 }], [1, 0, 2, 2]],
  ["gather", [data, [2, 0]], [4, 5, 0, 1]],
  ["tensorScatter", [data, [[6], [7], [8]], undefined, { axis: 1 }], [6, 1, 7, 3, 8, 5]],
]; // prettier-ignore

for (const [name, args, expected] of CALLS) {
  test(`${name} gives what that of the main entry gives`, () => {
    for (const entry of [js, main]) {
      const call = entry[name as "gather"] as (...all: readonly unknown[]) => main.Tensor;
      assert.deepEqual([...call(...args).data], expected);
    }
  });
}

test("plans and nodes run too, on the engine of the entry or on one that is given", () => {
  const plans = [
    js.planScatterND([3, 2], [[2], [0]]),
    js.planGatherND([3, 2], [[2], [0]]),
    js.planGather([3, 2], [2, 0]),
  ];
  for (const plan of plans) assert.deepEqual([...plan.gather(data).data], [4, 5, 0, 1]);
  for (const plan of [
    js.planScatterElements([3, 2], [[2, 0]]),
    js.planGatherElements([3, 2], [[2, 0]]),
  ]) {
    assert.deepEqual([...plan.gather(data).data], [4, 1]);
  }
  const node = { op: "Gather", opset: 13 };
  const indices = main.tensor("int64", [1], [1n]);
  for (const options of [undefined, { engine: main.createEngine({ kind: "wasm" }) }]) {
    assert.deepEqual([...js.run(node, [data, indices], options)[0].data], [2, 3]);
  }
});

test("a wrong call gets the error of the main entry", () => {
  const errors = [js, main].map((entry) => {
    try {
      return entry.gather(data, [3]);
    } catch (error) {
      return error;
    }
  });
  assert.ok(errors.every((error) => js.isTensorError(error) && error instanceof main.TensorError));
  const [own, other] = errors as main.TensorError[];
  assert.deepEqual([own.code, own.message], ["index-out-of-range", other.message]);
});
