/** The checks of `out`, the tensor that a result is written to. */

import { isNumericStorage, type DType } from "../tensor/dtype.ts";
import { TensorError, type ErrorCode, type ErrorFields } from "../errors.ts";
import type { Inputs } from "../operators/operator.ts";
import { printShape, sameShape } from "../tensor/shape.ts";
import { isSameMemory, overlaps } from "../tensor/storage.ts";
import { viewAsTensor, type Tensor } from "../tensor/tensor.ts";

/**
 * `out` as a tensor: of the data type and shape of the result, and without memory that an input has too.
 * @param names of the inputs, in their order
 * @param inPlace the name of the one input that `out` may be, all of it; null where there is none
 * @throws TensorError `dtype`, `shape-mismatch`, `overlap` or `disposed`
 */
export function checkOut(
  given: unknown,
  { dtype, shape }: { readonly dtype: DType; readonly shape: readonly number[] },
  names: readonly { readonly name: string }[],
  inputs: Inputs<Tensor>,
  inPlace: string | null,
  who: ErrorFields,
): Tensor {
  const { tensor: out, isView } = viewAsTensor(given, who, "out");
  const isCopy = !isView && out.size > 0;
  if (isCopy) {
    throw wrongOut("dtype", `must be ${dtype}, got values that would be converted`, who);
  }
  checkLike(out, dtype, shape, "out", who);
  // A typed array with elements cannot be frozen.
  if (!isNumericStorage(out.data) && Object.isFrozen(out.data) && out.size > 0) {
    throw wrongOut("dtype", "must have elements that can be written, got a frozen list", who);
  }
  for (let position = 0; position < inputs.length; position++) {
    const data = inputs[position]?.data;
    if (data === undefined || !overlaps(out.data, data)) continue;
    const { name } = names[position];
    if (name === inPlace && isSameMemory(out.data, data)) continue;
    const rule =
      inPlace === null
        ? "a gather cannot work in place"
        : name === inPlace
          ? "it may be all of it, but not a part"
          : `of the inputs it may be ${inPlace} alone`;
    throw wrongOut("overlap", `shares memory with ${name}: ${rule}`, who);
  }
  return out;
}

/** @throws TensorError `dtype` or `shape-mismatch` where a tensor is not like the result */
export function checkLike(
  { dtype: given, shape: got }: Tensor,
  dtype: DType,
  shape: readonly number[],
  input: string,
  fields: ErrorFields,
): void {
  if (given !== dtype) {
    throw new TensorError("dtype", `${input} must be ${dtype}, got ${given}`, { ...fields, input });
  }
  if (sameShape(got, shape)) return;
  const must = `${input} must have the shape of the result, ${printShape(shape)}`;
  const sentence = `${must}, got ${printShape(got)}`;
  throw new TensorError("shape-mismatch", sentence, { ...fields, input, expected: shape });
}

const wrongOut = (code: ErrorCode, what: string, who: ErrorFields): TensorError =>
  new TensorError(code, `out ${what}`, { ...who, input: "out" });
