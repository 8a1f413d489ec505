/**
 * Checks the tensors of a call: the number of inputs, that each is a tensor or can become one, and `out`, the tensor
 * that the result is written to.
 */

import { hasCode, sentenceOf, TensorError, type ErrorContext } from "../errors.ts";
import { isArray, printValue, readForeign } from "../foreign.ts";
import type { Inputs, OperatorCall } from "../operators/operator.ts";
import { rolesOf, type InputRule } from "../operators/signature.ts";
import { TIND } from "../operators/schemas.ts";
import { checkNotBytes, wrongBytes, numbersOf } from "../tensor/values.ts";
import { isUint8Array, isList } from "../tensor/storage.ts";
import { isNumericStorage, type DType } from "../tensor/dtype.ts";
import { isSame, overlaps } from "../tensor/memory.ts";
import { printShape, sameShape } from "../tensor/shape.ts";
import { asTensor, fromNested, Tensor, viewAsTensor } from "../tensor/tensor.ts";
import type { Call, PlainCall } from "./call.ts";

/** Returns a list of inputs from outside the package as tensors; `undefined` for omitted optional inputs. */
export function tensorsOf(call: Call | PlainCall, inputs: unknown): Inputs<Tensor> {
  const given = checkInputCount(call, readInputs(call.signature, inputs, call.fields));
  return tensorsBy(call, given, "forms" in call);
}

/**
 * Returns inputs as tensors.
 * @param takesLists true for the inputs of a plain function: a nested list of indices becomes int32 if its numbers fit,
 *   and int64 otherwise, and a nested list of updates gets data's type
 */
export function tensorsBy(
  call: Call,
  inputs: Inputs<unknown>,
  takesLists: boolean,
): Inputs<Tensor> {
  const rules = call.signature.inputs;
  const tensors: (Tensor | undefined)[] = [];
  let isForeign = false;
  for (let position = 0; position < rules.length; position++) {
    const given = inputs[position];
    // Most inputs are tensors of this package.
    if (Tensor.isTensor(given) && Tensor.isAlive(given)) {
      tensors.push(given);
      continue;
    }
    const rule = rules[position];
    const isOmitted = given === undefined && rule.isOptional;
    // The first input is always data, which is never a list.
    const data = takesLists ? tensors[0] : undefined;
    const tensor = isOmitted ? undefined : tensorFrom(given, rule, call, data);
    isForeign ||= tensor !== given;
    tensors.push(tensor);
  }
  if (isForeign) checkAlive(rules, tensors, call.fields);
  return tensors;
}

/** @param data the tensor whose data type lists of updates get; undefined if lists are not accepted */
function tensorFrom(
  given: unknown,
  { name, role }: InputRule,
  call: Call,
  data: Tensor | undefined,
): Tensor {
  const { fields } = call;
  if (data === undefined) return asTensor(given, fields, name);
  if (role !== "indices") return listOrTensor(data.dtype, given, fields, name);
  const numbers = isArray(given) ? typedNumbers("int32", given) : null;
  if (numbers !== null) return numbers;
  checkIndexBytes(given, Tensor.dimsOf(data), call, name);
  return listOrTensor("int64", given, fields, name);
}

/**
 * Checks that indices are not the bytes of wider indices. A Uint8Array can address at most 256 positions, so on a
 * longer axis it most likely holds the bytes of an Int32Array.
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
  { inputs: { length: most } }: { readonly inputs: readonly unknown[] },
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
  { signature: { inputs }, fields }: Call,
  { count, given, kind }: GivenInputs,
): readonly unknown[] {
  const required = inputs.filter(({ isOptional }) => !isOptional);
  const [least, most] = [required.length, inputs.length];
  if (count !== undefined && count >= least && count <= most) {
    const missing = inputs.find((one, p) => !one.isOptional && given[p] === undefined);
    if (missing === undefined) return given;
    const { name: input } = missing;
    const sentence = `${input} must be given, got nothing`;
    throw new TensorError("shape-mismatch", sentence, { ...fields, input });
  }
  const names = inputs.map(({ name, isOptional }) => (isOptional ? `${name}?` : name));
  const got = count === undefined ? kind : `a list of ${count}`;
  const sentence = `inputs must be one list, [${names.join(", ")}], got ${got}`;
  throw new TensorError("shape-mismatch", sentence, {
    ...fields,
    key: "inputs",
    got: count ?? kind,
    expected: [least, most],
  });
}

/**
 * Returns `out` as a tensor, after checking that it has the result's data type and shape, and shares no memory with an
 * input. Returns undefined if `out` is not given.
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
): Tensor | undefined {
  if (given === undefined) return undefined;
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
  checkShape(tensor, shape, fields, input, "the shape of the result,");
}

/**
 * Checks that a tensor has the expected shape.
 * @throws TensorError `shape-mismatch`
 */
export function checkShape(
  tensor: Tensor,
  expected: readonly number[],
  fields: ErrorContext,
  input: string,
  what = "the shape",
): void {
  if (sameShape(Tensor.dimsOf(tensor), expected)) return;
  const { shape: got } = tensor;
  const sentence = `${input} must have ${what} ${printShape(expected)}, got ${printShape(got)}`;
  throw new TensorError("shape-mismatch", sentence, { ...fields, input, got, expected });
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
  // The advice to convert an input would mislead, because the inputs fit in another order.
  const [fault] = sentenceOf(error).split("; use tensor(");
  const sentence = `${fault}; the order of the inputs is ${order}`;
  return new TensorError(error.code, sentence, error);
}
