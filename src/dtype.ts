/**
 * The table of data types: one row each, and everything that is said of a data type anywhere is derived from it.
 * Also the reductions, and which family of arithmetic defines which of them. No arithmetic is done here.
 */

import { TensorError } from "./errors.ts";

/** How values of a data type are combined. Each family is one kernel: see `kernels/combine.ts`. */
export type Family = "float" | "half" | "int" | "int64" | "bool" | "complex" | "string";

interface Row {
  /** Its number and name in ONNX's `TensorProto.DataType`, and the typed field that may hold it. */
  readonly onnx: { readonly number: number; readonly name: string; readonly field: OnnxField };
  /** Its name in OpenVINO (`element_type`), where that has it. */
  readonly openvino?: string;
  /** Its NPY type string without the byte order; a string's is followed by its length. */
  readonly npy: string;
  /** Bytes of one element in files; 0 where they vary. */
  readonly bytes: number;
  /** The array class that holds it, and how many entries of it one element takes. */
  readonly storage: StorageConstructor;
  readonly lanes: 1 | 2;
  readonly family: Family;
}

type OnnxField =
  | "floatData"
  | "doubleData"
  | "int32Data"
  | "int64Data"
  | "uint64Data"
  | "stringData";

type StorageConstructor =
  | Int8ArrayConstructor
  | Int16ArrayConstructor
  | Int32ArrayConstructor
  | BigInt64ArrayConstructor
  | Uint8ArrayConstructor
  | Uint16ArrayConstructor
  | Uint32ArrayConstructor
  | BigUint64ArrayConstructor
  | Float32ArrayConstructor
  | Float64ArrayConstructor
  | ArrayConstructor;

// prettier-ignore
export const DTYPES = {
  bool:       { onnx: { number: 9,  name: "bool",       field: "int32Data"  }, openvino: "boolean", npy: "b1", bytes: 1, storage: Uint8Array, lanes: 1, family: "bool" },
  string:     { onnx: { number: 8,  name: "string",     field: "stringData" }, npy: "U", bytes: 0, storage: Array, lanes: 1, family: "string" },
  float16:    { onnx: { number: 10, name: "float16",    field: "int32Data"  }, openvino: "f16",  npy: "f2", bytes: 2, storage: Uint16Array, lanes: 1, family: "half" },
  bfloat16:   { onnx: { number: 16, name: "bfloat16",   field: "int32Data"  }, openvino: "bf16", npy: "V2", bytes: 2, storage: Uint16Array, lanes: 1, family: "half" },
  float32:    { onnx: { number: 1,  name: "float",      field: "floatData"  }, openvino: "f32",  npy: "f4", bytes: 4, storage: Float32Array, lanes: 1, family: "float" },
  float64:    { onnx: { number: 11, name: "double",     field: "doubleData" }, openvino: "f64",  npy: "f8", bytes: 8, storage: Float64Array, lanes: 1, family: "float" },
  int8:       { onnx: { number: 3,  name: "int8",       field: "int32Data"  }, openvino: "i8",   npy: "i1", bytes: 1, storage: Int8Array, lanes: 1, family: "int" },
  int16:      { onnx: { number: 5,  name: "int16",      field: "int32Data"  }, openvino: "i16",  npy: "i2", bytes: 2, storage: Int16Array, lanes: 1, family: "int" },
  int32:      { onnx: { number: 6,  name: "int32",      field: "int32Data"  }, openvino: "i32",  npy: "i4", bytes: 4, storage: Int32Array, lanes: 1, family: "int" },
  int64:      { onnx: { number: 7,  name: "int64",      field: "int64Data"  }, openvino: "i64",  npy: "i8", bytes: 8, storage: BigInt64Array, lanes: 1, family: "int64" },
  uint8:      { onnx: { number: 2,  name: "uint8",      field: "int32Data"  }, openvino: "u8",   npy: "u1", bytes: 1, storage: Uint8Array, lanes: 1, family: "int" },
  uint16:     { onnx: { number: 4,  name: "uint16",     field: "int32Data"  }, openvino: "u16",  npy: "u2", bytes: 2, storage: Uint16Array, lanes: 1, family: "int" },
  uint32:     { onnx: { number: 12, name: "uint32",     field: "uint64Data" }, openvino: "u32",  npy: "u4", bytes: 4, storage: Uint32Array, lanes: 1, family: "int" },
  uint64:     { onnx: { number: 13, name: "uint64",     field: "uint64Data" }, openvino: "u64",  npy: "u8", bytes: 8, storage: BigUint64Array, lanes: 1, family: "int64" },
  complex64:  { onnx: { number: 14, name: "complex64",  field: "floatData"  }, npy: "c8",  bytes: 8,  storage: Float32Array, lanes: 2, family: "complex" },
  complex128: { onnx: { number: 15, name: "complex128", field: "doubleData" }, npy: "c16", bytes: 16, storage: Float64Array, lanes: 2, family: "complex" },
} as const satisfies Record<string, Row>;

/** The name of a data type. */
export type DType = keyof typeof DTYPES;

export const DTYPE_NAMES = Object.keys(DTYPES) as readonly DType[];

/** The array that holds elements of `D`: float16 and bfloat16 as bits, complex as interleaved pairs. */
export type Storage<D extends DType = DType> = D extends "string"
  ? string[]
  : (typeof DTYPES)[D]["storage"]["prototype"];

/** The storage of any data type but string. */
export type NumericStorage = Storage<Exclude<DType, "string">>;

/** One element as JavaScript sees it. */
export type Scalar<D extends DType = DType> = D extends "bool"
  ? boolean
  : D extends "string"
    ? string
    : D extends "int64" | "uint64"
      ? bigint
      : D extends "complex64" | "complex128"
        ? [number, number]
        : number;

export const isDType = (name: unknown): name is DType =>
  typeof name === "string" && Object.hasOwn(DTYPES, name);

/** Whether the elements are numbers or truth values, not text: then the storage is a typed array. */
export const isNumericStorage = (storage: Storage): storage is NumericStorage =>
  ArrayBuffer.isView(storage);

/** The data types of which `test` holds, in the table's order. */
export const dtypesWhere = (test: (row: Row, name: DType) => boolean): readonly DType[] =>
  DTYPE_NAMES.filter((name) => test(DTYPES[name], name));

/**
 * The integer range of an integer type, from its width and sign; `null` for other types.
 */
export function integerRange(dtype: DType): readonly [low: bigint, high: bigint] | null {
  const { family, bytes } = DTYPES[dtype];
  if (family !== "int" && family !== "int64") return null;
  const bits = BigInt(8 * bytes);
  return isUnsigned(dtype)
    ? [0n, (1n << bits) - 1n]
    : [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n];
}

export const isUnsigned = (dtype: DType): boolean => dtype.startsWith("uint");

/**
 * Fresh zeroed storage for `size` elements (empty strings for string).
 * @throws TensorError `too-large` where memory does not hold it.
 */
export function allocate<D extends DType>(dtype: D, size: number): Storage<D>;
export function allocate(dtype: DType, size: number): Storage {
  const { storage, lanes } = DTYPES[dtype];
  if (storage === Array && size > MOST_STRINGS) throw tooLarge(dtype, size);
  try {
    return storage === Array ? Array.from({ length: size }, () => "") : new storage(size * lanes);
  } catch (cause) {
    throw tooLarge(dtype, size, cause);
  }
}

/** V8 ends the process over a list that its heap does not hold; this many take half a gigabyte. */
const MOST_STRINGS = 2 ** 26;

const tooLarge = (dtype: DType, size: number, cause?: unknown): TensorError =>
  new TensorError("too-large", `${size} elements of ${dtype} do not fit in memory`, {}, { cause });

/** A part of a buffer, by default all of it, as the storage of a numeric type. */
export function viewOf(
  dtype: DType,
  buffer: ArrayBufferLike,
  byteOffset = 0,
  length?: number,
): Storage {
  return Reflect.construct(DTYPES[dtype].storage, [buffer, byteOffset, length]);
}

/** What a scatter does where an update meets a value that is already there. */
export const REDUCTIONS = ["none", "add", "mul", "max", "min", "sub"] as const;

export type Reduction = (typeof REDUCTIONS)[number];

/** The reductions a data type has: all, but text can only be replaced, concatenated and compared. */
export const reductionsOf = (dtype: DType): readonly Reduction[] =>
  DTYPES[dtype].family === "string" ? ["none", "add", "max", "min"] : REDUCTIONS;
