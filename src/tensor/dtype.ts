/**
 * The table of data types: one row each, and everything that is said of a data type anywhere is derived from it.
 * Also the reductions, and which family of arithmetic defines which of them. No arithmetic is done here.
 */

import { TensorError } from "../errors.ts";

/** How values of a data type are combined. Each family is one kernel: see `kernels/combine.ts`. */
export type Family =
  | "float"
  | "half"
  | "int"
  | "int64"
  | "bool"
  | "complex"
  | "string"
  | "minifloat";

interface Row {
  /** Its number and name in ONNX's `TensorProto.DataType`, and the typed field that may hold it. */
  readonly onnx: { readonly number: number; readonly name: string; readonly field: OnnxField };
  /** Its name in OpenVINO (`element_type`), where that has it. */
  readonly openvino?: string;
  /** Its NPY type string without the byte order, where that has it; a string's is followed by its length. */
  readonly npy?: string;
  /** Bytes of one element in memory, and in files but for `bits`; 0 where they vary. */
  readonly bytes: number;
  /** Bits of one element in files, where they are fewer than a byte. */
  readonly bits?: 4;
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
  float8e4m3fn:   { onnx: { number: 17, name: "float8e4m3fn",   field: "int32Data" }, openvino: "f8e4m3", bytes: 1, storage: Uint8Array, lanes: 1, family: "minifloat" },
  float8e4m3fnuz: { onnx: { number: 18, name: "float8e4m3fnuz", field: "int32Data" }, bytes: 1, storage: Uint8Array, lanes: 1, family: "minifloat" },
  float8e5m2:     { onnx: { number: 19, name: "float8e5m2",     field: "int32Data" }, openvino: "f8e5m2", bytes: 1, storage: Uint8Array, lanes: 1, family: "minifloat" },
  float8e5m2fnuz: { onnx: { number: 20, name: "float8e5m2fnuz", field: "int32Data" }, bytes: 1, storage: Uint8Array, lanes: 1, family: "minifloat" },
  uint4:          { onnx: { number: 21, name: "uint4",          field: "int32Data" }, openvino: "u4",     bytes: 1, bits: 4, storage: Uint8Array, lanes: 1, family: "int" },
  int4:           { onnx: { number: 22, name: "int4",           field: "int32Data" }, openvino: "i4",     bytes: 1, bits: 4, storage: Int8Array,  lanes: 1, family: "int" },
  float4e2m1:     { onnx: { number: 23, name: "float4e2m1",     field: "int32Data" }, openvino: "f4e2m1", bytes: 1, bits: 4, storage: Uint8Array, lanes: 1, family: "minifloat" },
  float8e8m0:     { onnx: { number: 24, name: "float8e8m0",     field: "int32Data" }, openvino: "f8e8m0", bytes: 1, storage: Uint8Array, lanes: 1, family: "minifloat" },
} as const satisfies Record<string, Row>;

// The table is public, and everything relies on it.
for (const row of Object.values(DTYPES)) Object.freeze(Object.freeze(row).onnx);
Object.freeze(DTYPES);

/** The name of a data type. */
export type DType = keyof typeof DTYPES;

export const DTYPE_NAMES = Object.freeze(Object.keys(DTYPES)) as readonly DType[];

/** The array that holds elements of `D`: floats of 16 bits and fewer as bits, complex as interleaved pairs. */
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

/** The row of a data type, with the columns that not every row has. */
export const rowOf = (dtype: DType): Row => DTYPES[dtype];

/**
 * The integer range of an integer type, from its width and sign; `null` for other types.
 */
export function integerRange(dtype: DType): readonly [low: bigint, high: bigint] | null {
  const { family, bytes, bits: narrow = 8 * bytes } = rowOf(dtype);
  if (family !== "int" && family !== "int64") return null;
  const bits = BigInt(narrow);
  return isUnsigned(dtype)
    ? [0n, (1n << bits) - 1n]
    : [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n];
}

/** What the storage of a type may hold where that is less than its class does; `null` for other types. */
export function storedRange(dtype: DType): readonly [low: number, high: number] | null {
  const { family, bits } = rowOf(dtype);
  if (family === "bool") return [0, 1];
  if (bits === undefined) return null;
  const [low, high] = integerRange(dtype) ?? [0, 2 ** bits - 1];
  return [Number(low), Number(high)];
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
export const REDUCTIONS = Object.freeze([
  "none",
  "add",
  "mul",
  "max",
  "min",
  "sub",
  "mean",
] as const);

export type Reduction = (typeof REDUCTIONS)[number];

/** What one update does to one value; a mean is a sum that is divided in the end. */
export type Step = Exclude<Reduction, "mean">;

/** Whether there is arithmetic for a data type; those of 8 bits and fewer without it are only moved. */
export const isArithmetic = (dtype: DType): boolean => {
  const { family, bits } = rowOf(dtype);
  return family !== "minifloat" && bits === undefined;
};

/**
 * The reductions a data type has: all where there is arithmetic, but truth values have no mean, and text can only be
 * replaced, concatenated and compared.
 */
export function reductionsOf(dtype: DType): readonly Reduction[] {
  if (!isArithmetic(dtype)) return ["none"];
  const { family } = rowOf(dtype);
  if (family === "string") return ["none", "add", "max", "min"];
  return family === "bool" ? REDUCTIONS.filter((one) => one !== "mean") : REDUCTIONS;
}
