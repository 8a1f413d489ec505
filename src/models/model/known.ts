/** Facts about a value that are known before the model runs, and rules that combine two sources of facts. */

import { recovering } from "../../core/errors.ts";
import type { TensorType } from "../../core/operators/operator.ts";
import { DTYPES, integerRange, type DType } from "../../core/tensor/dtype.ts";
import {
  compatible,
  product,
  unifyDims,
  type Dim,
  type PartialShape,
} from "../../core/tensor/shape.ts";
import { tensor, type Tensor } from "../../core/tensor/tensor.ts";
import { readConstant, type Constant } from "./model.ts";

export interface Known {
  readonly type: TensorType | null;
  /** The value as a constant, whose elements are read on demand. */
  readonly constant: Constant | null;
  /**
   * The elements of an integer scalar or list that a rule has traced. An element is a number, the name of a dimension,
   * or null if unknown. If all elements are numbers, the value is a constant as well.
   */
  readonly elements: readonly Dim[] | null;
  /** The type of the tensors in a sequence or an optional, if known. */
  readonly item?: TensorType | null;
}

/** The facts about an entirely unknown value. */
export const NOTHING_KNOWN: Known = { type: null, constant: null, elements: null };

export const typeOnly = (type: TensorType): Known => ({ type, constant: null, elements: null });

/** Returns the facts about a constant. The type is missing if this package lacks the data type. */
export function knownConstant(constant: Constant): Known {
  const { dtype, shape } = constant;
  return { type: dtype && { dtype, shape }, constant, elements: null };
}

/**
 * Adds a declared type to known facts, unless it contradicts the facts. If the declaration adds nothing, `known` itself
 * is returned.
 */
export function withDeclared(known: Known, declared: TensorType | null): Known {
  if (declared === null) return known;
  const { type } = known;
  const both = type === null ? declared : (unifyTypes(type, declared) ?? type);
  const completed = { ...known, type: both };
  return sameKnown(completed, known) ? known : completed;
}

export const sameKnown = (a: Known, b: Known): boolean =>
  a === b ||
  (sameType(a.type, b.type) &&
    sameType(a.item ?? null, b.item ?? null) &&
    // Each tracing creates a new constant object, so constants are compared by value.
    (a.elements === null || b.elements === null
      ? a.elements === b.elements && a.constant === b.constant
      : sameDims(a.elements, b.elements)));

/** Returns the type that agrees with both types; null if they contradict each other. */
export function unifyTypes(a: TensorType, b: TensorType): TensorType | null {
  const { dtype } = a;
  if (dtype !== b.dtype) return null;
  if (a.shape === null || b.shape === null) return { dtype, shape: a.shape ?? b.shape };
  const { shape } = b;
  if (!compatible(a.shape, shape)) return null;
  return { dtype, shape: a.shape.map((dim, axis) => unifyDims(dim, shape[axis])) };
}

/** Returns the facts that hold for both values. */
export function eitherKnown(a: Known, b: Known): Known {
  if (sameKnown(a, b)) return a;
  const [one, other] = [a.type, b.type];
  if (one === null || other === null || one.dtype !== other.dtype) return NOTHING_KNOWN;
  const { dtype } = one;
  const isRanked = one.shape !== null && one.shape.length === other.shape?.length;
  const shape = isRanked
    ? one.shape.map((dim, axis) => (dim === other.shape?.[axis] ? dim : null))
    : null;
  return typeOnly({ dtype, shape });
}

/** Returns true if data types and shapes are equal, or if both types are unknown. */
export function sameType(a: TensorType | null, b: TensorType | null): boolean {
  if (a === null || b === null) return a === b;
  return a.dtype === b.dtype && sameDims(a.shape, b.shape);
}

/** Returns true if all sizes and dimension names are equal, or if both ranks are unknown. */
export function sameDims(a: PartialShape, b: PartialShape): boolean {
  if (a === null || b === null || a === b) return a === b;
  return a.length === b.length && a.every((dim, axis) => dim === b[axis]);
}

// Short integer lists are traced element by element, so that a shape remains known between `Shape` and `Reshape`. Only
// scalars and lists are traced.

/** The maximum number of traced elements, because shapes have at most 64 dimensions. */
export const MAX_ELEMENTS = 64;

/** Returns true for traced data types: integers, and booleans, which count as 0 and 1. */
const isFollowed = (dtype: DType): boolean => FOLLOWED.has(DTYPES[dtype].family);

const FOLLOWED: ReadonlySet<string> = new Set(["int", "int64", "bool"]);

/**
 * Returns a scalar or list with partly known elements. A number that the data type cannot represent becomes unknown. If
 * all elements are numbers, the value is a constant.
 */
export function knownElements(dtype: DType, rank: number, elements: readonly Dim[]): Known {
  const shape = rank === 0 ? [] : [elements.length];
  const type = { dtype, shape };
  if (elements.length > MAX_ELEMENTS || !isFollowed(dtype)) return typeOnly(type);
  const [low, high] = integerRange(dtype)?.map(Number) ?? [0, 1];
  const holds = (one: number): boolean => Number.isSafeInteger(one) && one >= low && one <= high;
  const held = elements.map((one) => (typeof one === "number" && !holds(one) ? null : one));
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
