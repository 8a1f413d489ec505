/** The examples of the documents of openvino. */

import { CUBE, ONE, SLICES, TWO, type Example } from "./example.ts";

const update = { op: "ScatterNDUpdate", domain: "openvino", indexType: "int32" } as const;

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
const FIVES_OUTPUT = [[[1, 1, 5], [10, 6, 6]], [[12, 13, 15], [20, 19, 18]]];
const FOURS_OUTPUT = [
  [[FOURS[0][1], FOURS[0][2], FOURS[0][4]]],
  [[FOURS[1][4], FOURS[1][3], FOURS[1][2]]],
];
const FIRST = { use_init_val: false } as const;

// prettier-ignore
const HALVES = [[1, 2], [3, 4]];

// prettier-ignore
const DOZENS = [
  [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]],
  [[13, 14, 15, 16], [17, 18, 19, 20], [21, 22, 23, 24]],
];

// prettier-ignore
export const OPENVINO_EXAMPLES: readonly Example[] = [
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
  ...(
    [
      ["1", "float32", { reduction: "sum", use_init_val: true }, [1, 0, 0, -2, -1, 2], [52, 13, 104, 76]],
      ["2", "float32", { reduction: "sum", use_init_val: false }, [1, 0, 0, 2, 3, 2], [50, 10, 100, 70]],
      // (2 + 20 + 30) / 3 is the first.
      ["1 with a mean", "float32", { reduction: "mean" }, [1, 0, 0, -2, -1, 2], [52 / 3, 6.5, 104 / 3, 38]],
      ["1 with a mean of integers", "int32", { reduction: "mean" }, [1, 0, 0, -2, -1, 2], [17, 6, 34, 38]],
      ["2 with a mean", "int32", { reduction: "mean", use_init_val: false }, [1, 0, 0, 2, 3, 2], [25, 10, 50, 70]],
      // Without a reduction use_init_val has no effect.
      ["2 without a reduction", "int32", { use_init_val: false }, [1, 0, 0, 2, 3, 2], [30, 10, 60, 70]],
      ["2 with a maximum", "int32", { reduction: "max", use_init_val: false }, [1, 0, 0, 2, 3, 2], [30, 10, 60, 70]],
      ["2 with a product", "int32", { reduction: "prod", ...FIRST }, [1, 0, 0, 2, 3, 2], [600, 10, 2400, 70]],
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
      ["3", { batch_dims: 2 }, FIVES, [[[0, 0, 4], [4, 0, 0]], [[1, 2, 4], [4, 3, 2]]], 2, FIVES_OUTPUT],
      ["4", { batch_dims: 1 }, [[FOURS[0]], [FOURS[1]]], [[1, 2, 4], [4, 3, 2]], [2], FOURS_OUTPUT],
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
