/** What people keep mixing up about scatters and gathers: pairs of calls that differ in one thing. */

import { f16, f32, i32, i64, u8, type Example } from "./example.ts";
import type { State } from "./state.ts";

export interface Confusion extends Example {
  readonly domain: State["domain"];
  readonly op: string;
}

const onnx = { domain: "ai.onnx", opset: 18, attributes: {} } as const;
const scatterND = { ...onnx, op: "ScatterND" } as const;
const scatterElements = { ...onnx, op: "ScatterElements" } as const;
const gatherND = { ...onnx, op: "GatherND", opset: 13 } as const;
const tensorScatter = { ...onnx, op: "TensorScatter", opset: 24 } as const;

// prettier-ignore
const GRID = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]];
// prettier-ignore
const TABLE = [[1, 2, 3], [4, 5, 6], [7, 8, 9]];
// prettier-ignore
const BOX = [[[0, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0]]];
// prettier-ignore
const PAIRS = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]];

// prettier-ignore
export const CONFUSIONS: readonly Confusion[] = [
  {
    ...scatterND,
    title: "Indices of rank 1 are one tuple",
    note: "[1, 0, 2] is one tuple of three coordinates: it addresses one element of data, and updates is a scalar.",
    inputs: [f32(BOX), i64([1, 0, 2]), f32(5)],
  },
  {
    ...scatterND,
    title: "A list of scalars needs an axis more",
    note: "[[4], [3], [1]] are three tuples of one; [4, 3, 1] would be one tuple of three.",
    inputs: [f32([0, 0, 0, 0, 0, 0]), i64([[4], [3], [1]]), f32([10, 20, 30])],
  },
  {
    ...scatterND,
    title: "… and without it is refused",
    note: "[4, 3, 1] is one tuple of three, and data has one axis. Give indices the shape [3, 1].",
    inputs: [f32([0, 0, 0, 0, 0, 0]), i64([4, 3, 1]), f32([10, 20, 30])],
  },
  {
    ...scatterND,
    title: "k, the length of a tuple: 2",
    note: "k = 2 axes of data are addressed, the third comes along; q - 1 = 1 axis of indices counts the tuples. updates is [2] ++ [3].",
    inputs: [f32(BOX), i64([[0, 1], [1, 0]]), f32([[1, 2, 3], [4, 5, 6]])],
  },
  {
    ...scatterND,
    title: "q - 1, the axes that count tuples: 2",
    note: "k = 1 axis of data is addressed, two come along; q - 1 = 2 axes of indices count the tuples. updates is [1, 2] ++ [2, 3].",
    inputs: [f32(BOX), i64([[[0], [1]]]), f32([[[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]]])],
  },
  {
    ...scatterND,
    title: "Duplicates: none, the last one wins",
    note: "Three updates hit row 1. They do not add up: the last one stays.",
    inputs: [f32([[1, 1], [1, 1], [1, 1]]), i64([[1], [1], [1]]), f32([[10, 20], [30, 40], [50, 60]])],
  },
  {
    ...scatterND,
    attributes: { reduction: "add" },
    title: "Duplicates: add, all of them count",
    note: "The same three updates of row 1, which now add up to what is there.",
    inputs: [f32([[1, 1], [1, 1], [1, 1]]), i64([[1], [1], [1]]), f32([[10, 20], [30, 40], [50, 60]])],
  },
  {
    ...scatterND,
    title: "Duplicates: 2 and -1 are one target",
    note: "Of an axis of 3 the place -1 is 2: different indices, one target, and the last one wins.",
    inputs: [f32([0, 0, 0]), i64([[2], [-1]]), f32([10, 20])],
  },
  {
    ...gatherND,
    title: "batch_dims 0: tuples address all of data",
    note: "[[0, 1], [1, 0]] are two tuples of two; each picks a row out of the whole of data.",
    inputs: [i32(PAIRS), i64([[0, 1], [1, 0]])],
  },
  {
    ...gatherND,
    attributes: { batch_dims: "1" },
    title: "batch_dims 1: each batch has its own tuple",
    note: "The same indices: tuple b addresses data[b] alone, so each picks one element out of its own batch.",
    inputs: [i32(PAIRS), i64([[0, 1], [1, 0]])],
  },
  {
    ...scatterElements,
    title: "Axis 0: an index is a row",
    note: "Each update stays in its column; its index says the row.",
    inputs: [f32(GRID.slice(1).map((row) => row.slice(1))), i64([[0, 1, 2], [2, 0, 1]]), f32([[1, 2, 3], [4, 5, 6]])],
  },
  {
    ...scatterElements,
    attributes: { axis: "1" },
    title: "Axis 1: an index is a column",
    note: "The same tensors: each update stays in its row; its index says the column.",
    inputs: [f32(GRID.slice(1).map((row) => row.slice(1))), i64([[0, 1, 2], [2, 0, 1]]), f32([[1, 2, 3], [4, 5, 6]])],
  },
  {
    ...onnx,
    op: "GatherElements",
    opset: 13,
    title: "GatherElements: an index picks one element",
    note: "The output has the shape of indices: each index picks a row, and its own column decides the rest.",
    inputs: [f32(TABLE), i64([[0, 2, 1]])],
  },
  {
    ...onnx,
    op: "Gather",
    opset: 13,
    title: "Gather: an index picks a whole slice",
    note: "The same tensors: each index picks a whole row, so the output has an axis more.",
    inputs: [f32(TABLE), i64([[0, 2, 1]])],
  },
  {
    ...scatterND,
    title: "ScatterND: a row of indices is a place",
    note: "[0, 1] and [2, 0] are coordinates: row 0, column 1 and row 2, column 0.",
    inputs: [f32(GRID.slice(1).map((row) => row.slice(1))), i64([[0, 1], [2, 0]]), f32([10, 20])],
  },
  {
    ...scatterElements,
    title: "torch.scatter is ScatterElements",
    note: "The same indices as torch.scatter reads them: four rows for four updates, each in the column where its index stands.",
    inputs: [f32(GRID.slice(1).map((row) => row.slice(1))), i64([[0, 1], [2, 0]]), f32([[10, 20], [30, 40]])],
  },
  {
    ...scatterElements,
    title: "Indices smaller than data",
    note: "Only the corner that indices cover is updated; the last column is out of reach.",
    inputs: [f32([[1, 2, 3], [4, 5, 6], [7, 8, 9]]), i64([[2, 0]]), f32([[-1, -2]])],
  },
  {
    ...scatterND,
    title: "Negative indices count from the back",
    note: "-1 is the last of four rows, -4 the first; -5 would be out of range. The document says nothing of bounds; they are -s to s - 1, as in the other operators.",
    inputs: [f32(GRID), i64([[-1], [-4]]), f32([[1, 2, 3, 4], [5, 6, 7, 8]])],
  },
  {
    ...scatterND,
    title: "Updates of the wrong shape",
    note: "Two tuples of one in data [4, 4]: each update is a row of 4, not of 3.",
    inputs: [f32(GRID), i64([[0], [2]]), f32([[1, 2, 3], [4, 5, 6]])],
  },
  {
    ...scatterND,
    title: "An index out of range",
    note: "Each index is held against its own axis: [0, 5] would be a place of a flat list of 16, but axis 1 has 4.",
    inputs: [f32(GRID), i64([[1, 1], [0, 5]]), f32([1, 2])],
  },
  {
    ...onnx,
    op: "Gather",
    opset: 13,
    title: "Out of range in Gather-13 is an error",
    note: "ONNX refuses 7, where OpenVINO's Gather-8 gives 0.",
    inputs: [f32([1, 2, 3, 4, 5]), i64([3, 7, -1])],
  },
  {
    domain: "openvino",
    op: "Gather",
    opset: 8,
    attributes: {},
    title: "Out of range in Gather-8 gives 0",
    note: "The same tensors in OpenVINO: 7 gives 0, and -1 is still the last place.",
    inputs: [f32([1, 2, 3, 4, 5]), i64([3, 7, -1]), i64(0)],
  },
  {
    ...tensorScatter,
    attributes: { axis: "1", mode: "circular" },
    title: "TensorScatter, circular: the cache is a ring",
    note: "Three updates from place 3 of a cache of 4: they wrap around to its begin.",
    inputs: [f32([[1, 2, 3, 4]]), f32([[10, 20, 30]]), i64([3])],
  },
  {
    ...tensorScatter,
    attributes: { axis: "1" },
    title: "TensorScatter, linear: the same does not fit",
    note: "In linear mode the whole update must fit: from place 3 of 4 there is room for one.",
    inputs: [f32([[1, 2, 3, 4]]), f32([[10, 20, 30]]), i64([3])],
  },
  {
    ...scatterND,
    attributes: { reduction: "add" },
    title: "Half precision: each step is rounded",
    note: "In float16 2048 + 1 is 2048 again, twice; 2048 + 2 would be 2050.",
    inputs: [f16([2048, 2048]), i64([[0], [0], [1]]), f16([1, 1, 2])],
  },
  {
    ...scatterND,
    attributes: { reduction: "add" },
    title: "Integers wrap around",
    note: "In uint8 250 + 10 is 4: integers are counted modulo 2⁸.",
    inputs: [u8([250, 7]), i64([[0]]), u8([10])],
  },
];
