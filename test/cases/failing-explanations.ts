/** Calls that fail, and what `explain` says of them all the same: the shapes that follow, and every bad index. */

import type { NodeSpec } from "../../src/core/call/call.ts";
import { tensor, zeros } from "../../src/core/tensor/tensor.ts";
import { f32, i64, onnx, openvino } from "../support/calls.ts";

/** The shape of a sequence, as its terms say it. */
const SEQUENCE =
  "past_cache.shape[:1] ++ [min(update.shape[1], past_cache.shape[1])] ++ past_cache.shape[2:]";

const UPDATE = openvino("ScatterUpdate", 3);
const floats = (...shape: number[]) => zeros("float32", shape);
const places = (...shape: number[]) => zeros("int64", shape);

export interface FailingRow {
  readonly says: string;
  readonly node: NodeSpec;
  readonly inputs: unknown;
  /** The shapes that were derived, with ! for those that do not fit. */
  readonly shapes?: readonly string[];
  readonly bad?: readonly string[];
}

// prettier-ignore
export const FAILING: readonly FailingRow[] = [
  {
    says: "updates of the wrong shape, and bad indices all the same",
    node: onnx("ScatterND", 18),
    inputs: [floats(4, 4, 4), i64([2, 1], [9, -7]), floats(2, 3, 4)],
    shapes: [
      "!updates must be indices.shape[:-1] ++ data.shape[1:] = [2] ++ [4, 4] = [2, 4, 4], got [2, 3, 4]",
      "output is data.shape = [4, 4, 4]",
    ],
    bad: ["indices[0,0] = 9, axis 0 [-4,3]", "indices[1,0] = -7, axis 0 [-4,3]"],
  },
  {
    says: "bad indices on each axis of tuples",
    node: onnx("ScatterND", 18),
    inputs: [floats(2, 3), i64([3, 2], [2, -4, 1, 3, -2, -3]), floats(3)],
    shapes: [
      "updates is indices.shape[:-1] ++ data.shape[2:] = [3] ++ [] = [3]",
      "output is data.shape = [2, 3]",
    ],
    bad: ["indices[0,0] = 2, axis 0 [-2,1]", "indices[0,1] = -4, axis 1 [-3,2]", "indices[1,1] = 3, axis 1 [-3,2]"],
  },
  {
    says: "negative indices where a version has none",
    node: openvino("ScatterNDUpdate", 3),
    inputs: [floats(4), i64([3, 1], [3, -1, 4]), floats(3)],
    shapes: [
      "updates is indices.shape[:-1] ++ data.shape[1:] = [3] ++ [] = [3]",
      "output is data.shape = [4]",
    ],
    bad: ["indices[1,0] = -1, axis 0 [0,3]", "indices[2,0] = 4, axis 0 [0,3]"],
  },
  {
    says: "an index that no number holds",
    node: onnx("GatherElements", 13),
    inputs: [floats(2), tensor("int64", [2], [2n ** 62n + 1n, 0n])],
    shapes: ["output is indices.shape = [2]"],
    bad: ["indices[0] = 4611686018427387905, axis 0 [-2,1]"],
  },
  {
    says: "sequences that do not fit",
    node: onnx("TensorScatter", 24),
    inputs: [floats(3, 4, 1), floats(3, 2, 1), i64([3], [3, 2, -1])],
    shapes: [
      `update is ${SEQUENCE} = [3] ++ [2] ++ [1] = [3, 2, 1]`,
      "write_indices is past_cache.shape[:1] = [3]",
      "present_cache is past_cache.shape = [3, 4, 1]",
    ],
    bad: ["write_indices[0] = 3, axis 1 [0,2]", "write_indices[2] = -1, axis 1 [0,2]"],
  },
  {
    says: "a sequence that is longer than its axis",
    node: onnx("TensorScatter", 24),
    inputs: [floats(1, 2, 1), floats(1, 3, 1), i64([2], [0, 0])],
    shapes: [
      `!update must be ${SEQUENCE} = [1] ++ [2] ++ [1] = [1, 2, 1], got [1, 3, 1]`,
      "!write_indices must be past_cache.shape[:1] = [1], got [2]",
      "present_cache is past_cache.shape = [1, 2, 1]",
    ],
  },
  {
    says: "updates of another rank",
    node: onnx("ScatterElements", 18),
    inputs: [floats(2, 2), i64([1, 2], [0, 5]), floats(2)],
    shapes: ["!updates must be indices.shape = [1, 2], got [2]", "output is data.shape = [2, 2]"],
    bad: ["indices[0,1] = 5, axis 0 [-2,1]"],
  },
  {
    says: "an axis without elements",
    node: openvino("ScatterUpdate", 3),
    inputs: [floats(0, 2), i64([1], [0]), floats(1, 2), i64([], [0])],
    shapes: [
      "updates is data.shape[:0] ++ indices.shape ++ data.shape[1:] = [] ++ [1] ++ [2] = [1, 2]",
      "output is data.shape = [0, 2]",
    ],
    bad: ["indices[0] = 0, axis 0 [0,-1]"],
  },
  {
    says: "updates that are no tensor",
    node: onnx("ScatterND", 18),
    inputs: [floats(2), i64([1, 1], [3]), [1]],
    shapes: ["updates must be indices.shape[:-1] ++ data.shape[1:] = [1] ++ [] = [1]", "output is data.shape = [2]"],
    bad: ["indices[0,0] = 3, axis 0 [-2,1]"],
  },
  {
    says: "updates of another data type",
    node: onnx("ScatterND", 18),
    inputs: [floats(2), i64([1, 1], [1]), zeros("int32", [1])],
    shapes: [
      "updates is indices.shape[:-1] ++ data.shape[1:] = [1] ++ [] = [1]",
      "output is data.shape = [2]",
    ],
  },
  {
    says: "indices of another data type",
    node: onnx("ScatterND", 18),
    inputs: [floats(2), floats(1, 1), floats(1)],
    shapes: [
      "updates is indices.shape[:-1] ++ data.shape[1:] = [1] ++ [] = [1]",
      "output is data.shape = [2]",
    ],
  },
  { says: "tuples that are too long", node: onnx("ScatterND", 18), inputs: [floats(2), places(1, 2), floats(1)] },
  { says: "an axis that there is not", node: onnx("Gather", 13, { axis: 2 }), inputs: [floats(2), places(1)] },
  { says: "an axis that is missing", node: openvino("Gather", 8), inputs: [floats(2), i64([1], [7])] },
  { says: "an axis that is no integer", node: UPDATE, inputs: [floats(2), i64([1], [7]), floats(1), f32([], [0.5])] },
  { says: "an axis of two elements", node: UPDATE, inputs: [floats(2), i64([1], [7]), floats(1), i64([2], [0, 0])] },
  { says: "an axis of no elements", node: UPDATE, inputs: [floats(2), i64([1], [7]), floats(1), i64([0], [])] },
  {
    says: "one element where a list of one is needed",
    node: openvino("ScatterNDUpdate", 15),
    inputs: [floats(2), i64([1, 1], [1]), floats(1, 1)],
    shapes: [
      "!updates must be indices.shape[:-1] ++ data.shape[1:] = [1] ++ [] = [1], got [1, 1]",
      "output is data.shape = [2]",
    ],
  },
  {
    says: "two elements where one will do",
    node: openvino("ScatterNDUpdate", 15),
    inputs: [floats(2), i64([1], [5]), floats(2)],
    shapes: [
      "!updates must be indices.shape[:-1] ++ data.shape[1:] = [] ++ [] = [], or one element, got [2]",
      "output is data.shape = [2]",
    ],
    bad: ["indices[0] = 5, axis 0 [-2,1]"],
  },
  {
    says: "one element where ScatterND needs a scalar",
    node: onnx("ScatterND", 18),
    inputs: [floats(2), i64([1], [1]), floats(1)],
    shapes: [
      "!updates must be indices.shape[:-1] ++ data.shape[1:] = [] ++ [] = [], got [1]",
      "output is data.shape = [2]",
    ],
  },
  { says: "an unknown operator", node: onnx("ScatterNd", 18), inputs: [] },
  { says: "a node that is none", node: null as never, inputs: [] },
  { says: "an unknown attribute", node: onnx("ScatterND", 13, { reduction: "add" }), inputs: [floats(2)] },
  { says: "inputs that are missing", node: onnx("ScatterND", 18), inputs: [floats(2)] },
  { says: "indices that are missing", node: onnx("ScatterND", 18), inputs: [floats(2), undefined, floats(2)] },
  { says: "data that are missing", node: onnx("ScatterND", 18), inputs: [undefined, places(1, 1), floats(2)] },
  { says: "inputs that are no list", node: onnx("ScatterND", 18), inputs: 7 },
];
