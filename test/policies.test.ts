/** What the plain functions do beyond the specifications, with numbers worked out by hand, on every engine. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../src/create-engine.ts";
import { isTensorError, type ErrorCode } from "../src/errors.ts";
import { tensor, zeros, type Tensor } from "../src/tensor/tensor.ts";
import { ENGINES } from "./support/engines.ts";

const line = (...values: number[]) => tensor("float32", [values.length], values);
const grid = () => tensor("int32", [2, 3], [1, 2, 3, 4, 5, 6]);

interface Row {
  readonly name: string;
  readonly call: (engine: Engine) => Tensor;
  readonly output: unknown;
}

// prettier-ignore
const ROWS: readonly Row[] = [
  // Indices out of range, at both ends and far away.
  { name: "clip takes the nearest", call: (e) => e.gatherND(line(1, 2, 3), [[3], [-4], [-3], [1], [2n ** 62n]], { bounds: "clip" }), output: [3, 1, 1, 2, 3] },
  { name: "clip by axis", call: (e) => e.gatherND(grid(), [[5, -9], [0, 7]], { bounds: "clip" }), output: [4, 3] },
  { name: "fill gives 0", call: (e) => e.gatherND(line(1, 2, 3), [[3], [-4], [-3], [1]], { bounds: "fill" }), output: [0, 0, 1, 2] },
  { name: "fill gives empty text", call: (e) => e.gather(tensor("string", [2], ["a", "b"]), [1, 2], { bounds: "fill" }), output: ["b", ""] },
  { name: "fill gives false", call: (e) => e.gather(tensor("bool", [2], [true, true]), [1, 2], { bounds: "fill" }), output: [true, false] },
  { name: "fill gives 0n", call: (e) => e.gatherElements(tensor("int64", [2], [7, 8]), [1, 2, -3], { bounds: "fill" }), output: [8n, 0n, 0n] },
  { name: "fill of slices where one index of a tuple is bad", call: (e) => e.gatherND(tensor("int8", [2, 2, 2], [1, 2, 3, 4, 5, 6, 7, 8]), [[0, 1], [1, 2]], { bounds: "fill" }), output: [[3, 4], [0, 0]] },
  { name: "fill within batches", call: (e) => e.gather(grid(), [[0, 3], [-4, 2]], { axis: 1, batchDims: 1, bounds: "fill" }), output: [[1, 0], [0, 6]] },
  { name: "fill from an axis without elements", call: (e) => e.gather(zeros("float32", [0, 2]), [0], { bounds: "fill" }), output: [[0, 0]] },
  { name: "fill in out that held something", call: (e) => e.gather(line(1), [4, 0], { bounds: "fill", out: line(9, 9) }), output: [0, 1] },
  { name: "drop leaves updates out", call: (e) => e.scatterND(line(1, 2, 3), [[3], [0], [-4]], [7, 8, 9], { bounds: "drop" }), output: [8, 2, 3] },
  { name: "drop leaves terms of a sum out", call: (e) => e.scatterND(line(1, 2, 3), [[0], [3], [0]], [10, 20, 30], { bounds: "drop", reduction: "add" }), output: [41, 2, 3] },
  { name: "drop of elements, row by row", call: (e) => e.scatterElements(grid(), [[2, 0, 0], [1, -3, 1]], [[7, 8, 9], [10, 11, 12]], { bounds: "drop" }), output: [[1, 8, 9], [10, 5, 12]] },
  { name: "drop all", call: (e) => e.scatterND(line(1, 2), [[5]], [9], { bounds: "drop" }), output: [1, 2] },
  { name: "clip of a scatter", call: (e) => e.scatterElements(line(1, 2, 3), [9, -9], [7, 8], { bounds: "clip" }), output: [8, 2, 7] },
  { name: "in range, nothing changes", call: (e) => e.scatterND(line(1, 2, 3), [[-1]], [9], { bounds: "drop" }), output: [1, 2, 9] },
  // Where reductions begin.
  { name: "a sum without what was there", call: (e) => e.scatterND(line(100, 200), [[0], [0]], [1, 2], { reduction: "add", includeSelf: false }), output: [3, 200] },
  { name: "a product without what was there", call: (e) => e.scatterElements(line(100, 200), [1, 1], [3, 4], { reduction: "mul", includeSelf: false }), output: [100, 12] },
  { name: "a minimum without what was there", call: (e) => e.scatterND(line(-5, 0), [[0], [0]], [4, 2], { reduction: "min", includeSelf: false }), output: [2, 0] },
  { name: "a difference of updates", call: (e) => e.scatterND(line(100), [[0], [0], [0]], [9, 2, 3], { reduction: "sub", includeSelf: false }), output: [4] },
  { name: "none has no use for it", call: (e) => e.scatterND(line(1, 2), [[0]], [9], { includeSelf: false }), output: [9, 2] },
  { name: "text without what was there", call: (e) => e.scatter(tensor("string", [1], ["x"]), [0, 0], ["a", "b"], { reduction: "add", includeSelf: false }), output: ["ab"] },
  { name: "rows without what was there", call: (e) => e.scatterND(grid(), [[1], [1]], [[1, 2, 3], [4, 5, 6]], { reduction: "add", includeSelf: false }), output: [[1, 2, 3], [5, 7, 9]] },
  { name: "rows of one index without what was there", call: (e) => e.scatterElements(grid(), [[1, 1], [1, 1]], [[1, 2], [4, 5]], { reduction: "add", includeSelf: false }), output: [[1, 2, 3], [5, 7, 6]] },
  // Means.
  { name: "a mean with what was there", call: (e) => e.scatterND(line(3, 7), [[0], [0]], [4, 8], { reduction: "mean" }), output: [5, 7] },
  { name: "a mean of updates alone", call: (e) => e.scatterND(line(3, 7), [[0], [0]], [4, 8], { reduction: "mean", includeSelf: false }), output: [6, 7] },
  { name: "a mean of rows", call: (e) => e.scatterND(grid(), [[0], [0]], [[1, 0, 0], [2, 1, -6]], { reduction: "mean" }), output: [[1, 1, -1], [4, 5, 6]] },
  { name: "a mean without what was dropped", call: (e) => e.scatterND(line(3, 7), [[0], [2], [0]], [4, 100, 8], { reduction: "mean", bounds: "drop" }), output: [5, 7] },
  // Names of the family.
  { name: "gather of a scalar", call: (e) => e.gather(grid(), -1), output: [4, 5, 6] },
  { name: "gather along axis 1", call: (e) => e.gather(grid(), [[2, 0]], { axis: -1 }), output: [[[3, 1]], [[6, 4]]] },
  { name: "scatter", call: (e) => e.scatter(grid(), [[1, 0]], [[7, 8]], { axis: 0 }), output: [[1, 8, 3], [7, 5, 6]] },
  { name: "tensorScatter", call: (e) => e.tensorScatter(grid(), [[8, 9], [10, 11]], [2, 1], { axis: 1, mode: "circular" }), output: [[9, 2, 8], [4, 10, 11]] },
  { name: "tensorScatter in place, without positions", call: (e) => { const data = grid(); return e.tensorScatter(data, [[8], [9]], undefined, { axis: 1, out: data }); }, output: [[8, 2, 3], [9, 5, 6]] },
  { name: "tensorScatter of positions beyond 2^53", call: (e) => e.tensorScatter(tensor("int8", [1, 3], [1, 2, 3]), [[9]], [2n ** 60n + 1n], { axis: -1, mode: "circular" }), output: [[1, 2, 9]] },
];

for (const { name, call, output } of ROWS) {
  for (const [engineName, engine] of Object.entries(ENGINES)) {
    test(`${name}, on ${engineName}`, () => assert.deepEqual(call(engine).toArray(), output));
  }
}

// prettier-ignore
const REFUSED: readonly (readonly [name: string, code: ErrorCode, says: string, call: (engine: Engine) => unknown])[] = [
  ["clip into an axis without elements", "index-out-of-range", "has no elements", (e) => e.gather(zeros("float32", [0]), [0], { bounds: "clip" })],
  ["a negative index where none is taken", "index-out-of-range", "indices[1, 0] is -1, but axis 0 of data [3] takes 0..2", (e) => e.gatherND(line(1, 2, 3), [[0], [-1]], { negative: "error" })],
  ["a negative index, whatever the bounds", "index-out-of-range", "is -1", (e) => e.gather(line(1, 2, 3), [9, -1], { negative: "error", bounds: "fill" })],
  ["drop in a gather", "attribute", 'bounds must be one of "error", "clip", "fill", got "drop"', (e) => e.gather(line(1), [0], { bounds: "drop" as "fill" })],
  ["fill in a scatter", "attribute", 'bounds must be one of "error", "clip", "drop", got "fill"', (e) => e.scatterND(line(1), [[0]], [1], { bounds: "fill" as "drop" })],
  ["includeSelf in a gather", "attribute", "there is no option includeSelf here", (e) => e.gather(line(1), [0], { includeSelf: false } as object)],
  ["includeSelf as a number", "attribute", "includeSelf must be one of true, false, got 0", (e) => e.scatterND(line(1), [[0]], [1], { includeSelf: 0 as unknown as boolean })],
  ["bounds of sequences", "attribute", "there is no option bounds here: its positions have rules of their own", (e) => e.tensorScatter(line(1), [1], undefined, { bounds: "clip" } as object)],
  ["a mean of truth values", "reduction", 'bool has no reduction "mean"', (e) => e.scatterND(zeros("bool", [1]), [[0]], [true], { reduction: "mean" })],
  ["a mean of text", "reduction", 'string has no reduction "mean"', (e) => e.scatterND(zeros("string", [1]), [[0]], ["a"], { reduction: "mean" })],
  ["a sum of small floats", "reduction", 'float8e5m2 has no reduction "add", only none', (e) => e.scatterND(zeros("float8e5m2", [1]), [[0]], [1], { reduction: "add" })],
];

for (const [name, code, says, call] of REFUSED) {
  test(`refused: ${name}`, () => {
    for (const engine of Object.values(ENGINES)) {
      assert.throws(
        () => call(engine),
        (error) =>
          (isTensorError(error, code) && error.message.includes(says)) ||
          assert.fail(String(error)),
      );
    }
  });
}

test("policies are no options of a node", async () => {
  const { run } = await import("../src/call/run.ts");
  for (const policy of [{ bounds: "clip" }, { negative: "error" }, { includeSelf: false }]) {
    assert.throws(
      () => run({ op: "GatherND", opset: 13 }, [line(1), [[0]]], policy as object),
      (error) => isTensorError(error, "attribute"),
    );
  }
});
