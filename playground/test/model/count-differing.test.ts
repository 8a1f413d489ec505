/** The count of differing elements is the one of the panel that compares outputs. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { tensor, zeros, type DType, type Tensor } from "ndscatter";
import { countDiffering } from "../../src/model/count-differing.ts";
import { valueTexts } from "../../src/values/tensor-text.ts";

const byTexts = (one: Tensor, other: Tensor): number => {
  const [some, others] = [one, other].map(valueTexts);
  return some.filter((text, at) => text !== others[at]).length;
};

/** A tensor of one byte pattern after another. */
function ofBytes(dtype: DType, bytes: Uint8Array, size: number): Tensor {
  const found = zeros(dtype, [size]);
  const { buffer, byteOffset, byteLength } = found.data as Uint8Array;
  new Uint8Array(buffer, byteOffset, byteLength).set(bytes.subarray(0, byteLength));
  return found;
}

const FLOATS = [
  ...["float16", "bfloat16", "float32", "float64", "complex64", "complex128"],
  ...["float8e4m3fn", "float8e5m2"],
] as const;

test("floats of any bits differ as their texts do: a NaN equals a NaN, 0 differs from -0", () => {
  // Bytes of NaNs and zeros of both signs are frequent.
  const byte = fc.constantFrom(0, 1, 0x7c, 0x7e, 0x7f, 0x80, 0xf0, 0xfc, 0xff);
  const bytes = fc
    .uint8Array({ minLength: 64, maxLength: 64 })
    .chain((some) =>
      fc
        .array(byte, { minLength: 64, maxLength: 64 })
        .map((others) => some.map((one, at) => (one % 3 === 0 ? one : others[at]))),
    );
  fc.assert(
    fc.property(fc.constantFrom(...FLOATS), bytes, bytes, (dtype, some, others) => {
      const mixed = some.map((one, at) => (others[at - (at % 16)] % 2 === 0 ? one : others[at]));
      const [one, other] = [some, mixed].map((part) => ofBytes(dtype, part, 4));
      assert.equal(countDiffering(one, other), byTexts(one, other));
    }),
  );
});

test("zeros of both signs, NaNs, large integers and text", () => {
  const pairs: readonly (readonly [DType, readonly unknown[], readonly unknown[], number])[] = [
    ["float32", [0, NaN, 1], [-0, NaN, 1], 1],
    ["float16", [0, NaN, 1], [-0, NaN, NaN], 2],
    ["int64", [2n ** 60n, 1n], [2n ** 60n + 1n, 1n], 1],
    ["string", ["a", "b"], ["a", "c"], 1],
    ["bool", [true, false], [false, true], 2],
  ];
  for (const [dtype, some, others, count] of pairs) {
    const [one, other] = [some, others].map((all) => tensor(dtype, [all.length], all as never));
    assert.equal(countDiffering(one, other), count, dtype);
  }
});
