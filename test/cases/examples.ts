/**
 * Every example of the source documents as a row, with their errata corrected (docs/errata.md tells which). Each row
 * runs on all versions that can say it.
 */

import type { DType } from "../../src/tensor/dtype.ts";

export interface Example {
  readonly source: string;
  readonly op: string;
  readonly domain?: "openvino";
  /** The versions that the document prints it for, or that run it alike. */
  readonly versions: readonly number[];
  readonly attributes?: Readonly<Record<string, number | string | boolean>>;
  readonly dtype: DType;
  readonly indexType: "int32" | "int64" | "uint8";
  readonly data: unknown;
  readonly indices?: unknown;
  readonly updates?: unknown;
  /** Where it is an input. */
  readonly axis?: unknown;
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

const gather = { op: "Gather", dtype: "float32", indexType: "int32" } as const;
const sequence = {
  op: "TensorScatter",
  versions: [24],
  attributes: { axis: 1 },
  dtype: "float32",
  indexType: "int64",
} as const;
const elementsUpdate = {
  op: "ScatterElementsUpdate",
  domain: "openvino",
  indexType: "int32",
} as const;
const openvinoGatherND = {
  op: "GatherND",
  domain: "openvino",
  dtype: "float32",
  indexType: "int64",
} as const;

// prettier-ignore
const FIVES = [[[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]], [[11, 12, 13, 14, 15], [16, 17, 18, 19, 20]]];
// prettier-ignore
const FOURS = [
  [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 16], [17, 18, 19, 20]],
  [[21, 22, 23, 24], [25, 26, 27, 28], [29, 30, 31, 32], [33, 34, 35, 36], [37, 38, 39, 40]],
];
// prettier-ignore
const HALVES = [[1, 2], [3, 4]];
// prettier-ignore
const DOZENS = [
  [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]],
  [[13, 14, 15, 16], [17, 18, 19, 20], [21, 22, 23, 24]],
];

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
  ...(
    [
      ["1", 1, HALVES, [[0, 0], [1, 0]], [[1, 1], [4, 3]]],
      ["2", 0, [[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[1, 2, 0], [2, 0, 0]], [[4, 8, 3], [7, 2, 3]]],
    ] as const
  ).map(([number, axis, data, indices, output]): Example => ({
    op: "GatherElements",
    source: `GatherElements, example ${number} (a pair of brackets less)`,
    versions: [11, 13],
    dtype: "float32",
    indexType: "int64",
    attributes: { axis },
    data,
    indices,
    output,
  })),
  {
    ...gather,
    source: "Gather, example 1",
    versions: [1, 11, 13],
    data: [[1.0, 1.2], [2.3, 3.4], [4.5, 5.7]],
    indices: [[0, 1], [1, 2]],
    output: [[[1.0, 1.2], [2.3, 3.4]], [[2.3, 3.4], [4.5, 5.7]]],
  },
  {
    ...gather,
    source: "Gather, example 2",
    versions: [1, 11, 13],
    attributes: { axis: 1 },
    data: [[1.0, 1.2, 1.9], [2.3, 3.4, 3.9], [4.5, 5.7, 5.9]],
    indices: [[0, 2]],
    output: [[[1.0, 1.9]], [[2.3, 3.9]], [[4.5, 5.9]]],
  },
  {
    ...gather,
    source: "Gather, a scalar drops the axis, from the back",
    versions: [11, 13],
    attributes: { axis: -1 },
    data: [[1.0, 1.2, 1.9], [2.3, 3.4, 3.9]],
    indices: -1,
    output: [1.9, 3.9],
  },
  {
    ...elements,
    op: "Scatter",
    source: "Scatter, example 1",
    versions: [9, 11],
    data: [[0, 0, 0], [0, 0, 0], [0, 0, 0]],
    indices: [[1, 0, 2], [0, 2, 1]],
    updates: [[1.0, 1.1, 1.2], [2.0, 2.1, 2.2]],
    output: [[2.0, 1.1, 0.0], [1.0, 0.0, 2.2], [0.0, 2.1, 1.2]],
  },
  {
    ...elements,
    op: "Scatter",
    source: "Scatter, example 2",
    versions: [9, 11],
    attributes: { axis: 1 },
    data: LINE,
    indices: [[1, 3]],
    updates: [[1.1, 2.1]],
    output: [[1.0, 1.1, 3.0, 2.1, 5.0]],
  },
  {
    ...sequence,
    source: "TensorScatter, each sample from a position of its own",
    data: [[1, 2, 3, 4], [5, 6, 7, 8]],
    updates: [[9, 10], [11, 12]],
    indices: [1, 2],
    output: [[1, 9, 10, 4], [5, 6, 11, 12]],
  },
  {
    ...sequence,
    source: "TensorScatter, without write_indices",
    data: [[1, 2, 3, 4], [5, 6, 7, 8]],
    updates: [[9, 10], [11, 12]],
    output: [[9, 10, 3, 4], [11, 12, 7, 8]],
  },
  {
    ...sequence,
    source: "TensorScatter, circular: of the coordinates only that of the sequence wraps",
    // With the remainder of every coordinate, as printed, sample 2 would be written into sample 0.
    attributes: { axis: 1, mode: "circular" },
    data: [[1, 2], [3, 4], [5, 6]],
    updates: [[9, 10], [11, 12], [13, 14]],
    indices: [1, -1, 4],
    output: [[10, 9], [12, 11], [13, 14]],
  },
  {
    ...sequence,
    source: "TensorScatter, 4-bit integers of a cache of two heads",
    dtype: "int4",
    attributes: {},
    data: [[[[1, 1], [2, 2]], [[3, 3], [4, 4]]]],
    updates: [[[[-8, 7]], [[5, -1]]]],
    indices: [1],
    output: [[[[1, 1], [-8, 7]], [[3, 3], [5, -1]]]],
  },
  ...(
    [
      ["1", "float32", { reduction: "sum", use_init_val: true }, [1, 0, 0, -2, -1, 2], [52, 13, 104, 76]],
      ["2", "float32", { reduction: "sum", use_init_val: false }, [1, 0, 0, 2, 3, 2], [50, 10, 100, 70]],
      ["1 with a mean: (2 + 20 + 30) / 3", "float32", { reduction: "mean" }, [1, 0, 0, -2, -1, 2], [52 / 3, 6.5, 104 / 3, 38]],
      ["1 with a mean of integers", "int32", { reduction: "mean" }, [1, 0, 0, -2, -1, 2], [17, 6, 34, 38]],
      ["2 with a mean", "int32", { reduction: "mean", use_init_val: false }, [1, 0, 0, 2, 3, 2], [25, 10, 50, 70]],
      ["2 without a reduction: use_init_val has no effect", "int32", { use_init_val: false }, [1, 0, 0, 2, 3, 2], [30, 10, 60, 70]],
      ["2 with a maximum", "int32", { reduction: "max", use_init_val: false }, [1, 0, 0, 2, 3, 2], [30, 10, 60, 70]],
      ["2 with a product", "int32", { reduction: "prod", use_init_val: false }, [1, 0, 0, 2, 3, 2], [600, 10, 2400, 70]],
    ] as const
  ).map(([number, dtype, attributes, indices, output]): Example => ({
    ...elementsUpdate,
    source: `ScatterElementsUpdate-12, example ${number}`,
    versions: [12],
    dtype,
    attributes,
    data: [2, 3, 4, 6],
    indices,
    updates: [10, 20, 30, 40, 70, 60],
    axis: [0],
    output,
  })),
  {
    ...elementsUpdate,
    source: "ScatterElementsUpdate, a mean of negative integers is rounded down",
    versions: [12],
    dtype: "int8",
    attributes: { reduction: "mean" },
    data: [-3, 5],
    indices: [0, -1],
    updates: [-4, -2],
    axis: 0,
    output: [-4, 1],
  },
  {
    ...elementsUpdate,
    source: "ScatterElementsUpdate-12, example 3",
    versions: [3, 12],
    dtype: "int32",
    data: [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
    indices: [[1, 2], [0, 3]],
    updates: [[11, 12], [13, 14]],
    axis: [1],
    output: [[0, 11, 12, 0], [13, 0, 0, 14], [0, 0, 0, 0]],
  },
  {
    ...elementsUpdate,
    source: "ScatterElementsUpdate-12, example 4",
    versions: [12],
    dtype: "int32",
    attributes: { reduction: "sum" },
    data: [[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]],
    indices: [[1, 1], [0, 3]],
    updates: [[11, 12], [13, 14]],
    axis: [1],
    output: [[1, 24, 1, 1], [14, 1, 1, 15], [1, 1, 1, 1]],
  },
  {
    ...elementsUpdate,
    source: "ScatterElementsUpdate-12, example 5",
    versions: [12],
    dtype: "int32",
    attributes: { reduction: "prod" },
    data: [[2, 2, 2, 2], [2, 2, 2, 2], [2, 2, 2, 2]],
    indices: [[1, 1], [0, 3]],
    updates: [[11, 12], [13, 14]],
    axis: [-1],
    output: [[2, 264, 2, 2], [26, 2, 2, 28], [2, 2, 2, 2]],
  },
  ...(
    [["sum", true], ["prod", false], ["min", false], ["max", true]] as const
  ).map(([reduction, both]): Example => ({
    ...elementsUpdate,
    source: `ScatterElementsUpdate-12 of booleans: ${reduction}`,
    versions: [12],
    dtype: "bool",
    attributes: { reduction },
    data: [false, true, true, false],
    indices: [0, 1, 2, 3],
    updates: [false, true, false, true],
    axis: 0,
    output: [false, true, both, both],
  })),
  {
    op: "ScatterUpdate",
    domain: "openvino",
    source: "ScatterUpdate-3, example 2",
    versions: [3],
    dtype: "float32",
    indexType: "uint8",
    data: [[-1, 1, -1, 3, 4], [-1, 6, -1, 8, 9], [-1, 11, 1, 13, 14]],
    indices: [0, 2],
    updates: [[1, 1], [1, 1], [1, 2]],
    axis: [1],
    output: [[1, 1, 1, 3, 4], [1, 6, 1, 8, 9], [1, 11, 2, 13, 14]],
  },
  {
    op: "ScatterUpdate",
    domain: "openvino",
    source: "ScatterUpdate-3, indices of rank 0 and 2 updates of one column",
    versions: [3],
    dtype: "float32",
    indexType: "int32",
    data: [[1, 2], [3, 4]],
    indices: 1,
    updates: [8, 9],
    axis: -1,
    output: [[1, 8], [3, 9]],
  },
  ...(
    [
      ["1", {}, [1, 2, 3, 4, 5], [0, 0, 4], 0, [1, 1, 5]],
      ["2", { batch_dims: 1 }, FIVES[0], [[0, 0, 4], [4, 0, 0]], 1, [[1, 1, 5], [10, 6, 6]]],
      ["3", { batch_dims: 2 }, FIVES, [[[0, 0, 4], [4, 0, 0]], [[1, 2, 4], [4, 3, 2]]], 2, [[[1, 1, 5], [10, 6, 6]], [[12, 13, 15], [20, 19, 18]]]],
      ["4", { batch_dims: 1 }, [[FOURS[0]], [FOURS[1]]], [[1, 2, 4], [4, 3, 2]], [2], [[[FOURS[0][1], FOURS[0][2], FOURS[0][4]]], [[FOURS[1][4], FOURS[1][3], FOURS[1][2]]]]],
      ["5", { batch_dims: -1 }, FIVES[0], [[0, 0, 4], [4, 0, 0]], 1, [[1, 1, 5], [10, 6, 6]]],
      ["6", {}, [1, 2, 3, 4, 5], [0, -2, -1], 0, [1, 4, 5]],
      ["7", {}, [1, 2, 3, 4, 5], [3, 10, -20], 0, [4, 0, 0]],
    ] as const
  ).map(([number, attributes, data, indices, axis, output]): Example => ({
    op: "Gather",
    domain: "openvino",
    source: `Gather-8, example ${number}`,
    versions: [8],
    dtype: "float32",
    indexType: "int32",
    attributes,
    data,
    indices,
    axis,
    output,
  })),
  ...(
    [
      ["1", {}, HALVES, [[0, 0], [1, 0]], [1, 3]],
      ["2", {}, HALVES, [[1], [0]], [[3, 4], [1, 2]]],
      ["3", {}, HALVES, [[[1]], [[0]]], [[[3, 4]], [[1, 2]]]],
      ["4", { batch_dims: 1 }, HALVES, [[1], [0]], [2, 3]],
      ["5", { batch_dims: 1 }, DOZENS, [[1], [0]], [[5, 6, 7, 8], [13, 14, 15, 16]]],
    ] as const
  ).map(([number, attributes, data, indices, output]): Example => ({
    ...openvinoGatherND,
    source: `GatherND-5 and GatherND-8, example ${number}`,
    versions: [5, 8],
    attributes,
    data,
    indices,
    output,
  })),
  {
    ...openvinoGatherND,
    source: "GatherND-5, example 6: the batch axes are fused",
    versions: [5],
    attributes: { batch_dims: 2 },
    data: DOZENS,
    indices: [[[[1]], [[0]], [[2]]], [[[0]], [[2]], [[2]]]],
    output: [[2], [5], [11], [13], [19], [23]],
  },
  {
    ...openvinoGatherND,
    source: "GatherND-8, example 6: the batch axes are kept",
    versions: [8],
    attributes: { batch_dims: 2 },
    data: DOZENS,
    indices: [[[[1]], [[0]], [[2]]], [[[0]], [[2]], [[2]]]],
    output: [[[2], [5], [11]], [[13], [19], [23]]],
  },
  {
    ...openvinoGatherND,
    source: "GatherND-8 counts negative indices from the back",
    versions: [8],
    data: HALVES,
    indices: [[-1, 0], [0, -1]],
    output: [3, 2],
  },
  {
    ...openvinoGatherND,
    source: "GatherND-8, example 7",
    versions: [8],
    attributes: { batch_dims: 3 },
    data: [[[[1, 2, 3, 4], [5, 6, 7, 8]], [[9, 10, 11, 12], [13, 14, 15, 16]]]],
    indices: [[[[1], [0]], [[3], [2]]]],
    output: [[[2, 5], [12, 15]]],
  },
  ...(
    [
      ["1", 0, HALVES, [[0, 1], [0, 0]], [[1, 4], [1, 2]]],
      ["2", 1, [[1, 7], [4, 3]], [[1, 1, 0], [1, 0, 1]], [[7, 7, 1], [3, 4, 3]]],
      ["3", 0, [[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[1, 0, 1], [1, 2, 0]], [[4, 2, 6], [4, 8, 3]]],
    ] as const
  ).map(([number, axis, data, indices, output]): Example => ({
    op: "GatherElements",
    domain: "openvino",
    source: `GatherElements-6, example ${number}`,
    versions: [6],
    dtype: "float32",
    indexType: "int32",
    attributes: { axis },
    data,
    indices,
    output,
  })),
];
