/**
 * The grid of a tensor with its keyboard and pointer. Tab reaches one cell of it, the active one; arrow keys go on from
 * there.
 */

import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { gridsOf, sizeOf } from "../model/shape.ts";
import { cellId, elementOf, Grid, Window, type Frame, type Move } from "./grid.tsx";
import type { TensorCardProps } from "./tensor-props.ts";
import { useView, type View } from "./view-box.ts";

interface CursorProps extends TensorCardProps {
  /** Takes pasted text that may be a whole tensor. */
  onPasted(text: string): void;
}

interface Editing {
  /** The element that Tab reaches. */
  readonly active: number;
  readonly editing: { readonly element: number; readonly text: string } | null;
  setActive(element: number): void;
  /** Moves the focus to an element. */
  go(element: number): void;
  edit(element: number, text: string): void;
  onEdited(element: number, text: string | undefined, move: Move | null): void;
}

function useEditing({ id, shape, cells, edits }: CursorProps, view: View): Editing {
  const size = sizeOf(shape);
  const { columns } = gridsOf(shape);
  const [wanted, setWanted] = useState(0);
  const [editing, setEditing] = useState<Editing["editing"]>(null);
  const isEditing = useRef(false);
  const focusNext = useRef(false);
  const active = Math.min(wanted, Math.max(size - 1, 0));
  useLayoutEffect(() => {
    if (!focusNext.current || editing !== null) return;
    focusNext.current = false;
    document.getElementById(cellId(id, active))?.focus();
  });
  const go = (element: number): void => {
    focusNext.current = true;
    view.reveal(element);
    setWanted(element);
  };
  return {
    active,
    editing,
    setActive: setWanted,
    go,
    edit(element, text) {
      if (edits === null) return;
      isEditing.current = true;
      setWanted(element);
      setEditing({ element, text });
    },
    onEdited(element, text, move) {
      // The field loses the focus once more when it is removed, which is no second edit.
      if (!isEditing.current) return;
      isEditing.current = false;
      setEditing(null);
      if (text !== undefined && text !== cells.values[element]) edits?.onValue(element, text);
      const to = { up: -columns, down: columns, left: -1, right: 1 };
      const next = element + (move === null ? 0 : to[move]);
      if (move !== null || text === undefined) go(next < 0 || next >= size ? element : next);
    },
  };
}

export function Cursor(props: CursorProps): JSX.Element {
  const { id, name, dtype, shape, cells, tuples, edits, onSpot } = props;
  const view = useView(shape);
  const { frame } = view;
  const editor = useEditing(props, view);
  const { active, editing, onEdited } = editor;
  const wasActive = useRef(false);
  const grid = {
    ...cells,
    id,
    name: `${name} [${shape.join(", ")}] ${dtype}`,
    shape,
    tuples,
    active: frame === null ? active : nearest(frame, active, gridsOf(shape).columns),
    editing,
    isReadOnly: edits === null,
    onEdited,
  };
  return (
    // The cells of the table have the focus; their key events bubble up to here.
    <div
      class={frame === null ? "scroller" : "scroller dense"}
      ref={view.box}
      style={frame === null ? undefined : { "--rows": String(frame.rows) }}
      onScroll={view.onScroll}
      onKeyDown={(event) => onKeyDown(event, props, editor)}
      onPaste={(event) => onPaste(event, props, editor)}
      onFocusIn={(event: FocusEvent) => {
        const element = elementOf(event.target);
        if (element === -1) return;
        editor.setActive(element);
        onSpot({ tensor: id, element }, true);
      }}
      onMouseOver={(event) => {
        const element = elementOf(event.target);
        onSpot(element === -1 ? null : { tensor: id, element }, false);
      }}
      onMouseLeave={() => onSpot(null, false)}
      onMouseDown={(event) => {
        const cell = event.target instanceof Element ? event.target.closest("td") : null;
        wasActive.current = cell !== null && cell === document.activeElement;
      }}
      // The second click, or tap, edits a cell; the first shows its story.
      onClick={(event) => {
        const element = elementOf(event.target);
        if (!wasActive.current || element === -1 || editing !== null) return;
        editor.edit(element, cells.values[element]);
      }}
    >
      {sizeOf(shape) === 0 ? (
        <p class="empty">no elements: one of the dimensions is 0</p>
      ) : frame === null ? (
        <Grid {...grid} />
      ) : (
        <Window {...grid} frame={frame} />
      )}
    </div>
  );
}

function onKeyDown(
  event: KeyboardEvent,
  { shape, cells }: CursorProps,
  { go, edit }: Editing,
): void {
  const element = elementOf(event.target);
  if (element === -1 || event.altKey) return;
  const to = destination(event, element, shape);
  if (to !== null) go(to);
  else if (event.ctrlKey || event.metaKey) return;
  else if (event.key === "Enter" || event.key === "F2") edit(element, cells.values[element]);
  else if (event.key === "Backspace" || event.key === "Delete") edit(element, "");
  else if (event.key.length === 1 && event.key !== " ") edit(element, event.key);
  else return;
  event.preventDefault();
}

/** Text with brackets or several lines may be a whole tensor; other text is the value of the cell. */
function onPaste(
  event: ClipboardEvent,
  { edits, onPasted }: CursorProps,
  { editing }: Editing,
): void {
  const element = elementOf(event.target);
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (edits === null || editing !== null || element === -1 || text === "") return;
  event.preventDefault();
  if (/[[({\n]/.test(text)) onPasted(text);
  else edits.onValue(element, text.trim());
}

/** The cell of a frame that Tab reaches: the active one, or the first if that one is out of view. */
function nearest({ row, column, rows, columns }: Frame, active: number, all: number): number {
  const [y, x] = [Math.floor(active / all), active % all];
  const isThere = y >= row && y < row + rows && x >= column && x < column + columns;
  return isThere ? active : row * all + column;
}

/** The element that a key leads to; null for a key that leads nowhere. */
function destination(
  { key, ctrlKey, metaKey }: KeyboardEvent,
  element: number,
  shape: readonly number[],
): number | null {
  const { rows, columns } = gridsOf(shape);
  const size = sizeOf(shape);
  const column = element % columns;
  const slice = rows * columns;
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
