/** What the plain functions do beyond the specifications, with numbers worked out by hand, on every engine. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../../src/core/create-engine.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import type { Reduction } from "../../src/core/tensor/dtype.ts";
import { tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { ENGINES } from "../support/engines.ts";
import { withLimits } from "../support/limits.ts";
import { assertRefused, type Facts } from "../support/refusal.ts";

const line = (...values: number[]) => tensor("float32", [values.length], values);
const grid = () => tensor("int32", [2, 3], [1, 2, 3, 4, 5, 6]);

const cube = () => tensor("int8", [2, 2, 2], [1, 2, 3, 4, 5, 6, 7, 8]);
const bytes = () => tensor("int8", [1, 3], [1, 2, 3]);
const text = (...values: string[]) => tensor("string", [values.length], values);
const clip = { bounds: "clip" } as const;
const fill = { bounds: "fill" } as const;
const drop = { bounds: "drop" } as const;
const batchFill = { axis: 1, batchDims: 1, ...fill } as const;
const dropSum = { ...drop, reduction: "add" } as const;
const clipSum = { ...clip, reduction: "add" } as const;
const dropMean = { ...drop, reduction: "mean" } as const;
const sum = { reduction: "add" } as const;
const mean = { reduction: "mean" } as const;
const circular = { axis: 1, mode: "circular" } as const;
const updatesAlone = { includeSelf: false } as const;
const alone = <R extends Reduction>(reduction: R) => ({ reduction, ...updatesAlone });

const FAR = 2n ** 62n;
/** Of two rows of places on axis 0, some of them outside. */
const OUTSIDE = tensor("int64", [2, 3], [2, 0, 0, 1, -3, 1]);
/** Rows that hold one index each, of which the second is outside. */
const ROWS_OUT = tensor("int64", [2, 2], [1, 1, 5, 5]);
const ONES = tensor("int64", [2, 2], [1, 1, 1, 1]);
const sevenOn = () => tensor("int32", [2, 3], [7, 8, 9, 10, 11, 12]);

function inPlace(engine: Engine): Tensor {
  const data = grid();
  return engine.tensorScatter(data, [[8], [9]], undefined, { axis: 1, out: data });
}

type Row = readonly [name: string, call: (engine: Engine) => Tensor, output: unknown];

// prettier-ignore
const ROWS: readonly Row[] = [
  // Indices out of range, at both ends and far away.
  ["clip takes the nearest", (e) => e.gatherND(line(1, 2, 3), [[3], [-4], [-3], [1], [FAR]], clip), [3, 1, 1, 2, 3]],
  ["clip by axis", (e) => e.gatherND(grid(), [[5, -9], [0, 7]], clip), [4, 3]],
  ["fill gives 0", (e) => e.gatherND(line(1, 2, 3), [[3], [-4], [-3], [1]], fill), [0, 0, 1, 2]],
  ["fill gives empty text", (e) => e.gather(text("a", "b"), [1, 2], fill), ["b", ""]],
  ["fill gives false", (e) => e.gather(tensor("bool", [2], [true, true]), [1, 2], fill), [true, false]],
  ["fill gives 0n", (e) => e.gatherElements(tensor("int64", [2], [7, 8]), [1, 2, -3], fill), [8n, 0n, 0n]],
  ["fill where one index of a tuple is bad", (e) => e.gatherND(cube(), [[0, 1], [1, 2]], fill), [[3, 4], [0, 0]]],
  ["fill within batches", (e) => e.gather(grid(), [[0, 3], [-4, 2]], batchFill), [[1, 0], [0, 6]]],
  ["fill from an axis without elements", (e) => e.gather(zeros("float32", [0, 2]), [0], fill), [[0, 0]]],
  ["fill in out that held something", (e) => e.gather(line(1), [4, 0], { ...fill, out: line(9, 9) }), [0, 1]],
  ["drop leaves updates out", (e) => e.scatterND(line(1, 2, 3), [[3], [0], [-4]], [7, 8, 9], drop), [8, 2, 3]],
  ["drop from a sum", (e) => e.scatterND(line(1, 2, 3), [[0], [3], [0]], [10, 20, 30], dropSum), [41, 2, 3]],
  ["drop of elements", (e) => e.scatterElements(grid(), OUTSIDE, sevenOn(), drop), [[1, 8, 9], [10, 5, 12]]],
  ["drop of a row", (e) => e.scatterElements(grid(), ROWS_OUT, [[1, 2], [4, 5]], dropSum), [[1, 2, 3], [5, 7, 6]]],
  ["clip of a row", (e) => e.scatterElements(grid(), ROWS_OUT, [[1, 2], [4, 5]], clipSum), [[1, 2, 3], [9, 12, 6]]],
  ["fill of a row", (e) => e.gatherElements(grid(), ROWS_OUT, fill), [[4, 5], [0, 0]]],
  ["drop all", (e) => e.scatterND(line(1, 2), [[5]], [9], drop), [1, 2]],
  ["clip of a scatter", (e) => e.scatterElements(line(1, 2, 3), [9, -9], [7, 8], clip), [8, 2, 7]],
  ["in range, nothing changes", (e) => e.scatterND(line(1, 2, 3), [[-1]], [9], drop), [1, 2, 9]],
  // Where reductions begin.
  ["a sum without what was there", (e) => e.scatterND(line(100, 200), [[0], [0]], [1, 2], alone("add")), [3, 200]],
  ["a product of updates", (e) => e.scatterElements(line(100, 200), [1, 1], [3, 4], alone("mul")), [100, 12]],
  ["a minimum without what was there", (e) => e.scatterND(line(-5, 0), [[0], [0]], [4, 2], alone("min")), [2, 0]],
  ["a difference of updates", (e) => e.scatterND(line(100), [[0], [0], [0]], [9, 2, 3], alone("sub")), [4]],
  ["none has no use for it", (e) => e.scatterND(line(1, 2), [[0]], [9], updatesAlone), [9, 2]],
  ["text without what was there", (e) => e.scatter(text("x"), [0, 0], ["a", "b"], alone("add")), ["ab"]],
  ["rows without what was there", (e) => e.scatterND(grid(), [[1], [1]], grid(), alone("add")), [[1, 2, 3], [5, 7, 9]]],
  ["rows of one index", (e) => e.scatterElements(grid(), ONES, [[1, 2], [4, 5]], alone("add")), [[1, 2, 3], [5, 7, 6]]],
  // Means.
  ["a mean with what was there", (e) => e.scatterND(line(3, 7), [[0], [0]], [4, 8], mean), [5, 7]],
  ["a mean of updates alone", (e) => e.scatterND(line(3, 7), [[0], [0]], [4, 8], alone("mean")), [6, 7]],
  ["a mean of rows", (e) => e.scatterND(grid(), [[0], [0]], [[1, 0, 0], [2, 1, -6]], mean), [[1, 1, -1], [4, 5, 6]]],
  ["a mean without what was dropped", (e) => e.scatterND(line(3, 7), [[0], [2], [0]], [4, 100, 8], dropMean), [5, 7]],
  // Names of the family.
  ["gather of a scalar", (e) => e.gather(grid(), -1), [4, 5, 6]],
  ["gather along axis 1", (e) => e.gather(grid(), [[2, 0]], { axis: -1 }), [[[3, 1]], [[6, 4]]]],
  ["scatter", (e) => e.scatter(grid(), [[1, 0]], [[7, 8]], { axis: 0 }), [[1, 8, 3], [7, 5, 6]]],
  ["tensorScatter", (e) => e.tensorScatter(grid(), [[8, 9], [10, 11]], [2, 1], circular), [[9, 2, 8], [4, 10, 11]]],
  ["tensorScatter in place, without positions", inPlace, [[8, 2, 3], [9, 5, 6]]],
  ["tensorScatter beyond 2^53", (e) => e.tensorScatter(bytes(), [[9]], [2n ** 60n + 1n], circular), [[1, 2, 9]]],
];

let turn = 0;
for (const [name, call, output] of ROWS) {
  test(`${name}, on every engine, twice`, () =>
    withLimits(turn++, () => {
      for (const [engineName, engine] of Object.entries(ENGINES)) {
        const first = call(engine);
        assert.deepEqual(first.toArray(), output, engineName);
        // The second result has the memory of the first, which holds a pattern.
        first.dispose();
        assert.deepEqual(call(engine).toArray(), output, engineName);
      }
    }));
}

type Refused = readonly [code: ErrorCode, facts: Facts, call: (engine: Engine) => unknown];

const one = () => line(1);
const small = () => zeros("float8e5m2", [1]);
const strict = { negative: "error" } as const;
const numberAsFlag = { includeSelf: 0 as unknown as boolean };

// prettier-ignore
const REFUSED: readonly Refused[] = [
  ["index-out-of-range", { input: "indices", at: [0], axis: 0, got: 0, expected: [0, -1] }, (e) => e.gather(zeros("float32", [0]), [0], clip)],
  ["index-out-of-range", { input: "indices", at: [1, 0], axis: 0, got: -1, expected: [0, 2] }, (e) => e.gatherND(line(1, 2, 3), [[0], [-1]], strict)],
  ["index-out-of-range", { input: "indices", at: [1], axis: 0, got: -1, expected: [0, 0] }, (e) => e.gather(one(), [9, -1], { ...strict, ...fill })],
  ["index-out-of-range", { input: "indices", at: [1, 0], axis: 0, got: 5, expected: [-2, 1] }, (e) => e.gatherElements(grid(), ROWS_OUT)],
  ["index-out-of-range", { input: "indices", at: [0, 0], axis: 0, got: 4294967297, expected: [-2, 1] }, (e) => e.gatherND(grid(), [[2n ** 32n + 1n]])],
  ["index-out-of-range", { input: "indices", at: [1], axis: 0, got: -4294967296, expected: [-2, 1] }, (e) => e.gather(grid(), [1, -(2n ** 32n)])],
  ["attribute", {}, (e) => e.gather(one(), [0], drop as object)],
  ["attribute", {}, (e) => e.scatterND(one(), [[0]], [1], fill as object)],
  ["attribute", {}, (e) => e.gather(one(), [0], updatesAlone as object)],
  ["attribute", {}, (e) => e.scatterND(one(), [[0]], [1], numberAsFlag)],
  ["attribute", {}, (e) => e.tensorScatter(one(), [1], undefined, clip as object)],
  ["attribute", {}, (e) => e.scatterND(one(), [[0]], [1], { bound: "clip" } as object)],
  ["attribute", {}, (e) => e.scatterND(one(), [[0]], [1], { mood: 1 } as object)],
  ["attribute", {}, (e) => e.gather(one(), [0], { mood: 1 } as object)],
  ["attribute", {}, (e) => e.tensorScatter(one(), [1], undefined, { mood: 1 } as object)],
  ["attribute", {}, (e) => e.planScatterND([1], [[0]], clip as never)],
  ["reduction", {}, (e) => e.scatterND(one(), [[0]], [1], { reduction: "sum" as "add" })],
  ["dtype", { input: "indices" }, (e) => e.gather(one(), undefined as never)],
  ["reduction", {}, (e) => e.scatterND(zeros("bool", [1]), [[0]], [true], mean)],
  ["reduction", {}, (e) => e.scatterND(text(""), [[0]], ["a"], mean)],
  ["reduction", {}, (e) => e.scatterND(small(), [[0]], [1], sum)],
];

for (const [code, facts, call] of REFUSED) {
  test(`${code}: ${String(call)}`, () => {
    for (const engine of Object.values(ENGINES)) assertRefused(code, facts, () => call(engine));
  });
}

test("policies are no options of a node", async () => {
  const { run } = await import("../../src/core/functions.ts");
  for (const policy of [{ bounds: "clip" }, { negative: "error" }, { includeSelf: false }]) {
    assertRefused("attribute", {}, () =>
      run({ op: "GatherND", opset: 13 }, [line(1), [[0]]], policy as object),
    );
  }
});
