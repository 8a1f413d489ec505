/** The arguments of `tensor`: values with and without a shape and a data type, bytes, and names of other libraries. */

import assert from "node:assert/strict";
import { test } from "node:test";
import vm from "node:vm";
import type { ErrorCode } from "../../src/core/errors.ts";
import { full, tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { nodeBuffer } from "../support/node-buffer.ts";
import { assertCode, assertRefused, type Facts } from "../support/refusal.ts";

const call = (...args: readonly unknown[]): Tensor => Reflect.apply(tensor, undefined, args);

const itself: unknown[] = [];
itself.push(itself);
const halves = {
  [Symbol.toStringTag]: "Float16Array",
  buffer: new ArrayBuffer(4),
  byteOffset: 0,
  length: 2,
};

// prettier-ignore
const MADE: readonly (readonly [args: readonly unknown[], dtype: string, shape: readonly number[], values: unknown])[] = [
  [[Float32Array.of(1, 2, 3, 4), [2, 2]], "float32", [2, 2], [[1, 2], [3, 4]]],
  [[Float64Array.of(1, 2)], "float64", [2], [1, 2]],
  [[Int8Array.of(-1)], "int8", [1], [-1]],
  [[Int16Array.of(-1)], "int16", [1], [-1]],
  [[Int32Array.of(-1)], "int32", [1], [-1]],
  [[BigInt64Array.of(-1n)], "int64", [1], [-1n]],
  [[Uint8Array.of(255)], "uint8", [1], [255]],
  [[Uint8ClampedArray.of(255)], "uint8", [1], [255]],
  [[Uint16Array.of(1)], "uint16", [1], [1]],
  [[Uint32Array.of(1)], "uint32", [1], [1]],
  [[BigUint64Array.of(1n)], "uint64", [1], [1n]],
  [[halves, [2, 1]], "float16", [2, 1], [[0], [0]]],
  [[vm.runInNewContext("Int32Array.of(1, 2)")], "int32", [2], [1, 2]],
  [[new Float32Array(0)], "float32", [0], []],
  [[new Float32Array(0), [0, 3]], "float32", [0, 3], []],
  [[Int32Array.of(1, 2), "int64"], "int64", [2], [1n, 2n]],
  [[[[1, 2], [3, 4]]], "float32", [2, 2], [[1, 2], [3, 4]]],
  [[[1, 2, 3, 4], [2, 2]], "float32", [2, 2], [[1, 2], [3, 4]]],
  [[[[1, 2], [3, 4]], [2, 2]], "float32", [2, 2], [[1, 2], [3, 4]]],
  [[[[0], [2]], "int32"], "int32", [2, 1], [[0], [2]]],
  [[[0, 2], [2, 1], "int64"], "int64", [2, 1], [[0n], [2n]]],
  [[[0, 2], undefined, "int64"], "int64", [2], [0n, 2n]],
  [[[[1, 2], [3, 4]], "complex64"], "complex64", [2], [[1, 2], [3, 4]]],
  [[[[1n], [2n]]], "int64", [2, 1], [[1n], [2n]]],
  [[[true, false]], "bool", [2], [true, false]],
  [[["a", "b"]], "string", [2], ["a", "b"]],
  [[[Int16Array.of(1, 2), Int16Array.of(3, 4)]], "int16", [2, 2], [[1, 2], [3, 4]]],
  [[[]], "float32", [0], []],
  [[[[], []]], "float32", [2, 0], [[], []]],
  [[7], "float32", [], 7],
  [[7n], "int64", [], 7n],
  [[true], "bool", [], true],
  [["uint8", [4], nodeBuffer(Uint8Array.of(1, 2, 3, 4))], "uint8", [4], [1, 2, 3, 4]],
  [["int32", [2], Uint8Array.of(1, 2)], "int32", [2], [1, 2]],
];

for (const [row, [args, dtype, shape, values]] of MADE.entries()) {
  test(`arguments of tensor, row ${row}: ${dtype} [${shape}]`, () => {
    const made = call(...args);
    assert.deepEqual([made.dtype, made.shape], [dtype, shape]);
    if (made.size > 0) assert.deepEqual(made.toArray(), values);
  });
}

test("a typed array is not copied", () => {
  const values = Float32Array.of(1, 2);
  assert.equal(tensor(values).data, values);
  assert.equal(tensor(values, [2, 1]).data, values);
});

const raw = nodeBuffer(Int32Array.of(1, 2));
const otherBuffer = Object.setPrototypeOf(
  vm.runInNewContext("new Uint8Array(8)"),
  vm.runInNewContext("Object.create(Uint8Array.prototype, { readInt32LE: { value() {} } })"),
);

// prettier-ignore
const REFUSED: readonly (readonly [args: readonly unknown[], code: ErrorCode, fields: Facts])[] = [
  [[[[1, 2], [3]]], "shape-mismatch", { key: "values", axis: 1, got: 1, size: 2 }],
  [[[1, [2]]], "shape-mismatch", { key: "values", at: [1] }],
  [[[[1], 2]], "shape-mismatch", { key: "values", axis: 1, got: 2, size: 1 }],
  [[[1, 2, 3], [2, 2]], "shape-mismatch", { got: 3, expected: [2, 2] }],
  [[Float32Array.of(1, 2, 3), [2, 2]], "shape-mismatch", { got: 3, expected: [2, 2] }],
  [[[[1, 2], [3, 4]], [4]], "shape-mismatch", { expected: [4] }],
  [[[1, 2n]], "dtype", { key: "values", at: [1], expected: "number" }],
  [[[1n, 2]], "dtype", { key: "values", at: [1], got: 2, expected: "bigint" }],
  [[[[true], [1]]], "dtype", { key: "values", at: [1, 0], got: 1, expected: "boolean" }],
  [[["a", 1]], "dtype", { key: "values", at: [1], got: 1, expected: "string" }],
  [[[1, null]], "dtype", { key: "values", at: [1], got: null, expected: "number" }],
  [[[null]], "dtype", { key: "values", got: null }],
  [[[undefined]], "dtype", { key: "values", at: [0] }],
  [[itself], "rank", { limit: 64 }],
  [[], "dtype", { key: "values" }],
  [[null], "dtype", { key: "values", got: null }],
  [[{}], "dtype", { key: "values", got: "an object" }],
  [[new Set([1])], "dtype", { key: "values", got: "a Set" }],
  [[Promise.resolve([1])], "dtype", { key: "values", got: "a Promise (await it)" }],
  [[new DataView(new ArrayBuffer(4))], "dtype", { key: "values", got: "a DataView", expected: "Int32Array" }],
  [[zeros("float32", [1])], "dtype", { key: "values" }],
  [[[1, 2], "i32"], "dtype", { key: "dtype", got: "i32", nearest: "int32" }],
  [[[1, 2], [2], 5], "dtype", { key: "dtype", got: 5 }],
  [[Float32Array.of(1, 2), 2], "shape-mismatch", { key: "shape", got: 2 }],
  [["float32", 2, Float32Array.of(1, 2)], "shape-mismatch", { key: "shape", got: 2 }],
  [["float32", Float32Array.of(1, 2), [2]], "shape-mismatch", { key: "shape", got: "a Float32Array" }],
  [["float32", [2]], "shape-mismatch", { key: "values" }],
  [["int32", [[1], [2]]], "shape-mismatch", { key: "values" }],
  [[raw], "dtype", { key: "values", got: "a Buffer", expected: "Int32Array" }],
  [[otherBuffer], "dtype", { key: "values", got: "a Buffer", expected: "Int32Array" }],
  [[[raw]], "dtype", { key: "values", got: "a Buffer" }],
  [[raw.buffer], "dtype", { key: "values", got: "an ArrayBuffer", expected: "Int32Array" }],
  [["int32", [2], raw], "dtype", { got: "a Buffer", expected: "Int32Array" }],
  [["float32", [8], raw], "dtype", { got: "a Buffer", expected: "Float32Array" }],
  [["int64", [1, 8], [raw]], "dtype", { got: "a Buffer", expected: "BigInt64Array" }],
  [["float64", [1], raw.buffer], "dtype", { got: "an ArrayBuffer", expected: "Float64Array" }],
  [["uint8", [8], new SharedArrayBuffer(8)], "dtype", { got: "a SharedArrayBuffer", expected: "Uint8Array" }],
  [["int32", [2], new Uint8Array(8)], "dtype", { got: "a Uint8Array", expected: "Int32Array" }],
];

for (const [row, [args, code, fields]] of REFUSED.entries()) {
  test(`arguments that tensor refuses, row ${row}: ${code}`, () => {
    assertRefused(code, fields, () => call(...args));
  });
}

test("full and zeros refuse missing and exchanged arguments", () => {
  const refused = (code: ErrorCode, fields: Facts, make: object, ...args: unknown[]) =>
    assertRefused(code, fields, () =>
      Reflect.apply(make as typeof zeros, undefined, args as never),
    );
  refused("shape-mismatch", { key: "values" }, full, "float32", [2]);
  refused("shape-mismatch", { key: "shape", got: 12 }, zeros, "float32", 12);
  refused("dtype", { key: "dtype", got: "a list" }, zeros, [4, 3], "float32");
  refused("dtype", { key: "dtype", got: 4 }, zeros, 4, 3);
});

/** Names that people type, and the data type that each names in its own system. */
const NAMES = {
  float16: "f16 fp16 half torch.half torch.float16 Float16Array",
  bfloat16: "bf16 torch.bfloat16 ml_dtypes.bfloat16 BFLOAT16",
  float32:
    "f32 fp32 float single number torch.float32 np.float32 Float32Array tensor(float) FLOAT flaot32",
  float64: "f64 double torch.double np.double Float64Array tensor(double)",
  int8: "i8 torch.int8 int8_t Int8Array",
  int16: "i16 short",
  int32: "i32 int int_ int32_t np.int32 torch.int Int32Array",
  int64: "i64 long bigint torch.long np.int64 BigInt64Array tensor(int64)",
  uint8: "u8 byte torch.uint8 uint8_t Uint8Array",
  uint16: "u16 np.uint16",
  uint32: "u32 uint",
  uint64: "u64 BigUint64Array",
  bool: "bool_ boolean torch.bool Boolean",
  string: "str String",
  complex64: "torch.complex64 complex",
  float8e4m3fn: "float8 f8e4m3 torch.float8_e4m3fn",
  float8e5m2: "f8e5m2 torch.float8_e5m2",
  int4: "i4",
} as const;

for (const [nearest, names] of Object.entries(NAMES)) {
  test(`the data type ${nearest} is offered for ${names}`, () => {
    for (const got of names.split(" ")) {
      assertCode("dtype", { key: "dtype", got, nearest }, () => call(got, [1], [1]));
    }
  });
}
