/**
 * Scatter examples from OpenVINO's documentation. Errors in the documentation are corrected, and the example's note
 * quotes the printed text.
 */

import { bool, CUBE, f16, f32, i32, i8, u8, SLICES, type Examples } from "./example.ts";

const ONE_TUPLE =
  "The specification prints indices of shape [5]. This shape would be a single tuple of 5 indices, which is more than data has axes. This example uses the shape [5, 1].";

// prettier-ignore
export const OPENVINO_SCATTERS: readonly Examples[] = [
  { op: "ScatterNDUpdate", opset: 15, examples: [
    {
      title: "First example: from both ends",
      question: "Which two updates hit element 4?",
      note:
        "The specification prints output[4] as 4. On an axis of size 8, the index -4 means 4, so its update 14 replaces the 9 of the first update. The specification counts a negative index as len(data.shape[j] + index). The correct formula is data.shape[j] + index.",
      inputs: [f32([1, 2, 3, 4, 5, 6, 7, 8]), i32([[4], [3], [1], [7], [-2], [-4]]), f32([9, 10, 11, 12, 13, 14])],
    },
    {
      title: "Second example: two slices",
      question: "Where do two whole slices go?",
      note:
        "A tuple of k indices is (i_0, …, i_{k-1}). The specification adds a further index, i_k. The snippet in the specification calls Python's max and min on slices, which fails. In fact, max and min are applied to each element: the old value stays unless the new value is greater (max) or less (min).",
      inputs: [f32(CUBE), i32([[0], [2]]), f32(SLICES)],
    },
    {
      title: "Example 1: none, the last update wins",
      question: "Where did 10 and 30 go?",
      note:
        `${ONE_TUPLE} The specification also prints [50, 20, 20, 4]. Elements 0 and 1 are written twice, and the last update wins: [50, 40, 20, 4].`,
      inputs: [f32([1, 2, 3, 4]), i32([[0], [2], [-3], [-3], [0]]), f32([10, 20, 30, 40, 50])],
    },
    {
      title: "Example 2: sum in float16",
      question: "How much does each element collect?",
      note: `${ONE_TUPLE} The snippet in the specification calls func(tuple(out[…]), …) instead of func(out[tuple(…)], …).`,
      attributes: { reduction: "sum" },
      inputs: [f16([1, 2, 3, 4]), i32([[0], [2], [-3], [-3], [0]]), f16([10, 20, 30, 40, 50])],
    },
    {
      title: "Example 3: sub",
      question: "What happens when two updates are subtracted?",
      note:
        `${ONE_TUPLE} The specification writes the type ScatterNdUpdate, and puts reduction on <layer>. The correct type is ScatterNDUpdate, and reduction belongs on <data>.`,
      attributes: { reduction: "sub" },
      inputs: [i32([1, 2, 3, 4]), i32([[0], [2], [-3], [-3], [0]]), i32([10, 20, 30, 40, 50])],
    },
    {
      title: "Example 4: prod",
      question: "Which elements are multiplied twice?",
      note: `${ONE_TUPLE} The specification also prints the result [500, 3600, 40, 4]. The two middle values are wrong: the products are 2 · 30 · 40 = 2400 and 3 · 20 = 60.`,
      attributes: { reduction: "prod" },
      inputs: [f32([1, 2, 3, 4]), i32([[0], [2], [-3], [-3], [0]]), f32([10, 20, 30, 40, 50])],
    },
  ] },
  { op: "ScatterElementsUpdate", opset: 12, examples: [
    {
      title: "Example 1: sum",
      question: "How do six updates fit into four elements?",
      note: "The specification puts reduction and use_init_val on <layer>. Both attributes belong on <data>.",
      attributes: { reduction: "sum" },
      inputs: [f32([2, 3, 4, 6]), i32([1, 0, 0, -2, -1, 2]), f32([10, 20, 30, 40, 70, 60]), i32([0])],
    },
    {
      title: "Example 2: sum without the values of data",
      question: "How do I leave the old values out of a sum?",
      note: "The specification puts reduction and use_init_val on <layer>. Both attributes belong on <data>.",
      attributes: { reduction: "sum", use_init_val: "false" },
      inputs: [f32([2, 3, 4, 6]), i32([1, 0, 0, 2, 3, 2]), f32([10, 20, 30, 40, 70, 60]), i32([0])],
    },
    {
      title: "Example 1 with a mean",
      question: "What is the mean of an element with two updates?",
      note: "The specification computes a mean step by step. In fact, the result is the mean of all values: (2 + 20 + 30) / 3.",
      attributes: { reduction: "mean" },
      inputs: [f32([2, 3, 4, 6]), i32([1, 0, 0, -2, -1, 2]), f32([10, 20, 30, 40, 70, 60]), i32([0])],
    },
    {
      title: "Example 1 with a mean of integers",
      question: "How is a mean of integers rounded?",
      note: "The mean of integers is rounded down: 52 / 3 is 17.",
      attributes: { reduction: "mean" },
      inputs: [i32([2, 3, 4, 6]), i32([1, 0, 0, -2, -1, 2]), i32([10, 20, 30, 40, 70, 60]), i32([0])],
    },
    {
      title: "Example 2 with a mean",
      question: "Does the old value count in the mean?",
      note: "Without the values of data, element 0 is the mean of only 20 and 30.",
      attributes: { reduction: "mean", use_init_val: "false" },
      inputs: [i32([2, 3, 4, 6]), i32([1, 0, 0, 2, 3, 2]), i32([10, 20, 30, 40, 70, 60]), i32([0])],
    },
    {
      title: "Example 2 without a reduction",
      question: "Does use_init_val matter without a reduction?",
      note: "use_init_val has no effect without a reduction.",
      attributes: { use_init_val: "false" },
      inputs: [i32([2, 3, 4, 6]), i32([1, 0, 0, 2, 3, 2]), i32([10, 20, 30, 40, 70, 60]), i32([0])],
    },
    {
      title: "Example 2 with a maximum",
      question: "Which value wins when the old value does not count?",
      note: "The first update of an element replaces the value of data. The reduction begins with the second update.",
      attributes: { reduction: "max", use_init_val: "false" },
      inputs: [i32([2, 3, 4, 6]), i32([1, 0, 0, 2, 3, 2]), i32([10, 20, 30, 40, 70, 60]), i32([0])],
    },
    {
      title: "Example 2 with a product",
      question: "What is multiplied when the old value does not count?",
      note: "The first update of an element replaces the value of data. The reduction begins with the second update.",
      attributes: { reduction: "prod", use_init_val: "false" },
      inputs: [i32([2, 3, 4, 6]), i32([1, 0, 0, 2, 3, 2]), i32([10, 20, 30, 40, 70, 60]), i32([0])],
    },
    {
      title: "A mean of negative integers",
      question: "Which way is a negative mean rounded?",
      note: "A negative mean is rounded toward minus infinity: (-3 - 4) / 2 is -4.",
      attributes: { reduction: "mean" },
      inputs: [i8([-3, 5]), i32([0, -1]), i8([-4, -2]), i32(0)],
    },
    {
      title: "Example 3: along axis 1",
      question: "Which column does each update go to?",
      note: "The specification counts a negative index as len(data.shape[axis] + index). The correct formula is data.shape[axis] + index.",
      inputs: [
        i32([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]),
        i32([[1, 2], [0, 3]]),
        i32([[11, 12], [13, 14]]),
        i32([1]),
      ],
    },
    {
      title: "Example 4: sum along axis 1",
      question: "What does row 0 collect in column 1?",
      note:
        "The specification reads the old value at output[indices[i][j]][j]. For axis 1 the old value is at output[i][indices[i][j]], where the result is written.",
      attributes: { reduction: "sum" },
      inputs: [
        i32([[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]]),
        i32([[1, 1], [0, 3]]),
        i32([[11, 12], [13, 14]]),
        i32([1]),
      ],
    },
    {
      title: "Example 5: prod along the last axis",
      question: "Which axis is -1?",
      note: "With two axes, -1 means axis 1.",
      attributes: { reduction: "prod" },
      inputs: [
        i32([[2, 2, 2, 2], [2, 2, 2, 2], [2, 2, 2, 2]]),
        i32([[1, 1], [0, 3]]),
        i32([[11, 12], [13, 14]]),
        i32([-1]),
      ],
    },
    {
      title: "Booleans: sum is OR",
      question: "What is the sum of booleans?",
      attributes: { reduction: "sum" },
      inputs: [bool([false, true, true, false]), i32([0, 1, 2, 3]), bool([false, true, false, true]), i32(0)],
    },
    {
      title: "Booleans: prod is AND",
      question: "What is the product of booleans?",
      attributes: { reduction: "prod" },
      inputs: [bool([false, true, true, false]), i32([0, 1, 2, 3]), bool([false, true, false, true]), i32(0)],
    },
    {
      title: "Booleans: min is AND",
      question: "What is the minimum of booleans?",
      note:
        "The specifications of ScatterElementsUpdate and ScatterNDUpdate do not define min and max of booleans. ndscatter uses AND for min and OR for max.",
      attributes: { reduction: "min" },
      inputs: [bool([false, true, true, false]), i32([0, 1, 2, 3]), bool([false, true, false, true]), i32(0)],
    },
    {
      title: "Booleans: max is OR",
      question: "What is the maximum of booleans?",
      note:
        "The specifications of ScatterElementsUpdate and ScatterNDUpdate do not define min and max of booleans. ndscatter uses AND for min and OR for max.",
      attributes: { reduction: "max" },
      inputs: [bool([false, true, true, false]), i32([0, 1, 2, 3]), bool([false, true, false, true]), i32(0)],
    },
  ] },
  { op: "ScatterUpdate", opset: 3, examples: [
    {
      title: "Example 2: columns",
      question: "How do I write whole columns?",
      note:
        "In updates, the axes of indices replace the axis. Example 1 of the specification has 38 million elements, more than the page shows.",
      inputs: [
        f32([[-1, 1, -1, 3, 4], [-1, 6, -1, 8, 9], [-1, 11, 1, 13, 14]]),
        u8([0, 2]),
        f32([[1, 1], [1, 1], [1, 2]]),
        i32([1]),
      ],
    },
    {
      title: "Indices of rank 0",
      question: "Where did the axis of updates go?",
      note: "A scalar index drops the axis from updates. Each of the two updates is one element of column 1.",
      inputs: [f32([[1, 2], [3, 4]]), i32(1), f32([8, 9]), i32(-1)],
    },
  ] },
];
