/** Calls that readers often confuse, mostly as pairs that differ in one detail. */

import { f16, f32, i32, i64, u8, type Example } from "./example.ts";
import type { State } from "../values/state.ts";

export interface Confusion extends Example, Pick<State, "domain" | "op" | "opset"> {
  /** The difference to the other example of a pair, which is the next or the previous one, and this side's label. */
  readonly pair?: readonly [by: string, label: string];
}

const scatterND = { domain: "ai.onnx", op: "ScatterND", opset: 18 } as const;
const scatterElements = { ...scatterND, op: "ScatterElements" } as const;
const gather = { domain: "ai.onnx", op: "Gather", opset: 13 } as const;
const gatherND = { ...gather, op: "GatherND" } as const;
const tensorScatter = { domain: "ai.onnx", op: "TensorScatter", opset: 24 } as const;

// prettier-ignore
const GRID = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]];
const ZEROS = GRID.slice(1).map((row) => row.slice(1));
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
    title: "Indices of rank 1 are a single tuple",
    question: "Is [1, 0, 2] three indices or a single tuple?",
    note: "[1, 0, 2] is one tuple of three coordinates. It addresses one element of data, so updates is a scalar.",
    inputs: [f32(BOX), i64([1, 0, 2]), f32(5)],
  },
  {
    ...scatterND,
    title: "A list of scalars needs one more axis",
    pair: ["shape of indices", "[3, 1]"],
    question: "How do I write three elements of a vector?",
    note: "[[4], [3], [1]] are three tuples of one index. [4, 3, 1] would be one tuple of three.",
    inputs: [f32([0, 0, 0, 0, 0, 0]), i64([[4], [3], [1]]), f32([10, 20, 30])],
  },
  {
    ...scatterND,
    title: "… and without it is refused",
    pair: ["shape of indices", "[3]"],
    question: "Why is a plain list of indices refused?",
    note: "[4, 3, 1] is one tuple of three indices, but data has only one axis. Give indices the shape [3, 1].",
    inputs: [f32([0, 0, 0, 0, 0, 0]), i64([4, 3, 1]), f32([10, 20, 30])],
  },
  {
    ...scatterND,
    title: "k, the length of a tuple: 2",
    question: "What do two indices address in rank-3 data?",
    note:
      "Each tuple has k = 2 indices, so a tuple addresses two axes of data, and the third axis is copied whole. The first axis of indices counts the tuples. The shape of updates is therefore [2] ++ [3] = [2, 3].",
    inputs: [f32(BOX), i64([[0, 1], [1, 0]]), f32([[1, 2, 3], [4, 5, 6]])],
  },
  {
    ...scatterND,
    title: "q - 1, the axes that count tuples: 2",
    question: "Why does updates have four axes?",
    note:
      "Each tuple has k = 1 index, so a tuple addresses one axis of data, and the other two axes are copied whole. The first two axes of indices count the tuples. The shape of updates is therefore [1, 2] ++ [2, 3] = [1, 2, 2, 3].",
    inputs: [f32(BOX), i64([[[0], [1]]]), f32([[[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]]])],
  },
  {
    ...scatterND,
    title: "Duplicates: without a reduction, the last one wins",
    pair: ["reduction", "none"],
    question: "Why did only one update survive?",
    note: "Three updates write row 1. Without a reduction they are not added: the last update wins.",
    inputs: [f32([[1, 1], [1, 1], [1, 1]]), i64([[1], [1], [1]]), f32([[10, 20], [30, 40], [50, 60]])],
  },
  {
    ...scatterND,
    attributes: { reduction: "add" },
    title: "Duplicates: with add, all updates count",
    pair: ["reduction", "add"],
    question: "Do three updates of the same row all count?",
    note: "The same three updates of row 1 are now added to the row, one after the other.",
    inputs: [f32([[1, 1], [1, 1], [1, 1]]), i64([[1], [1], [1]]), f32([[10, 20], [30, 40], [50, 60]])],
  },
  {
    ...scatterND,
    title: "Duplicates: 2 and -1 name one target",
    question: "Why did 10 disappear?",
    note: "On an axis of size 3, -1 means index 2. The two indices differ, but their target is the same, so the last update wins.",
    inputs: [f32([0, 0, 0]), i64([[2], [-1]]), f32([10, 20])],
  },
  {
    ...scatterND,
    title: "Duplicates: what ONNX leaves open",
    question: "Which update of row 1 stays?",
    note:
      "Without a reduction, ONNX forbids repeated targets, so a runtime may keep either update of row 1. TensorFlow on the CPU and NumPy keep the last update, as shown here.",
    inputs: [f32([0, 0, 0, 0]), i64([[1], [2], [1]]), f32([10, 20, 30])],
  },
  {
    ...gatherND,
    title: "batch_dims 0: tuples address all of data",
    pair: ["batch_dims", "batch_dims 0"],
    question: "What does a tuple pick without batches?",
    note: "[[0, 1], [1, 0]] are two tuples of two indices. Each picks a row from all of data.",
    inputs: [i32(PAIRS), i64([[0, 1], [1, 0]])],
  },
  {
    ...gatherND,
    attributes: { batch_dims: "1" },
    title: "batch_dims 1: each batch has its own tuple",
    pair: ["batch_dims", "batch_dims 1"],
    question: "Why does each tuple pick only one number?",
    note:
      "The indices are the same as with batch_dims 0, but tuple b addresses only data[b]. Each tuple picks one element of its own batch.",
    inputs: [i32(PAIRS), i64([[0, 1], [1, 0]])],
  },
  {
    ...scatterElements,
    title: "Axis 0: an index is a row",
    pair: ["axis", "axis 0"],
    question: "Is an index a row or a column?",
    note: "Each update stays in its column. Its index selects the row.",
    inputs: [f32(ZEROS), i64([[0, 1, 2], [2, 0, 1]]), f32([[1, 2, 3], [4, 5, 6]])],
  },
  {
    ...scatterElements,
    attributes: { axis: "1" },
    title: "Axis 1: an index is a column",
    pair: ["axis", "axis 1"],
    question: "How do I make an index a column?",
    note: "The tensors are the same as in the example with axis 0. Each update stays in its row, and its index selects the column.",
    inputs: [f32(ZEROS), i64([[0, 1, 2], [2, 0, 1]]), f32([[1, 2, 3], [4, 5, 6]])],
  },
  {
    ...gather,
    op: "GatherElements",
    title: "GatherElements: an index picks one element",
    pair: ["operator", "GatherElements"],
    question: "Why did I get one number for each index?",
    note:
      "The output has the same shape as indices. Each index picks the row of one element. The element comes from the same column as the index.",
    inputs: [f32(TABLE), i64([[0, 2, 1]])],
  },
  {
    ...gather,
    title: "Gather: an index picks a whole slice",
    pair: ["operator", "Gather"],
    question: "Why did I get a whole row for each index?",
    note: "The tensors are the same as in the GatherElements example. Each index picks a whole row, so the output has one more axis.",
    inputs: [f32(TABLE), i64([[0, 2, 1]])],
  },
  {
    ...scatterND,
    title: "ScatterND: a row of indices is one address",
    pair: ["operator", "ScatterND"],
    question: "Does [0, 1] address one element or two rows?",
    note: "[0, 1] and [2, 0] are coordinates: row 0, column 1 and row 2, column 0.",
    inputs: [f32(ZEROS), i64([[0, 1], [2, 0]]), f32([10, 20])],
  },
  {
    ...scatterElements,
    title: "torch.scatter is ScatterElements",
    pair: ["operator", "ScatterElements"],
    question: "Which ONNX operator is torch.scatter?",
    note:
      "torch.scatter reads the same indices differently: each of the four indices selects a row, and the update stays in the column of its index.",
    inputs: [f32(ZEROS), i64([[0, 1], [2, 0]]), f32([[10, 20], [30, 40]])],
  },
  {
    ...scatterElements,
    title: "Indices smaller than data",
    question: "Why did the last column not change?",
    note: "Only the columns that indices cover are updated. The last column keeps its values.",
    inputs: [f32(TABLE), i64([[2, 0]]), f32([[-1, -2]])],
  },
  {
    ...scatterND,
    title: "Negative indices count from the back",
    question: "Which row is -4?",
    note:
      "-1 is the last of four rows, and -4 the first. -5 would be out of range. The specification says nothing about bounds. Valid indices are -s to s - 1, as in the other operators.",
    inputs: [f32(GRID), i64([[-1], [-4]]), f32([[1, 2, 3, 4], [5, 6, 7, 8]])],
  },
  {
    ...scatterND,
    title: "Updates of the wrong shape",
    question: "Why do my updates not fit?",
    note: "The two tuples have one index each, and data has the shape [4, 4], so each update must be a row of 4 elements instead of 3.",
    inputs: [f32(GRID), i64([[0], [2]]), f32([[1, 2, 3], [4, 5, 6]])],
  },
  {
    ...scatterND,
    title: "An index out of range",
    question: "Why is [0, 5] refused among 16 elements?",
    note:
      "Each index is checked against its own axis. As a flat offset, [0, 5] would lie within the 16 elements, but axis 1 has only 4 positions.",
    inputs: [f32(GRID), i64([[1, 1], [0, 5]]), f32([1, 2])],
  },
  {
    ...gather,
    title: "Out of range in Gather-13 is an error",
    pair: ["domain", "ONNX: an error"],
    question: "What does ONNX do with index 7 on an axis of size 5?",
    note: "ONNX refuses the index 7 on an axis of size 5. OpenVINO's Gather-8 returns 0 for this index.",
    inputs: [f32([1, 2, 3, 4, 5]), i64([3, 7, -1])],
  },
  {
    ...gather,
    domain: "openvino",
    opset: 8,
    title: "Out of range in Gather-8 gives 0",
    pair: ["domain", "OpenVINO: 0"],
    question: "What does OpenVINO do with index 7 on an axis of size 5?",
    note: "In OpenVINO, the index 7 gives 0 for the same tensors, and -1 still means the last row.",
    inputs: [f32([1, 2, 3, 4, 5]), i64([3, 7, -1]), i64(0)],
  },
  {
    ...tensorScatter,
    attributes: { axis: "1", mode: "circular" },
    title: "TensorScatter, circular: the cache is a ring",
    pair: ["mode", "circular"],
    question: "What happens at the end of the cache?",
    note: "Three updates begin at position 3 of a cache of size 4. The updates wrap around to the start of the cache.",
    inputs: [f32([[1, 2, 3, 4]]), f32([[10, 20, 30]]), i64([3])],
  },
  {
    ...tensorScatter,
    attributes: { axis: "1" },
    title: "TensorScatter, linear: the same does not fit",
    pair: ["mode", "linear"],
    question: "Why does the same update not fit?",
    note: "In linear mode, every update must fit before the end of the cache. Only one update fits at position 3 of a cache of size 4.",
    inputs: [f32([[1, 2, 3, 4]]), f32([[10, 20, 30]]), i64([3])],
  },
  {
    ...scatterND,
    attributes: { reduction: "add" },
    title: "Half precision: each step is rounded",
    question: "Why did adding 1 twice change nothing?",
    note: "In float16, 2048 + 1 is 2048, so adding 1 twice changes nothing. 2048 + 2 is 2050.",
    inputs: [f16([2048, 2048]), i64([[0], [0], [1]]), f16([1, 1, 2])],
  },
  {
    ...scatterND,
    attributes: { reduction: "add" },
    title: "Integers wrap around",
    question: "Why is 250 + 10 only 4?",
    note: "In uint8, 250 + 10 is 4, because integers wrap modulo 2⁸.",
    inputs: [u8([250, 7]), i64([[0]]), u8([10])],
  },
];
