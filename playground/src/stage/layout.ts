/** Computes the pixel positions of tables and rows. The sizes and order of tables are determined in `arrange.ts`. */

import type { Sheet } from "./sheets.ts";
import { HEAD, SPACING, type Gutter, type Head, type Metrics } from "./metrics.ts";
import type { TensorId } from "../values/spot.ts";

/** The properties of a tensor that the layout depends on. */
export interface Placed {
  readonly id: TensorId;
  readonly role: string;
  readonly shape: readonly number[];
  /** The numbers of the rows in a larger tensor, if this tensor is a part of it. */
  readonly rowNumbers?: readonly number[] | undefined;
  /** The number of characters that fit into a cell. */
  readonly digits: number;
  readonly name: string;
}

export interface Lane extends Placed {
  readonly sheet: Sheet;
  /** The widths of a cell and of the row headers. */
  readonly cell: number;
  readonly side: number;
  /** The width of the whole table. The header is wider than the table if the name and shape need more space. */
  readonly tableWidth: number;
  readonly width: number;
  /** The number of visible rows and columns, which is smaller than the whole table in a window. */
  readonly rows: number;
  readonly columns: number;
  readonly isWindow: boolean;
  /** The space for a window's scroll bar. */
  readonly bar: number;
}

export interface Layout {
  readonly kind: "scatter" | "gather";
  readonly metrics: Metrics;
  /** Tensors in reading order: indices, updates, data, output. */
  readonly lanes: readonly Lane[];
  /** The positions of the tensors in each tier, from the top tier down. */
  readonly tiers: readonly (readonly number[])[];
  /** The gap `gutters[i]` is between tensors `i` and `i + 1` if both are in the same tier. */
  readonly gutters: readonly Gutter[];
  readonly head: Head;
  readonly tierGap: number;
  /** The width of the space for lines from one tier to another, left of all tables; 0 if no line needs the space. */
  readonly bus: number;
  /** True if minimaps of whole tensors are above the tables. */
  readonly hasMaps: boolean;
}

/** The stage's size, and other properties that affect the layout. */
export interface Room {
  readonly width: number;
  readonly height: number;
  /** True for a small screen, on which touch input is expected. */
  readonly isNarrow: boolean;
  /** The minimum row height for drawing a whole table. */
  readonly least: number;
  /** True if the page is embedded as a frame in another page. */
  readonly isFrame: boolean;
  /** The width of a scroll bar; 0 if scroll bars overlay the content. */
  readonly bar: number;
}

/** Returns a table's width: row headers, columns, and the space around them. */
export const tableWidthOf = (side: number, columns: number, cell: number): number =>
  side + columns * (cell + SPACING) + 2 * SPACING;

/** Returns the total height of a table's rows. */
export const heightOf = ({ rows, span, group }: Sheet, { pitch, gap }: Metrics): number =>
  HEAD + rows * span * pitch + (group > 0 ? Math.floor((rows - 1) / group) * gap : 0);

/** The roles of tables that lines connect. */
export const LINES: Readonly<
  Record<Layout["kind"], readonly (readonly [from: string, to: string])[]>
> = {
  scatter: [["updates", "data"]],
  gather: [
    ["indices", "data"],
    ["data", "output"],
  ],
};

/** A connection between tables in different tiers, as positions of the tables and numbers of their tiers. */
export interface Crossing {
  readonly role: string;
  readonly tables: readonly [from: number, to: number];
  readonly tiers: readonly [from: number, to: number];
}

/** Returns the connections from one tier to another. Lines leave a tier at its left edge. */
export function crossingsOf(
  kind: Layout["kind"],
  tables: readonly { readonly role: string }[],
  tiers: Layout["tiers"],
): readonly Crossing[] {
  const roles = tables.map(({ role }) => role);
  return LINES[kind].flatMap(([role, other]): Crossing[] => {
    const [from, to] = [role, other].map((one) => roles.indexOf(one));
    const [first, last] = [from, to].map((table) => tiers.findIndex((one) => one.includes(table)));
    // Left of data, indices would seem to be the source.
    const isHidden = role === "data" && tiers[first]?.[0] !== from;
    if (first === -1 || last === -1 || first === last || isHidden) return [];
    return [{ role, tables: [from, to], tiers: [first, last] }];
  });
}

/** The height of the minimap above a window, in pixels. */
export const MINIMAP = 108;

/** The visible part of a table, as its first row and column. */
export interface Corner {
  readonly row: number;
  readonly column: number;
}

/** Returns a row's top edge relative to its table, or the edge of the view for a row out of view. */
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
