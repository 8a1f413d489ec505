/** One element as text: the shortest digits that are read back as the same value of its data type. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { DType, Scalar } from "../../src/core/tensor/dtype.ts";
import { decodeHalf, encodeHalf, floatFormat } from "../../src/core/tensor/scalar.ts";
import { printScalar } from "../../src/core/tensor/print.ts";
import { assertRefused } from "../support/refusal.ts";

const SCALARS: readonly (readonly [DType, Scalar, string])[] = [
  ["float32", Math.fround(0.1), "0.1"],
  ["float32", Math.fround(3.4028235e38), "3.4028235e+38"],
  ["float32", -16777216, "-16777216"],
  ["float64", 0.1 + 0.2, "0.30000000000000004"],
  ["float64", 1e-7, "1e-7"],
  ["float16", 65504, "65504"],
  ["bfloat16", 1.1015625, "1.1"],
  ["float32", -0, "-0"],
  ["float64", NaN, "NaN"],
  ["float64", -Infinity, "-Infinity"],
  ["int8", -3, "-3"],
  ["uint64", 2n ** 64n - 1n, "18446744073709551615"],
  ["bool", true, "true"],
  ["string", 'a\n"', '"a\\n\\""'],
  ["complex64", [1, Math.fround(-0.1)], "[1, -0.1]"],
  // Numbers that are no values of the type are rounded to it.
  ["float32", 0.1, "0.1"],
  ["float16", 1e-300, "0"],
  ["float16", -1e300, "-Infinity"],
];

for (const [dtype, value, text] of SCALARS) {
  test(`the ${dtype} ${text} alone`, () => assert.equal(printScalar(dtype, value), text));
}

test("what is no data type or no element is refused", () => {
  for (const [dtype, value] of [
    ["float33", 1],
    ["float32", undefined],
    ["float32", [1]],
    ["complex64", [1, "2"]],
  ] as const) {
    assertRefused("dtype", {}, () => Reflect.apply(printScalar, undefined, [dtype, value]));
  }
});

test("every float16 and bfloat16 is read back from its digits", () => {
  for (const dtype of ["float16", "bfloat16"] as const) {
    const format = floatFormat(dtype);
    for (let bits = 0; bits < 0x10000; bits++) {
      const value = decodeHalf(bits, format);
      if (Number.isNaN(value)) continue;
      const text = printScalar(dtype, value);
      assert.equal(encodeHalf(Number(text), format), bits, `${dtype} ${bits}: ${text}`);
    }
  }
});

/** How many digits a number has, without the zeros at its ends. */
const digitsOf = (text: string): number =>
  text
    .replace(/e.*/, "")
    .replace(/[-.]/g, "")
    .replace(/^0+|0+$/g, "").length;

/** Checks that `text` is read back as `value`, and has no more digits than the first such rounding of `value`. */
function assertShortest(text: string, value: number, round: (value: number) => number): void {
  assert.equal(round(Number(text)), value, text);
  let digits = 1;
  while (round(Number(value.toPrecision(digits))) !== value) digits++;
  assert.ok(digitsOf(text) <= digits, `${text} has more than ${digits} digits`);
}

test("no fewer digits identify a float16 or a bfloat16", () => {
  for (const dtype of ["float16", "bfloat16"] as const) {
    const format = floatFormat(dtype);
    for (let bits = 1; bits < 0x7fff; bits += 3) {
      const value = decodeHalf(bits, format);
      if (!Number.isFinite(value) || value > 2 ** 53) continue;
      const round = (one: number): number => decodeHalf(encodeHalf(one, format), format);
      if (!Number.isInteger(value)) assertShortest(printScalar(dtype, value), value, round);
    }
  }
});

test("no fewer digits identify a float32, around every power of two", () => {
  for (let exponent = -149; exponent < 0; exponent++) {
    const [bits] = new Uint32Array(Float32Array.of(2 ** exponent).buffer);
    for (const neighbour of [bits - 1, bits, bits + 1, bits + 12_345]) {
      const [value] = new Float32Array(Uint32Array.of(neighbour).buffer);
      if (value > 0) assertShortest(printScalar("float32", value), value, Math.fround);
    }
  }
});

test("a double's digits are JavaScript's, around every power of two and of ten", () => {
  const powers = [
    ...Array.from({ length: 2098 }, (_, i) => 2 ** (i - 1074)),
    ...Array.from({ length: 632 }, (_, i) => Number(`1e${i - 323}`)),
  ];
  // Halfway to a neighbour there may be a shorter decimal, which is read as the one of the two that is even.
  const large = [54, 55, 56, 60].flatMap((power) =>
    Array.from({ length: 100 }, (_, i) => 2 ** power + i * 2 ** (power - 52)),
  );
  for (const value of large) assert.equal(printScalar("float64", value), String(value));
  for (const power of powers) {
    const bits = new BigUint64Array(Float64Array.of(power).buffer);
    for (const neighbour of [bits[0] - 1n, bits[0], bits[0] + 1n]) {
      const [value] = new Float64Array(BigUint64Array.of(neighbour).buffer);
      assert.equal(printScalar("float64", value), String(value));
    }
  }
});
