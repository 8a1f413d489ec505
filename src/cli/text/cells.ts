/**
 * Prints tensor elements and types in messages and JSON, and draws tensors as grids of aligned cells. Marked cells have
 * a colour, or a sign after the value.
 */

import { wrongUsage } from "../failure.ts";
import type { Io } from "../io.ts";
import { didYouMean, quote } from "./layout.ts";
import type { Scalar, Tensor, TensorType } from "../../entries/index.ts";
import { isTensorError } from "../../core/errors.ts";
import { DTYPES, isDType } from "../../core/tensor/dtype.ts";
import { printScalar } from "../../core/tensor/print.ts";
import { printShape, coordinatesOf } from "../../core/tensor/shape.ts";

/** Converts an element's coordinates to its row-major position. */
export const positionOf = (at: readonly number[], shape: readonly number[]): number =>
  at.reduce((position, coordinate, axis) => position * shape[axis] + coordinate, 0);

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

const lengthOf = (text: string): number => Array.from(text).length;

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

export type Mark = "once" | "repeated" | "filled" | "bad";

/** The sign and the colour of each mark. Each colour is the number of an ANSI escape code. */
const MARKS: Readonly<Record<Mark, { readonly sign: string; readonly colour: number }>> = {
  once: { sign: "*", colour: 32 },
  repeated: { sign: "**", colour: 33 },
  filled: { sign: "~", colour: 36 },
  bad: { sign: "!", colour: 31 },
};

export interface Canvas {
  readonly columns: number;
  readonly isColoured: boolean;
}

/**
 * Returns the canvas for stdout. The environment variable NO_COLOR disables colours (https://no-color.org), and
 * FORCE_COLOR enables them without a terminal.
 */
export function canvasOf({ stdout, env }: Io): Canvas {
  const { NO_COLOR = "", FORCE_COLOR = "", TERM } = env;
  const isForced = FORCE_COLOR !== "" && FORCE_COLOR !== "0";
  const isTerminal = stdout.isTTY && TERM !== "dumb" && FORCE_COLOR !== "0";
  return { columns: stdout.columns, isColoured: NO_COLOR === "" && (isForced || isTerminal) };
}

/** Applies a mark to text, as a colour or as a sign after the text. */
export function paint(text: string, mark: Mark | null, { isColoured }: Canvas): string {
  if (mark === null) return text;
  const { sign, colour } = MARKS[mark];
  return isColoured ? `\u001b[${colour}m${text}\u001b[39m` : text + sign;
}

/** Maximum number of cells in a readable drawing. */
const MOST_CELLS = 200;
const MOST_RANK = 4;

export const isSmall = ({ size, shape }: Tensor): boolean =>
  size <= MOST_CELLS && shape.length <= MOST_RANK;

/** A tensor with its name or title and its type. The cells are left out if the canvas is too small. */
export function drawTensor(
  title: string,
  tensor: Tensor,
  markOf: (element: number) => Mark | null,
  canvas: Canvas,
): string {
  const lines = isSmall(tensor) ? drawCells(tensor, markOf, canvas) : null;
  return [`${title}: ${printType(tensor)}`, ...(lines ?? ["  (too large to draw)"])].join("\n");
}

function drawCells(
  tensor: Tensor,
  markOf: (element: number) => Mark | null,
  canvas: Canvas,
): string[] | null {
  const { shape, size } = tensor;
  if (size === 0) return ["  (no elements)"];
  const words = scalarsOf(tensor).map((value) => printCell(tensor, value));
  const marks = words.map((_, element) => markOf(element));
  const signs = canvas.isColoured ? [] : marks.map((mark) => (mark && MARKS[mark].sign) ?? "");
  const [width, signWidth] = [widest(words), widest(signs)];
  const cells = words.map((word, element) => {
    const mark = marks[element];
    const right = " ".repeat(signWidth - (signs[element]?.length ?? 0));
    return " ".repeat(width - lengthOf(word)) + paint(word, mark, canvas) + right;
  });
  const row = shape[shape.length - 1] ?? 1;
  const rows = shape.length > 1 ? shape[shape.length - 2] : size;
  const room = canvas.columns - labelOf(0, rows - 1).length;
  const fit = Math.floor(room / (GAP.length + width + signWidth));
  // A rank-1 tensor may continue on the next line. A grid row must stay on one line, because the columns would no
  // longer align.
  if (fit < (shape.length > 1 ? row : 1)) return null;
  const step = Math.min(row, fit);
  const lines: string[] = [];
  for (let begin = 0; begin < size; begin += step) {
    const label = shape.length > 1 ? (begin / row) % rows : begin;
    if (shape.length > 2 && label === 0) lines.push(`  ${sliceName(shape, begin / row / rows)}`);
    const line = cells.slice(begin, begin + step).map((cell) => GAP + cell);
    lines.push((labelOf(label, rows - 1) + line.join("")).trimEnd());
  }
  return lines;
}

const GAP = "  ";

/** Returns the label of a line: the row number, or the number of the line's first cell for rank 1. */
const labelOf = (label: number, most: number): string =>
  `  ${String(label).padStart(String(most).length)} |`;

/** Formats a slice such as `[1, 0, :, :]`. */
const sliceName = (shape: readonly number[], slice: number): string =>
  `[${[...coordinatesOf(slice, shape.slice(0, -2)), ":", ":"].join(", ")}]`;

const widest = (words: readonly string[]): number =>
  words.reduce((width, word) => Math.max(width, lengthOf(word)), 0);
