/**
 * Arithmetic on known and partly known shapes; `typed-shape.ts` has compile-time shapes.
 *
 * Shapes are processed in loops, because tensor shapes are frozen, and on a frozen array V8 takes 56 ns instead of 4 ns
 * for `every`, and 100 ns instead of 17 ns for `slice`.
 */

import { factOf, isArray, printValue, readForeign } from "../foreign.ts";
import { named, TensorError, type ErrorContext, type ErrorFields } from "../errors.ts";

/** A dimension of a partly known shape: a size, a name for a size, or null for an unknown size. */
export type Dim = number | string | null;

/** A shape of known rank, or null for an unknown rank. */
export type PartialShape = readonly Dim[] | null;

/** Maximum number of elements in a tensor, because offsets have 32 bits. */
export const MAX_SIZE = 2 ** 32 - 1;

/** Maximum rank, which is also NumPy's limit; only hostile files have more axes. */
export const MAX_RANK = 64;

/** A checked and frozen shape, and its number of elements. */
export interface CheckedShape {
  readonly shape: readonly number[];
  readonly size: number;
}

/**
 * Copies a shape from outside the package, then checks the copy, so that the dimensions used are the dimensions
 * checked. `given` may be a Proxy or have getters that return different values each time, so each dimension is read
 * once. Returns a frozen copy, with 0 for -0, and the number of elements.
 *
 * @param given a list of non-negative integers
 *
 * @throws TensorError the errors of `sizeOf`, and `shape-mismatch` if reading the list throws
 */
export function shapeOf(given: unknown, fields?: ErrorContext): CheckedShape {
  const shape = copyOf(given, fields);
  const size = sizeOf(shape as readonly number[], fields);
  for (let d = 0; d < shape.length; d++) shape[d] = Number(shape[d]) + 0;
  return { shape: Object.freeze(shape) as readonly number[], size };
}

/**
 * Copies a partly known shape from outside the package, then checks the copy, like `shapeOf`.
 * @param name the owner of the shape as named in errors, such as an input
 * @throws TensorError `rank` above 64 dimensions, `shape-mismatch` if the value is not a partly known shape
 */
export function partialShapeOf(given: unknown, name: string, fields?: ErrorContext): PartialShape {
  if (given === null) return null;
  const shape = isArray(given) ? copyOf(given, fields) : null;
  if (shape?.every(isDim) === true) return Object.freeze(shape) as PartialShape;
  const sentence = `${name} must have a shape of non-negative integers, names and nulls, or null for an unknown rank`;
  throw wrong("shape-mismatch", sentence, fields);
}

const isDim = (dim: unknown): boolean => dim === null || typeof dim === "string" || isSize(dim);

const isSize = (dim: unknown): boolean => Number.isSafeInteger(dim) && Number(dim) >= 0;

/** Creates the error for a shape that is wrong as `facts` say. */
const wrong = (
  code: "shape-mismatch" | "rank" | "too-large",
  sentence: string,
  fields?: ErrorContext,
  facts?: ErrorFields,
): TensorError => new TensorError(code, sentence, { ...named(fields, "shape"), ...facts });

/** Reads the entries of a list, each once. */
function copyOf(given: unknown, fields?: ErrorContext): unknown[] {
  checkList(given, fields);
  const read = (): unknown[] => {
    const length = Number(given.length);
    checkRankLimit({ length }, fields);
    const shape: unknown[] = [];
    for (let d = 0; d < length; d++) shape.push(given[d]);
    return shape;
  };
  return readForeign(read, "shape-mismatch", "the shape cannot be read", "shape", fields);
}

function checkList(given: unknown, fields?: ErrorContext): asserts given is readonly unknown[] {
  if (isArray(given)) return;
  const hint = typeof given === "number" ? `; use [${given}]` : "";
  const sentence = `a shape must be a list of dimensions, such as [2, 3], got ${printValue(given)}${hint}`;
  throw wrong("shape-mismatch", sentence, fields, { got: factOf(given) });
}

/**
 * Returns the number of elements in `shape`, which must be a list that only the package can change; use `shapeOf`
 * for other lists.
 * @throws TensorError `shape-mismatch` if `shape` is not a list or a dimension is not a non-negative integer, `rank`
 *   above 64 dimensions, `too-large` above 2^32 - 1 elements
 */
export function sizeOf(shape: readonly number[], fields?: ErrorContext): number {
  checkList(shape, fields);
  checkRankLimit(shape, fields);
  for (let d = 0; d < shape.length; d++) {
    const dim: unknown = shape[d];
    if (isSize(dim)) continue;
    const sentence = `a dimension must be a non-negative integer, got ${printValue(dim)}`;
    throw wrong("shape-mismatch", sentence, fields, { axis: d, got: factOf(dim) });
  }
  const size = product(shape);
  if (size <= MAX_SIZE) return size;
  const sentence = `the shape ${printShape(shape)} has more than 2^32 - 1 elements`;
  throw wrong("too-large", sentence, fields, { got: size, limit: MAX_SIZE });
}

/**
 * Checks that a shape has at most 64 dimensions.
 * @throws TensorError `rank`
 */
function checkRankLimit(shape: { readonly length: number }, fields?: ErrorContext): void {
  const { length: got } = shape;
  if (got <= MAX_RANK) return;
  const sentence = `a shape has at most ${MAX_RANK} axes, got ${got}`;
  throw wrong("rank", sentence, fields, { got, limit: MAX_RANK });
}

/**
 * Returns the product of the dimensions from axis `start` to `end`, which is exact if it is a safe integer. The product
 * is 0 if a dimension is 0, even if the other dimensions multiply to Infinity.
 */
export function product(dims: readonly number[], start = 0, end = dims.length): number {
  let size = 1;
  for (let d = start; d < end; d++) {
    if (dims[d] === 0) return 0;
    size *= dims[d];
  }
  return size;
}

/** Returns row-major strides, in elements. */
export function stridesOf(shape: readonly number[]): number[] {
  const strides = shape.map(() => 1);
  for (let d = shape.length - 2; d >= 0; d--) strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

/** Returns the coordinates of the element at `position` in row-major order. */
export function coordinatesOf(position: number, shape: readonly number[]): number[] {
  const coordinates = shape.map(() => 0);
  for (let d = shape.length - 1; d >= 0; d--) {
    coordinates[d] = position % shape[d];
    position = Math.floor(position / shape[d]);
  }
  return coordinates;
}

export function sameShape(a: readonly number[], b: readonly number[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let d = 0; d < a.length; d++) if (a[d] !== b[d]) return false;
  return true;
}

/** Returns true if every dimension of a shape is known. */
export function isKnown(shape: PartialShape): shape is readonly number[] {
  if (shape === null) return false;
  for (let d = 0; d < shape.length; d++) if (typeof shape[d] !== "number") return false;
  return true;
}

/** Copies the dimensions from axis `start` to `end`. */
export function part<D extends Dim>(shape: readonly D[], start: number, end = shape.length): D[] {
  const dims: D[] = [];
  for (let d = start; d < end; d++) dims.push(shape[d]);
  return dims;
}

/** Returns true if two partly known shapes may be equal: their ranks are equal and no two known sizes differ. */
export const compatible = (a: readonly Dim[], b: readonly Dim[]): boolean =>
  a.length === b.length && compatibleFrom(0, a, b);

/** Returns true if a partly known shape may have the dimensions `part`, starting at axis `start`. */
export function compatibleFrom(
  start: number,
  shape: readonly Dim[],
  part: readonly Dim[],
): boolean {
  if (start < 0 || start + part.length > shape.length) return false;
  for (let d = 0; d < part.length; d++) {
    if (!compatibleDims(part[d], shape[start + d])) return false;
  }
  return true;
}

/** Returns true unless both dimensions are numbers and differ: two different names may have the same size. */
const compatibleDims = (a: Dim, b: Dim): boolean =>
  typeof a !== "number" || typeof b !== "number" || a === b;

/** Returns the more precise of two equal dimensions: a size before a name, and a name before null. */
export const unifyDims = (a: Dim, b: Dim): Dim =>
  typeof a === "number" ? a : typeof b === "number" ? b : (a ?? b);

/**
 * Prints a shape: `[2, N, ?]` has a size, a name and an unknown size. Axes after the 64th are omitted.
 *
 * @param shape sizes, dimension names, and null for unknown sizes
 * @throws TensorError `shape-mismatch` if `shape` is not a list or cannot be read
 *
 * @example
 * ```ts
 * printShape([2, "N", null]); // "[2, N, ?]"
 * ```
 */
export function printShape(shape: readonly Dim[]): string {
  checkList(shape);
  const print = (): string => {
    const { length } = shape;
    const dims = part(shape, 0, Math.min(length, MAX_RANK)).map(printDim);
    return `[${dims.join(", ")}${length > MAX_RANK ? ", ..." : ""}]`;
  };
  return readForeign(print, "shape-mismatch", "the shape cannot be read", "shape");
}

const printDim = (dim: unknown): string =>
  typeof dim === "string" ? dim : dim === null || dim === undefined ? "?" : printValue(dim);

export function greatestCommonDivisor(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}

/** Maximum number of lists without elements, because a file of 192 bytes could otherwise ask for gigabytes of lists. */
const MAX_EMPTY_LISTS = 1e5;

/**
 * Checks the number of nested lists, on all levels, of a shape without elements.
 * @throws TensorError `too-large`
 */
export function checkListCount(shape: readonly number[]): void {
  let count = 1;
  let lists = 1;
  for (let d = 0; shape[d] > 0; d++) {
    lists *= shape[d];
    count += lists;
  }
  if (count <= MAX_EMPTY_LISTS) return;
  const sentence = `the shape ${printShape(shape)} nests more than ${MAX_EMPTY_LISTS} lists`;
  throw new TensorError("too-large", sentence, { key: "shape", limit: MAX_EMPTY_LISTS });
}
