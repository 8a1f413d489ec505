/**
 * Every example of the source documents as a row, with their errata corrected (docs/errata.md tells which). Each row
 * runs on all versions that can say it.
 */

import type { DType } from "../../src/dtype.ts";

export interface Example {
  readonly source: string;
  readonly op: string;
  readonly domain?: "openvino";
  /** The versions that the document prints it for, or that run it alike. */
  readonly versions: readonly number[];
  readonly attributes?: Readonly<Record<string, number | string>>;
  readonly dtype: DType;
  readonly indexType: "int32" | "int64";
  readonly data: unknown;
  readonly indices: unknown;
  readonly updates?: unknown;
  readonly output: unknown;
}

// prettier-ignore
const ONE = [[1, 2, 3, 4], [5, 6, 7, 8], [8, 7, 6, 5], [4, 3, 2, 1]];
// prettier-ignore
const TWO = [[8, 7, 6, 5], [4, 3, 2, 1], [1, 2, 3, 4], [5, 6, 7, 8]];
const CUBE = [ONE, ONE, TWO, TWO];
// prettier-ignore
const SLICES = [
  [[5, 5, 5, 5], [6, 6, 6, 6], [7, 7, 7, 7], [8, 8, 8, 8]],
  [[1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3], [4, 4, 4, 4]],
];

const scatterND = { op: "ScatterND", dtype: "float32", indexType: "int64" } as const;
const update = { op: "ScatterNDUpdate", domain: "openvino", indexType: "int32" } as const;
const elements = { op: "ScatterElements", dtype: "float32", indexType: "int64" } as const;
const gatherND = { op: "GatherND", indexType: "int64" } as const;

const LINE = [[1.0, 2.0, 3.0, 4.0, 5.0]];
const SQUARE = [
  [0, 1],
  [2, 3],
];
const BLOCK = [
  [
    [0, 1],
    [2, 3],
  ],
  [
    [4, 5],
    [6, 7],
  ],
];

// prettier-ignore
export const EXAMPLES: readonly Example[] = [
  {
    ...scatterND,
    source: "ScatterND, example 1",
    versions: [11, 13, 16, 18],
    data: [1, 2, 3, 4, 5, 6, 7, 8],
    indices: [[4], [3], [1], [7]],
    updates: [9, 10, 11, 12],
    output: [1, 11, 3, 10, 9, 6, 7, 12],
  },
  {
    ...scatterND,
    source: "ScatterND, example 2 and node example scatternd",
    versions: [11, 13, 16, 18],
    data: CUBE,
    indices: [[0], [2]],
    updates: SLICES,
    output: [SLICES[0], ONE, SLICES[1], TWO],
  },
  {
    ...scatterND,
    source: "ScatterND, node example scatternd_add (its third block corrected)",
    versions: [16, 18],
    attributes: { reduction: "add" },
    data: CUBE,
    indices: [[0], [0]],
    updates: SLICES,
    output: [[[7, 8, 9, 10], [13, 14, 15, 16], [18, 17, 16, 15], [16, 15, 14, 13]], ONE, TWO, TWO],
  },
  {
    ...scatterND,
    source: "ScatterND, node example scatternd_multiply (its third block corrected)",
    versions: [16, 18],
    attributes: { reduction: "mul" },
    data: CUBE,
    indices: [[0], [0]],
    updates: SLICES,
    output: [[[5, 10, 15, 20], [60, 72, 84, 96], [168, 147, 126, 105], [128, 96, 64, 32]], ONE, TWO, TWO],
  },
  {
    ...scatterND,
    source: "ScatterND, node example scatternd_max (its third block corrected)",
    versions: [18],
    attributes: { reduction: "max" },
    data: CUBE,
    indices: [[0], [0]],
    updates: SLICES,
    output: [[[5, 5, 5, 5], [6, 6, 7, 8], [8, 7, 7, 7], [8, 8, 8, 8]], ONE, TWO, TWO],
  },
  {
    ...scatterND,
    source: "ScatterND, node example scatternd_min (its third block corrected)",
    versions: [18],
    attributes: { reduction: "min" },
    data: CUBE,
    indices: [[0], [0]],
    updates: SLICES,
    output: [[[1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3], [4, 3, 2, 1]], ONE, TWO, TWO],
  },
  {
    ...update,
    source: "ScatterNDUpdate-15, first example (output[4] corrected to 14)",
    versions: [15],
    dtype: "float32",
    data: [1, 2, 3, 4, 5, 6, 7, 8],
    indices: [[4], [3], [1], [7], [-2], [-4]],
    updates: [9, 10, 11, 12, 13, 14],
    output: [1, 11, 3, 10, 14, 6, 13, 12],
  },
  {
    ...update,
    source: "ScatterNDUpdate-15, second example",
    versions: [3, 15],
    dtype: "float32",
    data: CUBE,
    indices: [[0], [2]],
    updates: SLICES,
    output: [SLICES[0], ONE, SLICES[1], TWO],
  },
  ...(
    [
      ["1", "float32", "none", [50, 40, 20, 4]],
      ["2", "float16", "sum", [61, 72, 23, 4]],
      ["3", "int32", "sub", [-59, -68, -17, 4]],
      ["4", "float32", "prod", [500, 2400, 60, 4]],
    ] as const
  ).map(([number, dtype, reduction, output]): Example => ({
    ...update,
    source: `ScatterNDUpdate-15, example ${number} (indices [5, 1] and output corrected)`,
    versions: [15],
    attributes: { reduction },
    dtype,
    data: [1, 2, 3, 4],
    indices: [[0], [2], [-3], [-3], [0]],
    updates: [10, 20, 30, 40, 50],
    output,
  })),
  {
    ...elements,
    source: "ScatterElements, example 1 and node example without_axis",
    versions: [11, 13, 16, 18],
    data: [[0, 0, 0], [0, 0, 0], [0, 0, 0]],
    indices: [[1, 0, 2], [0, 2, 1]],
    updates: [[1.0, 1.1, 1.2], [2.0, 2.1, 2.2]],
    output: [[2.0, 1.1, 0.0], [1.0, 0.0, 2.2], [0.0, 2.1, 1.2]],
  },
  {
    ...elements,
    source: "ScatterElements, example 2 and node example with_axis",
    versions: [11, 13, 16, 18],
    attributes: { axis: 1 },
    data: LINE,
    indices: [[1, 3]],
    updates: [[1.1, 2.1]],
    output: [[1.0, 1.1, 3.0, 2.1, 5.0]],
  },
  {
    ...elements,
    source: "ScatterElements, node example with_negative_indices",
    versions: [11, 13, 16, 18],
    attributes: { axis: 1 },
    data: LINE,
    indices: [[1, -3]],
    updates: [[1.1, 2.1]],
    output: [[1.0, 1.1, 2.1, 4.0, 5.0]],
  },
  {
    ...elements,
    source: "ScatterElements, node example with_duplicate_indices",
    versions: [16, 18],
    attributes: { axis: 1, reduction: "add" },
    data: LINE,
    indices: [[1, 1]],
    updates: [[1.1, 2.1]],
    output: [[1.0, 5.2, 3.0, 4.0, 5.0]],
  },
  {
    ...elements,
    source: "ScatterElements, node example with_reduction_max",
    versions: [18],
    attributes: { axis: 1, reduction: "max" },
    data: LINE,
    indices: [[1, 1]],
    updates: [[1.1, 2.1]],
    output: [[1.0, 2.1, 3.0, 4.0, 5.0]],
  },
  {
    ...elements,
    source: "ScatterElements, node example with_reduction_min",
    versions: [18],
    attributes: { axis: 1, reduction: "min" },
    data: LINE,
    indices: [[1, 1]],
    updates: [[1.1, 2.1]],
    output: [[1.0, 1.1, 3.0, 4.0, 5.0]],
  },
  {
    ...gatherND,
    source: "GatherND, example 1 and node example int32",
    versions: [11, 12, 13],
    dtype: "int32",
    data: SQUARE,
    indices: [[0, 0], [1, 1]],
    output: [0, 3],
  },
  {
    ...gatherND,
    source: "GatherND, example 2 (indices corrected)",
    versions: [11, 12, 13],
    dtype: "int32",
    data: SQUARE,
    indices: [[1], [0]],
    output: [[2, 3], [0, 1]],
  },
  {
    ...gatherND,
    source: "GatherND, example 3",
    versions: [11, 12, 13],
    dtype: "int32",
    data: BLOCK,
    indices: [[0, 1], [1, 0]],
    output: [[2, 3], [4, 5]],
  },
  {
    ...gatherND,
    source: "GatherND, example 4 and node example float32",
    versions: [11, 12, 13],
    dtype: "float32",
    data: BLOCK,
    indices: [[[0, 1]], [[1, 0]]],
    output: [[[2, 3]], [[4, 5]]],
  },
  {
    ...gatherND,
    source: "GatherND, example 5 and node example int32_batchdim_1 (indices corrected)",
    versions: [12, 13],
    attributes: { batch_dims: 1 },
    dtype: "int32",
    data: BLOCK,
    indices: [[1], [0]],
    output: [[2, 3], [4, 5]],
  },
];
