/** Converts between a tensor and its text. */

import {
  DTYPES,
  isTensorError,
  tensor,
  zeros,
  type DType,
  type Scalar,
  type Tensor,
} from "ndscatter";
import { checkShape } from "./limits.ts";
import { parseScalar, printElement, type Candidate } from "./scalar-text.ts";
import { coordinatesOf, sizeOf } from "./shape.ts";
import type { TensorText } from "./state.ts";

/**
 * Converts a tensor to text; only the bits of NaNs are lost. `what` is the tensor's name in error messages. Throws
 * `too-large` or `rank` for a tensor that the page cannot show.
 */
export function textOf(source: Tensor, what = "the tensor"): TensorText {
  const { dtype, shape } = source;
  checkShape(shape, what);
  return { dtype, shape: [...shape], values: valueTexts(source) };
}

/**
 * Returns each element's text, in row-major order. Elements with equal texts have equal bits, except that every NaN is
 * printed as `nan`.
 */
export const valueTexts = (source: Tensor): string[] =>
  elementsOf(source).map((value) => printElement(source.dtype, value));

export const elementsOf = (source: Tensor): Scalar[] =>
  flatten([source.toArray()], source.shape.length) as Scalar[];

/** Flattens one level of lists per axis. A list below the last axis is a complex number. */
const flatten = (list: readonly unknown[], axes: number): readonly unknown[] =>
  axes === 0 ? list : flatten((list as readonly unknown[][]).flat(), axes - 1);

/** Returns the text of zero, which is every new element's value. */
export const zeroText = (dtype: DType): string =>
  printElement(dtype, elementsOf(zeros(dtype, []))[0]);

export function zerosText(dtype: DType, shape: readonly number[]): TensorText {
  const values = Array<string>(sizeOf(shape)).fill(zeroText(dtype));
  return { dtype, shape: [...shape], values };
}

/** An element that its data type cannot represent. */
export interface WrongElement {
  readonly at: readonly number[];
  readonly sentence: string;
}

/**
 * Converts text to a tensor. Invalid elements are listed, and become zero in the tensor. `what` is the tensor's name in
 * error messages. Throws a `TensorError` for a shape that the page cannot show, or that does not match the number of
 * values.
 */
export function tensorOf(
  text: TensorText,
  what: string,
): { tensor: Tensor; wrong: WrongElement[] } {
  const { dtype, shape, values } = text;
  checkShape(shape, what);
  // In large tensors, most elements are zero or repeat the previous value.
  let [before, parsed] = ["0", parseScalar(dtype, "0")];
  const candidates = values.map((value) => {
    if (value !== before) [before, parsed] = [value, parseScalar(dtype, value)];
    return parsed;
  });
  try {
    return { tensor: build(dtype, shape, candidates), wrong: [] };
  } catch (error) {
    if (!isTensorError(error, "dtype", "shape-mismatch")) throw error;
  }
  const wrong: WrongElement[] = [];
  const zero = parseScalar(dtype, zeroText(dtype));
  const held = candidates.map((candidate, position) => {
    const sentence = refusal(dtype, candidate);
    if (sentence === null) return candidate;
    wrong.push({ at: coordinatesOf(position, shape), sentence });
    return zero;
  });
  return { tensor: build(dtype, shape, held), wrong };
}

function build(dtype: DType, shape: readonly number[], values: readonly Candidate[]): Tensor {
  // Pairs are passed as a flat list of parts, because the library would read pairs as nested lists.
  const isPairs =
    DTYPES[dtype].family === "complex" && values.every((value) => Array.isArray(value));
  return tensor(dtype, shape, (isPairs ? values.flat() : values) as never);
}

/** Returns the library's error for an element at the position `at`; null if the data type can represent the element. */
function refusal(dtype: DType, candidate: Candidate): string | null {
  try {
    tensor(dtype, [], candidate as never);
    return null;
  } catch (error) {
    if (!isTensorError(error)) throw error;
    return error.message.replace(/, at \[\]$/, "");
  }
}
