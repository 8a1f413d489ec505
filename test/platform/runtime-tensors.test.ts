/** Tensors of onnxruntime, which have `type`, `dims` and `data`: what a call writes to, and how they are made. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../../src/core/create-engine.ts";
import { run } from "../../src/core/functions.ts";
import { isTensorError, type ErrorCode } from "../../src/core/errors.ts";
import { DTYPE_NAMES, DTYPES } from "../../src/core/tensor/dtype.ts";
import {
  tensor,
  toRuntime,
  zeros,
  type RuntimeTensor,
  type Tensor,
} from "../../src/core/tensor/tensor.ts";
import { ENGINES } from "../support/engines.ts";
import { assertRefused } from "../support/refusal.ts";

type Call = (engine: Engine, out: RuntimeTensor) => Tensor | Promise<Tensor>;

const data = tensor("float32", [3, 2], [1, 2, 3, 4, 5, 6]);
const row = tensor("int64", [1, 1], [2]);
const one = tensor("int64", [1, 2], [[2, 0]]);
const update = tensor("float32", [1, 2], [7, 8]);
const cache = tensor("float32", [1, 3, 1], [1, 2, 3]);
const scatterNode = { op: "ScatterND", opset: 18, attributes: {} };
const gatherNode = { op: "GatherND", opset: 13, attributes: {} };

// prettier-ignore
const CALLS: Readonly<Record<string, readonly [shape: number[], expected: number[], call: Call]>> = {
  scatterND: [[3, 2], [1, 2, 3, 4, 7, 8], (nd, out) => nd.scatterND(data, row, update, { out })],
  scatterElements: [[3, 2], [1, 8, 3, 4, 7, 6], (nd, out) => nd.scatterElements(data, one, update, { out })],
  scatter: [[3, 2], [1, 8, 3, 4, 7, 6], (nd, out) => nd.scatter(data, one, update, { out })],
  gatherND: [[1, 2], [5, 6], (nd, out) => nd.gatherND(data, row, { out })],
  gatherElements: [[1, 2], [5, 2], (nd, out) => nd.gatherElements(data, one, { out })],
  gather: [[1, 2], [5, 6], (nd, out) => nd.gather(data, [2], { out })],
  tensorScatter: [[1, 3, 1], [1, 9, 3], (nd, out) => nd.tensorScatter(cache, [[[9]]], [1], { out })],
  "run of ScatterND": [[3, 2], [1, 2, 3, 4, 7, 8], (engine, out) => run(scatterNode, [data, row, update], { out, engine })[0]],
  "run of GatherND": [[1, 2], [5, 6], (engine, out) => run(gatherNode, [data, row], { out, engine })[0]],
  "scatter of a kept plan": [[3, 2], [1, 2, 3, 4, 7, 8], (nd, out) => nd.planScatterND([3, 2], row).scatter(data, update, { out })],
  "gather of a kept plan": [[1, 2], [5, 6], (nd, out) => nd.planGatherND([3, 2], row).gather(data, { out })],
  "async.scatterND": [[3, 2], [1, 2, 3, 4, 7, 8], (nd, out) => nd.async.scatterND(data, row, update, { out })],
  "async.gather": [[1, 2], [5, 6], (nd, out) => nd.async.gather(data, [2], { out })],
  "async.tensorScatter": [[1, 3, 1], [1, 9, 3], (nd, out) => nd.async.tensorScatter(cache, [[[9]]], [1], { out })],
};

for (const [name, engine] of Object.entries(ENGINES)) {
  for (const [call, [dims, expected, write]] of Object.entries(CALLS)) {
    test(`${call} writes into a tensor of onnxruntime, on ${name}`, async () => {
      const out = { type: "float32", dims, data: new Float32Array(expected.length).fill(-1) };
      const result = await write(engine, out);
      assert.deepEqual([...out.data], expected);
      assert.equal(result.data, out.data);
      assert.deepEqual([result.dtype, result.shape], ["float32", dims]);
    });
  }
}

test("data of onnxruntime is written in place", () => {
  const [engine] = Object.values(ENGINES);
  const own = { type: "int64", dims: [3], data: BigInt64Array.of(1n, 2n, 3n) };
  engine.scatterND(own, [[1]], [5], { out: own, reduction: "add" });
  assert.deepEqual(own.data, BigInt64Array.of(1n, 7n, 3n));
});

// prettier-ignore
const REFUSED: readonly (readonly [code: ErrorCode, out: RuntimeTensor])[] = [
  ["dtype", { type: "float64", dims: [1, 2], data: new Float64Array(2) }],
  ["dtype", { type: "float32", dims: [1, 2], data: new Float64Array(2) }],
  ["shape-mismatch", { type: "float32", dims: [2, 1], data: new Float32Array(2) }],
  ["shape-mismatch", { type: "float32", dims: [1, 2], data: new Float32Array(3) }],
  ["overlap", { type: "float32", dims: [1, 2], data: data.data.subarray(0, 2) }],
];

for (const [number, [code, out]] of REFUSED.entries()) {
  test(`a gather refuses a tensor of onnxruntime that cannot be its output (${number})`, () => {
    const [engine] = Object.values(ENGINES);
    assert.throws(
      () => engine.gatherND(data, row, { out }),
      (error) => isTensorError(error, code) && error.input === "out",
    );
  });
}

/** `NUMERIC_TENSOR_TYPE_TO_TYPEDARRAY_MAP` of onnxruntime-common 1.30, where there is no Float16Array, and text. */
const CLASSES: Readonly<Record<string, unknown>> = {
  ...{ bool: Uint8Array, uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array },
  ...{ int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array },
  ...{ uint64: BigUint64Array, float16: Uint16Array, float32: Float32Array, float64: Float64Array },
  ...{ uint4: Uint8Array, int4: Uint8Array, string: Array },
};

for (const dtype of DTYPE_NAMES) {
  test(`${dtype} for onnxruntime has its class of data, or is refused`, () => {
    const given: Tensor = zeros(dtype, [2, 3]);
    if (!Object.hasOwn(CLASSES, dtype)) {
      assertRefused("dtype", {}, () => toRuntime(given));
      return;
    }
    const { type, dims, data, location } = toRuntime(given);
    assert.deepEqual([type, dims, location], [dtype, [2, 3], "cpu"]);
    assert.equal(data.constructor, CLASSES[dtype]);
    const isPacked = "bits" in DTYPES[dtype];
    assert.equal(data.length, isPacked ? 3 : 6);
    assert.equal(data === given.data, !isPacked);
  });
}

test("types of 4 bits have two elements in a byte for onnxruntime, the first in its low bits", () => {
  assert.deepEqual(toRuntime(tensor("uint4", [3], [1, 15, 2])).data, Uint8Array.of(0xf1, 0x02));
  assert.deepEqual(toRuntime(tensor("int4", [3], [-1, 7, -8])).data, Uint8Array.of(0x7f, 0x08));
});

test("a tensor without memory, and what is no tensor, are refused", () => {
  const [engine] = Object.values(ENGINES);
  const gone = engine.alloc("float32", [1]);
  gone.dispose();
  assert.throws(
    () => toRuntime(gone),
    (error) => isTensorError(error, "disposed"),
  );
  assert.throws(
    () => toRuntime([1] as never),
    (error) => isTensorError(error, "dtype"),
  );
});
