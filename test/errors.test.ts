import assert from "node:assert/strict";
import { test } from "node:test";
import { isTensorError, TensorError, type ErrorCode, type ErrorFields } from "../src/errors.ts";
import { scatterND } from "../src/functions.ts";
import { resolve } from "../src/operators/registry.ts";
import { infer } from "../src/call/infer.ts";
import { run } from "../src/call/run.ts";
import { equals, full, tensor, zeros, type Tensor } from "../src/tensor/tensor.ts";
import { ENGINES } from "./support/engines.ts";

/** A call that must fail, with the code, a part of the sentence and the fields that must be there. */
interface Row {
  readonly name: string;
  readonly node: Parameters<typeof run>[0];
  readonly inputs: () => unknown[];
  readonly options?: (inputs: readonly unknown[]) => Parameters<typeof run>[2];
  readonly code: ErrorCode;
  readonly says: string | RegExp;
  readonly fields?: ErrorFields;
}

const f32 = (...shape: number[]) => zeros("float32", shape);
const i64 = (shape: number[], ...values: (number | bigint)[]) => tensor("int64", shape, values);
const i32 = (shape: number[], ...values: number[]) => tensor("int32", shape, values);

const nd = (opset: number, attributes?: Record<string, unknown>) => ({
  op: "ScatterND",
  opset,
  attributes,
});
const elements = (opset: number, attributes?: Record<string, unknown>) => ({
  op: "ScatterElements",
  opset,
  attributes,
});
const gather = (opset: number, attributes?: Record<string, unknown>) => ({
  op: "GatherND",
  opset,
  attributes,
});
const gatherElements = (opset: number, attributes?: Record<string, unknown>) => ({
  op: "GatherElements",
  opset,
  attributes,
});
const update = (opset: number, attributes?: Record<string, unknown>) => ({
  domain: "openvino",
  op: "ScatterNDUpdate",
  opset,
  attributes,
});

const openvino = (op: string, opset: number, attributes?: Record<string, unknown>) => ({
  domain: "openvino",
  op,
  opset,
  attributes,
});
const withAxis = () => [f32(2), i64([1], 0), f32(1), i64([], 0)];
const cache = () => [f32(1, 2, 3), f32(1, 1, 3), i64([1], 0)];

const ok = () => [f32(8), i64([2, 1], 0, 1), f32(2)];
const detached = (value: Tensor) => {
  if (ArrayBuffer.isView(value.data))
    structuredClone(value.data.buffer, { transfer: [value.data.buffer as ArrayBuffer] });
  return value;
};

// prettier-ignore
const ROWS: readonly Row[] = [
  // Operators, domains, versions.
  { name: "an operator there is not", node: { op: "Conv", opset: 18 }, inputs: ok, code: "unknown-operator", says: "Conv: the domain ai.onnx has no such operator" },
  { name: "a near miss", node: { op: "ScatterNd", opset: 18 }, inputs: ok, code: "unknown-operator", says: "did you mean ScatterND" },
  { name: "an operator of the other domain", node: { op: "ScatterNDUpdate", opset: 15 }, inputs: ok, code: "unknown-operator", says: "ScatterNDUpdate of openvino" },
  { name: "a domain there is not", node: { domain: "com.microsoft", op: "ScatterND", opset: 18 }, inputs: ok, code: "unknown-operator", says: "com.microsoft" },
  { name: "an opset before the first version", node: nd(10), inputs: ok, code: "unknown-operator", says: "opset 10", fields: { op: "ScatterND", got: 10 } },
  { name: "an opset that is no integer", node: nd(1.5), inputs: ok, code: "unknown-operator", says: "positive integer" },
  { name: "openvino before opset 3", node: update(2), inputs: ok, code: "unknown-operator", says: "version 3" },
  // Attributes and reductions.
  { name: "an attribute that came later", node: nd(13, { reduction: "add" }), inputs: ok, code: "attribute", says: "reduction is in version 16", fields: { op: "ScatterND", opset: 13 } },
  { name: "even with its default", node: nd(11, { reduction: "none" }), inputs: ok, code: "attribute", says: "it has none" },
  { name: "an attribute that never was", node: elements(18, { axes: 1 }), inputs: ok, code: "attribute", says: "it has axis, reduction" },
  { name: "batch_dims before 12", node: gather(11, { batch_dims: 0 }), inputs: () => [f32(2), i64([1, 1], 0)], code: "attribute", says: "batch_dims is in version 12" },
  { name: "batch_dims below zero", node: gather(13, { batch_dims: -1 }), inputs: () => [f32(2), i64([1, 1], 0)], code: "attribute", says: "at least 0" },
  { name: "an axis that is no integer", node: elements(18, { axis: 0.5 }), inputs: ok, code: "attribute", says: "axis must be an integer, got 0.5" },
  { name: "an axis as text", node: elements(18, { axis: "0" }), inputs: ok, code: "attribute", says: "axis must be an integer" },
  { name: "a reduction as number", node: nd(18, { reduction: 1 }), inputs: ok, code: "attribute", says: "reduction must be a string" },
  { name: "a reduction there is not", node: nd(18, { reduction: "mean" }), inputs: ok, code: "reduction", says: 'no reduction "mean": it is one of none, add, mul, max, min' },
  { name: "a reduction in other letters", node: nd(18, { reduction: "Add" }), inputs: ok, code: "reduction", says: '"Add"' },
  { name: "a reduction newer than the version", node: nd(16, { reduction: "max" }), inputs: ok, code: "reduction", says: "it is in version 18", fields: { op: "ScatterND", opset: 16 } },
  { name: "OpenVINO's word in ONNX", node: nd(18, { reduction: "sum" }), inputs: ok, code: "reduction", says: '"sum"' },
  { name: "ONNX's word in OpenVINO", node: update(15, { reduction: "add" }), inputs: ok, code: "reduction", says: "none, sum, sub, prod, min, max" },
  { name: "sub in ONNX", node: elements(18, { reduction: "sub" }), inputs: ok, code: "reduction", says: '"sub"' },
  { name: "attributes before types", node: nd(18, { reduction: "mean" }), inputs: () => [1, 2, 3], code: "reduction", says: '"mean"' },
  { name: "an option that is none", node: nd(18), inputs: ok, options: () => ({ output: 1 }) as object, code: "attribute", says: '"output"' },
  { name: "duplicates of another word", node: nd(18), inputs: ok, options: () => ({ duplicates: "first" as "last" }), code: "attribute", says: 'one of "last", "error"' },
  { name: "duplicates of a gather", node: gather(13), inputs: () => [f32(2), i64([1, 1], 0)], options: () => ({ duplicates: "error" }), code: "attribute", says: "a gather has no targets" },
  // Inputs and data types.
  { name: "an input too few", node: nd(18), inputs: () => ok().slice(0, 2), code: "shape-mismatch", says: "3 inputs (data, indices, updates), got 2" },
  { name: "an input too many", node: gather(13), inputs: ok, code: "shape-mismatch", says: "2 inputs (data, indices), got 3" },
  { name: "a list where run is strict", node: nd(18), inputs: () => [f32(8), [[0]], f32(1)], code: "dtype", says: "indices is no tensor", fields: { input: "indices" } },
  { name: "bfloat16 before 13", node: nd(11), inputs: () => [zeros("bfloat16", [2]), i64([1, 1], 0), zeros("bfloat16", [1])], code: "dtype", says: "version 13 takes it", fields: { input: "data" } },
  { name: "int32 indices in ScatterND", node: nd(18), inputs: () => [f32(8), i32([2, 1], 0, 1), f32(2)], code: "dtype", says: "indices must be int64, got int32", fields: { input: "indices" } },
  { name: "int32 indices in GatherND", node: gather(13), inputs: () => [f32(8), i32([2, 1], 0, 1)], code: "dtype", says: "indices must be int64, got int32" },
  { name: "float indices", node: elements(18), inputs: () => [f32(8), f32(2), f32(2)], code: "dtype", says: "indices must be one of int32, int64, got float32" },
  { name: "updates of another type", node: nd(18), inputs: () => [f32(8), i64([2, 1], 0, 1), zeros("float64", [2])], code: "dtype", says: "updates must have the data type of data, float32, got float64", fields: { input: "updates" } },
  { name: "strings in OpenVINO", node: update(15), inputs: () => [zeros("string", [2]), i64([1, 1], 0), zeros("string", [1])], code: "dtype", says: "data must be one of bool, float16" },
  { name: "complex in OpenVINO", node: update(15), inputs: () => [zeros("complex64", [2]), i64([1, 1], 0), zeros("complex64", [1])], code: "dtype", says: "got complex64" },
  { name: "strings multiplied", node: nd(18, { reduction: "mul" }), inputs: () => [zeros("string", [2]), i64([1, 1], 0), zeros("string", [1])], code: "reduction", says: 'string has no reduction "mul"' },
  // Ranks, axes, shapes.
  { name: "scalar data", node: nd(18), inputs: () => [f32(), i64([1, 0]), f32(1)], code: "rank", says: "data must have rank >= 1", fields: { input: "data" } },
  { name: "scalar indices", node: nd(18), inputs: () => [f32(4), i64([], 0), f32()], code: "rank", says: "indices must have rank >= 1" },
  { name: "tuples longer than the rank", node: nd(18), inputs: () => [f32(4), i64([5], 0, 2, -3, -3, 0), f32(5)], code: "rank", says: "is 5, but data takes 0..1", fields: { input: "indices", got: 5 } },
  { name: "ranks that differ", node: elements(18), inputs: () => [f32(4, 4), i64([2], 0, 1), f32(2)], code: "rank", says: "indices must have the rank of data, 2, but it has rank 1" },
  { name: "scalars in ScatterElements", node: elements(18), inputs: () => [f32(), i64([], 0), f32()], code: "rank", says: "rank >= 1" },
  { name: "an axis past the rank", node: elements(18, { axis: 2 }), inputs: () => [f32(4, 4), i64([1, 1], 0), f32(1, 1)], code: "axis", says: "axis is 2, but data of rank 2 has the axes -2..1", fields: { axis: 2, got: 2 } },
  { name: "an axis before the rank", node: gatherElements(13, { axis: -3 }), inputs: () => [f32(4, 4), i64([1, 1], 0)], code: "axis", says: "-2..1" },
  { name: "updates of the wrong shape", node: nd(18), inputs: () => [f32(4, 4, 4), i64([2, 1], 0, 2), f32(2, 3, 4)], code: "shape-mismatch", says: "updates.shape must be indices.shape[:-1] ++ data.shape[1:] = [2] ++ [4, 4] = [2, 4, 4], got [2, 3, 4]", fields: { input: "updates", expected: [2, 4, 4] } },
  { name: "updates of the wrong rank", node: nd(18), inputs: () => [f32(4), i64([2, 1], 0, 2), f32(1, 2)], code: "shape-mismatch", says: "got [1, 2]", fields: { expected: [2] } },
  { name: "one element for a scalar, in ONNX", node: nd(18), inputs: () => [f32(4), i64([1], 0), f32(1)], code: "shape-mismatch", says: "= [] ++ [] = [], got [1]" },
  { name: "two elements for a scalar, in OpenVINO", node: update(15), inputs: () => [f32(4), i64([1], 0), f32(2)], code: "shape-mismatch", says: "be a scalar, or hold one element, got [2]" },
  { name: "indices larger off the axis", node: elements(18), inputs: () => [f32(4, 4), i64([1, 5], 0, 0, 0, 0, 0), f32(1, 5)], code: "shape-mismatch", says: "axis 1 is 5 against 4", fields: { input: "indices", axis: 1, got: 5 } },
  { name: "updates not as indices", node: elements(18), inputs: () => [f32(4, 4), i64([2, 2], 0, 0, 0, 0), f32(2, 3)], code: "shape-mismatch", says: "updates.shape must be indices.shape = [2, 2], got [2, 3]" },
  { name: "tuples of length 0 in GatherND", node: gather(13), inputs: () => [f32(4), i64([2, 0])], code: "rank", says: "is 0, but data takes 1..1" },
  { name: "tuples too long for a batch", node: gather(13, { batch_dims: 1 }), inputs: () => [f32(2, 3), i64([2, 2], 0, 0, 0, 0)], code: "rank", says: "is 2, but data takes 1..1" },
  { name: "batch_dims as large as a rank", node: gather(13, { batch_dims: 1 }), inputs: () => [f32(2, 3), i64([1], 0)], code: "rank", says: "must be below 1" },
  { name: "batches that differ", node: gather(13, { batch_dims: 1 }), inputs: () => [f32(2, 3), i64([4, 1], 0, 0, 0, 0)], code: "shape-mismatch", says: "the first 1 axes of data and indices must be equal, but they are [2] and [4]" },
  // Indices.
  { name: "an index past its axis", node: nd(16), inputs: () => [f32(8, 3), i64([3, 1], 4, 3, 9), f32(3, 3)], code: "index-out-of-range", says: "ScatterND-16: indices[2, 0] is 9, but axis 0 of data [8, 3] takes -8..7", fields: { op: "ScatterND", opset: 16, input: "indices", at: [2, 0], axis: 0, got: 9, expected: [-8, 7] } },
  { name: "an index before its axis", node: nd(18), inputs: () => [f32(8), i64([1, 1], -9), f32(1)], code: "index-out-of-range", says: "indices[0, 0] is -9", fields: { got: -9 } },
  { name: "bounds by axis, not by flat offset", node: nd(18), inputs: () => [f32(3, 3), i64([1, 2], 0, 5), f32(1)], code: "index-out-of-range", says: "indices[0, 1] is 5, but axis 1 of data [3, 3] takes -3..2", fields: { axis: 1, at: [0, 1] } },
  { name: "the first of several bad ones", node: nd(18), inputs: () => [f32(3, 3), i64([3, 2], 0, 0, 1, 7, 9, 9), f32(3)], code: "index-out-of-range", says: "indices[1, 1] is 7", fields: { at: [1, 1] } },
  { name: "an index into an axis without elements", node: nd(18), inputs: () => [f32(0, 3), i64([1, 1], 0), f32(1, 3)], code: "index-out-of-range", says: "axis 0 of data [0, 3] has no elements", fields: { expected: [0, -1] } },
  { name: "a bad index over an empty slice", node: nd(18), inputs: () => [f32(3, 0), i64([1, 1], 3), f32(1, 0)], code: "index-out-of-range", says: "is 3" },
  ...[2n ** 63n - 1n, -(2n ** 63n), 2n ** 40n, 2n ** 32n, -(2n ** 31n) - 1n, 2n ** 31n, 2n ** 32n - 1n].map((index): Row => ({
    name: `the index ${index}`,
    node: nd(18),
    inputs: () => [f32(8), i64([1, 1], index), f32(1)],
    code: "index-out-of-range",
    says: `indices[0, 0] is ${index},`,
    fields: { got: Number.isSafeInteger(Number(index)) ? Number(index) : index },
  })),
  { name: "int32 indices at their ends", node: elements(18), inputs: () => [f32(8), i32([1], -(2 ** 31)), f32(1)], code: "index-out-of-range", says: "is -2147483648" },
  { name: "the axis of a batched gather", node: gather(12, { batch_dims: 1 }), inputs: () => [f32(2, 3, 4), i64([2, 1, 1], 0, 3)], code: "index-out-of-range", says: "GatherND-12: indices[1, 0, 0] is 3, but axis 1 of data [2, 3, 4] takes -3..2", fields: { axis: 1, at: [1, 0, 0] } },
  { name: "elements along the last axis", node: gatherElements(11, { axis: 1 }), inputs: () => [f32(2, 3), i64([2, 2], 0, 0, 0, -4)], code: "index-out-of-range", says: "GatherElements-11: indices[1, 1] is -4, but axis 1 of data [2, 3] takes -3..2", fields: { axis: 1, at: [1, 1] } },
  { name: "negative indices in ScatterNDUpdate-3", node: update(4), inputs: () => [f32(8), i64([1, 1], -1), f32(1)], code: "index-out-of-range", says: "ScatterNDUpdate-3: indices[0, 0] is -1, but axis 0 of data [8] takes 0..7", fields: { opset: 3, expected: [0, 7] } },
  // The siblings.
  { name: "no attribute where one must be given", node: openvino("GatherElements", 6), inputs: () => [f32(2), i64([1], 0)], code: "attribute", says: "the attribute axis must be given" },
  { name: "a truth value as a number", node: openvino("ScatterElementsUpdate", 12, { use_init_val: 0 }), inputs: withAxis, code: "attribute", says: "use_init_val must be true or false, got 0" },
  { name: "a mode there is not", node: { op: "TensorScatter", opset: 24, attributes: { mode: "ring" } }, inputs: cache, code: "attribute", says: "linear, circular" },
  { name: "reduction in ScatterElementsUpdate-3", node: openvino("ScatterElementsUpdate", 3, { reduction: "sum" }), inputs: withAxis, code: "attribute", says: "reduction is in version 12" },
  { name: "sub in ScatterElementsUpdate", node: openvino("ScatterElementsUpdate", 12, { reduction: "sub" }), inputs: withAxis, code: "reduction", says: "one of none, sum, prod, min, max, mean" },
  { name: "a mean of booleans", node: openvino("ScatterElementsUpdate", 12, { reduction: "mean" }), inputs: () => [zeros("bool", [2]), i32([1], 0), zeros("bool", [1]), i64([], 0)], code: "reduction", says: 'bool has no reduction "mean", only none, add, mul, max, min, sub' },
  { name: "too few inputs", node: openvino("ScatterUpdate", 3), inputs: ok, code: "shape-mismatch", says: "a list of 4 inputs (data, indices, updates, axis), got 3" },
  { name: "too few inputs of 2 or 3", node: { op: "TensorScatter", opset: 24 }, inputs: () => [f32(1, 2, 3)], code: "shape-mismatch", says: "a list of 2 to 3 inputs (past_cache, update, write_indices?), got 1" },
  { name: "an input that may not be left out", node: openvino("ScatterUpdate", 3), inputs: () => [f32(2), undefined, f32(1), i64([], 0)], code: "shape-mismatch", says: "indices is left out, but may not be", fields: { input: "indices" } },
  { name: "indices of another type", node: openvino("GatherElements", 6, { axis: 0 }), inputs: () => [f32(2), zeros("uint8", [1])], code: "dtype", says: "indices must be one of int32, int64, got uint8" },
  { name: "an axis of floats", node: openvino("ScatterUpdate", 3), inputs: () => [f32(2), i64([1], 0), f32(1), f32()], code: "dtype", says: "axis must be one of", fields: { input: "axis" } },
  { name: "small floats before version 24", node: nd(18), inputs: () => [zeros("float8e5m2", [2]), i64([1, 1], 0), zeros("float8e5m2", [1])], code: "dtype", says: "got float8e5m2" },
  { name: "text in OpenVINO", node: openvino("Gather", 8), inputs: () => [zeros("string", [2]), i64([1], 0), i64([], 0)], code: "dtype", says: "got string" },
  { name: "an axis input past the rank", node: openvino("ScatterUpdate", 3), inputs: () => [f32(2), i64([1], 0), f32(1), i64([], 1)], code: "axis", says: "axis is 1, but data of rank 1 has the axes -1..0", fields: { axis: 1, got: 1 } },
  { name: "an axis input of two", node: openvino("Gather", 8), inputs: () => [f32(2), i64([1], 0), i64([2], 0, 0)], code: "shape-mismatch", says: "axis must be a scalar or have the shape [1], got [2]", fields: { input: "axis" } },
  { name: "updates of slices along an axis", node: openvino("ScatterUpdate", 3), inputs: () => [f32(2, 3), i64([4], 0, 0, 0, 0), f32(2, 3), i64([1], 1)], code: "shape-mismatch", says: "updates.shape must be data.shape[:1] ++ indices.shape ++ data.shape[2:] = [2] ++ [4] ++ [] = [2, 4], got [2, 3]", fields: { expected: [2, 4] } },
  { name: "batches behind the axis", node: openvino("Gather", 8, { batch_dims: 1 }), inputs: () => [f32(2, 3), i64([2], 0, 0), i64([], 0)], code: "axis", says: "axis is 0, but must not be one of the 1 batch axes before it" },
  { name: "more batches than ranks", node: openvino("Gather", 8, { batch_dims: -2 }), inputs: () => [f32(2, 3), i64([2], 0, 0), i64([], 1)], code: "rank", says: "is -2, but must be from -1 to 1" },
  { name: "batches of Gather that differ", node: openvino("Gather", 8, { batch_dims: 1 }), inputs: () => [f32(2, 3), i64([3], 0, 0, 0), i64([], 1)], code: "shape-mismatch", says: "must be equal, but they are [2] and [3]" },
  { name: "the batch as a sequence", node: { op: "TensorScatter", opset: 24, attributes: { axis: -3 } }, inputs: cache, code: "axis", says: "axis is -3, which of rank 3 is axis 0, the batch", fields: { axis: 0 } },
  { name: "a sequence longer than the cache", node: { op: "TensorScatter", opset: 24 }, inputs: () => [f32(1, 2, 3), f32(1, 3, 3)], code: "shape-mismatch", says: "update.shape must be past_cache.shape = [1, 2, 3], at most 2 along axis 1, got [1, 3, 3]" },
  { name: "positions for another batch", node: { op: "TensorScatter", opset: 24 }, inputs: () => [f32(1, 2, 3), f32(1, 1, 3), i64([2], 0, 0)], code: "shape-mismatch", says: "write_indices must have the shape [1]" },
  { name: "positions of rank 2", node: { op: "TensorScatter", opset: 24 }, inputs: () => [f32(1, 2, 3), f32(1, 1, 3), i64([1, 1], 0)], code: "rank", says: "write_indices must have rank 1" },
  { name: "a sequence that does not fit", node: { op: "TensorScatter", opset: 24 }, inputs: () => [f32(2, 4, 3), f32(2, 2, 3), i64([2], 2, 3)], code: "index-out-of-range", says: "write_indices[1] is 3, but on axis 1 of past_cache [2, 4, 3] a sequence of 2 takes 0..2", fields: { input: "write_indices", at: [1], axis: 1, got: 3, expected: [0, 2] } },
  { name: "a sequence before the cache", node: { op: "TensorScatter", opset: 24 }, inputs: () => [f32(1, 4, 3), f32(1, 2, 3), i64([1], -1)], code: "index-out-of-range", says: "write_indices[0] is -1" },
  ...([
    ["Gather-1", { op: "Gather", opset: 10 }, () => [f32(8), i64([1], -1)]],
    ["Scatter-9", { op: "Scatter", opset: 10 }, () => [f32(8), i64([1], -1), f32(1)]],
    ["ScatterUpdate-3", openvino("ScatterUpdate", 15), () => [f32(8), i64([1], -1), f32(1), i64([], 0)]],
    ["ScatterElementsUpdate-3", openvino("ScatterElementsUpdate", 11), () => [f32(8), i64([1], -1), f32(1), i64([], 0)]],
    ["GatherND-5", openvino("GatherND", 7), () => [f32(8), i64([1, 1], -1)]],
    ["GatherElements-6", openvino("GatherElements", 15, { axis: 0 }), () => [f32(8), i64([1], -1)]],
  ] as const).map(([title, node, inputs]): Row => ({
    name: `negative indices in ${title}`,
    node,
    inputs,
    code: "index-out-of-range",
    says: new RegExp(`^${title}: indices\\[0(?:, 0)?\\] is -1, but axis 0 of data \\[8\\] takes 0\\.\\.7$`),
    fields: { expected: [0, 7] },
  })),
  { name: "Gather-8 counts from the back, but GatherND-8 has no zeros for what is out of range", node: openvino("GatherND", 8), inputs: () => [f32(8), i64([1, 1], 8)], code: "index-out-of-range", says: "takes -8..7" },
  { name: "uint64 indices beyond int64", node: openvino("GatherND", 8), inputs: () => [f32(8), tensor("uint64", [1, 1], [2n ** 64n - 1n])], code: "index-out-of-range", says: "indices[0, 0] is 18446744073709551615", fields: { got: 2n ** 64n - 1n } },
  // Duplicates.
  { name: "a repeated slice along an axis", node: openvino("ScatterUpdate", 3), inputs: () => [f32(2, 3), i64([2, 1], 1, 1), f32(2, 2, 1), i64([], 1)], options: () => ({ duplicates: "error" }), code: "duplicate-index", says: "indices[1, 0] has the target of indices[0, 0], data[0, 1]", fields: { at: [1, 0] } },
  { name: "a repeated tuple", node: nd(18), inputs: () => [f32(8, 2), i64([3, 1], 1, 0, 1), f32(3, 2)], options: () => ({ duplicates: "error" }), code: "duplicate-index", says: "indices[2] has the target of indices[0]", fields: { input: "indices", at: [2] } },
  { name: "a repeated target, once from the back", node: nd(18), inputs: () => [f32(8), i64([2, 1], -1, 7), f32(2)], options: () => ({ duplicates: "error" }), code: "duplicate-index", says: "indices[1]" },
  { name: "a repeated element", node: elements(18, { axis: 1 }), inputs: () => [f32(2, 3), i64([2, 2], 0, 1, 2, -1), f32(2, 2)], options: () => ({ duplicates: "error" }), code: "duplicate-index", says: "indices[1, 1] has the target of indices[1, 0], data[1, 2]", fields: { at: [1, 1] } },
  // Out.
  { name: "out of another type", node: nd(18), inputs: ok, options: () => ({ out: zeros("float64", [8]) }), code: "dtype", says: "out must be float32, got float64", fields: { input: "out" } },
  { name: "out of another shape", node: nd(18), inputs: ok, options: () => ({ out: f32(2, 4) }), code: "shape-mismatch", says: "out must have the shape of the result, [8], got [2, 4]", fields: { expected: [8] } },
  { name: "out that is updates", node: nd(18), inputs: () => [f32(2), i64([2, 1], 0, 1), f32(2)], options: (inputs) => ({ out: inputs[2] as Tensor }), code: "overlap", says: "out shares memory with updates", fields: { input: "out" } },
  { name: "out over a part of data", node: nd(18), inputs: () => [tensor("float32", [8], new Float32Array(9).subarray(0, 8)), i64([1, 1], 0), f32(1)], options: ([data]) => ({ out: tensor("float32", [8], new Float32Array((data as Tensor<"float32">).data.buffer, 4, 8)) }), code: "overlap", says: "it may be all of it, but not a part" },
  { name: "a gather in place", node: gather(13), inputs: () => [f32(2), i64([2, 1], 0, 1)], options: ([data]) => ({ out: data as Tensor }), code: "overlap", says: "a gather cannot work in place" },
  { name: "out in the memory of indices", node: nd(18), inputs: () => [zeros("int64", [2]), i64([2, 1], 0, 1), zeros("int64", [2])], options: ([, indices]) => ({ out: tensor("int64", [2], (indices as Tensor<"int64">).data) }), code: "overlap", says: "indices" },
  { name: "strings in place of updates", node: nd(18), inputs: () => [zeros("string", [1]), i64([1, 1], 0), zeros("string", [1])], options: (inputs) => ({ out: inputs[2] as Tensor }), code: "overlap", says: "updates" },
  // Memory that is gone.
  { name: "detached data", node: nd(18), inputs: () => { const [data, indices, updates] = ok(); return [detached(data), indices, updates]; }, code: "disposed", says: "the memory of data is gone", fields: { input: "data" } },
  { name: "detached indices", node: nd(18), inputs: () => { const [data, indices, updates] = ok(); return [data, detached(indices), updates]; }, code: "disposed", says: "the memory of indices" },
  { name: "detached out", node: nd(18), inputs: ok, options: () => ({ out: detached(f32(8)) }), code: "disposed", says: "the memory of out" },
];

for (const { name, node, inputs: make, options, code, says, fields = {} } of ROWS) {
  for (const [engineName, engine] of Object.entries(ENGINES)) {
    test(`${name}: ${code}, on ${engineName}`, () => {
      const inputs = make();
      const given = options?.(inputs);
      assert.throws(
        () => run(node, inputs, { ...given, engine }),
        (error) => {
          assert.ok(isTensorError(error), String(error));
          assert.equal(error.code, code, error.message);
          if (typeof says === "string") assert.ok(error.message.includes(says), error.message);
          else assert.match(error.message, says);
          for (const [field, value] of Object.entries(fields)) {
            assert.deepEqual(Reflect.get(error, field), value, field);
          }
          return true;
        },
      );
    });
  }
}

test("after an error in the last index, out is what it was, in place too", () => {
  const indices = i64([3, 1], 0, 1, 8);
  const updates = full("float32", [3], 5);
  for (const reduction of ["none", "add", "max"]) {
    const data = full("float32", [8], 1);
    const out = full("float32", [8], 2);
    assert.throws(() => run(nd(18, { reduction }), [data, indices, updates], { out }));
    assert.throws(() => run(nd(18, { reduction }), [data, indices, updates], { out: data }));
    assert.ok(equals(out, full("float32", [8], 2)));
    assert.ok(equals(data, full("float32", [8], 1)));
  }
});

test("strings that outgrow what a string holds leave out as it was, data itself or not", () => {
  const big = "x".repeat(2 ** 28);
  for (const inPlace of [true, false]) {
    const data = tensor("string", [2], ["a", big]);
    const out = inPlace ? data : tensor("string", [2], ["p", "q"]);
    const before = [...out.data];
    const inputs = [data, i64([4, 1], 0, 1, 1, 1), tensor("string", [4], ["b", big, big, big])];
    assert.throws(
      () => run(nd(18, { reduction: "add" }), inputs, { out }),
      (error) => isTensorError(error, "too-large") && error.op === "ScatterND",
    );
    assert.deepEqual(out.data, before);
  }
});

test("any number of empty tuples over empty data does nothing, in no time", () => {
  const [output] = run(nd(18), [f32(0), i64([2 ** 40, 0]), f32(2 ** 40, 0)]);
  assert.deepEqual(output.shape, [0]);
});

test("batches without offsets take no time, however many", () => {
  const empty = () => f32(2 ** 52, 0);
  const indices = zeros("int64", [2 ** 52, 0]);
  for (const duplicates of ["last", "error"] as const) {
    const [output] = run(elements(18, { axis: 1 }), [empty(), indices, empty()], { duplicates });
    assert.equal(output.size, 0);
  }
  run(elements(18, { axis: 1, reduction: "add" }), [empty(), indices, empty()]);
});

test("an empty out within the memory of indices overlaps nothing", () => {
  const indices = i64([2, 1], 0, 1);
  const out = tensor("float32", [2, 0], new Float32Array(indices.data.buffer, 8, 0));
  assert.equal(run(gather(13), [f32(2, 0), indices], { out })[0], out);
});

test("the rows of the registry cannot be changed", () => {
  const row = resolve(nd(18));
  assert.throws(() => Object.assign(row, { sinceVersion: 99 }), TypeError);
  assert.throws(() => Object.assign(row.inputs, { length: 0 }), TypeError);
});

/** Arguments that the compiler would not let through. */
const loose = { run, infer, resolve, scatterND, equals } as Record<
  string,
  (...args: unknown[]) => unknown
>;
const odd: readonly (readonly [string, unknown[], ErrorCode])[] = [
  ["run", [null, []], "unknown-operator"],
  ["run", [{ op: null, opset: 18 }, []], "unknown-operator"],
  ["run", [{ op: "ScatterND", opset: "18" }, []], "unknown-operator"],
  ["run", [nd(18)], "shape-mismatch"],
  ["run", [nd(18), ok(), null], "attribute"],
  ["run", [{ op: "ScatterND", opset: 18, attributes: null }, ok()], "attribute"],
  ["run", [nd(18), ok(), { out: null }], "dtype"],
  ["infer", [nd(18), [null, null, null]], "dtype"],
  ["infer", [nd(18), null], "shape-mismatch"],
  ["infer", [nd(18), [{ dtype: "float32", shape: Array(65).fill(null) }, {}, {}]], "rank"],
  ["resolve", [{}], "unknown-operator"],
  ["resolve", [{ domain: 5n, op: "ScatterND", opset: 18 }], "unknown-operator"],
  ["scatterND", [f32(2), [[0]], [1], null], "attribute"],
  ["scatterND", [f32(2), [[0]], undefined], "dtype"],
  ["scatterND", [[1, 2], [[0]], [1]], "dtype"],
  ["scatterND", [f32(2), [[NaN]], [1]], "dtype"],
  ["scatterND", [f32(2), [[2 ** 40]], [1]], "index-out-of-range"],
  ["scatterND", [f32(2), [[2n ** 64n]], [1]], "dtype"],
  ["scatterND", [f32(2), [[0]], [Object.create(null)]], "dtype"],
  ["scatterND", [f32(2), [[0]], [1], { reductions: "add" }], "attribute"],
  ["equals", [f32(2), { dtype: "float32" }], "dtype"],
  ["run", [nd(18), ok(), { engine: {} }], "engine"],
  ["run", [nd(18), ok(), { engine: null }], "engine"],
  ["run", [nd(18), ok(), 5], "attribute"],
];
for (const [name, args, code] of odd) {
  test(`${name} of odd arguments: ${code}`, () => {
    assert.throws(
      () => loose[name](...args),
      (error) => isTensorError(error, code) || assert.fail(String(error)),
    );
  });
}

test("infer is as strict as run", () => {
  assert.throws(
    () =>
      infer(nd(18), [
        { dtype: "float32", shape: [-1] },
        { dtype: "int64", shape: null },
        { dtype: "float32", shape: null },
      ]),
    (error) => isTensorError(error, "shape-mismatch"),
  );
  assert.throws(
    () =>
      infer(nd(18), [
        { dtype: "float" as "float32", shape: null },
        { dtype: "int64", shape: null },
        { dtype: "float32", shape: null },
      ]),
    (error) => isTensorError(error, "dtype"),
  );
});

test("an error of a caller's own code is the cause of a TensorError", () => {
  const cause = new RangeError("mine");
  const list = Object.defineProperty([0], 0, {
    get: () => {
      throw cause;
    },
  });
  assert.throws(
    () => tensor("int8", [1], list),
    (error) => isTensorError(error, "dtype") && error.cause === cause,
  );
});

test("isTensorError takes anything", () => {
  const error = new TensorError("dtype", "x");
  assert.ok(isTensorError(error) && isTensorError(error, "rank", "dtype"));
  assert.ok(!isTensorError(error, "rank"));
  const { proxy, revoke } = Proxy.revocable(error, {});
  assert.ok(isTensorError(proxy));
  revoke();
  const named = Object.assign(new Error("x"), { name: "TensorError" });
  const odd = [
    proxy,
    named,
    { ...named, code: Symbol("dtype") },
    Object.assign(named, { code: "toString" }),
  ];
  for (const one of [...odd, new Error("x"), null, { name: "TensorError", code: "dtype" }]) {
    assert.ok(!isTensorError(one));
  }
});

test("an error has the fields that there are, and no others", () => {
  const fields = { op: "Gather", opset: 13, at: [1], other: 1, message: "no" };
  const error = new TensorError("dtype", "x", fields);
  assert.deepEqual(
    { ...error },
    { name: "TensorError", code: "dtype", op: "Gather", opset: 13, at: [1] },
  );
  assert.equal(error.message, "Gather-13: x");
});

test("a message quotes the beginning of long text", () => {
  const quote = `"${"x".repeat(200)}"... is no data type`;
  assert.throws(
    () => Reflect.apply(zeros, undefined, ["x".repeat(1e6), [1]]),
    (error) => isTensorError(error, "dtype") && error.message.startsWith(quote),
  );
});
