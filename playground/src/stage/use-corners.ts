/** Tracks the visible parts of large tensors. */

import { useCallback, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Corner, Lane, Layout } from "./layout.ts";
import type { Session } from "../cells/session.ts";
import type { TensorId } from "../values/spot.ts";

export const ORIGIN: Corner = { row: 0, column: 0 };

type Corners = ReadonlyMap<TensorId, Corner>;

export interface Windows {
  readonly corners: Corners;
  onCorner(id: TensorId, corner: Corner): void;
  /**
   * Scrolls an element into view, as little as possible. Tables that follow the highlighted cell scroll by pages,
   * because a table that moves is redrawn. The tensor `kept` keeps its position while other tables follow.
   */
  onReveal(id: TensorId, element: number, kept?: TensorId | null): void;
}

/** What the page shows: a call, and where its tensors are drawn. */
export interface Viewed {
  readonly session: Session;
  readonly layout: Layout;
  readonly windows: Windows;
}

/** Returns the window positions of large tensors. `call` changes when another call is shown. */
export function useCorners({ lanes }: Layout, call: string): Windows {
  const [corners, setCorners] = useState<Corners>(new Map());
  // Scroll positions are reset, because they are meaningless in another call.
  useLayoutEffect(() => setCorners(new Map()), [call]);
  const known = useRef(lanes);
  known.current = lanes;
  // The old position may be beyond the last row of a smaller tensor.
  const valid = useMemo(() => {
    const within = new Map<TensorId, Corner>();
    for (const { id, sheet, rows, columns } of lanes) {
      const { row, column } = corners.get(id) ?? ORIGIN;
      within.set(id, {
        row: Math.max(0, Math.min(row, sheet.rows - rows)),
        column: Math.max(0, Math.min(column, sheet.columns - columns)),
      });
    }
    return within;
  }, [corners, lanes]);
  const onCorner = useCallback((id: TensorId, corner: Corner) => {
    setCorners((before) => withCorner(before, known.current, id, corner));
  }, []);
  const onReveal = useCallback((id: TensorId, element: number, kept?: TensorId | null) => {
    const lane = known.current.find((one) => one.id === id);
    if (lane === undefined || !lane.isWindow) return;
    const [y, x] = [Math.floor(element / lane.sheet.columns), element % lane.sheet.columns];
    setCorners((before) => {
      const { row, column } = before.get(id) ?? ORIGIN;
      const place = kept === undefined ? into : turnTo;
      const next = { row: place(y, row, lane.rows), column: place(x, column, lane.columns) };
      const isSame = next.row === row && next.column === column;
      if (isSame) return before;
      const corners = withCorner(before, known.current, id, next);
      // The tensor that other tables follow keeps its position, which may have changed since.
      return kept == null ? corners : corners.set(kept, before.get(kept) ?? ORIGIN);
    });
  }, []);
  return { corners: valid, onCorner, onReveal };
}

/** Scrolls tables that share rows together: data with the output, and indices with their updates. */
function withCorner(
  before: Corners,
  lanes: readonly Lane[],
  id: TensorId,
  corner: Corner,
): Map<TensorId, Corner> {
  const corners = new Map(before).set(id, corner);
  const lane = lanes.find((one) => one.id === id);
  if (lane === undefined) return corners;
  for (const other of lanes) {
    const { rows } = other.sheet;
    const [few, many] = [lane.sheet.rows, rows].toSorted((a, b) => a - b);
    const isBeside = other !== lane && few > 0 && many % few === 0;
    if (!isBeside || !PAIRS.has(`${lane.role} ${other.role}`)) continue;
    const row = Math.floor((corner.row * rows) / lane.sheet.rows);
    const isAlike = other.sheet.columns === lane.sheet.columns;
    corners.set(other.id, {
      row,
      column: isAlike ? corner.column : (before.get(other.id)?.column ?? 0),
    });
  }
  return corners;
}

const PAIRS: ReadonlySet<string> = new Set([
  "data output",
  "output data",
  "indices updates",
  "updates indices",
]);

/** Returns the first row to show: the current first row if the target row is visible, or else the target row. */
const turnTo = (row: number, first: number, count: number): number =>
  row >= first && row < first + count ? first : row;

/** Returns the start of a range of `length` that contains `at`, moved as little as possible. */
const into = (at: number, begin: number, length: number): number =>
  at < begin ? at : at >= begin + length ? at - length + 1 : begin;
