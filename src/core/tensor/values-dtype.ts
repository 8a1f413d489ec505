/** Data types of values that are given without one, from the class of a typed array or the type of the first element. */

import { factOf, isArray, printValue, readForeign, TensorError } from "../errors.ts";
import { checkDType } from "./dtype-name.ts";
import { isDType, type DType } from "./dtype.ts";
import { MAX_RANK } from "./shape.ts";
import { checkNotBytes, classOf, isUint8Array } from "./storage.ts";
import { isFloat16Array, type Nested, type TypedArray } from "./values.ts";

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
