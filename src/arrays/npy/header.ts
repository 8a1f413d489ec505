/**
 * Reads and writes the header of an NPY file, which precedes the elements. An NPY file begins with `\x93NUMPY`, a
 * version, and the header length. The length takes two bytes in version 1.0 and four bytes in 2.0 and 3.0. Versions 2.0
 * and 3.0 differ in the encoding of field names, which only structured data types have. The rest of the header is a
 * dictionary in Python's notation, of which only the tokens that NumPy writes are accepted.
 *
 * All sizes in the header are compared with the file length before anything is allocated.
 */

import { printCount } from "../../core/foreign.ts";
import { malformed, TensorError, unsupported } from "../../core/errors.ts";
import { otherKindOf } from "../../core/tensor/bytes.ts";
import { MAX_RANK, MAX_SIZE, printShape, product } from "../../core/tensor/shape.ts";
import { parseDescr, STRUCTURED, type ElementType } from "./descr.ts";

/** The contents of an NPY file. The elements are the bytes from `start` to `end`. */
export interface NpyHeader {
  readonly type: ElementType;
  readonly shape: readonly number[];
  /** The number of elements. */
  readonly size: number;
  /** True if the first axis varies fastest, and this order differs from C order. */
  readonly fortranOrder: boolean;
  readonly start: number;
  readonly end: number;
}

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59] as const;
const VERSION_AT = MAGIC.length;
const LENGTH_AT = VERSION_AT + 2;
const VERSIONS = ["1.0", "2.0", "3.0"];

/** Maximum end of a header, in bytes. NumPy writes shorter headers: 64 dimensions take 1.4 kB. */
const MAX_HEADER_BYTES = 2 ** 20;

/** The alignment of the header's end, in bytes. */
const HEADER_ALIGNMENT = 64;

/** The number of digits for which NumPy reserves space, so that the first dimension can grow in place. */
const DIMENSION_DIGITS = 21;

/**
 * Finds the dictionary from the first bytes of a file of `fileSize` bytes, at least the first twelve or the whole file.
 * Throws `malformed-file`, or `unsupported-file` for another format or version, or for a header that is too long.
 */
export function findDictionary(
  first: Uint8Array,
  fileSize: number,
): { readonly from: number; readonly end: number } {
  checkMagic(first);
  const [major, minor] = first.subarray(VERSION_AT, LENGTH_AT);
  const version = `${major}.${minor}`;
  if (!VERSIONS.includes(version)) {
    const sentence = `the NPY file has version ${version}, but the supported versions are 1.0, 2.0 and 3.0`;
    throw unsupported(sentence, { key: "version", got: version, allowed: VERSIONS });
  }
  const from = LENGTH_AT + (major === 1 ? 2 : 4);
  checkLength(fileSize, from, "the length of its header");
  const view = new DataView(first.buffer, first.byteOffset, first.byteLength);
  const length = major === 1 ? view.getUint16(LENGTH_AT, true) : view.getUint32(LENGTH_AT, true);
  const end = from + length;
  checkLength(fileSize, end, `its header of ${printCount(length, "byte")}`);
  if (end <= MAX_HEADER_BYTES) return { from, end };
  const sentence = `the header of the NPY file must have at most ${MAX_HEADER_BYTES} bytes, got ${end}`;
  throw unsupported(sentence, { got: end, limit: MAX_HEADER_BYTES });
}

/**
 * Parses the header of a file, whose first bytes `first` include the whole header. Throws `malformed-file`,
 * `unsupported-file`, or, for more than `maxSize` elements, `too-large`.
 */
export function parseNpyHeader(
  first: Uint8Array,
  fileSize = first.length,
  maxSize = MAX_SIZE,
): NpyHeader {
  const { from, end: start } = findDictionary(first, fileSize);
  const { descr, isFortran, shape } = parseDictionary(first.subarray(from, start), start);
  const type = parseDescr(descr);
  const size = checkElements(shape, type, { start, fileSize, maxSize });
  // Both orders are the same if fewer than two axes are longer than 1.
  const fortranOrder = isFortran && shape.filter((dim) => dim > 1).length > 1;
  return { type, shape, size, fortranOrder, start, end: start + size * type.bytes };
}

function checkMagic(first: Uint8Array): void {
  const wrong = MAGIC.findIndex((byte, at) => first[at] !== byte);
  if (wrong === -1) return checkLength(first.length, LENGTH_AT, "its version");
  if (wrong === first.length) {
    const there = wrong === 0 ? "no bytes" : `only ${printCount(wrong, "byte")}`;
    const sentence = `an NPY file begins with \\x93NUMPY, but the file has ${there}`;
    throw malformed(sentence, { got: wrong, expected: MAGIC.length });
  }
  const kind = otherKindOf(first);
  if (kind !== null) {
    const sentence = `the file must be an NPY file, but it is ${kind.name}; ${kind.advice}`;
    throw unsupported(sentence, { byte: wrong, got: kind.name });
  }
  throw malformed(
    "the file must be an NPY file, which begins with \\x93NUMPY, " +
      `but byte ${wrong} is 0x${first[wrong].toString(16).padStart(2, "0")}; save it with np.save`,
    { byte: wrong, got: first[wrong], expected: MAGIC[wrong] },
  );
}

function checkLength(got: number, end: number, what: string): void {
  if (got >= end) return;
  throw malformed(
    `the NPY file ends after ${printCount(got, "byte")}, within ${what} (up to byte ${end})`,
    { key: "size", got, expected: end },
  );
}

const BLANKS = "[ \\t\\r\\n]*";

/**
 * Returns an expression for a token and the white space before it, from `lastIndex` on. White space must not match in
 * two ways, because a megabyte of it would take hours.
 */
const token = (pattern: string): RegExp => new RegExp(`${BLANKS}(?:${pattern})`, "y");

const DIMENSION = `\\d+L?${BLANKS}`;
const BEGIN = /* @__PURE__ */ token("\\{");
const KEY = /* @__PURE__ */ token(`(["'])(descr|fortran_order|shape)\\1${BLANKS}:`);
/** The forms of the values, and what errors call them. */
const VALUES: Readonly<Record<string, readonly [form: RegExp, what: string]>> = {
  // Printable ASCII without quotes and escapes, at most as long as the bound of the texts that errors repeat.
  descr: [
    /* @__PURE__ */ token(`'([ -&(-[\\]-~]{0,64})'|"([ !#-[\\]-~]{0,64})"`),
    "a data type in quotes",
  ],
  fortran_order: [/* @__PURE__ */ token("(True|False)"), "True or False"],
  // Python 2 appends an L to long integers. `(3)` is a number.
  shape: [
    /* @__PURE__ */ token(
      `\\(${BLANKS}(?:${DIMENSION},${BLANKS}(?:${DIMENSION}(?:,${BLANKS}${DIMENSION}){0,${MAX_RANK - 2}}(?:,${BLANKS})?)?)?\\)`,
    ),
    `a tuple of at most ${MAX_RANK} dimensions, such as (), (3,) or (2, 3)`,
  ],
};
const NEXT = /* @__PURE__ */ token(`(?:,${BLANKS})?(\\})|,`);
const END = /* @__PURE__ */ token("$");

interface Dictionary {
  readonly descr: string;
  readonly isFortran: boolean;
  readonly shape: readonly number[];
}

/** `end` is the position of the dictionary's end in the file. */
function parseDictionary(bytes: Uint8Array, end: number): Dictionary {
  let rest = "";
  // For short text, a TextDecoder takes ten times as long.
  for (const byte of bytes) rest += String.fromCharCode(byte);
  const next = (form: RegExp, what: string): RegExpExecArray => {
    form.lastIndex = 0;
    const found = form.exec(rest);
    if (found === null) throw unexpected(rest.replace(/^[ \t\r\n]+/, ""), end, what);
    rest = rest.slice(form.lastIndex);
    return found;
  };
  const values = new Map<string, RegExpExecArray>();
  next(BEGIN, "{");
  for (let isOver = false; !isOver;) {
    const [, , key] = next(KEY, "the key 'descr', 'fortran_order' or 'shape', and a colon");
    if (values.has(key)) {
      throw malformed(`the header of the NPY file has the key '${key}' twice`, { key });
    }
    values.set(key, next(...VALUES[key]));
    isOver = next(NEXT, "a comma or }")[1] !== undefined;
  }
  next(END, "only white space");
  const [descr, order, shape] = Object.keys(VALUES).map((key) => values.get(key));
  if (descr === undefined || order === undefined || shape === undefined) {
    const missing = Object.keys(VALUES).filter((key) => !values.has(key));
    const sentence = `the header of the NPY file lacks ${missing.join(" and ")}`;
    throw malformed(sentence, { key: missing[0] });
  }
  return {
    descr: descr[1] ?? descr[2],
    isFortran: order[1] === "True",
    shape: dimensionsIn(shape[0]),
  };
}

function unexpected(rest: string, end: number, what: string): TensorError {
  if (what === VALUES.descr[1] && /^[[({]/.test(rest)) {
    const sentence = `the descr of the NPY file is ${STRUCTURED}`;
    return new TensorError("unsupported-dtype", sentence, { key: "descr" });
  }
  const byte = end - rest.length;
  const found = rest === "" ? "ends" : `has ${JSON.stringify(rest.slice(0, 16))}`;
  const sentence = `the header of the NPY file ${found} at byte ${byte}, but expected ${what}`;
  return malformed(sentence, { byte });
}

function dimensionsIn(tuple: string): number[] {
  const shape = (tuple.match(/\d+/g) ?? []).map(Number);
  if (shape.every(Number.isSafeInteger)) return shape;
  const sentence =
    "the shape in the header of the NPY file has a dimension of 2^53 or more, but a tensor has at most 2^32 - 1 elements";
  throw new TensorError("too-large", sentence, { key: "shape", limit: MAX_SIZE });
}

/** Checks that the file contains all elements, and returns their number. */
function checkElements(
  shape: readonly number[],
  { bytes, dtype }: ElementType,
  { start, fileSize, maxSize }: Readonly<Record<"start" | "fileSize" | "maxSize", number>>,
): number {
  const size = product(shape);
  if (size > maxSize) {
    const most = maxSize === MAX_SIZE ? "a tensor has at most 2^32" : "an array has at most 2^53";
    const sentence = `the NPY file declares the shape ${printShape(shape)}, but ${most} - 1 elements`;
    throw new TensorError("too-large", sentence, { key: "shape", got: size, limit: maxSize });
  }
  const present = fileSize - start;
  if (size * bytes > present) {
    throw malformed(
      `the NPY file declares ${printCount(size * bytes, "byte")} (shape ${printShape(shape)}, ${dtype} of ${printCount(bytes, "byte")}), ` +
        `but ${present} follow its header`,
      { key: "size", got: present, expected: size * bytes },
    );
  }
  // Empty strings take no bytes, so only this check prevents a small file from creating 2^32 strings.
  if (bytes === 0 && size > fileSize) {
    const sentence = `the NPY file declares ${size} empty strings, more than it has bytes`;
    throw malformed(sentence, { key: "size", got: size, limit: fileSize });
  }
  return size;
}

/**
 * Returns the header of a file in C order, exactly as NumPy writes it: version 1.0, padded to a multiple of 64 bytes.
 * With at most 64 dimensions, the header is shorter than 65536 bytes, from which version 2.0 is required.
 */
export function printNpyHeader(descr: string, shape: readonly number[]): Uint8Array {
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
  // For a scalar, NumPy reserves no space for a growing first dimension; the header ends at byte 128 with or without
  // that space.
  const growth = DIMENSION_DIGITS - String(shape[0]).length;
  const header =
    `{'descr': '${descr}', 'fortran_order': False, 'shape': ${tuple}, }` + " ".repeat(growth);
  const from = LENGTH_AT + 2;
  const unpadded = from + header.length + 1;
  // NumPy adds 64 bytes of padding to a header that is already aligned.
  const end = unpadded + HEADER_ALIGNMENT - (unpadded % HEADER_ALIGNMENT);
  const text = `${header.padEnd(end - from - 1)}\n`;
  const prefix = [...MAGIC, 1, 0, text.length & 0xff, text.length >> 8];
  return Uint8Array.of(...prefix, ...new TextEncoder().encode(text));
}
