/** The part of a large tensor that is in view: a box that scrolls, and the rows and columns for its position. */

import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { gridsOf } from "../model/shape.ts";
import { isDense, type Frame } from "./grid.tsx";

export interface View {
  /** Null where the whole tensor is drawn. */
  readonly frame: Frame | null;
  readonly box: RefObject<HTMLDivElement | null>;
  onScroll(): void;
  /** Brings an element into view. */
  reveal(element: number): void;
}

/** Rows and columns. */
interface Extent {
  readonly rows: number;
  readonly columns: number;
}

export function useView(shape: readonly number[]): View {
  const box = useRef<HTMLDivElement>(null);
  const isWindowed = isDense(shape);
  const room = useRoom(box, isWindowed);
  const [corner, setCorner] = useState({ row: 0, column: 0 });
  const { rows, columns, grids } = gridsOf(shape);
  const all = rows * grids;
  const size = { rows: Math.min(room.rows, all), columns: Math.min(room.columns, columns) };
  const row = Math.min(corner.row, all - size.rows);
  const column = Math.min(corner.column, columns - size.columns);
  return {
    frame: isWindowed ? { row, column, ...size } : null,
    box,
    onScroll() {
      const { current } = box;
      if (current === null || !isWindowed) return;
      const { scrollTop, scrollLeft } = current;
      const [down, right] = scrollRangeOf(current);
      const next = {
        row: stepAt(scrollTop, down, all - size.rows),
        column: stepAt(scrollLeft, right, columns - size.columns),
      };
      if (next.row !== row || next.column !== column) setCorner(next);
    },
    reveal(element) {
      const { current } = box;
      if (current === null || !isWindowed) return;
      const [y, x] = [Math.floor(element / columns), element % columns];
      const next = { row: into(y, row, size.rows), column: into(x, column, size.columns) };
      if (next.row === row && next.column === column) return;
      setCorner(next);
      const [down, right] = scrollRangeOf(current);
      current.scrollTop = positionAt(next.row, all - size.rows, down);
      current.scrollLeft = positionAt(next.column, columns - size.columns, right);
    },
  };
}

/** At least so many rows and columns are drawn. */
const LEAST = 4;
/** The greatest share of the window's height that a tensor takes. */
const SHARE = 0.6;
/** Pixels beside the cells: padding, borders and a scroll bar. */
const FRAME = 48;

/** The number of rows and columns that there is room for. */
function useRoom(box: RefObject<HTMLDivElement | null>, isWindowed: boolean): Extent {
  const [room, setRoom] = useState<Extent>({ rows: 20, columns: 8 });
  useLayoutEffect(() => {
    const { current } = box;
    if (current === null || !isWindowed) return;
    const measure = (): void => {
      const next = roomIn(current);
      if (next === null) return;
      setRoom((before) =>
        before.rows === next.rows && before.columns === next.columns ? before : next,
      );
    };
    measure();
    window.addEventListener("resize", measure);
    return () => window.removeEventListener("resize", measure);
  });
  return room;
}

function roomIn(box: HTMLDivElement): Extent | null {
  const head = box.querySelector("th[scope=col]");
  const side = box.querySelector("th[scope=row]");
  const line = box.querySelector("tbody tr");
  if (head === null || side === null || line === null) return null;
  // There is one pixel between cells.
  const width = head.getBoundingClientRect().width + 1;
  const height = line.getBoundingClientRect().height + 1;
  const parent = box.parentElement?.parentElement?.clientWidth ?? 0;
  const free = parent - side.getBoundingClientRect().width - FRAME;
  return {
    rows: Math.max(LEAST, Math.floor((SHARE * window.innerHeight) / height)),
    columns: Math.max(LEAST, Math.floor(free / width)),
  };
}

/** How far a box scrolls down, and to the right. */
const scrollRangeOf = (box: HTMLElement): readonly [down: number, right: number] => [
  box.scrollHeight - box.clientHeight,
  box.scrollWidth - box.clientWidth,
];

/** The step, a row or column, for a scroll position of `most`. */
const stepAt = (position: number, most: number, steps: number): number =>
  most <= 0 ? 0 : Math.round((position / most) * steps);

/** The scroll position for a step. */
const positionAt = (step: number, steps: number, most: number): number =>
  steps <= 0 ? 0 : (step / steps) * most;

/** The begin of a part of `length` that holds `at`, moved no further than necessary. */
const into = (at: number, begin: number, length: number): number =>
  at < begin ? at : at >= begin + length ? at - length + 1 : begin;
