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
import { printValue, TensorError, type ErrorFields } from "../errors.ts";
import { printTensor } from "./print.ts";
import { reader } from "./scalar.ts";
import { bytesOf } from "./storage.ts";
import { coordinatesOf, printShape, product, sameShape, sizeOf } from "./shape.ts";
import {
  isDetached,
  isFloat16Array,
  isList,
  nestingOf,
  storageFor,
  type Float16Like,
  type Nested,
  type ScalarInput,
  type Values,
} from "./values.ts";

/** A literal shape as the compiler should show it: `[2, 3]` rather than `readonly [2, 3]`. */
export type Mutable<S extends readonly number[]> = { -readonly [Axis in keyof S]: S[Axis] };

/** A tensor of onnxruntime, which has the same parts under other names. */
export interface RuntimeTensor {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: NumericStorage | Uint8ClampedArray | Float16Like | readonly string[];
}

/** What made the memory of a tensor, and takes it back. */
interface MemoryOwner {
  recycle(data: Storage): void;
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

  /** Takes the memory back; only an engine that made it is one. */
  #owner: MemoryOwner | undefined;
  #isDisposed = false;

  /** For the package alone: it trusts its arguments. A frozen shape is kept, so no caller's own may come here. */
  constructor(
    dtype: D,
    shape: readonly number[],
    size: number,
    data: Storage<D>,
    owner?: MemoryOwner,
  ) {
    this.#owner = owner;
    this.dtype = dtype;
    this.shape = frozen(shape) as readonly number[] as Readonly<S>;
    this.size = size;
    this.data = data;
  }

  /**
   * The elements as nested lists: bigint for 64-bit integers, boolean, string, `[re, im]` for complex, number for
   * the rest; the bare value at rank 0.
   * @throws TensorError `disposed` when the memory is gone, `too-large` for a shape such as `[4000000000, 0]`, which
   * has no elements but that many lists.
   */
  toArray(): Nested<Scalar<D>> {
    if (!isAlive(this)) throw gone(this, {});
    const { shape } = this;
    if (this.size === 0 && product(shape.slice(0, shape.indexOf(0))) > MAX_EMPTY_LISTS) {
      throw new TensorError("too-large", `the shape ${printShape(shape)} has too many empty lists`);
    }
    const read = reader(this.dtype, this.data);
    let position = 0;
    const nest = (axis: number): Nested<Scalar<D>> =>
      axis === shape.length
        ? read(position++)
        : Array.from({ length: shape[axis] }, () => nest(axis + 1));
    return nest(0);
  }

  /**
   * Says that this tensor is no longer used, so that its engine can use the memory for another result; later use is
   * an error. A buffer that the caller supplied is never taken. May be called again, and need not be called at all.
   */
  dispose(): void {
    this.#isDisposed = true;
    const owner = this.#owner;
    this.#owner = undefined;
    owner?.recycle(this.data);
  }

  /** Whether {@link dispose} was called. */
  get isDisposed(): boolean {
    return this.#isDisposed;
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
  return new Tensor<D, Mutable<S>>(dtype, [...shape], size, allocate(dtype, size));
}

/** A tensor of which every element is `value`. Errors as {@link tensor}. */
export function full<D extends DType, const S extends readonly number[]>(
  dtype: D,
  shape: S,
  value: ScalarInput<NoInfer<D>>,
): Tensor<D, Mutable<S>> {
  checkDType(dtype, {});
  const one = build(dtype, [], value, {});
  const result = zeros(dtype, shape);
  const cells: Storage = result.data;
  if (DTYPES[dtype].lanes === 1) cells.fill(one.data[0] as never);
  else for (let lane = 0; lane < cells.length; lane++) cells[lane] = one.data[lane % 2];
  return result;
}

/** Whether two tensors have the same data type, shape and bits (so NaN equals the same NaN, and 0 is not -0). */
export function equals(a: Tensor | RuntimeTensor, b: Tensor | RuntimeTensor): boolean {
  const [left, right] = [asTensor(a, {}, "a"), asTensor(b, {}, "b")];
  if (left.dtype !== right.dtype || !sameShape(left.shape, right.shape)) return false;
  return differenceAt(left, right) === -1;
}

/**
 * The coordinates of the first element in which two tensors differ in a bit, or null where none does.
 * @throws TensorError `dtype` or `shape-mismatch` for tensors of two types or shapes, `disposed`
 */
export function firstDifference(
  a: Tensor | RuntimeTensor,
  b: Tensor | RuntimeTensor,
): number[] | null {
  const [left, right] = [asTensor(a, {}, "a"), asTensor(b, {}, "b")];
  if (left.dtype !== right.dtype) {
    throw new TensorError("dtype", `the tensors are ${left.dtype} and ${right.dtype}`);
  }
  if (!sameShape(left.shape, right.shape)) {
    const shapes = `${printShape(left.shape)} and ${printShape(right.shape)}`;
    throw new TensorError("shape-mismatch", `the tensors have the shapes ${shapes}`);
  }
  const position = differenceAt(left, right);
  return position === -1 ? null : coordinatesOf(position, left.shape);
}

/** The position of the first element in which two tensors of one type and shape differ, or -1. */
function differenceAt(a: Tensor, b: Tensor): number {
  if (!isNumericStorage(a.data) || !isNumericStorage(b.data)) {
    const [left, right]: Storage[] = [a.data, b.data];
    return (left as string[]).findIndex((text, position) => text !== right[position]);
  }
  const left = bytesOf(a.data);
  const right = bytesOf(b.data);
  for (let at = 0; at < left.length; at++) {
    if (left[at] !== right[at]) return Math.floor(at / DTYPES[a.dtype].bytes);
  }
  return -1;
}

/**
 * Any tensor as one of ours, over the same memory: a {@link Tensor} as it is, an onnxruntime tensor, or an object
 * with `dtype`, `shape` and `data`.
 * @param input the name of `value` in errors
 * @throws TensorError `dtype` when `value` is no tensor, and as {@link tensor}.
 */
export function asTensor(value: unknown, who: ErrorFields, input?: string): Tensor {
  if (value instanceof Tensor && isAlive(value)) return value;
  const fields = { ...who, input };
  if (value instanceof Tensor) throw gone(value, fields);
  if (isFloat16Array(value)) return build("float16", [value.length], value, fields);
  if (typeof value === "object" && value !== null && "data" in value) {
    const dtype = "dtype" in value ? value.dtype : "type" in value ? value.type : undefined;
    const shape = "shape" in value ? value.shape : "dims" in value ? value.dims : undefined;
    const data = dataOf(value, fields);
    if (isList(data)) return build(dtype, shape, data, fields);
  }
  throw new TensorError("dtype", `${fields.input ?? "the value"} is no tensor`, fields);
}

/** onnxruntime throws an error of its own for tensors that were disposed. */
function dataOf(value: { readonly data?: unknown }, fields: ErrorFields): unknown {
  try {
    return value.data;
  } catch (cause) {
    const name = fields.input ?? "the tensor";
    throw new TensorError("disposed", `the memory of ${name} is gone`, fields, { cause });
  }
}

/**
 * A tensor from a nested list, of the shape of its nesting. A typed array is a list too.
 * @throws TensorError as {@link tensor}.
 */
export function fromNested(dtype: DType, values: unknown, fields: ErrorFields): Tensor {
  const shape = nestingOf(values);
  if (DTYPES[dtype].family === "complex") {
    // A typed array holds parts; of other lists the innermost is the pair, where there is any.
    if (ArrayBuffer.isView(values)) shape[0] /= 2;
    else if (shape[shape.length - 1] !== 0) shape.pop();
  }
  return build(dtype, shape, values, fields);
}

/** Lists without elements cost memory that no element stands for. */
const MAX_EMPTY_LISTS = 2 ** 24;

/** The shape as nobody can change it: that of another tensor as it is, else a copy. Adding 0 makes -0 a plain 0. */
const frozen = (shape: readonly number[]): readonly number[] =>
  Object.isFrozen(shape) ? shape : Object.freeze(shape.map((dim) => dim + 0));

/** Whether the tensor's memory is there: not disposed of, transferred or otherwise detached. */
const isAlive = (tensor: Tensor): boolean => !tensor.isDisposed && hasMemory(tensor);

/** Whether the memory is there, disposed of or not: not transferred or otherwise detached. */
export const hasMemory = ({ dtype, size, data }: Tensor): boolean =>
  data.length === size * DTYPES[dtype].lanes && !(size === 0 && isDetached(data));

function gone({ dtype }: Tensor, fields: ErrorFields): TensorError {
  const what = fields.input ?? `this ${dtype} tensor`;
  const sentence = `the memory of ${what} is gone (disposed, transferred or resized)`;
  return new TensorError("disposed", sentence, fields);
}

/** @throws TensorError `dtype` for anything that is no data type's name. */
export function checkDType(dtype: unknown, fields: ErrorFields): asserts dtype is DType {
  if (isDType(dtype)) return;
  const known = DTYPE_NAMES.join(", ");
  throw new TensorError(
    "dtype",
    `${printValue(dtype)} is no data type; there are ${known}`,
    fields,
  );
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
  const dims = shape as readonly number[];
  const size = sizeOf(dims, fields);
  return new Tensor(dtype, [...dims], size, storageFor(dtype, dims, size, values, fields));
}
