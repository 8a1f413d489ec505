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

const TINY = npyFile(npyDictionary("<f4", "(2,)"), new Uint8Array(8));
const header = (text: string): Uint8Array => npyFile(text, new Uint8Array(64));
/** A file with these elements, in hexadecimal. */
const holding = (descr: string, shape: string, bytes: string): Uint8Array =>
  npyFile(npyDictionary(descr, shape), hexBytes(bytes));
/** A file that begins with `NUMPY` and these bytes. */
const begun = (...bytes: number[]): Uint8Array =>
  Uint8Array.from([...TINY.subarray(0, 6), ...bytes]);

/** The beginning of a ZIP archive whose first file has this name. */
const zipped = (name: string): Uint8Array =>
  latin1(`PK\x03\x04${"\0".repeat(22)}${String.fromCharCode(name.length)}\0\0\0${name}data`);

type Refusals<T> = Partial<Record<ErrorCode, readonly T[]>>;

/** Files, with what they are. */
// prettier-ignore
const FILES: Refusals<readonly [what: string, file: Uint8Array]> = {
  "malformed-file": [
    ["nothing", new Uint8Array(0)], ["half of the magic", TINY.slice(0, 4)], ["another magic", latin1("GIF89a....")],
    ["another magic behind its first byte", latin1("\x93NUMPZ....")],
    ["a file that only begins with P", latin1("PNG.......")], ["a file whose second byte is K", latin1("XK\x03\x04......")],
    ["no version", TINY.slice(0, 7)], ["half of a length", TINY.slice(0, 9)], ["most of a length", begun(2, 0, 1, 0, 0)],
    ["half of a header", TINY.slice(0, 40)], ["a header without its last byte", npyFile("{}").slice(0, -1)],
    ["a length of 4 GiB", begun(2, 0, 255, 255, 255, 255)], ["a length of 2 GiB", begun(3, 0, 0, 0, 0, 128)],
    ["half of the elements", TINY.slice(0, -1)],
    // What the header cuts short does not go on in the elements.
    ["a brace in the elements", npyFile("{'descr': '<f4'", latin1("}"))],
    ["blanks in the elements", npyFile("{", latin1("   "))],
    ["a digit in the elements", npyFile("{'shape': (1, 2", latin1("3,), "))],
    ["True in the elements", npyFile("{'fortran_order': Tr", latin1("ue}"))],
    ["a quote in the elements", npyFile("{'descr': '<f4", latin1("', "))],
    ["blanks in a tuple", npyFile(`{'shape': (1, 2${" ".repeat(900_000)}x`, [], 2)],
    ["blanks after a value", npyFile(`{'descr': '<f4'${" ".repeat(900_000)}x`, [], 2)],
    ["blanks after a comma", npyFile(`{'descr': '<f4', ${" ".repeat(900_000)}x`, [], 2)],
    ["digits in a tuple", npyFile(`{'shape': (1, ${"2".repeat(900_000)}x`, [], 2)],
    ["a bool of 2", holding("|b1", "(2, 2)", "01 00 01 02")],
    ["a code point above the last", holding("<U2", "(1,)", "41000000 00001100")],
    ["the greatest code, big-endian", holding(">U1", "()", "ffffffff")],
    ["2^32 - 1 empty strings", holding("<U0", "(4294967295,)", "")],
    ["2^31 empty strings", holding("<U0", "(2147483648,)", "")],
    ["2^16 empty strings", holding("<U0", "(256, 256)", "")],
  ],
  "unsupported-file": [
    ["an npz file", latin1("PK\x03\x04......")], ["an archive of NPY files", zipped("arr_0.npy")],
    ["an archive of a Zarr array", zipped("zarr.json")], ["an archive of something", zipped("readme.txt")],
    ["an HTML page", latin1(" <!DOCTYPE html>\n<html>")], ["an HDF5 file", latin1("\x89HDF\r\n\x1a\n")],
    ["version 4.0", npyFile(npyDictionary("<f4", "(2,)"), [], 4)], ["version 1.1", begun(1, 1, 0, 0)],
    ["a header of more than 2^20 bytes", npyFile(npyDictionary("|u1", "(0,)").padEnd(2 ** 20), [], 2)],
    ["two halves of a character", holding("<U2", "(1,)", "3dd80000 00de0000")],
    ["the first such halves", holding("<U2", "(1,)", "00d80000 00dc0000")],
    ["the last such halves", holding("<U2", "(1,)", "ffdb0000 ffdf0000")],
  ],
};

/** Headers: of no dictionary, of other tokens, of other keys, and with something behind the dictionary. */
// prettier-ignore
const HEADERS: Refusals<string> = {
  "malformed-file": [
    "", "!", "[]", "{'descr': '<f4', ", "{'descr'}", "{1: 2}", `{'descr': '${"x".repeat(99)}`, "{'descr': '<f4",
    "{'descr\": 1}", "{'de\\x73cr': '<f4'}", "{'descr': '<f\xe9'}", "{'descr': '<f\x1f'}", "{'descr': '<f\x7f'}",
    "{'descr': '<f4',,}", "{'descr': '<f4' 'shape': ()}", "{'descr': '<f4'}", "{'fortran_order': True, 'shape': ()}",
    "{'descr': '<f4', 'x': 1}", "{' ': 1}", "{'~': 1}", "{'__proto__': '<f4'}", "{'descr': '<f4', 'descr': '<f4'}",
    "{'shape': (), 'shape': ()}",
    "{'descr': '<f4', 'fortran_order': True, 'shape': (), 'descr': '<f4'}", `${npyDictionary("<f4", "(2,)")};`, `${npyDictionary("<f4", "(2,)")}\0`,
    `${npyDictionary("<f4", "(2,)")}\xa0`, npyDictionary("<f4", "(2,)", "0"), npyDictionary("<f4", "(2,)", "Truer"),
  ],
  "unsupported-dtype": ["{'descr': [('a', '<f4'), ('b', '<i8')]}", "{'descr': ('<f4', (2,))}", "{'descr': {'names': ['a'], 'formats': ['<f4']}}"],
};

// prettier-ignore
const SHAPES: Refusals<string> = {
  "malformed-file": [
    "[2]", "2", "(2)", "(1, 2 2)", "(,)", "(2:,)", "(2/,)", "(2.0,)", "(0x2,)", "(True,)", "(2, -3)", "(4294967295,)",
    `(${"1, ".repeat(65)})`,
  ],
  "too-large": [
    "(1099511627776,)", "(65536, 65536)", "(0, 9007199254740992)", `(0, ${"9".repeat(400)})`,
    `(${"1099511627776, ".repeat(64)})`,
  ],
};

/** Text of 65 and of 64 characters, text that is too long, and types that are none, or that only NumPy has. */
// prettier-ignore
const DESCRS: Refusals<string> = {
  "malformed-file": [
    "x".repeat(65), "x".repeat(64), "<U536870911", "<U536870912", "<U", "<U+3", "<>f4", "",
  ],
  "unsupported-dtype": ["|O", "|S3", "|a3", "<M8[ns]", "<m8", "|V8", "<f16", "<i4,<i4", "(2,3)<f4", "3f4", "int32", "datetime64[ns]"],
};

const listed = <T>(
  refusals: Refusals<T>,
  rowOf: (one: T) => readonly [what: string, file: Uint8Array],
): (readonly [code: ErrorCode, what: string, file: Uint8Array])[] =>
  Object.entries(refusals).flatMap(([code, list]) =>
    list.map((one) => [code as ErrorCode, ...rowOf(one)] as const),
  );

for (const [code, what, file] of [
  ...listed(FILES, (one) => one),
  ...listed(HEADERS, (text) => [`the header ${JSON.stringify(text)}`, header(text)]),
  ...listed(SHAPES, (text) => [`the shape ${text}`, header(npyDictionary("<f4", text))]),
  ...listed(DESCRS, (text) => [`the descr '${text}'`, header(npyDictionary(text, "(2,)"))]),
]) {
  test(`${what.slice(0, 80)}: ${code}`, () => {
    assertRefused(code, {}, () => readNpy(file));
  });
}

/** Files, and the place, what was found and what was expected in their errors. */
// prettier-ignore
const FACTS: readonly (readonly [file: Uint8Array, facts: readonly [at: unknown, got: unknown, expected: unknown]])[] = [
  [new Uint8Array(0), [undefined, 0, 6]],
  [TINY.slice(0, 4), [undefined, 4, 6]],
  [TINY.slice(0, 7), [undefined, 7, 8]],
  [holding("<U0", "(256, 256)", ""), [undefined, 65536, undefined]],
  [holding("<U2", "(2, 1)", "00000000 00000000 41000000 00001100"), [[1, 0], 0x110000, undefined]],
  [TINY.slice(0, -1), [undefined, 7, 8]],
  [header(npyDictionary("<f4", "(65536, 65536)")), [undefined, 2 ** 32, undefined]],
  [holding("|b1", "(1, 2)", "01 07"), [[0, 1], 7, undefined]],
];

test("errors carry what was found, and where", () => {
  for (const [file, facts] of FACTS) {
    const code = facts[1] === 2 ** 32 ? "too-large" : "malformed-file";
    const { at, got, expected } = assertRefused(code, {}, () => readNpy(file));
    assert.deepEqual([at, got, expected], facts);
  }
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
  (file, random) => file.slice(0, placeIn(file, random)),
  (file, random) =>
    insert(
      file,
      placeIn(file, random),
      Array.from({ length: 1 + random(8) }, () => random(256)),
    ),
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
  const codes = ["malformed-file", "unsupported-file", "unsupported-dtype", "too-large"] as const;
  const outcomes = {
    read: 0,
    "malformed-file": 0,
    "unsupported-file": 0,
    "unsupported-dtype": 0,
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
      if (!isTensorError(error, ...codes)) throw error;
      outcomes[error.code]++;
    }
  }
  context.diagnostic(JSON.stringify(outcomes));
  assert.ok(outcomes.read > 200 && outcomes["malformed-file"] > 200 && outcomes["too-large"] > 0);
});
