/** Stacks tensors along a new axis, as Loop and Scan do with the outputs of all iterations. */

import { malformed } from "../../core/errors.ts";
import { isNumericStorage } from "../../core/tensor/dtype.ts";
import { printShape, sameShape } from "../../core/tensor/shape.ts";
import { zeros, type Tensor } from "../../core/tensor/tensor.ts";

/** Stacks one or more tensors along a new axis. Throws `malformed-file` for tensors of different shapes. */
export function stack(slices: readonly Tensor[], axis: number, what: string): Tensor {
  const [first] = slices;
  const { dtype, shape } = first;
  const odd = slices.find((one) => !sameShape(one.shape, shape));
  if (odd !== undefined)
    throw malformed(
      `${what} must have the same shape in all iterations, got ${printShape(shape)} and ${printShape(odd.shape)}`,
    );
  const result = zeros(dtype, shape.toSpliced(axis, 0, slices.length));
  if (result.size === 0) return result;
  const count = shape.slice(0, axis).reduce((a, b) => a * b, 1);
  const length = first.data.length / count;
  const to = result.data;
  for (const [nth, { data }] of slices.entries()) {
    for (let row = 0; row < count; row++) {
      const at = (row * slices.length + nth) * length;
      if (isNumericStorage(to)) {
        to.set((data as typeof to).subarray(row * length, (row + 1) * length) as never, at);
      } else {
        for (let k = 0; k < length; k++) (to as unknown[])[at + k] = data[row * length + k];
      }
    }
  }
  return result;
}
