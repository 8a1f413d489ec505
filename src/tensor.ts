/**
 * A tensor: a data type, a shape and the array that holds the elements in row-major order. This is the one place
 * where the three are checked together; everything behind it may rely on them.
 */

import {
  allocate,
  DTYPE_NAMES,
  DTYPES,
  isDType,
  isNumericStorage,
  type DType,
  type NumericStorage,
  type Scalar,
  type Storage,
} from "./dtype.ts";
import { TensorError, type ErrorFields } from "./errors.ts";
import { printTensor } from "./print.ts";
import { reader, writer } from "./scalar.ts";
import { coordinatesOf, printShape, sameShape, sizeOf } from "./shape.ts";

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

/** A literal shape as the compiler should show it: `[2, 3]` rather than `readonly [2, 3]`. */
type Mutable<S extends readonly number[]> = { -readonly [Axis in keyof S]: S[Axis] };

/** What {@link tensor} takes as values. */
export type Values<D extends DType = DType> =
  | NumericStorage
  | Uint8ClampedArray
  | Float16Like
  | Nested<ScalarInput<D>>
  | (D extends "complex64" | "complex128" ? readonly number[] : never);

/** A tensor of onnxruntime, which has the same parts under other names. */
export interface RuntimeTensor {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: NumericStorage | Uint8ClampedArray | Float16Like | readonly string[];
}

/**
 * A data type and a shape over elements that live in `data`. Made by {@link tensor}, {@link zeros} and {@link full};
 * `S` carries the shape to the compiler where it is a literal.
 */
export class Tensor<D extends DType = DType, S extends readonly number[] = readonly number[]> {
  readonly dtype: D;
  /** The dimensions; `[]` is a scalar. */
  readonly shape: Readonly<S>;
  /** The number of elements. */
  readonly size: number;
  /** The elements in row-major order: bits for float16 and bfloat16, interleaved pairs for complex. */
  readonly data: Storage<D>;

  /** For the package alone: it trusts its arguments. */
  constructor(dtype: D, shape: readonly number[], size: number, data: Storage<D>) {
    this.dtype = dtype;
    this.shape = Object.freeze([...shape]) as readonly number[] as Readonly<S>;
    this.size = size;
    this.data = data;
  }

  /**
   * The elements as nested lists: bigint for 64-bit integers, boolean, string, `[re, im]` for complex, number for
   * the rest; the bare value at rank 0.
   * @throws TensorError `disposed` when the memory is gone.
   */
  toArray(): Nested<Scalar<D>> {
    checkAlive(this);
    const { shape } = this;
    const read = reader(this.dtype, this.data);
    let position = 0;
    const nest = (axis: number): Nested<Scalar<D>> =>
      axis === shape.length
        ? read(position++)
        : Array.from({ length: shape[axis] }, () => nest(axis + 1));
    return nest(0);
  }

  /** The elements as NumPy prints them, abbreviated above 1000. */
  toString(): string {
    return printTensor(this);
  }

  /** How Node's `console.log` shows a tensor. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return printTensor(this);
  }
}

/**
 * A tensor of `dtype` and `shape` over `values`.
 *
 * An array of the type's own storage class is kept, not copied (a Uint16Array is the bits of float16 and bfloat16,
 * a Float16Array is kept too). Any other typed array, flat list or nested list is converted; rank 0 takes a bare
 * value; complex takes `[re, im]` pairs or `2 * size` flat numbers. Floats are rounded to nearest even.
 *
 * @throws TensorError `dtype` for an unknown data type or a value that it cannot hold (256 in uint8, 1.5 or NaN in
 * an integer type, an unsafe number as int64), `shape-mismatch` for a wrong count, ragged nesting or a dimension
 * that is no non-negative integer, `rank` above 64 dimensions, `too-large` above 2^32 - 1 elements, `disposed` for
 * a detached array.
 */
export function tensor<D extends DType, const S extends readonly number[]>(
  dtype: D,
  shape: S,
  values: Values<NoInfer<D>>,
): Tensor<D, Mutable<S>> {
  return build<D, Mutable<S>>(dtype, shape, values, {});
}

/** A tensor of zeros, of false, or of empty strings. Errors as {@link tensor}. */
export function zeros<D extends DType, const S extends readonly number[]>(
  dtype: D,
  shape: S,
): Tensor<D, Mutable<S>> {
  checkDType(dtype, {});
  const size = sizeOf(shape);
  return new Tensor<D, Mutable<S>>(dtype, shape, size, allocate(dtype, size));
}

/** A tensor of which every element is `value`. Errors as {@link tensor}. */
export function full<D extends DType, const S extends readonly number[]>(
  dtype: D,
  shape: S,
  value: ScalarInput<NoInfer<D>>,
): Tensor<D, Mutable<S>> {
  const result = zeros(dtype, shape);
  const one = build(dtype, [], value, {});
  const cells: Storage = result.data;
  if (DTYPES[dtype].lanes === 1) cells.fill(one.data[0] as never);
  else for (let lane = 0; lane < cells.length; lane++) cells[lane] = one.data[lane % 2];
  return result;
}

/** Whether two tensors have the same data type, shape and bits (so NaN equals the same NaN, and 0 is not -0). */
export function equals(a: Tensor, b: Tensor): boolean {
  checkAlive(a);
  checkAlive(b);
  return a.dtype === b.dtype && sameShape(a.shape, b.shape) && differenceAt(a, b) === -1;
}

/**
 * The coordinates of the first element in which two tensors differ in a bit, or null where none does.
 * @throws TensorError `dtype` or `shape-mismatch` for tensors of two types or shapes, `disposed`
 */
export function firstDifference(a: Tensor, b: Tensor): number[] | null {
  checkAlive(a);
  checkAlive(b);
  if (a.dtype !== b.dtype) {
    throw new TensorError("dtype", `the tensors are ${a.dtype} and ${b.dtype}`);
  }
  if (!sameShape(a.shape, b.shape)) {
    const shapes = `${printShape(a.shape)} and ${printShape(b.shape)}`;
    throw new TensorError("shape-mismatch", `the tensors have the shapes ${shapes}`);
  }
  const position = differenceAt(a, b);
  return position === -1 ? null : coordinatesOf(position, a.shape);
}

/** The position of the first element in which two tensors of one type and shape differ, or -1. */
function differenceAt(a: Tensor, b: Tensor): number {
  if (!isNumericStorage(a.data) || !isNumericStorage(b.data)) {
    const [left, right]: Storage[] = [a.data, b.data];
    return (left as string[]).findIndex((text, position) => text !== right[position]);
  }
  const left = bytesOf(a.data);
  const right = bytesOf(b.data);
  const at = left.findIndex((byte, position) => byte !== right[position]);
  return at === -1 ? -1 : Math.floor(at / DTYPES[a.dtype].bytes);
}

/** The bytes that a typed array covers, without a copy. */
export const bytesOf = (data: NumericStorage): Uint8Array =>
  new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

/**
 * Any tensor as one of ours, over the same memory: a {@link Tensor} as it is, an onnxruntime tensor, or an object
 * with `dtype`, `shape` and `data`.
 * @throws TensorError `dtype` when `value` is no tensor, and as {@link tensor}.
 */
export function asTensor(value: unknown, fields: ErrorFields): Tensor {
  if (value instanceof Tensor) {
    checkAlive(value, fields);
    return value;
  }
  if (typeof value === "object" && value !== null && "data" in value) {
    const dtype = "dtype" in value ? value.dtype : "type" in value ? value.type : undefined;
    const shape = "shape" in value ? value.shape : "dims" in value ? value.dims : undefined;
    if (ArrayBuffer.isView(value.data) || Array.isArray(value.data)) {
      return build(dtype, shape, value.data, fields);
    }
  }
  throw new TensorError("dtype", `${fields.input ?? "the value"} is no tensor`, fields);
}

/**
 * A tensor from a nested list, of the shape of its nesting. A typed array is a list too.
 * @throws TensorError as {@link tensor}.
 */
export function fromNested(dtype: DType, values: unknown, fields: ErrorFields): Tensor {
  const shape: number[] = [];
  for (let list = values; isList(list) && shape.length <= MAX_NESTING; list = list[0]) {
    shape.push(list.length);
  }
  // The innermost list of a complex tensor is the pair.
  if (DTYPES[dtype].family === "complex") shape.pop();
  return build(dtype, shape, values, fields);
}

/** A tensor may be at most this deep, as in NumPy; a list that holds itself must end somewhere. */
const MAX_NESTING = 65;

/** @throws TensorError `disposed` when the tensor's memory was transferred or otherwise detached. */
export function checkAlive(value: Tensor, fields: ErrorFields = {}): void {
  const { dtype, size, data } = value;
  if (data.length === size * DTYPES[dtype].lanes && !(size === 0 && isDetached(data))) return;
  throw new TensorError(
    "disposed",
    `the memory of ${fields.input ?? `this ${dtype} tensor`} is gone (disposed, transferred or resized)`,
    fields,
  );
}

/** A detached array looks empty; only using its buffer tells. */
function isDetached(data: unknown): boolean {
  if (!ArrayBuffer.isView(data) || data.byteLength > 0) return false;
  try {
    data.buffer.slice(0, 0);
    return false;
  } catch {
    return true;
  }
}

/** @throws TensorError `dtype` for anything that is no data type's name. */
export function checkDType(dtype: unknown, fields: ErrorFields): asserts dtype is DType {
  if (isDType(dtype)) return;
  const known = DTYPE_NAMES.join(", ");
  throw new TensorError("dtype", `${String(dtype)} is no data type; there are ${known}`, fields);
}

/** What {@link tensor} does, for values of any origin. */
function build<D extends DType, S extends readonly number[]>(
  dtype: D,
  shape: readonly number[],
  values: unknown,
  fields: ErrorFields,
): Tensor<D, S>;
function build(dtype: unknown, shape: unknown, values: unknown, fields: ErrorFields): Tensor;
function build(dtype: unknown, shape: unknown, values: unknown, fields: ErrorFields): Tensor {
  checkDType(dtype, fields);
  if (!Array.isArray(shape)) {
    throw new TensorError("shape-mismatch", "a shape must be a list of dimensions", fields);
  }
  const dims: number[] = shape;
  const size = sizeOf(dims, fields);
  return new Tensor(dtype, dims, size, storageFor(dtype, dims, size, values, fields));
}

function storageFor(
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
    const at = coordinatesOf(pairwise ? position >> 1 : position, shape);
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
  const depth = depthOf(values);
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

/** How deep a list is nested, told by its first elements. */
function depthOf(values: unknown): number {
  let depth = 0;
  for (let list = values; isList(list) && depth <= MAX_NESTING; list = list[0]) depth++;
  return depth;
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
  (!Array.isArray(values) || values.every((text) => typeof text === "string"));

const componentOf = (dtype: DType): DType => (dtype === "complex64" ? "float32" : "float64");

const printValue = (value: unknown): string =>
  typeof value === "string" ? JSON.stringify(value) : isList(value) ? "a list" : String(value);
