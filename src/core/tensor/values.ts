/**
 * Accepted forms of a tensor's values, and their conversion to storage. Only the package's public functions handle
 * values; all other code handles storage.
 *
 * Lists may be Proxies or have getters that return different values each time, so each length is read once, and each
 * element is checked as it is written.
 */

import { named, TensorError, type ErrorContext, type ErrorFields } from "../errors.ts";
import { factOf, isArray, printCount, printValue, readForeign } from "../foreign.ts";
import { LISTS } from "../limits.ts";
import {
  allocate,
  DTYPES,
  isNumericStorage,
  storedRange,
  viewOf,
  type DType,
  type Storage,
} from "./dtype.ts";
import { writer } from "./scalar.ts";
import { coordinatesOf, MAX_RANK, printShape } from "./shape.ts";
import {
  classOf,
  isDetached,
  isFloat16Array,
  isList,
  isUint8Array,
  plainArray,
  typedLength,
  type Float16Like,
} from "./storage.ts";

/** Storage of values; `isView` is true if the storage is the memory of the given values. */
export interface StoredValues {
  readonly data: Storage;
  readonly isView: boolean;
}

/** The tensor to create from values: its data type, checked shape, and error fields. */
interface Destination {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly size: number;
  readonly fields: ErrorContext;
  /** JavaScript type that all elements must have, if the data type was inferred from the first element. */
  readonly kind: string | undefined;
}

/**
 * Returns storage that holds `values`: the array itself if it has the data type's storage class, otherwise a converted
 * copy.
 * @throws TensorError `dtype`, `shape-mismatch`, `disposed`, `too-large`
 */
export function storageFor(target: Destination, values: unknown): StoredValues {
  const read = (): StoredValues => store(target, values);
  return readForeign(read, "dtype", "the values cannot be read", "values", target.fields);
}

function store(target: Destination, values: unknown): StoredValues {
  const { dtype, size, fields } = target;
  if (isDetached(values)) {
    throw wrong("disposed", "the memory of the values is gone", fields);
  }
  checkNotBytes(values, dtype, size, fields);
  const list = dtype === "float16" && isFloat16Array(values) ? bitsOf(values, fields) : values;
  if (!isOwnStorage(target, list)) return { data: convert(target, list), isView: false };
  const data = isNumericStorage(list) ? plainArray(dtype, list) : list;
  checkCount(data.length, size * DTYPES[dtype].lanes, target);
  checkRange(target, data);
  return { data, isView: true };
}

/** Returns true for a `Buffer` of Node, Bun or Deno, or of a polyfill, in any realm. */
function isNodeBuffer(value: object): boolean {
  try {
    return "readInt32LE" in value;
  } catch {
    // A class that throws is refused where its values are read.
    return false;
  }
}

/**
 * Checks that values are not the bytes of larger numbers: an ArrayBuffer, a Buffer, or a Uint8Array of the size that
 * the tensor has in bytes. Each byte would otherwise become a number.
 * @param size the number of elements in the tensor
 * @throws TensorError `dtype`
 */
export function checkNotBytes(
  values: unknown,
  dtype: DType,
  size: number,
  fields: ErrorContext,
): void {
  const { bytes } = DTYPES[dtype];
  const isRaw = isUint8Array(values)
    ? bytes > 1 && (isNodeBuffer(values) || (size > 0 && values.length === size * bytes))
    : bytes > 0 && /(?:ArrayBuffer|DataView)$/.test(printValue(values));
  if (isRaw) throw wrongBytes(values, dtype, fields);
}

/** Creates the error for bytes that were passed as numbers of several bytes. */
export function wrongBytes(given: unknown, dtype: DType, fields: ErrorContext): TensorError {
  const who = fields.input ?? "values";
  const { storage, bytes, lanes } = DTYPES[/indices/i.test(who) ? "int32" : dtype];
  const expected = storage.name;
  const got = isUint8Array(given) && isNodeBuffer(given) ? "a Buffer" : printValue(given);
  // A Uint8Array of a DataView would be empty.
  const buffer =
    got === "a DataView"
      ? `${who}.buffer, ${who}.byteOffset, ${who}.byteLength / ${bytes / lanes}`
      : `new Uint8Array(${who}).buffer`;
  const sentence = `${who} must be numbers, got bytes in ${got}; use new ${expected}(${buffer})`;
  return wrong("dtype", sentence, fields, { got, expected });
}

/** @throws TensorError `shape-mismatch` for values that were not given */
export function checkGiven(values: unknown, fields: ErrorContext): void {
  if (values !== undefined) return;
  throw wrong("shape-mismatch", "values must be given after the data type and the shape", fields);
}

/**
 * Returns true if a list can be used as a tensor's storage without conversion. A list of strings can be used if it is
 * flat and, because a tensor may be written to, not frozen.
 */
function isOwnStorage({ dtype, size }: Destination, list: unknown): list is Storage {
  if (dtype !== "string") return classOf(list) === DTYPES[dtype].storage.name;
  // The length of a list is checked first, because a Proxy may claim any number of entries.
  if (!isArray(list) || list.length !== size || Object.isFrozen(list)) return false;
  for (let p = 0; p < size; p++) if (typeof list[p] !== "string") return false;
  return true;
}

/** Creates storage with the elements of a flat or nested list, or with a bare value. */
function convert(target: Destination, values: unknown): Storage {
  const { dtype, shape, size } = target;
  const isComplex = DTYPES[dtype].family === "complex";
  const nesting = nestingOf(values);
  const isPaired = isComplex && nesting.length === 2 && nesting[1] === 2;
  const isParts = isComplex && nesting.length === 1;
  const isFlat = isList(values) && (nesting.length === 1 || isPaired);
  const count = isParts ? 2 * size : size;
  if (isFlat) {
    checkCount(nesting[0], count, target);
  } else if (nesting.length > shape.length + (isComplex ? 1 : 0)) {
    // The depth is checked before any element is visited, because a list may contain itself many times.
    throw wrongNesting(`lists ${nesting.length} deep`, target);
  } else {
    visit(values, target, null);
  }
  const data = allocate(dtype, size);
  const write = writerOf(target, isParts ? componentOf(dtype) : dtype, data);
  let position = 0;
  const put = (value: unknown): void => {
    if (!write(position, value)) {
      throw refusal(value, isParts ? Math.floor(position / 2) : position, target);
    }
    position++;
  };
  if (isFlat) for (let p = 0; p < count; p++) put(values[p]);
  else if (size > 0) visit(values, target, put);
  return data;
}

/** Returns a `writer` that also refuses elements of another JavaScript type than the first, if it matters. */
function writerOf({ kind }: Destination, dtype: DType, data: Storage): ReturnType<typeof writer> {
  const write = writer(dtype, data);
  return kind === undefined
    ? write
    : (position, value) => typeof value === kind && write(position, value);
}

/**
 * Checks that lists are nested like the shape, and visits the elements in row-major order; null only checks. If the
 * shape has no elements, each list is checked only once, no matter how often it occurs: 62 lists that each contain the
 * next one twice would count as 2^62 lists.
 */
function visit(
  values: unknown,
  target: Destination,
  element: ((value: unknown) => void) | null,
): void {
  const { shape, size } = target;
  const seen = size === 0 ? shape.map(() => new Set<unknown>()) : null;
  const depth = element === null ? shape.length - 1 : shape.length;
  const enter = (value: unknown, axis: number): void => {
    if (axis === shape.length) return element?.(value);
    if (seen?.[axis].has(value) === true) return;
    seen?.[axis].add(value);
    const items = itemsOf(value, axis, target);
    if (axis < depth) for (let i = 0; i < shape[axis]; i++) enter(items[i], axis + 1);
  };
  enter(values, 0);
}

/**
 * Returns a value as a list that is as long as the axis.
 * @throws TensorError `shape-mismatch` if the value is not such a list
 */
function itemsOf(value: unknown, axis: number, target: Destination): ArrayLike<unknown> {
  if (!isArray(value)) checkNotBytes(value, target.dtype, 0, target.fields);
  const length = lengthOf(value);
  if (length === target.shape[axis]) return value as ArrayLike<unknown>;
  const found = length === null ? printValue(value) : `a list of ${length}`;
  const { [axis]: size } = target.shape;
  const facts = { axis, got: length ?? factOf(value), size };
  throw wrongNesting(`${found} where axis ${axis} has ${size}`, target, facts);
}

/** Creates the error for a value that the data type cannot hold. */
function refusal(value: unknown, position: number, target: Destination): TensorError {
  const { dtype, shape, fields, kind } = target;
  const at = coordinatesOf(position, shape);
  const length = lengthOf(value);
  if (length !== null && !(DTYPES[dtype].family === "complex" && length === 2)) {
    return wrongNesting(`a list of ${length} at ${printShape(at)}`, target, { at });
  }
  const where = `${printShape(at)}${fields.input === undefined ? "" : ` of ${fields.input}`}`;
  const sentence =
    kind === undefined
      ? `${dtype} cannot hold ${printValue(value)}, at ${where}`
      : `values without a data type must all be ${kind}s, like the first; got ${value === null ? "null" : typeof value} at ${where}`;
  return wrong("dtype", sentence, fields, { at, got: factOf(value), expected: kind ?? dtype });
}

function wrongNesting(found: string, target: Destination, facts?: ErrorFields): TensorError {
  const { shape, fields } = target;
  const sentence = `${fields.input ?? "values"} must be nested lists of the shape ${printShape(shape)}, got ${found}`;
  return wrong("shape-mismatch", sentence, fields, { ...facts, expected: shape });
}

/** Creates the error for values that are wrong as `facts` say. */
const wrong = (
  code: "dtype" | "shape-mismatch" | "disposed",
  sentence: string,
  fields: ErrorContext,
  facts?: ErrorFields,
): TensorError => new TensorError(code, sentence, { ...named(fields, "values"), ...facts });

function checkCount(count: number, needed: number, { shape, fields }: Destination): void {
  if (count === needed) return;
  const sentence = `the shape ${printShape(shape)} needs ${printCount(needed, "value")}, got ${count}`;
  throw wrong("shape-mismatch", sentence, fields, { got: count, expected: shape });
}

/** Checks the elements of data types that use only part of their storage's range, such as bool and int4. */
function checkRange({ dtype, shape, fields }: Destination, data: Storage): void {
  const range = storedRange(dtype);
  if (range === null) return;
  const [low, high] = range;
  for (let position = 0; position < data.length; position++) {
    const got = Number(data[position]);
    if (got >= low && got <= high) continue;
    const at = coordinatesOf(position, shape);
    const sentence = `${dtype} cannot hold ${got}, at ${printShape(at)}`;
    throw wrong("dtype", sentence, fields, { at, got, expected: dtype });
  }
}

/**
 * Returns the length that a list reports, or null if the value is not a list. A Proxy of an array may report any
 * length.
 */
const lengthOf = (value: unknown): number | null =>
  isArray(value) ? Number(value.length) : classOf(value) === undefined ? null : typedLength(value);

function bitsOf({ buffer, byteOffset, length }: Float16Like, fields: ErrorContext): Storage {
  // A polyfill's array is not a typed array. The class DataView is used, because it accepts only a buffer, whereas a
  // typed array constructor would allocate one.
  const read = (): Storage => viewOf("float16", new DataView(buffer).buffer, byteOffset, length);
  return readForeign(read, "disposed", "the memory of the values is gone", "values", fields);
}

const componentOf = (dtype: DType): DType => (dtype === "complex64" ? "float32" : "float64");

/**
 * Returns the length of a list, of the first list in it, and so on. The result for a list that contains itself is
 * longer than the maximum rank; `shapeOf` refuses a length that is not a count.
 */
export function nestingOf(values: unknown): number[] {
  const lengths: number[] = [];
  let list = values;
  for (let length = lengthOf(list); length !== null; length = lengthOf(list)) {
    lengths.push(length);
    if (lengths.length === MAX_RANK + 2) break;
    list = (list as ArrayLike<unknown>)[0];
  }
  return lengths;
}

/** Arrays that `numbersOf` writes; their classes store numbers unchanged. */
type Plain = Float32Array | Float64Array | Int32Array;

/**
 * Returns the shape and the elements of a nested list of ordinary numbers, in a fifth of the time that `storageFor`
 * takes. Returns null for anything unusual, such as a number that the type cannot hold, text, or lists of different
 * lengths; `storageFor` then reads the list again and reports the error.
 */
export function numbersOf(
  dtype: "float32" | "float64" | "int32",
  values: unknown,
): { readonly shape: number[]; readonly size: number; readonly data: Plain } | null {
  try {
    const shape: number[] = [];
    let size = 1;
    for (let list = values; Array.isArray(list); list = (list as readonly unknown[])[0]) {
      size *= shape.push(list.length) > MAX_RANK ? 0 : list.length;
      if (size === 0 || size > LISTS.numbers) return null;
    }
    if (shape.length === 0) return null;
    const data = allocate(dtype, size) as Plain;
    return writeNumbers(data, 0, values, shape, 0) === size ? { shape, size, data } : null;
  } catch {
    // The value has a getter or a Proxy that threw.
    return null;
  }
}

/**
 * Writes the numbers of a list, starting at position `at`, and returns the position after them; -1 if a number is
 * unusual.
 */
function writeNumbers(
  data: Plain,
  at: number,
  list: unknown,
  shape: readonly number[],
  axis: number,
): number {
  const length = shape[axis];
  if (!Array.isArray(list) || list.length !== length) return -1;
  const isInt = data instanceof Int32Array;
  for (let i = 0; i < length; i++) {
    const value: unknown = list[i];
    if (axis < shape.length - 1) {
      at = writeNumbers(data, at, value, shape, axis + 1);
      if (at === -1) return -1;
    } else {
      if (typeof value !== "number" || (isInt && (value | 0) !== value)) return -1;
      data[at++] = value;
    }
  }
  return at;
}
