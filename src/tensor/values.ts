/**
 * What a tensor's values may be given as, and how they become its storage. Only at the edge of the package: behind it
 * there is storage alone.
 */

import {
  allocate,
  DTYPES,
  isNumericStorage,
  storedRange,
  viewOf,
  type DType,
  type NumericStorage,
  type Storage,
} from "./dtype.ts";
import { printValue, TensorError, type ErrorFields } from "../errors.ts";
import { writer } from "./scalar.ts";
import { coordinatesOf, MAX_RANK, printShape } from "./shape.ts";

/** A list of `T`, nested to any depth; a bare `T` at rank 0. */
export type Nested<T> = T | readonly Nested<T>[];

/** What one element may be given as. Whole numbers may be number or bigint, truth values also 0 and 1. */
export type ScalarInput<D extends DType = DType> = D extends "string"
  ? string
  : D extends "complex64" | "complex128"
    ? readonly [number, number]
    : D extends "bool"
      ? boolean | number
      : number | bigint;

/** A Float16Array, where the platform has one. */
export interface Float16Like {
  readonly BYTES_PER_ELEMENT: number;
  readonly buffer: ArrayBufferLike;
  readonly byteOffset: number;
  readonly length: number;
  readonly [Symbol.toStringTag]: "Float16Array";
}

/** What {@link tensor} takes as values. */
export type Values<D extends DType = DType> =
  | NumericStorage
  | Uint8ClampedArray
  | Float16Like
  | Nested<ScalarInput<D>>
  | (D extends "complex64" | "complex128" ? readonly number[] : never);

/**
 * The storage that holds `values`: they themselves where they are of the type's own class, else what they convert to.
 * @throws TensorError `dtype`, `shape-mismatch`, `disposed`, `too-large`
 */
export function storageFor(
  dtype: DType,
  shape: readonly number[],
  size: number,
  values: unknown,
  fields: ErrorFields,
): Storage {
  const { family } = DTYPES[dtype];
  const list = dtype === "float16" && isFloat16Array(values) ? bitsOf(values) : values;
  if (isDetached(list)) {
    throw new TensorError("disposed", "the memory of the values is gone", fields);
  }
  if (isOwnStorage(dtype, list)) {
    checkCount(list.length, size * DTYPES[dtype].lanes, shape, fields);
    checkRange(dtype, list, shape, fields);
    return inOwnRealm(dtype, list);
  }
  const { flat, isPaired } = flatten(dtype, list, shape, size, fields);
  const data = allocate(dtype, size);
  const write = writer(isPaired ? componentOf(dtype) : dtype, data);
  for (let position = 0; position < flat.length; position++) {
    const value = flat[position];
    if (write(position, value)) continue;
    const at = coordinatesOf(isPaired ? Math.floor(position / 2) : position, shape);
    if (isList(value) && !(family === "complex" && value.length === 2)) {
      throw wrongNesting(`a list of ${value.length} stands at ${printShape(at)}`, shape, fields);
    }
    const got = typeof value === "number" || typeof value === "bigint" ? value : undefined;
    const where = `${printShape(at)}${fields.input === undefined ? "" : ` of ${fields.input}`}`;
    const sentence = `${dtype} cannot hold ${printValue(value)}, at ${where}`;
    throw new TensorError("dtype", sentence, { ...fields, at, got });
  }
  return data;
}

/**
 * The values as one flat list: of `size` elements, or of twice as many numbers that are the parts of complex ones
 * (`isPaired`). What is nested must be nested as the shape is.
 */
function flatten(
  dtype: DType,
  values: unknown,
  shape: readonly number[],
  size: number,
  fields: ErrorFields,
): { flat: ArrayLike<unknown>; isPaired: boolean } {
  const isComplex = DTYPES[dtype].family === "complex";
  const nesting = nestingOf(values);
  const deepest = shape.length + (isComplex ? 1 : 0);
  if (isList(values) && nesting.length === 1) {
    checkCount(values.length, isComplex ? 2 * size : size, shape, fields);
    return { flat: values, isPaired: isComplex };
  }
  if (
    isComplex &&
    isList(values) &&
    nesting.length === 2 &&
    nesting[1] === 2 &&
    shape.length !== 1
  ) {
    checkCount(values.length, size, shape, fields);
    return { flat: values, isPaired: false };
  }
  // Told first, because a list may hold itself many times over.
  if (nesting.length > deepest) {
    throw wrongNesting(`the lists are ${nesting.length} deep`, shape, fields);
  }
  const flat: unknown[] = [];
  const visit = (value: unknown, axis: number): void => {
    if (axis === shape.length) {
      flat.push(value);
    } else if (isList(value) && value.length === shape[axis]) {
      for (let i = 0; i < value.length; i++) visit(value[i], axis + 1);
    } else {
      const found = isList(value) ? `a list of ${value.length}` : printValue(value);
      throw wrongNesting(`${found} stands where axis ${axis} has ${shape[axis]}`, shape, fields);
    }
  };
  visit(values, 0);
  return { flat, isPaired: false };
}

function wrongNesting(found: string, shape: readonly number[], fields: ErrorFields): TensorError {
  return new TensorError(
    "shape-mismatch",
    `the values are not nested as the shape ${printShape(shape)} says: ${found}`,
    { ...fields, expected: shape },
  );
}

function checkCount(
  count: number,
  needed: number,
  shape: readonly number[],
  fields: ErrorFields,
): void {
  if (count === needed) return;
  throw new TensorError(
    "shape-mismatch",
    `the shape ${printShape(shape)} needs ${needed} values, got ${count}`,
    { ...fields, got: count, expected: shape },
  );
}

/** Of types that fill only part of their storage's range, whether the elements lie in that part. */
function checkRange(
  dtype: DType,
  data: Storage,
  shape: readonly number[],
  fields: ErrorFields,
): void {
  const range = storedRange(dtype);
  if (range === null) return;
  const [low, high] = range;
  for (let position = 0; position < data.length; position++) {
    const got = Number(data[position]);
    if (got >= low && got <= high) continue;
    const at = coordinatesOf(position, shape);
    throw new TensorError("dtype", `${dtype} cannot hold ${got}, at ${printShape(at)}`, {
      ...fields,
      at,
      got,
    });
  }
}

/** Whether `value` is an array or a typed array. */
export const isList = (value: unknown): value is ArrayLike<unknown> =>
  Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));

/** Told by its tag: not every platform has the class. */
export const isFloat16Array = (value: unknown): value is Float16Like =>
  Object.prototype.toString.call(value) === "[object Float16Array]";

const bitsOf = ({ buffer, byteOffset, length }: Float16Like): Uint16Array =>
  new Uint16Array(buffer, byteOffset, length);

/**
 * A flat list of text is string storage already; any other list has to be looked into. Typed arrays are told by their
 * tag, because those of another realm (a frame, a test runner's sandbox) are instances of other classes.
 */
function isOwnStorage(dtype: DType, values: unknown): values is Storage {
  if (dtype === "string") {
    return Array.isArray(values) && values.findIndex((text) => typeof text !== "string") === -1;
  }
  const { name } = DTYPES[dtype].storage;
  return isList(values) && Object.prototype.toString.call(values) === `[object ${name}]`;
}

/** The same memory as an array of this realm, whose classes the rest of the package goes by. */
function inOwnRealm(dtype: DType, data: Storage): Storage {
  if (!isNumericStorage(data) || data instanceof DTYPES[dtype].storage) return data;
  return viewOf(dtype, data.buffer, data.byteOffset, data.length);
}

const componentOf = (dtype: DType): DType => (dtype === "complex64" ? "float32" : "float64");

/** The lengths of a list and of the first lists in it. A list that holds itself ends somewhere beyond every rank. */
export function nestingOf(values: unknown): number[] {
  const lengths: number[] = [];
  for (let list = values; isList(list) && lengths.length < MAX_RANK + 2; list = list[0]) {
    lengths.push(list.length);
  }
  return lengths;
}

/** A detached array looks empty; only using its buffer tells. */
export function isDetached(data: unknown): boolean {
  if (!ArrayBuffer.isView(data) || data.byteLength > 0) return false;
  try {
    data.buffer.slice(0, 0);
    return false;
  } catch {
    return true;
  }
}
