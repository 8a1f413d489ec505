/**
 * Traces short integer lists element by element, so that a shape remains known between `Shape` and `Reshape`. An
 * element is a number, the name of a dimension, or null if unknown. Only scalars and lists are traced.
 */

import { isTensorError } from "../../../core/errors.ts";
import { DTYPES, integerRange, type DType } from "../../../core/tensor/dtype.ts";
import { product, type Dim } from "../../../core/tensor/shape.ts";
import { tensor, type Tensor } from "../../../core/tensor/tensor.ts";
import { NOTHING_KNOWN, type Known } from "../known.ts";
import { readConstant, type Constant } from "../model.ts";

/** The maximum number of traced elements, because shapes have at most 64 dimensions. */
export const MAX_ELEMENTS = 64;

/** Returns true for traced data types: integers, and booleans, which count as 0 and 1. */
const isFollowed = (dtype: DType): boolean =>
  integerRange(dtype) !== null || DTYPES[dtype].family === "bool";

/** Returns true if a data type can represent the number. */
function holds(dtype: DType, value: number): boolean {
  const [low, high] = integerRange(dtype) ?? [0n, 1n];
  return Number.isSafeInteger(value) && value >= low && value <= high;
}

/**
 * Returns a scalar or list with partly known elements. A number that the data type cannot represent becomes unknown. If
 * all elements are numbers, the value is a constant.
 */
export function knownElements(
  dtype: DType | null,
  rank: number,
  elements: readonly Dim[] | null,
): Known {
  if (dtype === null) return NOTHING_KNOWN;
  if (elements === null) return { type: { dtype, shape: null }, constant: null, elements };
  const shape = rank === 0 ? [] : [elements.length];
  const type = { dtype, shape };
  if (elements.length > MAX_ELEMENTS || !isFollowed(dtype))
    return { type, constant: null, elements: null };
  const held = elements.map((one) => (typeof one === "number" && !holds(dtype, one) ? null : one));
  if (!held.every((one) => typeof one === "number"))
    return { type, constant: null, elements: held.every((one) => one === null) ? null : held };
  const read = (): Tensor => tensor(dtype, shape, held);
  return { type, constant: { name: "", dtype, shape, read }, elements: held };
}

/** Returns a value's elements, which may be read from its constant; null if the elements are not traced. */
export function elementsOf(known: Known): readonly Dim[] | null {
  if (known.elements !== null) return known.elements;
  const values = integersOf(known);
  return values?.map((one) => (Number.isSafeInteger(Number(one)) ? Number(one) : null)) ?? null;
}

/** Returns a constant's integers. Integers beyond the safe range are clamped to it. */
export function clampedIntegers(known: Known): readonly number[] | null {
  const low = Number.MIN_SAFE_INTEGER;
  const high = Number.MAX_SAFE_INTEGER;
  return integersOf(known)?.map((one) => Math.max(low, Math.min(high, Number(one)))) ?? null;
}

const integersOf = ({ constant }: Known): readonly (number | bigint)[] | null =>
  constant?.dtype && isFollowed(constant.dtype) ? valuesOf(constant) : null;

/** Returns the floats of a constant scalar or list, such as a Resize's scales; null if unknown. */
export const floatsOf = ({ constant }: Known): readonly number[] | null =>
  constant?.dtype === "float32" ? (valuesOf(constant)?.map(Number) ?? null) : null;

/** Returns the elements of a constant scalar or list; null for a higher rank, and for an unreadable constant. */
function valuesOf(constant: Constant): readonly (number | bigint)[] | null {
  const { shape } = constant;
  if (shape.length > 1 || product(shape) > MAX_ELEMENTS) return null;
  try {
    return Array.from(readConstant(constant).data as Iterable<number | bigint>);
  } catch (error) {
    // An unreadable constant is reported later, when its values are needed.
    if (isTensorError(error)) return null;
    throw error;
  }
}

/**
 * Computes an integer from two or more integers, with null for an uncertain result. Dimension names stand for sizes,
 * which are never negative.
 */
export type Fold = (...elements: readonly Dim[]) => Dim;

const broadcastElement = (list: readonly Dim[] | null, position: number): Dim =>
  list === null ? null : list.length === 1 ? list[0] : (list[position] ?? null);

/** Applies a function to the elements of broadcast values. The longest value has `count` elements. */
export function foldElements(
  lists: readonly (readonly Dim[] | null)[],
  count: number,
  fold: Fold,
): readonly Dim[] | null {
  if (count > MAX_ELEMENTS) return null;
  return Array.from({ length: count }, (_, position) =>
    fold(...lists.map((list) => broadcastElement(list, position))),
  );
}

type Numbers = (a: number, b: number) => number | boolean;

const ofNumbers =
  (compute: Numbers): Fold =>
  (a, b) => {
    if (typeof a !== "number" || typeof b !== "number") return null;
    const result = Number(compute(a, b));
    return Number.isSafeInteger(result) ? result + 0 : null;
  };

const add = ofNumbers((a, b) => a + b);
const multiply = ofNumbers((a, b) => a * b);
const equal = ofNumbers((a, b) => a === b);
/** Divides two numbers. Inexact negative quotients are unknown, because specifications disagree about the rounding. */
const divide = ofNumbers((a, b) =>
  b !== 0 && (a % b === 0 || (a >= 0 && b > 0)) ? Math.trunc(a / b) : Number.NaN,
);

const isNegative = (one: Dim): boolean => typeof one === "number" && one < 0;

const reduceWith =
  (fold: (a: Dim, b: Dim) => Dim): Fold =>
  (first, ...others) =>
    others.reduce(fold, first);

export const FOLDS: Readonly<Record<string, Fold>> = {
  Add: (a, b) => (a === 0 ? b : b === 0 ? a : add(a, b)),
  Sub: (a, b) => (b === 0 ? a : ofNumbers((x, y) => x - y)(a, b)),
  Mul: (a, b) => (a === 1 ? b : b === 1 ? a : multiply(a, b)),
  Div: (a, b) => (b === 1 ? a : divide(a, b)),
  Mod: ofNumbers((a, b) => (a >= 0 && b > 0 ? a % b : Number.NaN)),
  Neg: (a) => (typeof a === "number" ? 0 - a : null),
  Abs: (a) => (typeof a === "number" ? Math.abs(a) : a),
  Max: reduceWith((a, b) => (a !== null && a === b ? a : ofNumbers(Math.max)(a, b))),
  Min: reduceWith((a, b) => (a !== null && a === b ? a : ofNumbers(Math.min)(a, b))),
  Equal(a, b) {
    if (a !== null && a === b) return 1;
    const isSize = typeof a === "string" || typeof b === "string";
    return isSize && (isNegative(a) || isNegative(b)) ? 0 : equal(a, b);
  },
  Greater: ofNumbers((a, b) => a > b),
  GreaterOrEqual: ofNumbers((a, b) => a >= b),
  Less: ofNumbers((a, b) => a < b),
  LessOrEqual: ofNumbers((a, b) => a <= b),
  And: (a, b) => (a === 0 || b === 0 ? 0 : multiply(a, b)),
  Or: (a, b) => (a === 1 || b === 1 ? 1 : ofNumbers(Math.max)(a, b)),
  Xor: ofNumbers((a, b) => a !== b),
  Not: (a) => (typeof a === "number" ? 1 - a : null),
  Where: (condition, a, b) =>
    condition === 1 ? a : condition === 0 ? b : a !== null && a === b ? a : null,
};
