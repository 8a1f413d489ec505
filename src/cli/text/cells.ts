/** Handles tensor elements and types: positions, and their appearance in drawings, messages and JSON. */

import { wrongUsage } from "../failure.ts";
import { didYouMean, quote } from "./layout.ts";
import {
  DTYPES,
  isDType,
  isTensorError,
  type Scalar,
  type Tensor,
  type TensorType,
} from "../../entries/index.ts";
import { printScalar, printShape } from "../../entries/operators.ts";

/** Converts an element's coordinates to its row-major position. */
export const positionOf = (at: readonly number[], shape: readonly number[]): number =>
  at.reduce((position, coordinate, axis) => position * shape[axis] + coordinate, 0);

/** Converts a row-major position to coordinates. */
export function coordinatesOf(position: number, shape: readonly number[]): number[] {
  const at = [...shape];
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    at[axis] = position % shape[axis];
    position = Math.floor(position / shape[axis]);
  }
  return at;
}

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

export const lengthOf = (text: string): number => Array.from(text).length;

export const TYPE_HELP = `A type is a data type and a shape, such as float32[2,3]. A dimension is a size, a
name for an unknown size (N), or ? for any size. float32[] is a scalar; float32[...]
and float32 have an unknown rank. In a shell, put types in quotes.`;

/** Throws a `Failure` for text that is not a type. */
export function parseType(text: string): TensorType {
  const [, dtype, list] = /^([^[\]]+)(?:\[([^[\]]*)\])?$/.exec(text.replaceAll(/\s/g, "")) ?? [];
  if (dtype === undefined) {
    throw wrongUsage(`a type must look like 'float32[N,4]', got ${quote(text)}`);
  }
  if (!isDType(dtype)) {
    const known = Object.keys(DTYPES);
    const hint = didYouMean(dtype, known, `the data types are ${known.join(", ")}`);
    throw wrongUsage(`the data type ${quote(dtype)} is unknown; ${hint}`);
  }
  if (list === undefined || list === "...") return { dtype, shape: null };
  if (list === "") return { dtype, shape: [] };
  return { dtype, shape: list.split(",").map((dim) => parseDim(dim, text)) };
}

function parseDim(text: string, type: string): number | string | null {
  if (text === "?") return null;
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  // Dimension names begin with a letter, so -1 and 1.5 are errors.
  if (/^[\p{L}_]/u.test(text)) return text;
  throw wrongUsage(
    `a dimension must be a size, a name, or ? if it is unknown, got ${quote(text)} in ${quote(type)}`,
  );
}

export const printType = ({ dtype, shape }: TensorType): string =>
  dtype + (shape === null ? "[...]" : printShape(shape));
