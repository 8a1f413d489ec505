/** Checks the inputs of a call: their number, and that each is a tensor or can become one. */

import { isArray, printValue, readForeign } from "../foreign.ts";
import { TensorError, type ErrorContext } from "../errors.ts";
import type { Inputs, OperatorCall, OperatorVersion } from "../operators/operator.ts";
import { asTensor, fromNested, Tensor } from "../tensor/tensor.ts";
import { numbersOf } from "../tensor/values.ts";
import { checkNotBytes, isUint8Array, wrongBytes } from "../tensor/bytes.ts";
import { isList } from "../tensor/storage.ts";
import type { Call } from "./call.ts";

/** Returns the inputs of a node as tensors; `undefined` for omitted optional inputs. */
export function tensorsOf(call: Call, inputs: unknown): Inputs<Tensor> {
  const given = checkInputCount(call, readInputs(call.version, inputs, call.fields));
  const tensors = call.version.inputs.map(({ name }, position) =>
    given[position] === undefined ? undefined : asTensor(given[position], call.fields, name),
  );
  checkAlive(call.signature.inputs, tensors, call.fields);
  return tensors;
}

/**
 * Returns the inputs of a plain function as tensors. A nested list of indices becomes int32 if its numbers fit, and
 * int64 otherwise; a nested list of updates gets data's type.
 */
export function tensorsOrLists(call: Call, inputs: Inputs<unknown>): Inputs<Tensor> {
  const { signature, fields } = call;
  const rules = signature.inputs;
  // The first input is always data, which is required.
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
        ? indexTensor(given, Tensor.dimsOf(data), call, name)
        : listOrTensor(data.dtype, given, fields, name);
    isForeign ||= tensor !== given;
    tensors[position] = tensor;
  }
  if (isForeign) checkAlive(rules, tensors, fields);
  return tensors;
}

function indexTensor(
  given: unknown,
  data: readonly number[],
  call: OperatorCall,
  input: string,
): Tensor {
  if (isArray(given)) {
    const tensor = typedNumbers("int32", given);
    if (tensor !== null) return tensor;
  } else if (!Tensor.isTensor(given)) {
    checkIndexBytes(given, data, call, input);
  }
  return listOrTensor("int64", given, call.fields, input);
}

/**
 * Checks that indices are not the bytes of wider indices. A Uint8Array can address at most 256 positions, so on a longer
 * axis it most likely holds the bytes of an Int32Array.
 * @throws TensorError `dtype`
 */
export function checkIndexBytes(
  given: unknown,
  data: readonly number[],
  { settings, fields }: OperatorCall,
  input: string,
): void {
  const size = data.at(settings.axis ?? 0) ?? 0;
  const who = { ...fields, input };
  if (size > 256 && isUint8Array(given)) throw wrongBytes(given, "int32", who);
  checkNotBytes(given, "int32", 0, who);
}

/**
 * Checks the memory of all inputs again after values that are not tensors of this package were read, because their
 * getters can dispose of other inputs.
 * @param names the input names, in the order of the inputs
 * @throws TensorError `disposed`
 */
export function checkAlive(
  names: readonly { readonly name: string }[],
  tensors: Inputs<Tensor>,
  fields: ErrorContext,
): void {
  for (const [position, tensor] of tensors.entries()) {
    if (tensor !== undefined) asTensor(tensor, fields, names[position].name);
  }
}

/** Returns a tensor unchanged; converts a nested list to a tensor of `dtype`. */
export function listOrTensor(
  dtype: Tensor["dtype"],
  value: unknown,
  who: ErrorContext,
  input: string,
): Tensor {
  if (
    Tensor.isTensor(value) ||
    value === undefined ||
    (typeof value === "object" && !isList(value))
  ) {
    return asTensor(value, who, input);
  }
  return typedNumbers(dtype, value) ?? fromNested(dtype, value, { ...who, input });
}

/** Converts a short list of ordinary numbers to a tensor; returns null for any other value. */
function typedNumbers(dtype: Tensor["dtype"], value: unknown): Tensor | null {
  if (dtype !== "int32" && dtype !== "float32" && dtype !== "float64") return null;
  const numbers = numbersOf(dtype, value);
  return numbers && new Tensor(dtype, numbers.shape, numbers.size, numbers.data);
}

/** A list of inputs that the caller of the package passed. */
export interface GivenInputs {
  /** Length that the list reports; undefined if the value is not a list. */
  readonly count: number | undefined;
  /** Entries of the list, at most as many as the version has inputs. */
  readonly given: readonly unknown[];
  /** Text for error messages: `a list`, or the printed value if it is not a list. */
  readonly kind: string;
}

/**
 * Reads the length and the entries of a list, each once, because a Proxy may return a different length or entry the
 * next time.
 * @throws TensorError `shape-mismatch` for a list that cannot be read
 */
export function readInputs(
  { inputs: { length: most } }: OperatorVersion,
  inputs: unknown,
  fields: ErrorContext,
): GivenInputs {
  if (!isArray(inputs)) {
    const kind = Tensor.isTensor(inputs) ? "a tensor" : printValue(inputs);
    return { count: undefined, given: [], kind };
  }
  const read = (): GivenInputs => {
    const count = Number(inputs.length);
    const length = Math.min(count, most);
    const given: unknown[] = [];
    // `Array.from` takes half as long as a small call.
    for (let p = 0; p < length; p++) given.push(inputs[p]);
    return { count, given, kind: "a list" };
  };
  return readForeign(read, "shape-mismatch", "the list of inputs cannot be read", "inputs", fields);
}

/** Checks the number of inputs; optional inputs at the end may be omitted. */
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
  const got = count === undefined ? kind : `a list of ${count}`;
  throw new TensorError(
    "shape-mismatch",
    `inputs must be one list, [${names.join(", ")}], got ${got}`,
    {
      ...fields,
      key: "inputs",
      got: count ?? kind,
      expected: [least, most],
    },
  );
}
