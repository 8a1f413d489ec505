/** Converts data type names and fill values between Zarr's forms and this package's. */

import { factOf, isArray, printValue, wrongValue } from "../../core/foreign.ts";
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
import { isObject, type Json } from "./json.ts";

/**
 * Zarr's data type names, according to the specification or the registry of extensions. The name is null for text,
 * which this package does not support in Zarr. `float8_e4m3fn` is not registered, but TensorStore writes this name.
 */
const NAMES: Readonly<Record<DType, string | null>> = {
  bool: "bool",
  string: null,
  float16: "float16",
  bfloat16: "bfloat16",
  float32: "float32",
  float64: "float64",
  int8: "int8",
  int16: "int16",
  int32: "int32",
  int64: "int64",
  uint8: "uint8",
  uint16: "uint16",
  uint32: "uint32",
  uint64: "uint64",
  complex64: "complex64",
  complex128: "complex128",
  float8e4m3fn: "float8_e4m3fn",
  float8e4m3fnuz: "float8_e4m3fnuz",
  float8e5m2: "float8_e5m2",
  float8e5m2fnuz: "float8_e5m2fnuz",
  uint4: "uint4",
  int4: "int4",
  float4e2m1: "float4_e2m1fn",
  float8e8m0: "float8_e8m0fnu",
  uint2: "uint2",
  int2: "int2",
  float6e2m3: "float6_e2m3fn",
  float6e3m2: "float6_e3m2fn",
};

const DTYPE_OF: ReadonlyMap<string | null, DType> = new Map([
  ...DTYPE_NAMES.map((dtype) => [NAMES[dtype], dtype] as const),
  ["complex_float32", "complex64"],
  ["complex_float64", "complex128"],
]);

/** Advice about unsupported data types, by the beginning of their names. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/^string$|utf32|^bytes$|^r\d+$|null_terminated/, "save the text as numbers, such as ids"],
  [/datetime|timedelta/, "save them as int64"],
  [/^struct/, "save each field as a separate array"],
  [/^complex_/, "save them as complex64"],
  [/^float[468]_/, "save them as float16"],
];

const unreadType = (name: string, where: string): TensorError => {
  const advice = ADVICE.find(([pattern]) => pattern.test(name))?.[1] ?? "save it as another type";
  return new TensorError(
    "dtype",
    `the data type ${printValue(name)} of ${where} is not supported; ${advice}`,
    { key: "data_type", file: where, got: factOf(name) },
  );
};

/**
 * Parses `data_type`. Throws `dtype` for an unsupported data type, or `malformed-file` for a value that is not a data
 * type.
 */
export function parseDataType(value: Json | undefined, where: string): DType {
  const named = isObject(value) ? value.name : value;
  if (typeof named !== "string") {
    throw wrongValue("malformed-file", `the data_type of ${where} must be a name`, value, {
      key: "data_type",
      file: where,
    });
  }
  const dtype = DTYPE_OF.get(named);
  if (dtype === undefined) throw unreadType(named, where);
  return dtype;
}

/** Returns Zarr's name for a data type. Throws a `dtype` error for text. */
export function printDataType(dtype: DType): string {
  const name = NAMES[dtype];
  if (name !== null) return name;
  throw new TensorError(
    "dtype",
    `an array of ${dtype} cannot be saved as Zarr; save the text as numbers, such as ids`,
    { key: "dtype", got: dtype },
  );
}

/** NumPy's type codes, which Zarr v2 uses. */
const NUMPY: ReadonlyMap<string, DType> = new Map(
  DTYPE_NAMES.flatMap((dtype): (readonly [string, DType])[] => {
    const { npy } = rowOf(dtype);
    return npy === undefined || dtype === "string" || dtype === "bfloat16" ? [] : [[npy, dtype]];
  }),
);

/** Data types without a NumPy code, which TensorStore writes into Zarr v2 under their v3 names, in little-endian order. */
const OF_TENSORSTORE: ReadonlyMap<string | null, DType> = new Map(
  DTYPE_NAMES.filter((dtype) => rowOf(dtype).npy === undefined || dtype === "bfloat16").map(
    (dtype) => [NAMES[dtype], dtype] as const,
  ),
);

/** Parses a Zarr v2 data type, such as `<f4`, and its byte order. */
export function parseNumpyType(
  value: Json | undefined,
  where: string,
): { readonly dtype: DType; readonly bigEndian: boolean } {
  if (typeof value !== "string") {
    const got = isArray(value) ? "fields" : printValue(value);
    throw new TensorError(
      "dtype",
      `the dtype of ${where} is ${got}, but only plain data types are supported; save each field as a separate array`,
      { key: "dtype", file: where, got: factOf(value) },
    );
  }
  const [, order = "", letters = ""] = /^([<>|=]?)(.*)$/s.exec(value) ?? [];
  const dtype = NUMPY.get(letters) ?? OF_TENSORSTORE.get(value);
  if (dtype !== undefined) return { dtype, bigEndian: order === ">" };
  const kind = {
    M: "datetime",
    m: "timedelta",
    U: "string",
    S: "string",
    O: "string",
    V: "struct",
  };
  const known = kind[letters.charAt(0) as keyof typeof kind];
  if (known === undefined) throw unreadType(value, where);
  const advice = ADVICE.find(([pattern]) => pattern.test(known))?.[1] ?? "";
  throw new TensorError(
    "dtype",
    `the dtype ${printValue(value)} of ${where} is not supported; ${advice}`,
    { key: "dtype", file: where, got: factOf(value) },
  );
}

/** Returns the Zarr v2 name of a data type, such as `<f4`. */
export function printNumpyType(dtype: DType, isBig: boolean): string {
  const { npy, bytes, lanes } = rowOf(dtype);
  if (npy === undefined || dtype === "bfloat16") return printDataType(dtype);
  return `${bytes / lanes === 1 ? "|" : isBig ? ">" : "<"}${npy}`;
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
  const shown = isArray(value) ? "a list" : printValue(value);
  return malformed(`the ${what} of ${where} must be a value of ${dtype}, got ${shown}`, {
    key: what,
    file: where,
    got: shown,
    expected: dtype,
  });
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
