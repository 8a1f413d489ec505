/** The positions of a Plan by target, and what summaries say of them, worked out by hand. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Summary } from "../../src/insight/explain/explanation.ts";
import { groupByTarget, lazyList, summaryOf } from "../../src/insight/explain/places.ts";
import type { Plan } from "../../src/core/plan/plan.ts";
import { product } from "../../src/core/tensor/shape.ts";

test("positions are grouped by target, in their order", () => {
  const groups = groupByTarget(Uint32Array.of(6, 0, 6, 2, 0, 6), 2);
  const found = Array.from({ length: groups.count }, (_, group) => [
    groups.target(group),
    ...Array.from({ length: groups.size(group) }, (_, nth) => groups.position(group, nth)),
  ]);
  assert.deepEqual(found, [
    [0, 1, 4],
    [1, 3],
    [3, 0, 2, 5],
  ]);
  assert.deepEqual([0, 1, 2, 3, 4, 99].map(groups.find), [0, 1, -1, 2, -1, -1]);
});

test("no positions and empty slices have no groups", () => {
  for (const groups of [groupByTarget(new Uint32Array(), 3), groupByTarget(Uint32Array.of(0), 0)]) {
    assert.deepEqual([groups.count, groups.find(0)], [0, -1]);
  }
});

test("targets and positions beyond 2^31 are sorted by value", () => {
  const groups = groupByTarget(Uint32Array.of(2 ** 32 - 2, 1, 2 ** 31), 1);
  assert.deepEqual([0, 1, 2].map(groups.target), [1, 2 ** 31, 2 ** 32 - 2]);
});

/** The summary of targets that are met as often as they stand in a list. */
function summaryOfTargets(
  targets: readonly number[],
  dataShape: readonly number[],
  addressed: number,
): Summary {
  const slice = product(dataShape, addressed);
  const size = product(dataShape);
  const offsets = Uint32Array.from(targets, (target) => target * slice);
  const { length: count } = offsets;
  const plan: Plan = { offsets, slice, count, size, batches: 1, span: size };
  return summaryOf(groupByTarget(offsets, slice), plan, dataShape, addressed, count);
}

test("the ten targets that are met most often; of equals the first", () => {
  const counts = [2, 3, 2, 5, 1, 2, 4, 2, 3, 2, 2, 6, 2];
  const targets = counts.flatMap((count, target) => Array.from({ length: count }, () => target));
  const { most, repeats, targets: different } = summaryOfTargets(targets.toReversed(), [13, 4], 1);
  assert.deepEqual(
    most.map(({ coordinates: [target], count }) => [target, count]),
    [
      [11, 6],
      [3, 5],
      [6, 4],
      [1, 3],
      [8, 3],
      [0, 2],
      [2, 2],
      [5, 2],
      [7, 2],
      [9, 2],
    ],
  );
  assert.deepEqual([repeats, different], [12, 13]);
});

/** Targets, the shape of data, how many axes are addressed, and the ranges of rows. */
type Ranges = readonly (readonly [from: number, to: number])[];
type Row = readonly [
  says: string,
  targets: number[],
  data: number[],
  addressed: number,
  rows: Ranges,
];

// prettier-ignore
const ROWS: readonly Row[] = [
  ["no targets", [], [5, 3], 2, []],
  ["rows of several targets", [1, 5, 14], [5, 3], 2, [[0, 1], [4, 4]]],
  ["neighbours, met again", [2, 3, 2, 4], [6], 1, [[2, 4]]],
  ["rows of slices", [3, 0, 2], [5, 2], 1, [[0, 0], [2, 3]]],
  ["the whole", [0, 0], [5, 2], 0, [[0, 4]]],
  ["the first row alone", [0], [5], 1, [[0, 0]]],
];

for (const [says, targets, data, addressed, rows] of ROWS) {
  test(`ranges of rows: ${says}`, () => {
    const summary = summaryOfTargets(targets, data, addressed);
    assert.deepEqual([summary.rows, summary.rowRanges], [rows, rows.length]);
    assert.deepEqual([summary.count, summary.filled], [targets.length, 0]);
    const touched = new Set(targets).size * product(data, addressed);
    assert.equal(summary.untouched, product(data) - touched);
  });
}

test("a hundred ranges of rows are listed, and all are counted", () => {
  const even = Array.from({ length: 100 }, (_, p) => 2 * p);
  const { rows, rowRanges } = summaryOfTargets([...even, 199, 202, 203, 210], [300], 1);
  assert.deepEqual([rows.length, rowRanges], [100, 102]);
  assert.deepEqual(
    [rows[0], rows[98], rows[99]],
    [
      [0, 0],
      [196, 196],
      [198, 199],
    ],
  );
});

test("a lazy list makes its members when they are asked for", () => {
  const made: number[] = [];
  const list = lazyList(3, (position) => made.push(position));
  assert.deepEqual([list.length, made.length], [3, 0]);
  list.at(-1);
  list.at(0);
  assert.deepEqual(made, [2, 0]);
  for (const outside of [3, -4, 0.5, NaN]) assert.equal(list.at(outside), undefined);
  assert.deepEqual(made, [2, 0]);
  assert.deepEqual([...list], [3, 4, 5]);
  assert.deepEqual(made, [2, 0, 0, 1, 2]);
});
