/** Which part of a large tensor is in view: a box that scrolls, and the rows and columns that its place stands for. */

import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { isDense, type Frame } from "./grid.tsx";
import { gridsOf } from "../model/shape.ts";

export interface View {
  /** Null where all of the tensor is there. */
  readonly frame: Frame | null;
  readonly box: RefObject<HTMLDivElement | null>;
  onScroll(): void;
  /** Brings an element into view. */
  reveal(element: number): void;
}

export function useView(shape: readonly number[]): View {
  const box = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState({ rows: 20, columns: 8 });
  const [corner, setCorner] = useState({ row: 0, column: 0 });
  const isWindowed = isDense(shape);
  const { rows, columns, grids } = gridsOf(shape);
  const all = rows * grids;
  const size = { rows: Math.min(room.rows, all), columns: Math.min(room.columns, columns) };
  const row = Math.min(corner.row, all - size.rows);
  const column = Math.min(corner.column, columns - size.columns);

  useLayoutEffect(() => {
    const { current } = box;
    if (current === null || !isWindowed) return;
    const measure = (): void => {
      const head = current.querySelector("th[scope=col]");
      const side = current.querySelector("th[scope=row]");
      const line = current.querySelector("tbody tr");
      if (head === null || side === null || line === null) return;
      // Between cells there is a pixel.
      const width = head.getBoundingClientRect().width + 1;
      const height = line.getBoundingClientRect().height + 1;
      const parent = current.parentElement?.parentElement?.clientWidth ?? 0;
      const free = parent - side.getBoundingClientRect().width - FRAME;
      const next = {
        rows: Math.max(LEAST, Math.floor((SHARE * window.innerHeight) / height)),
        columns: Math.max(LEAST, Math.floor(free / width)),
      };
      setRoom((before) =>
        before.rows === next.rows && before.columns === next.columns ? before : next,
      );
    };
    measure();
    window.addEventListener("resize", measure);
    return () => window.removeEventListener("resize", measure);
  });

  return {
    frame: isWindowed ? { row, column, ...size } : null,
    box,
    onScroll() {
      const { current } = box;
      if (current === null || !isWindowed) return;
      const { scrollTop, scrollLeft, scrollHeight, scrollWidth, clientHeight, clientWidth } =
        current;
      const next = {
        row: part(scrollTop, scrollHeight - clientHeight, all - size.rows),
        column: part(scrollLeft, scrollWidth - clientWidth, columns - size.columns),
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
      const { scrollHeight, scrollWidth, clientHeight, clientWidth } = current;
      current.scrollTop = place(next.row, all - size.rows, scrollHeight - clientHeight);
      current.scrollLeft = place(next.column, columns - size.columns, scrollWidth - clientWidth);
    },
  };
}

/** Rows and columns that are always there. */
const LEAST = 4;
/** How much of the height of the window a tensor takes at most. */
const SHARE = 0.6;
/** What stands beside the cells: padding, borders and a scroll bar. */
const FRAME = 48;

/** The step that a place of `most` stands for, and the place of a step. */
const part = (at: number, most: number, steps: number): number =>
  most <= 0 ? 0 : Math.round((at / most) * steps);
const place = (at: number, steps: number, most: number): number =>
  steps <= 0 ? 0 : (at / steps) * most;

/** Where a part of `length` begins that holds `at`, if it moves no further than it has to. */
const into = (at: number, begin: number, length: number): number =>
  at < begin ? at : at >= begin + length ? at - length + 1 : begin;
