/**
 * Gather examples from OpenVINO's documentation. Errors in the documentation are corrected, and the example's note
 * quotes the printed text.
 */

import { f32, i32, i64, type Examples } from "./example.ts";

// prettier-ignore
export const OPENVINO_GATHERS: readonly Examples[] = [
  { op: "Gather", opset: 8, examples: [
    {
      title: "Example 1: elements",
      question: "Can one element be read twice?",
      inputs: [f32([1, 2, 3, 4, 5]), i32([0, 0, 4]), i32(0)],
    },
    {
      title: "Example 2: batch_dims 1",
      question: "Which row does each row of indices read?",
      note: "Each row of indices reads its own row of data.",
      attributes: { batch_dims: "1" },
      inputs: [f32([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]), i32([[0, 0, 4], [4, 0, 0]]), i32(1)],
    },
    {
      title: "Example 3: batch_dims 2",
      question: "Which of four rows does each row of indices read?",
      note: "Each of the four rows of indices reads its own row of data.",
      attributes: { batch_dims: "2" },
      inputs: [
        f32([[[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]], [[11, 12, 13, 14, 15], [16, 17, 18, 19, 20]]]),
        i32([[[0, 0, 4], [4, 0, 0]], [[1, 2, 4], [4, 3, 2]]]),
        i32(2),
      ],
    },
    {
      title: "Example 4: batches of slices",
      question: "What if the axis does not follow the batch axes?",
      note: "The gathered axis need not follow the batch axes. An axis between the batch axes and the gathered axis is copied whole.",
      attributes: { batch_dims: "1" },
      inputs: [
        f32([
          [[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 16], [17, 18, 19, 20]]],
          [[[21, 22, 23, 24], [25, 26, 27, 28], [29, 30, 31, 32], [33, 34, 35, 36], [37, 38, 39, 40]]],
        ]),
        i32([[1, 2, 4], [4, 3, 2]]),
        i32([2]),
      ],
    },
    {
      title: "Example 5: batch_dims -1",
      question: "What does batch_dims -1 mean?",
      note: "A negative batch_dims counts from the rank of indices: with rank 2, -1 means 1.",
      attributes: { batch_dims: "-1" },
      inputs: [f32([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]), i32([[0, 0, 4], [4, 0, 0]]), i32(1)],
    },
    {
      title: "Example 6: negative indices",
      question: "Which elements do the indices -2 and -1 select?",
      note: "On an axis of size 5, -2 means index 3.",
      inputs: [f32([1, 2, 3, 4, 5]), i32([0, -2, -1]), i32(0)],
    },
    {
      title: "Example 7: out of range gives 0",
      question: "What does an index out of range return?",
      note: "Version 8 returns 0 for an index outside its axis, instead of an error.",
      inputs: [f32([1, 2, 3, 4, 5]), i32([3, 10, -20]), i32(0)],
    },
  ] },
  { op: "GatherND", opset: 8, examples: [
    {
      title: "Example 1: two elements",
      question: "How does a pair of indices pick one number?",
      inputs: [f32([[1, 2], [3, 4]]), i64([[0, 0], [1, 0]])],
    },
    {
      title: "Example 2: two rows",
      question: "How does one index pick a whole row?",
      inputs: [f32([[1, 2], [3, 4]]), i64([[1], [0]])],
    },
    {
      title: "Example 3: indices of rank 3",
      question: "Why does the output have three axes?",
      inputs: [f32([[1, 2], [3, 4]]), i64([[[1]], [[0]]])],
    },
    {
      title: "Example 4: batch_dims 1",
      question: "Which batch does each tuple read from?",
      note: "The specification says that batch axes may be broadcast. In fact, the batch axes must be equal, and OpenVINO itself checks this.",
      attributes: { batch_dims: "1" },
      inputs: [f32([[1, 2], [3, 4]]), i64([[1], [0]])],
    },
    {
      title: "Example 5: batches of slices",
      question: "What does a tuple pick from its own batch?",
      attributes: { batch_dims: "1" },
      inputs: [
        f32([[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]], [[13, 14, 15, 16], [17, 18, 19, 20], [21, 22, 23, 24]]]),
        i64([[1], [0]]),
      ],
    },
    {
      title: "Example 6: version 5 fuses the batch axes",
      question: "Where did the second batch axis go?",
      note:
        "The specification gives the output shape only for calls without batches. With batches, the batch axes are merged into one axis of size 2 · 3.",
      opset: 5,
      attributes: { batch_dims: "2" },
      inputs: [
        f32([[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]], [[13, 14, 15, 16], [17, 18, 19, 20], [21, 22, 23, 24]]]),
        i64([[[[1]], [[0]], [[2]]], [[[0]], [[2]], [[2]]]]),
      ],
    },
    {
      title: "Example 6: version 8 keeps the batch axes",
      question: "Which batch axes stay in the output?",
      note: "The call is the same as in version 5, but version 5 merges the two batch axes of the output into one axis.",
      attributes: { batch_dims: "2" },
      inputs: [
        f32([[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]], [[13, 14, 15, 16], [17, 18, 19, 20], [21, 22, 23, 24]]]),
        i64([[[[1]], [[0]], [[2]]], [[[0]], [[2]], [[2]]]]),
      ],
    },
    {
      title: "Version 8 counts negative indices from the back",
      question: "Can a tuple count from the end?",
      note: "Each coordinate counts from the end of its own axis. Version 5 refuses negative indices.",
      inputs: [f32([[1, 2], [3, 4]]), i64([[-1, 0], [0, -1]])],
    },
    {
      title: "Example 7: batch_dims 3",
      question: "Which axes remain to address after three batch axes?",
      attributes: { batch_dims: "3" },
      inputs: [
        f32([[[[1, 2, 3, 4], [5, 6, 7, 8]], [[9, 10, 11, 12], [13, 14, 15, 16]]]]),
        i64([[[[1], [0]], [[3], [2]]]]),
      ],
    },
  ] },
  { op: "GatherElements", opset: 6, examples: [
    {
      title: "Example 1: along axis 0",
      question: "Which row does each element come from?",
      note: "On all other axes, indices must have the same size as data. ONNX has no such rule.",
      attributes: { axis: "0" },
      inputs: [f32([[1, 2], [3, 4]]), i32([[0, 1], [0, 0]])],
    },
    {
      title: "Example 2: along axis 1",
      question: "Can there be more indices than columns?",
      note: "On the gathered axis, indices may be longer than data.",
      attributes: { axis: "1" },
      inputs: [f32([[1, 7], [4, 3]]), i32([[1, 1, 0], [1, 0, 1]])],
    },
    {
      title: "Example 3: fewer rows than data",
      question: "Can indices have fewer rows than data?",
      note: "On the gathered axis, indices may be shorter than data. In ONNX, indices may be smaller on other axes too.",
      attributes: { axis: "0" },
      inputs: [f32([[1, 2, 3], [4, 5, 6], [7, 8, 9]]), i32([[1, 0, 1], [1, 2, 0]])],
    },
  ] },
];
