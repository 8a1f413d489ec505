/**
 * Traces short integer lists element by element, so that a shape remains known between `Shape` and `Reshape`. An
 * element is a number, the name of a dimension, or null if unknown. Only scalars and lists are traced.
 */

import { recovering } from "../../../core/errors.ts";
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

export const clamped = (value: number | bigint): number =>
  Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(value)));

/** Returns a constant's integers. Integers beyond the safe range are clamped to it. */
export const clampedIntegers = (known: Known): readonly number[] | null =>
  integersOf(known)?.map(clamped) ?? null;

const integersOf = ({ constant }: Known): readonly (number | bigint)[] | null =>
  constant?.dtype && isFollowed(constant.dtype) ? valuesOf(constant) : null;

/** Returns the floats of a constant scalar or list, such as a Resize's scales; null if unknown. */
export const floatsOf = ({ constant }: Known): readonly number[] | null =>
  constant?.dtype === "float32" ? (valuesOf(constant)?.map(Number) ?? null) : null;

/** Returns the elements of a constant scalar or list; null for a higher rank, and for an unreadable constant. */
function valuesOf(constant: Constant): readonly (number | bigint)[] | null {
  const { shape } = constant;
  if (shape.length > 1 || product(shape) > MAX_ELEMENTS) return null;
  // An unreadable constant is reported later, when its values are needed.
  const read = () => Array.from(readConstant(constant).data as Iterable<number | bigint>);
  return recovering(read, () => null);
}
