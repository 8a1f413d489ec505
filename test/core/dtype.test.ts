/**
 * The table of data types against the documents: ONNX's `onnx.proto` (`TensorProto.DataType`, and which typed field
 * holds which type) with the names of its type constraints, and OpenVINO's element types.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DTYPE_NAMES,
  DTYPES,
  integerRange,
  isArithmetic,
  isDType,
  isNumericStorage,
  isUnsigned,
  REDUCTIONS,
  reductionsOf,
  rowOf,
  storedRange,
  type DType,
} from "../../src/core/tensor/dtype.ts";
import { fieldOf } from "../../src/models/onnx/tensor-proto.ts";

type Row = readonly [dtype: DType, onnx: string, field: string, openvino?: string];

/** In the order of their numbers in `TensorProto.DataType`, from 1. */
// prettier-ignore
const ROWS: readonly Row[] = [
  ["float32", "float", "floatData", "f32"],
  ["uint8", "uint8", "int32Data", "u8"],
  ["int8", "int8", "int32Data", "i8"],
  ["uint16", "uint16", "int32Data", "u16"],
  ["int16", "int16", "int32Data", "i16"],
  ["int32", "int32", "int32Data", "i32"],
  ["int64", "int64", "int64Data", "i64"],
  ["string", "string", "stringData", "string"],
  ["bool", "bool", "int32Data", "boolean"],
  ["float16", "float16", "int32Data", "f16"],
  ["float64", "double", "doubleData", "f64"],
  ["uint32", "uint32", "uint64Data", "u32"],
  ["uint64", "uint64", "uint64Data", "u64"],
  ["complex64", "complex64", "floatData"],
  ["complex128", "complex128", "doubleData"],
  ["bfloat16", "bfloat16", "int32Data", "bf16"],
  ["float8e4m3fn", "float8e4m3fn", "int32Data", "f8e4m3"],
  ["float8e4m3fnuz", "float8e4m3fnuz", "int32Data"],
  ["float8e5m2", "float8e5m2", "int32Data", "f8e5m2"],
  ["float8e5m2fnuz", "float8e5m2fnuz", "int32Data"],
  ["uint4", "uint4", "int32Data", "u4"],
  ["int4", "int4", "int32Data", "i4"],
  ["float4e2m1", "float4e2m1", "int32Data", "f4e2m1"],
  ["float8e8m0", "float8e8m0", "int32Data", "f8e8m0"],
  ["uint2", "uint2", "int32Data", "u2"],
  ["int2", "int2", "int32Data"],
  ["float6e2m3", "float6e2m3", "int32Data"],
  ["float6e3m2", "float6e3m2", "int32Data"],
];

test("the table has the documents' data types", () => {
  assert.deepEqual([...DTYPE_NAMES].sort(), ROWS.map(([dtype]) => dtype).sort());
  for (const [position, [dtype, name, field, openvino]] of ROWS.entries()) {
    const row = rowOf(dtype);
    assert.equal(row.onnx.number, position + 1);
    assert.equal(row.onnx.name ?? dtype, name);
    assert.equal(fieldOf(dtype), field);
    assert.equal(row.openvino, openvino);
  }
});

test("the table cannot be changed", () => {
  const rows = Object.values(DTYPES);
  for (const part of [DTYPES, DTYPE_NAMES, REDUCTIONS, ...rows, ...rows.map(({ onnx }) => onnx)]) {
    assert.ok(Object.isFrozen(part));
  }
});

test("an element takes as many bytes as its entries", () => {
  for (const dtype of DTYPE_NAMES) {
    const { bytes, lanes, storage } = rowOf(dtype);
    const entry = "BYTES_PER_ELEMENT" in storage ? storage.BYTES_PER_ELEMENT : 0;
    assert.equal(bytes, lanes * entry, dtype);
  }
});

test("names of data types are text, and no property of an object", () => {
  assert.ok(isDType("int8"));
  for (const name of ["int7", "toString", "", ["int8"], undefined, null]) assert.ok(!isDType(name));
  assert.ok(isNumericStorage(new Int8Array(1)) && !isNumericStorage(["a"]));
});

/** The least and the greatest value of integers, and of the storage of types that use only a part of it. */
// prettier-ignore
const RANGES: readonly (readonly [DType, integers: readonly bigint[] | null, stored: readonly number[] | null])[] = [
  ["int8", [-128n, 127n], null],
  ["uint8", [0n, 255n], null],
  ["int16", [-32768n, 32767n], null],
  ["int64", [-9223372036854775808n, 9223372036854775807n], null],
  ["uint64", [0n, 18446744073709551615n], null],
  ["int4", [-8n, 7n], [-8, 7]],
  ["uint4", [0n, 15n], [0, 15]],
  ["int2", [-2n, 1n], [-2, 1]],
  ["uint2", [0n, 3n], [0, 3]],
  ["float4e2m1", null, [0, 15]],
  ["float6e3m2", null, [0, 63]],
  ["bool", null, [0, 1]],
  ["float8e5m2", null, null],
  ["float32", null, null],
  ["string", null, null],
];

for (const [dtype, integers, stored] of RANGES) {
  test(`the range of ${dtype}`, () => {
    assert.deepEqual([integerRange(dtype), storedRange(dtype)], [integers, stored]);
    assert.equal(isUnsigned(dtype), dtype.startsWith("u"));
  });
}

// prettier-ignore
const ARITHMETIC: readonly (readonly [DType, reductions: readonly string[]])[] = [
  ["float16", ["none", "add", "mul", "max", "min", "sub", "mean"]],
  ["int64", ["none", "add", "mul", "max", "min", "sub", "mean"]],
  ["complex64", ["none", "add", "mul", "max", "min", "sub", "mean"]],
  ["bool", ["none", "add", "mul", "max", "min", "sub"]],
  ["string", ["none", "add", "max", "min"]],
  ["int4", ["none"]],
  ["uint2", ["none"]],
  ["int2", ["none"]],
  ["float8e8m0", ["none"]],
  ["float6e2m3", ["none"]],
];

for (const [dtype, reductions] of ARITHMETIC) {
  test(`${dtype} has the reductions ${reductions}`, () => {
    assert.deepEqual(reductionsOf(dtype), reductions);
    assert.equal(isArithmetic(dtype), reductions.length > 1);
  });
}
