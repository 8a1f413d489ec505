/** The width of a tensor's lane, with all of its table or with the part that fits. */

import { SCROLLBAR, tableWidthOf, type Lane, type Placed } from "./layout.ts";
import { CHARACTER, ENLARGED, SPACING, type Head, type Metrics } from "./metrics.ts";
import type { Sheet } from "./sheets.ts";

/** Characters of a row's number: its coordinates with commas. */
function labelDigits(shape: readonly number[], { columns }: Sheet): number {
  // In a column of all elements, labels have all coordinates.
  const axes = shape.length < 2 || columns < (shape.at(-1) ?? 0) ? shape : shape.slice(0, -1);
  const digits = axes.reduce((sum, dim) => sum + String(Math.max(dim - 1, 0)).length, 0);
  return digits + Math.max(0, axes.length - 1);
}

/**
 * Characters of the longest name of a type that is common: A longer name is cut, and its button opens it. A longer one
 * is cut, and its button opens it.
 */
const TYPE = 7;

/**
 * The width for the name, the data type and the shape of a lane.
 * @param isTight true if the type and the shape may be cut to save space; their button opens them
 */
function headWidth({ name, shape, id }: Placed, head: Head, isTight: boolean): number {
  if (head === "full" || head === "large") {
    const width = Math.max(
      name.length * 9.6 + (id === "output" ? 4 : 46),
      shape.reduce((sum, dim) => sum + 18 + 8 * String(dim).length, 24) +
        (id === "output" ? 0 : 56),
      84,
    );
    return head === "large" ? width * ENLARGED : width;
  }
  if (isTight) return name.length * 8.6;
  const dims = shape.reduce((sum, dim) => sum + String(dim).length + 2, 0);
  const type = TYPE + 1 + Math.max(dims, 2);
  return head === "short"
    ? Math.max(name.length * 8.6, (type + (id === "output" ? 0 : 2)) * 7.3)
    : Math.max(name.length * 8, type * 6.7);
}

/** The lane with the whole table. */
export function laneOf(
  placed: Placed,
  own: Sheet,
  metrics: Metrics,
  head: Head,
  isTight: boolean,
): Lane {
  const { font, least, padding, label } = metrics;
  const cell = Math.max(least, Math.ceil(placed.digits * font * CHARACTER + padding));
  const digits = labelDigits(placed.shape, own);
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
  };
}

const LARGEST_WINDOW = { rows: 64, columns: 64 };

/** The part of a table that is drawn. All rows of a window have the same height, so that they can be scrolled. */
export function withWindow(lane: Lane, rows: number, columns: number, head: Head): Lane {
  const { sheet: whole, cell, side } = lane;
  // A row taller than half of the window would hide all others.
  const own = { ...whole, group: 0, span: whole.span > rows / 2 ? 1 : whole.span };
  const shown = {
    rows: Math.min(own.rows, LARGEST_WINDOW.rows, Math.max(Math.floor(rows / own.span), 1)),
    columns: Math.min(own.columns, LARGEST_WINDOW.columns, Math.max(columns, 1)),
  };
  const tableWidth = tableWidthOf(side, shown.columns, cell);
  const width = Math.max(tableWidth + SCROLLBAR, Math.min(headWidth(lane, head, true), lane.width));
  return {
    ...lane,
    sheet: own,
    ...shown,
    tableWidth,
    width: Math.ceil(width),
    isWindow: true,
  };
}

/** The number of columns that fit a width. */
export const columnsIn = (width: number, { cell, side }: Lane): number =>
  Math.floor((width - SCROLLBAR - side - 2 * SPACING) / (cell + SPACING));
