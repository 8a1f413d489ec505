/** A tensor as tables of its last two axes. A row is drawn again only when one of its cells has changed. */

import type { JSX } from "preact";
import { letterOf } from "../model/letters.ts";
import type { Tuple } from "../model/links.ts";
import { memo } from "./memo.ts";
import type { TensorId } from "./vocabulary.ts";
import { coordinatesOf, gridsOf, sizeOf } from "../model/shape.ts";

export type Move = "up" | "down" | "left" | "right";

/** What the cells of a tensor show. Lists have an entry for each element. */
export interface Cells {
  readonly values: readonly string[];
  /** The tuples that reach an element, in order. */
  readonly marks: readonly (readonly number[])[];
  /** For each element the number of marks that are shown; null for all. */
  readonly shown: Int32Array | null;
  /** For each negative index its value counted from the front. */
  readonly notes: ReadonlyMap<number, string>;
  /** The errors of elements. */
  readonly faults: ReadonlyMap<number, string>;
  /** The elements of the player's current step. */
  readonly now: readonly [begin: number, end: number];
}

interface Common extends Cells {
  readonly id: TensorId;
  readonly tuples: readonly Tuple[];
  /** The element that Tab reaches. */
  readonly active: number;
  /** The element that is being edited, with its text at first; null while none is. */
  readonly editing: { readonly element: number; readonly text: string } | null;
  /**
   * @param text undefined leaves the element as it was
   * @param move where the focus goes; null if it has gone already
   */
  onEdited(element: number, text: string | undefined, move: Move | null): void;
}

export interface GridProps extends Common {
  readonly name: string;
  readonly shape: readonly number[];
  readonly isReadOnly: boolean;
}

export const cellId = (id: TensorId, element: number): string => `cell-${id}-${element}`;

/** The element of the cell that an event is on; -1 for no cell. */
export function elementOf(target: EventTarget | null): number {
  const cell = target instanceof Element ? target.closest("[data-element]") : null;
  return cell instanceof HTMLElement ? Number(cell.dataset["element"]) : -1;
}

/** `[0, 1, :, :]` */
export const sliceName = (grid: number, shape: readonly number[]): string =>
  `[${[...coordinatesOf(grid, shape.slice(0, -2)), ":", ":"].join(", ")}]`;

/** Characters. Longer values are cut; the story has the whole value. */
const WIDEST = 12;
/** Tensors with more elements have small cells, and only the cells in view are drawn. */
const DENSE = 400;
const DENSE_COLUMNS = 16;

export const isDense = (shape: readonly number[]): boolean =>
  sizeOf(shape) > DENSE || gridsOf(shape).columns > DENSE_COLUMNS;

const numbers = (length: number, begin = 0): number[] =>
  Array.from({ length }, (_, number) => begin + number);

const longest = (texts: Iterable<string>, from: number): number => {
  let most = from;
  for (const { length } of texts) most = Math.max(most, length);
  return most;
};

/** The width of all cells: room for values, for wrapped indices, and for letters. */
function widthOf(
  { values, shown, notes, faults, marks, tuples }: Common,
  isSmall: boolean,
): string {
  // While it is played, the output may have shorter values; its cells keep their width.
  const least = shown === null ? 1 : 3;
  const digits = Math.min(longest(values, least), WIDEST);
  const noted = notes.size === 0 ? 0 : 1 + longest(notes.values(), 1);
  const signed = faults.size === 0 ? 0 : 1;
  const several = marks.reduce((most, { length }) => Math.max(most, length), 0);
  const label = several === 0 ? 0 : letterOf(tuples.length - 1).length;
  const letters = isSmall ? label + (several > 1 ? 1 : 0) : LETTERS[Math.min(several, 3)] * label;
  const [letter, padding] = isSmall ? [0.32, 0.6] : [0.4, 1.3];
  return `calc(${digits + signed}ch + ${noted * 0.75}ch + ${letters * letter}rem + ${padding}rem)`;
}

/** The room for none, one, two and more letters, in lengths of one. */
const LETTERS = [0, 1, 2.5, 4.5] as const;

/** All cells, as one table a slice. */
export function Grid(props: GridProps): JSX.Element {
  const { name, shape, isReadOnly } = props;
  const { rows, columns, grids } = gridsOf(shape);
  return (
    <div class="grids" style={{ "--width": widthOf(props, false), "--columns": String(columns) }}>
      {numbers(grids).map((grid) => (
        <table
          role="grid"
          key={grid}
          aria-label={shape.length > 2 ? `${name}, ${sliceName(grid, shape)}` : name}
          aria-readonly={isReadOnly}
        >
          {shape.length > 2 && <caption>{sliceName(grid, shape)}</caption>}
          <thead class={shape.length === 0 ? "hidden" : undefined}>
            <tr>
              {shape.length > 1 && <td class="corner" />}
              {numbers(columns).map((column) => (
                <th scope="col" key={column}>
                  {shape.length === 0 ? "value" : column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {numbers(rows).map((row) => (
              <Row
                {...props}
                key={row}
                label={shape.length > 1 ? String(row) : null}
                begin={(grid * rows + row) * columns}
                columns={columns}
                number={null}
              />
            ))}
          </tbody>
        </table>
      ))}
    </div>
  );
}

/** A part of a large tensor: its first row and column, and the numbers of both. */
export interface Frame {
  readonly row: number;
  readonly column: number;
  readonly rows: number;
  readonly columns: number;
}

/**
 * The cells of a large tensor that are in view, as one table: drawing a part of 64 × 64 cells takes 2 ms, and drawing
 * all takes 40 ms. The table stays in place while the box around it scrolls.
 */
export function Window(props: GridProps & { readonly frame: Frame }): JSX.Element {
  const { name, shape, isReadOnly, frame } = props;
  const { rows, columns, grids } = gridsOf(shape);
  const all = rows * grids;
  return (
    <div
      class="window"
      style={{
        "--width": widthOf(props, true),
        "--columns": String(frame.columns),
        height: `${(100 * all) / frame.rows}%`,
        width: `${(100 * columns) / frame.columns}%`,
      }}
    >
      <table
        role="grid"
        aria-label={name}
        aria-readonly={isReadOnly}
        aria-rowcount={all + 1}
        aria-colcount={columns + 1}
      >
        <thead>
          <tr aria-rowindex={1}>
            <td class="corner" />
            {numbers(frame.columns, frame.column).map((column) => (
              <th scope="col" key={column} aria-colindex={column + 2}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {numbers(frame.rows, frame.row).map((row) => (
            <Row
              {...props}
              key={row}
              label={shape.length > 1 ? coordinatesOf(row, shape.slice(0, -1)).join(", ") : ""}
              begin={row * columns + frame.column}
              columns={frame.columns}
              number={row}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps extends Common {
  /** The header of the row; null for a single row without one. */
  readonly label: string | null;
  /** The first element that is drawn, and the number of elements. */
  readonly begin: number;
  readonly columns: number;
  /** The number of the row in the whole tensor, if only a part is drawn. */
  readonly number: number | null;
}

const Row = memo<RowProps>((props) => {
  const { label, begin, columns, number } = props;
  const cells: JSX.Element[] = [];
  for (let element = begin; element < begin + columns; element++) {
    cells.push(cell(props, element));
  }
  return (
    <tr aria-rowindex={number === null ? undefined : number + 2}>
      {label !== null && <th scope="row">{label}</th>}
      {cells}
    </tr>
  );
}, sameRow);

function sameRow(before: RowProps, after: RowProps): boolean {
  const { begin, columns } = after;
  if (
    before.begin !== begin ||
    before.columns !== columns ||
    before.label !== after.label ||
    before.notes !== after.notes ||
    before.faults !== after.faults ||
    before.tuples !== after.tuples
  ) {
    return false;
  }
  for (let element = begin; element < begin + columns; element++) {
    if (
      before.values[element] !== after.values[element] ||
      before.marks[element] !== after.marks[element] ||
      shownOf(before, element) !== shownOf(after, element) ||
      isNow(before, element) !== isNow(after, element) ||
      (before.active === element) !== (after.active === element) ||
      editedText(before, element) !== editedText(after, element)
    ) {
      return false;
    }
  }
  return true;
}

const NO_MARKS: readonly number[] = [];
const shownOf = ({ shown, marks }: Cells, element: number): number =>
  shown === null ? (marks[element] ?? NO_MARKS).length : (shown[element] ?? 0);
const isNow = ({ now: [begin, end] }: Cells, element: number): boolean =>
  element >= begin && element < end;
const editedText = ({ editing }: Common, element: number): string | null =>
  editing?.element === element ? editing.text : null;

/** A function, not a component, because a tensor may have ten thousand cells. */
function cell(props: RowProps, element: number): JSX.Element {
  const { id, tuples, values, notes, faults, active } = props;
  const text = editedText(props, element);
  const marks = (props.marks[element] ?? NO_MARKS).slice(0, shownOf(props, element));
  const last = tuples[marks[marks.length - 1]];
  const note = notes.get(element);
  const fault = faults.get(element);
  const value = values[element];
  const classes = ["cell"];
  if (last !== undefined) classes.push(`hue-${last.colour}`);
  if (marks.length > 1) classes.push("several");
  if (isNow(props, element)) classes.push("now");
  if (value === "") classes.push("blank");
  return (
    <td
      key={element}
      id={cellId(id, element)}
      data-element={element}
      class={classes.join(" ")}
      style={marks.length > 1 ? { "--bar": barOf(marks, tuples) } : undefined}
      tabIndex={active === element ? 0 : -1}
      aria-invalid={fault === undefined ? undefined : true}
      title={fault ?? (value.length > WIDEST ? value : undefined)}
    >
      {text === null ? (
        <>
          {cut(value)}
          {note !== undefined && <small class="note">={note}</small>}
          {marks.length > 0 && (
            <b class="letters">{lettersOf(marks, tuples, props.number !== null)}</b>
          )}
          {fault !== undefined && <b class="sign">!</b>}
        </>
      ) : (
        <Editor {...props} element={element} text={text} />
      )}
    </td>
  );
}

const cut = (value: string): string =>
  value.length > WIDEST ? `${value.slice(0, WIDEST - 1)}…` : value;

/** Two letters and the number of further ones; in small cells the last letter, and `+` for further ones. */
function lettersOf(marks: readonly number[], tuples: readonly Tuple[], isSmall: boolean): string {
  const labels = marks.map((tuple) => tuples[tuple].letter);
  if (isSmall) return labels[labels.length - 1] + (labels.length > 1 ? "+" : "");
  return labels.slice(0, 2).join(" ") + (labels.length > 2 ? `+${labels.length - 2}` : "");
}

/** The colours of several tuples, one above the other. */
function barOf(marks: readonly number[], tuples: readonly Tuple[]): string {
  const last = marks.slice(-4);
  const part = 100 / last.length;
  const stops = last.map(
    (tuple, place) => `var(--hue-${tuples[tuple].colour}) ${place * part}% ${(place + 1) * part}%`,
  );
  return `linear-gradient(${stops.join(", ")})`;
}

/** The field of a cell that is edited. Enter and Tab take the text; Escape discards it. */
function Editor({
  element,
  text,
  onEdited,
}: RowProps & { readonly element: number; readonly text: string }): JSX.Element {
  return (
    <input
      class="editor"
      aria-label="value"
      defaultValue={text}
      autocomplete="off"
      spellcheck={false}
      ref={(input) => {
        if (input === null || input.dataset["seen"] === "true") return;
        input.dataset["seen"] = "true";
        input.focus();
        input.setSelectionRange(input.value.length, input.value.length);
      }}
      onKeyDown={(event) => {
        // The grid must not see keys that are for the field.
        event.stopPropagation();
        const { value } = event.currentTarget;
        if (event.key === "Escape") onEdited(element, undefined, null);
        else if (event.key === "Enter") onEdited(element, value, event.shiftKey ? "up" : "down");
        else if (event.key === "Tab") onEdited(element, value, event.shiftKey ? "left" : "right");
        else return;
        event.preventDefault();
      }}
      onBlur={(event) => onEdited(element, event.currentTarget.value, null)}
    />
  );
}
