/** The calls of `other-rules.ts` as nodes and tensors. */

import type { NodeSpec } from "../../src/core/call/call.ts";
import type { DType } from "../../src/core/tensor/dtype.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { i64 } from "./calls.ts";
import { isScatter, type Grid, type Sample } from "./other-rules.ts";

/** Makes a tensor of numbers. */
export type Elements = (shape: readonly number[], values: readonly number[]) => Tensor;

export const elementsOf =
  (dtype: DType): Elements =>
  (shape, values) =>
    tensor(dtype, shape, [...values]);

/** The opset of calls of ai.onnx that name no other. */
export const ONNX_OPSET = 24;

/** The versions of the operators: the newest, OpenVINO's, and a version without negative indices. */
const NODES: Readonly<Record<string, readonly [op: string, opset: number, domain?: "openvino"]>> = {
  Gather: ["Gather", 18],
  "Gather unsigned": ["Gather", 1],
  "Gather openvino": ["Gather", 8, "openvino"],
  "GatherND unsigned": ["GatherND", 5, "openvino"],
  "GatherElements unsigned": ["GatherElements", 6, "openvino"],
  "ScatterND unsigned": ["ScatterNDUpdate", 4, "openvino"],
  "ScatterElements unsigned": ["Scatter", 9],
  "ScatterElements openvino": ["ScatterElementsUpdate", 12, "openvino"],
};

/** The node and its inputs, in the form that `run` takes. */
export function callOf(
  sample: Sample,
  elements = elementsOf(sample.dtype),
): { node: NodeSpec; inputs: Tensor[] } {
  const { axis, batchDims, reduction, data, indices, updates, version } = sample;
  const { isCircular } = sample;
  const key = version === undefined ? sample.op : `${sample.op} ${version}`;
  const [op, opset, domain] = NODES[key] ?? [sample.op, ONNX_OPSET];
  const isOpenvinoGather = key === "Gather openvino";
  const hasAxisInput = isOpenvinoGather || key === "ScatterElements openvino";
  const attributes = {
    ...(sample.op.endsWith("ND") || hasAxisInput ? {} : { axis }),
    ...((op === "GatherND" || isOpenvinoGather) && { batch_dims: batchDims }),
    ...(isScatter(sample) && reduction !== "none" && { reduction }),
    ...(isCircular && { mode: "circular" }),
  };
  const grid = ({ shape, values }: Grid) => elements(shape, values);
  const places = tensor("int64", indices.shape, [...indices.values]);
  const rest = !isScatter(sample)
    ? [places, ...(isOpenvinoGather ? [i64([], [axis])] : [])]
    : op === "TensorScatter"
      ? [grid(updates), places]
      : [places, grid(updates), ...(hasAxisInput ? [i64([], [axis])] : [])];
  return {
    node: { op, opset, ...(domain && { domain }), attributes },
    inputs: [grid(data), ...rest],
  };
}
