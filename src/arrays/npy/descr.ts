/**
 * Parses and prints `descr`, NumPy's code for a data type and a byte order, such as `<f4`, `>i8`, `|b1` or `<U12`. The
 * letter codes are in the table of data types; this file handles the preceding byte order and the following length.
 */

import { DTYPE_NAMES, DTYPES, rowOf, type DType } from "../../core/tensor/dtype.ts";
import { factOf } from "../../core/foreign.ts";
import { malformed, TensorError } from "../../core/errors.ts";

/** The storage format of elements in a file. */
export interface ElementType {
  readonly dtype: DType;
  /** The size of an element, in bytes. The size of text elements is a multiple of 4, possibly 0. */
  readonly bytes: number;
  /**
   * The size, in bytes, of the unit whose bytes are reversed to change the byte order. Complex numbers have two units,
   * and text has one unit per character.
   */
  readonly unit: number;
  readonly bigEndian: boolean;
}

/** The number of bytes per character, because NumPy stores text as code points (UCS-4). */
export const BYTES_PER_CHARACTER = 4;

/** The maximum text length, because NumPy stores the byte size of an element in 31 bits. */
const MAX_CHARACTERS = Math.floor((2 ** 31 - 1) / BYTES_PER_CHARACTER);

const BYTE_STRINGS = "byte strings, which cannot be read; save text, for example array.astype('U')";

/** Descriptions of NumPy data types that this package does not support. */
const UNREAD: Readonly<Record<string, string>> = {
  O: "Python objects, which need pickle and cannot be read; save numbers or text, for example array.astype('U')",
  S: BYTE_STRINGS,
  a: BYTE_STRINGS,
  V: "raw bytes, which can be read only as V2 (bfloat16)",
  M: "dates, which cannot be read; save integers, for example array.view('int64')",
  m: "durations, which cannot be read; save integers, for example array.view('int64')",
};

export const STRUCTURED =
  "a structured data type, which cannot be read; save each field separately, for example np.save(path, array['field'])";

/** NumPy's data types: codes with an optional size and an optional unit of time, and names. */
const NUMPY =
  /^(?:[?bBhHiIlLqQpPefdgFDG]|b1|[iu][1248]|f(?:2|4|8|12|16)|c(?:8|16|24|32)|O8?|[SaV]\d*|[mM](?:8(?:\[[^\]]*\])?)?|(?:bool|u?int|float|complex|object|str|bytes|void|datetime|timedelta)_?\d*(?:\[[^\]]*\])?)$/;

/**
 * Parses `descr` into an element type. A missing byte order, `=` and `|` mean little-endian, which all supported
 * machines use. Throws `unsupported-dtype` for a NumPy data type that this package does not support, or `malformed-file`
 * for other text.
 */
export function parseDescr(descr: string): ElementType {
  const name = descr.replace(/^[<>=|]/, "");
  const bigEndian = descr.startsWith(">");
  const characters = Number(/^U([0-9]{1,9})$/.exec(name)?.[1]);
  if (characters <= MAX_CHARACTERS) {
    const unit = BYTES_PER_CHARACTER;
    return { dtype: "string", bytes: characters * unit, unit, bigEndian };
  }
  const npy = name === "?" ? DTYPES.bool.npy : name;
  const dtype = DTYPE_NAMES.find((one) => one !== "string" && rowOf(one).npy === npy);
  if (dtype === undefined) {
    const known = DTYPE_NAMES.flatMap((one) => rowOf(one).npy ?? []).join(" ");
    // Several types, a shape or a count, such as `<i4,<f8`, `(2,)f4` or `3f4`.
    const isStructured = /^\d|[,(]/.test(name);
    const isKnown = isStructured || NUMPY.test(name);
    const other = `${isKnown ? "another" : "an unknown"} data type; the supported types are ${known}`;
    const means = isStructured ? STRUCTURED : (UNREAD[name.charAt(0)] ?? other);
    const sentence = `the descr of the NPY file, '${descr}', means ${means}`;
    const fields = { key: "descr", got: factOf(descr) };
    if (!isKnown) throw malformed(sentence, fields);
    throw new TensorError("unsupported-dtype", sentence, fields);
  }
  const { bytes, lanes } = DTYPES[dtype];
  return { dtype, bytes, unit: bytes / lanes, bigEndian };
}

/**
 * Returns the `descr` of a data type in a little-endian file. `characters` is the text length, which other types
 * ignore. One-byte types have no byte order. The code of bfloat16 is `<V2`, not `|V2`, because ml_dtypes registers this
 * code with NumPy. Throws a `dtype` error for a data type that NPY does not support.
 */
export function printDescr(dtype: DType, characters: number): string {
  const { npy, bytes } = rowOf(dtype);
  if (npy === undefined) {
    const sentence = `NPY has no data type for ${dtype}; save the tensor as ONNX (.pb)`;
    throw new TensorError("dtype", sentence, { input: "tensor", got: dtype });
  }
  if (dtype === "string") return `<${npy}${characters}`;
  return bytes === 1 ? `|${npy}` : `<${npy}`;
}
