/** ONNX tensors that are refused: every rule of the format that has an error. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { DTYPE_NAMES } from "../../src/core/tensor/dtype.ts";
import { type ErrorCode } from "../../src/core/errors.ts";
import { readTensor } from "../../src/entries/onnx.ts";
import { bytes, file, int, text, varint, type Bytes } from "../support/onnx-encoder.ts";
import { entry, external, head, TENSOR } from "../support/onnx-parts.ts";
import { WITHOUT_NODE } from "../support/platform.ts";
import { assertRefused } from "../support/refusal.ts";

const { dims, dataType, segment, floatData, int32Data, stringData, int64Data, uint64Data } = TENSOR;
const raw = (...payload: number[]): Bytes => bytes(TENSOR.rawData, payload);
const zeros = (count: number): Bytes => raw(...Array<number>(count).fill(0));
const named = (name: string): Bytes => text(TENSOR.name, name);
/** A record that says that `length` bytes of raw data follow. */
const promising = (length: number | bigint): Bytes => [0x4a, ...varint(length)];
const AT_W = external({ location: "w" });
const AT_W_OF = (length: number): Bytes => external({ location: "w", length: String(length) });
const endless = Array<number>(11).fill(0xff);

type Fault = readonly [what: string, code: ErrorCode, ...parts: Bytes[]];
const BAD = "malformed-file";
const OTHER = "unsupported-file";

/** Data that do not fit the shape, or not the data type. */
// prettier-ignore
const VALUES: readonly Fault[] = [
  ["an unknown data type", OTHER, int(dims, 1), int(dataType, 99), raw(0)],
  ["no data type", BAD, int(dims, 1), raw(0)],
  ["a negative data type", BAD, int(dims, 1), int(dataType, -1), raw(0)],
  ["short raw data", BAD, named("x"), head("float32", 2), zeros(7)],
  ["long raw data", BAD, head("float32", 2), zeros(9)],
  ["no data", BAD, head("float32", 2)],
  ["no text", BAD, head("string", 2)],
  ["too few values", BAD, head("int64", 2), int(int64Data, 1)],
  ["too many values", BAD, head("int64", 2), bytes(int64Data, [1, 2, 3])],
  ["too many in pieces", BAD, head("int64", 2), int(int64Data, 1), bytes(int64Data, [2, 3])],
  ["half a complex number", BAD, head("complex64", 1), bytes(floatData, [0, 0, 0, 0])],
  ["a byte too many of 4 bits", BAD, head("int4", 3), bytes(int32Data, [1, 2, 3])],
  ["two sources", BAD, head("int64", 1), int(int64Data, 1), zeros(8)],
  ["two typed sources", BAD, head("int64", 1), int(int64Data, 1), int(int32Data, 1)],
  ["the wrong field", BAD, head("int64", 1), int(int32Data, 1)],
  ["data for no elements", BAD, head("int64", 0), int(int64Data, 1)],
  ["text in raw data", BAD, head("string", 1), raw(65)],
  ["bad UTF-8", BAD, head("string", 1), bytes(stringData, [0xc3])],
  ["a bad name", BAD, bytes(TENSOR.name, [0xff])],
  ["a bool of 2", BAD, head("bool", 2), raw(1, 2)],
  ["a typed bool of 2", BAD, head("bool", 1), int(int32Data, 2)],
  ["a typed bool of -1", BAD, head("bool", 1), int(int32Data, -1)],
  ["128 in int8", BAD, head("int8", 1), int(int32Data, 128)],
  ["-1 in uint8", BAD, head("uint8", 1), int(int32Data, -1)],
  ["a byte too many of 2 bits", BAD, head("int2", 5), bytes(int32Data, [1, 2, 3])],
  ["a byte too few of 2 bits", BAD, head("uint2", 5), bytes(TENSOR.rawData, [1])],
  ["256 in uint2", BAD, head("uint2", 1), int(int32Data, 256)],
  ["256 in float8e5m2", BAD, head("float8e5m2", 1), int(int32Data, 256)],
  ["64 in float6e2m3", BAD, head("float6e2m3", 1), int(int32Data, 64)],
  ["-1 in float6e3m2", BAD, head("float6e3m2", 1), int(int32Data, -1)],
  ["256 in float6e3m2", BAD, head("float6e3m2", 1), int(int32Data, 256)],
  ["packed values of 6 bits", BAD, head("float6e2m3", 4), bytes(int32Data, [1, 2, 3])],
  ["a byte too few of 6 bits", BAD, head("float6e2m3", 3), zeros(2)],
  ["a byte too many of 6 bits", BAD, head("float6e2m3", 2), zeros(3)],
  ["-129 in uint4", BAD, head("uint4", 1), int(int32Data, -129)],
  ["65536 in float16", BAD, head("float16", 1), int(int32Data, 65536)],
  ["65536 in uint16", BAD, head("uint16", 1), int(int32Data, 65536)],
  ["65536 in int16", BAD, head("int16", 1), int(int32Data, 65536)],
  ["-32769 in int16", BAD, head("int16", 1), int(int32Data, -32769)],
  ["-32769 in bfloat16", BAD, head("bfloat16", 1), int(int32Data, -32769)],
  ["2^32 in uint32", BAD, head("uint32", 1), int(uint64Data, 2 ** 32)],
  ["a segment", OTHER, head("float32", 1), bytes(segment, int(1, 5)), zeros(4)],
  ["a location of 2", BAD, int(TENSOR.dataLocation, 2)],
  ["a location of -1", BAD, int(TENSOR.dataLocation, -1)],
];

// prettier-ignore
const SHAPES: readonly Fault[] = [
  ["a negative dimension", BAD, head("float32", 2, -1)],
  ["the least dimension", BAD, head("float32", -(2n ** 63n))],
  ["65 dimensions", OTHER, bytes(dims, Array(65).fill(1))],
  ["65 dimensions in two pieces", OTHER, bytes(dims, Array(64).fill(1)), int(dims, 1)],
  ["a dimension of 2^62", "too-large", head("float32", 2n ** 62n)],
  ["a dimension of 2^53", "too-large", head("float32", 0, 2n ** 53n)],
  ["2^40 elements", "too-large", head("uint8", 2 ** 20, 2 ** 20)],
  ["2^32 elements", "too-large", head("uint8", 2 ** 32)],
  ["2^31 strings", BAD, head("string", 2 ** 31), text(stringData, "")],
];

/** Records that are none, and records in an encoding that their field has not. */
// prettier-ignore
const RECORDS: readonly Fault[] = [
  ["half a packed float", BAD, head("float32", 1), bytes(floatData, [0, 0, 0])],
  ["an open packed varint", BAD, head("int64", 1), bytes(int64Data, [0x80])],
  ["an endless packed varint", BAD, head("int64", 1), bytes(int64Data, [...endless, 0])],
  ["packed raw data", BAD, int(TENSOR.rawData, 1)],
  ["a packed data type", BAD, bytes(dataType, [1])],
  ["a name of numbers", BAD, int(TENSOR.name, 1)],
  ["floats as varints", BAD, head("float32", 1), int(floatData, 1)],
  ["a record beyond the end", BAD, [0x4a, 5, 0]],
  ["a record one byte too long", BAD, [0x4a, 2, 0]],
  ["a length of 2^63", BAD, promising(2n ** 63n)],
  ["a length of 2^32 + 1", BAD, head("uint8", 1), promising(2 ** 32 + 1), [7]],
  ["a length of 2^35 + 1", BAD, head("uint8", 1), promising(2 ** 35 + 1), [7]],
  ["a length in six bytes", BAD, head("uint8", 1), [0x4a, 0x81, 128, 128, 128, 128, 0, 7]],
  ["a length of 2^32 - 1", BAD, promising(2 ** 32 - 1)],
  ["a group", BAD, [0x0b, 0x0c]],
  ["the end of a group", BAD, [0x0c]],
  ["wire type 6", BAD, [0x0e, 0]],
  ["wire type 7", BAD, [0x0f, 0]],
  ["field 0", BAD, [0x02, 0]],
  ["a tag of 2^32 and more", BAD, head("uint8", 1), [0xca, 128, 128, 128, 16, 1, 7]],
  ["a file cut off", BAD, [0x08]],
  ["a file cut off in a number", BAD, [0x08, 0x80]],
  ["a double cut off", BAD, [...varint((99 << 3) | 1), 1, 2, 3]],
  ["an unknown number that never ends", BAD, [0xf8, 1, ...endless, 0]],
];

// prettier-ignore
const PATHS = [
  "/etc/passwd", "/", "../w", "a/../../w", "a/..", "..", "a\\w", "C:w", "c:/w", "z:", "w\0",
  "\0", "", ".", "a/", "a/.", "./",
];
const NUMBERS = ["-1", "+1", "1.5", "0x1", "1e3", "", " 1", "1 ", "\u0661", "00000000000000001"];

// prettier-ignore
const EXTERNAL: readonly Fault[] = [
  ["external data and raw data", BAD, head("float32", 1), zeros(4), AT_W],
  ["external and typed data", BAD, head("int64", 1), int(int64Data, 1), AT_W],
  ["external text", BAD, head("string", 1), AT_W],
  ["no callback", "unsupported-model", head("float32", 1), AT_W],
  ["no location", BAD, head("float32", 1), external({ offset: "0" })],
  ["no entries", BAD, head("float32", 1), int(TENSOR.dataLocation, 1)],
  ["two locations", BAD, external({ location: "w" }), external({ location: "v" })],
  ["two offsets that are one", BAD, external({ offset: "0" }), external({ offset: "0" })],
  ["an entry that ends outside", BAD, bytes(TENSOR.externalData, [0x12, 9, 65])],
  ["an entry of numbers", BAD, bytes(TENSOR.externalData, int(2, 1))],
  ["a length that is too large", BAD, head("float32", 1), AT_W_OF(5)],
  ["a length that is too small", BAD, head("float32", 1), AT_W_OF(3)],
  ["a length of nothing", BAD, head("float32", 0), AT_W_OF(1)],
  ...PATHS.map((location): Fault =>
    [`location ${JSON.stringify(location)}`, BAD, head("float32", 1), external({ location })]),
  ...[...NUMBERS, "99999999999999999999", "9007199254740993", "9007199254740992"].flatMap((text) =>
    ["offset", "length"].map((key): Fault =>
      [`${key} ${JSON.stringify(text)}`, BAD, head("float32", 1),
        external({ location: "w", [key]: text })])),
];

for (const [what, code, ...parts] of [...VALUES, ...SHAPES, ...RECORDS, ...EXTERNAL]) {
  test(`refused: ${what}`, () => {
    assertRefused(code, {}, () => readTensor(file(...parts)));
  });
}

test("what is no bytes at all", () => {
  for (const value of ["model.onnx", null, undefined, 7, {}, [8, 1], new ArrayBuffer(8)]) {
    assertRefused("malformed-file", {}, () => readTensor(value as never));
  }
});

test("a key of external data that every object has is a key like any other", () => {
  const part = [
    ...external({ location: "w" }),
    ...bytes(TENSOR.externalData, entry("__proto__", "x")),
  ];
  assertRefused("unsupported-model", {}, () => readTensor(file(head("float32", 1), part)));
});

test("a claim of 2^31 elements allocates nothing", { skip: WITHOUT_NODE }, () => {
  const before = process.memoryUsage().arrayBuffers;
  for (const dtype of DTYPE_NAMES) {
    const claims = [
      file(head(dtype, 2 ** 31)),
      file(head(dtype, 2 ** 31), external({ location: "w" })),
    ];
    for (const claim of claims) {
      assertRefused("malformed-file", {}, () =>
        readTensor(claim, { external: () => new Uint8Array(4) }),
      );
    }
  }
  assert.ok(process.memoryUsage().arrayBuffers - before < 2 ** 20);
});
