/** Handles tensor elements: their positions, and their appearance in drawings and JSON. */

import { isTensorError, type Scalar, type Tensor } from "../../entries/index.ts";
import { printScalar } from "../../entries/operators.ts";

/** Converts an element's coordinates to its row-major position. */
export const positionOf = (at: readonly number[], shape: readonly number[]): number =>
  at.reduce((position, coordinate, axis) => position * shape[axis] + coordinate, 0);

/** Converts a row-major position to coordinates. */
export const coordinatesOf = (position: number, shape: readonly number[]): number[] => {
  let left = position;
  return shape
    .toReversed()
    .map((dim) => {
      const coordinate = left % dim;
      left = Math.floor(left / dim);
      return coordinate;
    })
    .toReversed();
};

/** Returns all elements in row-major order. */
export function scalarsOf(tensor: Tensor): Scalar[] {
  let level: unknown[] = [tensor.toArray()];
  // One level of lists is flattened per axis, so that the two parts of a complex number remain together.
  for (let axis = 0; axis < tensor.shape.length; axis++) level = level.flat(1);
  return level as Scalar[];
}

/**
 * Converts a tensor to nested lists for JSON. An empty tensor becomes a single empty list if its shape requires more
 * lists than `toArray` creates. A file of 192 bytes can declare millions of lists.
 */
export function valuesOf(tensor: Tensor): unknown {
  try {
    return tensor.toArray();
  } catch (error) {
    if (tensor.size === 0 && isTensorError(error, "too-large")) return [];
    throw error;
  }
}

const MOST_TEXT = 24;

/** Formats an element for a drawing. Long text is shortened, and invisible characters are escaped. */
export function printCell({ dtype }: Tensor, value: Scalar): string {
  const word = printScalar(dtype, value);
  if (typeof value !== "string") return word;
  const visible = word.replaceAll(
    /\p{C}/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
  const characters = Array.from(visible);
  return characters.length <= MOST_TEXT
    ? visible
    : `${characters.slice(0, MOST_TEXT - 4).join("")}..."`;
}

/** Returns the number of visible characters of `text`. */
export const lengthOf = (text: string): number => Array.from(text).length;
