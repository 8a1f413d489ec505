/// <reference lib="esnext.disposable" preserve="true" />

/**
 * A tensor: a data type, a shape and the array that holds the elements in row-major order. This file alone checks the
 * three against each other; everything behind it may rely on them.
 */

import {
  allocate,
  DTYPE_NAMES,
  DTYPES,
  isDType,
  type DType,
  type NumericStorage,
  type Scalar,
  type Storage,
} from "./dtype.ts";
import { Memory, type MemoryOwner } from "./memory.ts";
import {
  isTensorError,
  printValue,
  readForeign,
  TensorError,
  type ErrorFields,
} from "../errors.ts";
import { partsOf } from "./foreign-tensor.ts";
import { printDisposed, printTensor } from "./print.ts";
import { reader } from "./scalar.ts";
import { differenceAt } from "./difference.ts";
import { classOf } from "./storage.ts";
import { coordinatesOf, part, printShape, sameShape, shapeOf } from "./shape.ts";
import {
  nestingOf,
  storageFor,
  type Float16Like,
  type AnyLists,
  type Lists,
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

/** The key under which a Proxy or a clone of a tensor finds its memory; neither has the tensor's private fields. */
const MEMORY: unique symbol = Symbol("memory");

/** The key of `using`. In runtimes without it, compiled code looks for the registered symbol, as esbuild's does. */
const DISPOSE: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for("Symbol.dispose");

interface Remembered {
  [MEMORY]: unknown;
}

/**
 * A data type and a shape over elements that live in `data`. Created by {@link tensor}, {@link zeros} and {@link full};
 * `S` carries a literal shape to the compiler.
 *
 * A tensor is frozen: the facts checked at its creation stay true, except that the memory of `data` can be detached.
 * Its methods also work on a Proxy of it, as Vue's `reactive` and MobX make, and on a clone by `Object.create`.
 *
 * @example
 * ```ts
 * tensor("float32", [2, 2], [1, 2, 3, 4]).toArray(); // [[1, 2], [3, 4]]
 * ```
 */
export class Tensor<D extends DType = DType, S extends readonly number[] = readonly number[]> {
  readonly dtype: D;
  /** The dimensions; `[]` is a scalar. */
  readonly shape: Readonly<S>;
  /** The number of elements. */
  readonly size: number;
  /** The elements in row-major order: bits for float16 and bfloat16, interleaved pairs for complex. */
  readonly data: Storage<D>;
  readonly #memory: Memory;
  readonly #dims: readonly number[];

  /**
   * For the package alone: nothing is checked here.
   * @param shape kept and frozen, so never pass a caller's own list
   * @param owner takes the memory back; absent if no engine made the memory
   * @param dims those of the tensor whose own shape this is
   */
  constructor(
    dtype: D,
    shape: readonly number[],
    size: number,
    data: Storage<D>,
    owner?: MemoryOwner,
    dims?: readonly number[],
  ) {
    this.#dims = dims ?? part(shape, 0);
    this.dtype = dtype;
    this.shape = (dims === undefined ? Object.freeze(shape) : shape) as Readonly<S>;
    this.size = size;
    this.data = data;
    this.#memory = new Memory(data, owner);
    (this as Partial<Remembered>)[MEMORY] = this.#memory;
    Object.freeze(this);
  }

  /** True if `value` is a tensor of this package, whose fields can be trusted, and not a Proxy or a clone of one. */
  static isTensor(value: unknown): value is Tensor {
    return typeof value === "object" && value !== null && #memory in value;
  }

  /** True if the memory of `tensor` may be used: neither disposed of nor detached. */
  static isAlive(tensor: Tensor): boolean {
    return !tensor.#memory.hasEnded && tensor.#memory.isThere;
  }

  static memoryOf(tensor: Tensor): Memory {
    return tensor.#memory;
  }

  /** The shape as a list that only the package sees: V8 takes 8 ns for an entry of a frozen one, and 1 for others. */
  static dimsOf(tensor: Tensor): readonly number[] {
    return tensor.#dims;
  }

  /** A tensor of the data type and shape of another, as the constructor makes it. */
  static like(tensor: Tensor, data: Storage, owner: MemoryOwner): Tensor {
    const { dtype, shape, size } = tensor;
    return new Tensor(dtype, shape, size, data, owner, tensor.#dims);
  }

  /**
   * The elements as nested lists: bigint for 64-bit integers, boolean, string, `[re, im]` for complex, number for
   * the rest; the bare value at rank 0.
   * @throws TensorError `disposed` when the memory is gone, `too-large` for a shape such as `[4000000000, 0]`, which
   * has no elements but more than 100,000 lists
   */
  toArray(): Lists<Scalar<D>, S>;
  toArray(): AnyLists<Scalar> {
    const { dtype, shape, size, data } = asTensor(this, {});
    if (size === 0 && countLists(shape) > MAX_EMPTY_LISTS) {
      const most = `${MAX_EMPTY_LISTS}, with the lists around them`;
      const sentence = `the shape ${printShape(shape)} has too many empty lists, more than ${most}`;
      throw new TensorError("too-large", sentence);
    }
    const read = reader(dtype, data);
    let position = 0;
    const nest = (axis: number): AnyLists<Scalar> =>
      axis === shape.length
        ? read(position++)
        : Array.from({ length: shape[axis] }, () => nest(axis + 1));
    return nest(0);
  }

  /**
   * Ends the use of this tensor, so that its engine can use the memory for another result; later use of the tensor is
   * an error. A buffer supplied by the caller is never taken. Calling `dispose` is optional, and calling it twice is
   * allowed.
   */
  dispose(): void {
    memoryOf(this)?.end();
  }

  /** {@link dispose} at the end of a block, where the tensor is declared by `using`. */
  [DISPOSE](): void {
    this.dispose();
  }

  /** True after {@link dispose} was called. */
  get isDisposed(): boolean {
    return memoryOf(this)?.hasEnded ?? false;
  }

  /** The elements as NumPy prints them, abbreviated above 1000. */
  toString(): string {
    try {
      return printTensor(asTensor(this, {}));
    } catch (error) {
      if (!isTensorError(error, "disposed")) throw error;
      return Tensor.isTensor(this) ? printDisposed(this) : "tensor(<disposed>)";
    }
  }

  /** The text that Node's `console.log` shows. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

/**
 * A tensor of `dtype` and `shape` over `values`.
 *
 * An array of the type's own storage class is kept, not copied (a Uint16Array is the bits of float16 and bfloat16, a
 * Float16Array is kept too). Any other typed array, flat list or nested list is converted; rank 0 takes a bare value;
 * complex takes `[re, im]` pairs or `2 * size` flat numbers. Floats are rounded to nearest even.
 *
 * @param dtype the name of a data type
 * @param shape the dimensions; `[]` is a scalar
 * @param values a flat or nested list, a typed array of the storage class, or one value for a scalar
 * @throws TensorError `dtype` for an unknown data type or a value that it cannot hold (256 in uint8, 1.5 or NaN in an
 * integer type, an unsafe number as int64), `shape-mismatch` for a wrong count, ragged nesting or a dimension that is
 * not a non-negative integer, `rank` above 64 dimensions, `too-large` above 2^32 - 1 elements, `disposed` for a
 * detached array
 *
 * @example
 * ```ts
 * tensor("float32", [2, 2], [[1, 2], [3, 4]]).size; // 4
 * ```
 */
export function tensor<D extends DType, const S extends readonly number[]>(
  dtype: D,
  shape: S,
  values: Values<NoInfer<D>>,
): Tensor<D, Mutable<S>> {
  return build(dtype, shape, values, {}).tensor as Tensor<D, Mutable<S>>;
}

/**
 * A tensor of zeros, of false, or of empty strings. Errors as {@link tensor}.
 *
 * @param dtype the name of a data type
 * @param shape the dimensions; `[]` is a scalar
 *
 * @example
 * ```ts
 * zeros("float16", [1, 1024, 64]).data.byteLength; // 131072
 * ```
 */
export function zeros<D extends DType, const S extends readonly number[]>(
  dtype: D,
  shape: S,
): Tensor<D, Mutable<S>> {
  checkDType(dtype, {});
  const { shape: dims, size } = shapeOf(shape);
  return new Tensor<D, Mutable<S>>(dtype, dims, size, allocate(dtype, size));
}

/**
 * A tensor with every element equal to `value`. Errors as {@link tensor}.
 *
 * @param dtype the name of a data type
 * @param shape the dimensions; `[]` is a scalar
 * @param value the value of every element
 *
 * @example
 * ```ts
 * full("int32", [2, 2], 7).toArray(); // [[7, 7], [7, 7]]
 * ```
 */
export function full<D extends DType, const S extends readonly number[]>(
  dtype: D,
  shape: S,
  value: ScalarInput<NoInfer<D>>,
): Tensor<D, Mutable<S>> {
  const { tensor: one } = build(dtype, [], value, {});
  const result = zeros(dtype, shape);
  const cells: Storage = result.data;
  if (DTYPES[dtype].lanes === 1) cells.fill(one.data[0] as never);
  else
    for (let p = 0; p < result.size; p++)
      (cells as Float64Array).set(one.data as Float64Array, 2 * p);
  return result;
}

/**
 * True if two tensors have the same data type, shape and bits (so NaN equals the same NaN, and 0 is not -0).
 *
 * @param a a tensor, or one of onnxruntime
 * @param b a tensor, or one of onnxruntime
 * @throws TensorError `dtype` for a value that is not a tensor, `disposed`
 *
 * @example
 * ```ts
 * equals(tensor("float32", [2], [0, NaN]), tensor("float32", [2], [0, NaN])); // true
 * equals(tensor("float32", [1], [0]), tensor("float32", [1], [-0])); // false
 * ```
 */
export function equals(a: Tensor | RuntimeTensor, b: Tensor | RuntimeTensor): boolean {
  const [left, right] = [asTensor(a, {}, "a"), asTensor(b, {}, "b")];
  if (left.dtype !== right.dtype || !sameShape(left.shape, right.shape)) return false;
  return differenceAt(left, right) === -1;
}

/**
 * The coordinates of the first element in which two tensors differ in a bit, or null if all bits are equal.
 *
 * @param a a tensor, or one of onnxruntime
 * @param b a tensor, or one of onnxruntime
 * @throws TensorError `dtype` or `shape-mismatch` for tensors of different types or shapes, `disposed`
 *
 * @example
 * ```ts
 * firstDifference(tensor("int8", [2, 1], [1, 2]), tensor("int8", [2, 1], [1, 3])); // [1, 0]
 * ```
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

/**
 * Any tensor as a tensor of this package, over the same memory: a {@link Tensor} as it is; a Proxy or a clone of one,
 * an onnxruntime tensor, or another object with `dtype`, `shape` and `data`, each of which is read once.
 * @param input the name of `value` in errors
 * @throws TensorError `dtype` if `value` is not a tensor, `disposed` if its memory is gone, and as {@link tensor}
 */
export function asTensor(value: unknown, who: ErrorFields, input?: string): Tensor {
  // Nearly every value takes this path, which therefore creates no object.
  if (Tensor.isTensor(value) && Tensor.isAlive(value)) return value;
  return viewAsTensor(value, who, input).tensor;
}

/** A tensor; `isView` is true if it uses the memory of the original value, false for a converted copy. */
interface TensorView {
  readonly tensor: Tensor;
  readonly isView: boolean;
}

/** {@link asTensor} for a value that may be written to. */
export function viewAsTensor(value: unknown, who: ErrorFields, input?: string): TensorView {
  if (Tensor.isTensor(value)) {
    if (Tensor.isAlive(value)) return { tensor: value, isView: true };
    throw gone(input ?? `this ${value.dtype} tensor`, { ...who, input });
  }
  const fields = { ...who, input };
  const { dtype, shape, data } = partsOf(value, fields);
  if (memoryOf(value)?.hasEndedFor(data) === true) throw gone(input ?? "this tensor", fields);
  return build(dtype, shape, data, fields);
}

/** The memory of a tensor, also through a Proxy or a clone; undefined for other values. */
function memoryOf(value: unknown): Memory | undefined {
  const read = (): unknown => (value as Partial<Remembered> | null | undefined)?.[MEMORY];
  const memory = readForeign(read, "dtype", "the value must be a tensor");
  return Memory.isMemory(memory) ? memory : undefined;
}

/**
 * A tensor from a nested list, of the shape of its nesting. A typed array is a list too.
 * @throws TensorError as {@link tensor}
 */
export function fromNested(dtype: DType, values: unknown, fields: ErrorFields): Tensor {
  const nesting = (): number[] => nestingOf(values);
  const shape = readForeign(nesting, "dtype", "the values cannot be read", fields);
  if (DTYPES[dtype].family === "complex") {
    // The entries of a typed array are parts; of other lists the innermost is a pair, if any exists.
    if (classOf(values) !== undefined) shape[0] /= 2;
    else if (shape[shape.length - 1] !== 0) shape.pop();
  }
  return build(dtype, shape, values, fields).tensor;
}

/** Such lists cost memory that no element stands for: a file of 192 bytes could ask for gigabytes. */
const MAX_EMPTY_LISTS = 1e5;

/** Number of lists that a shape without elements nests, on all levels. */
function countLists(shape: readonly number[]): number {
  let count = 1;
  let lists = 1;
  for (let d = 0; shape[d] > 0; d++) {
    lists *= shape[d];
    count += lists;
  }
  return count;
}

const gone = (what: string, fields: ErrorFields): TensorError =>
  new TensorError(
    "disposed",
    `the memory of ${what} is gone (disposed, transferred or resized)`,
    fields,
  );

/** @throws TensorError `dtype` for anything except the name of a data type */
export function checkDType(dtype: unknown, fields: ErrorFields): asserts dtype is DType {
  if (isDType(dtype)) return;
  const sentence = `the data type must be one of ${DTYPE_NAMES.join(", ")}, got ${printValue(dtype)}`;
  throw new TensorError("dtype", sentence, fields);
}

/** {@link tensor} for unchecked arguments. */
function build(dtype: unknown, given: unknown, values: unknown, fields: ErrorFields): TensorView {
  checkDType(dtype, fields);
  const { shape, size } = shapeOf(given, fields);
  const { data, isView } = storageFor(dtype, shape, size, values, fields);
  return { tensor: new Tensor(dtype, shape, size, data), isView };
}
