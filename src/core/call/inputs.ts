/** The inputs of a call: as many as the version takes, each a tensor. */

import { isArray, printValue, readForeign, TensorError, type ErrorFields } from "../errors.ts";
import type { Inputs, OperatorVersion } from "../operators/operator.ts";
import { asTensor, fromNested, Tensor } from "../tensor/tensor.ts";
import { isList, numbersOf } from "../tensor/values.ts";
import type { Call } from "./call.ts";

/** The inputs of a node as tensors; `undefined` for one that is left out. */
export function tensorsOf(call: Call, inputs: unknown): Inputs<Tensor> {
  const given = checkInputCount(call, readInputs(call.version, inputs, call.fields));
  const tensors = call.version.inputs.map(({ name }, position) =>
    given[position] === undefined ? undefined : asTensor(given[position], call.fields, name),
  );
  checkAlive(call.signature.inputs, tensors, call.fields);
  return tensors;
}

/**
 * The inputs of a plain function, which takes nested lists of indices, read as int32 where they fit and else as int64, and of
 * updates, of data's type.
 */
export function tensorsOrLists(
  { signature, fields }: Call,
  inputs: Inputs<unknown>,
): Inputs<Tensor> {
  const rules = signature.inputs;
  // The first input is data, which is never optional.
  const data = asTensor(inputs[0], fields, rules[0].name);
  const tensors: (Tensor | undefined)[] = [data];
  let isForeign = data !== inputs[0];
  for (let position = 1; position < rules.length; position++) {
    const { name, role, isOptional } = rules[position];
    const given = inputs[position];
    const isLeftOut = given === undefined && isOptional;
    const tensor = isLeftOut
      ? undefined
      : role === "indices"
        ? ((isArray(given) ? typedNumbers("int32", given) : null) ??
          listOrTensor("int64", given, fields, name))
        : listOrTensor(data.dtype, given, fields, name);
    isForeign ||= tensor !== given;
    tensors[position] = tensor;
  }
  if (isForeign) checkAlive(rules, tensors, fields);
  return tensors;
}

/**
 * Checks the memory of inputs again after reading values that are not tensors of this package, because their getters
 * can dispose of other inputs.
 * @param names of the inputs, in their order
 * @throws TensorError `disposed`
 */
export function checkAlive(
  names: readonly { readonly name: string }[],
  tensors: Inputs<Tensor>,
  fields: ErrorFields,
): void {
  for (const [position, tensor] of tensors.entries()) {
    if (tensor !== undefined) asTensor(tensor, fields, names[position].name);
  }
}

/** A tensor, or a nested list as one of `dtype`. */
export function listOrTensor(
  dtype: Tensor["dtype"],
  value: unknown,
  who: ErrorFields,
  input: string,
): Tensor {
  if (Tensor.isTensor(value) || (typeof value === "object" && !isList(value))) {
    return asTensor(value, who, input);
  }
  return typedNumbers(dtype, value) ?? fromNested(dtype, value, { ...who, input });
}

/** A short list of usual numbers as a tensor; null for every other list. */
function typedNumbers(dtype: Tensor["dtype"], value: unknown): Tensor | null {
  if (dtype !== "int32" && dtype !== "float32" && dtype !== "float64") return null;
  const numbers = numbersOf(dtype, value);
  return numbers && new Tensor(dtype, numbers.shape, numbers.size, numbers.data);
}

/** A list of inputs from outside the package. */
export interface GivenInputs {
  /** The length that the list reports; undefined if the value is not a list. */
  readonly count: number | undefined;
  /** The entries, at most as many as the version takes. */
  readonly given: readonly unknown[];
  /** The value as printed in errors; for values that are not lists. */
  readonly kind: string;
}

/**
 * The length and the entries of a list, each read once: a Proxy may hold others, and more, the next time.
 * @throws TensorError `shape-mismatch` for a list that cannot be read
 */
export function readInputs(
  { inputs: { length: most } }: OperatorVersion,
  inputs: unknown,
  fields: ErrorFields,
): GivenInputs {
  if (!isArray(inputs)) return { count: undefined, given: [], kind: printValue(inputs) };
  const read = (): GivenInputs => {
    const count = Number(inputs.length);
    const length = Math.min(count, most);
    return { count, given: Array.from({ length }, (_, p) => inputs[p]), kind: "a list" };
  };
  return readForeign(read, "shape-mismatch", "the list of inputs cannot be read", fields);
}

/** The inputs, of which optional ones at the end may be missing. */
export function checkInputCount(
  { version, fields }: Call,
  { count, given, kind }: GivenInputs,
): readonly unknown[] {
  const most = version.inputs.length;
  const least = version.inputs.filter(({ optional }) => optional !== true).length;
  if (count !== undefined && count >= least && count <= most) {
    const missing = version.inputs.findIndex(
      ({ optional }, position) => optional !== true && given[position] === undefined,
    );
    if (missing === -1) return given;
    const input = version.inputs[missing].name;
    const sentence = `${input} must be given, got nothing`;
    throw new TensorError("shape-mismatch", sentence, { ...fields, input });
  }
  const names = version.inputs.map(({ name, optional }) => (optional === true ? `${name}?` : name));
  const many = least === most ? `${most}` : `${least} to ${most}`;
  const got = count ?? kind;
  throw new TensorError(
    "shape-mismatch",
    `inputs must be a list of ${many} (${names.join(", ")}), got ${got}`,
    { ...fields, got: count },
  );
}
