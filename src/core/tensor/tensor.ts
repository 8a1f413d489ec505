/// <reference lib="esnext.disposable" preserve="true" />

/**
 * A tensor: a data type, a shape, and an array that stores the elements in row-major order. Only this file checks that
 * data type, shape and elements match; all other code may rely on the check.
 */

import {
  checkArguments,
  formOf,
  partsOf,
  type AnyLists,
  type DTypeOf,
  type Lists,
  type ScalarInput,
  type ShapeOf,
  type TypedArray,
  type TypedValues,
  type Values,
} from "./arguments.ts";
import { gone, Memory, type MemoryOwner } from "./memory.ts";
import {
  allocate,
  checkDType,
  DTYPE_NAMES,
  DTYPES,
  isNumericStorage,
  rowOf,
  type DType,
  type Scalar,
  type Storage,
} from "./dtype.ts";
import { hasCode, TensorError, type ErrorContext } from "../errors.ts";
import { readForeign } from "../foreign.ts";
import { printDisposed, printTensor } from "./print.ts";
import { reader } from "./scalar.ts";
import { classOf, pack } from "./storage.ts";
import { checkListCount, part, shapeOf } from "./shape.ts";
import { checkGiven, nestingOf, storageFor } from "./values.ts";

/** A literal shape, which the compiler shows as `[2, 3]` instead of `readonly [2, 3]`. */
export type Mutable<S extends readonly number[]> = { -readonly [Axis in keyof S]: S[Axis] };

/** An onnxruntime tensor, which has the same parts with different names. */
export interface RuntimeTensor {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: TypedArray | readonly string[];
}

/** Key under which a tensor's Proxy or clone finds its memory, because neither has the tensor's private fields. */
const MEMORY: unique symbol = Symbol("memory");

/** Key for `using`. Compiled code looks for the registered symbol in runtimes without `Symbol.dispose`. */
const DISPOSE: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for("Symbol.dispose");

/**
 * A data type and a shape, with elements in `data`. Create tensors with `tensor`, `zeros` and `full`.
 * The compiler knows a literal shape from `S`.
 *
 * A tensor is frozen: what was checked at its creation stays true, except that the memory of `data` can be detached.
 * Its methods also work on a Proxy, such as Vue's `reactive` or MobX creates, and on a clone made with `Object.create`.
 *
 * @example
 * ```ts
 * tensor("float32", [2, 2], [1, 2, 3, 4]).toArray(); // [[1, 2], [3, 4]]
 * ```
 */
export class Tensor<D extends DType = DType, S extends readonly number[] = readonly number[]> {
  readonly dtype: D;
  /** Dimensions of the tensor; `[]` for a scalar. */
  readonly shape: Readonly<S>;
  /** Number of elements. */
  readonly size: number;
  /** Elements in row-major order: bits for float16 and bfloat16, interleaved pairs for complex numbers. */
  readonly data: Storage<D>;
  readonly #memory: Memory;
  readonly #dims: readonly number[];

  /**
   * Creates a tensor without any checks, so it is only for use inside the package.
   * @param shape a list that is kept and frozen, so it must not be a caller's own list
   * @param owner the engine to return the memory to; absent if no engine allocated it
   * @param dims the `dimsOf` list of another tensor that has the same `shape` object
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
    (this as { [MEMORY]?: unknown })[MEMORY] = this.#memory;
    Object.freeze(this);
  }

  /** Returns true for a tensor of this package, whose fields can be trusted, but not for its Proxies or clones. */
  static isTensor(value: unknown): value is Tensor {
    return typeof value === "object" && value !== null && #memory in value;
  }

  /** Returns true if the memory of `tensor` is usable: neither disposed of nor detached. */
  static isAlive(tensor: Tensor): boolean {
    return !tensor.#memory.hasEnded && tensor.#memory.isThere;
  }

  static memoryOf(tensor: Tensor): Memory {
    return tensor.#memory;
  }

  /** Returns the shape as an internal, unfrozen list: V8 reads an entry in 1 ns instead of 8 ns for a frozen list. */
  static dimsOf(tensor: Tensor): readonly number[] {
    return tensor.#dims;
  }

  /** Creates a tensor with the data type and shape of another, without any checks. */
  static like(tensor: Tensor, data: Storage, owner: MemoryOwner): Tensor {
    const { dtype, shape, size } = tensor;
    return new Tensor(dtype, shape, size, data, owner, tensor.#dims);
  }

  /**
   * Returns the elements as nested lists of bigint (64-bit integers), boolean, string, `[re, im]` (complex) or number
   * (all other types). A scalar returns the bare value.
   * @throws TensorError `disposed` if the memory is gone, `too-large` for a shape such as `[4000000000, 0]`, which has
   *   no elements but more than 100,000 lists
   */
  toArray(): Lists<Scalar<D>, S>;
  toArray(): AnyLists<Scalar> {
    const { dtype, shape, size, data } = asTensor(this, {});
    if (size === 0) checkListCount(shape);
    const read = reader(dtype, data);
    let position = 0;
    const nest = (axis: number): AnyLists<Scalar> =>
      axis === shape.length
        ? read(position++)
        : Array.from({ length: shape[axis] }, () => nest(axis + 1));
    return nest(0);
  }

  /**
   * Ends the use of this tensor, so that its engine can reuse the memory for another result; using the tensor
   * afterwards is an error. Buffers that callers supplied are never reused. Calling `dispose` is optional, and repeated
   * calls are allowed.
   */
  dispose(): void {
    memoryOf(this)?.end();
  }

  /** Calls `dispose` at the end of a block in which `using` declares the tensor. */
  [DISPOSE](): void {
    this.dispose();
  }

  /** True if `dispose` was called. */
  get isDisposed(): boolean {
    return memoryOf(this)?.hasEnded ?? false;
  }

  /** Prints the elements as NumPy does, abbreviated above 1000 elements. */
  toString(): string {
    try {
      return printTensor(asTensor(this, {}));
    } catch (error) {
      if (!hasCode(error, "disposed")) throw error;
      return Tensor.isTensor(this) ? printDisposed(this) : "tensor(<disposed>)";
    }
  }

  /** Returns the text that Node's `console.log` shows. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

/**
 * Creates a tensor with the given data type, shape and values. An array of the data type's storage class is kept, not
 * copied; float16 and bfloat16 keep a Uint16Array of bits, and float16 also a Float16Array. Any other typed array, flat
 * list or nested list is converted. Complex accepts `[re, im]` pairs or `2 * size` flat numbers. Floats are rounded to
 * nearest even.
 *
 * The data type may be omitted, and then also the shape. A typed array gives its own type and one axis. Nested lists
 * give their nesting, and float32 for numbers, int64 for bigints, bool for booleans and string for strings.
 *
 * @param dtype a data type name
 * @param shape the dimensions; `[]` for a scalar
 * @param values a flat or nested list, a typed array of the storage class, or one value for a scalar
 * @throws TensorError `dtype` for an unknown data type or a value that it cannot hold (256 in uint8, 1.5 or NaN in an
 *   integer type, an unsafe number as int64), for elements of different types without a data type, and for a Buffer or
 *   an ArrayBuffer; `shape-mismatch` for a wrong count, ragged nesting or a dimension that is not a non-negative
 *   integer; `rank` above 64 dimensions; `too-large` above 2^32 - 1 elements; `disposed` for a detached array
 *
 * @example
 * ```ts
 * tensor("float32", [2, 2], [[1, 2], [3, 4]]).size; // 4
 * tensor(new Float32Array(6), [3, 2]).toArray(); // [[0, 0], [0, 0], [0, 0]]
 * tensor([[1, 2], [3, 4]]).dtype; // "float32"
 * tensor([[0], [2]], "int32").dtype; // "int32"
 * ```
 */
export function tensor<D extends DType, const S extends readonly number[]>(
  dtype: D,
  shape: S,
  values: Values<NoInfer<D>>,
): Tensor<D, Mutable<S>>;
export function tensor<
  const V extends TypedValues,
  const S extends readonly number[] = ShapeOf<V>,
  D extends DType = DTypeOf<V>,
>(values: V, shape?: S, dtype?: D): Tensor<D, Mutable<S>>;
export function tensor<const V extends TypedValues, D extends DType>(
  values: V,
  dtype: D,
): Tensor<D, D extends "complex64" | "complex128" ? number[] : ShapeOf<V>>;
export function tensor(...args: readonly unknown[]): Tensor {
  const [first, second, third] = checkArguments(["dtype", "shape", "values"], args);
  if (typeof first === "string") return build(first, second, third, {}).tensor;
  const { dtype, shape, kind } = formOf(first, second, third);
  return fromNested(dtype, first, {}, shape, kind);
}

/**
 * Creates a tensor of zeros, `false` or empty strings. Throws the same errors as `tensor`.
 *
 * @param dtype a data type name
 * @param shape the dimensions; `[]` for a scalar
 *
 * @example
 * ```ts
 * zeros("float16", [1, 1024, 64]).data.byteLength; // 131072
 * ```
 */
export function zeros<D extends DType, const S extends readonly number[]>(
  dtype: D,
  shape: S,
): Tensor<D, Mutable<S>>;
export function zeros(...args: readonly unknown[]): Tensor {
  const [dtype, shape] = checkArguments(["dtype", "shape"], args);
  checkDType(dtype, {});
  const { shape: dims, size } = shapeOf(shape);
  return new Tensor(dtype, dims, size, allocate(dtype, size));
}

/**
 * Creates a tensor in which every element is `value`. Throws the same errors as `tensor`.
 *
 * @param dtype a data type name
 * @param shape the dimensions; `[]` for a scalar
 * @param value the value for every element
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
): Tensor<D, Mutable<S>>;
export function full(...args: readonly unknown[]): Tensor {
  const [dtype, shape, value] = checkArguments(["dtype", "shape", "value"], args);
  const { tensor: one } = build(dtype, [], value, {});
  const result = zeros(one.dtype, shape as readonly number[]);
  const cells: Storage = result.data;
  const [first, second] = one.data;
  cells.fill(first as never);
  if (second !== undefined) for (let p = 1; p < cells.length; p += 2) cells[p] = second;
  return result;
}

/**
 * Returns any tensor as a tensor of this package, over the same memory: a `Tensor` unchanged, or the parts, read
 * once, of a Proxy, a clone, an onnxruntime tensor or another object with `dtype`, `shape` and `data`.
 * @param input the name of `value` in error messages
 * @throws TensorError the errors of `tensor`, `dtype` if `value` is not a tensor, `disposed` if its memory is
 *   gone
 */
export function asTensor(value: unknown, who: ErrorContext, input?: string): Tensor {
  // Nearly every value takes this path, which therefore allocates nothing.
  if (Tensor.isTensor(value) && Tensor.isAlive(value)) return value;
  return viewAsTensor(value, who, input).tensor;
}

/** A tensor; `isView` is true if the tensor uses the original value's memory, and false if it is a converted copy. */
interface TensorView {
  readonly tensor: Tensor;
  readonly isView: boolean;
}

/** Returns a tensor like `asTensor`, and whether writing to it changes the original value. */
export function viewAsTensor(value: unknown, who: ErrorContext, input?: string): TensorView {
  if (Tensor.isTensor(value)) {
    if (Tensor.isAlive(value)) return { tensor: value, isView: true };
    throw gone(input ?? `this ${value.dtype} tensor`, { ...who, input });
  }
  const fields = { ...who, input };
  const { dtype, shape, data } = partsOf(value, fields);
  if (memoryOf(value)?.hasEndedFor(data) === true) throw gone(input ?? "this tensor", fields);
  return build(dtype, shape, data, fields);
}

/** Returns the memory of a tensor, its Proxy or its clone; undefined for other values. */
function memoryOf(value: unknown): Memory | undefined {
  const read = (): unknown => (value as { [MEMORY]?: unknown } | null)?.[MEMORY];
  const memory = readForeign(read, "dtype", "the value must be a tensor", "tensor");
  return Memory.isMemory(memory) ? memory : undefined;
}

/**
 * Creates a tensor whose shape is the nesting of a list, unless another shape is given. A typed array is also a list.
 * @param kind JavaScript type of all elements; undefined if the data type decides
 * @throws TensorError the errors of `tensor`
 */
export function fromNested(
  dtype: DType,
  values: unknown,
  fields: ErrorContext,
  given?: unknown,
  kind?: string,
): Tensor {
  if (given !== undefined) return build(dtype, given, values, fields, kind).tensor;
  const nesting = (): number[] => nestingOf(values);
  const shape = readForeign(nesting, "dtype", "the values cannot be read", "values", fields);
  if (DTYPES[dtype].family === "complex") {
    // A complex typed array has two entries per element; in other lists, the innermost list is a pair, if any exists.
    if (classOf(values) !== undefined) shape[0] = Math.floor(shape[0] / 2);
    else if (shape[shape.length - 1] !== 0) shape.pop();
  }
  return build(dtype, shape, values, fields, kind).tensor;
}

/** Creates a tensor from unchecked arguments. */
function build(
  dtype: unknown,
  given: unknown,
  values: unknown,
  fields: ErrorContext,
  kind?: string,
): TensorView {
  checkDType(dtype, fields);
  checkGiven(values, fields);
  const { shape, size } = shapeOf(given, fields);
  const { data, isView } = storageFor({ dtype, shape, size, fields, kind }, values);
  return { tensor: new Tensor(dtype, shape, size, data), isView };
}

/** Data types of onnxruntime-common tensors, which have the same names in this package. */
export type RuntimeDType = {
  [D in DType]: (typeof DTYPES)[D] extends { readonly runtime: true } ? D : never;
}[DType];

/** A tensor that onnxruntime-node accepts as a feed, with the three parts that `new Tensor(type, data, dims)` needs. */
export interface ToRuntime<D extends RuntimeDType = RuntimeDType> {
  readonly type: D;
  readonly dims: readonly number[];
  /** Elements: bits for float16, 0 or 1 for bool; for int4 and uint4, two per byte, the first in the low bits. */
  readonly data: D extends "int4" | "uint4" ? Uint8Array : Storage<D>;
  readonly location: "cpu";
}

/**
 * Converts a tensor for onnxruntime, with the same data type. The data is not copied, except for int4 and uint4, so use
 * the result before disposing of the tensor.
 *
 * @param tensor a tensor with a data type that onnxruntime has
 *
 * @example
 * ```ts
 * const { type, data, dims } = toRuntime(tensor("float32", [2], [1, 2]));
 * console.log(type, data, dims); // float32 Float32Array(2) [1, 2] [2]
 * // A feed of a session: new ort.Tensor(type, data, dims)
 * ```
 * @throws TensorError `dtype` for a data type that onnxruntime tensors do not have, such as bfloat16 or complex64;
 *   `disposed`
 */
export function toRuntime<D extends DType>(
  tensor: Tensor<D> & ([D & RuntimeDType] extends [never] ? `onnxruntime has no ${D}` : unknown),
): ToRuntime<D & RuntimeDType>;
export function toRuntime(given: unknown): ToRuntime {
  const { dtype, shape, data } = asTensor(given, {});
  if (!isRuntime(dtype)) {
    const allowed = DTYPE_NAMES.filter(isRuntime);
    const sentence = `onnxruntime has no tensors of ${dtype}, only of ${allowed.join(", ")}`;
    throw new TensorError("dtype", sentence, { key: "tensor", got: dtype, allowed });
  }
  const isPacked = rowOf(dtype).bits !== undefined && isNumericStorage(data);
  const dims = [...shape];
  return { type: dtype, dims, data: isPacked ? pack(dtype, data) : data, location: "cpu" };
}

const isRuntime = (dtype: DType): dtype is RuntimeDType => rowOf(dtype).runtime === true;
