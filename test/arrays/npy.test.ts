/**
 * NPY files that are read, and those that are written. `NUMPY_FILES` come from NumPy, so both directions are compared
 * with its very bytes. Files that are refused are in `npy-hostile.test.ts`.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { dtypesWhere, rowOf, type NumericStorage } from "../../src/core/tensor/dtype.ts";
import { readNpy, writeNpy } from "../../src/entries/npy.ts";
import { bytesOf } from "../../src/core/tensor/storage.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, zeros } from "../../src/core/tensor/tensor.ts";
import { fileOf, NUMPY_FILES } from "../fixtures/npy-files.ts";
import { hexBytes, npyDictionary, npyFile, npyOf, ORDERS } from "../support/npy-file.ts";
import { randomFrom, randomTensor } from "../support/random.ts";
import { assertRefused } from "../support/refusal.ts";

const ones = (count: number): number[] => Array.from({ length: count }, () => 1);

for (const one of NUMPY_FILES) {
  const { numpy, dtype, shape, values, canonical } = one;
  test(`NumPy's file of ${numpy}`, () => {
    const file = fileOf(one);
    const read = readNpy(file);
    assert.equal(read.dtype, dtype);
    assert.deepEqual(read.shape, shape);
    assert.deepEqual(read.toArray(), values);
    assert.ok(equals(readNpy(writeNpy(read)), read));
    if (canonical) assert.deepEqual(writeNpy(read), file);
  });
}

test("every data type is among NumPy's files", () => {
  assert.deepEqual(
    new Set(NUMPY_FILES.map(({ dtype }) => dtype)),
    new Set(dtypesWhere(({ npy }) => npy !== undefined)),
  );
});

for (const dtype of dtypesWhere(({ npy }, name) => npy !== undefined && name !== "string")) {
  test(`bits of ${dtype} survive each byte order and each order of axes`, () => {
    const data = randomTensor(dtype, [3, 1, 4, 2], randomFrom(1));
    const bits = bytesOf(data.data as NumericStorage);
    // Two NaNs with payloads, one of them signalling, in whatever float this is.
    const { bytes } = rowOf(dtype);
    if (bytes > 1) bits.set([1, 0, 0, 0, 0, 0, 0xf0, 0x7f].slice(-bytes));
    if (bytes > 1) bits.set([1, 0, 0x80, 0x7f], bytes);
    for (const order of ORDERS) assert.ok(equals(readNpy(npyOf(data, order)), data));
  });
}

/** Headers, without and with a byte order, of the same two elements. */
// prettier-ignore
const HEADERS: readonly string[] = [
  `{"descr":"<i2","fortran_order":False,"shape":(2,)}`,
  "{'shape': (2L,), 'descr': '<i2', 'fortran_order': False}",
  " \t{ 'shape' : ( 2 , ) , 'fortran_order' : True , 'descr' : 'i2' } \r\n\n",
  "{'descr': '|i2', 'fortran_order': False, 'shape': (2,),}",
  "{'descr': '=i2', 'fortran_order': False, 'shape': (002,)}",
];

for (const header of HEADERS) {
  test(`the header ${JSON.stringify(header)} is read`, () => {
    const expected = tensor("int16", [2], new Int16Array([1, 2]));
    for (const version of [1, 2, 3])
      assert.deepEqual(readNpy(npyFile(header, [1, 0, 2, 0], version)), expected);
  });
}

/** What is read, its descr, its shape in Python, its bytes, its values, and whether it is in Fortran order. */
type Accepted = readonly [
  what: string,
  descr: string,
  shape: string,
  bytes: string,
  values: unknown,
  isFortran?: true,
];

/** The last of what is read; `npy-hostile.test.ts` has the first of what is not. */
// prettier-ignore
const ACCEPTED: readonly Accepted[] = [
  ["a shape without spaces", "|u1", "(1,2)", "07 08", [[7, 8]]],
  ["a comma behind two dimensions", "|u1", "(1, 2,)", "07 08", [[7, 8]]],
  ["the greatest code point", "<U1", "()", "ffff1000", "\u{10ffff}"],
  ["a low surrogate in front of a high one", "<U2", "()", "00dc0000 00d80000", "\udc00\ud800"],
  ["the last high surrogate alone", "<U2", "()", "ffdb0000 00e00000", "\udbff\ue000"],
  ["half of a character at the end of one text and the other half in the next", "<U1", "(2,)",
    "00d80000 00dc0000", ["\ud800", "\udc00"]],
  ["text of no characters in Fortran order", "<U0", "(2, 1, 2)", "", [[["", ""]], [["", ""]]], true],
  ["no elements in Fortran order", "<U3", "(2, 0, 3)", "", [[], []], true],
  ["text in Fortran order", "<U2", "(2, 2)", "61000000 62000000 63000000 00000000 64000000 00000000 65000000 00000000",
    [["ab", "d"], ["c", "e"]], true],
  ["strings of no characters", "<U0", "(2, 1)", "", [[""], [""]]],
  ["a dimension of 2^53 - 1", "<f4", "(0, 9007199254740991)", "", []],
  ["64 dimensions", "|u1", `(${"0, ".repeat(64)})`, "", []],
  ["a byte order on one byte", ">u1", "(2,)", "07 08", [7, 8]],
  ["a scalar in Fortran order", "<i2", "()", "0700", 7, true],
  ["one element in Fortran order", "|i1", "(1, 1)", "07", [[7]], true],
  ["one axis of many in Fortran order", "|i1", "(1, 2, 1)", "07 08", [[[7], [8]]], true],
  ["bool as ?", "?", "(2,)", "01 00", [true, false]],
  ["bfloat16 as |V2", "|V2", "(2,)", "803f 00c0", [1, -2]],
  ["the longest text there is, of no elements", "<U536870911", "(0,)", "", []],
];

for (const [what, descr, shape, bytes, values, isFortran = false] of ACCEPTED) {
  test(`read: ${what}`, () => {
    const dictionary = npyDictionary(descr, shape, isFortran ? "True" : "False");
    assert.deepEqual(readNpy(npyFile(dictionary, hexBytes(bytes))).toArray(), values);
  });
}

test("a file may hold as many empty strings as it has bytes, and no more", () => {
  const file = (count: number): Uint8Array => npyFile(npyDictionary("<U0", `(${count},)`));
  const { length } = file(100);
  assert.equal(file(length - 1).length, length - 1);
  assert.equal(readNpy(file(length - 1)).size, length - 1);
  assertRefused("malformed-file", {}, () => readNpy(file(length + 1)));
});

test("bfloat16 is written as <V2", () => {
  const half = tensor("bfloat16", [2], new Uint16Array([0x7fc1, 0x3f80]));
  assert.match(String.fromCharCode(...writeNpy(half)), /'descr': '<V2'/);
});

test("the elements are a copy, whatever the bytes lie in and whatever follows them", () => {
  const file = [...npyFile(npyDictionary("<i4", "(1,)"), [7, 0, 0, 0]), 1, 2, 3];
  const odd = new Uint8Array(file.length + 1).subarray(1);
  // Neither is everywhere in browsers.
  const shared =
    typeof SharedArrayBuffer === "function"
      ? [new Uint8Array(new SharedArrayBuffer(file.length))]
      : [];
  const nodes = typeof Buffer === "function" ? [Buffer.from(file)] : [];
  for (const bytes of [Uint8Array.from(file), odd, ...shared, ...nodes]) {
    bytes.set(file);
    const read = readNpy(bytes);
    bytes.fill(0xff);
    assert.deepEqual(read, tensor("int32", [1], new Int32Array([7])));
    assert.ok(read.data instanceof Int32Array && read.data.buffer instanceof ArrayBuffer);
  }
});

test("an onnxruntime tensor is written as ours is", () => {
  const data = new Float32Array([1, 2]);
  const foreign = { type: "float32", dims: [2], data };
  assert.deepEqual(writeNpy(foreign), writeNpy(tensor("float32", [2], data)));
});

test("long text, lone surrogates and NULs within survive", () => {
  // prettier-ignore
  const texts = ["x\u{1F600}".repeat(5000), "\ud800", "\udc00\ud800", "a\0b", "\0a", "", "\u{10000}b", "\uffff"];
  const written = tensor("string", [texts.length], texts);
  assert.ok(equals(readNpy(writeNpy(written)), written));
});

/** Texts, and the code points of the longest. */
const WIDTHS: readonly (readonly [texts: string[], width: string])[] = [
  [["\u{1F600}\u{1F600}", "abc"], "3"],
  [["abc", "\u{1F600}\u{1F600}"], "3"],
  // Halves of characters are code points where they are not a pair.
  [["\udc00\ud800\udc00"], "2"],
  [["\ud83d\ud83d"], "2"],
  // The last character of one unit and the first of two.
  [["\uffff\u{10000}"], "2"],
  [[], "1"],
];

test("text is as long as its longest element in code points", () => {
  for (const [texts, width] of WIDTHS) {
    const file = String.fromCharCode(...writeNpy(tensor("string", [texts.length], texts)));
    assert.equal(/<U(\d+)/.exec(file)?.[1], width);
  }
});

/** Shapes without elements, and at which byte NumPy's headers of them in int8 end: just below a limit, at it and above. */
// prettier-ignore
const HEADER_ENDS: readonly (readonly [shape: readonly number[], end: number])[] = [
  [[0, ...ones(12), 10], 128], [[0, ...ones(12), 100], 192], [[0, ...ones(33), 100], 192],
  [[0, ...ones(33), 1000], 256], [[0, ...ones(54), 1000], 256], [[0, ...ones(56)], 256],
  [[0, ...ones(55), 10], 320], [[1000, ...ones(11), 10, 0], 128], [[1000, ...ones(11), 100, 0], 192],
];

for (const [shape, end] of HEADER_ENDS) {
  test(`the header of [${shape.slice(-3)}], of ${shape.length} dimensions, ends at byte ${end}`, () => {
    assert.equal(writeNpy(zeros("int8", shape)).length, end);
  });
}

test("400,000 texts without characters are read in a moment", () => {
  const file = npyFile(npyDictionary("<U1", "(400000,)"), new Uint8Array(4 * 400_000));
  assert.ok(readNpy(file).data.every((text) => text === ""));
});

test("a header of more than 512 bytes has its length in both bytes, and ends at a multiple of 64", () => {
  const shape = [0, ...Array<number>(63).fill(2 ** 40)];
  const file = writeNpy(zeros("int8", shape));
  assert.deepEqual(readNpy(file).shape, shape);
  // 10 bytes in front; a comma, a blank and 13 digits for each of 63 dimensions, 56 characters around them;
  // 20 blanks for the first dimension to grow, and a line break: 1032.
  assert.equal(file.length, 1088);
  assert.deepEqual([file[8], file[9]], [(1088 - 10) & 255, (1088 - 10) >> 8]);
});
