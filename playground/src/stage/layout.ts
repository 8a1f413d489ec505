/**
 * Where the tables of a call stand, in pixels: how each tensor is folded into rows and columns, in which order the tables
 * come, and how large their cells are. Tables that belong together have the same rows, so that an index tuple stands
 * beside its updates, and data beside the output. Nothing is measured on the page but the room that there is.
 */

import { sizeOf } from "../values/shape.ts";
import {
  indexFormOf,
  isAligned,
  plainSheet,
  sheetsOf,
  type IndexForm,
  type Sheet,
} from "./sheets.ts";

/** A tensor of the page: an input by its position, or the output. */
export type TensorId = number | "output";

/** A tensor as the layout needs it. */
export interface Placed {
  readonly id: TensorId;
  readonly role: string;
  readonly shape: readonly number[];
  /** Characters that a cell has room for. */
  readonly digits: number;
  readonly name: string;
}

/** Sizes in pixels. */
export interface Metrics {
  /** From the top of a row to that of the next. */
  readonly pitch: number;
  readonly font: number;
  /** The least width of a cell. */
  readonly least: number;
  /** The room beside the characters of a cell. */
  readonly padding: number;
  /** Between groups of rows. */
  readonly gap: number;
  /** The widths of what stands between tables. */
  readonly gutters: Readonly<Record<Gutter, number>>;
}

/** What is drawn between two tables: the target of each tuple, arrows, or that data becomes the output. */
export type Gutter = "chips" | "wires" | "becomes" | "gap";

const WIDEST = { chips: 150, wires: 180, becomes: 96, gap: 48 };
const WIDER = { chips: 116, wires: 136, becomes: 72, gap: 36 };
const WIDE = { chips: 84, wires: 96, becomes: 52, gap: 24 };
const TIGHT = { chips: 66, wires: 60, becomes: 40, gap: 12 };

/** From the largest to the smallest. The last shows parts of tensors that have no room. */
const DENSITIES: readonly [Metrics, ...Metrics[]] = [
  { pitch: 96, font: 40, least: 116, padding: 38, gap: 30, gutters: WIDEST },
  { pitch: 76, font: 32, least: 92, padding: 30, gap: 24, gutters: WIDER },
  { pitch: 60, font: 25, least: 73, padding: 24, gap: 20, gutters: WIDER },
  { pitch: 46, font: 19, least: 56, padding: 18, gap: 16, gutters: WIDE },
  { pitch: 38, font: 16, least: 46, padding: 16, gap: 14, gutters: WIDE },
  { pitch: 31, font: 14, least: 36, padding: 12, gap: 10, gutters: WIDE },
  { pitch: 25, font: 12, least: 26, padding: 8, gap: 8, gutters: TIGHT },
  { pitch: 20, font: 11, least: 20, padding: 5, gap: 6, gutters: TIGHT },
];
/** On a phone cells are at least as large as a finger needs. */
const TOUCH: Metrics = {
  ...{ pitch: 44, font: 14, least: 44, padding: 8, gap: 10 },
  gutters: { ...TIGHT, chips: 62, gap: 8 },
};

/** Between cells, above the first row for the numbers of columns, and a character of a monospace font. */
export const SPACING = 2;
export const HEAD = 18;
const CHARACTER = 0.605;

export interface Lane extends Placed {
  readonly sheet: Sheet;
  /** The width of a cell, and of the headers of rows. */
  readonly cell: number;
  readonly side: number;
  /** Of the whole table. The lane is wider where its name and shape need more. */
  readonly tableWidth: number;
  readonly width: number;
  /** How many rows and columns are drawn: fewer than there are in a window. */
  readonly rows: number;
  readonly columns: number;
  readonly isWindow: boolean;
}

export interface Layout {
  readonly kind: "scatter" | "gather";
  readonly metrics: Metrics;
  /** From left to right; under 900 pixels the output, then data, come below the others. */
  readonly lanes: readonly Lane[];
  /** `gutters[i]` stands between lanes `i` and `i + 1`. */
  readonly gutters: readonly Gutter[];
  readonly isNarrow: boolean;
  /** Whether small pictures of whole tensors stand above the tables. */
  readonly hasMaps: boolean;
}

export interface Room {
  readonly width: number;
  /** For the rows of tables; Infinity where the page scrolls. */
  readonly height: number;
  readonly isNarrow: boolean;
}

/** Characters of a row's number: its coordinates with commas. */
function labelDigits(shape: readonly number[], { columns }: Sheet): number {
  // A column of all elements names them by all coordinates.
  const axes = shape.length < 2 || columns < (shape.at(-1) ?? 0) ? shape : shape.slice(0, -1);
  const digits = axes.reduce((sum, dim) => sum + String(Math.max(dim - 1, 0)).length, 0);
  return digits + Math.max(0, axes.length - 1);
}

/** The width that the name, the data type and the shape of a lane need. */
const headWidth = ({ name, shape, id }: Placed, isShort: boolean): number => {
  // On a phone only the words are there; what changes them is behind a button.
  if (isShort) {
    return shape.reduce((sum, dim) => sum + String(dim).length + 2, Math.max(name.length, 11)) * 7;
  }
  return Math.max(
    name.length * 9.6 + (id === "output" ? 4 : 46),
    shape.reduce((sum, dim) => sum + 18 + 8 * String(dim).length, 24) + (id === "output" ? 0 : 56),
    84,
  );
};

const LARGEST_WINDOW = { rows: 64, columns: 64 };
const LEAST_WINDOW = 4;
/** On a phone longer tables scroll by themselves. */
const MOST_NARROW_ROWS = 6;

interface Call {
  readonly op: string;
  readonly axis: number;
  readonly tensors: readonly Placed[];
}

const ORDER = ["axis", "indices", "updates", "data", "output"];

/** The layout of a call in the room that there is: the largest cells with which every table fits as a whole. */
export function layOut({ op, axis, tensors }: Call, room: Room): Layout {
  const form = indexFormOf(op);
  const sorted = tensors.toSorted((a, b) => ORDER.indexOf(a.role) - ORDER.indexOf(b.role));
  const shapes = new Map(sorted.map(({ role, shape }) => [role, shape]));
  const sheets = sheetsOf(form, axis, shapes);
  const kind: Layout["kind"] = op.includes("Gather") ? "gather" : "scatter";
  const gutters = sorted
    .slice(1)
    .map(({ role }, before) => gutterBetween(kind, form, [sorted[before].role, role], sheets));
  const make = (metrics: Metrics): Lane[] =>
    sorted.map((one) => laneOf(one, sheets.get(one.role) ?? plainSheet(one.shape), metrics));
  const common = { kind, gutters, isNarrow: room.isNarrow };
  if (room.isNarrow) {
    const lanes = narrowed(make(TOUCH), gutters[0] ?? "gap", room);
    return { ...common, metrics: TOUCH, lanes, hasMaps: areLarge(lanes) };
  }
  const betweenOf = (metrics: Metrics): number =>
    gutters.reduce((sum, gutter) => sum + metrics.gutters[gutter], 0);
  for (const metrics of DENSITIES) {
    const lanes = make(metrics);
    const width = lanes.reduce((sum, lane) => sum + lane.width, betweenOf(metrics));
    const height = Math.max(...lanes.map((lane) => heightOf(lane.sheet, metrics)));
    if (width <= room.width && height <= room.height) {
      return { ...common, metrics, lanes, hasMaps: false };
    }
  }
  const metrics = DENSITIES[DENSITIES.length - 1];
  const whole = make(metrics);
  const hasMaps = areLarge(whole);
  const free = {
    ...room,
    width: room.width - betweenOf(metrics),
    height: room.height - (hasMaps ? MINIMAP : 0),
  };
  return { ...common, metrics, lanes: windowed(whole, metrics, free), hasMaps };
}

/** Whether a tensor is one that nobody can look over by scrolling. */
const areLarge = (lanes: readonly Lane[]): boolean =>
  lanes.some(({ shape }) => sizeOf(shape) > SMALL);

/** Elements of a tensor that can be looked over. */
const SMALL = 300;

function gutterBetween(
  kind: Layout["kind"],
  form: IndexForm | undefined,
  [left, right]: readonly [string, string],
  sheets: ReadonlyMap<string, Sheet>,
): Gutter {
  if (left === "axis") return "gap";
  if (right === "updates") {
    // Where each element of a row is an index by itself, the row has no target of its own.
    const isRow = form !== "elements" && isAligned(sheets.get(left), sheets.get(right));
    return isRow ? "chips" : "gap";
  }
  return right === "output" && kind === "scatter" ? "becomes" : "wires";
}

function laneOf(placed: Placed, own: Sheet, metrics: Metrics): Lane {
  const { font, least, padding } = metrics;
  const cell = Math.max(least, Math.ceil(placed.digits * font * CHARACTER + padding));
  const side = placed.shape.length === 0 ? 0 : Math.ceil(labelDigits(placed.shape, own) * 6.7 + 9);
  const tableWidth = tableWidthOf(side, own.columns, cell);
  return {
    ...placed,
    sheet: own,
    cell,
    side,
    tableWidth,
    width: Math.ceil(Math.max(tableWidth, headWidth(placed, metrics === TOUCH))),
    rows: own.rows,
    columns: own.columns,
    isWindow: false,
  };
}

/** The width of a table: the headers of its rows, and its columns with the space around them. */
export const tableWidthOf = (side: number, columns: number, cell: number): number =>
  side + columns * (cell + SPACING) + 2 * SPACING;

/** The height of all rows of a table. */
export const heightOf = ({ rows, span, group }: Sheet, { pitch, gap }: Metrics): number =>
  HEAD + rows * span * pitch + (group > 0 ? Math.floor((rows - 1) / group) * gap : 0);

/** The lanes of a phone: the first two side by side, the others below, each as wide as the screen at most. */
function narrowed(lanes: readonly Lane[], gutter: Gutter, { width }: Room): Lane[] {
  const isGather = lanes.every(({ role }) => role !== "updates");
  const paired = lanes.filter(({ role }) => role !== "output" && (role !== "data" || isGather));
  const [first] = paired;
  return lanes.map((lane) => {
    const { sheet: own, cell, side } = lane;
    const isBeside = paired.length > 1 && paired.includes(lane);
    const others =
      isBeside && lane !== first ? Math.min(first.width, width / 2) + TOUCH.gutters[gutter] : 0;
    const most = isBeside && lane === first ? width / 2 : width - others;
    const columns = Math.floor((most - side - 2 * SPACING) / (cell + SPACING));
    const isTall = own.rows * own.span > MOST_NARROW_ROWS;
    if (!isTall && columns >= own.columns) return { ...lane, width: Math.min(lane.width, most) };
    const room = isTall
      ? Math.floor((most - SCROLLBAR - side - 2 * SPACING) / (cell + SPACING))
      : columns;
    return withWindow(lane, MOST_NARROW_ROWS, room);
  });
}

/** The part of a table that is drawn. Rows of a window are all alike, so that they can be scrolled. */
function withWindow(lane: Lane, rows: number, columns: number): Lane {
  const { sheet: whole, cell, side } = lane;
  // A row that is taller than half of the window would leave no other in sight.
  const own = { ...whole, group: 0, span: whole.span > rows / 2 ? 1 : whole.span };
  const shown = {
    rows: Math.min(own.rows, LARGEST_WINDOW.rows, Math.max(Math.floor(rows / own.span), 1)),
    columns: Math.min(own.columns, LARGEST_WINDOW.columns, Math.max(columns, 2)),
  };
  const tableWidth = tableWidthOf(side, shown.columns, cell);
  const width = Math.max(tableWidth + SCROLLBAR, Math.min(headWidth(lane, false), lane.width));
  return {
    ...lane,
    sheet: own,
    ...shown,
    tableWidth,
    width: Math.ceil(width),
    isWindow: true,
  };
}

export const SCROLLBAR = 14;

/** Above a window stands the picture of the whole tensor. */
export const MINIMAP = 108;

/** Gives each lane the room that it needs, and those that need more than their share an equal part of what is left. */
function windowed(lanes: readonly Lane[], { pitch }: Metrics, room: Room): Lane[] {
  const rows = Math.max(LEAST_WINDOW, Math.floor((room.height - HEAD) / pitch));
  const open = new Set(lanes);
  let left = room.width;
  for (let isSettled = false; !isSettled;) {
    isSettled = true;
    const share = left / Math.max(open.size, 1);
    for (const lane of open) {
      if (lane.width + SCROLLBAR > share) continue;
      open.delete(lane);
      left -= lane.width + SCROLLBAR;
      isSettled = false;
      break;
    }
  }
  const share = left / Math.max(open.size, 1);
  return lanes.map((lane) => {
    const { sheet: own, cell, side } = lane;
    const free = open.has(lane) ? share - SCROLLBAR - side - 2 * SPACING : Infinity;
    const columns = Math.max(
      LEAST_WINDOW,
      Math.min(own.columns, Math.floor(free / (cell + SPACING))),
    );
    // All tables of a call are windows as soon as one is, so that their rows stand on one grid.
    return withWindow(lane, rows, columns);
  });
}

/** The part of a table that is in view, by its first row and column. */
export interface Corner {
  readonly row: number;
  readonly column: number;
}

/** The top of a row, from the top of its table; of a row out of view, the border of the view. */
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

/** Where rows from `begin` to `end` stand. */
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
