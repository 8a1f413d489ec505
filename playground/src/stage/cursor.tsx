/**
 * A tensor's table, with keyboard and pointer handlers. Tab moves the focus to the table's active cell, and arrow keys
 * move to other cells.
 */

import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Corner, Lane } from "./layout.ts";
import { HEAD, SPACING } from "./metrics.ts";
import { sizeOf } from "../values/shape.ts";
import { cellId } from "../values/spot.ts";
import type { LaneProps } from "./lane-props.ts";
import { elementOf, Sheet, type Editing as Edited, type Move } from "./sheet.tsx";

interface CursorProps extends LaneProps {
  /** Handles text pasted on a cell. */
  onPasted(text: string, element: number): void;
}

interface Editing {
  readonly active: number;
  readonly editing: Edited | null;
  /** True if a cell has the focus, or had the focus when it was removed. */
  readonly hasFocus: { current: boolean };
  setActive(element: number): void;
  go(element: number): void;
  /** `typed` is the text that replaces the value. */
  edit(element: number, typed?: string): void;
  onEdited(element: number, text: string | undefined, move: Move | null): void;
}

function useEditing({ id, lane, cells, edits, onReveal }: CursorProps): Editing {
  const { shape, sheet } = lane;
  const size = sizeOf(shape);
  const [wanted, setWanted] = useState(0);
  const [editing, setEditing] = useState<Edited | null>(null);
  const isEditing = useRef(false);
  const focusNext = useRef(false);
  const hasFocus = useRef(false);
  const active = Math.min(wanted, Math.max(size - 1, 0));
  useLayoutEffect(() => {
    if (!focusNext.current || editing !== null) return;
    const cell = document.getElementById(cellId(id, active));
    if (cell === null) return;
    focusNext.current = false;
    cell.focus({ preventScroll: lane.isWindow });
  });
  const go = (element: number): void => {
    focusNext.current = true;
    onReveal(id, element);
    setWanted(element);
  };
  // The focused cell must keep the focus when a window shrinks.
  useLayoutEffect(() => {
    const isLost = hasFocus.current && document.activeElement === document.body;
    if (isLost && editing === null) go(active);
  }, [lane.rows, lane.columns]);
  return {
    active,
    editing,
    hasFocus,
    setActive: setWanted,
    go,
    edit(element, typed) {
      if (edits === null) return;
      isEditing.current = true;
      setWanted(element);
      setEditing({ element, text: typed ?? cells.values[element], isTyped: typed !== undefined });
    },
    onEdited(element, text, move) {
      // Removing the field triggers another blur event, which must not count as a second edit.
      if (!isEditing.current) return;
      isEditing.current = false;
      setEditing(null);
      if (text !== undefined && text !== cells.values[element]) edits?.onValue(element, text);
      const to = { up: -sheet.columns, down: sheet.columns, left: -1, right: 1 };
      const next = element + (move === null ? 0 : to[move]);
      if (move !== null || text === undefined) go(next < 0 || next >= size ? element : next);
    },
  };
}

export function Cursor(props: CursorProps): JSX.Element {
  const { id, name, dtype, lane, metrics, corner, cells, edits } = props;
  const editor = useEditing(props);
  const box = useScrolling(props);
  const pointer = usePointer(props, editor);
  return (
    // The table's cells have the focus, and their events bubble up to this element.
    <div
      class={lane.isWindow ? "scroller window" : "scroller"}
      ref={box.ref}
      style={lane.isWindow ? { ...box.style, ...fadesOf(lane, corner) } : undefined}
      onScroll={box.onScroll}
      onKeyDown={(event) => onKeyDown(event, props, editor)}
      onPaste={(event) => onPaste(event, props, editor)}
      {...pointer}
    >
      {sizeOf(lane.shape) === 0 ? (
        <p class="empty">no elements: a dimension is 0</p>
      ) : (
        <div style={lane.isWindow ? box.inner : undefined}>
          <Sheet
            {...cells}
            id={id}
            name={`${name} [${lane.shape.join(", ")}] ${dtype}`}
            lane={lane}
            metrics={metrics}
            corner={corner}
            active={nearest(lane, corner, editor.active)}
            editing={editor.editing}
            isReadOnly={edits === null}
            hasTabs={props.hasTabs}
            onEdited={editor.onEdited}
          />
        </div>
      )}
    </div>
  );
}

/** Returns the widths of the fades at the edges of a window, beyond which there are more rows or columns. */
const fadesOf = ({ rows, columns, sheet }: Lane, { row, column }: Corner) => ({
  "--below": row + rows < sheet.rows ? "12px" : "0px",
  "--right": column + columns < sheet.columns ? "12px" : "0px",
});

/**
 * Returns the focus and pointer handlers. The first click on a cell shows its story; the second click edits the cell.
 */
function usePointer({ id, onSpot, onScrub }: CursorProps, editor: Editing) {
  const wasActive = useRef(false);
  const from = useRef(-1);
  return {
    onFocusIn(event: FocusEvent): void {
      const element = elementOf(event.target);
      if (element === -1) return;
      editor.hasFocus.current = true;
      editor.setActive(element);
      onSpot({ tensor: id, element }, true);
    },
    onFocusOut(event: FocusEvent): void {
      // The browser does not move the focus when a focused cell is removed.
      if (event.relatedTarget !== null) editor.hasFocus.current = false;
    },
    onMouseOver(event: MouseEvent): void {
      const element = elementOf(event.target);
      if (event.buttons === 1 && element !== -1 && element !== from.current) onScrub(id, element);
      else onSpot(element === -1 ? null : { tensor: id, element }, false);
    },
    onMouseLeave: () => onSpot(null, false),
    onMouseDown(event: MouseEvent): void {
      const cell = event.target instanceof Element ? event.target.closest("td") : null;
      from.current = elementOf(event.target);
      wasActive.current = cell !== null && cell === document.activeElement;
    },
    onClick(event: MouseEvent): void {
      const element = elementOf(event.target);
      if (!wasActive.current || element === -1 || editor.editing !== null) return;
      editor.edit(element);
    },
  };
}

/**
 * Returns the properties of the scrolling box around a window. The box scrolls, but its table stays in place and shows
 * the rows and columns at the scroll position.
 */
function useScrolling({ id, lane, metrics, corner, onCorner }: CursorProps) {
  const ref = useRef<HTMLDivElement>(null);
  const { sheet, rows, columns, cell, isWindow } = lane;
  const most = { row: sheet.rows - rows, column: sheet.columns - columns };
  const pitch = metrics.pitch * sheet.span;
  // Browsers clip boxes that are millions of pixels large.
  const step = { row: Math.min(pitch, 4e6 / sheet.rows), column: cell + SPACING };
  useLayoutEffect(() => {
    const { current } = ref;
    if (current === null || !isWindow) return;
    // Scroll positions are rounded to pixels, so a position is set only if it selects another row or column.
    const at = cornerAt(current, most);
    const range = rangeOf(current);
    if (at.row !== corner.row) current.scrollTop = (corner.row / most.row) * range.down;
    if (at.column !== corner.column) {
      current.scrollLeft = (corner.column / most.column) * range.right;
    }
  }, [corner, lane]);
  const height = rows * pitch + HEAD;
  const bar = { width: most.row > 0 ? lane.bar : 0, height: most.column > 0 ? lane.bar : 0 };
  const width = lane.tableWidth;
  return {
    ref,
    style: { height: `${height + bar.height}px`, width: `${width + bar.width}px` },
    inner: {
      height: `${height + most.row * step.row}px`,
      width: `${width + most.column * step.column}px`,
    },
    onScroll() {
      const { current } = ref;
      if (current === null || !isWindow) return;
      const next = cornerAt(current, most);
      if (next.row !== corner.row || next.column !== corner.column) onCorner(id, next);
    },
  };
}

/** Returns how far a box can scroll vertically and horizontally. Scroll bars may take space or overlay the box. */
const rangeOf = (box: HTMLElement): { readonly down: number; readonly right: number } => ({
  down: box.scrollHeight - box.clientHeight,
  right: box.scrollWidth - box.clientWidth,
});

function cornerAt(box: HTMLElement, most: Corner): Corner {
  const { down, right } = rangeOf(box);
  return {
    row: stepAt(box.scrollTop, down, most.row),
    column: stepAt(box.scrollLeft, right, most.column),
  };
}

const stepAt = (position: number, range: number, last: number): number =>
  range <= 0 ? 0 : Math.max(0, Math.min(last, Math.round((position / range) * last)));

function onKeyDown(event: KeyboardEvent, props: CursorProps, { go, edit }: Editing): void {
  const { lane } = props;
  const element = elementOf(event.target);
  if (element === -1 || event.altKey) return;
  const to = destination(event, element, lane);
  if (to !== null) go(to);
  else if (event.ctrlKey || event.metaKey) return;
  else if (event.key === "Enter" || event.key === "F2") edit(element);
  else if (event.key === "Backspace" || event.key === "Delete") edit(element, "");
  else if (event.key.length === 1 && event.key !== " " && event.key !== "?")
    edit(element, event.key);
  else return;
  event.preventDefault();
}

function onPaste(
  event: ClipboardEvent,
  { edits, onPasted }: CursorProps,
  { editing }: Editing,
): void {
  const element = elementOf(event.target);
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (edits === null || editing !== null || element === -1 || text === "") return;
  event.preventDefault();
  event.stopPropagation();
  onPasted(text, element);
}

/** Returns the cell that Tab reaches: the active cell, or the first visible cell if the active cell is out of view. */
function nearest(
  { isWindow, rows, columns, sheet }: Lane,
  corner: { readonly row: number; readonly column: number },
  active: number,
): number {
  if (!isWindow) return active;
  const [y, x] = [Math.floor(active / sheet.columns), active % sheet.columns];
  const { row, column } = corner;
  const isThere = y >= row && y < row + rows && x >= column && x < column + columns;
  return isThere ? active : row * sheet.columns + column;
}

/** Returns the element that a key moves to; null for other keys. */
function destination(
  { key, ctrlKey, metaKey }: KeyboardEvent,
  element: number,
  { shape, sheet: { columns } }: Lane,
): number | null {
  const size = sizeOf(shape);
  const column = element % columns;
  const slice = shape.length < 2 ? 10 : columns * (shape.at(-2) ?? 1);
  const isFar = ctrlKey || metaKey;
  const inside = (to: number): number => (to < 0 || to >= size ? element : to);
  switch (key) {
    case "ArrowLeft":
      return column === 0 ? element : element - 1;
    case "ArrowRight":
      return column === columns - 1 ? element : element + 1;
    case "ArrowUp":
      return inside(element - columns);
    case "ArrowDown":
      return inside(element + columns);
    case "PageUp":
      return inside(element - slice);
    case "PageDown":
      return inside(element + slice);
    case "Home":
      return isFar ? 0 : element - column;
    case "End":
      return isFar ? size - 1 : element - column + columns - 1;
    default:
      return null;
  }
}
