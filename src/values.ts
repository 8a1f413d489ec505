/**
 * What a tensor's values may be given as, and how they become its storage. Only at the edge of the package: behind it
 * there is storage alone.
 */

import { allocate, DTYPES, type DType, type NumericStorage, type Storage } from "./dtype.ts";
import { printValue, TensorError, type ErrorFields } from "./errors.ts";
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
  const { lanes, family } = DTYPES[dtype];
  const list = dtype === "float16" && isFloat16Array(values) ? bitsOf(values) : values;
  if (isDetached(list)) {
    throw new TensorError("disposed", "the memory of the values is gone", fields);
  }
  if (isOwnStorage(dtype, list)) {
    checkCount(list.length, size * lanes, shape, fields);
    if (family === "bool") checkBits(list, shape, fields);
    return list;
  }
  const flat = flatten(list, shape, size, lanes, fields);
  const data = allocate(dtype, size);
  // Flat numbers of a complex tensor are written as what they are: twice as many floats.
  const pairwise = family === "complex" && !isList(flat[0]);
  const write = writer(pairwise ? componentOf(dtype) : dtype, data);
  for (let position = 0; position < flat.length; position++) {
    const value = flat[position];
    if (write(position, value)) continue;
    const at = coordinatesOf(pairwise ? Math.floor(position / 2) : position, shape);
    const got = typeof value === "number" || typeof value === "bigint" ? value : undefined;
    throw new TensorError(
      "dtype",
      `${dtype} cannot hold ${printValue(value)}, at ${printShape(at)}`,
      {
        ...fields,
        at,
        got,
      },
    );
  }
  return data;
}

/** The values as one flat list of `size` elements, or of `size * lanes` numbers; nesting must be the shape. */
function flatten(
  values: unknown,
  shape: readonly number[],
  size: number,
  lanes: number,
  fields: ErrorFields,
): ArrayLike<unknown> {
  const depth = nestingOf(values).length;
  const pairs = lanes === 2 ? 1 : 0;
  if (depth === 1) {
    const list = values as ArrayLike<unknown>;
    checkCount(list.length, size * lanes, shape, fields);
    return list;
  }
  if (depth === 1 + pairs && shape.length !== depth - pairs) {
    const list = values as ArrayLike<unknown>;
    checkCount(list.length, size, shape, fields);
    return list;
  }
  const flat: unknown[] = [];
  const visit = (value: unknown, axis: number): void => {
    if (axis === shape.length) {
      flat.push(value);
    } else if (isList(value) && value.length === shape[axis]) {
      for (let i = 0; i < value.length; i++) visit(value[i], axis + 1);
    } else {
      const found = isList(value) ? `a list of ${value.length}` : printValue(value);
      throw new TensorError(
        "shape-mismatch",
        `the values are not nested as the shape ${printShape(shape)} says: ` +
          `${found} stands where axis ${axis} has ${shape[axis]}`,
        { ...fields, expected: shape },
      );
    }
  };
  visit(values, 0);
  return flat;
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

function checkBits(data: Storage, shape: readonly number[], fields: ErrorFields): void {
  for (let position = 0; position < data.length; position++) {
    const bit = Number(data[position]);
    if (bit <= 1) continue;
    const at = coordinatesOf(position, shape);
    throw new TensorError("dtype", `bool cannot hold ${bit}, at ${printShape(at)}`, {
      ...fields,
      at,
      got: bit,
    });
  }
}

/** Whether `value` is an array or a typed array. */
export const isList = (value: unknown): value is ArrayLike<unknown> =>
  Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));

const isFloat16Array = (value: unknown): value is Float16Like =>
  Object.prototype.toString.call(value) === "[object Float16Array]";

const bitsOf = ({ buffer, byteOffset, length }: Float16Like): Uint16Array =>
  new Uint16Array(buffer, byteOffset, length);

/** A flat list of text is string storage already; any other list has to be looked into. */
const isOwnStorage = (dtype: DType, values: unknown): values is Storage =>
  values instanceof DTYPES[dtype].storage &&
  (!Array.isArray(values) || values.findIndex((text) => typeof text !== "string") === -1);

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
