/** Adds advice to the errors of calls whose inputs were probably passed in the wrong order. */

import { hasCode, sentenceOf, TensorError } from "../errors.ts";
import type { Inputs } from "../operators/operator.ts";
import { rolesOf } from "../operators/signature.ts";
import { TIND } from "../operators/types.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { isList } from "../tensor/storage.ts";
import type { Call } from "./call.ts";

/**
 * Returns the error of a scatter with the order of its inputs, if indices and updates would pass the checks in each
 * other's place. Returns any other error unchanged.
 * @param given the inputs as the caller passed them, because lists have no data type of their own
 */
export function withOrder(
  error: unknown,
  { signature, operator, ...call }: Call,
  tensors: Inputs<Tensor>,
  given: Inputs<unknown>,
): unknown {
  const { data, indices, updates } = rolesOf(signature, tensors);
  if (!hasCode(error, "dtype", "rank", "shape-mismatch") || !data || !indices || !updates) {
    return error;
  }
  const lists = rolesOf(signature, given);
  const fits =
    (isList(lists.indices) || indices.dtype === data.dtype) &&
    (isList(lists.updates) || TIND.types.includes(updates.dtype));
  if (!fits || error.input === "out") return error;
  try {
    const shapes = { data: data.shape, indices: updates.shape, updates: indices.shape };
    operator.inferShape(shapes, call);
  } catch {
    return error;
  }
  const order = signature.inputs.map(({ name }) => name).join(", ");
  const sentence = `${sentenceOf(error)}; the order of the inputs is ${order}`;
  return new TensorError(error.code, sentence, error);
}
