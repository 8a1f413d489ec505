/** Calls and what `explain` says of them, worked out by hand. */

import type { NodeSpec } from "../../src/core/call/call.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { f32, i64, onnx, openvino } from "../support/calls.ts";

/** The shape of a sequence, as its terms say it. */
const SEQUENCE =
  "update is past_cache.shape[:1] ++ [min(update.shape[1], past_cache.shape[1])] ++ past_cache.shape[2:]";

const i32 = (shape: number[], values: number[]): Tensor => tensor("int32", shape, values);

export interface ExplanationRow {
  readonly says: string;
  readonly node: NodeSpec;
  readonly inputs: readonly (Tensor | undefined)[];
  /** What of the updates' shape is said, of a scatter, and of the output's. */
  readonly shapes: readonly string[];
  readonly lines: readonly string[];
}

// prettier-ignore
export const EXPLANATIONS: readonly ExplanationRow[] = [
  {
    says: "slices are added up, a negative index is wrapped",
    node: onnx("ScatterND", 18, { reduction: "add" }),
    inputs: [f32([4, 2], [1, 2, 3, 4, 5, 6, 7, 8]), i64([3, 1], [1, 3, -3]), f32([3, 2], [10, 20, 30, 40, 0.5, 0.25])],
    shapes: [
      "updates is indices.shape[:-1] ++ data.shape[1:] = [3] ++ [2] = [3, 2]",
      "output is data.shape = [4, 2]",
    ],
    lines: [
      "[1] [3,4] add [0]@[0]=[1][1] > [13,24] add [2]@[2]=[-3][1] > [13.5,24.25]",
      "[3] [7,8] add [1]@[1]=[3][3] > [37,48]",
    ],
  },
  {
    says: "each step is rounded to float16",
    node: onnx("ScatterND", 18, { reduction: "add" }),
    inputs: [tensor("float16", [2], [2048, 0]), i64([3, 1], [0, 0, 0]), tensor("float16", [3], [1, 1, 2])],
    shapes: [
      "updates is indices.shape[:-1] ++ data.shape[1:] = [3] ++ [] = [3]",
      "output is data.shape = [2]",
    ],
    lines: ["[0] 2048 add [0]@[0]=[0][0] > 2048 add [1]@[1]=[0][0] > 2048 add [2]@[2]=[0][0] > 2050"],
  },
  {
    says: "of repeated targets the last wins",
    node: onnx("ScatterND", 11),
    inputs: [i64([2, 2], [1, 2, 3, 4]), i64([3, 2], [0, 1, -1, 0, -2, -1]), i64([3], [7, 8, 9])],
    shapes: [
      "updates is indices.shape[:-1] ++ data.shape[2:] = [3] ++ [] = [3]",
      "output is data.shape = [2, 2]",
    ],
    lines: [
      '[0,1] "2" none [0]@[0]=[0,1][0,1] > "7" none [2]@[2]=[-2,-1][0,1] > "9"',
      '[1,0] "3" none [1]@[1]=[-1,0][1,0] > "8"',
    ],
  },
  {
    says: "empty tuples update the whole",
    node: onnx("ScatterND", 18, { reduction: "max" }),
    inputs: [f32([2], [1, 5]), i64([2, 0], []), f32([2, 2], [2, 3, 0, 9])],
    shapes: [
      "updates is indices.shape[:-1] ++ data.shape[0:] = [2] ++ [2] = [2, 2]",
      "output is data.shape = [2]",
    ],
    lines: ["[] [1,5] max [0]@[0]=[][] > [2,5] max [1]@[1]=[][] > [2,9]"],
  },
  {
    says: "text is put together",
    node: onnx("ScatterElements", 18, { reduction: "add", axis: -1 }),
    inputs: [tensor("string", [1, 2], ["a", "b"]), i64([1, 3], [1, 0, -1]), tensor("string", [1, 3], ["x", "y", "z"])],
    shapes: ["updates is indices.shape = [1, 3]", "output is data.shape = [1, 2]"],
    lines: [
      '[0,0] "a" add [0,1]@[0,1]=[0][0] > "ay"',
      '[0,1] "b" add [0,0]@[0,0]=[1][1] > "bx" add [0,2]@[0,2]=[-1][1] > "bxz"',
    ],
  },
  {
    says: "each update has an index",
    node: onnx("Scatter", 9),
    inputs: [f32([2, 2], [1, 2, 3, 4]), i32([1, 2], [1, 0]), f32([1, 2], [8, 9])],
    shapes: ["updates is indices.shape = [1, 2]", "output is data.shape = [2, 2]"],
    lines: ["[0,1] 2 none [0,1]@[0,1]=[0][0] > 9", "[1,0] 3 none [0,0]@[0,0]=[1][1] > 8"],
  },
  {
    says: "a sequence goes on at the front",
    node: onnx("TensorScatter", 24, { mode: "circular" }),
    inputs: [f32([2, 3, 1], [0, 1, 2, 3, 4, 5]), f32([2, 2, 1], [6, 7, 8, 9]), i64([2], [2, 4])],
    shapes: [
      `${SEQUENCE} = [2] ++ [2] ++ [1] = [2, 2, 1]`,
      "write_indices is past_cache.shape[:1] = [2]",
      "present_cache is past_cache.shape = [2, 3, 1]",
    ],
    lines: [
      "[0,0] [0] none [0,1]@[0]=[2][0] > [7]",
      "[0,2] [2] none [0,0]@[0]=[2][2] > [6]",
      "[1,1] [4] none [1,0]@[1]=[4][1] > [8]",
      "[1,2] [5] none [1,1]@[1]=[4][2] > [9]",
    ],
  },
  {
    says: "positions that are left out are 0",
    node: onnx("TensorScatter", 24),
    inputs: [f32([1, 2, 1], [3, 4]), f32([1, 1, 1], [5]), undefined],
    shapes: [
      `${SEQUENCE} = [1] ++ [1] ++ [1] = [1, 1, 1]`,
      "write_indices must be past_cache.shape[:1] = [1]",
      "present_cache is past_cache.shape = [1, 2, 1]",
    ],
    lines: ["[0,0] [3] none [0,0]@[0]=[0][0] > [5]"],
  },
  {
    says: "one element will do for a scalar",
    node: openvino("ScatterNDUpdate", 15, { reduction: "sub" }),
    inputs: [f32([3], [1, 2, 3]), i64([1], [-1]), f32([1, 1], [5])],
    shapes: [
      "updates must be indices.shape[:-1] ++ data.shape[1:] = [] ++ [] = [], or one element, got [1, 1]",
      "output is data.shape = [3]",
    ],
    lines: ["[2] 3 sub [0,0]@[]=[-1][2] > -2"],
  },
  {
    says: "a mean is a sum that is divided in the end",
    node: openvino("ScatterElementsUpdate", 12, { reduction: "mean", use_init_val: false }),
    inputs: [i32([2, 2], [1, 2, 3, 4]), i64([2, 2], [0, 1, -1, 1]), i32([2, 2], [7, 8, 9, -11]), i64([], [0])],
    shapes: ["updates is indices.shape = [2, 2]", "output is data.shape = [2, 2]"],
    lines: [
      "[0,0] 1 none [0,0]@[0,0]=[0][0] > 7 /1 > 7",
      "[1,0] 3 none [1,0]@[1,0]=[-1][1] > 9 /1 > 9",
      "[1,1] 4 none [0,1]@[0,1]=[1][1] > 8 add [1,1]@[1,1]=[1][1] > -3 /2 > -2",
    ],
  },
  {
    says: "a mean counts what is there",
    node: openvino("ScatterElementsUpdate", 12, { reduction: "mean" }),
    inputs: [f32([2], [1, 2]), i64([2], [1, 1]), f32([2], [3, 7]), i64([1], [-1])],
    shapes: ["updates is indices.shape = [2]", "output is data.shape = [2]"],
    lines: ["[1] 2 add [0]@[0]=[1][1] > 5 add [1]@[1]=[1][1] > 12 /3 > 4"],
  },
  {
    says: "slices along an axis",
    node: openvino("ScatterUpdate", 3),
    inputs: [f32([2, 3], [1, 2, 3, 4, 5, 6]), tensor("int8", [2], [2, 0]), f32([2, 2], [10, 20, 30, 40]), i64([], [1])],
    shapes: [
      "updates is data.shape[:1] ++ indices.shape ++ data.shape[2:] = [2] ++ [2] ++ [] = [2, 2]",
      "output is data.shape = [2, 3]",
    ],
    lines: [
      "[0,0] 1 none [0,1]@[1]=[0][0] > 20",
      "[0,2] 3 none [0,0]@[0]=[2][2] > 10",
      "[1,0] 4 none [1,1]@[1]=[0][0] > 40",
      "[1,2] 6 none [1,0]@[0]=[2][2] > 30",
    ],
  },
  {
    says: "tuples within batches",
    node: onnx("GatherND", 13, { batch_dims: 1 }),
    inputs: [f32([2, 2, 1], [1, 2, 3, 4]), i64([2, 2, 1], [1, -2, 0, 0])],
    shapes: ["output is indices.shape[:-1] ++ data.shape[2:] = [2, 2] ++ [1] = [2, 2, 1]"],
    lines: [
      "[0,0] < [0,1] @[0,0]=[1][1]",
      "[0,1] < [0,0] @[0,1]=[-2][0]",
      "[1,0] < [1,0] @[1,0]=[0][0]",
      "[1,1] < [1,0] @[1,1]=[0][0]",
    ],
  },
  {
    says: "elements along an axis",
    node: onnx("GatherElements", 13, { axis: 1 }),
    inputs: [f32([2, 2], [1, 2, 3, 4]), i32([2, 1], [-1, 0])],
    shapes: ["output is indices.shape = [2, 1]"],
    lines: ["[0,0] < [0,1] @[0,0]=[-1][1]", "[1,0] < [1,0] @[1,0]=[0][0]"],
  },
  {
    says: "slices along an axis",
    node: onnx("Gather", 13, { axis: 1 }),
    inputs: [f32([2, 3], [1, 2, 3, 4, 5, 6]), i64([], [-1])],
    shapes: ["output is data.shape[:1] ++ indices.shape ++ data.shape[2:] = [2] ++ [] ++ [] = [2]"],
    lines: ["[0] < [0,2] @[]=[-1][2]", "[1] < [1,2] @[]=[-1][2]"],
  },
  {
    says: "an index out of range gives 0",
    node: openvino("Gather", 8, { batch_dims: 1 }),
    inputs: [f32([2, 2], [1, 2, 3, 4]), i64([2, 2], [1, 2, -3, -2]), i64([], [1])],
    shapes: ["output is data.shape[:1] ++ indices.shape[1:] ++ data.shape[2:] = [2] ++ [2] ++ [] = [2, 2]"],
    lines: [
      "[0,0] < [0,1] @[0,0]=[1][1]",
      "[0,1] < null @[0,1]=[2]?",
      "[1,0] < null @[1,0]=[-3]?",
      "[1,1] < [1,0] @[1,1]=[-2][0]",
    ],
  },
  {
    says: "batches are fused in the output",
    node: openvino("GatherND", 5, { batch_dims: 2 }),
    inputs: [f32([2, 1, 2], [1, 2, 3, 4]), tensor("uint8", [2, 1, 1], [1, 0])],
    shapes: ["output is [product(indices.shape[:2])] ++ indices.shape[2:-1] ++ data.shape[3:] = [2] ++ [] ++ [] = [2]"],
    lines: ["[0] < [0,0,1] @[0,0]=[1][1]", "[1] < [1,0,0] @[1,0]=[0][0]"],
  },
  {
    says: "elements along an axis",
    node: openvino("GatherElements", 6, { axis: 0 }),
    inputs: [f32([2], [1, 2]), i64([3], [1, 1, 0])],
    shapes: ["output is indices.shape = [3]"],
    lines: ["[0] < [1] @[0]=[1][1]", "[1] < [1] @[1]=[1][1]", "[2] < [0] @[2]=[0][0]"],
  },
];
