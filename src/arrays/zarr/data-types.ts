/** Converts data type names and fill values between Zarr's forms and this package's. */

import { factOf, isArray, printValue } from "../../core/foreign.ts";
import { malformed, TensorError } from "../../core/errors.ts";
import {
  allocate,
  DTYPE_NAMES,
  DTYPES,
  isNumericStorage,
  rowOf,
  type DType,
} from "../../core/tensor/dtype.ts";
import { bytesOf, keepBits } from "../../core/tensor/storage.ts";
import { reader, writer } from "../../core/tensor/scalar.ts";
import { wrongField } from "./fields.ts";
import { isObject, type Json } from "./json.ts";

/**
 * The data types whose names in Zarr, according to the specification or the registry of extensions, differ from this
 * package's. `float8_e4m3fn` is not registered, but TensorStore writes this name.
 */
const OTHER_NAMES: Partial<Readonly<Record<DType, string>>> = {
  float8e4m3fn: "float8_e4m3fn",
  float8e4m3fnuz: "float8_e4m3fnuz",
  float8e5m2: "float8_e5m2",
  float8e5m2fnuz: "float8_e5m2fnuz",
  float4e2m1: "float4_e2m1fn",
  float8e8m0: "float8_e8m0fnu",
  float6e2m3: "float6_e2m3fn",
  float6e3m2: "float6_e3m2fn",
};

/** All data types except text, which this package does not support in Zarr. */
const SUPPORTED = DTYPE_NAMES.filter((dtype) => dtype !== "string");

const DTYPE_OF: ReadonlyMap<string, DType> = new Map([
  ...SUPPORTED.map((dtype) => [printDataType(dtype), dtype] as const),
  ["complex_float32", "complex64"],
  ["complex_float64", "complex128"],
]);

/** Advice about unsupported data types, by their names in Zarr v3 or v2. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /^string$|utf32|^bytes$|^r\d+$|null_terminated|^\W?[USO]/,
    "save the text as numbers, such as ids",
  ],
  [/datetime|timedelta|^\W?[Mm]\d/, "save them as int64"],
  [/^struct|^\W?V|,/, "save each field as a separate array"],
  [/^complex_/, "save them as complex64"],
  [/^float[468]_/, "save them as float16"],
];

function unreadType(key: "data_type" | "dtype", name: string, where: string): TensorError {
  const advice = ADVICE.find(([pattern]) => pattern.test(name))?.[1] ?? "save it as another type";
  const sentence = `the ${key} ${printValue(name)} of ${where} is not supported; ${advice}`;
  return new TensorError("unsupported-dtype", sentence, { key, file: where, got: factOf(name) });
}

/**
 * Parses `data_type`. Throws `unsupported-dtype`, or `malformed-file` for a value that is not a data
 * type.
 */
export function parseDataType(value: Json | undefined, where: string): DType {
  const named = isObject(value) ? value.name : value;
  if (typeof named !== "string") throw wrongField("data_type", where, "a name", value);
  const dtype = DTYPE_OF.get(named);
  if (dtype === undefined) throw unreadType("data_type", named, where);
  return dtype;
}

/** Returns Zarr's name for a data type. Throws a `dtype` error for text. */
export function printDataType(dtype: DType): string {
  if (dtype !== "string") return OTHER_NAMES[dtype] ?? dtype;
  const sentence = `an array of ${dtype} cannot be saved as Zarr; save the text as numbers, such as ids`;
  throw new TensorError("dtype", sentence, { key: "dtype", got: dtype });
}

/**
 * NumPy's type codes, which Zarr v2 uses. TensorStore writes types without a code into Zarr v2 under their v3 names, in
 * little-endian order.
 */
const codeOf = (dtype: DType): string | null =>
  dtype === "bfloat16" ? null : (rowOf(dtype).npy ?? null);

const OF_NUMPY: ReadonlyMap<string | null, DType> = new Map(
  SUPPORTED.map((dtype) => [codeOf(dtype), dtype]),
);

/** Parses a Zarr v2 data type, such as `<f4`, and its byte order. */
export function parseNumpyType(
  value: Json | undefined,
  where: string,
): { readonly dtype: DType; readonly bigEndian: boolean } {
  if (typeof value !== "string") {
    if (!isArray(value)) throw wrongField("dtype", where, "a name or a list of fields", value);
    const sentence = `the dtype of ${where} is a list of fields, but only plain data types are supported; save each field as a separate array`;
    const fields = { key: "dtype", file: where, got: factOf(value) };
    throw new TensorError("unsupported-dtype", sentence, fields);
  }
  const [, order = "", letters = ""] = /^([<>|=]?)(.*)$/s.exec(value) ?? [];
  const named = DTYPE_OF.get(value);
  const ofName = named !== undefined && codeOf(named) === null ? named : undefined;
  const dtype = OF_NUMPY.get(letters) ?? ofName;
  if (dtype === undefined) throw unreadType("dtype", value, where);
  return { dtype, bigEndian: order === ">" };
}

/** Returns the Zarr v2 name of a data type, such as `<f4`. */
export function printNumpyType(dtype: DType, isBig: boolean): string {
  const code = codeOf(dtype);
  if (code === null) return printDataType(dtype);
  const { bytes, lanes } = rowOf(dtype);
  return `${bytes / lanes === 1 ? "|" : isBig ? ">" : "<"}${code}`;
}

/** Returns the bytes of a zero element. */
export const zeroOf = (dtype: DType): Uint8Array => new Uint8Array(DTYPES[dtype].bytes);

/** Special floating-point values, as spelled in metadata. */
const SPECIAL: ReadonlyMap<string, number> = new Map([
  ["NaN", NaN],
  ["Infinity", Infinity],
  ["-Infinity", -Infinity],
]);

/**
 * Parses a `fill_value` into the bytes of one element. The value null, which zarrita and Zarr v2 write for a missing
 * fill value, means zero. Throws a `malformed-file` error for a value that the data type cannot represent.
 */
export function parseFillValue(
  dtype: DType,
  value: Json | undefined,
  where: string,
  what = "fill_value",
): Uint8Array {
  const { family, lanes, bytes, bits, storage } = rowOf(dtype);
  const element = zeroOf(dtype);
  if (value === null) return element;
  const parts = family === "complex" && isArray(value) ? (value as readonly Json[]) : [value];
  const part: DType = family !== "complex" ? dtype : dtype === "complex64" ? "float32" : "float64";
  const width = bytes / lanes;
  const isWhole =
    parts.length === lanes &&
    parts.every((one, lane) => {
      const encoded = encodePart(part, one);
      if (encoded !== null) element.set(encoded, lane * width);
      return encoded !== null;
    });
  // In an element of fewer than 8 bits, the unused upper bits are ignored, as in a chunk.
  if (bits !== undefined) keepBits(element, bits, storage === Int8Array);
  if (isWhole) return element;
  throw wrongFillValue(dtype, value, where, what);
}

/** Parses the number `what` in the form of a fill value. */
export function parseElement(
  dtype: DType,
  value: Json,
  where: string,
  what: string,
): number | bigint {
  const storage = allocate(dtype, 1);
  if (isNumericStorage(storage)) bytesOf(storage).set(parseFillValue(dtype, value, where, what));
  return reader(dtype, storage)(0) as number | bigint;
}

export function wrongFillValue(
  dtype: DType,
  value: Json | undefined,
  where: string,
  what = "fill_value",
): TensorError {
  const got = isArray(value) ? "a list" : printValue(value);
  const sentence = `the ${what} of ${where} must be a value of ${dtype}, got ${got}`;
  return malformed(sentence, { key: what, file: where, got, expected: dtype });
}

/** Encodes a number, or a part of a complex number, as bytes, or returns null if the type cannot represent it. */
function encodePart(dtype: DType, value: Json | undefined): Uint8Array | null {
  const { family, bytes } = rowOf(dtype);
  const isFloat = family === "float" || family === "half" || family === "minifloat";
  if (isFloat && typeof value === "string" && /^0[xX]/.test(value)) return parseHex(value, bytes);
  // The type float8_e8m0fnu has no zero. TensorStore writes its default fill value, the byte 0, as the number 0.
  if (dtype === "float8e8m0" && value === 0) return zeroOf(dtype);
  const special = typeof value === "string" ? SPECIAL.get(value) : undefined;
  const storage = allocate(dtype, 1);
  const isTaken = writer(dtype, storage)(0, special ?? value);
  return isTaken && isNumericStorage(storage) ? bytesOf(storage) : null;
}

/** Converts big-endian hexadecimal digits to bytes in little-endian order. */
function parseHex(text: string, bytes: number): Uint8Array | null {
  const digits = text.slice(2);
  if (!/^[0-9a-fA-F]+$/.test(digits) || digits.length > 2 * bytes) return null;
  const padded = digits.padStart(2 * bytes, "0");
  return Uint8Array.from({ length: bytes }, (_, at) => {
    const from = 2 * (bytes - 1 - at);
    return Number.parseInt(padded.slice(from, from + 2), 16);
  });
}

/** Prints a fill value for metadata, in a form that `parseFillValue` converts to the same bits. */
export function printFillValue(dtype: DType, element: Uint8Array): Json {
  const { family } = rowOf(dtype);
  if (family === "complex") {
    const half = element.length / 2;
    const part = dtype === "complex64" ? "float32" : "float64";
    return [printPart(part, element.slice(0, half)), printPart(part, element.slice(half))];
  }
  return printPart(dtype, element);
}

function printPart(dtype: DType, element: Uint8Array): Json {
  const storage = allocate(dtype, 1);
  if (!isNumericStorage(storage)) return null;
  bytesOf(storage).set(element);
  const value = reader(dtype, storage)(0) as number | bigint | boolean;
  if (typeof value !== "number") return value;
  // The number -0 would be printed as 0, and TensorStore reads the number 1 as 2^-64 in float8_e8m0fnu, so both need
  // another form.
  const isNumber = !Object.is(value, -0) && dtype !== "float8e8m0";
  const shown = Number.isFinite(value) ? (isNumber ? value : null) : String(value);
  const again = shown === null ? null : encodePart(dtype, shown);
  if (again?.every((byte, at) => byte === element[at]) === true) return shown;
  const digits = [...element].reverse().map((byte) => byte.toString(16).padStart(2, "0"));
  return `0x${digits.join("")}`;
}
