/** The names of the systems in the library's dialect table, and counts for sentences. */

import type { DialectId } from "ndscatter";

export const DIALECT_NAMES: Readonly<Record<DialectId, string>> = {
  onnx: "ONNX",
  "onnxruntime-cpu": "ONNX Runtime on the CPU",
  "onnxruntime-webgpu": "ONNX Runtime on WebGPU",
  openvino: "OpenVINO",
  numpy: "NumPy",
  "torch-index-put": "PyTorch's index_put_",
  "torch-scatter": "PyTorch's scatter_",
  "torch-scatter-reduce": "PyTorch's scatter_reduce_",
  "tensorflow-cpu": "TensorFlow on the CPU",
  "tensorflow-gpu": "TensorFlow on a GPU",
  jax: "JAX",
  "tfjs-cpu": "TensorFlow.js on the CPU",
  "tfjs-wasm": "TensorFlow.js in WebAssembly",
  webnn: "WebNN",
  mlx: "MLX",
};

/** Prints a count, such as `1 cell` or `2 cells`, with separators in large numbers. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
