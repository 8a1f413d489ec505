/** Facts about a value that are known before the model runs, and rules that combine two sources of facts. */

import type { TensorType } from "../../core/operators/operator.ts";
import { compatible, unifyDims, type Dim, type PartialShape } from "../../core/tensor/shape.ts";
import type { Constant } from "./model.ts";

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
  sameType(a.type, b.type) &&
  sameType(a.item ?? null, b.item ?? null) &&
  // Each tracing creates a new constant object, so constants are compared by value.
  (a.elements === null || b.elements === null
    ? a.elements === b.elements && a.constant === b.constant
    : sameDims(a.elements, b.elements));

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
  return { ...NOTHING_KNOWN, type: { dtype, shape } };
}

/** Returns true if data types and shapes are equal, or if both types are unknown. */
export function sameType(a: TensorType | null, b: TensorType | null): boolean {
  if (a === null || b === null) return a === b;
  return a.dtype === b.dtype && sameDims(a.shape, b.shape);
}

/** Returns true if all sizes and dimension names are equal, or if both ranks are unknown. */
export function sameDims(a: PartialShape, b: PartialShape): boolean {
  if (a === null || b === null) return a === b;
  return a.length === b.length && a.every((dim, axis) => dim === b[axis]);
}
