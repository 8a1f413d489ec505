/** The examples of ONNX's documents, with their errata put right and told. */

import { f32, i32, i4, i64, type Examples } from "./example.ts";

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

// prettier-ignore
export const ONNX_EXAMPLES: readonly Examples[] = [
  { op: "ScatterND", examples: [
    {
      title: "Example 1: four elements",
      note: "The document writes output[indices[idx]]; the index is a tuple: in NumPy output[tuple(indices[idx])].",
      opset: 18,
      attributes: {},
      inputs: [f32([1, 2, 3, 4, 5, 6, 7, 8]), i64([[4], [3], [1], [7]]), f32([9, 10, 11, 12])],
    },
    {
      title: "Example 2: two slices",
      note: "The document says updates.shape = indices.shape[0:q-1] ++ data.shape[k:r-1]; it is data.shape[k:], with the last axis.",
      opset: 18,
      attributes: {},
      inputs: [f32(CUBE), i64([[0], [2]]), f32(SLICES)],
    },
    {
      title: "scatternd_add",
      note: "The document prints the third block of the output as [[1, 1, 1, 1], …]; nothing updates data[2], so it stays as it is. Versions 16 and 18 say that indices must not repeat; with a reduction they may, as [[0], [0]] does.",
      opset: 18,
      attributes: { reduction: "add" },
      inputs: [f32(CUBE), i64([[0], [0]]), f32(SLICES)],
    },
    {
      title: "scatternd_multiply",
      note: "ScatterND-18 says that mul adds; it multiplies, as ScatterND-16 says. The document prints the third block of the output as [[1, 1, 1, 1], …]; nothing updates data[2], so it stays as it is.",
      opset: 18,
      attributes: { reduction: "mul" },
      inputs: [f32(CUBE), i64([[0], [0]]), f32(SLICES)],
    },
    {
      title: "scatternd_max",
      note: "The document prints the third block of the output as [[1, 1, 1, 1], …]; nothing updates data[2], so it stays as it is.",
      opset: 18,
      attributes: { reduction: "max" },
      inputs: [f32(CUBE), i64([[0], [0]]), f32(SLICES)],
    },
    {
      title: "scatternd_min",
      note: "The document prints the third block of the output as [[1, 1, 1, 1], …]; nothing updates data[2], so it stays as it is.",
      opset: 18,
      attributes: { reduction: "min" },
      inputs: [f32(CUBE), i64([[0], [0]]), f32(SLICES)],
    },
  ] },
  { op: "ScatterElements", examples: [
    {
      title: "Example 1: without axis",
      note: "The document prints the output without commas between its rows. From version 16 on it says that indices must not repeat; it is targets that must not: 0 stands in two columns here.",
      opset: 18,
      attributes: {},
      inputs: [f32([[0, 0, 0], [0, 0, 0], [0, 0, 0]]), i64([[1, 0, 2], [0, 2, 1]]), f32([[1, 1.1, 1.2], [2, 2.1, 2.2]])],
    },
    {
      title: "Example 2: along axis 1",
      note: "Each index stands for the column; the row is its own.",
      opset: 18,
      attributes: { axis: "1" },
      inputs: [f32([[1, 2, 3, 4, 5]]), i64([[1, 3]]), f32([[1.1, 2.1]])],
    },
    {
      title: "with_negative_indices",
      note: "-3 is the place 2 of 5.",
      opset: 18,
      attributes: { axis: "1" },
      inputs: [f32([[1, 2, 3, 4, 5]]), i64([[1, -3]]), f32([[1.1, 2.1]])],
    },
    {
      title: "with_duplicate_indices",
      note: "ScatterElements-18 writes output[…] += f(output[…], updates[…]); it is =, for f has added already.",
      opset: 18,
      attributes: { axis: "1", reduction: "add" },
      inputs: [f32([[1, 2, 3, 4, 5]]), i64([[1, 1]]), f32([[1.1, 2.1]])],
    },
    {
      title: "with_reduction_max",
      note: "Both updates meet the 2 of data; the greatest of the three stays.",
      opset: 18,
      attributes: { axis: "1", reduction: "max" },
      inputs: [f32([[1, 2, 3, 4, 5]]), i64([[1, 1]]), f32([[1.1, 2.1]])],
    },
    {
      title: "with_reduction_min",
      note: "Both updates meet the 2 of data; the least of the three stays.",
      opset: 18,
      attributes: { axis: "1", reduction: "min" },
      inputs: [f32([[1, 2, 3, 4, 5]]), i64([[1, 1]]), f32([[1.1, 2.1]])],
    },
  ] },
  { op: "GatherND", examples: [
    {
      title: "Example 1: two elements",
      note: "The document leaves the shape of the output empty; it is [2].",
      opset: 13,
      attributes: {},
      inputs: [i32([[0, 1], [2, 3]]), i64([[0, 0], [1, 1]])],
    },
    {
      title: "Example 2: two rows",
      note: "The document prints `indices = [,]`; they are [[1], [0]].",
      opset: 13,
      attributes: {},
      inputs: [i32([[0, 1], [2, 3]]), i64([[1], [0]])],
    },
    {
      title: "Example 3: two slices of rank 1",
      note: "A tuple of two indices addresses two of three axes; the third comes along whole. The documents call GatherND the inverse of ScatterND: it is without batches, and where no two targets are one, as here.",
      opset: 13,
      attributes: {},
      inputs: [i32([[[0, 1], [2, 3]], [[4, 5], [6, 7]]]), i64([[0, 1], [1, 0]])],
    },
    {
      title: "Example 4: indices of rank 3",
      note: "The axes of indices but the last stand at the front of the output.",
      opset: 13,
      attributes: {},
      inputs: [f32([[[0, 1], [2, 3]], [[4, 5], [6, 7]]]), i64([[[0, 1]], [[1, 0]]])],
    },
    {
      title: "Example 5: batch_dims 1",
      note: "The document prints `indices = [,]`; they are [[1], [0]]. The document bounds index i by data_shape[i]; it is the axis batch_dims + i. It gives the output the rank q + r - k - 1, without the batches: it is 2 + 3 - 1 - 1 - 1 = 2. And it addresses data[0:b-1, …]; each tuple addresses its own batch.",
      opset: 13,
      attributes: { batch_dims: "1" },
      inputs: [i32([[[0, 1], [2, 3]], [[4, 5], [6, 7]]]), i64([[1], [0]])],
    },
  ] },
  { op: "GatherElements", examples: [
    {
      title: "Example 1: along axis 1",
      note: "The document prints the output with one pair of brackets too many; it has the shape of indices.",
      opset: 13,
      attributes: { axis: "1" },
      inputs: [f32([[1, 2], [3, 4]]), i64([[0, 0], [1, 0]])],
    },
    {
      title: "Example 2: along axis 0",
      note: "The document prints the output with one pair of brackets too many; it has the shape of indices.",
      opset: 13,
      attributes: {},
      inputs: [f32([[1, 2, 3], [4, 5, 6], [7, 8, 9]]), i64([[1, 2, 0], [2, 0, 0]])],
    },
  ] },
  { op: "Gather", examples: [
    {
      title: "Example 1: rows",
      note: "Gather puts the whole shape of indices in the place of the axis. Version 1 says that indices are within bounds, and means 0 to s - 1; from version 11 on they are -s to s - 1.",
      opset: 13,
      attributes: {},
      inputs: [f32([[1, 1.2], [2.3, 3.4], [4.5, 5.7]]), i32([[0, 1], [1, 2]])],
    },
    {
      title: "Example 2: columns",
      note: "The axis of columns becomes the two axes of indices.",
      opset: 13,
      attributes: { axis: "1" },
      inputs: [f32([[1, 1.2, 1.9], [2.3, 3.4, 3.9], [4.5, 5.7, 5.9]]), i32([[0, 2]])],
    },
    {
      title: "A scalar drops the axis",
      note: "Indices of rank 0 have no axes to put in the place of axis -1.",
      opset: 13,
      attributes: { axis: "-1" },
      inputs: [f32([[1, 1.2, 1.9], [2.3, 3.4, 3.9]]), i32(-1)],
    },
  ] },
  { op: "Scatter", examples: [
    {
      title: "Example 1: without axis",
      note: "Scatter is the old name of ScatterElements.",
      opset: 11,
      attributes: {},
      inputs: [f32([[0, 0, 0], [0, 0, 0], [0, 0, 0]]), i64([[1, 0, 2], [0, 2, 1]]), f32([[1, 1.1, 1.2], [2, 2.1, 2.2]])],
    },
    {
      title: "Example 2: along axis 1",
      note: "Scatter is the old name of ScatterElements.",
      opset: 11,
      attributes: { axis: "1" },
      inputs: [f32([[1, 2, 3, 4, 5]]), i64([[1, 3]]), f32([[1.1, 2.1]])],
    },
  ] },
  { op: "TensorScatter", examples: [
    {
      title: "Each sample from a position of its own",
      note: "write_indices has a position for each sample of the batch, axis 0.",
      opset: 24,
      attributes: { axis: "1" },
      inputs: [f32([[1, 2, 3, 4], [5, 6, 7, 8]]), f32([[9, 10], [11, 12]]), i64([1, 2])],
    },
    {
      title: "Without write_indices",
      note: "Every sample begins at position 0.",
      opset: 24,
      attributes: { axis: "1" },
      inputs: [f32([[1, 2, 3, 4], [5, 6, 7, 8]]), f32([[9, 10], [11, 12]]), null],
    },
    {
      title: "Circular: positions wrap",
      note: "The document takes the remainder of every coordinate in circular mode; it is that of the sequence alone, or sample 2 would be written into sample 0.",
      opset: 24,
      attributes: { axis: "1", mode: "circular" },
      inputs: [f32([[1, 2], [3, 4], [5, 6]]), f32([[9, 10], [11, 12], [13, 14]]), i64([1, -1, 4])],
    },
    {
      title: "4-bit integers, two heads",
      note: "By default the sequence is the last axis but one. Integers of 4 bits are only moved.",
      opset: 24,
      attributes: {},
      inputs: [i4([[[[1, 1], [2, 2]], [[3, 3], [4, 4]]]]), i4([[[[-8, 7]], [[5, -1]]]]), i64([1])],
    },
  ] },
];
