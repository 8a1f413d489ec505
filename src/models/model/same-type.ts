/** Compares types. Writers keep a file's type description if the type has not changed. */

import type { TensorType } from "../../core/operators/operator.ts";
import type { PartialShape } from "../../core/tensor/shape.ts";

/** Returns true for equal data types and shapes; two unknown types are equal. */
export function sameType(a: TensorType | null, b: TensorType | null): boolean {
  if (a === null || b === null) return a === b;
  return a.dtype === b.dtype && sameDims(a.shape, b.shape);
}

/** Returns true if all dimensions are equal, including names; two unknown ranks are equal. */
export function sameDims(a: PartialShape, b: PartialShape): boolean {
  if (a === null || b === null) return a === b;
  return a.length === b.length && a.every((dim, axis) => dim === b[axis]);
}
