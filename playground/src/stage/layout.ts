/**
 * Computes the positions of tables and their rows, in pixels. `arrange.ts` decides the sizes and the order of the
 * tables.
 */

import type { Sheet } from "./sheets.ts";
import { HEAD, SPACING, type Gutter, type Head, type Metrics } from "./metrics.ts";

/** A tensor of the page: an input by its position, or the output. */
export type TensorId = number | "output";

/** A tensor, in the form that the layout needs. */
export interface Placed {
  readonly id: TensorId;
  readonly role: string;
  readonly shape: readonly number[];
  /** The number of characters that fit into a cell. */
  readonly digits: number;
  readonly name: string;
}

export interface Lane extends Placed {
  readonly sheet: Sheet;
  /** The width of a cell, and of the row headers. */
  readonly cell: number;
  readonly side: number;
  /** The width of the whole table. The lane is wider if its name and shape need more space. */
  readonly tableWidth: number;
  readonly width: number;
  /** The number of visible rows and columns; a window shows only some. */
  readonly rows: number;
  readonly columns: number;
  readonly isWindow: boolean;
  /** The space for a window's scroll bar. */
  readonly bar: number;
}

export interface Layout {
  readonly kind: "scatter" | "gather";
  readonly metrics: Metrics;
  /** Lanes in reading order: indices, updates, data, output. */
  readonly lanes: readonly Lane[];
  /** The positions of the lanes that are side by side, tier by tier from the top. */
  readonly tiers: readonly (readonly number[])[];
  /** `gutters[i]` is between lanes `i` and `i + 1` if these lanes are side by side. */
  readonly gutters: readonly Gutter[];
  readonly head: Head;
  readonly tierGap: number;
  /** True if minimaps of whole tensors are above the tables. */
  readonly hasMaps: boolean;
}

/** The size of the stage, and the properties that affect its layout. */
export interface Room {
  readonly width: number;
  readonly height: number;
  /** True for a small screen, on which touch input is expected. */
  readonly isNarrow: boolean;
  /** The minimum row height for drawing a whole table. */
  readonly least: number;
  /** True if the page is a frame in another page. */
  readonly isFrame: boolean;
  /** The width of a scroll bar; 0 if scroll bars overlay the content. */
  readonly bar: number;
}

/** Returns the width of a table: its row headers, and its columns with the space around them. */
export const tableWidthOf = (side: number, columns: number, cell: number): number =>
  side + columns * (cell + SPACING) + 2 * SPACING;

/** Returns the height of all rows of a table. */
export const heightOf = ({ rows, span, group }: Sheet, { pitch, gap }: Metrics): number =>
  HEAD + rows * span * pitch + (group > 0 ? Math.floor((rows - 1) / group) * gap : 0);

/** The height of the minimap above a window, in pixels. */
export const MINIMAP = 108;

/** The visible part of a table, as its first row and column. */
export interface Corner {
  readonly row: number;
  readonly column: number;
}

/** Returns the top of a row relative to its table; for a row out of view, the edge of the view. */
export function topOf(
  { sheet: own, rows, isWindow }: Lane,
  { pitch, gap }: Metrics,
  corner: Corner,
  row: number,
): number {
  const shown = isWindow ? Math.max(0, Math.min(rows, row - corner.row)) : row;
  const gaps = own.group > 0 && !isWindow ? Math.floor(row / own.group) * gap : 0;
  return HEAD + shown * own.span * pitch + gaps;
}

/** Returns the vertical extent of the rows from `begin` to `end`. */
export function bandOf(
  lane: Lane,
  metrics: Metrics,
  corner: Corner,
  begin: number,
  end: number,
): { readonly top: number; readonly bottom: number } {
  const top = topOf(lane, metrics, corner, begin);
  const last = topOf(lane, metrics, corner, end - 1);
  const isOut = lane.isWindow && (end <= corner.row || begin >= corner.row + lane.rows);
  return isOut
    ? { top, bottom: top }
    : { top: top + SPACING, bottom: Math.max(last + lane.sheet.span * metrics.pitch, top + 6) };
}
