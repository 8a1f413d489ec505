/** The inputs of a call: as many as the version takes, each a tensor. */

import { printValue, TensorError, type ErrorFields } from "../errors.ts";
import type { Inputs } from "../operators/operator.ts";
import { asTensor, fromNested, type Tensor } from "../tensor/tensor.ts";
import { isList } from "../tensor/values.ts";
import type { Call } from "./call.ts";

/** The inputs of a call as tensors; `undefined` for one that is left out. */
export function tensorsOf(call: Call, inputs: unknown): Inputs<Tensor> {
  const given = checkInputCount(call, inputs);
  return call.version.inputs.map(({ name }, position) =>
    given[position] === undefined ? undefined : asTensor(given[position], call.fields, name),
  );
}

/** A tensor, or a nested list as one of `dtype`. */
export const listOrTensor = (
  dtype: Tensor["dtype"],
  value: unknown,
  who: ErrorFields,
  input: string,
): Tensor =>
  isList(value) || typeof value !== "object"
    ? fromNested(dtype, value, { ...who, input })
    : asTensor(value, who, input);

/** The list of inputs, of which optional ones at the end may be missing. */
export function checkInputCount({ version, fields }: Call, inputs: unknown): readonly unknown[] {
  const most = version.inputs.length;
  const least = version.inputs.filter(({ optional }) => optional !== true).length;
  const isList = Array.isArray(inputs);
  const got = isList ? inputs.length : undefined;
  if (isList && inputs.length >= least && inputs.length <= most) {
    const missing = version.inputs.findIndex(
      ({ optional }, position) => optional !== true && inputs[position] === undefined,
    );
    if (missing === -1) return inputs;
    const input = version.inputs[missing].name;
    throw new TensorError("shape-mismatch", `${input} is left out, but may not be`, {
      ...fields,
      input,
    });
  }
  const names = version.inputs.map(({ name, optional }) => (optional === true ? `${name}?` : name));
  const many = least === most ? `${most}` : `${least} to ${most}`;
  throw new TensorError(
    "shape-mismatch",
    `there must be a list of ${many} inputs (${names.join(", ")}), got ${got ?? printValue(inputs)}`,
    { ...fields, got },
  );
}
