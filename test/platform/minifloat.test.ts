/** Floats of 8, 6 and 4 bits, against numbers printed in ONNX's "Float stored in 8 bits" and OCP's MX formats. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { isTensorError } from "../../src/core/errors.ts";
import {
  decodeMinifloat,
  encodeMinifloat,
  minifloat,
  type MinifloatName,
} from "../../src/core/tensor/scalar.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";

/** The bits of numbers, both ways, and of numbers that are rounded to them. */
interface Row {
  readonly exact: readonly (readonly [bits: number, value: number])[];
  readonly rounded: readonly (readonly [value: number, bits: number])[];
  readonly nan: readonly number[];
}

// prettier-ignore
const ROWS: Readonly<Record<MinifloatName, Row>> = {
  float8e4m3fn: {
    exact: [[0, 0], [0x80, -0], [0x01, 2 ** -9], [0x07, 0.875 * 2 ** -6], [0x08, 2 ** -6], [0x38, 1], [0x3c, 1.5],
      [0xb9, -1.125], [0x7e, 448], [0xfe, -448]],
    // Ties go to even bits; half a step past the end and more is no number.
    rounded: [[1.0625, 0x38], [1.1875, 0x3a], [-1.0626, 0xb9], [2 ** -10, 0x00], [-(2 ** -10), 0x80],
      [1.01 * 2 ** -10, 0x01], [464, 0x7e], [464.01, 0x7f], [Infinity, 0x7f], [-1e9, 0xff], [NaN, 0x7f]],
    nan: [0x7f, 0xff],
  },
  float8e4m3fnuz: {
    exact: [[0, 0], [0x01, 2 ** -10], [0x08, 2 ** -7], [0x40, 1], [0x44, 1.5], [0xc1, -1.125], [0x7f, 240],
      [0xff, -240]],
    rounded: [[-0, 0], [-(2 ** -12), 0], [1.0625, 0x40], [247.9, 0x7f], [248, 0x80], [-Infinity, 0x80], [NaN, 0x80]],
    nan: [0x80],
  },
  float8e5m2: {
    exact: [[0, 0], [0x80, -0], [0x01, 2 ** -16], [0x04, 2 ** -14], [0x3c, 1], [0x3e, 1.5], [0xbd, -1.25],
      [0x7b, 57344], [0x7c, Infinity], [0xfc, -Infinity]],
    rounded: [[1.125, 0x3c], [1.375, 0x3e], [61439, 0x7b], [61440, 0x7c], [-1e9, 0xfc], [NaN, 0x7e]],
    nan: [0x7d, 0x7e, 0x7f, 0xfd, 0xfe, 0xff],
  },
  float8e5m2fnuz: {
    exact: [[0, 0], [0x01, 2 ** -17], [0x04, 2 ** -15], [0x40, 1], [0x42, 1.5], [0x7f, 57344], [0xff, -57344]],
    rounded: [[-0, 0], [61439, 0x7f], [61440, 0x80], [NaN, 0x80]],
    nan: [0x80],
  },
  float8e8m0: {
    exact: [[0, 2 ** -127], [126, 0.5], [127, 1], [128, 2], [254, 2 ** 127]],
    rounded: [[1.4, 127], [1.5, 128], [1.6, 128], [3, 129], [2 ** -140, 0], [1.4 * 2 ** 127, 254],
      [1.5 * 2 ** 127, 255], [2 ** 130, 255], [NaN, 255]],
    nan: [255],
  },
  float6e2m3: {
    exact: [[0, 0], [0x20, -0], [1, 0.125], [7, 0.875], [8, 1], [9, 1.125], [0x1f, 7.5], [0x3f, -7.5]],
    rounded: [[0.0625, 0], [0.1875, 2], [-0.0626, 0x21], [1.0625, 8], [7.25, 0x1e], [7.26, 0x1f], [7.75, 0x1f],
      [1e9, 0x1f], [-Infinity, 0x3f]],
    nan: [],
  },
  float6e3m2: {
    exact: [[0, 0], [0x20, -0], [1, 0.0625], [3, 0.1875], [4, 0.25], [0x0c, 1], [0x1f, 28], [0x3f, -28]],
    rounded: [[2 ** -5 / 2, 0], [25, 0x1e], [22, 0x1e], [26, 0x1e], [26.01, 0x1f], [Infinity, 0x1f], [-1e9, 0x3f]],
    nan: [],
  },
  float4e2m1: {
    exact: [[0, 0], [8, -0], [1, 0.5], [2, 1], [3, 1.5], [4, 2], [5, 3], [6, 4], [7, 6], [15, -6]],
    // There is no infinity: what is too large is the largest.
    rounded: [[0.25, 0], [0.75, 2], [2.5, 4], [5, 6], [5.01, 7], [100, 7], [-Infinity, 15]],
    nan: [],
  },
};

for (const [name, { exact, rounded, nan }] of Object.entries(ROWS)) {
  test(`${name}: bits and numbers`, () => {
    const format = minifloat(name as MinifloatName);
    const encode = (value: number): number | null => encodeMinifloat(value, format);
    const length = Math.min(2 * format.sign, 256);
    const values = Array.from({ length }, (_, bits) => decodeMinifloat(bits, format));
    for (const [bits, value] of exact) {
      assert.ok(Object.is(values[bits], value), `${bits} is ${values[bits]}, not ${value}`);
      assert.equal(encode(value), bits, String(value));
    }
    for (const [value, bits] of rounded) assert.equal(encode(value), bits, String(value));
    const isNaN = [...values.keys()].filter((bits) => Number.isNaN(values[bits]));
    assert.deepEqual(isNaN, nan);
    // Every number that it has is its own nearest.
    for (const [bits, value] of values.entries()) {
      if (value === value) assert.equal(encode(value), bits);
    }
  });
}

test("what a format has no bits for is refused", () => {
  for (const [dtype, value] of [
    ["float4e2m1", NaN],
    ["float6e2m3", NaN],
    ["float6e3m2", NaN],
    ["float8e8m0", 0],
    ["float8e8m0", -1],
  ] as const) {
    assert.throws(
      () => tensor(dtype, [1], [value]),
      (error) => isTensorError(error, "dtype"),
    );
  }
  assert.throws(
    () => tensor("uint4", [1], [16]),
    (error) => isTensorError(error, "dtype"),
  );
  assert.throws(
    () => tensor("int4", [1], new Int8Array([8])),
    (error) => isTensorError(error, "dtype"),
  );
});

test("a tensor of small floats shows numbers, and a Uint8Array is its bits", () => {
  const made = tensor("float8e4m3fn", [3], [1, -1.5, 448]);
  assert.deepEqual(made.data, Uint8Array.of(0x38, 0xbc, 0x7e));
  assert.deepEqual(made.toArray(), [1, -1.5, 448]);
  assert.deepEqual(tensor("float4e2m1", [2], Uint8Array.of(7, 9)).toArray(), [6, -0.5]);
});
