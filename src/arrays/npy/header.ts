/**
 * Reads and writes the header of an NPY file, which precedes the elements. An NPY file begins with `\x93NUMPY`, a
 * version, and the header length. The length takes two bytes in version 1.0 and four bytes in 2.0 and 3.0. Versions 2.0
 * and 3.0 differ in the encoding of field names, which only structured data types have.
 *
 * All sizes in the header are compared with the file length before anything is allocated.
 */

import { printCount } from "../../core/foreign.ts";
import { malformed, TensorError, unsupported } from "../../core/errors.ts";
import { otherKindOf } from "../../core/tensor/bytes.ts";
import { MAX_SIZE, printShape, product } from "../../core/tensor/shape.ts";
import { parseDescr, type ElementType } from "./descr.ts";
import { parseDictionary } from "./literal.ts";

/** The contents of an NPY file. The elements are the bytes from `start` to `end`. */
export interface NpyContents {
  readonly type: ElementType;
  readonly shape: readonly number[];
  /** The number of elements. */
  readonly size: number;
  readonly fortranOrder: boolean;
  readonly start: number;
  readonly end: number;
}

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59] as const;
const VERSION_AT = MAGIC.length;
const LENGTH_AT = VERSION_AT + 2;

/** The size of the length field, in bytes, by version. */
const LENGTH_BYTES: Readonly<Record<string, 2 | 4>> = { "1.0": 2, "2.0": 4, "3.0": 4 };

/** The alignment of the header's end, in bytes. */
const HEADER_ALIGNMENT = 64;

/** The number of digits for which NumPy reserves space, so that the first dimension can grow in place. */
const DIMENSION_DIGITS = 21;

/** Limits for reading a header from the first bytes of a file: the file size and the maximum number of elements. */
export interface NpyLimits {
  /** The file size, in bytes. */
  readonly fileSize: number;
  readonly maxSize: number;
}

/**
 * With `limits`, `file` may contain only the first bytes; by default, `file` is the whole file. Throws
 * `malformed-file`, `unsupported-file`, or, for more than `maxSize` elements, `too-large`.
 */
export function readNpyHeader(
  file: Uint8Array,
  limits: NpyLimits = { fileSize: file.length, maxSize: MAX_SIZE },
): NpyContents {
  checkMagic(file);
  const version = `${file[VERSION_AT]}.${file[VERSION_AT + 1]}`;
  const width = LENGTH_BYTES[version];
  if (width === undefined) {
    throw unsupported(
      `the NPY file has version ${version}, but the supported versions are 1.0, 2.0 and 3.0`,
      { key: "version", got: version, allowed: ["1.0", "2.0", "3.0"] },
    );
  }
  const from = LENGTH_AT + width;
  checkLength(file, from, "the length of its header");
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const length = width === 2 ? view.getUint16(LENGTH_AT, true) : view.getUint32(LENGTH_AT, true);
  const start = from + length;
  checkLength(file, start, `its header of ${printCount(length, "byte")}`);
  const { descr, fortranOrder, shape } = parseDictionary(file, from, start);
  const type = parseDescr(descr);
  const size = checkElements(limits, start, shape, type);
  return { type, shape, size, fortranOrder, start, end: start + size * type.bytes };
}

/**
 * Computes the header size, in bytes, from the first twelve bytes of a file. Throws `malformed-file` or
 * `unsupported-file` if the file is not NPY. The function `readNpyHeader` checks the rest.
 */
export function parseNpyHeaderLength(first: Uint8Array): number {
  checkMagic(first);
  if (first.length < LENGTH_AT + 4) return first.length;
  const view = new DataView(first.buffer, first.byteOffset, first.byteLength);
  return first[VERSION_AT] === 1
    ? LENGTH_AT + 2 + view.getUint16(LENGTH_AT, true)
    : LENGTH_AT + 4 + view.getUint32(LENGTH_AT, true);
}

function checkMagic(file: Uint8Array): void {
  const wrong = MAGIC.findIndex((byte, at) => file[at] !== byte);
  if (wrong === -1) return checkLength(file, LENGTH_AT, "its version");
  if (wrong === file.length) {
    const { length: got } = file;
    const there = got === 0 ? "no bytes" : `only ${printCount(got, "byte")}`;
    throw malformed(`an NPY file begins with \\x93NUMPY, but the file has ${there}`, {
      got,
      expected: MAGIC.length,
    });
  }
  const kind = otherKindOf(file);
  if (kind !== null) {
    const sentence = `the file must be an NPY file, but it is ${kind.name}; ${kind.advice}`;
    throw unsupported(sentence, { byte: wrong, got: kind.name });
  }
  throw malformed(
    "the file must be an NPY file, which begins with \\x93NUMPY, " +
      `but byte ${wrong} is 0x${file[wrong].toString(16).padStart(2, "0")}; save it with np.save`,
    { byte: wrong, got: file[wrong], expected: MAGIC[wrong] },
  );
}

function checkLength(file: Uint8Array, end: number, what: string): void {
  if (file.length >= end) return;
  throw malformed(
    `the NPY file ends after ${printCount(file.length, "byte")}, within ${what} (up to byte ${end})`,
    { key: "size", got: file.length, expected: end },
  );
}

/** Checks that the file contains all elements, and returns their number. */
function checkElements(
  { fileSize, maxSize }: NpyLimits,
  start: number,
  shape: readonly number[],
  { bytes, dtype }: ElementType,
): number {
  const size = product(shape);
  if (size > maxSize) {
    const most = maxSize === MAX_SIZE ? "a tensor has at most 2^32" : "an array has at most 2^53";
    throw new TensorError(
      "too-large",
      `the NPY file declares the shape ${printShape(shape)}, but ${most} - 1 elements`,
      { key: "shape", got: size, limit: maxSize },
    );
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
    throw malformed(`the NPY file declares ${size} empty strings, more than it has bytes`, {
      key: "size",
      got: size,
      limit: fileSize,
    });
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
  const bytes = new Uint8Array(end).fill(0x20);
  bytes.set(MAGIC);
  bytes.set([1, 0, (end - from) & 0xff, (end - from) >> 8], VERSION_AT);
  for (let i = 0; i < header.length; i++) bytes[from + i] = header.charCodeAt(i);
  bytes[end - 1] = 0x0a;
  return bytes;
}
