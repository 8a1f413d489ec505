import assert from "node:assert/strict";
import { test } from "node:test";
import { DTYPE_NAMES, DTYPES, type DType } from "../../src/core/tensor/dtype.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import { scatterND, run } from "../../src/core/functions.ts";
import { asTensor, full, tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { equals, firstDifference } from "../../src/core/tensor/compare.ts";
import { WITHOUT_NODE } from "../support/platform.ts";
import { assertRefused, type Facts } from "../support/refusal.ts";

/** `tensor` for arguments that the compiler would not let through. */
const loose = tensor as (dtype: string, shape: unknown, values: unknown) => Tensor;

/** Values as they are given, and the storage that they become. */
// prettier-ignore
const STORED: readonly (readonly [dtype: DType, shape: number[], values: unknown, data: ArrayLike<unknown>])[] = [
  ["float32", [2, 2], [[1, 2], [3, 4]], [1, 2, 3, 4]],
  ["float32", [2, 2], [1, 2, 3, 4], [1, 2, 3, 4]],
  ["float32", [2], Int8Array.of(-1, 5), [-1, 5]],
  ["float32", [], 0.1, [Math.fround(0.1)]],
  ["float32", [1], [1n], [1]],
  ["float32", [2, 0], [[], []], []],
  ["float32", [0, 3], [], []],
  ["float64", [3], [NaN, -0, Infinity], [NaN, -0, Infinity]],
  ["float16", [3], [1, 65504, 1 + 2 ** -11 + 2 ** -40], [0x3c00, 0x7bff, 0x3c01]],
  ["float16", [2], Uint16Array.of(0x3c00, 0x7d01), [0x3c00, 0x7d01]],
  ["float16", [2], Float32Array.of(1, 2), [0x3c00, 0x4000]],
  ["bfloat16", [2], [1, NaN], [0x3f80, 0x7fc0]],
  ["int8", [3], [-128, 127, -0], [-128, 127, 0]],
  ["uint8", [2], [0, 255n], [0, 255]],
  ["uint8", [2], Uint8ClampedArray.of(0, 255), [0, 255]],
  ["int64", [3], [1, -1n, 2 ** 53 - 1], [1n, -1n, 9007199254740991n]],
  ["int64", [2], Int32Array.of(1, -1), [1n, -1n]],
  ["uint64", [1], [18446744073709551615n], [18446744073709551615n]],
  ["bool", [4], [true, false, 1, 0], [1, 0, 1, 0]],
  ["bool", [], true, [1]],
  ["string", [2, 1], [["a"], [""]], ["a", ""]],
  ["complex64", [2], [[1, 2], [3, 4]], [1, 2, 3, 4]],
  ["complex64", [2], [1, 2, 3, 4], [1, 2, 3, 4]],
  ["complex64", [2, 1], [[[1, 2]], [[3, 4]]], [1, 2, 3, 4]],
  ["complex64", [2, 2], [[1, 2], [3, 4], [5, 6], [7, 8]], [1, 2, 3, 4, 5, 6, 7, 8]],
  ["complex128", [], [1, -0], [1, -0]],
  ["complex64", [2, 0], [[], []], []],
  ["complex64", [2, 0, 3], [[], []], []],
  ["complex64", [1], [Float32Array.of(1, 2)], [1, 2]],
  ["bool", [2], [0n, 1n], [0, 1]],
  // Rounded once, not to a double first.
  ["float32", [1], [(1n << 60n) + (1n << 36n) + 1n], [2 ** 60 + 2 ** 37]],
  ["float32", [1], BigInt64Array.of(-((1n << 60n) + (1n << 36n) + 1n)), [-(2 ** 60 + 2 ** 37)]],
  ["bfloat16", [1], [(1n << 60n) + (1n << 52n) + 1n], [0x5d81]],
  ["float32", [1], [(1n << 53n) + (1n << 29n) + 1n], [2 ** 53 + 2 ** 30]],
  ["float32", [1], [(1n << 60n) + (1n << 36n)], [2 ** 60]],
  ["float32", [1], [-(1n << 53n) - (1n << 29n) - 1n], [-(2 ** 53) - 2 ** 30]],
  ["float32", [1], [-(1n << 53n) - (1n << 29n)], [-(2 ** 53)]],
  ["float64", [1], [(1n << 60n) + (1n << 7n) + 1n], [2 ** 60 + 2 ** 8]],
  ["complex64", [1], [[(1n << 60n) + (1n << 36n) + 1n, 0n]], [2 ** 60 + 2 ** 37, 0]],
  ["complex64", [1], [0n, (1n << 60n) + (1n << 36n) + 1n], [0, 2 ** 60 + 2 ** 37]],
  ["complex128", [1], [[(1n << 60n) + (1n << 7n) + 1n, 0n]], [2 ** 60 + 2 ** 8, 0]],
  ["complex128", [1], [0n, (1n << 60n) + (1n << 7n) + 1n], [0, 2 ** 60 + 2 ** 8]],
  ["int4", [2], Int8Array.of(-8, 7), [-8, 7]],
  ["uint4", [2], Uint8Array.of(0, 15), [0, 15]],
  ["int2", [2], Int8Array.of(-2, 1), [-2, 1]],
  ["uint2", [2], Uint8Array.of(0, 3), [0, 3]],
];

for (const [dtype, shape, values, data] of STORED) {
  test(`${dtype} [${shape}] of ${String(values)}`, () => {
    const made = loose(dtype, shape, values);
    assert.deepEqual([...made.data], Array.from(data));
    assert.ok(made.data instanceof DTYPES[dtype].storage);
    assert.deepEqual([made.dtype, made.shape], [dtype, shape]);
  });
}

const cyclic: unknown[] = [];
cyclic.push(cyclic, cyclic);

// prettier-ignore
const REFUSED: readonly (readonly [code: ErrorCode, facts: Facts, dtype: string, shape: unknown, values: unknown])[] = [
  ["dtype", {}, "float31", [1], [1]],
  ["dtype", {}, "toString", [1], [1]],
  ["dtype", { at: [1], got: 256 }, "uint8", [2], [0, 256]],
  ["dtype", { at: [0], got: 1.5 }, "int8", [1], [1.5]],
  ["dtype", { at: [0], got: NaN }, "int32", [1], [NaN]],
  ["dtype", { at: [0], got: 2 ** 53 }, "int64", [1], [2 ** 53]],
  ["dtype", { at: [0], got: 2n ** 63n }, "int64", [1], [2n ** 63n]],
  ["dtype", { at: [0], got: -1 }, "uint64", [1], [-1]],
  ["dtype", { at: [0] }, "uint8", [1], [true]],
  ["dtype", { at: [1], got: 2 }, "bool", [2], [1, 2]],
  ["dtype", { at: [1], got: 2 }, "bool", [2], Uint8Array.of(1, 2)],
  ["dtype", { at: [0] }, "bool", [1], ["1"]],
  ["dtype", { at: [1], got: -9 }, "int4", [2], Int8Array.of(-8, -9)],
  ["dtype", { at: [1, 0], got: 16 }, "uint4", [2, 1], Uint8Array.of(15, 16)],
  ["dtype", { at: [1], got: 2 }, "int2", [2], Int8Array.of(1, 2)],
  ["dtype", { at: [0], got: -3 }, "int2", [1], [-3]],
  ["dtype", { at: [1, 0], got: 4 }, "uint2", [2, 1], [3, 4]],
  ["dtype", { at: [0], got: 16 }, "float4e2m1", [1], Uint8Array.of(16)],
  ["dtype", { at: [0] }, "float32", [1], ["1"]],
  ["dtype", { at: [0] }, "float16", [1], ["1"]],
  ["dtype", { at: [0] }, "float8e5m2", [1], ["1"]],
  ["dtype", { at: [0] }, "int8", [1], ["1"]],
  ["dtype", { at: [1], got: 1 }, "string", [2], ["a", 1]],
  ["dtype", { at: [1] }, "float32", [2], [1, undefined]],
  ["shape-mismatch", { expected: [1] }, "complex64", [1], [[1, 2, 3]]],
  ["dtype", { at: [0] }, "complex64", [1], [[1, "2"]]],
  ["dtype", { at: [0, 0] }, "complex64", [1, 1], [[{ length: 2, 0: 1, 1: 2 }]]],
  ["dtype", { at: [], got: 5 }, "complex64", [], 5],
  ["dtype", { at: [0, 0, 0], got: 1 }, "complex64", [2, 1, 2], [[[1, 2]], [[3, 4]]]],
  ["shape-mismatch", { expected: [2] }, "int32", [2], [1, [2]]],
  ["shape-mismatch", { expected: [2] }, "int32", [2], [1, [2, 3]]],
  ["shape-mismatch", { expected: [2] }, "int32", [2], [[1], [2]]],
  ["shape-mismatch", { expected: Array(31).fill(2) }, "float32", Array(31).fill(2), cyclic],
  ["shape-mismatch", { got: 3, expected: [2, 2] }, "float32", [2, 2], [1, 2, 3]],
  ["shape-mismatch", { got: 2, expected: [2] }, "complex64", [2], Float32Array.of(1, 2)],
  ["shape-mismatch", { got: 3, expected: [2] }, "complex64", [2], [1, 2, 3]],
  ["shape-mismatch", { got: 2, expected: [3] }, "complex64", [3], [[1, 2], [3, 4]]],
  // Counts and nesting are checked before memory is asked for.
  ["shape-mismatch", { got: 1, expected: [2 ** 27] }, "string", [2 ** 27], [1]],
  ["shape-mismatch", { expected: [2 ** 27, 1] }, "string", [2 ** 27, 1], [["a"]]],
  ["shape-mismatch", { expected: [2, 0] }, "int8", [2, 0], [[], [1]]],
  ["shape-mismatch", { expected: [2, 2] }, "float32", [2, 2], [[1, 2], [3]]],
  ["shape-mismatch", { expected: [2, 2] }, "float32", [2, 2], [[1, 2], 3]],
  ["shape-mismatch", { expected: [2, 1] }, "float32", [2, 1], [[[1]]]],
  ["shape-mismatch", { expected: [2] }, "float32", [2], 5],
  ["shape-mismatch", { expected: [2] }, "float32", [2],
    { [Symbol.toStringTag]: "Float16Array", buffer: new ArrayBuffer(4), byteOffset: 0, length: 2 }],
  ["shape-mismatch", {}, "float32", [-1], []],
  ["shape-mismatch", {}, "float32", [1.5], [1]],
  ["shape-mismatch", {}, "float32", [2 ** 53], [1]],
  ["shape-mismatch", {}, "float32", ["2"], [1, 2]],
  ["shape-mismatch", {}, "float32", 3, [1]],
  ["too-large", {}, "float32", [2 ** 16, 2 ** 16], []],
  ["too-large", {}, "float32", [2 ** 40], [1]],
  ["rank", { got: 65 }, "float32", Array.from({ length: 65 }, () => 1), [1]],
];

for (const [row, [code, facts, dtype, shape, values]] of REFUSED.entries()) {
  test(`${dtype} ${JSON.stringify(shape)} refused: ${code}, row ${row}`, () => {
    assertRefused(code, facts, () => loose(dtype, shape, values));
  });
}

test("an array of the type's own class is kept, another is not", () => {
  for (const dtype of DTYPE_NAMES) {
    const { data } = zeros(dtype, [3]);
    assert.equal(loose(dtype, [3], data).data, data, dtype);
  }
  const ints = Int32Array.of(1, 2);
  assert.notEqual(tensor("float32", [2], ints).data, ints);
});

test("toArray gives what JavaScript has for each type", () => {
  assert.deepEqual(tensor("int64", [1, 2], [1, -2]).toArray(), [[1n, -2n]]);
  assert.deepEqual(tensor("bool", [2], [true, false]).toArray(), [true, false]);
  assert.deepEqual(tensor("bfloat16", [1], [1.5]).toArray(), [1.5]);
  assert.deepEqual(tensor("complex64", [1], [[1, 2]]).toArray(), [[1, 2]]);
  assert.deepEqual(tensor("string", [0, 2], []).toArray(), []);
  assert.deepEqual(zeros("float32", [2, 0]).toArray(), [[], []]);
  assert.equal(tensor("uint64", [], 7).toArray(), 7n);
});

test("full fills every type", () => {
  assert.deepEqual(full("float16", [2], 1).data, Uint16Array.of(0x3c00, 0x3c00));
  assert.deepEqual(full("complex64", [2], [1, 2]).data, Float32Array.of(1, 2, 1, 2));
  assert.deepEqual(full("string", [2], "a").data, ["a", "a"]);
  assert.deepEqual(full("int64", [2], 5).data, BigInt64Array.of(5n, 5n));
  assert.equal(full("bool", [0], true).size, 0);
});

test("equals compares type, shape and bits", () => {
  const bits = (value: number) =>
    tensor("float32", [1], new Float32Array(Uint32Array.of(value).buffer));
  assert.ok(equals(bits(0x7fc00001), bits(0x7fc00001)));
  assert.ok(!equals(bits(0x7fc00001), bits(0x7fc00000)));
  assert.ok(!equals(tensor("float32", [1], [0]), tensor("float32", [1], [-0])));
  assert.ok(!equals(zeros("float32", [2]), zeros("float32", [2, 1])));
  assert.ok(!equals(zeros("int32", [2]), zeros("uint32", [2])));
  assert.ok(!equals(tensor("string", [1], ["a"]), tensor("string", [1], ["b"])));
  assert.ok(equals(tensor("string", [1], ["a"]), tensor("string", [1], ["a"])));
});

test("firstDifference gives the coordinates of the first cell that differs", () => {
  const a = zeros("complex128", [2, 3]);
  const b = zeros("complex128", [2, 3]);
  assert.equal(firstDifference(a, b), null);
  b.data[9] = -0;
  assert.deepEqual(firstDifference(a, b), [1, 1]);
  const words = (last: string): Tensor => tensor("string", [2, 2], ["a", "b", "c", last]);
  assert.deepEqual(firstDifference(words("d"), words("e")), [1, 1]);
  assert.equal(firstDifference(words("d"), words("d")), null);
  assertRefused("shape-mismatch", {}, () => firstDifference(a, zeros("complex128", [6])));
  assertRefused("dtype", {}, () => firstDifference(a, zeros("complex64", [2, 3])));
});

test("a detached buffer is `disposed` wherever it is used", () => {
  const made = zeros("float32", [2]);
  structuredClone(made.data.buffer, { transfer: [made.data.buffer as ArrayBuffer] });
  assertRefused("disposed", {}, () => made.toArray());
  assertRefused("disposed", { input: "a" }, () => equals(made, zeros("float32", [2])));
  assertRefused("disposed", {}, () => tensor("float32", [0], made.data));
  assert.match(String(made), /disposed/);
  const empty = zeros("float32", [0]);
  structuredClone(empty.data.buffer, { transfer: [empty.data.buffer as ArrayBuffer] });
  assertRefused("disposed", {}, () => empty.toArray());
});

test("memory that is gone, shorter or longer is noticed, however often a tensor was used", () => {
  type Resizable = ArrayBuffer & { resize(bytes: number): void };
  const changes: ((buffer: Resizable) => unknown)[] = [
    (buffer) => structuredClone(buffer, { transfer: [buffer] }),
    (buffer) => buffer.resize(0),
    (buffer) => buffer.resize(8),
    (buffer) => buffer.resize(24),
  ];
  for (const uses of [0, 1, 63, 64, 65, 66, 1000]) {
    for (const [position, change] of changes.entries()) {
      const isFixed = position === 0;
      if (!isFixed && !("resize" in ArrayBuffer.prototype)) continue;
      const options = isFixed ? [] : [{ maxByteLength: 32 }];
      const buffer: Resizable = Reflect.construct(ArrayBuffer, [16, ...options]);
      const made = tensor("float32", [4], new Float32Array(buffer));
      for (let use = 0; use < uses; use++) assert.equal(asTensor(made, {}), made);
      change(buffer);
      for (let look = 0; look < 2; look++) assertRefused("disposed", {}, () => asTensor(made, {}));
    }
  }
});

test("tensors of onnxruntime and of another copy of this package are tensors", () => {
  const runtime = { type: "float32", dims: [2], data: Float32Array.of(1, 2) };
  const other = { dtype: "int64", shape: [1, 1], data: BigInt64Array.of(1n) };
  const [result] = run({ op: "ScatterND", opset: 18 }, [
    runtime,
    other,
    { type: "float32", dims: [1], data: [9] },
  ]);
  assert.deepEqual(result.toArray(), [1, 9]);
  assert.equal(asTensor(runtime, {}).data, runtime.data);
  assertRefused("dtype", {}, () =>
    asTensor({ type: "uint3", dims: [1], data: new Uint8Array(1) }, {}),
  );
  for (const data of [undefined, null, 5]) {
    assertRefused("dtype", {}, () => asTensor({ dtype: "float32", shape: [], data }, {}));
  }
  const callable = Object.assign(() => 0, { dtype: "int64", shape: [1, 1], data: other.data });
  assertRefused("dtype", {}, () => asTensor(callable, {}));
});

test("where the platform has no Float16Array, its likeness is kept as bits", () => {
  class Float16Array extends Uint16Array {
    override get [Symbol.toStringTag]() {
      return "Float16Array" as "Uint16Array";
    }
  }
  const values = new Float16Array([0x3c00, 0x4000]);
  const made = tensor("float16", [2], values);
  assert.equal(made.data.buffer, values.buffer);
  assert.deepEqual(made.toArray(), [1, 2]);
  const part = Object.assign(new Float16Array([0, 0x3c00, 0x4000, 0x4200]).subarray(1, 3));
  assert.deepEqual(tensor("float16", [2], part).toArray(), [1, 2]);
});

/** Shapes without elements, and how many lists they nest on all levels: 1 + the first dimension + ... */
const EMPTY_LISTS: readonly (readonly [shape: readonly number[], lists: number])[] = [
  [[0], 1],
  [[0, 2 ** 40], 1],
  [[3, 0], 4],
  [[...Array<number>(63).fill(1), 0], 64],
  [[99_999, 0], 100_000],
  [[100_000, 0], 100_001],
  [[1, 100_000, 0], 100_002],
  [[315, 316, 0], 99_856],
  [[316, 316, 0, 5], 100_173],
  [[...Array<number>(14).fill(3), 0, 2], (3 ** 15 - 1) / 2],
  [[2 ** 40, 0], 2 ** 40 + 1],
  [[...Array<number>(21).fill(2 ** 52), 0], Infinity],
];

/** The lists in a nested list, itself counted. */
const countLists = (value: unknown): number =>
  Array.isArray(value) ? value.reduce((sum, one) => sum + countLists(one), 1) : 0;

for (const [shape, lists] of EMPTY_LISTS) {
  test(`the shape ${shape.slice(-4)} of rank ${shape.length} has ${lists} lists and no elements`, () => {
    const empty = zeros("float32", shape);
    if (lists <= 100_000) assert.equal(countLists(empty.toArray()), lists);
    else assertRefused("too-large", {}, () => empty.toArray());
  });
}

test("only text has a greatest count that is not memory's", () => {
  assert.equal(zeros("bool", [2 ** 26 + 1]).size, 2 ** 26 + 1);
});

test("lists with elements may be many", () => {
  assert.equal(countLists(zeros("int8", [100_001, 1]).toArray()), 100_002);
});

test("a list with holes is no text", () => {
  assertRefused("dtype", { at: [0] }, () => loose("string", [2], Array(2)));
  assertRefused("too-large", {}, () => zeros("string", [2 ** 26 + 1]));
  assertRefused("shape-mismatch", {}, () => loose("float32", null, [1]));
  assertRefused("dtype", {}, () => loose(Object.create(null), [1], [1]));
  assert.deepEqual(zeros("float32", [-0]).shape, [0]);
  const frozen = Object.freeze([-0, 2]);
  for (const one of [zeros("int8", frozen), tensor("int8", frozen, [])]) {
    assert.deepEqual(one.shape, [0, 2]);
    assert.ok(Object.isFrozen(one.shape));
  }
});

test(
  "arrays of another realm are kept like those of this one",
  { skip: WITHOUT_NODE },
  async () => {
    const { runInNewContext } = await import("node:vm");
    const foreign: Uint16Array = runInNewContext("new Uint16Array([0x3c00, 0x4000])");
    const made = tensor("float16", [2], foreign);
    assert.equal(made.data.buffer, foreign.buffer);
    assert.deepEqual(made.toArray(), [1, 2]);
    const words: Int32Array = runInNewContext("new Int32Array([1])");
    const indices = tensor("int32", [1, 1], words);
    assert.deepEqual(scatterND(made, indices, [9], { out: made }).toArray(), [1, 9]);
    assert.equal(foreign[1], 0x4880);
  },
);

test("a tensor of onnxruntime is compared, and refused after it was disposed", () => {
  const runtime = { type: "float32", dims: [1], data: Float32Array.of(1) };
  assert.ok(equals(runtime, tensor("float32", [1], [1])));
  const gone = {
    type: "float32",
    dims: [1],
    get data(): Float32Array {
      throw new Error("The tensor is disposed.");
    },
  };
  for (const compare of [equals, firstDifference]) {
    assertRefused("disposed", { input: "a" }, () => compare(gone, runtime));
    assertRefused("disposed", { input: "b" }, () => compare(runtime, gone));
  }
});

test("a tensor of onnxruntime on a GPU has no elements here, and the error says where they can be had", () => {
  const runtime = {
    ...{ type: "float32", dims: [1], location: "gpu-buffer" },
    get data(): Float32Array {
      throw new Error("The data is not on CPU.");
    },
  };
  assertRefused("dtype", { input: "updates" }, () =>
    scatterND(tensor("float32", [1], [0]), [[0]], runtime),
  );
});

test("a Float16Array is a tensor of one axis", () => {
  const values = new Uint16Array([0x3c00]);
  Object.defineProperty(values, Symbol.toStringTag, { value: "Float16Array" });
  assert.deepEqual(asTensor(values, {}).toArray(), [1]);
});

test("a shape cannot be changed from outside", () => {
  const shape = [2];
  const made = tensor("float32", shape, [1, 2]);
  shape[0] = 3;
  assert.deepEqual(made.shape, [2]);
  assert.ok(Object.isFrozen(made.shape));
});
