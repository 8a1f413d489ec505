/**
 * Examples from ONNX's documentation. Errors in the documentation are corrected, and the example's note quotes the
 * printed text.
 */

import { CUBE, f32, i32, i4, i64, SLICES, type Examples } from "./example.ts";

const THIRD_BLOCK =
  "The specification prints the third block of the output as [[1, 1, 1, 1], …]; no update writes data[2], so data[2] keeps its values.";

// prettier-ignore
export const ONNX_EXAMPLES: readonly Examples[] = [
  { op: "ScatterND", opset: 18, examples: [
    {
      title: "Example 1: four elements",
      question: "How do four numbers find their targets?",
      note:
        "The specification writes output[indices[idx]]. The index is a tuple, so NumPy needs output[tuple(indices[idx])].",
      inputs: [f32([1, 2, 3, 4, 5, 6, 7, 8]), i64([[4], [3], [1], [7]]), f32([9, 10, 11, 12])],
    },
    {
      title: "Example 2: two slices",
      question: "Where do two whole slices go?",
      note:
        "The specification says updates.shape = indices.shape[0:q-1] ++ data.shape[k:r-1]. The second part should be data.shape[k:], with the last axis.",
      inputs: [f32(CUBE), i64([[0], [2]]), f32(SLICES)],
    },
    {
      title: "scatternd_add",
      question: "Do two updates of the same slice add up?",
      note:
        `${THIRD_BLOCK} Versions 16 and 18 say that indices must not repeat. With a reduction, indices may repeat, as in [[0], [0]].`,
      attributes: { reduction: "add" },
      inputs: [f32(CUBE), i64([[0], [0]]), f32(SLICES)],
    },
    {
      title: "scatternd_multiply",
      question: "Does mul multiply the old values too?",
      note: `The text of ScatterND-18 says that mul adds, which is wrong. mul multiplies, as ScatterND-16 says. ${THIRD_BLOCK}`,
      attributes: { reduction: "mul" },
      inputs: [f32(CUBE), i64([[0], [0]]), f32(SLICES)],
    },
    {
      title: "scatternd_max",
      question: "Which of three values does max keep?",
      note: THIRD_BLOCK,
      attributes: { reduction: "max" },
      inputs: [f32(CUBE), i64([[0], [0]]), f32(SLICES)],
    },
    {
      title: "scatternd_min",
      question: "Which of three values does min keep?",
      note: THIRD_BLOCK,
      attributes: { reduction: "min" },
      inputs: [f32(CUBE), i64([[0], [0]]), f32(SLICES)],
    },
  ] },
  { op: "ScatterElements", opset: 18, examples: [
    {
      title: "Example 1: without axis",
      question: "Why does each update stay in its column?",
      note:
        "The specification prints the output without commas between its rows. Since version 16, the specification says that indices must not repeat. In fact, only targets must not repeat: here the index 0 appears in two columns.",
      inputs: [
        f32([[0, 0, 0], [0, 0, 0], [0, 0, 0]]),
        i64([[1, 0, 2], [0, 2, 1]]),
        f32([[1, 1.1, 1.2], [2, 2.1, 2.2]]),
      ],
    },
    {
      title: "Example 2: along axis 1",
      question: "Why do only two of the five columns change?",
      note: "Each index selects the column; the update stays in its own row.",
      attributes: { axis: "1" },
      inputs: [f32([[1, 2, 3, 4, 5]]), i64([[1, 3]]), f32([[1.1, 2.1]])],
    },
    {
      title: "with_negative_indices",
      question: "Which column is -3?",
      note: "On an axis of size 5, -3 means index 2.",
      attributes: { axis: "1" },
      inputs: [f32([[1, 2, 3, 4, 5]]), i64([[1, -3]]), f32([[1.1, 2.1]])],
    },
    {
      title: "with_duplicate_indices",
      question: "Do two updates of column 1 both count?",
      note:
        "ScatterElements-18 writes output[…] += f(output[…], updates[…]). The operator should be =, because f already adds.",
      attributes: { axis: "1", reduction: "add" },
      inputs: [f32([[1, 2, 3, 4, 5]]), i64([[1, 1]]), f32([[1.1, 2.1]])],
    },
    {
      title: "with_reduction_max",
      question: "Which of three values does max keep?",
      note: "The two updates have the same target, whose value is 2. The largest of the three values wins.",
      attributes: { axis: "1", reduction: "max" },
      inputs: [f32([[1, 2, 3, 4, 5]]), i64([[1, 1]]), f32([[1.1, 2.1]])],
    },
    {
      title: "with_reduction_min",
      question: "Which of three values does min keep?",
      note: "The two updates have the same target, whose value is 2. The smallest of the three values wins.",
      attributes: { axis: "1", reduction: "min" },
      inputs: [f32([[1, 2, 3, 4, 5]]), i64([[1, 1]]), f32([[1.1, 2.1]])],
    },
  ] },
  { op: "GatherND", opset: 13, examples: [
    {
      title: "Example 1: two elements",
      question: "How does a pair of indices pick one number?",
      note: "The specification does not give the output shape. The output shape is [2].",
      inputs: [i32([[0, 1], [2, 3]]), i64([[0, 0], [1, 1]])],
    },
    {
      title: "Example 2: two rows",
      question: "How does one index pick a whole row?",
      note: "The specification prints `indices = [,]`. The correct indices are [[1], [0]].",
      inputs: [i32([[0, 1], [2, 3]]), i64([[1], [0]])],
    },
    {
      title: "Example 3: two slices of rank 1",
      question: "What does a pair of indices pick from three axes?",
      note:
        "A tuple of two indices addresses two of three axes, and the third axis is copied whole. The specification calls GatherND the inverse of ScatterND. This statement is true only without batches and with distinct targets, as here.",
      inputs: [i32([[[0, 1], [2, 3]], [[4, 5], [6, 7]]]), i64([[0, 1], [1, 0]])],
    },
    {
      title: "Example 4: indices of rank 3",
      question: "Why does the output have three axes?",
      note: "The shape of the output begins with all axes of indices except the last axis.",
      inputs: [f32([[[0, 1], [2, 3]], [[4, 5], [6, 7]]]), i64([[[0, 1]], [[1, 0]]])],
    },
    {
      title: "Example 5: batch_dims 1",
      question: "Which batch does each tuple read from?",
      note:
        "The specification prints `indices = [,]`. The correct indices are [[1], [0]]. The specification bounds index i by data_shape[i], but the axis is batch_dims + i. The specification gives the output the rank q + r - k - 1, which leaves out the batches: the rank is 2 + 3 - 1 - 1 - 1 = 2. The specification also addresses data[0:b-1, …], but each tuple addresses only its own batch.",
      attributes: { batch_dims: "1" },
      inputs: [i32([[[0, 1], [2, 3]], [[4, 5], [6, 7]]]), i64([[1], [0]])],
    },
  ] },
  { op: "GatherElements", opset: 13, examples: [
    {
      title: "Example 1: along axis 1",
      question: "Why does the output have the shape of indices?",
      note: "The specification prints the output with an extra pair of brackets. The output has the shape of indices.",
      attributes: { axis: "1" },
      inputs: [f32([[1, 2], [3, 4]]), i64([[0, 0], [1, 0]])],
    },
    {
      title: "Example 2: along axis 0",
      question: "Which row does each element come from?",
      note: "The specification prints the output with an extra pair of brackets. The output has the shape of indices.",
      inputs: [f32([[1, 2, 3], [4, 5, 6], [7, 8, 9]]), i64([[1, 2, 0], [2, 0, 0]])],
    },
  ] },
  { op: "Gather", opset: 13, examples: [
    {
      title: "Example 1: rows",
      question: "Why does row 1 appear twice?",
      note:
        "Gather replaces the axis by the whole shape of indices. Version 1 requires that indices are within bounds, which means 0 to s - 1 on an axis of size s. Since version 11, valid indices are -s to s - 1.",
      inputs: [f32([[1, 1.2], [2.3, 3.4], [4.5, 5.7]]), i32([[0, 1], [1, 2]])],
    },
    {
      title: "Example 2: columns",
      question: "How do I pick columns instead of rows?",
      note: "The two axes of indices replace the axis of columns.",
      attributes: { axis: "1" },
      inputs: [f32([[1, 1.2, 1.9], [2.3, 3.4, 3.9], [4.5, 5.7, 5.9]]), i32([[0, 2]])],
    },
    {
      title: "A scalar drops the axis",
      question: "Where did the axis go?",
      note: "Indices of rank 0 have no axes, so axis -1 is removed without a replacement.",
      attributes: { axis: "-1" },
      inputs: [f32([[1, 1.2, 1.9], [2.3, 3.4, 3.9]]), i32(-1)],
    },
  ] },
  { op: "Scatter", opset: 11, examples: [
    {
      title: "Example 1: without axis",
      question: "Is Scatter the same operator as ScatterElements?",
      note: "Scatter is the old name of ScatterElements.",
      inputs: [
        f32([[0, 0, 0], [0, 0, 0], [0, 0, 0]]),
        i64([[1, 0, 2], [0, 2, 1]]),
        f32([[1, 1.1, 1.2], [2, 2.1, 2.2]]),
      ],
    },
    {
      title: "Example 2: along axis 1",
      question: "Which columns does the old Scatter change?",
      note: "Scatter is the old name of ScatterElements.",
      attributes: { axis: "1" },
      inputs: [f32([[1, 2, 3, 4, 5]]), i64([[1, 3]]), f32([[1.1, 2.1]])],
    },
  ] },
  { op: "TensorScatter", opset: 24, examples: [
    {
      title: "Each sample has its own start position",
      question: "Where does writing begin in each sample?",
      note: "write_indices holds one start position for each sample (axis 0).",
      attributes: { axis: "1" },
      inputs: [f32([[1, 2, 3, 4], [5, 6, 7, 8]]), f32([[9, 10], [11, 12]]), i64([1, 2])],
    },
    {
      title: "Without write_indices",
      question: "Where does writing begin without write_indices?",
      note: "Without write_indices, writing begins at position 0 in every sample.",
      attributes: { axis: "1" },
      inputs: [f32([[1, 2, 3, 4], [5, 6, 7, 8]]), f32([[9, 10], [11, 12]]), null],
    },
    {
      title: "Circular: positions wrap",
      question: "What happens to a position beyond the end?",
      note:
        "In circular mode the specification takes the remainder of every coordinate. In fact, only the coordinate of the sequence wraps; otherwise sample 2 would be written into sample 0.",
      attributes: { axis: "1", mode: "circular" },
      inputs: [f32([[1, 2], [3, 4], [5, 6]]), f32([[9, 10], [11, 12], [13, 14]]), i64([1, -1, 4])],
    },
    {
      title: "4-bit integers, two heads",
      question: "Which axis is the sequence?",
      note: "By default, the sequence runs along the second-to-last axis. 4-bit integers are copied unchanged.",
      inputs: [i4([[[[1, 1], [2, 2]], [[3, 3], [4, 4]]]]), i4([[[[-8, 7]], [[5, -1]]]]), i64([1])],
    },
  ] },
];
