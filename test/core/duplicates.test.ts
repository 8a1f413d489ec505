/** `duplicates: "error"` names the first index whose target an earlier one has, and that earlier one. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/core/functions.ts";
import type { Engine } from "../../src/core/create-engine.ts";
import { firstRepeat } from "../../src/core/plan/targets.ts";
import type { Plan } from "../../src/core/plan/plan.ts";
import { tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { ENGINES } from "../support/engines.ts";
import { withLimits } from "../support/limits.ts";
import { assertRefused } from "../support/refusal.ts";

type Call = (engine: Engine, options: object) => unknown;
type Shape = readonly number[];

const indicesOf = (shape: Shape, values: readonly number[]) => tensor("int64", shape, values);

const tuples = (data: Shape, shape: Shape, values: readonly number[], own = {}): Call => {
  const updates = [...shape.slice(0, -1), ...data.slice(shape[shape.length - 1])];
  const inputs = [zeros("float32", data), indicesOf(shape, values), zeros("float32", updates)];
  const [first, ...others] = inputs as [Tensor, Tensor<"int64">, Tensor];
  return (engine, options) => engine.scatterND(first, ...others, { ...own, ...options });
};

const elements = (data: Shape, shape: Shape, values: readonly number[], own: object): Call => {
  const inputs = [zeros("float32", data), indicesOf(shape, values), zeros("float32", shape)];
  const [first, ...others] = inputs as [Tensor, Tensor<"int64">, Tensor];
  return (engine, options) => engine.scatterElements(first, ...others, { ...own, ...options });
};

const slices = (data: Shape, shape: Shape, values: readonly number[], axis: number): Call => {
  const updates = [...data.slice(0, axis), ...shape, ...data.slice(axis + 1)];
  const inputs = [zeros("float32", data), indicesOf(shape, values), zeros("float32", updates)];
  const node = { domain: "openvino", op: "ScatterUpdate", opset: 3 };
  const all = [...inputs, indicesOf([], [axis])];
  return (engine, options) => run(node, all, { engine, ...options });
};

const drop = { bounds: "drop" } as const;
const dropRow = { axis: 1, ...drop } as const;

/** Which index is named, which earlier one has its target, and the target; null where no target is repeated. */
type Named = readonly [at: Shape, earlier: Shape, target: Shape];
type Row = readonly [name: string, call: Call, named: Named | null];

// prettier-ignore
const ROWS: readonly Row[] = [
  ["of several the first that is complete", tuples([5], [4, 1], [3, 1, 1, 3]), [[2], [1], [1]]],
  ["of three the first two", tuples([5], [4, 1], [4, 0, 0, 0]), [[2], [1], [0]]],
  ["in row-major order", tuples([3], [2, 2, 1], [0, 1, 2, 0]), [[1, 1], [0, 0], [0]]],
  ["tuples of two", tuples([2, 3], [3, 2], [1, 2, 0, 2, -1, -1]), [[2], [0], [1, 2]]],
  ["slices", tuples([3, 2], [3, 1], [2, 1, -1]), [[2], [0], [2]]],
  ["empty tuples", tuples([3], [2, 0], []), [[1], [0], []]],
  ["empty slices have no target", tuples([3, 0], [2, 1], [1, 1]), null],
  ["all different", tuples([4], [4, 1], [3, 0, 2, 1]), null],
  ["-1 and the last place", elements([1, 4], [1, 2], [-1, 3], { axis: -1 }), [[0, 1], [0, 0], [0, 3]]],
  ["equal indices of different columns", elements([3, 2], [2, 2], [1, 1, 2, 0], { axis: 0 }), null],
  ["rows of one index", elements([3, 2], [2, 2], [1, 1, 1, 1], { axis: 0 }), [[1, 0], [0, 0], [1, 0]]],
  ["equal indices of different batches", elements([3, 4], [3, 2], [0, 1, 0, 1, 1, 0], { axis: 1 }), null],
  ["in the last batch", elements([3, 4], [3, 2], [0, 1, 2, 3, 2, -2], { axis: 1 }), [[2, 1], [2, 0], [2, 2]]],
  ["batches with shared offsets", slices([2, 3], [3], [2, 0, 2], 1), [[2], [0], [0, 2]]],
  ["indices of rank 2", slices([3, 2], [2, 2], [0, 2, 1, 2], 0), [[1, 1], [0, 1], [2]]],
  ["past dropped updates", tuples([3], [4, 1], [9, 2, 9, 2], drop), [[3], [1], [2]]],
  ["past dropped elements", elements([2, 3], [2, 3], [5, 0, 5, 1, 5, 1], dropRow), [[1, 2], [1, 0], [1, 1]]],
  ["indices that are clipped", tuples([3], [4, 1], [7, -9, 2, 0], { bounds: "clip" }), [[2], [0], [2]]],
];

let turn = 0;
for (const [name, call, named] of ROWS) {
  test(`a repeated target: ${name}`, () =>
    withLimits(turn++, () => {
      for (const engine of Object.values(ENGINES)) {
        // The last update wins unless repeats are errors.
        call(engine, {});
        call(engine, { duplicates: "last" });
        if (named === null) {
          call(engine, { duplicates: "error" });
          continue;
        }
        const [at, ...others] = named;
        const { message } = assertRefused("duplicate-index", { input: "indices", at }, () =>
          call(engine, { duplicates: "error" }),
        );
        // The sentence has the lists at, earlier and target; the target of an empty tuple is "data", without a list.
        const [, ...lists] = message.match(/\[[\d, ]*\]/g) ?? [];
        assert.deepEqual(
          lists.map((list) => JSON.parse(list)),
          others.filter(({ length }) => length > 0),
        );
      }
    }));
}

const plan = (
  offsets: number[],
  slice: number,
  span: number,
  { batches = 1, source }: { batches?: number; source?: number[] } = {},
): Plan => ({
  offsets: Uint32Array.from(offsets),
  slice,
  count: offsets.length,
  size: span * batches,
  batches,
  span,
  ...(source && { source: Uint32Array.from(source) }),
});

// prettier-ignore
const REPEATS: readonly (readonly [says: string, plan: Plan, position: number, earlier: number, target: number])[] = [
  ["neighbours", plan([4, 4], 1, 8), 1, 0, 4],
  ["the earlier one is the first", plan([0, 6, 2, 6, 6], 2, 8), 3, 1, 6],
  ["shared offsets that repeat do so in the first batch", plan([2, 0, 2], 1, 4, { batches: 3 }), 2, 0, 2],
  ["offsets of each batch", { ...plan([0, 1, 1, 0, 3, 3], 1, 4), count: 2, size: 12, batches: 3 }, 5, 4, 11],
  ["positions are those of the source", plan([1, 0, 1], 1, 4, { source: [2, 5, 7] }), 7, 2, 1],
  ["targets too many for a bit each", plan([4294967290, 7, 4294967290], 1, 4294967295), 2, 0, 4294967290],
  ["the last of many targets", plan([1087, 0, 1087], 1, 1088), 2, 0, 1087],
  ["targets a multiple of 32 apart", plan([1, 33, 65, 33], 1, 96), 3, 1, 33],
];

for (const [says, one, position, earlier, target] of REPEATS) {
  test(`the first repeat: ${says}`, () =>
    assert.deepEqual(firstRepeat(one), { position, earlier, target }));
}

// prettier-ignore
const DISTINCT: readonly (readonly [says: string, plan: Plan])[] = [
  ["no offsets", plan([], 1, 4)],
  ["no offsets in many batches", plan([], 1, 0, { batches: 2 ** 40 })],
  ["empty slices", plan([0, 0], 0, 0)],
  ["shared offsets", plan([2, 0], 1, 4, { batches: 3 })],
  ["the same place in each of two batches", { ...plan([3, 3], 1, 4), count: 1, size: 8, batches: 2 }],
  ["the whole words of the bits", plan(Array.from({ length: 96 }, (_, p) => p * 3), 3, 288)],
  ["targets too many for a bit each", plan([4294967290, 7], 1, 4294967295)],
];

for (const [says, one] of DISTINCT) {
  test(`no repeat: ${says}`, () => assert.equal(firstRepeat(one), null));
}
