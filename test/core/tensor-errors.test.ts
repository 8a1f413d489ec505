/** What errors of tensors say to programs: which input, where, what was found and what was expected. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { isTensorError, type ErrorCode, type ErrorFields } from "../../src/core/errors.ts";
import { DTYPE_NAMES } from "../../src/core/tensor/dtype.ts";
import {
  asTensor,
  fromNested,
  viewAsTensor,
  zeros,
  type Tensor,
} from "../../src/core/tensor/tensor.ts";
import { withMemoryGone } from "../support/error-rows.ts";
import { reportSentence } from "../support/sentences.ts";

const WHO = { op: "ScatterND", opset: 18 } as const;

/** Checks the code and exactly these fields, with those of the call that passed the value. */
function assertFails(code: ErrorCode, fields: ErrorFields, call: () => unknown): void {
  assert.throws(call, (error) => {
    assert.ok(isTensorError(error, code), String(error));
    const { name: _, code: found, ...others } = error;
    assert.deepEqual([found, others], [code, { ...WHO, input: "updates", ...fields }]);
    reportSentence(code, error.message);
    return true;
  });
}

const fail = (): never => {
  throw new RangeError("the caller's own error");
};
const throwing = new Proxy([1], { get: fail });
const gone = withMemoryGone(zeros("float32", [2]));
const disposed = zeros("float32", [2]);
disposed.dispose();

/** Parts of an object that is like a tensor, and what the error of it holds. */
// prettier-ignore
const ROWS: readonly (readonly [
  dtype: unknown, shape: unknown, data: unknown, code: ErrorCode, fields: ErrorFields,
])[] = [
  ["uint8", [2, 2], [0, 1, 2, 300], "dtype", { at: [1, 1], got: 300, expected: "uint8" }],
  ["uint8", [2, 2], [[0, 1], [2, 300]], "dtype", { at: [1, 1], got: 300, expected: "uint8" }],
  ["uint8", [2], [0, 2n ** 64n], "dtype", { at: [1], got: 2n ** 64n, expected: "uint8" }],
  ["uint8", [2], ["0", 1], "dtype", { at: [0], got: "0", expected: "uint8" }],
  ["uint8", [2], Float32Array.of(0, 1.5), "dtype", { at: [1], got: 1.5, expected: "uint8" }],
  ["complex64", [2], [1, 2, "3", 4], "dtype", { at: [1], got: "3", expected: "complex64" }],
  ["complex64", [2], [1, 2, 3, "4"], "dtype", { at: [1], got: "4", expected: "complex64" }],
  ["complex64", [2], [[1, 2], [3, "4"]], "dtype", { at: [1], got: "a list", expected: "complex64" }],
  ["bool", [2, 1], Uint8Array.of(1, 2), "dtype", { at: [1, 0], got: 2, expected: "bool" }],
  ["float32", [2, 2], [1, 2, 3], "shape-mismatch", { got: 3, expected: [2, 2] }],
  ["float32", [2, 2], Float32Array.of(1), "shape-mismatch", { got: 1, expected: [2, 2] }],
  ["float32", [2, 2], [[1, 2], [3]], "shape-mismatch", { axis: 1, got: 1, size: 2, expected: [2, 2] }],
  ["float32", [2], [1, [2]], "shape-mismatch", { at: [1], expected: [2] }],
  ["float32", [2, 1], [[[1]]], "shape-mismatch", { expected: [2, 1] }],
  ["float32", [2], [throwing, 1], "dtype", {}],
  ["float32", [0], gone.data, "disposed", {}],
  ["float16", [2], { [Symbol.toStringTag]: "Float16Array", buffer: 5 }, "disposed", {}],
  ["float31", [1], [1], "dtype", { got: "float31", allowed: DTYPE_NAMES, nearest: "float32" }],
  ["matrix", [1], [1], "dtype", { got: "matrix", allowed: DTYPE_NAMES }],
  ["float32", 5, [1], "shape-mismatch", { got: 5 }],
  ["float32", throwing, [1], "shape-mismatch", {}],
  ["float32", [-1], [1], "shape-mismatch", { axis: 0, got: -1 }],
  ["float32", [2 ** 40], [1], "too-large", { got: 2 ** 40, limit: 2 ** 32 - 1 }],
  ["float32", Array(65).fill(1), [1], "rank", { got: 65, limit: 64 }],
  ["float32", [1], 5, "dtype", { got: "an object" }],
];

for (const [row, [dtype, shape, data, code, fields]] of ROWS.entries()) {
  test(`${String(dtype)}, row ${row}: ${code} ${Object.keys(fields)}`, () => {
    assertFails(code, fields, () => asTensor({ dtype, shape, data }, WHO, "updates"));
  });
}

/** Values that are no tensors, or no longer, as a whole. */
const WHOLES: readonly (readonly [
  name: string,
  value: unknown,
  code: ErrorCode,
  fields?: ErrorFields,
])[] = [
  ["a number", 5, "dtype", { got: 5 }],
  ["an object that throws", new Proxy({}, { get: fail, has: fail }), "dtype"],
  ["an object whose data throws", Object.defineProperty({}, "data", { get: fail }), "disposed"],
  ["a tensor without its memory", gone, "disposed"],
  ["a tensor that was disposed of", disposed, "disposed"],
  ["a copy of one", { ...disposed }, "disposed"],
];

for (const [name, value, code, fields = {}] of WHOLES) {
  test(`${name} as updates: ${code}`, () => {
    assertFails(code, fields, () => asTensor(value, WHO, "updates"));
    assertFails(code, fields, () => viewAsTensor(value, WHO, "updates"));
  });
}

// prettier-ignore
const NESTED: readonly (readonly [dtype: Tensor["dtype"], values: unknown, shape: number[], data: ArrayLike<unknown>])[] = [
  ["float32", 5, [], [5]],
  ["string", "ab", [], ["ab"]],
  ["float32", [[1, 2]], [1, 2], [1, 2]],
  ["float32", Float32Array.of(1, 2), [2], [1, 2]],
  ["complex64", [1, 2], [], [1, 2]],
  ["complex64", [[1, 2], [3, 4], [5, 6]], [3], [1, 2, 3, 4, 5, 6]],
  ["complex64", [[[1, 2], [3, 4]]], [1, 2], [1, 2, 3, 4]],
  ["complex64", [Float32Array.of(1, 2)], [1], [1, 2]],
  ["complex64", Float32Array.of(1, 2, 3, 4), [2], [1, 2, 3, 4]],
  ["complex128", Float64Array.of(), [0], []],
  ["complex64", [], [0], []],
  ["complex64", [[], []], [2, 0], []],
];

for (const [dtype, values, shape, data] of NESTED) {
  test(`a list as ${dtype} has the shape [${shape}], ${JSON.stringify(values)}`, () => {
    const made = fromNested(dtype, values, {});
    assert.deepEqual([made.shape, [...made.data]], [shape, Array.from(data)]);
  });
}

test("a list that cannot be a tensor", () => {
  const fields = { ...WHO, input: "updates" };
  const refused = (code: ErrorCode, dtype: Tensor["dtype"], values: unknown, more: ErrorFields) =>
    assertFails(code, more, () => fromNested(dtype, values, fields));
  refused("shape-mismatch", "complex64", Float32Array.of(1, 2, 3), { got: 3, expected: [1] });
  refused("dtype", "float32", [1, throwing], {});
  refused("dtype", "float32", new Proxy([1], { get: fail }), {});
  refused("dtype", "complex64", 5, { got: 5, at: [], expected: "complex64" });
});
