/** NPY files that are refused: each rule of the format that has an error, and 2,000 files broken at random. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { DTYPES } from "../../src/core/tensor/dtype.ts";
import { isTensorError, type ErrorCode } from "../../src/core/errors.ts";
import { readNpy, writeNpy } from "../../src/entries/npy.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, Tensor } from "../../src/core/tensor/tensor.ts";
import { fileOf, NUMPY_FILES } from "../fixtures/npy-files.ts";
import { hexBytes, latin1, npyDictionary, npyFile } from "../support/npy-file.ts";
import { WITHOUT_NODE } from "../support/platform.ts";
import { randomFrom, type Random } from "../support/random.ts";
import { assertRefused } from "../support/refusal.ts";

interface Refusal {
  readonly name: string;
  readonly file: Uint8Array;
  readonly code?: ErrorCode;
}

const TINY = npyFile(npyDictionary("<f4", "(2,)"), new Uint8Array(8));
const header = (text: string): Uint8Array => npyFile(text, new Uint8Array(64));
const descr = (text: string): Uint8Array => header(npyDictionary(text, "(2,)"));
const shaped = (shape: string): Uint8Array => header(npyDictionary("<f4", shape));
/** A file with these elements, in hexadecimal. */
const holding = (descr: string, shape: string, bytes: string): Uint8Array =>
  npyFile(npyDictionary(descr, shape), hexBytes(bytes));
/** A file that begins with `NUMPY` and these bytes. */
const begun = (...bytes: number[]): Uint8Array =>
  Uint8Array.from([...TINY.subarray(0, 6), ...bytes]);

/** The beginning of a ZIP archive whose first file has this name. */
const zipped = (name: string): Uint8Array =>
  latin1(`PK\x03\x04${"\0".repeat(22)}${String.fromCharCode(name.length)}\0\0\0${name}data`);

// prettier-ignore
const REFUSALS: readonly Refusal[] = [
  { name: "nothing", file: new Uint8Array(0) },
  { name: "half of the magic", file: TINY.slice(0, 4) },
  { name: "another magic", file: latin1("GIF89a....") },
  { name: "another magic behind its first byte", file: latin1("\x93NUMPZ....") },
  { name: "an npz file", file: latin1("PK\x03\x04......"), code: "unsupported-file" },
  { name: "an archive of NPY files", file: zipped("arr_0.npy"), code: "unsupported-file" },
  { name: "an archive of a Zarr array", file: zipped("zarr.json"), code: "unsupported-file" },
  { name: "an archive of something", file: zipped("readme.txt"), code: "unsupported-file" },
  { name: "an HTML page", file: latin1(" <!DOCTYPE html>\n<html>"), code: "unsupported-file" },
  { name: "an HDF5 file", file: latin1("\x89HDF\r\n\x1a\n"), code: "unsupported-file" },
  { name: "a file that only begins with P", file: latin1("PNG.......") },
  { name: "a file whose second byte is K", file: latin1("XK\x03\x04......") },
  { name: "no version", file: TINY.slice(0, 7) },
  { name: "version 4.0", file: npyFile(npyDictionary("<f4", "(2,)"), [], 4), code: "unsupported-file" },
  { name: "version 1.1", file: begun(1, 1, 0, 0), code: "unsupported-file" },
  { name: "half of a length", file: TINY.slice(0, 9) },
  { name: "most of a length", file: begun(2, 0, 1, 0, 0) },
  { name: "half of a header", file: TINY.slice(0, 40) },
  { name: "a header without its last byte", file: npyFile("{}").slice(0, -1) },
  { name: "a length of 4 GiB", file: begun(2, 0, 255, 255, 255, 255) },
  { name: "a length of 2 GiB", file: begun(3, 0, 0, 0, 0, 128) },
  { name: "half of the elements", file: TINY.slice(0, -1) },
  { name: "an empty header", file: header("") },
  { name: "an exclamation mark", file: header("!") },
  // What the header cuts short does not go on in the elements.
  { name: "a brace in the elements", file: npyFile("{'descr': '<f4'", latin1("}")) },
  { name: "blanks in the elements", file: npyFile("{", latin1("   ")) },
  { name: "a digit in the elements", file: npyFile("{'shape': (1, 2", latin1("3,), ")) },
  { name: "True in the elements", file: npyFile("{'fortran_order': Tr", latin1("ue}")) },
  { name: "a quote in the elements", file: npyFile("{'descr': '<f4", latin1("', ")) },
  { name: "no dictionary", file: header("[]") },
  { name: "an unfinished dictionary", file: header("{'descr': '<f4', ") },
  { name: "a key without a value", file: header("{'descr'}") },
  { name: "a number as a key", file: header("{1: 2}") },
  { name: "text that does not end", file: header(`{'descr': '${"x".repeat(99)}`) },
  { name: "text that the header cuts short", file: header("{'descr': '<f4") },
  { name: "text of 65 characters", file: descr("x".repeat(65)) },
  { name: "text of 64 characters", file: descr("x".repeat(64)) },
  { name: "another quote at the end", file: header("{'descr\": 1}") },
  { name: "an escape", file: header("{'de\\x73cr': '<f4'}") },
  { name: "Latin-1", file: header("{'descr': '<f\xe9'}") },
  { name: "a control character in text", file: header("{'descr': '<f\x1f'}") },
  { name: "DEL in text", file: header("{'descr': '<f\x7f'}") },
  { name: "two commas", file: header("{'descr': '<f4',,}") },
  { name: "no comma", file: header("{'descr': '<f4' 'shape': ()}") },
  { name: "a missing key", file: header("{'descr': '<f4'}") },
  { name: "no descr", file: header("{'fortran_order': True, 'shape': ()}") },
  { name: "an extra key", file: header("{'descr': '<f4', 'x': 1}") },
  { name: "the first character of ASCII", file: header("{' ': 1}") },
  { name: "the last character of ASCII", file: header("{'~': 1}") },
  { name: "a key of every object", file: header("{'__proto__': '<f4'}") },
  { name: "a key twice", file: header("{'descr': '<f4', 'descr': '<f4'}") },
  { name: "a shape twice", file: header("{'shape': (), 'shape': ()}") },
  { name: "text behind the dictionary", file: header(`${npyDictionary("<f4", "(2,)")};`) },
  { name: "a NUL behind the dictionary", file: header(`${npyDictionary("<f4", "(2,)")}\0`) },
  { name: "fortran_order 0", file: header(npyDictionary("<f4", "(2,)", "0")) },
  { name: "fortran_order Truer", file: header(npyDictionary("<f4", "(2,)", "Truer")) },
  { name: "a list as shape", file: shaped("[2]") },
  { name: "a number as shape", file: shaped("2") },
  { name: "a number in brackets as shape", file: shaped("(2)") },
  { name: "two numbers without a comma", file: shaped("(1, 2 2)") },
  { name: "a comma as shape", file: shaped("(,)") },
  { name: "a colon in a number", file: shaped("(2:,)") },
  { name: "a slash in a number", file: shaped("(2/,)") },
  { name: "a fraction", file: shaped("(2.0,)") },
  { name: "a hexadecimal number", file: shaped("(0x2,)") },
  { name: "True as a dimension", file: shaped("(True,)") },
  { name: "a negative dimension", file: shaped("(2, -3)") },
  { name: "65 dimensions", file: shaped(`(${"1, ".repeat(65)})`) },
  { name: "2^40 elements", file: shaped("(1099511627776,)"), code: "too-large" },
  { name: "2^32 elements", file: shaped("(65536, 65536)"), code: "too-large" },
  { name: "a dimension of 2^53", file: shaped("(0, 9007199254740992)"), code: "too-large" },
  { name: "a dimension of 400 digits", file: shaped(`(0, ${"9".repeat(400)})`), code: "too-large" },
  { name: "64 dimensions of 2^40", file: shaped(`(${"1099511627776, ".repeat(64)})`), code: "too-large" },
  { name: "2^32 - 1 elements", file: shaped("(4294967295,)") },
  { name: "2^32 - 1 empty strings", file: header(npyDictionary("<U0", "(4294967295,)")) },
  { name: "2^31 empty strings", file: header(npyDictionary("<U0", "(2147483648,)")) },
  { name: "2^16 empty strings", file: header(npyDictionary("<U0", "(256, 256)")) },
  { name: "text of 2^29 - 1 characters", file: descr("<U536870911") },
  { name: "text of 2^29 characters", file: descr("<U536870912") },
  { name: "text of no length", file: descr("<U") },
  { name: "text of a signed length", file: descr("<U+3") },
  { name: "a structured data type", file: header("{'descr': [('a', '<f4'), ('b', '<i8')]}"), code: "unsupported-file" },
  { name: "a data type in brackets", file: header("{'descr': ('<f4', (2,))}"), code: "unsupported-file" },
  { name: "Python objects", file: descr("|O"), code: "unsupported-file" },
  { name: "byte strings", file: descr("|S3"), code: "unsupported-file" },
  { name: "byte strings of old", file: descr("|a3"), code: "unsupported-file" },
  { name: "dates", file: descr("<M8[ns]"), code: "unsupported-file" },
  { name: "durations", file: descr("<m8"), code: "unsupported-file" },
  { name: "raw bytes", file: descr("|V8"), code: "unsupported-file" },
  { name: "a long double", file: descr("<f16"), code: "unsupported-file" },
  { name: "two byte orders", file: descr("<>f4") },
  { name: "an empty descr", file: descr("") },
  { name: "a bool of 2", file: holding("|b1", "(2, 2)", "01 00 01 02") },
  { name: "a code point above the last", file: holding("<U2", "(1,)", "41000000 00001100") },
  { name: "the greatest code, big-endian", file: holding(">U1", "()", "ffffffff") },
  { name: "two halves of a character", file: holding("<U2", "(1,)", "3dd80000 00de0000"), code: "unsupported-file" },
  { name: "the first such halves", file: holding("<U2", "(1,)", "00d80000 00dc0000"), code: "unsupported-file" },
  { name: "the last such halves", file: holding("<U2", "(1,)", "ffdb0000 ffdf0000"), code: "unsupported-file" },
];

for (const { name, file, code = "malformed-file" } of REFUSALS) {
  test(`${name}: ${code}`, () => {
    assertRefused(code, {}, () => readNpy(file));
  });
}

test("errors carry what was found, and where", () => {
  const refusal = (file: Uint8Array, code: ErrorCode = "malformed-file"): unknown => {
    const { at, got, expected } = assertRefused(code, {}, () => readNpy(file));
    return { at, got, expected };
  };
  const none = { at: undefined, got: undefined, expected: undefined };
  assert.deepEqual(refusal(new Uint8Array(0)), { ...none, got: 0, expected: 6 });
  assert.deepEqual(refusal(TINY.slice(0, 4)), { ...none, got: 4, expected: 6 });
  assert.deepEqual(refusal(TINY.slice(0, 7)), { ...none, got: 7, expected: 8 });
  assert.deepEqual(refusal(header(npyDictionary("<U0", "(256, 256)"))), {
    ...none,
    got: 65536,
  });
  const beyond = holding("<U2", "(2, 1)", "00000000 00000000 41000000 00001100");
  assert.deepEqual(refusal(beyond), { ...none, at: [1, 0], got: 0x110000 });
  assert.deepEqual(refusal(TINY.slice(0, -1)), { ...none, got: 7, expected: 8 });
  assert.deepEqual(refusal(shaped("(65536, 65536)"), "too-large"), {
    ...none,
    got: 2 ** 32,
  });
  assert.deepEqual(refusal(holding("|b1", "(1, 2)", "01 07")), { ...none, at: [0, 1], got: 7 });
});

test("text that ends in a NUL is not written", () => {
  const texts = tensor("string", [2, 1], ["a", "b\0"]);
  const { input, at } = assertRefused("dtype", {}, () => writeNpy(texts));
  assert.deepEqual([input, at], ["tensor", [1, 0]]);
});

test("a data type that NPY lacks is not written", () => {
  for (const dtype of ["int4", "uint2"] as const) {
    assertRefused("dtype", {}, () => writeNpy(tensor(dtype, [1], [1])));
  }
});

test("arguments of another kind are refused by name", () => {
  // As from JavaScript, where no compiler looks.
  const foreign: Record<string, unknown> = { read: readNpy, write: writeNpy };
  const call = (name: string, value: unknown): unknown =>
    Reflect.apply(foreign[name] as () => unknown, null, [value]);
  for (const value of [undefined, null, "text", 7, {}, [0x93], new ArrayBuffer(8)]) {
    assertRefused("malformed-file", {}, () => call("read", value));
    const { input } = assertRefused("dtype", {}, () => call("write", value));
    assert.equal(input, "tensor");
  }
  const gone = new Uint8Array(8);
  structuredClone(gone.buffer, { transfer: [gone.buffer] });
  assertRefused("disposed", {}, () => readNpy(gone));
});

test("text that the platform cannot make is too large", () => {
  const cause = new RangeError("Invalid string length");
  const { fromCodePoint } = String;
  String.fromCodePoint = () => {
    throw cause;
  };
  try {
    const file = holding("<U1", "()", "41000000");
    const error = assertRefused("too-large", {}, () => readNpy(file));
    assert.equal(error.cause, cause);
  } finally {
    String.fromCodePoint = fromCodePoint;
  }
});

test("a promise that is not kept allocates nothing", { skip: WITHOUT_NODE }, () => {
  const before = process.memoryUsage().arrayBuffers;
  for (const shape of ["(1099511627776,)", "(4294967295,)", "(16777216,)", "(4096, 4096)"]) {
    for (const descr of ["<f8", ">U9", "|u1", "|b1"]) {
      for (const order of ["False", "True"]) {
        const file = npyFile(npyDictionary(descr, shape, order), new Uint8Array(100));
        const code = shape === "(1099511627776,)" ? "too-large" : "malformed-file";
        assertRefused(code, {}, () => readNpy(file));
      }
    }
  }
  const grown = process.memoryUsage().arrayBuffers - before;
  assert.ok(grown < 2 ** 20, `${grown} bytes were allocated`);
});

/** Pieces that mean something in a header, or nearly. */
const PIECES = [
  ..."{ } ( ) , : ' \" \\ - L 9 0 007 99999999 1099511627776 99999999999999999999".split(" "),
  ..."True [('a','<f4')] shape |O > U V2 \xff \0".split(" "),
];

/** A place in the header's dictionary, or near the end, but seldom in the blanks between. */
function placeIn(file: Uint8Array, random: Random): number {
  const places = [random(74), file.length - 1 - random(32), random(file.length)];
  return places[random(3)];
}

/** `file` with `piece` in front of the byte at `place`. */
const insert = (file: Uint8Array, place: number, piece: ArrayLike<number>): Uint8Array =>
  Uint8Array.from([...file.slice(0, place), ...Array.from(piece), ...file.slice(place)]);

const MUTATIONS: readonly ((file: Uint8Array, random: Random) => Uint8Array)[] = [
  function flipBits(file, random) {
    for (let flips = random(3); flips >= 0; flips--) file[placeIn(file, random)] ^= 1 << random(8);
    return file;
  },
  function truncate(file, random) {
    return file.slice(0, placeIn(file, random));
  },
  function insertBytes(file, random) {
    const bytes = Array.from({ length: 1 + random(8) }, () => random(256));
    return insert(file, placeIn(file, random), bytes);
  },
  function changeDigit(file, random) {
    // A dimension or the size of an element becomes another.
    const digits = [...file.keys()].filter((i) => file[i] >= 0x30 && file[i] <= 0x39);
    file[digits[random(digits.length)]] = 0x30 + random(10);
    return file;
  },
  function editHeader(file, random) {
    // A piece is put between two characters, often behind a bracket or a digit, and the length set right.
    const piece = latin1(PIECES[random(PIECES.length)]);
    const places = [...file.keys()].filter(
      (i) => i > 12 && i < 80 && /[(\d]/.test(String.fromCharCode(file[i])),
    );
    const place = random(2) === 0 ? 12 + random(60) : places[random(places.length)] + 1;
    const length = (file[8] | (file[9] << 8)) + piece.length;
    file.set([length & 255, length >> 8], 8);
    return insert(file, place, piece);
  },
];

test("2,000 files broken at random give a tensor or a TensorError", (context) => {
  const random = randomFrom(20240229);
  const outcomes: Record<string, number> = {
    read: 0,
    "malformed-file": 0,
    "unsupported-file": 0,
    "too-large": 0,
  };
  for (let run = 0; run < 2000; run++) {
    const whole = fileOf(NUMPY_FILES[random(NUMPY_FILES.length)]);
    const broken = MUTATIONS[run % MUTATIONS.length](whole, random);
    try {
      const read = readNpy(broken);
      assert.ok(read instanceof Tensor);
      assert.equal(read.data.length, read.size * DTYPES[read.dtype].lanes);
      assert.ok(equals(readNpy(writeNpy(read)), read), `run ${run} does not survive writing`);
      outcomes.read++;
    } catch (error) {
      if (!isTensorError(error, "malformed-file", "unsupported-file", "too-large")) throw error;
      outcomes[error.code]++;
    }
  }
  context.diagnostic(JSON.stringify(outcomes));
  assert.equal(
    Object.values(outcomes).reduce((sum, one) => sum + one),
    2000,
  );
  assert.ok(outcomes.read > 200 && outcomes["malformed-file"] > 200 && outcomes["too-large"] > 0);
});
