/**
 * `descr`, NumPy's name for a data type and its byte order: `<f4`, `>i8`, `|b1`, `<U12`. The table of data types has
 * the letters of the types; this file handles the byte order before them and the length after them.
 */

import { DTYPE_NAMES, DTYPES, rowOf, type DType } from "../../core/tensor/dtype.ts";
import { malformed, TensorError } from "../../core/errors.ts";

/** The storage format of a file's elements. */
export interface ElementType {
  readonly dtype: DType;
  /** Bytes of one element. For strings a multiple of 4, possibly 0. */
  readonly bytes: number;
  /**
   * Bytes that a change of byte order reverses together: two such units in a complex number, one unit per character.
   */
  readonly unit: number;
  readonly bigEndian: boolean;
}

/** Bytes of one character of text: NumPy stores code points (UCS-4). */
export const BYTES_PER_CHARACTER = 4;

/** NumPy counts the bytes of an element in 31 bits. */
const MAX_CHARACTERS = Math.floor((2 ** 31 - 1) / BYTES_PER_CHARACTER);

/** Advice for NumPy data types that this package lacks. */
const UNREAD: Readonly<Record<string, string>> = {
  O: "Python objects, which need pickle and are not read: save numbers or text instead, as with array.astype('U')",
  S: "byte strings, which are not read: save text instead, as with array.astype('U')",
  a: "byte strings, which are not read: save text instead, as with array.astype('U')",
  V: "raw bytes, which are read only as V2 (bfloat16)",
  M: "dates, which are not read: save them as integers instead, as with array.view('int64')",
  m: "durations, which are not read: save them as integers instead, as with array.view('int64')",
};

/**
 * The element type that `descr` names. A missing byte order, `=` and `|` mean little-endian, which is the byte order of
 * every machine that this package runs on.
 * @throws TensorError `malformed-file` if the table of data types lacks the type
 */
export function parseDescr(descr: string): ElementType {
  const order = "<>=|".includes(descr.charAt(0)) ? descr.charAt(0) : "";
  const bigEndian = order === ">";
  const name = descr.slice(order.length);
  const characters = name.startsWith(DTYPES.string.npy) ? parseTextLength(name.slice(1)) : null;
  if (characters !== null) {
    const unit = BYTES_PER_CHARACTER;
    return { dtype: "string", bytes: characters * unit, unit, bigEndian };
  }
  const npy = name === "?" ? DTYPES.bool.npy : name;
  const dtype = DTYPE_NAMES.find((one) => one !== "string" && rowOf(one).npy === npy);
  if (dtype === undefined) {
    const known = DTYPE_NAMES.flatMap((one) => rowOf(one).npy ?? []).join(" ");
    const why = UNREAD[name.charAt(0)] ?? `unknown; the types that are read are ${known}`;
    throw malformed(`the descr of the NPY file, '${descr}', is ${why}`);
  }
  const { bytes, lanes } = DTYPES[dtype];
  return { dtype, bytes, unit: bytes / lanes, bigEndian };
}

/**
 * The descr of a little-endian file. `characters` is the length of text, ignored for other types. Types of one byte
 * have no byte order. bfloat16 is `<V2`, not `|V2`, because ml_dtypes registers it with NumPy in this form.
 * @throws TensorError `dtype` for a type that NPY lacks
 */
export function printDescr(dtype: DType, characters: number): string {
  const { npy, bytes } = rowOf(dtype);
  if (npy === undefined) {
    throw new TensorError("dtype", `NPY has no data type for ${dtype}; save it as ONNX (.pb)`);
  }
  if (dtype === "string") return `<${npy}${characters}`;
  return bytes === 1 ? `|${npy}` : `<${npy}`;
}

function parseTextLength(digits: string): number | null {
  const length = /^[0-9]{1,9}$/.test(digits) ? Number(digits) : Infinity;
  return length <= MAX_CHARACTERS ? length : null;
}
