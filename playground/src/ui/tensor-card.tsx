/** One tensor of the call: what it is called, its data type and shape, and its grid; all of it can be changed. */

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { cellId, elementOf, Grid, Window, type Cells, type Frame, type Move } from "./grid.tsx";
import type { Tuple } from "../model/links.ts";
import { memo } from "./memo.ts";
import { ShapeEditor } from "./shape-editor.tsx";
import type { Spot, TensorId } from "./describe.ts";
import { useView } from "./view-box.ts";
import { gridsOf, sizeOf } from "../model/shape.ts";

/** A data type of the menu; `reason` says why it cannot be chosen. */
export interface DTypeChoice {
  readonly name: string;
  readonly reason: string | null;
}

/** What can be done to an input; nothing to an output. */
export interface Edits {
  readonly dtypes: readonly DTypeChoice[];
  onDType(dtype: string): void;
  onShape(shape: readonly number[]): void;
  onValue(element: number, text: string): void;
  /** The text of a whole tensor; the error, where it is none. */
  onText(text: string): string | null;
  /** What is wrong with such a text. */
  errorOf(text: string): string | null;
  /** Leaves an optional input out; null where it cannot be. */
  readonly onLeaveOut: (() => void) | null;
}

export interface TensorCardProps {
  readonly id: TensorId;
  readonly name: string;
  readonly description: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly cells: Cells;
  readonly tuples: readonly Tuple[];
  /** Sentences about the tensor as a whole, its dimensions or its elements. */
  readonly faults: readonly string[];
  readonly wrongDimensions: ReadonlySet<number>;
  /** Whether it is of a call that went well before, because this one does not. */
  readonly isStale: boolean;
  /** Null for an output. */
  readonly edits: Edits | null;
  onSpot(spot: Spot | null, isFocus: boolean): void;
}

const MOST_FAULTS = 3;

export const TensorCard = memo<TensorCardProps>((props) => {
  const { id, name, description, dtype, shape, faults, wrongDimensions, isStale, edits } = props;
  // What was pasted and is no tensor stands in the text editor, with the error.
  const [text, setText] = useState<string | null>(null);
  const isText = text !== null;
  const faultsId = `faults-${id}`;
  const isWrong = faults.length > 0;
  return (
    <section
      class={`tensor${isStale ? " stale" : ""}${isWrong ? " wrong" : ""}`}
      aria-label={name}
      data-tensor={id}
    >
      <header>
        <div class="line">
          <h2 title={description}>{name}</h2>
          {edits === null ? (
            <span class="dtype">{dtype}</span>
          ) : (
            <select
              aria-label={`data type of ${name}`}
              value={dtype}
              onChange={(event) => edits.onDType(event.currentTarget.value)}
            >
              {edits.dtypes.map((choice) => (
                <option key={choice.name} value={choice.name} disabled={choice.reason !== null}>
                  {choice.reason === null ? choice.name : `${choice.name} (${choice.reason})`}
                </option>
              ))}
            </select>
          )}
        </div>
        {edits === null ? (
          <code class="line shape-of-output">[{shape.join(", ")}]</code>
        ) : (
          <div class="line">
            <ShapeEditor
              name={name}
              shape={shape}
              wrong={wrongDimensions}
              describedBy={isWrong ? faultsId : undefined}
              onShape={edits.onShape}
            />
            <button
              type="button"
              class="small"
              aria-label={`${name} as text`}
              aria-expanded={isText}
              onClick={() => setText(isText ? null : bracketed(props.cells.values, shape))}
            >
              text
            </button>
            {edits.onLeaveOut !== null && (
              <button type="button" class="small" onClick={edits.onLeaveOut}>
                leave out
              </button>
            )}
          </div>
        )}
      </header>
      {isStale && <p class="stale-note">as it was before the error</p>}
      {isText && edits !== null && (
        <TextEditor
          name={name}
          text={text}
          error={edits.errorOf(text)}
          onText={edits.onText}
          onClose={() => setText(null)}
        />
      )}
      {isWrong && (
        <div class="faults" id={faultsId} role="alert">
          {faults.slice(0, MOST_FAULTS).map((sentence) => (
            <p key={sentence}>{sentence}</p>
          ))}
          {faults.length > MOST_FAULTS && <p>and {faults.length - MOST_FAULTS} more</p>}
        </div>
      )}
      <Cursor
        {...props}
        onPasted={(pasted) => {
          if (edits !== null && edits.onText(pasted) !== null) setText(pasted);
        }}
      />
    </section>
  );
});

/** The grid with its keyboard: one of its cells can be reached by Tab, arrows go from there. */
function Cursor(props: TensorCardProps & { onPasted(text: string): void }): JSX.Element {
  const { id, name, dtype, shape, cells, tuples, edits, onSpot } = props;
  const size = sizeOf(shape);
  const { rows, columns } = gridsOf(shape);
  const [wanted, setWanted] = useState(0);
  const [editing, setEditing] = useState<{ element: number; text: string } | null>(null);
  const isEditing = useRef(false);
  const focusNext = useRef(false);
  const wasActive = useRef(false);
  const view = useView(shape);
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
  const edit = (element: number, text: string): void => {
    if (edits === null) return;
    isEditing.current = true;
    setWanted(element);
    setEditing({ element, text });
  };
  const onEdited = (element: number, text: string | undefined, move: Move | null): void => {
    // The field is left once more when it goes, which is no second edit.
    if (!isEditing.current) return;
    isEditing.current = false;
    setEditing(null);
    if (text !== undefined && text !== cells.values[element]) edits?.onValue(element, text);
    const to = { up: -columns, down: columns, left: -1, right: 1 };
    const next = element + (move === null ? 0 : to[move]);
    if (move !== null || text === undefined) go(next < 0 || next >= size ? element : next);
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    const element = elementOf(event.target);
    if (element === -1 || event.altKey) return;
    const to = destination(event, element, rows, columns, size);
    if (to !== null) go(to);
    else if (event.ctrlKey || event.metaKey) return;
    else if (event.key === "Enter" || event.key === "F2") edit(element, cells.values[element]);
    else if (event.key === "Backspace" || event.key === "Delete") edit(element, "");
    else if (event.key.length === 1 && event.key !== " ") edit(element, event.key);
    else return;
    event.preventDefault();
  };
  const onPaste = (event: ClipboardEvent): void => {
    const element = elementOf(event.target);
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (edits === null || editing !== null || element === -1 || text === "") return;
    event.preventDefault();
    if (/[[({\n]/.test(text)) props.onPasted(text);
    else edits.onValue(element, text.trim());
  };
  const grid = {
    ...cells,
    id,
    name: `${name} [${shape.join(", ")}] ${dtype}`,
    shape,
    tuples,
    active: view.frame === null ? active : nearest(view.frame, active, columns),
    editing,
    isReadOnly: edits === null,
    onEdited,
  };
  return (
    // The table's cells take the focus; the keys they are given arrive here.
    <div
      class={view.frame === null ? "scroller" : "scroller dense"}
      ref={view.box}
      style={view.frame === null ? undefined : { "--rows": String(view.frame.rows) }}
      onScroll={view.onScroll}
      onKeyDown={onKeyDown}
      onPaste={onPaste}
      onFocusIn={(event: FocusEvent) => {
        const element = elementOf(event.target);
        if (element === -1) return;
        setWanted(element);
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
      // The second click, or tap, edits: the first one is for the story.
      onClick={(event) => {
        const element = elementOf(event.target);
        if (wasActive.current && element !== -1 && editing === null) {
          edit(element, cells.values[element]);
        }
      }}
    >
      {size === 0 ? (
        <p class="empty">no elements: one of the dimensions is 0</p>
      ) : view.frame === null ? (
        <Grid {...grid} />
      ) : (
        <Window {...grid} frame={view.frame} />
      )}
    </div>
  );
}

/** The cell of a frame that Tab leads to: the active one, or the first where that is out of view. */
function nearest({ row, column, rows, columns }: Frame, active: number, all: number): number {
  const [y, x] = [Math.floor(active / all), active % all];
  const isThere = y >= row && y < row + rows && x >= column && x < column + columns;
  return isThere ? active : row * all + column;
}

/** Where a key leads from an element; null for a key that leads nowhere. */
function destination(
  { key, ctrlKey, metaKey }: KeyboardEvent,
  element: number,
  rows: number,
  columns: number,
  size: number,
): number | null {
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

interface TextEditorProps {
  readonly name: string;
  /** What stands in it at first, and what is wrong with that. */
  readonly text: string;
  readonly error: string | null;
  onText(text: string): string | null;
  onClose(): void;
}

function TextEditor(props: TextEditorProps): JSX.Element {
  const { name, text, onText, onClose } = props;
  const [error, setError] = useState(props.error);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const take = (): void => {
    const found = onText(field.current?.value ?? "");
    setError(found);
    if (found === null) onClose();
  };
  return (
    <form
      class="text-editor"
      onSubmit={(event) => {
        event.preventDefault();
        take();
      }}
    >
      <label>
        {name} as a nested list, or as NumPy prints it
        <textarea
          ref={field}
          rows={Math.min(8, text.split("\n").length + 1)}
          defaultValue={text}
          spellcheck={false}
          aria-invalid={error === null ? undefined : true}
          aria-describedby={error === null ? undefined : "text-error"}
          onKeyDown={(event) => {
            if (event.key === "Escape") onClose();
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) take();
          }}
        />
      </label>
      {error !== null && (
        <p class="faults" id="text-error" role="alert">
          {error}
        </p>
      )}
      <button type="submit">take it</button>
      <button type="button" onClick={onClose}>
        leave it
      </button>
    </form>
  );
}

/** The elements in brackets, a line for each row. */
function bracketed(values: readonly string[], shape: readonly number[]): string {
  if (shape.length === 0) return values[0];
  const nest = (axis: number, begin: number): string => {
    const length = sizeOf(shape.slice(axis + 1));
    const parts = Array.from({ length: shape[axis] }, (_, number) =>
      axis === shape.length - 1 ? values[begin + number] : nest(axis + 1, begin + number * length),
    );
    const isInner = axis === shape.length - 1;
    return `[${parts.join(isInner ? ", " : `,\n${" ".repeat(axis + 1)}`)}]`;
  };
  return nest(0, 0);
}
