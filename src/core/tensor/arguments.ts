/**
 * Arguments of the functions that create tensors: their types, their number and order, the data type of values that are
 * given without one, and the parts of another library's tensor.
 */

import { named, TensorError, type ErrorContext } from "../errors.ts";
import { factOf, isArray, printValue, readForeign } from "../foreign.ts";
import { checkDType, isDType, rowOf, type DType, type NumericStorage } from "./dtype.ts";
import { MAX_RANK } from "./shape.ts";
import { classOf, isFloat16Array, isList, isUint8Array, type Float16Like } from "./storage.ts";
import { checkNotBytes } from "./values.ts";

/** A list of `T`, nested to any depth; a bare `T` at rank 0. */
export type Nested<T> = T | readonly Nested<T>[];

/**
 * Elements `T` in lists that are nested like the shape `S`: `T[][]` for rank 2. If the compiler does not know the rank,
 * use `Array.isArray` to distinguish lists from elements, except complex elements, which are lists themselves.
 */
export type Lists<T, S extends readonly unknown[]> = S extends readonly []
  ? T
  : S extends readonly [unknown, ...infer Rest]
    ? Lists<T, Rest>[]
    : AnyLists<T>;

/** Lists of elements `T`, of any rank. */
export type AnyLists<T> = T | AnyLists<T>[];

/** Accepted values of an element. Integers may be number or bigint; booleans may also be 0 or 1. */
export type ScalarInput<D extends DType = DType> = D extends "string"
  ? string
  : D extends "complex64" | "complex128"
    ? readonly [number, number]
    : D extends "bool"
      ? boolean | number
      : number | bigint;

/** An array of numbers or bigints, of any class. */
export type TypedArray = NumericStorage | Uint8ClampedArray | Float16Like;

/** Lists and typed arrays that calls accept as indices. */
export type IndexLists = Nested<number | bigint | TypedArray>;

/** Lists and typed arrays that calls accept as updates of the data type `D`. */
export type UpdateLists<D extends DType = DType> = Nested<ScalarInput<D> | TypedArray>;

/** Values that `tensor` accepts. */
export type Values<D extends DType = DType> =
  | UpdateLists<D>
  | (D extends "complex64" | "complex128" ? readonly number[] : never);

/** Data types by the JavaScript type of the elements. */
const DTYPES_OF_KINDS: Readonly<Record<string, DType>> = {
  number: "float32",
  bigint: "int64",
  boolean: "bool",
  string: "string",
};

/** Values whose data type `tensor` infers: a typed array, or nested lists of elements of one type. */
export type TypedValues =
  | TypedArray
  | Nested<number>
  | Nested<bigint>
  | Nested<boolean>
  | readonly Nested<string>[]
  | Nested<TypedArray>;

/** True for the type `any`. */
type IsAny<V> = 0 extends 1 & V ? true : false;

type ClassName<N extends string> = N extends
  | `Big${infer Rest}Array`
  | `${infer Rest}ClampedArray`
  | `${infer Rest}Array`
  ? Lowercase<Rest>
  : never;

/** Data type that `tensor` infers from values of the type `V`. */
export type DTypeOf<V> =
  IsAny<V> extends true
    ? DType
    : [V] extends [never]
      ? "float32"
      : [V] extends [{ readonly [Symbol.toStringTag]: infer Name extends `${string}Array` }]
        ? ClassName<Name> & DType
        : [V] extends [readonly (infer E)[]]
          ? DTypeOf<E>
          : ElementDType<Exclude<V, readonly unknown[]>>;

// prettier-ignore
type ElementDType<E> =
  E extends number ? "float32" : E extends bigint ? "int64" : E extends boolean ? "bool" : "string";

/** Shape that `tensor` infers from values of the type `V`. */
export type ShapeOf<V> =
  IsAny<V> extends true
    ? number[]
    : [V] extends [never]
      ? []
      : [V] extends [{ readonly [Symbol.toStringTag]: `${string}Array` }]
        ? [number]
        : [V] extends [readonly (infer E)[]]
          ? [V["length"], ...ShapeOf<E>]
          : [Extract<V, readonly unknown[]>] extends [never]
            ? []
            : number[];

/** The data type and the shape of values; the shape is undefined if the nesting of the values decides. */
interface Form {
  readonly dtype: DType;
  readonly shape: unknown;
  /** JavaScript type of all elements; undefined if the data type decides. */
  readonly kind?: string | undefined;
}

/**
 * Reads the arguments after the values: a shape and a data type, which may both be omitted, or a data type.
 * @throws TensorError `dtype`
 */
export function formOf(values: unknown, second: unknown, third: unknown): Form {
  const [shape, dtype] = typeof second === "string" ? [undefined, second] : [second, third];
  if (dtype !== undefined) {
    checkDType(dtype, {});
    return { dtype, shape };
  }
  if (typeof shape === "function" || (typeof shape === "object" && !isArray(shape))) {
    const sentence = `the data type must be a name, as in tensor(values, "int32"), got ${printValue(shape)}`;
    throw new TensorError("dtype", sentence, { key: "dtype", got: factOf(shape) });
  }
  const infer = (): Form => ({ ...inferDType(values), shape });
  return readForeign(infer, "dtype", "the values cannot be read", "values");
}

/**
 * Infers the data type of values, and the JavaScript type of their elements, which is undefined for typed arrays and
 * empty lists.
 * @throws TensorError `dtype` if the values are not a typed array or lists of numbers, bigints, booleans or strings
 */
function inferDType(values: unknown): Omit<Form, "shape"> {
  let first = values;
  for (let depth = 0; depth <= MAX_RANK && isArray(first); depth++) first = first[0];
  const name = isFloat16Array(first) ? "Float16Array" : classOf(first);
  const dtype = name?.replace(/Big|Clamped|Array/g, "").toLowerCase();
  if (isUint8Array(first) && String.fromCharCode(...first.subarray(1, 6)) === "NUMPY") {
    const sentence =
      "values must be numbers, got the bytes of an NPY file; use readNpy of ndscatter/npy";
    throw new TensorError("dtype", sentence, { key: "values", got: factOf(first) });
  }
  if (typeof first === "object") checkNotBytes(first, "int32", 0, {});
  if (isDType(dtype)) return { dtype };
  // Elements are missing from empty lists, and from lists that are nested too deep, which are refused later.
  if (isArray(first) || (first === undefined && isArray(values))) return { dtype: "float32" };
  const kind = typeof first;
  if (kind in DTYPES_OF_KINDS) return { dtype: DTYPES_OF_KINDS[kind], kind };
  const got = isDType(Object(first).dtype) ? "a tensor" : printValue(first);
  const sentence = `values must be a typed array, or lists of numbers, bigints, booleans or strings, got ${got}`;
  throw new TensorError("dtype", sentence, { key: "values", got: factOf(first) });
}

/**
 * Returns the arguments, unless one is left over or the shape and another argument are exchanged.
 * @throws TensorError `shape-mismatch`, or `dtype` if the first argument is not a data type
 */
export function checkArguments(
  names: readonly string[],
  args: readonly unknown[],
): readonly unknown[] {
  const [dtype, shape, value] = args;
  const isType = isDType(dtype);
  // A complex value is a pair.
  const isPair = isType && rowOf(dtype).lanes === 2 && isArray(shape);
  const isListed = names[2] === "value" && isList(value) && !isPair;
  const isSwapped = names[2] !== "values" && typeof shape === "string";
  if (args.length <= names.length && !isListed && !isSwapped) return args;
  const [first, ...dims] = args.map(printValue);
  const isSpread = args.slice(1).every((dim) => typeof dim === "number");
  const example = isSpread ? `, such as (${first}, [${dims.join(", ")}])` : "";
  const got = `(${args.map(printValue).join(", ")})`;
  const sentence = `the arguments must be (${names.join(", ")})${example}, got ${got}`;
  throw isType
    ? new TensorError("shape-mismatch", sentence, { key: "arguments", got })
    : new TensorError("dtype", sentence, { key: "dtype", got: factOf(dtype) });
}

interface Parts {
  readonly dtype: unknown;
  readonly shape: unknown;
  readonly data: unknown;
}

/**
 * Reads the parts of an object that may be a tensor, each once.
 * @throws TensorError `dtype` if a part is missing, `disposed` if the data cannot be read
 */
export function partsOf(value: unknown, fields: ErrorContext): Parts {
  const who = fields.input ?? "the value";
  const got = printValue(value);
  const advice = got.endsWith(")")
    ? ""
    : `; use tensor(…)${got === "an object" ? `, and pass options after ${who}` : ""}`;
  const none =
    value === undefined ? `${who} must be given` : `${who} must be a tensor, got ${got}${advice}`;
  const parts = readForeign(() => readParts(value, fields), "dtype", none, "tensor", fields);
  if (parts === null || parts.data === null) {
    throw new TensorError("dtype", none, { ...named(fields, "tensor"), got: factOf(value) });
  }
  return parts;
}

/** Reads the parts of a tensor-like object, or of a bare Float16Array; returns null if the value is not an object. */
function readParts(value: unknown, fields: ErrorContext): Parts | null {
  if (isFloat16Array(value)) return { dtype: "float16", shape: [value.length], data: value };
  if (typeof value !== "object" || value === null) return null;
  return {
    dtype: "dtype" in value ? value.dtype : "type" in value ? value.type : undefined,
    shape: "shape" in value ? value.shape : "dims" in value ? value.dims : undefined,
    data: listIn(value, fields),
  };
}

/**
 * Reads the elements of a tensor-like object; null if the object has no list of them. onnxruntime throws its own errors
 * if a tensor was disposed of or is in device memory.
 */
function listIn(
  holder: { readonly data?: unknown; readonly location?: unknown },
  fields: ErrorContext,
): unknown {
  const who = fields.input ?? "the tensor";
  const read = (): unknown => {
    try {
      const { data } = holder;
      return isList(data) || isFloat16Array(data) ? data : null;
    } catch (error) {
      if (holder.location !== "gpu-buffer") throw error;
      const sentence = `${who} must be in CPU memory, got a GPU tensor; await its getData(), or use ndscatter/webgpu`;
      throw new TensorError("dtype", sentence, named(fields, "tensor"));
    }
  };
  return readForeign(read, "disposed", `the memory of ${who} is gone`, "tensor", fields);
}
