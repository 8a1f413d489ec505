/** Short ways to write nodes and tensors in tests. */

import type { NodeSpec } from "../../src/core/call/call.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";

export const f32 = (shape: number[], values: number[]): Tensor => tensor("float32", shape, values);
export const i64 = (shape: number[], values: number[]): Tensor => tensor("int64", shape, values);
export const openvino = (op: string, opset: number, attributes = {}): NodeSpec => ({
  domain: "openvino",
  op,
  opset,
  attributes,
});
export const onnx = (op: string, opset: number, attributes = {}): NodeSpec => ({
  op,
  opset,
  attributes,
});
