/** ONNX tensors: every data type through every encoding, and every rule that has an error. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { DTYPE_NAMES, DTYPES, type DType } from "../src/tensor/dtype.ts";
import { isTensorError, type ErrorCode } from "../src/errors.ts";
import { readTensor, writeTensor } from "../src/onnx/index.ts";
import { equals, tensor, type Tensor } from "../src/tensor/tensor.ts";
import type { Values } from "../src/tensor/values.ts";
import { bytes, file, int, littleEndian, numbers, text, type Bytes } from "./onnx-encoder.ts";
import { WITHOUT_NODE } from "./support/platform.ts";

interface Sample {
  readonly values: Values;
  /** `raw_data`, and the values of the typed field with its number and encoding. */
  readonly raw: Bytes | null;
  readonly field: number;
  readonly kind: "varint" | "float" | "double" | "text";
  readonly typed: readonly (number | bigint | string)[];
}

const FLOATS = [1.5, -0, NaN, -Infinity];
const INT = { field: 5, kind: "varint" } as const;

// prettier-ignore
const SAMPLES: Readonly<Record<DType, Sample>> = {
  bool:       { ...INT, values: [true, false, true, true], raw: [1, 0, 1, 1], typed: [1, 0, 1, 1] },
  string:     { field: 6, kind: "text", values: ["", "ä", "\ufeff😀", "a\nb"], raw: null, typed: ["", "ä", "\ufeff😀", "a\nb"] },
  float16:    { ...INT, values: new Uint16Array([0x3c00, 0x8000, 0xfc00, 0x7e01]), raw: [0, 0x3c, 0, 0x80, 0, 0xfc, 1, 0x7e], typed: [0x3c00, 0x8000, 0xfc00, 0x7e01] },
  bfloat16:   { ...INT, values: new Uint16Array([0x3f80, 0x8000, 0xff80, 0x7fc1]), raw: [0x80, 0x3f, 0, 0x80, 0x80, 0xff, 0xc1, 0x7f], typed: [0x3f80, 0x8000, 0xff80, 0x7fc1] },
  float32:    { field: 4, kind: "float", values: FLOATS, raw: littleEndian(new Float32Array(FLOATS)), typed: FLOATS },
  float64:    { field: 10, kind: "double", values: FLOATS, raw: littleEndian(new Float64Array(FLOATS)), typed: FLOATS },
  int8:       { ...INT, values: [-128, -1, 0, 127], raw: [128, 255, 0, 127], typed: [-128, -1, 0, 127] },
  int16:      { ...INT, values: [-32768, -1, 0, 32767], raw: [0, 128, 255, 255, 0, 0, 255, 127], typed: [-32768, -1, 0, 32767] },
  int32:      { ...INT, values: [-(2 ** 31), -1, 0, 2 ** 31 - 1], raw: littleEndian(new Int32Array([-(2 ** 31), -1, 0, 2 ** 31 - 1])), typed: [-(2 ** 31), -1, 0, 2 ** 31 - 1] },
  int64:      { field: 7, kind: "varint", values: [-(2n ** 63n), -1n, 0n, 2n ** 63n - 1n], raw: littleEndian(new BigInt64Array([-(2n ** 63n), -1n, 0n, 2n ** 63n - 1n])), typed: [-(2n ** 63n), -1n, 0n, 2n ** 63n - 1n] },
  uint8:      { ...INT, values: [0, 1, 128, 255], raw: [0, 1, 128, 255], typed: [0, 1, 128, 255] },
  uint16:     { ...INT, values: [0, 1, 32768, 65535], raw: [0, 0, 1, 0, 0, 128, 255, 255], typed: [0, 1, 32768, 65535] },
  uint32:     { field: 11, kind: "varint", values: [0, 1, 2 ** 31, 2 ** 32 - 1], raw: littleEndian(new Uint32Array([0, 1, 2 ** 31, 2 ** 32 - 1])), typed: [0, 1, 2 ** 31, 2 ** 32 - 1] },
  uint64:     { field: 11, kind: "varint", values: [0n, 1n, 2n ** 63n, 2n ** 64n - 1n], raw: littleEndian(new BigUint64Array([0n, 1n, 2n ** 63n, 2n ** 64n - 1n])), typed: [0n, 1n, 2n ** 63n, 2n ** 64n - 1n] },
  complex64:  { field: 4, kind: "float", values: new Float32Array([1, 2, 3, 4, 5, 6, -0, NaN]), raw: littleEndian(new Float32Array([1, 2, 3, 4, 5, 6, -0, NaN])), typed: [1, 2, 3, 4, 5, 6, -0, NaN] },
  complex128: { field: 10, kind: "double", values: new Float64Array([1, 2, 3, 4, 5, 6, -0, NaN]), raw: littleEndian(new Float64Array([1, 2, 3, 4, 5, 6, -0, NaN])), typed: [1, 2, 3, 4, 5, 6, -0, NaN] },
  float8e4m3fn:   { ...INT, values: new Uint8Array([0x3c, 0x80, 0x7f, 0xfe]), raw: [0x3c, 0x80, 0x7f, 0xfe], typed: [0x3c, 0x80, 0x7f, 0xfe] },
  float8e4m3fnuz: { ...INT, values: new Uint8Array([0x44, 0x00, 0x80, 0xff]), raw: [0x44, 0x00, 0x80, 0xff], typed: [0x44, 0x00, 0x80, 0xff] },
  float8e5m2:     { ...INT, values: new Uint8Array([0x3e, 0x80, 0x7e, 0xfc]), raw: [0x3e, 0x80, 0x7e, 0xfc], typed: [0x3e, 0x80, 0x7e, 0xfc] },
  float8e5m2fnuz: { ...INT, values: new Uint8Array([0x42, 0x00, 0x80, 0xff]), raw: [0x42, 0x00, 0x80, 0xff], typed: [0x42, 0x00, 0x80, 0xff] },
  // Two to a byte, the first in the low half.
  uint4:          { ...INT, values: [0, 1, 8, 15], raw: [0x10, 0xf8], typed: [0x10, 0xf8] },
  int4:           { ...INT, values: [-8, -1, 0, 7], raw: [0xf8, 0x70], typed: [0xf8, 0x70] },
  float4e2m1:     { ...INT, values: new Uint8Array([0, 1, 9, 15]), raw: [0x10, 0xf9], typed: [0x10, 0xf9] },
  float8e8m0:     { ...INT, values: new Uint8Array([0, 127, 128, 255]), raw: [0, 127, 128, 255], typed: [0, 127, 128, 255] },
};

const head = (dtype: DType, ...dims: (number | bigint)[]): Bytes => [
  ...dims.flatMap((dim) => int(1, dim)),
  ...int(2, DTYPES[dtype].onnx.number),
];

function typedRecords({ field, kind, typed }: Sample, packed: boolean): Bytes {
  if (kind === "text") return typed.flatMap((value) => text(field, String(value)));
  return numbers(field, typed as (number | bigint)[], kind, packed);
}

function assertSame(actual: Tensor, expected: Tensor): void {
  assert.ok(
    equals(actual, expected),
    `${actual.dtype} ${String(actual.data)} is not ${String(expected.data)}`,
  );
}

for (const dtype of DTYPE_NAMES) {
  const sample = SAMPLES[dtype];
  const expected = tensor(dtype, [2, 2], sample.values);

  test(`${dtype}: raw, packed, unpacked, written and read`, () => {
    if (sample.raw !== null) {
      assertSame(readTensor(file(head(dtype, 2, 2), bytes(9, sample.raw))), expected);
    }
    assertSame(readTensor(file(head(dtype, 2, 2), typedRecords(sample, true))), expected);
    assertSame(readTensor(file(head(dtype, 2, 2), typedRecords(sample, false))), expected);
    // Fields in any order, with fields that nobody knows between them, at an odd address.
    const odd = file(
      [0],
      typedRecords(sample, true),
      int(99, 5),
      text(12, "doc"),
      text(8, "x"),
      head(dtype, 2, 2),
    );
    assertSame(readTensor(odd.subarray(1)), expected);
    assertSame(readTensor(writeTensor(expected)), expected);
    assertSame(readTensor(writeTensor(expected, "a name")), expected);
    const scalar = tensor(
      dtype,
      [],
      dtype === "string" ? "x" : dtype.startsWith("complex") ? [1, 2] : 1,
    );
    assertSame(readTensor(writeTensor(scalar)), scalar);
    for (const shape of [[0], [2, 0, 3]]) {
      const empty = tensor(dtype, shape, []);
      assertSame(readTensor(writeTensor(empty)), empty);
      assertSame(readTensor(file(head(dtype, ...shape))), empty);
    }
  });
}

test("writeTensor writes these bytes", () => {
  assert.deepEqual(
    writeTensor(tensor("int16", [2], [1, -2]), "x"),
    file(int(1, 2), int(2, 5), text(8, "x"), bytes(9, [1, 0, 254, 255])),
  );
  assert.deepEqual(
    writeTensor(tensor("string", [1, 2], ["a", ""])),
    file(int(1, 1), int(1, 2), int(2, 8), text(6, "a"), text(6, "")),
  );
});

test("the result has memory of its own", () => {
  const source = file(head("uint8", 2), bytes(9, [1, 2]));
  const result = readTensor(source);
  source.fill(0);
  assert.deepEqual(result.toArray(), [1, 2]);
});

test("16 bits may be sign-extended or not, packed dims, a field in two pieces", () => {
  assert.deepEqual(
    readTensor(file(head("float16", 2), numbers(5, [-1, 0xffff], "varint", true))).data,
    new Uint16Array([0xffff, 0xffff]),
  );
  assert.deepEqual(
    readTensor(file(head("int16", 2), numbers(5, [-2, 0xfffe], "varint", true))).toArray(),
    [-2, -2],
  );
  assert.deepEqual(readTensor(file(head("uint16", 1), int(5, -1))).toArray(), [65535]);
  assert.deepEqual(
    readTensor(file(bytes(1, [2, 1]), int(2, 7), int(7, 5), bytes(7, [6]))).toArray(),
    [[5n], [6n]],
  );
  // The payload of a NaN is data.
  const nan = readTensor(file(head("float32", 1), bytes(4, [1, 0, 0xa0, 0x7f])));
  assert.deepEqual(
    new Uint8Array((nan.data as Float32Array).buffer),
    Uint8Array.of(1, 0, 0xa0, 0x7f),
  );
});

const F32 = DTYPES.float32.onnx.number;
const external = (entries: Readonly<Record<string, string>>): Bytes => [
  ...int(14, 1),
  ...Object.entries(entries).flatMap(([key, value]) =>
    bytes(13, [...text(1, key), ...text(2, value)]),
  ),
];

// prettier-ignore
const FAULTS: readonly (readonly [name: string, code: ErrorCode, message: RegExp, ...parts: Bytes[]])[] = [
  ["an unknown data type", "malformed-file", /data type 99, which/, int(1, 1), int(2, 99), bytes(9, [0])],
  ["no data type", "malformed-file", /data type 0/, int(1, 1), bytes(9, [0])],
  ["short raw data", "malformed-file", /"x", float32\[2\], needs 8 bytes, but 7 are there/, text(8, "x"), head("float32", 2), bytes(9, Array(7).fill(0))],
  ["long raw data", "malformed-file", /needs 8 bytes, but 9/, head("float32", 2), bytes(9, Array(9).fill(0))],
  ["no data", "malformed-file", /needs 8 bytes, but 0/, head("float32", 2)],
  ["no text", "malformed-file", /needs 2 values, but 0/, head("string", 2)],
  ["too few values", "malformed-file", /needs 2 values, but 1/, head("int64", 2), int(7, 1)],
  ["too many values", "malformed-file", /needs 2 values, but 3/, head("int64", 2), bytes(7, [1, 2, 3])],
  ["half a complex number", "malformed-file", /needs 2 values, but 1/, head("complex64", 1), bytes(4, [0, 0, 0, 0])],
  ["two sources", "malformed-file", /twice, in int64Data and rawData/, head("int64", 1), int(7, 1), bytes(9, Array(8).fill(0))],
  ["two typed sources", "malformed-file", /twice/, head("int64", 1), int(7, 1), int(5, 1)],
  ["the wrong field", "malformed-file", /is int64 but has its data in int32Data, not in int64Data/, head("int64", 1), int(5, 1)],
  ["data for no elements", "malformed-file", /needs 0 values, but 1/, head("int64", 0), int(7, 1)],
  ["text in raw data", "malformed-file", /rawData/, head("string", 1), bytes(9, [65])],
  ["bad UTF-8", "malformed-file", /a string cannot be decoded/, head("string", 1), bytes(6, [0xc3])],
  ["a bad name", "malformed-file", /name of a tensor/, bytes(8, [0xff])],
  ["a bool of 2", "malformed-file", /bool holds 2, which is not in 0..1/, head("bool", 2), bytes(9, [1, 2])],
  ["a typed bool of 2", "malformed-file", /bool holds 2/, head("bool", 1), int(5, 2)],
  ["128 in int8", "malformed-file", /int8 holds 128, which is not in -128..127/, head("int8", 1), int(5, 128)],
  ["-1 in uint8", "malformed-file", /uint8 holds -1/, head("uint8", 1), int(5, -1)],
  ["65536 in float16", "malformed-file", /float16 holds 65536/, head("float16", 1), int(5, 65536)],
  ["-32769 in int16", "malformed-file", /int16 holds -32769/, head("int16", 1), int(5, -32769)],
  ["2^32 in uint32", "malformed-file", /uint32 holds 4294967296/, head("uint32", 1), int(11, 2 ** 32)],
  ["a segment", "malformed-file", /segment/, head("float32", 1), bytes(3, []), bytes(9, [0, 0, 0, 0])],
  ["a negative dimension", "malformed-file", /negative dimension -1 in \[2, -1\]/, head("float32", 2, -1)],
  ["65 dimensions", "malformed-file", /more than 64 dimensions/, bytes(1, Array(65).fill(1))],
  ["a dimension of 2^62", "too-large", /\[4611686018427387904\]/, head("float32", 2n ** 62n)],
  ["2^40 elements", "too-large", /more than 2\^32 - 1/, head("uint8", 2 ** 20, 2 ** 20)],
  ["2^31 strings", "malformed-file", /needs 2147483648 values/, head("string", 2 ** 31), text(6, "")],
  ["half a packed float", "malformed-file", /float_data in the wrong encoding/, head("float32", 1), bytes(4, [0, 0, 0])],
  ["an open packed varint", "malformed-file", /int64_data in the wrong encoding/, head("int64", 1), bytes(7, [0x80])],
  ["an endless varint", "malformed-file", /cannot be decoded/, head("int64", 1), bytes(7, [...Array(11).fill(0xff), 0])],
  ["the wrong wire type", "malformed-file", /raw_data in the wrong encoding/, int(9, 1)],
  ["a record beyond the end", "malformed-file", /a field 9 of 5 bytes where 1 are left/, [0x4a, 5, 0]],
  ["a length of 2^63", "malformed-file", /more than 2\^32 bytes/, [0x4a, ...varintOf(2n ** 63n)]],
  ["a length of 2^32 - 1", "malformed-file", /4294967295 bytes where 0 are left/, [0x4a, ...varintOf(2n ** 32n - 1n)]],
  ["a group", "malformed-file", /wire type 3/, [0x0b, 0x0c]],
  ["field 0", "malformed-file", /illegal tag/, [0x02, 0]],
  ["a file cut off", "malformed-file", /cannot be decoded/, [0x08]],
  ["a location of 2", "malformed-file", /location 2/, int(14, 2)],
  ["external data and raw data", "malformed-file", /external data and rawData/, head("float32", 1), bytes(9, [0, 0, 0, 0]), external({ location: "w" })],
  ["external text", "malformed-file", /text/, head("string", 1), external({ location: "w" })],
  ["no callback", "unsupported-model", /in the file "w"; pass \{ external \}/, head("float32", 1), external({ location: "w" })],
  ["no location", "malformed-file", /is empty/, head("float32", 1), external({ offset: "0" })],
  ["two locations", "malformed-file", /two external "location"/, external({ location: "w" }), external({ location: "v" })],
  ...["/etc/passwd", "../w", "a/../../w", "a/..", "..", "a\\w", "C:w", "c:/w", "w\0", "", ".", "a/", "./"].map(
    (location) => [`location ${JSON.stringify(location)}`, "malformed-file", /has its data in/, head("float32", 1), external({ location })] as const),
  ...["-1", "1.5", "0x1", "1e3", "", " 1", "99999999999999999999", "9007199254740993"].flatMap((number) => (["offset", "length"] as const).map(
    (key) => [`${key} ${JSON.stringify(number)}`, "malformed-file", /no decimal number/, head("float32", 1), external({ location: "w", [key]: number })] as const)),
  ["a length that does not fit", "malformed-file", /needs 4 bytes, but 5/, head("float32", 1), external({ location: "w", length: "5" })],
];

function varintOf(value: bigint): number[] {
  return int(0, value).slice(1);
}

for (const [name, code, message, ...parts] of FAULTS) {
  test(`refused: ${name}`, () => {
    assert.throws(
      () => readTensor(file(...parts)),
      (error) =>
        isTensorError(error, code) && message.test(error.message)
          ? true
          : assert.fail(String(error)),
    );
  });
}

test("external data come through the callback", () => {
  const calls: unknown[] = [];
  const read = (location: string, offset: number, length: number): Uint8Array => {
    calls.push([location, offset, length]);
    return Uint8Array.of(0, 0, 128, 63, 0, 0, 0, 64).subarray(0, length);
  };
  const part = (entries: Readonly<Record<string, string>>): Uint8Array =>
    file(int(1, 2), int(2, F32), external(entries));
  const full = part({ location: "a/w.bin", offset: "4096", length: "8", checksum: "?" });
  assert.deepEqual(readTensor(full, { external: read }).toArray(), [1, 2]);
  assert.deepEqual(readTensor(part({ location: "w" }), { external: read }).toArray(), [1, 2]);
  assert.deepEqual(calls, [
    ["a/w.bin", 4096, 8],
    ["w", 0, 8],
  ]);
  assert.throws(
    () => readTensor(full, { external: () => new Uint8Array(7) }),
    /needs 8 bytes, but 7/,
  );
  const hostile = part({ location: "../w" });
  assert.throws(
    () => readTensor(hostile, { external: () => assert.fail("was asked") }),
    /leaves the folder/,
  );
});

test("a claim of 2^31 elements allocates nothing", { skip: WITHOUT_NODE }, () => {
  const before = process.memoryUsage().arrayBuffers;
  for (const dtype of DTYPE_NAMES) {
    const claims = [
      file(head(dtype, 2 ** 31)),
      file(head(dtype, 2 ** 31), external({ location: "w" })),
    ];
    for (const claim of claims) {
      assert.throws(
        () => readTensor(claim, { external: () => new Uint8Array(4) }),
        (error) => isTensorError(error, "malformed-file"),
      );
    }
  }
  assert.ok(process.memoryUsage().arrayBuffers - before < 2 ** 20);
});

test("what is no bytes, and text that is no UTF-8", () => {
  assert.throws(
    () => readTensor("model.onnx" as never),
    (error) => isTensorError(error, "malformed-file"),
  );
  assert.throws(
    () => writeTensor(tensor("string", [1], ["\ud800"])),
    (error) => isTensorError(error, "dtype"),
  );
});
