/** Returns the picture of outputs side by side, or stacked if the width is too small. */

import type { Cells } from "../cells/cells.ts";
import { NOTHING_SAID } from "../cells/cells.ts";
import { layOut } from "../stage/arrange.ts";
import type { Corner, Lane, Layout, Placed } from "../stage/layout.ts";
import { plainSheet } from "../stage/sheets.ts";
import { NO_WIRING } from "../stage/wiring.ts";
import { sizeOf } from "../values/shape.ts";
import type { Scene } from "../writing/scene.ts";
import type { Column, Mark, SideBySide } from "./side-by-side.ts";

/** The height of a row, which has space for two values, and the most rows and digits that a reader can compare. */
const PITCH = 40;
const MOST_ROWS = 12;
const MOST_DIGITS = 11;
const WIDE_ROOM = 700;
const NO_OUTPUT = [0];

/** The place of the exact output. */
const EXACT = 1;

/** If the columns need more than `width` pixels, they are stacked. */
export function sideScene(side: SideBySide, width: number): Scene {
  const { title, verdict, reason, evidence, columns, differing } = side;
  const cells = columns.map((_, place) => cellsOf(side, place));
  const layout = layoutOf(side, cells, width);
  return {
    title,
    sentences: [verdict, reason, ...evidence].filter((one) => one !== ""),
    layout,
    lanes: layout.lanes.map((lane, place) => ({
      type: columns[place].note,
      cells: cells[place],
      corner: cornerAt(differing[0] ?? 0, lane),
      markOf: (cell) => markOf(columns[place].mark(cell), place),
    })),
    wiring: NO_WIRING,
    verb: "",
  };
}

const markOf = (mark: Mark, place: number): "right" | "wrong" | "open" =>
  mark === "open" ? "open" : place === EXACT ? "right" : "wrong";

/** Returns the cells of a column. Cells that differ have a second value: in yours the exact one, in exact yours. */
function cellsOf({ columns }: SideBySide, place: number): Cells {
  const [yours, exact] = columns;
  const { texts, mark } = columns[place];
  const others = new Map<number, string>();
  for (const cell of texts?.keys() ?? []) {
    const isTold = place === EXACT && yours.mark(cell) === "differs";
    if (isTold) others.set(cell, `yours ${yours.texts?.[cell] ?? "–"}`);
    else if (mark(cell) === "open") others.set(cell, "may differ");
    else if (mark(cell) === "differs") others.set(cell, `exact ${exact.texts?.[cell] ?? "–"}`);
  }
  return { ...NOTHING_SAID, values: (texts ?? []).map((text) => text ?? "–"), others };
}

function layoutOf(
  { columns, shape, differing }: SideBySide,
  cells: readonly Cells[],
  width: number,
): Layout {
  const digits = digitsOf(cells, sizeOf(shape) > MOST_MEASURED ? differing : null);
  const tensors = columns.map(({ name, note, texts }: Column, id): Placed => ({
    ...{ id, role: name, digits, shape: texts === null ? NO_OUTPUT : shape },
    // The note is part of the header, so the layout leaves space for it.
    name: name.length > note.length ? name : note,
  }));
  const rows = Math.min(MOST_ROWS, Math.max(1, plainSheet(shape).rows));
  const room = { isNarrow: width < WIDE_ROOM, least: PITCH, isFrame: false, bar: 0 };
  const within = (tiers: number): Layout => {
    const height = tiers * (rows * (PITCH + 8) + HEADER);
    return layOut({ op: "", axis: 0, tensors }, { ...room, width, height });
  };
  const flat = within(1);
  const layout = flat.lanes.some(({ isWindow }) => isWindow) ? within(columns.length) : flat;
  return {
    ...layout,
    lanes: layout.lanes.map((lane, at) => ({ ...lane, name: columns[at].name })),
  };
}

/** The largest space above a table. */
const HEADER = 110;

/** In a larger tensor, only the cells that differ are measured. */
const MOST_MEASURED = 4096;

/** Returns the length of the longest value, limited so that three tables fit. */
function digitsOf(cells: readonly Cells[], few: readonly number[] | null): number {
  const lengths = cells.flatMap(({ values }) => {
    const measured = few === null ? values : few.slice(0, 512).map((cell) => values[cell] ?? "");
    return measured.map((text) => Array.from(text).length);
  });
  return Math.min(Math.max(...lengths, LEAST_DIGITS), MOST_DIGITS);
}

/** The space for the second value, which is smaller. */
const LEAST_DIGITS = 5;

/** Returns the corner of a window that shows a cell. */
const cornerAt = (cell: number, { sheet, rows, columns }: Lane): Corner => ({
  row: firstSeen(Math.floor(cell / sheet.columns), rows, sheet.rows),
  column: firstSeen(cell % sheet.columns, columns, sheet.columns),
});

/** Returns the first of `shown` rows or columns, so that one is before `at`, if possible. */
const firstSeen = (at: number, shown: number, all: number): number =>
  Math.max(0, Math.min(at - 1, all - shown));
