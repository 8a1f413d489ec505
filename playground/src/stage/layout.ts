/** Positions of tables and their rows, in pixels. `arrange.ts` decides the sizes and the order of the tables. */

import type { Sheet } from "./sheets.ts";
import { HEAD, SPACING, type Gutter, type Head, type Metrics } from "./metrics.ts";

/** A tensor of the page: an input by its position, or the output. */
export type TensorId = number | "output";

/** A tensor in the form that the layout needs. */
export interface Placed {
  readonly id: TensorId;
  readonly role: string;
  readonly shape: readonly number[];
  /** The characters that fit into a cell. */
  readonly digits: number;
  readonly name: string;
}

export interface Lane extends Placed {
  readonly sheet: Sheet;
  /** The width of a cell, and of the headers of rows. */
  readonly cell: number;
  readonly side: number;
  /** The width of the whole table. The lane is wider if its name and shape need more. */
  readonly tableWidth: number;
  readonly width: number;
  /** The rows and columns that are drawn; a window draws only some. */
  readonly rows: number;
  readonly columns: number;
  readonly isWindow: boolean;
  /** The space for a scroll bar of a window. */
  readonly bar: number;
}

export interface Layout {
  readonly kind: "scatter" | "gather";
  readonly metrics: Metrics;
  /** In reading order: indices, updates, data, output. */
  readonly lanes: readonly Lane[];
  /** The positions of lanes that stand side by side, tier by tier from the top. */
  readonly tiers: readonly (readonly number[])[];
  /** `gutters[i]` is between lanes `i` and `i + 1` if these are side by side. */
  readonly gutters: readonly Gutter[];
  readonly head: Head;
  readonly tierGap: number;
  /** True if small pictures of whole tensors stand above the tables. */
  readonly hasMaps: boolean;
}

/** The size of the stage. */
export interface Room {
  readonly width: number;
  readonly height: number;
  /** True for a small screen, which expects fingers. */
  readonly isNarrow: boolean;
  /** The least row height at which a whole table is drawn. */
  readonly least: number;
  /** True for a frame in another page. */
  readonly isFrame: boolean;
  /** The width of a scroll bar; 0 if scroll bars lie over what scrolls. */
  readonly bar: number;
}

/** The width of a table: the headers of its rows, and its columns with the space around them. */
export const tableWidthOf = (side: number, columns: number, cell: number): number =>
  side + columns * (cell + SPACING) + 2 * SPACING;

/** The height of all rows of a table. */
export const heightOf = ({ rows, span, group }: Sheet, { pitch, gap }: Metrics): number =>
  HEAD + rows * span * pitch + (group > 0 ? Math.floor((rows - 1) / group) * gap : 0);

/** The height of the picture of the whole tensor above a window. */
export const MINIMAP = 108;

/** The part of a table that is in view, by its first row and column. */
export interface Corner {
  readonly row: number;
  readonly column: number;
}

/** The top of a row relative to its table; for a row out of view, the border of the view. */
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

/** The band of rows from `begin` to `end`. */
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
