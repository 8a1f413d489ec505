/** Computes the width of a tensor's column on the stage, with its whole table or the part that fits. */

import { tableWidthOf, type Lane, type Placed } from "./layout.ts";
import {
  CHARACTER,
  ENLARGED,
  isShort,
  SPACING,
  type Head,
  type Metrics,
  type ShortHead,
} from "./metrics.ts";
import type { Sheet } from "./sheets.ts";

/** Returns the length of a row label, which consists of coordinates and commas. */
function labelDigits({ shape, rowNumbers = [] }: Placed, { columns }: Sheet): number {
  // If all elements form one column, the labels contain all coordinates.
  const axes = shape.length < 2 || columns < (shape.at(-1) ?? 0) ? shape : shape.slice(0, -1);
  const digits = axes.reduce((sum, dim) => sum + String(Math.max(dim - 1, 0)).length, 0);
  const numbers = rowNumbers.map((one) => one.toLocaleString("en").length + 1);
  return digits + Math.max(0, axes.length - 1) + Math.max(0, ...numbers);
}

/**
 * The length of the longest common type name, which is `float32`, or `bf16` if abbreviated. Longer type names are
 * truncated.
 */
const TYPE = { long: 7, short: 4 };
/** The character widths in pixels of a tensor's name, and of the line with data type and shape. */
const NAME = { short: 8.6, low: 8, line: 7.3 };
const SIGNS = { short: 7.3, low: 6.7, line: 6.7 };
/** The width in pixels of the sign after the name of an editable tensor. */
const SIGN = 11;

/** Returns the length of a printed shape, such as `[4, 3]`. */
const shapeDigits = (shape: readonly number[]): number =>
  Math.max(2, 2 * shape.length + shape.reduce((sum, dim) => sum + String(dim).length, 0));

/** Returns the data type, abbreviated if the full name does not fit, for example `i64` for `int64`. */
export function typeIn(dtype: string, { shape, width }: Lane, head: ShortHead): string {
  const fits = (dtype.length + 1 + shapeDigits(shape)) * SIGNS[head] <= width;
  return fits
    ? dtype
    : dtype
        .replace("string", "str")
        .replace(/^(b?f|u?i|c)[a-z]*(?=\d)/, "$1")
        .slice(0, 12);
}

const nameWidth = ({ name, id }: Pick<Placed, "name" | "id">, head: ShortHead): number =>
  name.length * NAME[head] + (id === "output" ? 0 : SIGN);

/**
 * Returns the width of a header: name, data type and shape. With `isTight`, the data type is abbreviated to save space.
 */
function headWidth({ name, shape, id }: Placed, head: Head, isTight: boolean): number {
  if (!isShort(head)) {
    const width = Math.max(
      name.length * 9.6 + (id === "output" ? 4 : 46),
      shape.reduce((sum, dim) => sum + 18 + 8 * String(dim).length, 24) +
        (id === "output" ? 0 : 56),
      84,
    );
    return head === "large" ? width * ENLARGED : width;
  }
  const named = nameWidth({ name, id }, head);
  // The shape may be replaced by a remark of four letters.
  if (head === "line") return named + (1 + Math.max(shapeDigits(shape), 4)) * SIGNS.line;
  const type = isTight ? TYPE.short : TYPE.long;
  return Math.max(named, (type + 1 + shapeDigits(shape)) * SIGNS[head]);
}

export function laneOf(
  placed: Placed,
  own: Sheet,
  metrics: Metrics,
  head: Head,
  isTight: boolean,
): Lane {
  const { font, least, padding, label } = metrics;
  const cell = Math.max(least, Math.ceil(placed.digits * font * CHARACTER + padding));
  const digits = labelDigits(placed, own);
  const side = placed.shape.length === 0 ? 0 : Math.ceil(digits * label * 0.61 + 9);
  const tableWidth = tableWidthOf(side, own.columns, cell);
  return {
    ...placed,
    sheet: own,
    cell,
    side,
    tableWidth,
    width: Math.ceil(Math.max(tableWidth, headWidth(placed, head, isTight))),
    rows: own.rows,
    columns: own.columns,
    isWindow: false,
    bar: 0,
  };
}

/** The maximum height of a slice, in window heights, for which one tuple label spans the whole slice. */
const HIGH_SLICE = 2;
const LARGEST_WINDOW = { rows: 64, columns: 64 };

/**
 * Returns the visible part of a table. All rows of a window have the same height, so that they can be scrolled. `space`
 * is the number of rows and columns that fit.
 */
export function withWindow(
  lane: Lane,
  space: { readonly rows: number; readonly columns: number },
  head: Head,
  bar: number,
): Lane {
  const { sheet: whole, cell, side } = lane;
  const { rows, columns } = space;
  // A tuple spans the rows of its slice. If a slice is much higher than the window, each tuple has one row, so that
  // several tuples are visible.
  const span = whole.span > HIGH_SLICE * rows ? 1 : Math.min(whole.span, rows);
  const own = { ...whole, group: 0, span };
  const shown = {
    rows: Math.min(own.rows, LARGEST_WINDOW.rows, Math.max(Math.floor(rows / own.span), 1)),
    columns: Math.min(own.columns, LARGEST_WINDOW.columns, Math.max(columns, 1)),
  };
  const tableWidth = tableWidthOf(side, shown.columns, cell);
  const width = Math.max(
    tableWidth + (shown.rows < own.rows ? bar : 0),
    Math.min(headWidth(lane, head, true), lane.width),
  );
  return {
    ...lane,
    sheet: own,
    ...shown,
    tableWidth,
    width: Math.ceil(width),
    isWindow: true,
    bar,
  };
}

/** Returns the number of columns that fit into a width. */
export const columnsIn = (width: number, { cell, side }: Lane): number =>
  Math.floor((width - side - 2 * SPACING) / (cell + SPACING));
