/** Compares types. Writers keep a file's type description if the type is unchanged. */

import type { TensorType } from "../../core/operators/operator.ts";
import type { PartialShape } from "../../core/tensor/shape.ts";

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
