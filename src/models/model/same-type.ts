/** Whether two types are equal. Writers keep what a file says of a type as long as it still says the same. */

import type { TensorType } from "../../core/operators/operator.ts";
import type { PartialShape } from "../../core/tensor/shape.ts";

/** Equal data types and equal shapes; two unknown types are equal. */
export function sameType(a: TensorType | null, b: TensorType | null): boolean {
  if (a === null || b === null) return a === b;
  return a.dtype === b.dtype && sameDims(a.shape, b.shape);
}

/** Equal dimension by dimension, names included; two unknown ranks are equal. */
export function sameDims(a: PartialShape, b: PartialShape): boolean {
  if (a === null || b === null) return a === b;
  return a.length === b.length && a.every((dim, axis) => dim === b[axis]);
}
