/** A tensor's text to the tensor, and back. */

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
import type { TensorText } from "./state.ts";

/**
 * A tensor as text. It loses nothing but which of a data type's NaNs one is.
 * @throws TensorError `too-large`, `rank`: more than the page shows
 */
export function textOf(source: Tensor, what = "the tensor"): TensorText {
  const { dtype, shape } = source;
  checkShape(shape, what);
  return {
    dtype,
    shape: [...shape],
    values: elementsOf(source).map((value) => printElement(dtype, value)),
  };
}

/** The elements in row-major order. */
export const elementsOf = (source: Tensor): Scalar[] =>
  flatten([source.toArray()], source.shape.length) as Scalar[];

/** A list as many lists deep as there are axes; below them a list is a complex number. */
const flatten = (list: readonly unknown[], axes: number): readonly unknown[] =>
  axes === 0 ? list : flatten((list as readonly unknown[][]).flat(), axes - 1);

/** A text from numbers and words as they are written in a source: nested lists, of the shape of their nesting. */
export function textFrom(dtype: DType, nested: unknown): TensorText {
  const shape: number[] = [];
  for (let list = nested; Array.isArray(list); list = list[0]) shape.push(list.length);
  return {
    dtype,
    shape,
    values: flatten([nested], shape.length).map((value) =>
      Object.is(value, -0) ? "-0" : String(value),
    ),
  };
}

/** What an element is at first, and what one that is new becomes. */
export const zeroText = (dtype: DType): string =>
  printElement(dtype, elementsOf(zeros(dtype, []))[0]);

export function zerosText(dtype: DType, shape: readonly number[]): TensorText {
  const size = shape.reduce((product, dim) => product * dim, 1);
  return { dtype, shape: [...shape], values: Array<string>(size).fill(zeroText(dtype)) };
}

/** An element that its data type does not take. */
export interface WrongElement {
  readonly at: readonly number[];
  readonly sentence: string;
}

/**
 * The tensor that a text stands for, with zeros where an element is wrong.
 * @throws TensorError for a shape that the page does not show, or that is not that of the values
 */
export function tensorOf(
  text: TensorText,
  what: string,
): { tensor: Tensor; wrong: WrongElement[] } {
  const { dtype, shape, values } = text;
  checkShape(shape, what);
  const candidates = values.map((value) => parseScalar(dtype, value));
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
  // Of complex numbers the library also takes a list of parts, so that theirs are made into one here.
  const isPairs =
    DTYPES[dtype].family === "complex" && values.every((value) => Array.isArray(value));
  return tensor(dtype, shape, (isPairs ? values.flat() : values) as never);
}

/** What the library says of an element, without the place: that is told beside. */
function refusal(dtype: DType, candidate: Candidate): string | null {
  try {
    tensor(dtype, [], candidate as never);
    return null;
  } catch (error) {
    if (!isTensorError(error)) throw error;
    return error.message.replace(/, at \[\]$/, "");
  }
}

/** The coordinates of the element at `position` in row-major order. */
export function coordinatesOf(position: number, shape: readonly number[]): number[] {
  const at = Array.from(shape, () => 0);
  for (let axis = shape.length - 1, rest = position; axis >= 0; axis--) {
    at[axis] = rest % shape[axis];
    rest = Math.floor(rest / shape[axis]);
  }
  return at;
}

/** Where in row-major order the element at `at` stands. */
export const positionOf = (at: readonly number[], shape: readonly number[]): number =>
  at.reduce((position, coordinate, axis) => position * shape[axis] + coordinate, 0);
