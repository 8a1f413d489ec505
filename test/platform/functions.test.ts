/** The functions of the package, each with options that change its result: what an engine does is tested with engines. */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as nd from "../../src/entries/index.ts";

const square = nd.tensor("int32", [2, 2], [1, 2, 3, 4]);
const line = nd.tensor("int32", [3], [10, 20, 30]);

/** A call, and what it gives without and with its options. */
type Row = readonly [
  name: string,
  plain: () => nd.Tensor,
  expected: unknown,
  more: () => nd.Tensor,
  expected: unknown,
];

// prettier-ignore
const ROWS: readonly Row[] = [
  ["scatterND", () => nd.scatterND(line, [[0], [0]], [1, 2]), [2, 20, 30],
    () => nd.scatterND(line, [[0], [0]], [1, 2], { reduction: "add" }), [13, 20, 30]],
  ["scatterElements", () => nd.scatterElements(square, [[1, 1]], [[8, 9]]), [[1, 2], [8, 9]],
    () => nd.scatterElements(square, [[1], [0]], [[8], [9]], { axis: 1, reduction: "add" }), [[1, 10], [12, 4]]],
  ["scatter", () => nd.scatter(square, [[1, 1]], [[8, 9]]), [[1, 2], [8, 9]],
    () => nd.scatter(square, [[1], [0]], [[8], [9]], { axis: 1, reduction: "add" }), [[1, 10], [12, 4]]],
  ["gatherND", () => nd.gatherND(square, [[1], [0]]), [[3, 4], [1, 2]],
    () => nd.gatherND(square, [[1], [0]], { batchDims: 1 }), [2, 3]],
  ["gatherElements", () => nd.gatherElements(square, [[1, 0]]), [[3, 2]],
    () => nd.gatherElements(square, [[1], [0]], { axis: 1 }), [[2], [3]]],
  ["gather", () => nd.gather(square, [1]), [[3, 4]], () => nd.gather(square, [1], { axis: 1 }), [[2], [4]]],
  ["tensorScatter", () => nd.tensorScatter(nd.tensor("int32", [1, 2, 1], [1, 2]), [[[7]]]), [[[7], [2]]],
    () => nd.tensorScatter(nd.tensor("int32", [1, 2, 1], [1, 2]), [[[7]]], [3], { mode: "circular" }), [[[1], [7]]]],
  ["planScatterND", () => nd.planScatterND([3], [[0], [2]]).scatter(line, [1, 2]), [1, 20, 2],
    () => nd.planScatterND([3], [[0], [2]]).scatter(line, [1, 2], { reduction: "add" }), [11, 20, 32]],
  ["planScatterElements", () => nd.planScatterElements([2, 2], [[1, 1]]).scatter(square, [[8, 9]]), [[1, 2], [8, 9]],
    () => nd.planScatterElements([2, 2], [[1], [0]], { axis: 1 }).scatter(square, [[8], [9]]), [[1, 8], [9, 4]]],
  ["planGatherND", () => nd.planGatherND([2, 2], [[1], [0]]).gather(square), [[3, 4], [1, 2]],
    () => nd.planGatherND([2, 2], [[1], [0]], { batchDims: 1 }).gather(square), [2, 3]],
  ["planGatherElements", () => nd.planGatherElements([2, 2], [[1, 0]]).gather(square), [[3, 2]],
    () => nd.planGatherElements([2, 2], [[1], [0]], { axis: 1 }).gather(square), [[2], [3]]],
  ["planGather", () => nd.planGather([2, 2], [1]).gather(square), [[3, 4]],
    () => nd.planGather([2, 2], [1], { axis: 1 }).gather(square), [[2], [4]]],
];

for (const [name, plain, first, more, second] of ROWS) {
  test(`${name}, without options and with them`, () => {
    assert.deepEqual(plain().toArray(), first);
    assert.deepEqual(more().toArray(), second);
  });
}

test("every function of operators has a row", () => {
  const names = Object.keys(nd).filter((name) =>
    /^(scatter|gather|tensorScatter|plan[SG])/.test(name),
  );
  assert.deepEqual(ROWS.map(([name]) => name).sort(), names.sort());
});

test("a kept plan of tuples takes no option that its operator lacks", () => {
  assert.throws(
    () => nd.planScatterND([3], [[0]], { axis: 0 as never }),
    (error) => nd.isTensorError(error, "attribute"),
  );
});
