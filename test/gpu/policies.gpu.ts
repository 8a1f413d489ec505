/** Policies, and indices far outside: whose low word would fit, whose sum with a dimension overflows, and the extremes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { DType } from "../../src/core/tensor/dtype.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import type { Case } from "../support/ways.ts";
import { caseOf, goAll, type Row } from "./ways.ts";

const NARROW = [0, 4, -5, -6, 5, 2 ** 31 - 1, -(2 ** 31), 2 ** 30, -1, 1, 65_536, 65_537, -65_536];
const WIDE = [
  ...[2n ** 32n, 2n ** 32n + 1n, 2n ** 32n - 1n, 2n ** 31n, -(2n ** 32n), 1n - 2n ** 32n],
  ...[-(2n ** 32n) - 1n, -(2n ** 31n) - 1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 62n, 3n << 32n],
  ...[-(2n ** 63n) + 3n, 2n ** 53n + 1n, -5n + 2n ** 32n],
];
const FAR: Readonly<Record<"int32" | "int64", readonly (number | bigint)[]>> = {
  int32: NARROW,
  int64: [...NARROW.map(BigInt), ...WIDE],
};

interface IndexedRow extends Row {
  readonly indices: Tensor;
}

const indexed = (row: IndexedRow, dtype: DType): Case => caseOf(row, row.indices, dtype);

/** Calls that meet every far index, along axes of 5 elements. */
function farRows(type: "int32" | "int64"): IndexedRow[] {
  const all = FAR[type];
  const n = all.length;
  // Each far index stands in both places of a tuple, the other of which is good.
  const good = type === "int64" ? [3n, -2n] : [3, -2];
  const pairs = all.flatMap((far) => [far, good[0], good[1], far]);
  const flat = tensor(type, [n], [...all]);
  const singles = tensor(type, [n, 1], [...all]);
  const tuples = tensor(type, [2 * n, 2], pairs);
  const plane = tensor(
    type,
    [n, 3],
    all.flatMap((far) => [far, good[0], far]),
  );
  const scatters = ["none", "add", "max"].flatMap((reduction) =>
    ["clip", "drop"].flatMap((bounds) =>
      [true, false].map((includeSelf) => ({ reduction, bounds, includeSelf })),
    ),
  );
  const gathers = ["clip", "fill"].map((bounds) => ({ bounds }));
  return [
    ...scatters.flatMap((options): IndexedRow[] => [
      { operator: "scatterND", data: [5, 3], indices: singles, updates: [n, 3], options },
      { operator: "scatterND", data: [5, 5], indices: tuples, updates: [2 * n], options },
      { operator: "scatterElements", data: [5, 3], indices: plane, updates: [n, 3], options },
    ]),
    // Positions of a ring, which all places of it are.
    ...[5, 7].map((places): IndexedRow => ({
      ...{ operator: "tensorScatter", data: [n, places, 2], indices: flat, updates: [n, 3, 2] },
      options: { mode: "circular" },
    })),
    ...gathers.flatMap((options): IndexedRow[] => [
      { operator: "gatherND", data: [5, 3], indices: singles, options },
      { operator: "gatherND", data: [5, 5], indices: tuples, options },
      { operator: "gatherElements", data: [5, 3], indices: plane, options },
      { operator: "gather", data: [5, 3], indices: flat, options },
      { operator: "gather", data: [2, 5, 3], indices: flat, options: { ...options, axis: 1 } },
    ]),
  ];
}

for (const type of ["int32", "int64"] as const) {
  for (const dtype of ["int8", "float16", "float32", "uint64"] as const) {
    test(`indices of ${type} far outside data of ${dtype}`, async () => {
      const rows = farRows(type);
      assert.ok((await goAll(rows.map((row) => indexed(row, dtype)))) > 2 * rows.length);
    });
  }
}

test("a mean of what is left", async () => {
  const rows = farRows("int64").filter(({ options }) => options?.["reduction"] === "add");
  const cases = rows.map((row) =>
    indexed({ ...row, options: { ...row.options, reduction: "mean" } }, "float32"),
  );
  assert.ok((await goAll(cases)) >= 20);
});

/** Policies that refuse nothing here. */
const HARMLESS: readonly IndexedRow[] = ["int32", "int64"].flatMap((type): IndexedRow[] => {
  const distinct = tensor(type as "int32", [4, 1], [4, 0, 2, 3]);
  const repeated = tensor(type as "int32", [4, 1], [4, 0, 4, 0]);
  const scatter = { operator: "scatterND", data: [5, 3], updates: [4, 3] } as const;
  return [
    { ...scatter, indices: distinct, options: { duplicates: "error" } },
    { ...scatter, indices: distinct, options: { duplicates: "error", negative: "error" } },
    // Only the last of two updates that replace is lost.
    { ...scatter, indices: repeated, options: { duplicates: "error", reduction: "add" } },
    { ...scatter, indices: repeated, options: { duplicates: "last" } },
    { ...scatter, indices: repeated, options: { negative: "error", includeSelf: false } },
    { ...scatter, indices: repeated, options: { bounds: "error", negative: "wrap" } },
    { operator: "gatherND", data: [5, 3], indices: repeated, options: { negative: "error" } },
    // What is outside is left out first, and so repeats nothing.
    {
      ...scatter,
      indices: tensor(type as "int32", [4, 1], [9, 1, 9, 2]),
      options: { duplicates: "error", bounds: "drop" },
    },
  ];
});

for (const dtype of ["int8", "bfloat16", "float32", "int64"] as const) {
  test(`policies that refuse nothing, for ${dtype}`, async () => {
    assert.ok((await goAll(HARMLESS.map((row) => indexed(row, dtype)))) >= HARMLESS.length);
  });
}

/** The least buffer holds one word; slices of 1 to 4 words, and of less. */
const EMPTY: readonly IndexedRow[] = ["int32", "int64"].flatMap((type) =>
  [1, 2, 3, 4, 8, 16].map((slice): IndexedRow => {
    const indices = tensor(type as "int32", [3], [0, -1, 7]);
    return { operator: "gather", data: [0, slice], indices, options: { bounds: "fill" } };
  }),
);

for (const dtype of ["int8", "float16", "float32", "int64", "complex128"] as const) {
  test(`${dtype} filled in for an axis without elements`, async () => {
    assert.equal(await goAll(EMPTY.map((row) => indexed(row, dtype))), 3 * EMPTY.length);
  });
}
