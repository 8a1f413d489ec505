/**
 * Shapes at which words, lanes and axes could be mixed up: rows of an odd number of bytes, whose neighbours share a word;
 * tensors that end within a word; none, one and many elements; many axes. Moves are tried in each width, arithmetic in
 * each data type of less than a word.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { DTYPES, type DType } from "../../src/core/tensor/dtype.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { randomFrom } from "../support/random.ts";
import type { Case, Name } from "../support/ways.ts";
import { caseOf, FEW, goAll, WAYS, type Row } from "./ways.ts";

/** A call by its shapes; the indices are given, or drawn from the axis or the axes that they address. */
interface ShapedRow extends Row {
  /** Null where TensorScatter's are left out. */
  readonly indices: readonly number[] | null;
  readonly values?: readonly (number | bigint)[];
}

const row = (
  operator: Name,
  data: readonly number[],
  indices: readonly number[] | null,
  updates?: readonly number[],
  rest: Pick<ShapedRow, "values" | "options"> = {},
): ShapedRow => ({ operator, data, indices, ...(updates && { updates }), ...rest });

const range = (length: number, from = 0): number[] => Array.from({ length }, (_, i) => from + i);

const EIGHT = [2, 1, 3, 1, 2, 2, 1, 2];

const ROWS: readonly ShapedRow[] = [
  // Slices of 1 to 7 elements, so that they begin and end within words.
  ...[1, 2, 3, 5, 6, 7].flatMap((slice) => [
    row("scatterND", [11, slice], [8, 1], [8, slice]),
    row("gatherND", [11, slice], [9, 1]),
    row("scatterElements", [7, slice], [7, slice], [7, slice]),
    row("gatherElements", [7, slice], [5, slice], undefined, { options: { axis: 1 } }),
    row("gather", [3, 5, slice], [4], undefined, { options: { axis: 1 } }),
    row("tensorScatter", [3, 5, slice], [3], [3, 2, slice], {
      values: [2, 0, 3],
      options: { axis: 1 },
    }),
  ]),
  // Many threads write to the words of each other.
  row("scatterND", [1001], [900, 1], [900]),
  row("scatterND", [333, 3], [900, 1], [900, 3]),
  row("scatterND", [97, 3, 5], [400, 2], [400, 5]),
  row("scatterElements", [129, 3], [129, 3], [129, 3], { options: { axis: 0 } }),
  row("scatterElements", [5, 201], [3, 400], [3, 400], { options: { axis: 1 } }),
  row("gather", [211, 3], [700]),
  // Every byte of each word from another thread.
  row("scatterND", [1024], [1024, 1], [1024], {
    values: range(1024).map((i) => (i * 389) % 1024),
  }),
  // Sizes that are no multiple of a word.
  ...[1, 2, 3, 5].flatMap((size) => [
    row("scatterND", [size], [size, 1], [size]),
    row("gatherND", [size], [size, 1]),
    row("gather", [size], [size + 2]),
  ]),
  // Runs of consecutive indices, which an engine may merge: all, parts, backwards, and a run met twice.
  ...[range(60), range(40, 15), range(60).reverse(), [...range(20, 5), ...range(30)]].flatMap(
    (values) => [
      row("scatterND", [60, 3], [values.length, 1], [values.length, 3], { values }),
      row("gatherND", [60, 3], [values.length, 1], undefined, { values }),
      row("gather", [60, 3], [values.length], undefined, { values }),
    ],
  ),
  // No elements, no indices, indices without entries.
  row("scatterND", [0], [0, 1], [0]),
  row("scatterND", [3, 0], [2, 1], [2, 0]),
  row("scatterND", [5, 3], [0, 1], [0, 3]),
  row("scatterND", [5, 3], [0, 2, 1], [0, 2, 3]),
  row("scatterND", [5, 3], [2, 0], [2, 5, 3]),
  row("scatterND", [5, 3], [0], [5, 3]),
  row("scatterElements", [5, 3], [0, 3], [0, 3]),
  row("scatterElements", [0, 3], [0, 3], [0, 3]),
  row("gatherND", [5, 3], [0, 1]),
  row("gatherND", [5, 0], [2, 1]),
  row("gatherElements", [5, 3], [5, 0]),
  row("gather", [5, 3], [0]),
  row("gather", [5, 0], [4]),
  row("gather", [5, 0, 3], [2], undefined, { options: { axis: 2 } }),
  row("tensorScatter", [2, 0, 3], [2], [2, 0, 3], { values: [0, 0] }),
  row("tensorScatter", [2, 4, 3], [2], [2, 0, 3], { values: [4, 1] }),
  row("tensorScatter", [0, 4, 3], [0], [0, 2, 3]),
  // Scalars: of indices, of updates, of results.
  row("gather", [7], []),
  row("gather", [4, 5], [], undefined, { options: { axis: 1 } }),
  row("gatherND", [7], [1]),
  row("scatterND", [7], [1], []),
  row("scatterND", [4, 5], [2], []),
  row("scatterElements", [1], [1], [1]),
  // Eight axes.
  row("scatterND", EIGHT, [6, 8], [6]),
  row("scatterND", EIGHT, [2, 3, 5], [2, 3, 2, 1, 2]),
  row("gatherND", EIGHT, [2, 1, 3], undefined, { options: { batchDims: 2 } }),
  row("gatherND", EIGHT, [2, 1, 3, 1, 2, 2, 1, 1], undefined, { options: { batchDims: 7 } }),
  ...range(8).flatMap((axis) => [
    row("scatterElements", EIGHT, EIGHT, EIGHT, { options: { axis } }),
    row("gatherElements", EIGHT, EIGHT.with(axis, 5), undefined, { options: { axis } }),
    row("gather", EIGHT, [3, 2], undefined, { options: { axis } }),
    row("gather", EIGHT, [...EIGHT.slice(0, axis), 3], undefined, {
      options: { axis, batchDims: axis },
    }),
  ]),
  // Sequences: that wrap around, that fill the cache, that begin at 0 because nothing else is said.
  row("tensorScatter", [3, 7, 3], [3], [3, 5, 3], {
    values: [5, -1, 1000],
    options: { mode: "circular" },
  }),
  row("tensorScatter", [3, 7, 3], [3], [3, 7, 3], { values: [0, 0, 0] }),
  row("tensorScatter", [3, 5, 7], null, [3, 5, 3], { options: { axis: 2 } }),
];

/** Random indices into what a row's operator addresses. */
function indicesOf(
  { operator, data, indices, values, options }: ShapedRow,
  type: "int32" | "int64",
) {
  if (indices === null) return undefined;
  const random = randomFrom(data.length + indices.length);
  const batchDims = Number(options?.["batchDims"] ?? 0);
  const axis = Number(options?.["axis"] ?? 0);
  const k = indices[indices.length - 1];
  const dimAt = (p: number): number =>
    operator.endsWith("ND") ? data[batchDims + (p % k)] : data[axis];
  const size = indices.reduce((product, dim) => product * dim, 1);
  const drawn = Array.from({ length: size }, (_, p) => {
    const dim = dimAt(p);
    return random(dim) - (random(3) === 0 ? dim : 0);
  });
  return tensor(type, indices, [...(values ?? drawn)]);
}

const shapedCase = (one: ShapedRow, dtype: DType, type: "int32" | "int64", options: object): Case =>
  caseOf({ ...one, options: { ...one.options, ...options } }, indicesOf(one, type), dtype);

/** One data type of each width. */
const MOVED: readonly DType[] = ["int8", "float16", "float32", "int64", "complex128"];
/** The data types whose neighbours share a word, and one of each other kind. */
const COMBINED: readonly DType[] = [
  ...(["bool", "int8", "uint8", "int16", "uint16", "float16", "bfloat16"] as const),
  ...(["float32", "int32", "int64"] as const),
];

/** Whether the operator takes a reduction. */
const isReducing = ({ operator }: Row): boolean =>
  operator === "scatterND" || operator === "scatterElements";

for (const dtype of MOVED) {
  test(`moves of ${DTYPES[dtype].bytes} bytes in all shapes`, async () => {
    for (const [type, ways] of [
      ["int32", WAYS],
      ["int64", FEW],
    ] as const) {
      assert.ok(
        (await goAll(
          ROWS.map((one) => shapedCase(one, dtype, type, {})),
          { ways },
        )) > ROWS.length,
      );
    }
  });
}

for (const dtype of COMBINED) {
  for (const reduction of ["add", "max"]) {
    test(`${reduction} of ${dtype} in all shapes`, async () => {
      const rows = ROWS.filter(isReducing);
      const cases = rows.map((one) => shapedCase(one, dtype, "int32", { reduction }));
      assert.ok((await goAll(cases, { ways: FEW })) > rows.length);
    });
  }
}

/** What follows from counting updates and finding first ones, where neighbours share a word. */
for (const dtype of ["int8", "float16", "float32", "int64", "uint16"] as const) {
  test(`first updates and means of ${dtype} in all shapes`, async () => {
    const rows = ROWS.filter(isReducing);
    const choices = [
      { reduction: "mean" },
      { reduction: "mean", includeSelf: false },
      { reduction: "mul", includeSelf: false },
    ];
    const cases = choices.flatMap((options) =>
      rows.map((one) => shapedCase(one, dtype, "int64", options)),
    );
    assert.ok((await goAll(cases, { ways: FEW })) > cases.length);
  });
}
