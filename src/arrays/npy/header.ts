/**
 * The part of an NPY file before the elements: `\x93NUMPY`, a version, the length of the header (two bytes in version
 * 1.0, four in 2.0 and 3.0), the header itself. Versions 2.0 and 3.0 differ in the encoding of field names, which only
 * structured data types have.
 *
 * All sizes in the header are compared with the length of the file before anything is allocated.
 */

import { malformed, TensorError } from "../../core/errors.ts";
import { MAX_SIZE, printShape, product } from "../../core/tensor/shape.ts";
import { parseDescr, type ElementType } from "./descr.ts";
import { parseDictionary } from "./literal.ts";

/** The contents of a file. Its elements occupy bytes `start` to `end`. */
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

/** Bytes of the header's length field, by version. */
const LENGTH_BYTES: Readonly<Record<string, 2 | 4>> = { "1.0": 2, "2.0": 4, "3.0": 4 };

/** Headers end at a multiple of this many bytes. */
const HEADER_ALIGNMENT = 64;

/** NumPy reserves space for the first dimension to grow to this many digits in place. */
const DIMENSION_DIGITS = 21;

/** The size of a file whose first bytes are given, and the maximum number of its elements. */
export interface NpyLimits {
  /** In bytes. */
  readonly fileSize: number;
  readonly maxSize: number;
}

/**
 * @param limits for a file that is read in parts; by default `file` is the whole file, which becomes one tensor
 * @throws TensorError `malformed-file`, or `too-large` for more than `maxSize` elements
 */
export function readNpyHeader(
  file: Uint8Array,
  limits: NpyLimits = { fileSize: file.length, maxSize: MAX_SIZE },
): NpyContents {
  checkMagic(file);
  const version = `${file[VERSION_AT]}.${file[VERSION_AT + 1]}`;
  const width = LENGTH_BYTES[version];
  if (width === undefined) {
    throw malformed(
      `the NPY file is of version ${version}, but the versions that are read are 1.0, 2.0 and 3.0`,
    );
  }
  const from = LENGTH_AT + width;
  checkLength(file, from, "the length of its header");
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const length = width === 2 ? view.getUint16(LENGTH_AT, true) : view.getUint32(LENGTH_AT, true);
  const start = from + length;
  checkLength(file, start, `its header of ${length} bytes`);
  const { descr, fortranOrder, shape } = parseDictionary(file, from, start);
  const type = parseDescr(descr);
  const size = checkElements(limits, start, shape, type);
  return { type, shape, size, fortranOrder, start, end: start + size * type.bytes };
}

/**
 * Bytes of a file's header, computed from the first twelve.
 * @throws TensorError `malformed-file` for another format; {@link readNpyHeader} checks the rest
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
    const there = got === 0 ? "no" : `only ${got}`;
    throw malformed(`an NPY file begins with \\x93NUMPY, but the file has ${there} bytes`, { got });
  }
  const isArchive = file[0] === 0x50 && file[1] === 0x4b;
  throw malformed(
    isArchive
      ? "the file must be an NPY file, but it is a ZIP archive; unpack an .npz file first"
      : "the file must be an NPY file, which begins with \\x93NUMPY, " +
          `but byte ${wrong} is 0x${file[wrong].toString(16).padStart(2, "0")}; save it with np.save`,
  );
}

function checkLength(file: Uint8Array, end: number, what: string): void {
  if (file.length >= end) return;
  throw malformed(
    `the NPY file ends after ${file.length} bytes, within ${what} (up to byte ${end})`,
    { got: file.length },
  );
}

/** The number of elements, after checking that the file holds all of them. */
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
      `the NPY file promises the shape ${printShape(shape)}, but ${most} - 1 elements`,
      { expected: shape },
    );
  }
  const present = fileSize - start;
  if (size * bytes > present) {
    throw malformed(
      `the NPY file promises ${size * bytes} bytes (shape ${printShape(shape)}, ${dtype} of ${bytes} bytes), ` +
        `but ${present} follow its header`,
      { got: present, expected: shape },
    );
  }
  // Text of length 0 takes no bytes of the file, so only this check keeps a small file from 2^32 empty strings.
  if (bytes === 0 && size > fileSize) {
    throw malformed(
      `the NPY file promises ${size} strings of no characters, more than it has bytes`,
      { got: size, expected: shape },
    );
  }
  return size;
}

/**
 * The bytes before the elements of a C-ordered file, exactly as NumPy writes them: version 1.0, padded to a multiple of
 * 64. With at most 64 dimensions the header stays far below 65536 bytes, above which version 2.0 is needed.
 */
export function printNpyHeader(descr: string, shape: readonly number[]): Uint8Array {
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
  // A scalar has no such reserve, but its header ends at byte 128 either way.
  const growth = DIMENSION_DIGITS - String(shape[0]).length;
  const header =
    `{'descr': '${descr}', 'fortran_order': False, 'shape': ${tuple}, }` + " ".repeat(growth);
  const from = LENGTH_AT + 2;
  const unpadded = from + header.length + 1;
  // NumPy adds a whole block even if no padding is needed.
  const end = unpadded + HEADER_ALIGNMENT - (unpadded % HEADER_ALIGNMENT);
  const bytes = new Uint8Array(end).fill(0x20);
  bytes.set(MAGIC);
  bytes.set([1, 0, (end - from) & 0xff, (end - from) >> 8], VERSION_AT);
  for (let i = 0; i < header.length; i++) bytes[from + i] = header.charCodeAt(i);
  bytes[end - 1] = 0x0a;
  return bytes;
}
