/** The inputs of a call: as many as the version takes, each a tensor. */

import { printValue, TensorError, type ErrorFields } from "../errors.ts";
import { roleOf, type Inputs } from "../operators/operator.ts";
import { asTensor, fromNested, type Tensor } from "../tensor/tensor.ts";
import { isList } from "../tensor/values.ts";
import type { Call } from "./call.ts";

/** The inputs of a node as tensors; `undefined` for one that is left out. */
export function tensorsOf(call: Call, inputs: unknown): Inputs<Tensor> {
  const given = checkInputCount(call, inputs);
  return call.version.inputs.map(({ name }, position) =>
    given[position] === undefined ? undefined : asTensor(given[position], call.fields, name),
  );
}

/** The inputs of a plain function, which takes nested lists of indices, read as int64, and of updates, of data's type. */
export function tensorsOrLists({ version, fields }: Call, inputs: Inputs<unknown>): Inputs<Tensor> {
  let data: Tensor | undefined;
  return version.inputs.map((schema, position) => {
    const { name, optional } = schema;
    const given = inputs[position];
    if (given === undefined && optional === true) return undefined;
    if (data === undefined) return (data = asTensor(given, fields, name));
    const dtype = roleOf(schema) === "indices" ? "int64" : data.dtype;
    return listOrTensor(dtype, given, fields, name);
  });
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
  const count = Array.isArray(inputs) ? Number(inputs.length) : undefined;
  if (count !== undefined && count >= least && count <= most) {
    // A copy of as many as were counted, because a Proxy may hold others, and more, the next time.
    const given = Array.from({ length: count }, (_, p): unknown => Reflect.get(Object(inputs), p));
    const missing = version.inputs.findIndex(
      ({ optional }, position) => optional !== true && given[position] === undefined,
    );
    if (missing === -1) return given;
    const input = version.inputs[missing].name;
    const sentence = `${input} is left out, but may not be`;
    throw new TensorError("shape-mismatch", sentence, { ...fields, input });
  }
  const names = version.inputs.map(({ name, optional }) => (optional === true ? `${name}?` : name));
  const many = least === most ? `${most}` : `${least} to ${most}`;
  const got = count ?? printValue(inputs);
  throw new TensorError(
    "shape-mismatch",
    `there must be a list of ${many} inputs (${names.join(", ")}), got ${got}`,
    { ...fields, got: count },
  );
}
