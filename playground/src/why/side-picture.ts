/** Draws outputs as an SVG file, side by side or stacked if the width is too small. */

import { coordinatesOf, sizeOf } from "../values/shape.ts";
import {
  cut,
  element,
  round,
  svgFile,
  text,
  THEMES,
  wrapped,
  type Colours,
  type SvgTheme,
} from "../writing/svg-text.ts";
import type { Column, SideBySide } from "./side-by-side.ts";

// Sizes are in pixels. The width of a letter is 0.6 times the font size in both text sizes.
const MARGIN = 20;
const GAPS = { wide: 28, narrow: 14 };
const ROW = 34;
const PAIR = 48;
const SPACING = 4;
const LINE = 20;
/** The heights of the name and of the space under the note. */
const HEAD = 34;
const NOTE = 15;
/** The factor by which a picture may shrink to keep its tables side by side. */
const SHRINK = 1.25;
const WIDE_ROOM = 700;
const WIDE_LETTER = 8.4;
const LETTER = 7.8;
const SMALL_LETTER = 6.6;

/** The maximum number of rows and columns that a reader can compare. */
const MOST_ROWS = 12;
const MOST_COLUMNS = 8;
const MOST_DIGITS = 11;

/** The part of a table to draw, around the cells that differ. */
interface Crop {
  readonly columns: number;
  readonly rows: readonly number[];
  readonly from: number;
  readonly count: number;
}

interface Drawing {
  readonly side: SideBySide;
  readonly colours: Colours;
  readonly crop: Crop;
  readonly digits: number;
  readonly cell: number;
  /** The width of row labels. */
  readonly gutter: number;
  readonly block: number;
  readonly gap: number;
  /** The space above each table. */
  readonly head: number;
}

/** If the columns need more than `room` pixels, they are stacked. */
export function sidePicture(side: SideBySide, theme: SvgTheme, room: number): string {
  const colours = THEMES[theme];
  const drawing = measured(side, colours, room);
  const { block, crop, gap, head } = drawing;
  const inner = room - 2 * MARGIN;
  const across = side.columns.length * block + (side.columns.length - 1) * gap;
  const isStacked = across > (room > WIDE_ROOM ? SHRINK * inner : inner);
  const width = isStacked
    ? Math.max(block, Math.min(inner, 560))
    : Math.max(across, Math.min(inner, 620));
  const heads = wrapped(side.title, width / 9.6);
  const reasons = wrapped(side.reason, width / LETTER);
  const proofs = side.evidence.flatMap((one) => wrapped(one, width / 7.2));
  const top = MARGIN + heads.length * 24 + LINE + 18;
  const tall = head + crop.rows.reduce((sum, row) => sum + heightOf(row, drawing) + SPACING, 0);
  const below = top + (isStacked ? side.columns.length * (tall + 16) : tall) + 12;
  const height =
    below + (reasons.length + proofs.length) * LINE + (reasons.length > 0 ? 8 : 0) + MARGIN + 14;
  const whole = width + 2 * MARGIN;
  const line = (y: number, content: string, attributes: string): string =>
    text(MARGIN, y, content, attributes);
  const described = [side.verdict, side.reason, ...side.evidence].filter((one) => one !== "");
  const names = side.columns.map(({ name }) => name).join(", ");
  return svgFile([whole, height], [`${side.title}: ${names}`, described.join(" ")], colours, [
    ...heads.map((one, n) =>
      line(MARGIN + 16 + n * 24, one, `fill="${colours.ink}" font-weight="bold" font-size="16"`),
    ),
    line(MARGIN + 16 + heads.length * 24, side.verdict, `fill="${colours.soft}"`),
    ...side.columns.map((column, n) =>
      isStacked
        ? drawColumn(column, n, MARGIN, top + n * (tall + 16), drawing)
        : drawColumn(column, n, MARGIN + n * (block + gap), top, drawing),
    ),
    ...reasons.map((one, n) =>
      line(below + 8 + n * LINE, one, `fill="${colours.ink}" font-weight="bold"`),
    ),
    ...proofs.map((one, n) =>
      line(below + 14 + (reasons.length + n) * LINE, one, `fill="${colours.soft}" font-size="12"`),
    ),
    text(
      whole - MARGIN,
      height - 10,
      "ndscatter",
      `fill="${colours.soft}" font-size="11" text-anchor="end"`,
    ),
  ]);
}

function measured(side: SideBySide, colours: Colours, room: number): Drawing {
  const { shape } = side;
  const columns = shape.length < 2 ? 1 : (shape.at(-1) ?? 1);
  const size = sizeOf(shape);
  const rows = columns === 0 ? 0 : size / columns;
  const label = shape.length === 0 || rows === 0 ? "" : labelOf(shape, rows - 1);
  const gutter = label.length * SMALL_LETTER + (label === "" ? 0 : 8);
  const digits = digitsOf(side);
  const cell = Math.max(64, digits * WIDE_LETTER + 14, (digits + 6) * 5.4 + 8);
  const fitting = Math.floor((room - 2 * MARGIN - gutter) / (cell + SPACING));
  const count = Math.min(columns, MOST_COLUMNS, Math.max(1, fitting));
  const first = side.differing[0] ?? 0;
  const from = columns <= count ? 0 : Math.min(Math.max((first % columns) - 1, 0), columns - count);
  const crop = { columns, rows: rowsShown(side, rows, columns), from, count };
  const gap = room > WIDE_ROOM ? GAPS.wide : GAPS.narrow;
  const table = gutter + count * (cell + SPACING);
  const named = side.columns.map(({ name, note }) => Math.max(name.length * 9, note.length * 7.4));
  const spare = (room - 2 * MARGIN - gap * (side.columns.length - 1)) / side.columns.length;
  // Names are truncated and notes are wrapped, so that the tables fit.
  const block = Math.max(table, Math.min(...[Math.max(...named), 250, Math.max(spare, table)]));
  const lines = Math.max(...side.columns.map(({ note }) => wrapped(note, block / 7.4).length));
  return { side, colours, crop, digits, cell, gutter, block, gap, head: HEAD + lines * NOTE };
}

/** Returns the length of the longest visible value, limited so that three tables fit. */
function digitsOf({ columns, differing, shape }: SideBySide): number {
  const few = sizeOf(shape) > 4096;
  const looked = few ? differing.slice(0, 512) : Array.from({ length: sizeOf(shape) }, (_, p) => p);
  const longest = Math.max(
    1,
    ...columns.map(({ texts }) =>
      looked.reduce((most, p) => Math.max(most, Array.from(texts?.[p] ?? "").length), 1),
    ),
  );
  return Math.min(longest, MOST_DIGITS);
}

/** Returns the coordinates of a table row; in a list, of the row's element. */
const labelOf = (shape: readonly number[], row: number): string =>
  coordinatesOf(row, shape.length === 1 ? shape : shape.slice(0, -1)).join(",");

/** Returns the rows with differing cells and their neighbouring rows, in order. */
function rowsShown({ differing }: SideBySide, rows: number, columns: number): number[] {
  if (rows <= MOST_ROWS) return Array.from({ length: rows }, (_, row) => row);
  const chosen = new Set<number>();
  for (const cell of differing) {
    if (chosen.size === MOST_ROWS) break;
    chosen.add(Math.floor(cell / columns));
  }
  for (let row = Math.max(0, Math.min(...chosen, rows - 1) - 1); chosen.size < MOST_ROWS; row++) {
    chosen.add(row % rows);
  }
  return [...chosen].toSorted((a, b) => a - b);
}

/** Returns a row's height, which is larger if a cell shows two values. */
const heightOf = (row: number, { side, crop }: Drawing): number =>
  cellsOf(row, crop).some((cell) => side.columns.some((column) => column.mark(cell) !== "same"))
    ? PAIR
    : ROW;

const cellsOf = (row: number, { columns, from, count }: Crop): number[] =>
  Array.from({ length: count }, (_, i) => row * columns + from + i);

function drawColumn(column: Column, place: number, x: number, y: number, drawing: Drawing): string {
  const { colours, crop, side, gutter, block, head } = drawing;
  const { name, note, texts } = column;
  const hasDiffering = note.startsWith("differs");
  const ink = hasDiffering ? colours.bad : note.startsWith("equal") ? colours.good : colours.soft;
  const parts = [
    text(
      x,
      y + 14,
      cut(name, Math.floor(block / 9)),
      `fill="${colours.ink}" font-weight="bold" font-size="15"`,
    ),
    ...wrapped(note, block / 7.4).map((one, n) =>
      text(x, y + 33 + n * NOTE, one, `fill="${ink}" font-size="12"`),
    ),
  ];
  if (texts === null) return `<g>${parts.join("")}</g>`;
  let at = y + head;
  let before = -1;
  for (const row of crop.rows) {
    const height = heightOf(row, drawing);
    if (row > before + 1) {
      parts.push(
        `<path d="M${round(x)} ${round(at - SPACING / 2)}h${round(block)}" stroke="${colours.soft}" stroke-dasharray="2 4"/>`,
      );
    }
    before = row;
    if (gutter > 0) {
      parts.push(
        text(
          x + gutter - 7,
          at + height / 2 + 4,
          labelOf(side.shape, row),
          `fill="${colours.soft}" font-size="11" text-anchor="end"`,
        ),
      );
    }
    cellsOf(row, crop).forEach((cell, i) => {
      const left = x + gutter + i * (drawing.cell + SPACING);
      parts.push(drawCell(column, cell, place, left, at, height, drawing));
    });
    at += height + SPACING;
  }
  return `<g>${parts.join("")}</g>`;
}

/** Draws a cell. If the values differ, the other value is drawn below. */
function drawCell(
  column: Column,
  cell: number,
  place: number,
  x: number,
  y: number,
  height: number,
  { side, colours, cell: width, digits }: Drawing,
): string {
  const value = column.texts?.[cell] ?? "–";
  const mark = column.mark(cell);
  const [yours, exact] = side.columns;
  const isTold = place === 1 && yours.mark(cell) === "differs";
  const colour = isTold ? colours.good : mark === "open" ? colours.hues[0] : colours.bad;
  const isMarked = isTold || mark !== "same";
  const box = `x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${height}" rx="4"`;
  const middle = x + width / 2;
  const other = isTold ? yours.texts?.[cell] : exact.texts?.[cell];
  const under =
    mark === "open" ? "may differ" : isTold ? `yours ${other}` : `exact ${other ?? "–"}`;
  const small = cut(under, Math.floor((width - 4) / 5.4));
  return [
    `<rect ${box} fill="${colours.cell}" stroke="${colours.line}"/>`,
    isMarked
      ? `<rect ${box} fill="${colour}" fill-opacity="0.14" stroke="${colour}" stroke-width="1.5"/>`
      : "",
    `<g>${element("title", "", `${value}${isMarked ? `; ${under}` : ""}`)}${text(
      middle,
      y + (isMarked ? height / 2 - 2 : height / 2 + 5),
      cut(value, digits),
      `fill="${isMarked ? colour : colours.ink}" font-size="14" text-anchor="middle"${isMarked ? ' font-weight="bold"' : ""}`,
    )}`,
    isMarked
      ? text(
          middle,
          y + height - 9,
          small,
          `fill="${colours.soft}" font-size="9" text-anchor="middle"`,
        )
      : "",
    "</g>",
  ].join("");
}
