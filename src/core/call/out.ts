/** The checks of `out`, the tensor that a result is written to. */

import { isNumericStorage, type DType } from "../tensor/dtype.ts";
import { TensorError, type ErrorCode, type ErrorFields } from "../errors.ts";
import type { Inputs } from "../operators/operator.ts";
import { printShape, sameShape } from "../tensor/shape.ts";
import { checkAlive } from "./inputs.ts";
import { Tensor, viewAsTensor } from "../tensor/tensor.ts";

/**
 * `out` as a tensor: of the data type and shape of the result, and without memory shared with an input.
 * @param names of the inputs, in their order
 * @param inPlace the name of the only input that `out` may be (the whole input); null if none
 * @throws TensorError `dtype`, `shape-mismatch`, `overlap` or `disposed`
 */
export function checkOut(
  given: unknown,
  dtype: DType,
  shape: readonly number[],
  names: readonly { readonly name: string }[],
  inputs: Inputs<Tensor>,
  inPlace: string | null,
  who: ErrorFields,
): Tensor {
  const out = writable(given, dtype, who);
  if (out !== given) checkAlive(names, inputs, who);
  checkLike(out, dtype, shape, "out", who);
  // A typed array with elements cannot be frozen.
  if (!isNumericStorage(out.data) && Object.isFrozen(out.data) && out.size > 0) {
    throw wrongOut("dtype", "must have elements that can be written, got a frozen list", who);
  }
  const memory = Tensor.memoryOf(out);
  for (let position = 0; position < inputs.length; position++) {
    const input = inputs[position];
    if (input === undefined) continue;
    const other = Tensor.memoryOf(input);
    if (!memory.overlaps(other)) continue;
    const { name } = names[position];
    if (name === inPlace && memory.isSame(other)) continue;
    throw sharedOut(name, inPlace, who);
  }
  return out;
}

/** A tensor over the memory of `out` itself. */
function writable(given: unknown, dtype: DType, who: ErrorFields): Tensor {
  if (Tensor.isTensor(given) && Tensor.isAlive(given)) return given;
  const { tensor, isView } = viewAsTensor(given, who, "out");
  if (isView || tensor.size === 0) return tensor;
  throw wrongOut("dtype", `must be ${dtype}, got values that would be converted`, who);
}

/** @throws TensorError `dtype` or `shape-mismatch` if a tensor differs from the result */
export function checkLike(
  tensor: Tensor,
  dtype: DType,
  shape: readonly number[],
  input: string,
  fields: ErrorFields,
): void {
  if (tensor.dtype !== dtype) {
    const sentence = `${input} must be ${dtype}, got ${tensor.dtype}`;
    throw new TensorError("dtype", sentence, { ...fields, input });
  }
  if (sameShape(Tensor.dimsOf(tensor), shape)) return;
  const must = `${input} must have the shape of the result, ${printShape(shape)}`;
  const sentence = `${must}, got ${printShape(tensor.shape)}`;
  throw new TensorError("shape-mismatch", sentence, { ...fields, input, expected: shape });
}

/** The error for an `out` in the memory of the input `name`. */
export function sharedOut(name: string, inPlace: string | null, who: ErrorFields): TensorError {
  const rule =
    inPlace === null
      ? "a gather needs memory apart from its inputs"
      : name === inPlace
        ? "out must be all of it, or apart from it"
        : `of the inputs, only ${inPlace} can be out`;
  return wrongOut("overlap", `shares memory with ${name}: ${rule}`, who);
}

const wrongOut = (code: ErrorCode, what: string, who: ErrorFields): TensorError =>
  new TensorError(code, `out ${what}`, { ...who, input: "out" });
