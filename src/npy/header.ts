/**
 * What stands in an NPY file in front of the elements: `\x93NUMPY`, a version, the length of the header (two bytes
 * in version 1.0, four in 2.0 and 3.0), the header. Versions 2.0 and 3.0 differ in the encoding of field names,
 * which only structured data types have.
 *
 * Everything that a file promises is compared with the bytes that are there before anything is allocated.
 */

import { TensorError } from "../errors.ts";
import { MAX_SIZE, printShape, product } from "../tensor/shape.ts";
import { parseDescr, type ElementType } from "./descr.ts";
import { parseHeader } from "./literal.ts";

/** What a file holds; `start` and `end` enclose its elements. */
export interface Contents {
  readonly type: ElementType;
  readonly shape: readonly number[];
  readonly size: number;
  readonly fortranOrder: boolean;
  readonly start: number;
  readonly end: number;
}

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59] as const;
const VERSION_AT = MAGIC.length;
const LENGTH_AT = VERSION_AT + 2;

/** The width of the header's length, by version. */
const LENGTH_BYTES: Readonly<Record<string, 2 | 4>> = { "1.0": 2, "2.0": 4, "3.0": 4 };

/** Headers end on a multiple of this. */
const ALIGNMENT = 64;

/** NumPy leaves room for the first dimension to grow to this many digits in place. */
const DIMENSION_DIGITS = 21;

/** @throws TensorError `malformed-file`, or `too-large` for more than 2^32 - 1 elements. */
export function readHeader(file: Uint8Array): Contents {
  checkMagic(file);
  const version = `${file[VERSION_AT]}.${file[VERSION_AT + 1]}`;
  const width = LENGTH_BYTES[version];
  if (width === undefined) {
    throw new TensorError(
      "malformed-file",
      `the NPY file is of version ${version}, but the versions that are read are 1.0, 2.0 and 3.0`,
    );
  }
  const from = LENGTH_AT + width;
  checkLength(file, from, "the length of its header");
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const length = width === 2 ? view.getUint16(LENGTH_AT, true) : view.getUint32(LENGTH_AT, true);
  const start = from + length;
  checkLength(file, start, `its header of ${length} bytes`);
  const { descr, fortranOrder, shape } = parseHeader(file, from, start);
  const type = parseDescr(descr);
  const size = checkSize(file, start, shape, type);
  return { type, shape, size, fortranOrder, start, end: start + size * type.bytes };
}

function checkMagic(file: Uint8Array): void {
  const wrong = MAGIC.findIndex((byte, at) => file[at] !== byte);
  if (wrong === -1) return checkLength(file, LENGTH_AT, "its version");
  if (wrong === file.length) {
    throw new TensorError(
      "malformed-file",
      `an NPY file begins with \\x93NUMPY, but there are only ${file.length} bytes`,
      { got: file.length },
    );
  }
  const archive = file[0] === 0x50 && file[1] === 0x4b;
  throw new TensorError(
    "malformed-file",
    archive
      ? "these bytes are a ZIP archive, not an NPY file; an .npz file has to be unpacked first"
      : `these bytes are no NPY file: byte ${wrong} is 0x${file[wrong].toString(16).padStart(2, "0")}, ` +
          "but an NPY file begins with \\x93NUMPY",
  );
}

function checkLength(file: Uint8Array, end: number, what: string): void {
  if (file.length >= end) return;
  throw new TensorError(
    "malformed-file",
    `the NPY file ends after ${file.length} bytes, within ${what} (up to byte ${end})`,
    { got: file.length },
  );
}

/** The number of elements, all of which are there. */
function checkSize(
  file: Uint8Array,
  start: number,
  shape: readonly number[],
  { bytes, dtype }: ElementType,
): number {
  const size = product(shape);
  if (size > MAX_SIZE) {
    throw new TensorError(
      "too-large",
      `the NPY file promises the shape ${printShape(shape)}, but a tensor has at most 2^32 - 1 elements`,
      { expected: shape },
    );
  }
  const present = file.length - start;
  if (size * bytes > present) {
    throw new TensorError(
      "malformed-file",
      `the NPY file promises ${size * bytes} bytes (shape ${printShape(shape)}, ${dtype} of ${bytes} bytes), ` +
        `but ${present} follow its header`,
      { got: present, expected: shape },
    );
  }
  // Text of length 0 takes no bytes, so nothing but this stops a small file from asking for 2^32 empty strings.
  if (bytes === 0 && size > file.length) {
    throw new TensorError(
      "malformed-file",
      `the NPY file promises ${size} strings of no characters, more than it has bytes`,
      { got: size, expected: shape },
    );
  }
  return size;
}

/**
 * The bytes in front of the elements of a C-ordered file, the same as NumPy writes: version 1.0, padded to a multiple
 * of 64. With at most 64 dimensions the header stays far below the 65535 bytes from which version 2.0 is needed.
 */
export function printHeader(descr: string, shape: readonly number[]): Uint8Array {
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
  const growth = shape.length === 0 ? 0 : DIMENSION_DIGITS - String(shape[0]).length;
  const header =
    `{'descr': '${descr}', 'fortran_order': False, 'shape': ${tuple}, }` + " ".repeat(growth);
  const from = LENGTH_AT + 2;
  const unpadded = from + header.length + 1;
  // Where nothing is missing NumPy still adds a whole block.
  const end = unpadded + ALIGNMENT - (unpadded % ALIGNMENT);
  const bytes = new Uint8Array(end).fill(0x20);
  bytes.set(MAGIC);
  bytes.set([1, 0, (end - from) & 0xff, (end - from) >> 8], VERSION_AT);
  for (let i = 0; i < header.length; i++) bytes[from + i] = header.charCodeAt(i);
  bytes[end - 1] = 0x0a;
  return bytes;
}
