/** From indices to offsets: words of every integer type, bounds axis by axis, and the order of elements. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { readIndices } from "../../src/core/kernels/read-indices.ts";
import {
  indexAt,
  indexWordsOf,
  type ElementJob,
  type IndexAxis,
  type IndexJob,
  type TupleJob,
} from "../../src/core/plan/indices.ts";
import type { DType } from "../../src/core/tensor/dtype.ts";
import { product } from "../../src/core/tensor/shape.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { TINY, tracedEngine } from "../support/engines.ts";
import { randomFrom } from "../support/random.ts";

/** What `indexAt` reads at each position of a tensor. */
function readBack(dtype: DType, values: readonly (number | bigint)[]): number[] {
  const { words, step } = indexWordsOf(tensor(dtype, [values.length], values as number[]));
  return values.map((_, position) => indexAt(words, position * step, step));
}

const TWO_32 = 2 ** 32;
const LARGEST = TWO_32 - 1;

/** Integers that are read as they are. */
// prettier-ignore
const EXACT: readonly (readonly [dtype: DType, values: readonly (number | bigint)[]])[] = [
  ["int32", [0, 1, -1, 2 ** 31 - 1, -(2 ** 31)]],
  ["int8", [0, 127, -128]],
  ["uint8", [0, 255, 128]],
  ["int16", [0, 32767, -32768]],
  ["uint16", [0, 65535, 32768]],
  ["uint32", [0, 2 ** 31, TWO_32 - 1, 5]],
  ["int64", [0n, 1n, -1n, 5n, -5n, 2n ** 31n - 1n, 2n ** 31n, 2n ** 32n - 1n]],
  ["int64", [2n ** 32n, 2n ** 32n + 1n, 2n ** 53n - 1n]],
  ["int64", [-(2n ** 31n), -(2n ** 31n) - 1n, -(2n ** 32n), 1n - 2n ** 32n, -(2n ** 32n) - 1n, 1n - 2n ** 53n]],
  ["uint64", [0n, 1n, 2n ** 32n + 1n, 2n ** 53n - 1n]],
];

for (const [dtype, values] of EXACT) {
  test(`${dtype} indices are read as they are: ${values.join(", ")}`, () => {
    assert.deepEqual(readBack(dtype, values), values.map(Number));
  });
}

test("integers beyond 2^53 stay beyond every axis", () => {
  for (const index of readBack("int64", [2n ** 62n + 1n, 2n ** 63n - 1n, 2n ** 53n])) {
    assert.ok(index >= 2 ** 53);
  }
  for (const index of readBack("int64", [-(2n ** 62n), -(2n ** 63n)])) {
    assert.ok(index <= -(2 ** 53));
  }
  for (const index of readBack("uint64", [2n ** 53n, 2n ** 63n, 2n ** 63n + 1n, 2n ** 64n - 1n])) {
    assert.ok(index >= 2 ** 53 - 1);
  }
});

test("words of an int64 tensor are its own memory, from its first element", () => {
  const values = BigInt64Array.of(7n, -1n, 2n ** 32n + 3n);
  const view = tensor("int64", [2], values.subarray(1));
  const { words, step } = indexWordsOf(view);
  assert.equal(words.buffer, values.buffer);
  assert.deepEqual([words.byteOffset, words.length, step], [8, 4, 2]);
  assert.deepEqual([indexAt(words, 0, 2), indexAt(words, 2, 2)], [-1, TWO_32 + 3]);
});

const axis = (dim: number, stride: number, wrap = dim): IndexAxis => ({ dim, wrap, stride });

const tuples = (axes: readonly IndexAxis[], values: readonly bigint[]): TupleJob => ({
  kind: "tuples",
  ...indexWordsOf(tensor("int64", [values.length], values)),
  count: values.length / axes.length,
  axes,
});

const elements = (
  shape: number[],
  steps: number[],
  along: IndexAxis,
  values: readonly bigint[],
): ElementJob => ({
  kind: "elements",
  ...indexWordsOf(tensor("int64", [values.length], values)),
  count: values.length,
  shape,
  steps,
  axis: along,
  merge: false,
});

/** Offsets, or the position of the first bad index. */
type Read = readonly [says: string, job: IndexJob, read: number[] | { readonly bad: number }];

// prettier-ignore
const JOBS: readonly Read[] = [
  ["each index against its own axis", tuples([axis(2, 3), axis(3, 1)], [1n, 2n, 0n, -3n, -2n, -1n]), [5, 0, 2]],
  ["an index past its axis, though the offset lies in data", tuples([axis(3, 3), axis(3, 1)], [0n, 5n]), { bad: 1 }],
  ["an index before its axis", tuples([axis(3, 3), axis(3, 1)], [1n, 1n, -4n, 2n]), { bad: 2 }],
  ["the first of several", tuples([axis(3, 1)], [0n, 3n, 9n, -9n]), { bad: 1 }],
  ["the size of the axis", tuples([axis(3, 1)], [2n, 3n]), { bad: 1 }],
  ["no negative index", tuples([axis(3, 1, 0)], [2n, 0n, -1n]), { bad: 2 }],
  ["2^32 is not 0", tuples([axis(3, 1)], [2n ** 32n]), { bad: 0 }],
  ["2^32 + 1 is not 1", tuples([axis(3, 1)], [1n, 2n ** 32n + 1n]), { bad: 1 }],
  ["-2^32 is not 0", tuples([axis(3, 1)], [-(2n ** 32n)]), { bad: 0 }],
  ["2^32 - 1 is not -1", tuples([axis(3, 1)], [2n ** 32n - 1n]), { bad: 0 }],
  ["2^63 - 1", tuples([axis(3, 1)], [2n ** 63n - 1n]), { bad: 0 }],
  ["an axis of 2^32 - 1 places", tuples([axis(LARGEST, 1)], [4294967294n, -4294967295n]), [LARGEST - 1, 0]],
  ["past an axis of 2^32 - 1 places", tuples([axis(LARGEST, 1)], [4294967295n]), { bad: 0 }],
  ["no tuples", tuples([axis(3, 1)], []), []],
  ["an axis without places", tuples([axis(0, 1)], [0n]), { bad: 0 }],
  ["elements of a row", elements([3], [0], axis(4, 1), [3n, -1n, 0n]), [3, 3, 0]],
  ["elements along axis 0", elements([2, 3], [0, 1], axis(4, 3), [0n, 1n, 2n, -1n, 3n, 0n]), [0, 4, 8, 9, 10, 2]],
  ["elements along axis 1", elements([2, 2], [3, 0], axis(3, 1), [0n, 2n, 1n, -3n]), [0, 2, 4, 3]],
  ["elements of three axes", elements([2, 2, 1], [6, 0, 1], axis(3, 2), [0n, 1n, 2n, -3n]), [0, 2, 10, 6]],
  ["a bad element", elements([2, 2], [3, 0], axis(3, 1), [0n, 2n, 3n, 9n]), { bad: 2 }],
  ["a bad element of the first row", elements([2, 2], [0, 1], axis(3, 2), [0n, -4n, 3n, 0n]), { bad: 1 }],
  ["2^32 + 1 among elements", elements([2], [0], axis(3, 1), [1n, 2n ** 32n + 1n]), { bad: 1 }],
  ["a negative element where there is none", elements([2], [0], axis(3, 1, 0), [0n, -1n]), { bad: 1 }],
];

for (const [says, job, expected] of JOBS) {
  test(`offsets: ${says}`, () => {
    const read = readIndices(job);
    assert.deepEqual("bad" in read ? read : Array.from(read), expected);
  });
}

test("elements of up to five axes, in row-major order", () => {
  const random = randomFrom(20261122);
  for (let round = 0; round < 200; round++) {
    const shape = Array.from({ length: 1 + random(5) }, () => 1 + random(3));
    const steps = shape.map(() => random(50));
    const along = axis(5, 1 + random(60));
    const values = Array.from({ length: product(shape) }, () => BigInt(random(10) - 5));
    const expected = values.map((value, position) => {
      let [rest, offset] = [position, Number((value + 5n) % 5n) * along.stride];
      for (let d = shape.length - 1; d >= 0; d--) {
        offset += (rest % shape[d]) * steps[d];
        rest = Math.floor(rest / shape[d]);
      }
      return offset;
    });
    const read = readIndices(elements(shape, steps, along, values));
    assert.deepEqual("bad" in read ? read : Array.from(read), expected);
  }
});

test("a check refuses negative indices, even if their bits are positions on a long axis", async () => {
  const { engine, executor } = await tracedEngine(1, TINY);
  for (const dtype of ["int32", "int64"] as const) {
    const indices = engine.alloc(dtype, [5]);
    const job = { kind: "elements", ...indexWordsOf(indices), count: 5, shape: [5] } as const;
    const checks = (dim: number): boolean => {
      const session = executor.begin();
      const own = { ...job, steps: [0], axis: axis(dim, 1), merge: true };
      const isGood = session.isDirect(own) && session.checkIndices(own);
      session.end();
      return isGood;
    };
    assert.equal(checks(5), typeof SharedArrayBuffer === "function");
    indices.data[4] = dtype === "int32" ? -2 : -2n;
    for (const dim of [1, 5, 2 ** 31, LARGEST]) assert.ok(!checks(dim), `${dtype}, ${dim}`);
  }
  engine.dispose();
});
