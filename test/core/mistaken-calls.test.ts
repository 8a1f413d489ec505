/** Calls that people write by mistake: what the error says to programs. The sentences are in `sentences.txt`. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { infer } from "../../src/core/call/check.ts";
import { run, vjp } from "../../src/core/functions.ts";
import { createEngine } from "../../src/core/create-engine.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import * as functions from "../../src/core/functions.ts";
import { planGather } from "../../src/core/plan-functions.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { full, tensor, zeros } from "../../src/core/tensor/tensor.ts";
import { nodeBuffer } from "../support/node-buffer.ts";
import { assertRefused, type Facts } from "../support/refusal.ts";

const { scatterND, scatterElements, gather, gatherND, tensorScatter } = functions;
const data = zeros("float32", [4, 3]);
const long = zeros("float32", [300, 1]);
const indices = tensor("int64", [2, 1], [1, 2]);
const updates = tensor([
  [1, 2, 3],
  [4, 5, 6],
]);
const one = tensor([[1, 1, 1]]);
const node = { op: "ScatterND", opset: 18 };
const raw = nodeBuffer(Int32Array.of(1, 2));
const inputs = [data, indices, updates];
const promise = Promise.resolve(data);

type Function = (...args: never[]) => unknown;

// prettier-ignore
const ROWS: readonly (readonly [make: Function, args: readonly unknown[], code: ErrorCode, facts: Facts])[] = [
  // Bytes as indices.
  [gather, [data, raw], "dtype", { input: "indices", got: "a Buffer", expected: "Int32Array" }],
  [gather, [data, [raw]], "dtype", { input: "indices", got: "a Buffer", expected: "Int32Array" }],
  [gather, [data, raw.buffer], "dtype", { input: "indices", got: "an ArrayBuffer", expected: "Int32Array" }],
  [gather, [data, new DataView(raw.buffer)], "dtype", { input: "indices", got: "a DataView", expected: "Int32Array" }],
  [gather, [long, Uint8Array.of(1)], "dtype", { input: "indices", got: "a Uint8Array", expected: "Int32Array" }],
  [scatterND, [data, raw, updates], "dtype", { input: "indices", got: "a Buffer" }],
  [scatterND, [data, indices, nodeBuffer(Float32Array.of(1))], "dtype", { input: "updates", got: "a Buffer", expected: "Float32Array" }],
  [tensorScatter, [zeros("float32", [1, 4, 2]), [[[1, 2]]], raw], "dtype", { input: "write_indices", got: "a Buffer" }],
  [planGather, [[4, 3], raw], "dtype", { input: "indices", got: "a Buffer" }],
  [planGather, [[300], Uint8Array.of(1)], "dtype", { input: "indices", got: "a Uint8Array" }],
  // Inputs in the wrong order, missing, or not awaited.
  [scatterND, [data, updates, indices], "dtype", { input: "indices", got: "float32" }],
  [scatterND, [data, updates, [[1], [2]]], "dtype", { input: "indices", got: "float32" }],
  [scatterND, [data, [[1, 2, 3], [4, 5, 6]], indices], "dtype", { input: "updates", got: "int64" }],
  [scatterND, [data, [[1, 2, 3], [4, 5, 6]], [[1], [2]]], "rank", { input: "indices", got: 3 }],
  [run, [node, [data, updates, indices]], "dtype", { input: "indices", got: "float32" }],
  [scatterND, [data, indices], "dtype", { input: "updates", got: "undefined" }],
  [gather, [], "dtype", { input: "data", got: "undefined" }],
  [gather, [data, null], "dtype", { input: "indices", got: null }],
  [gather, [promise, [1]], "dtype", { input: "data", got: "a Promise (await it)" }],
  [gather, [data, promise], "dtype", { input: "indices", got: "a Promise (await it)" }],
  // Options.
  [scatterND, [...inputs, "add"], "attribute", { key: "options", got: '"add"' }],
  [scatterND, [...inputs, "sum"], "attribute", { key: "options" }],
  [gather, [data, [1], 1], "attribute", { key: "options", got: "1" }],
  [gather, [data, 1, [1]], "attribute", { key: "options", got: "a list" }],
  [scatterElements, [data, 1, indices, updates], "attribute", { key: "options", got: "a tensor" }],
  [scatterND, [...inputs, null], "attribute", { key: "options", got: "null" }],
  [scatterND, [...inputs, { reduce: "sum" }], "attribute", { key: "reduce", nearest: "reduction" }],
  [gather, [data, [1], { dim: 1 }], "attribute", { key: "dim", nearest: "axis" }],
  [gather, [data, [1], { axes: 1 }], "attribute", { key: "axes", nearest: "axis" }],
  [gather, [data, [1], { axis: "1" }], "attribute", { key: "axis", got: "1" }],
  [scatterND, [...inputs, { reduction: "sum" }], "reduction", { got: "sum", nearest: "add" }],
  [scatterND, [...inputs, { reduction: "amax" }], "reduction", { got: "amax", nearest: "max" }],
  [scatterND, [...inputs, { reduction: "Add" }], "reduction", { got: "Add", nearest: "add" }],
  [run, [node, inputs, { reduction: "add" }], "attribute", { key: "reduction", nearest: "node.attributes.reduction" }],
  [run, [node, inputs, { attributes: {} }], "attribute", { key: "attributes", nearest: "node.attributes" }],
  [scatterND, [...inputs, { op: "add" }], "attribute", { key: "op", nearest: "reduction" }],
  [scatterND, [...inputs, { mode: "add" }], "attribute", { key: "mode", nearest: "reduction" }],
  [scatterND, [...inputs, { inplace: true }], "attribute", { key: "inplace", nearest: "out" }],
  [scatterND, [...inputs, { reduction: "multiply" }], "reduction", { got: "multiply", nearest: "mul" }],
  [scatterND, [...inputs, { reduction: "maximum" }], "reduction", { got: "maximum", nearest: "max" }],
  [scatterND, [data, indices, { reduction: "add" }], "dtype", { input: "updates", got: "an object" }],
  [gather, [data, [1], "add"], "attribute", { key: "options", got: '"add"' }],
  [scatterND, [...inputs, 1], "attribute", { key: "options", got: "1" }],
  [createEngine, [4], "attribute", { key: "options", got: 4 }],
  // Iterators instead of lists.
  [gather, [data, [1, 2].values()], "dtype", { input: "indices", got: "an Array Iterator (use [...values])" }],
  [gather, [data, new Set([1]).values()], "dtype", { input: "indices", got: "a Set Iterator (use [...values])" }],
  [gather, [data, new Map([[1, 2]]).keys()], "dtype", { input: "indices", got: "a Map Iterator (use [...values])" }],
  // Creation of tensors.
  [zeros, ["float32", 3, 2], "shape-mismatch", { key: "arguments", got: '("float32", 3, 2)' }],
  [zeros, ["float32", [3], 2], "shape-mismatch", { key: "arguments", got: '("float32", a list, 2)' }],
  [full, ["float32", 1, [3]], "shape-mismatch", { key: "arguments", got: '("float32", 1, a list)' }],
  [full, ["float32", [3], [1]], "shape-mismatch", { key: "arguments" }],
  [full, ["float32", [3], Float32Array.of(1)], "shape-mismatch", { key: "arguments" }],
  [full, ["float32", [3], 1, 2], "shape-mismatch", { key: "arguments" }],
  [full, ["complex64", 1, [3]], "shape-mismatch", { key: "arguments" }],
  [full, [[3], "float32", 1], "dtype", { key: "dtype", got: "a list" }],
  [tensor, ["float32", [1], [1], 2], "shape-mismatch", { key: "arguments" }],
  [tensor, [[1, 2], { dtype: "int32" }], "dtype", { key: "dtype", got: "an object" }],
  [tensor, [[1, 2], Int32Array], "dtype", { key: "dtype", got: "a function" }],
  [tensor, ["string", [1], raw.buffer], "shape-mismatch", { key: "values", got: "an ArrayBuffer" }],
  [tensor, [data], "dtype", { key: "values", got: "an object" }],
  [tensor, [Uint8Array.of(0x93, 78, 85, 77, 80, 89, 1, 0)], "dtype", { key: "values", got: "a Uint8Array" }],
  [tensor, [nodeBuffer(Uint8Array.of(0x93, 78, 85, 77, 80, 89))], "dtype", { key: "values", got: "a Uint8Array" }],
  [tensor, [[1, 2], "f4"], "dtype", { key: "dtype", got: "f4", nearest: "float32" }],
  // Nodes.
  [run, [node, data, indices, updates], "shape-mismatch", { key: "inputs", got: "a tensor", expected: [3, 3] }],
  [run, [node, { data, indices, updates }], "shape-mismatch", { key: "inputs", got: "an object" }],
  [run, [node, Promise.resolve(inputs)], "shape-mismatch", { key: "inputs", got: "a Promise (await it)" }],
  [run, [node, [data, indices]], "shape-mismatch", { key: "inputs", got: 2 }],
  [run, ["ScatterND", inputs], "unknown-operator", { key: "node", got: "ScatterND" }],
  [run, [{ op: "ScatterND", opset: 99 }, inputs], "unknown-operator", { key: "opset", got: 99, expected: 29 }],
  [run, [{ op: "GatherND", domain: "openvino", opset: 17 }, [data, indices]], "unknown-operator", { got: 17, expected: 16 }],
  [infer, [{ op: "ScatterND", opset: 99 }, inputs], "unknown-operator", { key: "opset", got: 99 }],
  [run, [{ name: "ScatterND", opset: 18 }, inputs], "attribute", { key: "name", nearest: "op" }],
  [run, [{ ...node, reduction: "add" }, inputs], "attribute", { key: "reduction", nearest: "attributes" }],
  [run, [{ op_type: "ScatterND", opset: 18 }, inputs], "attribute", { key: "op_type", nearest: "op" }],
  [run, [{ op: "ScatterND" }, inputs], "unknown-operator", { key: "opset", got: "undefined" }],
  // Gradients.
  [vjp, ["scatterND", inputs, data, { reduction: "add" }], "attribute", { key: "reduction", nearest: "function" }],
  [vjp, [node, inputs, data, { reduction: "add" }], "attribute", { key: "reduction", nearest: "node.attributes.reduction" }],
  [vjp, ["Gather", [data, [1]], one], "unknown-operator", { key: "function", got: "Gather", nearest: "gather" }],
  [vjp, [{ function: "gatherNd" }, [data, [1]], one], "unknown-operator", { key: "function", nearest: "gatherND" }],
  [vjp, [{ function: { toString: null } }, [data, [1]], one], "unknown-operator", { key: "function", got: "an object" }],
  [vjp, [{ function: ["gather"] }, [data, [1]], one], "unknown-operator", { key: "function", got: "a list" }],
  [vjp, [gather, [data, [1]], one], "unknown-operator", { key: "function", got: "a function" }],
  [vjp, ["gather", data, [1], one], "shape-mismatch", { key: "inputs", got: "a tensor" }],
  [vjp, ["gather", [data, [1]]], "dtype", { input: "outputGradient" }],
];

for (const [row, [make, args, code, facts]] of ROWS.entries()) {
  test(`mistaken calls, row ${row}: ${code}`, () => {
    assertRefused(code, facts, () => Reflect.apply(make, undefined, args));
  });
}

test("the order of the inputs is named only where the inputs fit in another order", () => {
  const order = /the order of the inputs is data, indices, updates$/;
  const messageOf = (...args: unknown[]): string =>
    assertRefused("dtype", {}, () => Reflect.apply(scatterND, undefined, args)).message;
  assert.match(messageOf(data, updates, indices), order);
  assert.doesNotMatch(messageOf(data, tensor([[1], [2]]), updates), order);
  assert.doesNotMatch(messageOf(data, indices, tensor("int32", [2, 3], [1, 2, 3, 4, 5, 6])), order);
});

test("errors say how flat indices, scalars and missing batches are written", () => {
  const advice: readonly (readonly [make: Function, args: readonly unknown[], text: RegExp])[] = [
    [gatherND, [data, [1, 5]], /use lists such as \[\[0\], \[1\]\]$/],
    [scatterND, [data, [0, 2], [5, 6]], /use lists such as \[\[0\], \[1\]\]$/],
    [scatterElements, [data, [0, 2, 0], updates], /use gather or scatterND/],
    [gather, [data, tensor([3, 0])], /tensor\(…, "int64"\)$/],
    [tensorScatter, [zeros("float32", [4, 2]), [[7, 8]], [2]], /the shape \[1, 4, 2\]/],
    [tensorScatter, [zeros("float32", [1, 4, 2]), [[[7, 8]]], 2], /such as \[0\]$/],
    [zeros, ["float32", 3, 2], /such as \("float32", \[3, 2\]\)/],
    [tensor, [Uint8Array.of(0x93, 78, 85, 77, 80, 89)], /readNpy of ndscatter\/npy$/],
    [gather, [promise, [1]], /\(await it\)$/],
  ];
  for (const [make, args, text] of advice) {
    assert.throws(() => Reflect.apply(make, undefined, args), { message: text });
  }
});

test("a value of full may be a pair, and a tensor may hold the bytes of a file", () => {
  assert.deepEqual(full("complex64", [1], [3, 4]).toArray(), [[3, 4]]);
  const file = Uint8Array.of(0x93, 78, 85, 77, 80, 89);
  assert.deepEqual(tensor("uint8", [6], file).data, file);
});

test("bytes are indices of an axis that a byte can address", () => {
  const colours = zeros("float32", [256, 3]);
  assert.deepEqual(gather(colours, Uint8Array.of(255, 0)).shape, [2, 3]);
  assert.deepEqual(gather(long, Uint8Array.of(0), { axis: 1 }).shape, [300, 1]);
  assert.deepEqual(gather(long, Uint16Array.of(299)).shape, [1, 1]);
});

test("a gradient is computed for the name of a function", async () => {
  const [byName] = vjp("gather", [data, [1]], one);
  const [bySpec] = vjp({ function: "gather" }, [data, [1]], one);
  const [later] = await createEngine({ kind: "js" }).async.vjp("gather", [data, [1]], one);
  const expected = tensor([
    [0, 0, 0],
    [1, 1, 1],
    [0, 0, 0],
    [0, 0, 0],
  ]);
  for (const gradient of [byName, bySpec, later]) assert.ok(gradient && equals(gradient, expected));
});

test("typed arrays are indices and updates", () => {
  const row = tensor([
    [0, 0, 0],
    [1, 2, 3],
    [0, 0, 0],
    [0, 0, 0],
  ]);
  for (const ids of [Int32Array.of(1), BigInt64Array.of(1n), [1], [1n]]) {
    assert.ok(equals(scatterND(data, ids, Float32Array.of(1, 2, 3)), row));
  }
  assert.deepEqual(gatherND(row, [Int32Array.of(1, 0), Int32Array.of(1, 2)]).toArray(), [1, 3]);
});
