/** Edits of a tensor's text. Each returns a new text. */

import { DTYPES, type DType } from "ndscatter";
import { checkShape } from "./limits.ts";
import type { TensorText } from "./state.ts";
import { zeroText } from "./tensor-text.ts";
import { attempt } from "./attempt.ts";
import { coordinatesOf, positionOf, sizeOf } from "./shape.ts";

/** A tensor's text after an edit, or the reason why the edit is refused. */
export type Edited = { readonly input: TensorText } | { readonly error: string };

/**
 * The tensor in another shape.
 *
 * At the same rank every element that fits keeps its coordinates, and new elements are zero. At another rank with the
 * same number of elements, all keep their order, as when an axis of size 1 is added or removed. Otherwise leading axes
 * are added or removed, and coordinates are aligned at the last axis.
 */
export const withShape = (input: TensorText, shape: readonly number[]): Edited =>
  attempt(() => {
    checkShape(shape, "the tensor");
    const size = sizeOf(shape);
    const { dtype, shape: before, values } = input;
    if (shape.length !== before.length && size === values.length) {
      return { input: { dtype, shape: [...shape], values } };
    }
    const zero = zeroText(dtype);
    const extra = shape.length - before.length;
    const kept = Array.from({ length: size }, (_, position) => {
      const at = coordinatesOf(position, shape);
      if (at.slice(0, Math.max(extra, 0)).some((coordinate) => coordinate > 0)) return zero;
      const from = extra >= 0 ? at.slice(extra) : [...before.slice(0, -extra).fill(0), ...at];
      return from.every((coordinate, axis) => coordinate < before[axis])
        ? values[positionOf(from, before)]
        : zero;
    });
    return { input: { dtype, shape: [...shape], values: kept } };
  });

/**
 * The tensor in another data type. Its elements stay as they were typed, even where the new type cannot hold them; only
 * booleans are converted to numbers, and 0 and 1 to booleans.
 */
export function withDType(input: TensorText, dtype: DType): TensorText {
  const { dtype: before, shape, values } = input;
  const [wasBool, isBool] = [before, dtype].map((one) => DTYPES[one].family === "bool");
  if (isBool && !wasBool) {
    return {
      dtype,
      shape,
      values: values.map((text) => (/^[01]$/.test(text) ? WORDS[Number(text)] : text)),
    };
  }
  if (wasBool && !isBool && DTYPES[dtype].family !== "string") {
    return { dtype, shape, values: values.map((text) => numberOf(text)) };
  }
  const isFromEmpty = before === "string";
  return {
    dtype,
    shape,
    values: isFromEmpty ? values.map((text) => text || zeroText(dtype)) : values,
  };
}

const WORDS = ["false", "true"] as const;

const numberOf = (text: string): string => {
  const position = WORDS.findIndex((word) => word === text.trim().toLowerCase());
  return position === -1 ? text : String(position);
};

/** The tensor with another text at `at`; unchanged where there is no such element. */
export function withValue(input: TensorText, at: readonly number[], text: string): TensorText {
  const { dtype, shape, values } = input;
  const isThere =
    at.length === shape.length &&
    at.every(
      (coordinate, axis) =>
        Number.isInteger(coordinate) && coordinate >= 0 && coordinate < shape[axis],
    );
  return isThere ? { dtype, shape, values: values.with(positionOf(at, shape), text) } : input;
}
