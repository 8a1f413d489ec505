/** Edits a tensor's text. Every edit returns a new text. */

import { DTYPES, type DType } from "ndscatter";
import { checkShape } from "../values/limits.ts";
import type { TensorText } from "../values/state.ts";
import { zeroText } from "../values/tensor-text.ts";
import { attempt } from "../values/attempt.ts";
import { coordinatesOf, positionOf, sizeOf } from "../values/shape.ts";

/** An edited tensor text, or the reason why the edit was refused. */
export type Edited = { readonly input: TensorText } | { readonly error: string };

/**
 * Reshapes a tensor. If the rank stays the same, every element that fits keeps its coordinates. If one shape is a
 * prefix of the other, axes are added or removed at the end. If the rank changes but the number of elements stays the
 * same, all elements keep their order. Otherwise, leading axes are added or removed, and coordinates are aligned at the
 * last axis. New elements come from the newest former tensor with the same coordinates, or are zero. `layers` holds the
 * former tensors, of any rank.
 */
export const withShape = (
  input: TensorText,
  shape: readonly number[],
  layers: readonly TensorText[] = [],
): Edited =>
  attempt(() => {
    checkShape(shape, "the tensor");
    const size = sizeOf(shape);
    const { dtype, shape: before, values } = input;
    if (shape.length !== before.length && size === values.length) {
      return { input: { dtype, shape: [...shape], values } };
    }
    const zero = zeroText(dtype);
    const below = layers
      .filter((layer) => layer.shape.length === shape.length)
      .map((layer) => withDType(layer, dtype));
    const kept = Array.from({ length: size }, (_, position) => {
      const at = coordinatesOf(position, shape);
      const from = sourceOf(at, shape, before);
      if (from !== null && isInside(from, before)) return values[positionOf(from, before)];
      const layer = below.find((one) => isInside(at, one.shape));
      return layer === undefined ? zero : layer.values[positionOf(at, layer.shape)];
    });
    return { input: { dtype, shape: [...shape], values: kept } };
  });

/** Checks whether one of two shapes with different ranks is a prefix of the other. */
export const areNested = (one: readonly number[], other: readonly number[]): boolean =>
  one.length !== other.length &&
  one.slice(0, other.length).every((length, axis) => length === other[axis]);

/** Returns an element's coordinates in the former shape, or null for a new element. */
function sourceOf(
  at: readonly number[],
  shape: readonly number[],
  before: readonly number[],
): readonly number[] | null {
  const extra = shape.length - before.length;
  const isAtEnd = areNested(shape, before);
  const added = isAtEnd ? at.slice(before.length) : at.slice(0, Math.max(extra, 0));
  if (added.some((coordinate) => coordinate > 0)) return null;
  const removed = Array.from({ length: Math.max(-extra, 0) }, () => 0);
  if (isAtEnd) return [...at.slice(0, before.length), ...removed];
  return [...removed, ...at.slice(Math.max(extra, 0))];
}

const isInside = (at: readonly number[], shape: readonly number[]): boolean =>
  at.every((coordinate, axis) => coordinate < shape[axis]);

/**
 * Returns the tensor with another data type. Elements keep their text, even if the new data type cannot represent them.
 * Only booleans are converted to 0 and 1, and back.
 */
export function withDType(input: TensorText, dtype: DType): TensorText {
  const { dtype: before, values } = input;
  const [wasBool, isBool] = [before, dtype].map((one) => DTYPES[one].family === "bool");
  if (isBool && !wasBool) {
    return {
      ...input,
      dtype,
      values: values.map((text) => (/^[01]$/.test(text) ? WORDS[Number(text)] : text)),
    };
  }
  if (wasBool && !isBool && DTYPES[dtype].family !== "string") {
    return { ...input, dtype, values: values.map((text) => numberOf(text)) };
  }
  const isFromEmpty = before === "string";
  return {
    ...input,
    dtype,
    values: isFromEmpty ? values.map((text) => text || zeroText(dtype)) : values,
  };
}

const WORDS = ["false", "true"] as const;

const numberOf = (text: string): string => {
  const position = WORDS.findIndex((word) => word === text.trim().toLowerCase());
  return position === -1 ? text : String(position);
};

/** Returns the tensor with a new text for one element, or the same tensor if the element does not exist. */
export function withValue(input: TensorText, at: readonly number[], text: string): TensorText {
  const { shape, values } = input;
  const isThere =
    at.length === shape.length &&
    at.every(
      (coordinate, axis) =>
        Number.isInteger(coordinate) && coordinate >= 0 && coordinate < shape[axis],
    );
  return isThere ? { ...input, values: values.with(positionOf(at, shape), text) } : input;
}
