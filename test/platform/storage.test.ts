/** Arrays as memory: when two share some, copies, and elements as files pack them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  allocate,
  DTYPE_NAMES,
  DTYPES,
  rowOf,
  type DType,
  type Storage,
} from "../../src/core/tensor/dtype.ts";
import {
  classOf,
  copy,
  isDetached,
  pack,
  packedBytes,
  unpack,
} from "../../src/core/tensor/storage.ts";
import { isSame, Memory, overlaps } from "../../src/core/tensor/memory.ts";

const buffer = new ArrayBuffer(32);
const at = (byteOffset: number, length: number): Float32Array =>
  new Float32Array(buffer, byteOffset, length);
const words = ["a", "b"];

/** Two arrays, whether they share memory, and whether they are the same memory. */
const PAIRS: readonly (readonly [
  name: string,
  a: Storage,
  b: Storage,
  shares: boolean,
  same: boolean,
])[] = [
  ["an array and itself", at(0, 2), at(0, 2), true, true],
  ["an array and a part of it", at(0, 4), at(4, 1), true, false],
  ["arrays that overlap in one element", at(0, 4), at(12, 4), true, false],
  ["neighbours", at(0, 4), at(16, 4), false, false],
  ["an array and its beginning", at(8, 2), at(8, 1), true, false],
  ["the last bytes of one", at(8, 2), new Uint8Array(buffer, 15, 1), true, false],
  ["the byte after the last", at(8, 2), new Uint8Array(buffer, 16, 1), false, false],
  ["an empty array inside another", at(0, 4), at(8, 0), false, false],
  ["arrays of two buffers", at(0, 2), new Float32Array(2), false, false],
  ["a list and itself", words, words, true, true],
  ["equal lists", words, [...words], false, false],
  ["a list and an array", words, at(0, 2), false, false],
];

for (const [name, a, b, shares, same] of PAIRS) {
  test(`${name} ${shares ? "share" : "do not share"} memory`, () => {
    const [one, other] = [new Memory(a), new Memory(b)];
    assert.deepEqual([overlaps(one, other), overlaps(other, one)], [shares, shares]);
    assert.deepEqual([isSame(one, other), isSame(other, one)], [same, same]);
  });
}

test("an empty list shares nothing with itself", () => {
  const none = new Memory([]);
  assert.ok(!overlaps(none, none));
});

test("a copy keeps every bit", () => {
  const from = new Float32Array(Uint32Array.of(0x7fa00001, 0x80000000).buffer);
  const to = new Float32Array(2);
  copy(from, to);
  assert.deepEqual([...new Uint32Array(to.buffer)], [0x7fa00001, 0x80000000]);
  const texts = ["", ""];
  copy(["a", "b"], texts);
  assert.deepEqual(texts, ["a", "b"]);
});

test("the class of an array is what it is, and only of typed arrays there is one", () => {
  assert.equal(classOf(new Uint8ClampedArray(1)), "Uint8ClampedArray");
  for (const other of [undefined, null, 1, [], {}, new DataView(buffer), new Proxy(at(0, 1), {})]) {
    assert.equal(classOf(other), undefined);
  }
});

test("an empty array is detached only if its buffer is", () => {
  const data = new Float32Array(0);
  const full = new Float32Array(1);
  assert.ok(!isDetached(data) && !isDetached(full) && !isDetached([]) && !isDetached(undefined));
  for (const array of [data, full]) structuredClone(array.buffer, { transfer: [array.buffer] });
  assert.ok(isDetached(data) && isDetached(full));
});

// ONNX, "4 bit types" and "2 bit integer types": the first element of a byte in its lowest bits; spare bits are 0.
// prettier-ignore
const PACKED: readonly (readonly [dtype: DType, elements: readonly number[], bytes: readonly number[]])[] = [
  ["uint4", [1, 2, 15], [0x21, 0x0f]],
  ["int4", [-1, 7, -8, 0], [0x7f, 0x08]],
  ["float4e2m1", [9, 6], [0x69]],
  ["uint4", [], []],
  ["uint2", [1, 2, 3, 0, 1], [0x39, 0x01]],
  ["int2", [-2, 1, -1], [0x36]],
  ["float6e2m3", [1, 63, 32, 21, 2], [0xc1, 0x0f, 0x56, 0x02]],
  ["float6e3m2", [], []],
  ["int16", [1, -2], [1, 0, 0xfe, 0xff]],
];

for (const [dtype, elements, bytes] of PACKED) {
  test(`${dtype} [${elements}] is [${bytes}] in a file`, () => {
    const data = allocate(dtype, elements.length) as Int8Array;
    data.set(elements);
    assert.equal(packedBytes(dtype, elements.length), bytes.length);
    assert.deepEqual([...pack(dtype, data)], bytes);
    assert.deepEqual([...unpack(dtype, elements.length, Uint8Array.from(bytes))], elements);
  });
}

test("unpacking makes memory of its own, from bytes at any offset", () => {
  const bytes = Uint8Array.of(9, 1, 0, 0, 0).subarray(1);
  const data = unpack("int32", 1, bytes);
  bytes[0] = 5;
  assert.deepEqual([...data], [1]);
});

test("fresh storage is zeros or empty text, as long as the elements need", () => {
  for (const dtype of DTYPE_NAMES) {
    const data = allocate(dtype, 3);
    const zero = dtype === "string" ? "" : rowOf(dtype).family === "int64" ? 0n : 0;
    assert.deepEqual(
      Array.from<unknown>(data),
      Array.from({ length: 3 * DTYPES[dtype].lanes }, () => zero),
    );
  }
});
