/** The examples of the documents of ai.onnx. */

import { CUBE, ONE, SLICES, TWO, type Example } from "./example.ts";

const scatterND = { op: "ScatterND", dtype: "float32", indexType: "int64" } as const;

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
const HALVES = [[1, 2], [3, 4]];

// prettier-ignore
export const ONNX_EXAMPLES: readonly Example[] = [
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
];
