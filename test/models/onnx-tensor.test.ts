/** ONNX tensors: every data type through every encoding. What is refused is in `onnx-tensor-hostile.test.ts`. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { DTYPE_NAMES, rowOf, type DType } from "../../src/core/tensor/dtype.ts";
import { readTensor, writeTensor } from "../../src/entries/onnx.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import type { Values } from "../../src/core/tensor/arguments.ts";
import {
  bytes,
  double,
  file,
  float,
  int,
  littleEndian,
  numbers,
  text,
  type Bytes,
} from "../support/onnx-encoder.ts";
import { entry, external, head, TENSOR } from "../support/onnx-parts.ts";
import { setLimits } from "../support/limits.ts";
import { assertRefused } from "../support/refusal.ts";

interface Sample {
  readonly values: Values;
  /** `raw_data`, and the values of the typed field with its number and encoding. */
  readonly raw: Bytes | null;
  readonly field: number;
  readonly kind: "varint" | "float" | "double" | "text";
  readonly typed: readonly (number | bigint | string)[];
}

const FLOATS = [1.5, -0, NaN, -Infinity];
const INT64 = [-(2n ** 63n), -1n, 0n, 2n ** 63n - 1n];
const INT32 = [-(2 ** 31), -1, 0, 2 ** 31 - 1];
const UINT64 = [0n, 1n, 2n ** 63n, 2n ** 64n - 1n];
const UINT32 = [0, 1, 2 ** 31, 2 ** 32 - 1];
const COMPLEX = [1, 2, 3, 4, 5, 6, -0, NaN];
const TEXTS = ["", "ä", "\ufeff😀", "a\nb"];

/** Whole numbers in `int32_data`: values, and their bytes in `raw_data`. */
const ints = (values: readonly number[], raw: Bytes): Sample => ({
  field: TENSOR.int32Data,
  kind: "varint",
  values,
  raw,
  typed: values,
});

/** A small float of 16 bits, as its bits. */
const halves = (...bits: readonly number[]): Sample => ({
  ...ints(bits, littleEndian(new Uint16Array(bits))),
  values: new Uint16Array(bits),
});

/** A small float of 8 bits, as its bits. */
const minis = (...bits: readonly number[]): Sample => ({
  ...ints(bits, bits),
  values: new Uint8Array(bits),
});

/** Elements of 4 or 2 bits, two or four to a byte, the first in the lowest bits. */
const packedInts = (values: Values, packed: Bytes): Sample => ({ ...ints(packed, packed), values });

/** Values that are the same in every encoding. */
const plain = <V extends Values & Sample["typed"]>(
  field: number,
  kind: Sample["kind"],
  values: V,
  raw: NodeJS.TypedArray | null,
): Sample => ({ field, kind, values, raw: raw && littleEndian(raw), typed: values });

const { floatData, stringData, int64Data, doubleData, uint64Data } = TENSOR;

const SAMPLES: Readonly<Record<DType, Sample>> = {
  bool: { ...ints([1, 0, 1, 1], [1, 0, 1, 1]), values: [true, false, true, true] },
  string: plain(stringData, "text", TEXTS, null),
  float16: halves(0x3c00, 0x8000, 0xfc00, 0x7e01),
  bfloat16: halves(0x3f80, 0x8000, 0xff80, 0x7fc1),
  float32: plain(floatData, "float", FLOATS, new Float32Array(FLOATS)),
  float64: plain(doubleData, "double", FLOATS, new Float64Array(FLOATS)),
  int8: ints([-128, -1, 0, 127], [128, 255, 0, 127]),
  int16: ints([-32768, -1, 0, 32767], [0, 128, 255, 255, 0, 0, 255, 127]),
  int32: ints(INT32, littleEndian(new Int32Array(INT32))),
  int64: plain(int64Data, "varint", INT64, new BigInt64Array(INT64)),
  uint8: ints([0, 1, 128, 255], [0, 1, 128, 255]),
  uint16: ints([0, 1, 32768, 65535], [0, 0, 1, 0, 0, 128, 255, 255]),
  uint32: plain(uint64Data, "varint", UINT32, new Uint32Array(UINT32)),
  uint64: plain(uint64Data, "varint", UINT64, new BigUint64Array(UINT64)),
  complex64: {
    ...plain(floatData, "float", COMPLEX, new Float32Array(COMPLEX)),
    values: new Float32Array(COMPLEX),
  },
  complex128: {
    ...plain(doubleData, "double", COMPLEX, new Float64Array(COMPLEX)),
    values: new Float64Array(COMPLEX),
  },
  float8e4m3fn: minis(0x3c, 0x80, 0x7f, 0xfe),
  float8e4m3fnuz: minis(0x44, 0x00, 0x80, 0xff),
  float8e5m2: minis(0x3e, 0x80, 0x7e, 0xfc),
  float8e5m2fnuz: minis(0x42, 0x00, 0x80, 0xff),
  uint4: packedInts([0, 1, 8, 15], [0x10, 0xf8]),
  int4: packedInts([-8, -1, 0, 7], [0xf8, 0x70]),
  float4e2m1: packedInts(new Uint8Array([0, 1, 9, 15]), [0x10, 0xf9]),
  float8e8m0: minis(0, 127, 128, 255),
  uint2: packedInts([1, 2, 3, 0], [0b00_11_10_01]),
  int2: packedInts([-2, -1, 0, 1], [0b01_00_11_10]),
  float6e2m3: { ...minis(1, 0x3f, 0x20, 0x15), raw: [0xc1, 0x0f, 0x56] },
  float6e3m2: { ...minis(0x1f, 0, 0x2a, 0x30), raw: [0x1f, 0xa0, 0xc2] },
};

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
      assertSame(readTensor(file(head(dtype, 2, 2), bytes(TENSOR.rawData, sample.raw))), expected);
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
    file(head("int16", 2), text(TENSOR.name, "x"), bytes(TENSOR.rawData, [1, 0, 254, 255])),
  );
  assert.deepEqual(
    writeTensor(tensor("string", [1, 2], ["a", ""])),
    file(head("string", 1, 2), text(TENSOR.stringData, "a"), text(TENSOR.stringData, "")),
  );
});

test("the result has memory of its own", () => {
  const source = file(head("uint8", 2), bytes(TENSOR.rawData, [1, 2]));
  const result = readTensor(source);
  source.fill(0);
  assert.deepEqual(result.toArray(), [1, 2]);
});

const { int32Data } = TENSOR;
const packed = (field: number, ...values: readonly (number | bigint)[]): Bytes =>
  numbers(field, values, "varint", true);
const raw = (...payload: number[]): Bytes => bytes(TENSOR.rawData, payload);
const dims = (...payload: number[]): Bytes => bytes(TENSOR.dims, payload);
const float16 = (...bits: number[]): unknown =>
  tensor("float16", [bits.length], new Uint16Array(bits)).toArray();
/** The length 1 in five bytes, as a writer that knows lengths last writes it. */
const LONG_ONE = [0x81, 0x80, 0x80, 0x80, 0];

// prettier-ignore
const ENCODINGS: readonly (readonly [what: string, values: unknown, ...parts: Bytes[]])[] = [
  ["float16 sign-extended or not", float16(0xffff, 0xffff), head("float16", 2), packed(int32Data, -1, 0xffff)],
  ["the ends of float16", float16(0x8000, 0xffff), head("float16", 2), packed(int32Data, -32768, 65535)],
  ["int16 sign-extended or not", [-2, -2], head("int16", 2), packed(int32Data, -2, 0xfffe)],
  ["the ends of int16", [-32768, -1, 32767], head("int16", 3), packed(int32Data, -32768, 65535, 32767)],
  ["uint16 sign-extended", [65535, 32768], head("uint16", 2), int(int32Data, -1), int(int32Data, -32768)],
  ["uint4 sign-extended", [15, 15], head("uint4", 2), packed(int32Data, -1)],
  ["int4 of an odd count", [-8, 7, 1], head("int4", 3), packed(int32Data, 0x78, 0x01)],
  ["uint2 of an odd count", [1, 2, 3, 0, 1], head("uint2", 5), packed(int32Data, 0b00_11_10_01, 0b01)],
  ["uint2 in raw data", [1, 2, 3, 0, 1], head("uint2", 5), raw(0x39, 0x01)],
  ["uint2 sign-extended", [3, 3, 3, 3], head("uint2", 4), packed(int32Data, -1)],
  ["int2 of an odd count", [-2, 1, -1], head("int2", 3), packed(int32Data, 0b00_11_01_10)],
  ["spare bits that are not 0", [1], head("uint2", 1), raw(0b11_11_11_01)],
  ["int32 in ten bytes", [-1], head("int32", 1), int(int32Data, -1)],
  ["packed dims, and a field in two pieces", [[5n], [6n]],
    dims(2, 1), int(TENSOR.dataType, 7), int(TENSOR.int64Data, 5), packed(TENSOR.int64Data, 6)],
  ["dims in two pieces", [[5, 6]], dims(1), dims(2), int(TENSOR.dataType, 2), raw(5, 6)],
  ["an empty piece", [5n], head("int64", 1), packed(TENSOR.int64Data), packed(TENSOR.int64Data, 5)],
  ["an empty piece of another field", [5n], head("int64", 1), packed(int32Data), packed(TENSOR.int64Data, 5)],
  ["raw data twice, of which the last counts", [2], head("uint8", 1), raw(1), raw(2)],
  ["a data type twice", [2], int(TENSOR.dataType, 7), head("uint8", 1), raw(2)],
  ["dims behind the data type", [[7, 8]], int(TENSOR.dataType, 2), dims(1), dims(2), raw(7, 8)],
  ["a name behind the data", [7], head("uint8", 1), raw(7), text(TENSOR.name, "x")],
  ["a data location of 0 behind the data", [7], head("uint8", 1), raw(7), int(TENSOR.dataLocation, 0)],
  ["a length in five bytes", [7], head("uint8", 1), [(TENSOR.rawData << 3) | 2, ...LONG_ONE], [7]],
  ["fields that nobody knows", [7], int(99, 5), double(98, 1), float(97, 1), bytes(96, [1]), head("uint8", 1), raw(7)],
  ["an unknown number of ten bytes", [7], int(99, -1), head("uint8", 1), raw(7)],
  ["entries of external data that do not count", [7],
    head("uint8", 1), raw(7), bytes(TENSOR.externalData, entry("location", "/etc/passwd"))],
  ["64 dimensions", 7, bytes(TENSOR.dims, Array(64).fill(1)), int(TENSOR.dataType, 2), raw(7)],
];

for (const [what, values, ...parts] of ENCODINGS) {
  test(`read: ${what}`, () => {
    const { shape, data } = readTensor(file(...parts));
    if (shape.length === 64) assert.deepEqual([...(data as Uint8Array)], [values]);
    else assert.deepEqual(readTensor(file(...parts)).toArray(), values);
  });
}

test("the payload of a NaN is data", () => {
  const nan = readTensor(file(head("float32", 1), bytes(TENSOR.floatData, [1, 0, 0xa0, 0x7f])));
  assert.deepEqual(
    new Uint8Array((nan.data as Float32Array).buffer),
    Uint8Array.of(1, 0, 0xa0, 0x7f),
  );
});

const part = (entries: Readonly<Record<string, string>>): Uint8Array =>
  file(head("float32", 2), external(entries));

// prettier-ignore
const PLACES: readonly (readonly [entries: Readonly<Record<string, string>>, call: readonly unknown[]])[] = [
  [{ location: "a/w.bin", offset: "4096", length: "8", checksum: "?" }, ["a/w.bin", 4096, 8]],
  [{ location: "w" }, ["w", 0, 8]],
  [{ location: "w", offset: "9007199254740991" }, ["w", 2 ** 53 - 1, 8]],
  [{ location: "w", offset: "0000000000000007" }, ["w", 7, 8]],
  // No path leads out of the model's folder by dots in a name.
  [{ location: "..w" }, ["..w", 0, 8]],
  [{ location: "w.." }, ["w..", 0, 8]],
  [{ location: "a/...b/.w" }, ["a/...b/.w", 0, 8]],
  [{ location: "./w" }, ["./w", 0, 8]],
  [{ location: "a//w" }, ["a//w", 0, 8]],
  [{ location: "ab:w" }, ["ab:w", 0, 8]],
];

test("refused: data at a memory address of ONNX Runtime, which is not in a file", () => {
  const location = "*/_ORT_MEM_ADDR_/*";
  const external = (): never => assert.fail("no file is read");
  assertRefused("unsupported-model", { key: "location", got: location }, () =>
    readTensor(part({ location, offset: "140243", length: "8" }), { external }),
  );
});

test("four elements of 2 bits are a byte of the file, the first in its lowest bits", () => {
  // ONNX, "2 bit integer types": x0 | x1 << 2 | x2 << 4 | x3 << 6, and 0 in the rest of the last byte.
  const written: readonly (readonly [Tensor, data: Bytes])[] = [
    [tensor("uint2", [5], [1, 2, 3, 0, 1]), [0x39, 0x01]],
    [tensor("int2", [5], [1, -2, -1, 0, 1]), [0x39, 0x01]],
    [tensor("uint2", [3], [3, 3, 3]), [0x3f]],
    [tensor("uint2", [0], []), []],
  ];
  for (const [value, data] of written) {
    const { length } = value.data;
    assert.deepEqual(
      writeTensor(value),
      // dims = 1, data_type = 2, raw_data = 9
      file([0x08, length], [0x10, value.dtype === "uint2" ? 25 : 26], [0x4a, data.length], data),
    );
  }
});

test("external data come through the callback", () => {
  for (const [entries, call] of PLACES) {
    const calls: unknown[] = [];
    const read = (location: string, offset: number, length: number): Uint8Array => {
      calls.push([location, offset, length]);
      return Uint8Array.of(0, 0, 128, 63, 0, 0, 0, 64);
    };
    assert.deepEqual(readTensor(part(entries), { external: read }).toArray(), [1, 2]);
    assert.deepEqual(calls, [call]);
  }
});

test("long external data are read in parts, the last one first", () => {
  for (const dtype of ["float32", "bool", "float16", "complex64", "int4", "int2"] as const) {
    const size = 21;
    const { bytes: bytesOfOne, bits } = rowOf(dtype);
    const length = Math.ceil((size * (bits ?? 8 * bytesOfOne)) / 8);
    const values = Uint8Array.from({ length }, (_, at) => (dtype === "bool" ? at % 2 : at % 7));
    const claim = file(head(dtype, size), external({ location: "w", offset: "5" }));
    const whole = readTensor(claim, { external: () => values });
    for (const part of [1, 8, 20, length - 1, length]) {
      const restore = setLimits({ EXTERNAL: { part } });
      const ends: number[] = [];
      const read = (_: string, offset: number, asked: number): Uint8Array => {
        ends.push(offset - 5 + asked);
        return values.subarray(offset - 5, offset - 5 + asked);
      };
      try {
        assert.ok(equals(readTensor(claim, { external: read }), whole), `${dtype}, ${part}`);
        assert.equal(ends[0], length);
        assert.equal(ends.length, bits === undefined ? Math.ceil(length / part) : 1);
      } finally {
        restore();
      }
    }
  }
});

test("external data in parts that are bad, or end early", () => {
  const restore = setLimits({ EXTERNAL: { part: 4 } });
  const bool = file(head("bool", 9), external({ location: "w" }));
  const values = Uint8Array.of(1, 0, 1, 0, 1, 7, 0, 0, 0);
  const early = (_: string, offset: number, length: number): Uint8Array =>
    values.slice(offset, Math.min(offset + length, 8));
  try {
    assertRefused("malformed-file", {}, () =>
      readTensor(bool, {
        external: (_, offset, length) => values.subarray(offset, offset + length),
      }),
    );
    assertRefused("malformed-file", {}, () => readTensor(bool, { external: early }));
  } finally {
    restore();
  }
});

test("external data of no elements are not asked for", () => {
  const none = file(head("float32", 0), external({ location: "w", length: "0" }));
  const options = { external: () => assert.fail("was asked") };
  assert.deepEqual(readTensor(none, options).toArray(), []);
  assert.deepEqual(readTensor(none).toArray(), []);
});

test("external data that are bad, or not as long as was asked", () => {
  const asked = (): never => assert.fail("was asked");
  const shorter = () => new Uint8Array(7);
  const longer = () => new Uint8Array(9);
  const full = part({ location: "w" });
  const far = part({ location: "../w" });
  assertRefused("malformed-file", {}, () => readTensor(far, { external: asked }));
  for (const external of [shorter, longer, () => [0, 0, 0, 0, 0, 0, 0, 0] as never]) {
    assertRefused("malformed-file", {}, () => readTensor(full, { external }));
  }
  const bool = file(head("bool", 2), external({ location: "w" }));
  assertRefused("malformed-file", {}, () =>
    readTensor(bool, { external: () => Uint8Array.of(1, 7) }),
  );
});

test("half a surrogate pair is not written", () => {
  for (const text of ["\ud800", "\udfff", "a\udc00", "\ud800b", "\udc00\ud800"]) {
    assertRefused("dtype", {}, () => writeTensor(tensor("string", [1], [text])));
    assertRefused("dtype", {}, () => writeTensor(tensor("int8", [1], [1]), text));
  }
});
