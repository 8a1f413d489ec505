/**
 * Parses and prints `descr`, NumPy's code for a data type and its byte order, such as `<f4`, `>i8`, `|b1` and `<U12`.
 * The table of data types lists the letter codes; this file handles the byte order before a letter and the length after
 * it.
 */

import { DTYPE_NAMES, DTYPES, rowOf, type DType } from "../../core/tensor/dtype.ts";
import { factOf, malformed, TensorError, unsupported } from "../../core/errors.ts";

/** The storage format of a file's elements. */
export interface ElementType {
  readonly dtype: DType;
  /** Size of one element, in bytes. The size of a string is a multiple of 4, possibly 0. */
  readonly bytes: number;
  /**
   * Size, in bytes, of the unit that is reversed to change the byte order: complex numbers have two units, text has one
   * per character.
   */
  readonly unit: number;
  readonly bigEndian: boolean;
}

/** Bytes per character of text, because NumPy stores code points (UCS-4). */
export const BYTES_PER_CHARACTER = 4;

/** Maximum text length, because NumPy stores the byte size of an element in 31 bits. */
const MAX_CHARACTERS = Math.floor((2 ** 31 - 1) / BYTES_PER_CHARACTER);

/** Error text for NumPy data types that this package does not support. */
const UNREAD: Readonly<Record<string, string>> = {
  O: "Python objects, which need pickle and cannot be read; save numbers or text, for example array.astype('U')",
  S: "byte strings, which cannot be read; save text, for example array.astype('U')",
  a: "byte strings, which cannot be read; save text, for example array.astype('U')",
  V: "raw bytes, which can be read only as V2 (bfloat16)",
  M: "dates, which cannot be read; save integers, for example array.view('int64')",
  m: "durations, which cannot be read; save integers, for example array.view('int64')",
};

/** The codes of NumPy's data types, with or without a size and a unit of time. */
const NUMPY =
  /^(?:[?bBhHiIlLqQpPefdgFDG]|b1|[iu][1248]|f(?:2|4|8|12|16)|c(?:8|16|24|32)|O8?|[SaV]\d*|[mM](?:8(?:\[[^\]]*\])?)?)$/;

/**
 * Parses `descr` into an element type. A missing byte order, `=` and `|` mean little-endian, the byte order of every
 * machine that this package supports. Throws `unsupported-file` for a type of NumPy that is not in the table of data
 * types, `malformed-file` for other text.
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
    const why = UNREAD[name.charAt(0)] ?? `an unknown data type; the supported types are ${known}`;
    const refuse = NUMPY.test(name) ? unsupported : malformed;
    throw refuse(`the descr of the NPY file, '${descr}', means ${why}`, {
      key: "descr",
      got: factOf(descr),
    });
  }
  const { bytes, lanes } = DTYPES[dtype];
  return { dtype, bytes, unit: bytes / lanes, bigEndian };
}

/**
 * Returns the `descr` for a little-endian file. `characters` is the text length, and is ignored for other types.
 * One-byte types have no byte order. bfloat16 is `<V2`, not `|V2`, because ml_dtypes registers it with NumPy in this
 * form. Throws a `dtype` error for a type that NPY does not support.
 */
export function printDescr(dtype: DType, characters: number): string {
  const { npy, bytes } = rowOf(dtype);
  if (npy === undefined) {
    throw new TensorError(
      "dtype",
      `NPY has no data type for ${dtype}; save the tensor as ONNX (.pb)`,
      { input: "tensor", got: dtype },
    );
  }
  if (dtype === "string") return `<${npy}${characters}`;
  return bytes === 1 ? `|${npy}` : `<${npy}`;
}

function parseTextLength(digits: string): number | null {
  const length = /^[0-9]{1,9}$/.test(digits) ? Number(digits) : Infinity;
  return length <= MAX_CHARACTERS ? length : null;
}
