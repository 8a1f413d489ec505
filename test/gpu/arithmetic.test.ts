/** Which arithmetic the GPU engine has, and what its WGSL may contain; that its bits are right is tested in `webgpu/`. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { combineSource, divideSource, hasGpuArithmetic } from "../../src/gpu/kernels/arithmetic.ts";
import {
  CHOICES,
  DTYPE_NAMES,
  DTYPES,
  reductionsOf,
  type DType,
} from "../../src/core/tensor/dtype.ts";

// prettier-ignore
const WITH_ARITHMETIC: readonly DType[] = [
  "bool", "float16", "bfloat16", "float32",
  "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
];

const sources = (dtype: DType): string[] =>
  [...reductionsOf(dtype), ...CHOICES]
    .filter((one) => one !== "none")
    .map((one) => (one === "mean" ? divideSource(dtype) : combineSource(dtype, one)));

test("the data types with arithmetic on a GPU", () => {
  assert.deepEqual(DTYPE_NAMES.filter(hasGpuArithmetic), WITH_ARITHMETIC);
});

for (const dtype of DTYPE_NAMES) {
  if (!WITH_ARITHMETIC.includes(dtype)) {
    test(`${dtype} has no arithmetic on a GPU`, () => {
      assert.throws(() => combineSource(dtype, "max"), { name: "Error" });
      assert.throws(() => divideSource(dtype), { name: "Error" });
    });
    continue;
  }
  const element = DTYPES[dtype].bytes === 8 ? "vec2<u32>" : "u32";
  test(`${dtype} is computed in integers, as ${element}`, () => {
    for (const source of sources(dtype)) {
      assert.ok(source.startsWith(`alias Element = ${element};`), source);
      assert.doesNotMatch(source, /\bf(16|32)\b|\d\.\d|undefined/);
    }
  });
  test(`no literal of ${dtype} is out of range, and none shifts by more than 31`, () => {
    for (const source of sources(dtype)) {
      const literals = [...source.matchAll(/(?<shift><<|>>)?\s*\b(?<value>0x[0-9a-f]+|\d+)u\b/g)];
      for (const { groups } of literals) {
        const bound = groups?.["shift"] === undefined ? 2 ** 32 : 32;
        assert.ok(Number(groups?.["value"]) < bound, source);
      }
    }
  });
}

test("a move is no arithmetic, and booleans have no mean", () => {
  assert.throws(() => combineSource("int32", "none"), { name: "Error" });
  assert.throws(() => divideSource("bool"), { name: "Error" });
});
