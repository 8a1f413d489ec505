/** Arithmetic on shapes: known ones, and partly known ones. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  compatible,
  compatibleFrom,
  coordinatesOf,
  isKnown,
  part,
  product,
  sameShape,
  stridesOf,
  unifyDims,
  type Dim,
} from "../../src/core/tensor/shape.ts";

test("a product is 0 where a dimension is, and that of no dimensions is 1", () => {
  assert.equal(product([]), 1);
  assert.equal(product([2, 3, 4]), 24);
  assert.equal(product([2, 3, 4], 1), 12);
  assert.equal(product([2, 3, 4], 0, 2), 6);
  assert.equal(product([2, 3, 4], 1, 1), 1);
  // Without its last dimension this one is Infinity.
  const huge = Array.from({ length: 21 }, () => 2 ** 52);
  assert.equal(product([...huge, 0]), 0);
  assert.equal(product(huge), Infinity);
});

test("strides and coordinates are row-major", () => {
  assert.deepEqual(stridesOf([2, 3, 4]), [12, 4, 1]);
  assert.deepEqual(stridesOf([5]), [1]);
  assert.deepEqual(stridesOf([]), []);
  const all = Array.from({ length: 6 }, (_, position) => coordinatesOf(position, [2, 3]));
  assert.deepEqual(all, [
    [0, 0],
    [0, 1],
    [0, 2],
    [1, 0],
    [1, 1],
    [1, 2],
  ]);
  assert.deepEqual(coordinatesOf(0, []), []);
  // Beyond 32 bits.
  assert.deepEqual(coordinatesOf(2 ** 40 + 5, [2 ** 10, 2 ** 33]), [128, 5]);
});

test("shapes are the same if all dimensions are", () => {
  assert.ok(sameShape([], []) && sameShape([2, 3], [2, 3]));
  for (const other of [[2], [2, 3, 1], [2, 4], [3, 3]]) assert.ok(!sameShape([2, 3], other));
});

test("a part has the dimensions from one axis to another", () => {
  assert.deepEqual(part([2, "N", null, 5], 1), ["N", null, 5]);
  assert.deepEqual(part([2, "N", null, 5], 1, 3), ["N", null]);
  assert.deepEqual(part([2], 1), []);
});

test("a shape is known if all of it is", () => {
  assert.ok(isKnown([]) && isKnown([2, 0]));
  assert.ok(!isKnown(null) && !isKnown([2, "N"]) && !isKnown([null, 2]));
});

/** Two partly known shapes, and whether they may be one. */
const PAIRS: readonly (readonly [a: readonly Dim[], b: readonly Dim[], may: boolean])[] = [
  [[], [], true],
  [[2], [2], true],
  [[2], [3], false],
  [[2], ["N"], true],
  [["M"], ["N"], true],
  [[null], [3], true],
  [["N"], [null], true],
  [[2, 3], [2], false],
  [[2], [2, 3], false],
  [[null, 3], [2, 4], false],
];

for (const [a, b, may] of PAIRS) {
  test(`[${a}] and [${b}] ${may ? "may" : "cannot"} be one shape`, () => {
    assert.equal(compatible(a, b), may);
    assert.equal(compatible(b, a), may);
  });
}

test("a part fits in a shape at one axis and not at another", () => {
  const shape = [2, null, 4];
  const fits = (start: number, dims: readonly Dim[]): boolean => compatibleFrom(start, shape, dims);
  assert.deepEqual(
    [fits(1, [3, 4]), fits(1, [3, 5]), fits(0, [2]), fits(3, [])],
    [true, false, true, true],
  );
  // Outside the shape nothing fits.
  assert.deepEqual(
    [fits(2, [4, 1]), fits(-1, [null]), fits(4, []), fits(-1, [])],
    [false, false, false, false],
  );
});

test("of two dimensions a size says more than a name, and a name more than null", () => {
  const rows: readonly (readonly [Dim, Dim, Dim])[] = [
    [2, "N", 2],
    ["N", 2, 2],
    [2, null, 2],
    [null, 2, 2],
    ["M", "N", "M"],
    [null, "N", "N"],
    ["N", null, "N"],
    [null, null, null],
    [0, "N", 0],
  ];
  for (const [a, b, both] of rows) assert.equal(unifyDims(a, b), both);
});
