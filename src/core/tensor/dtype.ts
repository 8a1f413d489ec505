/**
 * The table of data types. Each data type has one row, from which every fact about the data type is derived. This file
 * also lists the reductions, and the data types that support each; the arithmetic itself is in `kernels/`.
 */

import { named, TensorError, type ErrorContext } from "../errors.ts";
import { factOf, nearestName, printValue } from "../foreign.ts";

/** Family of data types with the same arithmetic, and so with the same kernel in `kernels/combine.ts`. */
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
  /** Number in ONNX's `TensorProto.DataType`, and the name there if it differs. */
  readonly onnx: { readonly number: number; readonly name?: string };
  /** Name in OpenVINO (`element_type`); absent if OpenVINO does not have the data type. */
  readonly openvino?: string;
  /** NPY type string without the byte order, and for text without the length; absent if NPY does not have the type. */
  readonly npy?: string;
  /** True if onnxruntime-common tensors have the data type (`Tensor.DataTypeMap`), under the same name. */
  readonly runtime?: true;
  /** Size of an element in memory, in bytes, and in files unless `bits` is present; 0 if the size varies. */
  readonly bytes: number;
  /** Size of an element in files, in bits, if elements share bytes there. */
  readonly bits?: 1 | 2 | 4 | 6;
  /** Class of the array that stores elements, and the number of array entries per element. */
  readonly storage: StorageConstructor;
  readonly lanes: 1 | 2;
  readonly family: Family;
}

type Bits = 8 | 16 | 32;
type StorageName =
  | `${"Int" | "Uint"}${Bits}Array`
  | `Big${"Int" | "Uint"}64Array`
  | `Float${32 | 64}Array`;
type StorageConstructor = (typeof globalThis)[StorageName | "Array"];

// prettier-ignore
/**
 * All data types by name, with each type's size, storage class, and names in ONNX, OpenVINO and NPY.
 *
 * @example
 * ```ts
 * DTYPES.bfloat16.bytes; // 2
 * DTYPES.int64.onnx.number; // 7
 * ```
 */
export const DTYPES = {
  bool: { onnx: { number: 9 }, openvino: "boolean", npy: "b1",
    runtime: true, bytes: 1, storage: Uint8Array, lanes: 1, family: "bool" },
  string: { onnx: { number: 8 }, openvino: "string", npy: "U",
    runtime: true, bytes: 0, storage: Array, lanes: 1, family: "string" },
  float16: { onnx: { number: 10 }, openvino: "f16", npy: "f2",
    runtime: true, bytes: 2, storage: Uint16Array, lanes: 1, family: "half" },
  bfloat16: { onnx: { number: 16 }, openvino: "bf16", npy: "V2",
    bytes: 2, storage: Uint16Array, lanes: 1, family: "half" },
  float32: { onnx: { number: 1, name: "float" }, openvino: "f32", npy: "f4",
    runtime: true, bytes: 4, storage: Float32Array, lanes: 1, family: "float" },
  float64: { onnx: { number: 11, name: "double" }, openvino: "f64", npy: "f8",
    runtime: true, bytes: 8, storage: Float64Array, lanes: 1, family: "float" },
  int8: { onnx: { number: 3 }, openvino: "i8", npy: "i1",
    runtime: true, bytes: 1, storage: Int8Array, lanes: 1, family: "int" },
  int16: { onnx: { number: 5 }, openvino: "i16", npy: "i2",
    runtime: true, bytes: 2, storage: Int16Array, lanes: 1, family: "int" },
  int32: { onnx: { number: 6 }, openvino: "i32", npy: "i4",
    runtime: true, bytes: 4, storage: Int32Array, lanes: 1, family: "int" },
  int64: { onnx: { number: 7 }, openvino: "i64", npy: "i8",
    runtime: true, bytes: 8, storage: BigInt64Array, lanes: 1, family: "int64" },
  uint8: { onnx: { number: 2 }, openvino: "u8", npy: "u1",
    runtime: true, bytes: 1, storage: Uint8Array, lanes: 1, family: "int" },
  uint16: { onnx: { number: 4 }, openvino: "u16", npy: "u2",
    runtime: true, bytes: 2, storage: Uint16Array, lanes: 1, family: "int" },
  uint32: { onnx: { number: 12 }, openvino: "u32", npy: "u4",
    runtime: true, bytes: 4, storage: Uint32Array, lanes: 1, family: "int" },
  uint64: { onnx: { number: 13 }, openvino: "u64", npy: "u8",
    runtime: true, bytes: 8, storage: BigUint64Array, lanes: 1, family: "int64" },
  complex64: { onnx: { number: 14 }, npy: "c8",
    bytes: 8, storage: Float32Array, lanes: 2, family: "complex" },
  complex128: { onnx: { number: 15 }, npy: "c16",
    bytes: 16, storage: Float64Array, lanes: 2, family: "complex" },
  float8e4m3fn: { onnx: { number: 17 }, openvino: "f8e4m3",
    bytes: 1, storage: Uint8Array, lanes: 1, family: "minifloat" },
  float8e4m3fnuz: { onnx: { number: 18 },
    bytes: 1, storage: Uint8Array, lanes: 1, family: "minifloat" },
  float8e5m2: { onnx: { number: 19 }, openvino: "f8e5m2",
    bytes: 1, storage: Uint8Array, lanes: 1, family: "minifloat" },
  float8e5m2fnuz: { onnx: { number: 20 },
    bytes: 1, storage: Uint8Array, lanes: 1, family: "minifloat" },
  uint4: { onnx: { number: 21 }, openvino: "u4",
    runtime: true, bytes: 1, bits: 4, storage: Uint8Array, lanes: 1, family: "int" },
  int4: { onnx: { number: 22 }, openvino: "i4",
    runtime: true, bytes: 1, bits: 4, storage: Int8Array, lanes: 1, family: "int" },
  float4e2m1: { onnx: { number: 23 }, openvino: "f4e2m1",
    bytes: 1, bits: 4, storage: Uint8Array, lanes: 1, family: "minifloat" },
  float8e8m0: { onnx: { number: 24 }, openvino: "f8e8m0",
    bytes: 1, storage: Uint8Array, lanes: 1, family: "minifloat" },
  uint2: { onnx: { number: 25 }, openvino: "u2",
    bytes: 1, bits: 2, storage: Uint8Array, lanes: 1, family: "int" },
  int2: { onnx: { number: 26 },
    bytes: 1, bits: 2, storage: Int8Array, lanes: 1, family: "int" },
  float6e2m3: { onnx: { number: 27 },
    bytes: 1, bits: 6, storage: Uint8Array, lanes: 1, family: "minifloat" },
  float6e3m2: { onnx: { number: 28 },
    bytes: 1, bits: 6, storage: Uint8Array, lanes: 1, family: "minifloat" },
} as const satisfies Record<string, Row>;

/** Name of a data type. The type `Extract` makes editors show `DType` instead of a list of all names. */
export type DType = Extract<keyof typeof DTYPES, string>;

// The table of data types is frozen, because it is public and all code relies on it.
for (const row of Object.values(DTYPES)) Object.freeze(Object.freeze(row).onnx);
Object.freeze(DTYPES);

export const DTYPE_NAMES = Object.freeze(Object.keys(DTYPES)) as readonly DType[];

/**
 * Array that stores elements of type `D`: bits for floats of at most 16 bits, interleaved pairs for complex numbers.
 * The type is looked up in a table, because editors show a conditional type of an unknown `D` as a list of all arrays.
 */
export type Storage<D extends DType = DType> = {
  readonly [Name in DType]: Name extends "string"
    ? string[]
    : (typeof DTYPES)[Name]["storage"]["prototype"];
}[D];

/** Storage of any data type except string. */
export type NumericStorage = Storage<Exclude<DType, "string">>;

/** JavaScript value of one element. */
export type Scalar<D extends DType = DType> = D extends "bool"
  ? boolean
  : D extends "string"
    ? string
    : D extends "int64" | "uint64"
      ? bigint
      : D extends "complex64" | "complex128"
        ? [number, number]
        : number;

/**
 * Returns true for the name of a data type, such as `float16`.
 *
 * @param name any value
 *
 * @example
 * ```ts
 * isDType("float16"); // true
 * isDType("float"); // false
 * ```
 */
export const isDType = (name: unknown): name is DType =>
  typeof name === "string" && Object.hasOwn(DTYPES, name);

/** Returns true if the storage is a typed array, which is the case for all data types except string. */
export const isNumericStorage = (storage: Storage | null): storage is NumericStorage =>
  ArrayBuffer.isView(storage);

/** Returns the data types whose rows pass `test`, in table order. */
export const dtypesWhere = (test: (row: Row, name: DType) => boolean): readonly DType[] =>
  DTYPE_NAMES.filter((name) => test(DTYPES[name], name));

/**
 * Returns the row of a data type. Unlike the type of `DTYPES[dtype]`, the type `Row` includes columns that only some
 * rows have.
 */
export const rowOf = (dtype: DType): Row => DTYPES[dtype];

export const isUnsigned = (dtype: DType): boolean => dtype.startsWith("uint");

/** Returns the smallest and largest integers of an integer type; null for other types. */
export function integerRange(dtype: DType): readonly [low: bigint, high: bigint] | null {
  const { family, bytes, bits = 8 * bytes } = rowOf(dtype);
  if (family !== "int" && family !== "int64") return null;
  const half = 1n << BigInt(bits - 1);
  return isUnsigned(dtype) ? [0n, 2n * half - 1n] : [-half, half - 1n];
}

/**
 * Returns the range of valid storage entries if a data type uses only part of its array class's range; null for other
 * types.
 */
export function storedRange(dtype: DType): readonly [low: number, high: number] | null {
  const { family, bits } = rowOf(dtype);
  if (family === "bool") return [0, 1];
  if (bits === undefined) return null;
  const [low, high] = integerRange(dtype) ?? [0, 2 ** bits - 1];
  return [Number(low), Number(high)];
}

/**
 * Allocates storage for `size` elements, filled with zeros or empty strings.
 * @throws TensorError `too-large` if the elements do not fit in memory
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

/**
 * Maximum number of strings. V8 ends the process if a list does not fit in its heap; a list of this length takes 0.5
 * GB.
 */
const MOST_STRINGS = 2 ** 26;

function tooLarge(dtype: DType, size: number, cause?: unknown): TensorError {
  const sentence = `${size} elements of ${dtype} do not fit in memory`;
  return new TensorError("too-large", sentence, { got: size }, { cause });
}

/** Creates storage of a numeric type over part of a buffer; over the whole buffer by default. */
export function viewOf(
  dtype: DType,
  buffer: ArrayBufferLike,
  byteOffset = 0,
  length?: number,
): Storage {
  return Reflect.construct(DTYPES[dtype].storage, [buffer, byteOffset, length]);
}

/**
 * All reductions, which are the operations that combine an update with the value at its target.
 *
 * @example
 * ```ts
 * REDUCTIONS.includes("mean"); // true
 * ```
 */
export const REDUCTIONS = /* @__PURE__ */ Object.freeze([
  "none",
  "add",
  "mul",
  "max",
  "min",
  "sub",
  "mean",
] as const);

/** Name of a reduction: an element of `REDUCTIONS`. */
export type Reduction = (typeof REDUCTIONS)[number];

/** Operand of a float max or min that stays unless the other is greater or less: the value so far, or the update. */
export type Stays = "data" | "update";

/**
 * Operation that one update performs on one value. `mean` is not a step: a mean adds updates, and divides at the end.
 */
export type PlainStep = Exclude<Reduction, "mean">;

/**
 * Operation of the kernels: a plain step, or a max or min of floats that returns one operand with all its bits. `max`
 * and `min` alone are IEEE 754's maximum and minimum; for other types than floats, only they exist.
 */
export type Step = PlainStep | (typeof CHOICES)[number];

/** Steps of floats that return one operand with all its bits. */
export const CHOICES = ["max_data", "min_data", "max_update", "min_update"] as const;

/** Returns the plain step of which a step is a variant. */
export const plainStep = (step: Exclude<Step, "none">): Exclude<PlainStep, "none"> =>
  step.slice(0, 3) as Exclude<PlainStep, "none">;

/**
 * The step for the first update of a target, the step for later updates, and whether the sum is finally divided by the
 * number of values.
 */
export interface Steps {
  readonly first: Step;
  readonly later: Step;
  readonly divides: boolean;
}

/**
 * Returns true if a data type has arithmetic. Elements of floats of at most 8 bits, and of 4-bit and 2-bit integers,
 * can only be moved.
 */
export const isArithmetic = (dtype: DType): boolean => {
  const { family, bits } = rowOf(dtype);
  return family !== "minifloat" && bits === undefined;
};

/**
 * Returns the reductions that a data type supports. Types without arithmetic support only `none`; types with arithmetic
 * support all reductions, except that booleans have no mean, and text can only be replaced, concatenated and compared.
 */
export function reductionsOf(dtype: DType): readonly Reduction[] {
  if (!isArithmetic(dtype)) return ["none"];
  const { family } = rowOf(dtype);
  if (family === "string") return ["none", "add", "max", "min"];
  return family === "bool" ? REDUCTIONS.filter((one) => one !== "mean") : REDUCTIONS;
}

/**
 * Returns true if a data type supports a reduction. `none`, which every data type supports, is tested first, because
 * most calls use it.
 */
export const hasReduction = (dtype: DType, word: unknown): word is Reduction =>
  word === "none" || (reductionsOf(dtype) as readonly unknown[]).includes(word);

/** Names in PyTorch, NumPy, C, Java and JavaScript that the table of data types does not have. */
const OTHER_NAMES: Readonly<Record<string, DType>> = {
  f4: "float32",
  f8: "float64",
  half: "float16",
  single: "float32",
  number: "float32",
  byte: "uint8",
  short: "int16",
  int: "int32",
  uint: "uint32",
  long: "int64",
  bigint: "int64",
  float8: "float8e4m3fn",
  str: "string",
};

/**
 * Returns the data type that another name means, such as `f32`, `double`, `torch.half`, `bool_`, `tensor(int64)` or
 * `Float32Array`, or the most similar name; undefined if no name is similar.
 */
function nearestDType(given: string): DType | undefined {
  const name = given
    .toLowerCase()
    .replace(/^.*[.(]|^big(?=\D+\d)|_t?$|_|array$|\)/g, "")
    .replace(/^fp/, "f");
  if (Object.hasOwn(OTHER_NAMES, name)) return OTHER_NAMES[name];
  const same = DTYPE_NAMES.find((one) => {
    const { openvino, onnx } = rowOf(one);
    return one === name || openvino === name || onnx.name === name;
  });
  return same ?? (nearestName(name, DTYPE_NAMES) as DType | null) ?? undefined;
}

/** @throws TensorError `dtype` if the value is not a data type name */
export function checkDType(dtype: unknown, fields: ErrorContext): asserts dtype is DType {
  if (isDType(dtype)) return;
  const got = printValue(dtype);
  const nearest = typeof dtype === "string" ? nearestDType(dtype) : undefined;
  const sentence =
    typeof dtype !== "string"
      ? `the data type must be a name such as "float32", got ${got}`
      : nearest === undefined
        ? `unknown data type ${got}; the data types are ${DTYPE_NAMES.join(", ")}`
        : `unknown data type ${got}; did you mean "${nearest}"?`;
  throw new TensorError("dtype", sentence, {
    ...named(fields, "dtype"),
    got: factOf(dtype),
    allowed: DTYPE_NAMES,
    nearest,
  });
}
