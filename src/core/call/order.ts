/** Adds advice to the errors of calls whose inputs were probably passed in the wrong order. */

import { hasCode, sentenceOf, TensorError } from "../errors.ts";
import type { Inputs } from "../operators/operator.ts";
import { rolesOf } from "../operators/signature.ts";
import { TIND } from "../operators/types.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { isList } from "../tensor/values.ts";
import type { Call } from "./call.ts";

/**
 * Returns the error of a call with the order of the inputs, if the call would pass the checks with two inputs exchanged:
 * indices and updates in a scatter, data and indices in a gather. Returns any other error unchanged.
 * @param given the inputs as the caller passed them, because lists have no data type of their own
 */
export function withOrder(
  error: unknown,
  call: Call,
  tensors: Inputs<Tensor>,
  given: Inputs<unknown>,
): unknown {
  if (!hasCode(error, "dtype", "rank", "shape-mismatch") || error.input === "out") return error;
  const { signature, operator } = call;
  const { data, indices, updates } = rolesOf(signature, tensors);
  if (data === undefined || indices === undefined) return error;
  const lists = rolesOf(signature, given);
  const other = updates ?? data;
  const fits =
    updates === undefined
      ? error.code === "dtype"
      : isList(lists.indices) || indices.dtype === data.dtype;
  const fitsIndices = TIND.types.includes(other.dtype) || isList(lists.updates);
  if (!fits || !fitsIndices) return error;
  try {
    const shapes = { data: data.shape, indices: other.shape, updates: null };
    const changed = updates === undefined ? { data: indices.shape } : { updates: indices.shape };
    operator.inferShape({ ...shapes, ...changed }, call);
  } catch {
    return error;
  }
  const order = signature.inputs.map(({ name }) => name).join(", ");
  return new TensorError(
    error.code,
    `${sentenceOf(error)}; the order of the inputs is ${order}`,
    error,
  );
}
