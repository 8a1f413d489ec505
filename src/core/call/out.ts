/** Checks `out`, the tensor that a result is written to. */

import { isNumericStorage, type DType } from "../tensor/dtype.ts";
import { TensorError, type ErrorContext } from "../errors.ts";
import type { Inputs } from "../operators/operator.ts";
import { printShape, sameShape } from "../tensor/shape.ts";
import { checkAlive } from "./inputs.ts";
import { Tensor, viewAsTensor } from "../tensor/tensor.ts";
import { isSame, overlaps } from "../tensor/memory.ts";

/**
 * Returns `out` as a tensor, after checking that it has the result's data type and shape, and shares no memory with an
 * input.
 * @param names the input names, in the order of the inputs
 * @param inPlace the name of the only input whose whole memory `out` may be; null if `out` must be separate from all
 *   inputs
 * @throws TensorError `dtype`, `shape-mismatch`, `overlap` or `disposed`
 */
export function checkOut(
  given: unknown,
  dtype: DType,
  shape: readonly number[],
  names: readonly { readonly name: string }[],
  inputs: Inputs<Tensor>,
  inPlace: string | null,
  who: ErrorContext,
): Tensor {
  const out = writable(given, dtype, who);
  if (out !== given) checkAlive(names, inputs, who);
  checkLike(out, dtype, shape, "out", who);
  // JavaScript cannot freeze a typed array with elements, so only lists are checked.
  if (!isNumericStorage(out.data) && Object.isFrozen(out.data) && out.size > 0) {
    throw wrongOut("must be writable, got a frozen list", who);
  }
  const memory = Tensor.memoryOf(out);
  for (let position = 0; position < inputs.length; position++) {
    const input = inputs[position];
    if (input === undefined) continue;
    const other = Tensor.memoryOf(input);
    if (!overlaps(memory, other)) continue;
    const { name } = names[position];
    if (name === inPlace && isSame(memory, other)) continue;
    throw sharedOut(name, inPlace, who);
  }
  return out;
}

/** Returns a tensor that shares the memory of `out`. */
function writable(given: unknown, dtype: DType, who: ErrorContext): Tensor {
  if (Tensor.isTensor(given) && Tensor.isAlive(given)) return given;
  const { tensor, isView } = viewAsTensor(given, who, "out");
  if (isView || tensor.size === 0) return tensor;
  throw wrongOut(`must be ${dtype}, got values that would be converted`, who);
}

/**
 * Checks that a tensor has the result's data type and shape.
 * @throws TensorError `dtype` or `shape-mismatch`
 */
export function checkLike(
  tensor: Tensor,
  dtype: DType,
  shape: readonly number[],
  input: string,
  fields: ErrorContext,
): void {
  if (tensor.dtype !== dtype) {
    const sentence = `${input} must be ${dtype}, got ${tensor.dtype}`;
    throw new TensorError("dtype", sentence, {
      ...fields,
      input,
      got: tensor.dtype,
      expected: dtype,
    });
  }
  if (sameShape(Tensor.dimsOf(tensor), shape)) return;
  const must = `${input} must have the shape of the result, ${printShape(shape)}`;
  const sentence = `${must}, got ${printShape(tensor.shape)}`;
  throw new TensorError("shape-mismatch", sentence, {
    ...fields,
    input,
    got: tensor.shape,
    expected: shape,
  });
}

/** Creates the error for an `out` that shares memory with the input `name`. */
export function sharedOut(name: string, inPlace: string | null, who: ErrorContext): TensorError {
  const rule =
    inPlace === null
      ? "the out of a gather must have separate memory"
      : name === inPlace
        ? "out must be the whole input or have separate memory"
        : `${inPlace} is the only input that can be out`;
  const sentence = `out shares memory with ${name}: ${rule}`;
  return new TensorError("overlap", sentence, { ...who, input: "out", other: name });
}

const wrongOut = (what: string, who: ErrorContext): TensorError =>
  new TensorError("dtype", `out ${what}`, { ...who, input: "out" });
