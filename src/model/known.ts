/** A value as far as it is known before the model runs, and how two sources of knowledge make one. */

import type { TensorType } from "../operators/operator.ts";
import { compatible, unifyDims } from "../tensor/shape.ts";
import type { Constant } from "./model.ts";
import { sameType } from "./same-type.ts";

export interface Known {
  readonly type: TensorType | null;
  /** Read only when its values are needed. */
  readonly constant: Constant | null;
}

/** A value of which nothing is known. */
export const NOTHING_KNOWN: Known = { type: null, constant: null };

/** A constant; one of a data type that is not known here has no type. */
export function knownConstant(constant: Constant): Known {
  const { dtype, shape } = constant;
  return { type: dtype && { dtype, shape }, constant };
}

/**
 * What is known, completed by a declared type. A declaration that contradicts what is known is ignored.
 * @returns `known` itself where the declaration adds nothing
 */
export function withDeclared(known: Known, declared: TensorType | null): Known {
  if (declared === null) return known;
  const { type, constant } = known;
  const both = type === null ? declared : (unifyTypes(type, declared) ?? type);
  const completed = { type: both, constant };
  return sameKnown(completed, known) ? known : completed;
}

export const sameKnown = (a: Known, b: Known): boolean =>
  a.constant === b.constant && sameType(a.type, b.type);

/** A type that is both `a` and `b`, or null where they contradict each other. */
export function unifyTypes(a: TensorType, b: TensorType): TensorType | null {
  const { dtype } = a;
  if (dtype !== b.dtype) return null;
  if (a.shape === null || b.shape === null) return { dtype, shape: a.shape ?? b.shape };
  const { shape } = b;
  if (!compatible(a.shape, shape)) return null;
  return { dtype, shape: a.shape.map((dim, axis) => unifyDims(dim, shape[axis])) };
}
