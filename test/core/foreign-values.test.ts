/** Shapes, lists, arrays and tensor-like objects from outside: read once, so that what was checked is what is used. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { isTensorError, type ErrorCode } from "../../src/core/errors.ts";
import { scatterND } from "../../src/core/functions.ts";
import { MAX_RANK, partialShapeOf, printShape, shapeOf } from "../../src/core/tensor/shape.ts";
import { asTensor, full, Tensor, tensor, zeros } from "../../src/core/tensor/tensor.ts";
import { WITHOUT_NODE } from "../support/platform.ts";
import { assertRefused, type Facts } from "../support/refusal.ts";

/** `target` behind a Proxy that records which properties are read, and answers 1,000,000 from the second time on. */
function readOnce<T extends object>(target: T): { readonly value: T; readonly reads: string[] } {
  const reads: string[] = [];
  const value = new Proxy(target, {
    get(from, key) {
      const isAgain = reads.includes(String(key));
      reads.push(String(key));
      return isAgain ? 1_000_000 : Reflect.get(from, key);
    },
  });
  return { value, reads };
}

const float32 = (...values: number[]): Float32Array => Float32Array.from(values);

// --- Shapes.

/** Every way to give a shape, and the shape that comes of it. */
const SHAPE_TAKERS: Readonly<Record<string, (shape: readonly number[]) => readonly number[]>> = {
  shapeOf: (shape) => shapeOf(shape).shape,
  partialShapeOf: (shape) => partialShapeOf(shape, "data") as readonly number[],
  tensor: (shape) => tensor("float32", shape, float32(1, 2, 3)).shape,
  "tensor of a list": (shape) => tensor("float32", shape, [1, 2, 3]).shape,
  zeros: (shape) => zeros("float32", shape).shape,
  full: (shape) => full("float32", shape, 1).shape,
  asTensor: (shape) => asTensor({ dtype: "float32", shape, data: float32(1, 2, 3) }, {}).shape,
  "asTensor of a runtime's tensor": (dims) =>
    asTensor({ type: "float32", dims, data: float32(1, 2, 3) }, {}).shape,
};

for (const [name, take] of Object.entries(SHAPE_TAKERS)) {
  test(`${name} reads a shape once, and keeps a copy that nobody can change`, () => {
    const { value, reads } = readOnce([1, 3]);
    const shape = take(value);
    assert.deepEqual(shape, [1, 3]);
    assert.deepEqual(reads, ["length", "0", "1"]);
    assert.ok(Object.isFrozen(shape));
    const given = [3, 1];
    const kept = take(given);
    given[0] = 4;
    assert.deepEqual(kept, [3, 1]);
  });
}

test("shapeOf gives the size, and 0 for -0", () => {
  assert.deepEqual(shapeOf([2, 3]), { shape: [2, 3], size: 6 });
  assert.deepEqual(shapeOf([]), { shape: [], size: 1 });
  assert.ok(Object.is(shapeOf([-0, 2]).shape[0], 0));
});

const fail = (): never => {
  throw new RangeError("mine");
};

const isLong = (length: number): number[] => Array.from({ length }, () => 1);

// prettier-ignore
const BAD_SHAPES: readonly (readonly [shape: unknown, code: ErrorCode, facts: Facts])[] = [
  [null, "shape-mismatch", {}],
  [Int32Array.of(2), "shape-mismatch", {}],
  [{ length: 1, 0: 2 }, "shape-mismatch", {}],
  [[2, -1], "shape-mismatch", {}],
  [[2, 1.5], "shape-mismatch", {}],
  [["2"], "shape-mismatch", {}],
  [[2n], "shape-mismatch", {}],
  [Array(1), "shape-mismatch", {}],
  [[2 ** 53], "shape-mismatch", {}],
  [isLong(MAX_RANK + 1), "rank", { got: 65 }],
  [new Proxy([1], { get: (_, key) => (key === "length" ? 2 ** 53 : 1) }), "rank", { got: 9007199254740992 }],
  [[2 ** 16, 2 ** 16], "too-large", {}],
  [new Proxy([1], { get: () => fail() }), "shape-mismatch", {}],
];

for (const [row, [shape, code, facts]] of BAD_SHAPES.entries()) {
  test(`a shape is refused: ${code}, row ${row}`, () => {
    assertRefused(code, { ...facts, input: "data" }, () => shapeOf(shape, { input: "data" }));
    assertRefused(code, { ...facts, input: undefined }, () => shapeOf(shape));
    assertRefused(code, facts, () => Reflect.apply(zeros, undefined, ["int8", shape]));
  });
}

test("64 axes, and 2^32 - 1 elements, are not too many", () => {
  assert.equal(shapeOf(isLong(MAX_RANK)).size, 1);
  assert.equal(shapeOf([2 ** 32 - 1]).size, 2 ** 32 - 1);
  assert.equal(shapeOf([2 ** 52, 2 ** 52, 0]).size, 0);
});

test("a partly known shape has sizes, names and nulls, or is null", () => {
  assert.equal(partialShapeOf(null, "data"), null);
  assert.deepEqual(partialShapeOf([2, "N", null], "data"), [2, "N", null]);
  for (const shape of [undefined, 5, [undefined], [-1], [1.5], [2n], Array(1)]) {
    assertRefused("shape-mismatch", {}, () => partialShapeOf(shape, "data"));
  }
  for (const shape of [5, isLong(65), new Proxy([1], { get: () => fail() })]) {
    assert.throws(
      () => partialShapeOf(shape, "data", { op: "Gather" }),
      (error) => isTensorError(error) && error.op === "Gather",
    );
  }
  assertRefused("rank", { got: 65 }, () => partialShapeOf(isLong(65), "data"));
});

test("a shape in a message is short, whatever it holds", () => {
  assert.equal(printShape([2, "N", null]), "[2, N, ?]");
  assert.equal(printShape(isLong(65)), `[${"1, ".repeat(64)}...]`);
  assert.equal(printShape(isLong(64)), `[${"1, ".repeat(63)}1]`);
  const odd: readonly unknown[] = [Symbol("x"), {}, undefined, 1n];
  assert.equal(printShape(odd as readonly null[]), "[a symbol, an object, ?, 1]");
  assertRefused("shape-mismatch", {}, () => Reflect.apply(printShape, undefined, [5]));
});

// --- Objects that are like tensors.

test("the parts of a tensor-like object are read once", () => {
  const parts = { type: "float32", dims: [3], data: float32(1, 2, 3) };
  const { value, reads } = readOnce(parts);
  const made = asTensor(value, {});
  assert.equal(made.data, parts.data);
  assert.deepEqual(
    reads.filter((name) => name in parts),
    ["type", "dims", "data"],
  );
});

/** A tensor, as libraries hand it on: none of these can read a private field of it. */
const LOOKALIKES: Readonly<Record<string, (one: Tensor) => Tensor>> = {
  "a Proxy": (one) => new Proxy(one, {}),
  "a Proxy with a receiver": (one) =>
    new Proxy(one, { get: (target, key, self) => Reflect.get(target, key, self) }),
  "a Proxy of a Proxy": (one) => new Proxy(new Proxy(one, {}), {}),
  "a clone": (one) => Object.create(one),
  "a clone that copied": (one) => Object.assign(Object.create(Object.getPrototypeOf(one)), one),
};

for (const [name, like] of Object.entries(LOOKALIKES)) {
  test(`${name} of a tensor works as the tensor does`, () => {
    const one = tensor("float32", [2, 2], [1, 2, 3, 4]);
    const other = like(one);
    assert.deepEqual(other.toArray(), [
      [1, 2],
      [3, 4],
    ]);
    assert.equal(String(other), String(one));
    const made = asTensor(other, {});
    assert.equal(made.data, one.data);
    assert.ok(Tensor.isTensor(made) && Tensor.isTensor(one) && !Tensor.isTensor(other));
    scatterND(other, [[0, 0]], [5], { out: other });
    assert.deepEqual(one.toArray(), [
      [5, 2],
      [3, 4],
    ]);
  });

  test(`${name} of a tensor is disposed of with the tensor, and the other way round`, () => {
    for (const isFirst of [true, false]) {
      const one: Tensor = zeros("float32", [2]);
      const other = like(one);
      assert.deepEqual([one.isDisposed, other.isDisposed], [false, false]);
      (isFirst ? one : other).dispose();
      assert.deepEqual([one.isDisposed, other.isDisposed], [true, true]);
      assertRefused("disposed", {}, () => one.toArray());
      assertRefused("disposed", {}, () => other.toArray());
      assertRefused("disposed", { input: "data" }, () => asTensor(other, {}, "data"));
      assert.equal(String(one), "tensor(<disposed>, shape=(2,), dtype=float32)");
      assert.equal(String(other), "tensor(<disposed>)");
    }
  });
}

test("a deep clone of a tensor is a tensor of its own", () => {
  const one = tensor("float32", [2], [1, 2]);
  const [key] = Object.getOwnPropertySymbols(one);
  // What cannot be cloned may be left out.
  for (const lifetime of [
    Object.create(Object.getPrototypeOf(Reflect.get(one, key))),
    {},
    null,
    5,
  ]) {
    const clone: Tensor = Object.create(one, { [key]: { value: lifetime } });
    clone.dispose();
    assert.deepEqual([clone.isDisposed, one.isDisposed], [false, false]);
    assert.deepEqual(clone.toArray(), [1, 2]);
  }
});

test("what is no tensor has no text", () => {
  const clone = Object.create(zeros("float32", [2]), { shape: { value: [3] } });
  assertRefused("shape-mismatch", { got: 2, expected: [3] }, () => String(clone));
});

test("a copy of a tensor's properties may have another shape, and other data than what was disposed of", () => {
  const one = tensor("float32", [4], [1, 2, 3, 4]);
  const copy = { ...one, shape: [2, 2] };
  assert.deepEqual(asTensor(copy, {}).toArray(), [
    [1, 2],
    [3, 4],
  ]);
  one.dispose();
  assertRefused("disposed", {}, () => asTensor(copy, {}));
  assert.equal(asTensor({ ...copy, data: float32(1, 2, 3, 4) }, {}).size, 4);
});

test("what a tensor says of itself cannot be changed", () => {
  const one = zeros("float32", [2]);
  for (const key of ["dtype", "shape", "size", "data", "other"]) {
    assert.ok(!Reflect.set(one, key, 1), key);
  }
  const clone = Object.create(one, { shape: { value: [1_000_000] } });
  assertRefused("shape-mismatch", { got: 2, expected: [1e6] }, () => asTensor(clone, {}));
});

test("memory is given back once, by whatever is disposed of first", () => {
  const given: unknown[] = [];
  const owner = { recycle: (data: unknown): unknown => given.push(data) };
  const one = new Tensor("int8", [2], 2, new Int8Array(2), owner);
  new Proxy(one, {}).dispose();
  one.dispose();
  assert.deepEqual(given, [one.data]);
});

// --- Arrays.

/** A subclass that says that it is long, and that cannot be made a second time. */
class Samples extends Float32Array {
  static made = 0;
  constructor(...args: [number]) {
    if (Samples.made++ > 0) throw new RangeError("made again");
    super(...args);
  }
  override get length(): number {
    return 1_000_000;
  }
}

const ownProperty = (name: string): Float32Array =>
  Object.defineProperty(new Float32Array(3), name, { value: 1e6 });

const ODD_ARRAYS: Readonly<Record<string, () => Float32Array>> = {
  "of a subclass": () => new Samples(3),
  ...Object.fromEntries(
    ["constructor", "length", "buffer", "byteOffset", "byteLength"].map((name) => [
      `with a ${name} of its own`,
      () => ownProperty(name),
    ]),
  ),
};

for (const [name, make] of Object.entries(ODD_ARRAYS)) {
  test(`of an array ${name} a tensor keeps the memory alone`, () => {
    const array = make();
    array.set([1, 2, 3], 0);
    const { data } = tensor("float32", [3], array);
    assert.equal(Object.getPrototypeOf(data), Float32Array.prototype);
    assert.deepEqual([data.length, data.byteOffset, data.constructor], [3, 0, Float32Array]);
    data[1] = 9;
    assert.deepEqual([array[0], array[1], array[2]], [1, 9, 3]);
  });
}

test("bytes of Node are kept as plain bytes, without a warning", { skip: WITHOUT_NODE }, () => {
  const buffer = Buffer.from([1, 2, 3]);
  const { data } = tensor("uint8", [3], buffer);
  assert.equal(data.constructor, Uint8Array);
  assert.deepEqual([data.buffer, data.byteOffset], [buffer.buffer, buffer.byteOffset]);
});

test("an array is what it is, not what its tag says", () => {
  const bytes = new Uint8Array(3);
  Object.defineProperty(bytes, Symbol.toStringTag, { value: "Float32Array" });
  assert.deepEqual(tensor("float32", [3], bytes).data, float32(0, 0, 0));
});

test("a tensor of memory that can be resized is gone while it has another size", () => {
  const buffer: ArrayBuffer & { resize?(bytes: number): void } = Reflect.construct(ArrayBuffer, [
    8,
    { maxByteLength: 16 },
  ]);
  const one = tensor("float32", [2], new Float32Array(buffer));
  for (const [bytes, isThere] of [
    [16, false],
    [4, false],
    [8, true],
  ] as const) {
    buffer.resize?.(bytes);
    if (isThere) assert.deepEqual(one.toArray(), [0, 0]);
    else assertRefused("disposed", {}, () => one.toArray());
  }
});

test("frozen text is copied, because a tensor can be written to", () => {
  const words = Object.freeze(["a", "b"]);
  const one = tensor("string", [2], words);
  scatterND(one, [[0]], ["c"], { out: one });
  assert.deepEqual(
    [words, one.data],
    [
      ["a", "b"],
      ["c", "b"],
    ],
  );
  Object.freeze(one.data);
  assertRefused("dtype", { input: "out" }, () => scatterND(one, [[0]], ["d"], { out: one }));
  assertRefused("dtype", { input: "out" }, () =>
    asOut({ dtype: "string", shape: [2], data: words }),
  );
});

const asOut = (out: unknown): Tensor =>
  Reflect.apply(scatterND, undefined, [tensor("string", [2], ["x", "y"]), [[0]], ["z"], { out }]);

test("a list that is too short is not looked into", () => {
  let reads = 0;
  const count = (target: string[], key: PropertyKey): unknown => {
    if (key !== "length") reads++;
    return Reflect.get(target, key) ?? "a";
  };
  const list = new Proxy(["a"], { get: count });
  assertRefused("shape-mismatch", { got: 1, expected: [1e6] }, () => tensor("string", [1e6], list));
  assert.ok(reads < 10, `${reads} reads`);
});

test("a list is as long as it says at first", () => {
  const list = new Proxy([1, 2, 3], {
    get: (target, key) => (key === "length" ? 3 : Number(key) < 3 ? Reflect.get(target, key) : 9),
  });
  assert.deepEqual(tensor("int8", [3], list).toArray(), [1, 2, 3]);
  const { value } = readOnce([
    [1, 2],
    [3, 4],
  ]);
  assertRefused("shape-mismatch", { expected: [2, 2] }, () => tensor("int8", [2, 2], value));
});

test("lists that hold one list many times are looked at once where they hold no elements", () => {
  const nested = Array.from({ length: 62 }).reduce<unknown>((list) => [list, list], []);
  const shape = [...Array.from({ length: 62 }, () => 2), 0];
  assert.equal(Reflect.apply(tensor, undefined, ["int8", shape, nested]).size, 0);
  const ragged = Array.from({ length: 61 }).reduce<unknown>((list) => [list, list], [[], [0]]);
  assertRefused("shape-mismatch", { expected: shape }, () =>
    Reflect.apply(tensor, undefined, ["int8", shape, ragged]),
  );
});
