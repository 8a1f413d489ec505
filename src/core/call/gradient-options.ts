/** Options of gradients: the inputs to differentiate, the output tensors, and the treatment of ties. */

import { printCount, isArray, readForeign, wrongOption, wrongValue } from "../foreign.ts";
import { oneOf, TensorError, type ErrorContext } from "../errors.ts";
import { TIES, type Ties } from "../kernels/backwards.ts";
import type { Inputs } from "../operators/operator.ts";
import type { Signature } from "../operators/signature.ts";
import { dtypesWhere, type DType } from "../tensor/dtype.ts";
import { asTensor, Tensor, type RuntimeTensor } from "../tensor/tensor.ts";
import { checkAlive, checkLike, checkOut } from "./inputs.ts";

/** Gradient options for `vjp` and for kept plans. */
export interface GradientOptions {
  /** Position or list of positions of the inputs to differentiate, as in JAX's `grad`; data and updates by default. */
  readonly argnums?: number | readonly number[] | undefined;
  /**
   * Distribution of the gradient if several operands equal the result of `max` or `min`: `even`, the default, gives
   * each operand an equal share; `first` or `last` gives it to one operand; `all` gives each operand the whole
   * gradient.
   */
  readonly ties?: Ties | undefined;
  /**
   * Tensors to write the gradients to, in the order of the inputs; null creates a new tensor. The data gradient of a
   * scatter may overwrite `outputGradient`.
   */
  readonly out?: readonly (Tensor | RuntimeTensor | null | undefined)[] | undefined;
}

/** Names of the options in `GradientOptions`. */
export const GRADIENT_OPTIONS = ["argnums", "ties", "out"] as const;

/** A call whose gradients are wanted. */
export interface Differentiated<T> {
  readonly signature: {
    readonly positions: Pick<Signature["positions"], "data" | "updates">;
    readonly inputs: readonly { readonly name: string }[];
  };
  readonly tensors: Inputs<T>;
  /** Shape of the call's output. */
  readonly shape: readonly number[];
  readonly fields: ErrorContext;
}

/** The checks of tensors on the host or on a GPU. */
export interface Place<T, O extends T> {
  /** Returns a tensor of the same data type and shape. */
  typeOf(tensor: T): Tensor;
  /** Returns the given gradient of the output as a tensor. */
  tensorOf(given: unknown, fields: ErrorContext, input: string): O;
  /** Checks a tensor that receives a result; returns undefined if none is given. */
  checkOut(
    given: unknown,
    dtype: DType,
    shape: readonly number[],
    names: readonly { readonly name: string }[],
    inputs: Inputs<T>,
    inPlace: string | null,
    fields: ErrorContext,
  ): O | undefined;
}

export const ON_HOST: Place<Tensor, Tensor> = {
  typeOf: (tensor) => tensor,
  tensorOf: asTensor,
  checkOut,
};

/** Checked arguments of a call's gradients, except for the call itself. */
export interface GradientArguments<T = Tensor> {
  /** Gradient of the call's output. */
  readonly gradient: T;
  readonly ties: Ties;
  readonly wantsData: boolean;
  readonly wantsUpdates: boolean;
  /** Tensor for the gradient of data, which may be the gradient of the output itself. */
  readonly dataOut: T | undefined;
  readonly updatesOut: T | undefined;
}

/**
 * Checks the data type of a call, the gradient of the call's output, and the gradient options; the tensors in `out`
 * last.
 * @param checkArithmetic checks that the gradients can be computed here
 * @throws TensorError `attribute`, `dtype`, `shape-mismatch`, `overlap`, `disposed`
 */
export function gradientArguments<T, O extends T>(
  call: Differentiated<T>,
  outputGradient: unknown,
  { argnums, ties = "even", out }: Readonly<Record<string, unknown>>,
  place: Place<T, O>,
  checkArithmetic?: () => void,
): GradientArguments<O> {
  const { signature, tensors, shape, fields } = call;
  const { inputs, positions } = signature;
  const { typeOf } = place;
  const data = typeOf(tensors[positions.data] as T);
  checkDifferentiable(data, inputs[positions.data].name, fields);
  const gradient = place.tensorOf(outputGradient, fields, "outputGradient");
  checkLike(typeOf(gradient), data.dtype, shape, "outputGradient", fields);
  if (gradient !== outputGradient) {
    const types = tensors.map((tensor) => tensor && typeOf(tensor));
    checkAlive(inputs, types, fields);
  }
  checkArithmetic?.();
  const wanted = argnums === undefined ? null : wantedOf(argnums, call);
  if (!isTies(ties)) {
    const words = TIES.map((word) => JSON.stringify(word)).join(", ");
    throw wrongOption("ties", `one of ${words}`, ties, { ...fields, allowed: TIES });
  }
  const outs = (out ?? null) === null ? [] : outsOf(out, wanted, call, gradient, place);
  const isScatter = positions.updates >= 0;
  return {
    gradient,
    ties,
    wantsData: wanted?.includes(positions.data) ?? true,
    wantsUpdates: wanted?.includes(positions.updates) ?? isScatter,
    dataOut: outs[positions.data],
    updatesOut: isScatter ? outs[positions.updates] : undefined,
  };
}

const isTies = (word: unknown): word is Ties => TIES.some((one) => one === word);

/**
 * Returns the tensors of the option `out`, by position.
 * @param wanted as `wantedOf` returns; null for the gradients of all inputs that have one
 */
function outsOf<T, O extends T>(
  out: unknown,
  wanted: readonly unknown[] | null,
  { signature, tensors, fields }: Differentiated<T>,
  gradient: O,
  { typeOf, checkOut: check }: Place<T, O>,
): readonly (O | undefined)[] {
  const { inputs, positions } = signature;
  const { data, updates } = positions;
  const outs = listOf("out", out, inputs.length, fields).map((one) => one ?? null);
  for (const [position, given] of outs.entries()) {
    if (given === null || (wanted ?? [data, updates]).includes(position)) continue;
    const { name } = inputs[position];
    const sentence = `out[${position}] must be null, because the gradient of ${name} is not requested`;
    const facts = { ...fields, input: "out", key: "out", at: [position] };
    throw new TensorError("attribute", sentence, facts);
  }
  const others: (T | undefined)[] = [...tensors, gradient];
  const names = [...inputs, { name: "outputGradient" }];
  return outs.map((given, position) => {
    if (given === null) return undefined;
    // A gradient can only be requested for an input that was passed.
    const input = typeOf(tensors[position] as T);
    // The data gradient of a scatter has the shape of the result, and is written after everything else was read.
    const inPlace = position === data && updates >= 0 ? "outputGradient" : null;
    const own = check(given, input.dtype, Tensor.dimsOf(input), names, others, inPlace, fields);
    others.push(own);
    names.push({ name: `out[${position}]` });
    return own;
  });
}

/** Reads the positions whose gradients are wanted. */
function wantedOf(
  argnums: unknown,
  { signature: { inputs, positions }, fields }: Differentiated<unknown>,
): readonly unknown[] {
  const { data, updates } = positions;
  const allowed = updates < 0 ? [data] : [data, updates];
  const list = isArray(argnums) ? listOf("argnums", argnums, inputs.length, fields) : [argnums];
  const wrong = list.find((one) => !allowed.some((position) => position === one));
  if (wrong === undefined) return list;
  const must = allowed.map((position) => `${position} (${inputs[position].name})`).join(" or ");
  throw wrongOption("argnums", `${must}, or a list of these`, wrong, { ...fields, allowed });
}

/** Reads the entries of a list from outside the package, each once. */
function listOf(
  name: string,
  given: unknown,
  most: number,
  fields: ErrorContext,
): readonly unknown[] {
  if (!isArray(given)) throw wrongOption(name, "a list", given, fields);
  const read = (): unknown[] => Array.from({ length: Number(given.length) }, (_, p) => given[p]);
  const { length } = given;
  if (length <= most) return readForeign(read, "attribute", `${name} cannot be read`, name, fields);
  const must = `${name} must have at most ${printCount(most, "entry", "entries")}, one per input`;
  throw wrongValue("attribute", must, length, { ...fields, key: name, limit: most });
}

/** Data types with gradients: floating-point and complex types. */
const DIFFERENTIABLE = /* @__PURE__ */ dtypesWhere(({ family }) =>
  ["float", "half", "complex"].includes(family),
);

/**
 * Checks that a tensor's data type has gradients.
 * @throws TensorError `dtype`
 */
export function checkDifferentiable({ dtype }: Tensor, input: string, who: ErrorContext): void {
  if (DIFFERENTIABLE.includes(dtype)) return;
  const allowed = DIFFERENTIABLE;
  const sentence = `${input} must be ${oneOf(allowed)} to have a gradient, got ${dtype}`;
  throw new TensorError("dtype", sentence, { ...who, input, got: dtype, allowed });
}
