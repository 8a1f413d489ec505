/** Tensors as grids of aligned cells, those that matter marked: by colour, or by a sign behind the value without. */

import { printScalar, type Scalar, type Tensor } from "../index.ts";
import { printName } from "./layout.ts";
import { printType } from "./type-text.ts";

export type Mark = "once" | "repeated" | "filled" | "bad";

/** The sign of each mark, and its colour as the number of an escape sequence. */
const MARKS: Readonly<Record<Mark, { readonly sign: string; readonly colour: number }>> = {
  once: { sign: "*", colour: 32 },
  repeated: { sign: "**", colour: 33 },
  filled: { sign: "~", colour: 36 },
  bad: { sign: "!", colour: 31 },
};

/** Where it is drawn. */
export interface Canvas {
  readonly columns: number;
  readonly isColoured: boolean;
}

/** What the standard output is: https://no-color.org, and FORCE_COLOR beyond what a terminal says. */
export function canvasOf({ stdout, env }: NodeJS.Process): Canvas {
  const { NO_COLOR = "", FORCE_COLOR = "", TERM } = env;
  const isForced = FORCE_COLOR !== "" && FORCE_COLOR !== "0";
  const isTerminal = stdout.isTTY && TERM !== "dumb" && FORCE_COLOR !== "0";
  return { columns: stdout.columns ?? 80, isColoured: NO_COLOR === "" && (isForced || isTerminal) };
}

/** Text in the colour of a mark, or with its sign behind it. */
export function paint(text: string, mark: Mark | null, { isColoured }: Canvas): string {
  if (mark === null) return text;
  const { sign, colour } = MARKS[mark];
  return isColoured ? `\u001b[${colour}m${text}\u001b[39m` : text + sign;
}

/** More cells than this, or more columns than there are, are no picture. */
const MOST_CELLS = 200;
const MOST_RANK = 4;

export const isSmall = ({ size, shape }: Tensor): boolean =>
  size <= MOST_CELLS && shape.length <= MOST_RANK;

/** A tensor under its name and type; without its cells where they are too many, or too wide. */
export function drawTensor(
  name: string,
  tensor: Tensor,
  markOf: (element: number) => Mark | null,
  canvas: Canvas,
): string {
  const title = `${printName(name)}: ${printType(tensor)}`;
  const lines = isSmall(tensor) ? drawCells(tensor, markOf, canvas) : null;
  return [title, ...(lines ?? ["  (too large to draw)"])].join("\n");
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
  // A list that is too long for one line goes on in the next; a grid is not torn apart.
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

/** The number of a row, or of the first cell of a line. */
const labelOf = (label: number, most: number): string =>
  `  ${String(label).padStart(String(most).length)} |`;

/** `[1, 0, :, :]` */
function sliceName(shape: readonly number[], slice: number): string {
  const coordinates: (number | string)[] = [":", ":"];
  for (let d = shape.length - 3; d >= 0; d--) {
    coordinates.unshift(slice % shape[d]);
    slice = Math.floor(slice / shape[d]);
  }
  return `[${coordinates.join(", ")}]`;
}

/** All elements, in row-major order. */
export function scalarsOf(tensor: Tensor): Scalar[] {
  let level: unknown[] = [tensor.toArray()];
  // The pair of a complex number is an element.
  for (let axis = 0; axis < tensor.shape.length; axis++) level = level.flat(1);
  return level as Scalar[];
}

const MOST_TEXT = 24;

/** An element as it stands in a grid: text is cut, and what is no character to see is escaped. */
export function printCell({ dtype }: Tensor, value: Scalar): string {
  const word = printScalar(dtype, value);
  if (typeof value !== "string") return word;
  const seen = word.replaceAll(/\p{C}/gu, (character) =>
    Array.from(character, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`).join(""),
  );
  const characters = Array.from(seen);
  return characters.length <= MOST_TEXT
    ? seen
    : `${characters.slice(0, MOST_TEXT - 4).join("")}..."`;
}

const lengthOf = (text: string): number => Array.from(text).length;

const widest = (words: readonly string[]): number =>
  words.reduce((width, word) => Math.max(width, lengthOf(word)), 0);
