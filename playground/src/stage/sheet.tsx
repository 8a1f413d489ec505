/** Draws a tensor as one table, or the table's visible part. A row is redrawn only if one of its cells changed. */

import type { JSX } from "preact";
import type { Cells } from "../cells/cells.ts";
import type { Corner, Lane } from "./layout.ts";
import { cellId, type TensorId } from "../values/spot.ts";
import { HEAD, SPACING, type Metrics } from "./metrics.ts";
import { rowLabel } from "./row-label.ts";
import { visible } from "../values/visible.ts";
import { memo } from "../widgets/memo.ts";

export type Move = "up" | "down" | "left" | "right";

export interface Editing {
  readonly element: number;
  readonly text: string;
  /** True if the user typed the text. Otherwise, the text is the element's value, which typing replaces. */
  readonly isTyped: boolean;
}

interface SheetProps extends Cells {
  readonly id: TensorId;
  readonly name: string;
  readonly lane: Lane;
  readonly metrics: Metrics;
  readonly corner: Corner;
  readonly active: number;
  /** The element being edited, or null. */
  readonly editing: Editing | null;
  readonly isReadOnly: boolean;
  /** True if tabs stand beside the table, so that its cells need none. */
  readonly hasTabs: boolean;
  /** If `text` is undefined, the element stays unchanged. `move` is the direction in which the focus moves. */
  onEdited(element: number, text: string | undefined, move: Move | null): void;
}

/** Returns the element whose cell is under an event; -1 if no cell is there. */
export function elementOf(target: EventTarget | null): number {
  const cell = target instanceof Element ? target.closest("[data-element]") : null;
  return cell instanceof HTMLElement ? Number(cell.dataset["element"]) : -1;
}

const numbers = (length: number, begin = 0): number[] =>
  Array.from({ length }, (_, number) => begin + number);

export function Sheet(props: SheetProps): JSX.Element {
  const { name, lane, metrics, corner, isReadOnly } = props;
  const { sheet, shape, isWindow } = lane;
  const first = isWindow ? corner : { row: 0, column: 0 };
  return (
    <table
      role="grid"
      aria-label={name}
      aria-readonly={isReadOnly}
      aria-rowcount={isWindow ? sheet.rows + 1 : undefined}
      aria-colcount={isWindow ? sheet.columns + 1 : undefined}
      style={{ width: `${lane.tableWidth}px`, "--side": `${lane.side}px` }}
    >
      <thead style={{ height: `${HEAD - SPACING}px` }}>
        <tr aria-rowindex={isWindow ? 1 : undefined}>
          {lane.side > 0 && <td class="corner" />}
          {numbers(lane.columns, first.column).map((column) => (
            <th scope="col" key={column} aria-colindex={isWindow ? column + 2 : undefined}>
              {shape.length > 1 ? column : <span class="hidden">value</span>}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {numbers(lane.rows, first.row).flatMap((row) => {
          const isBreak = sheet.group > 0 && row > 0 && row % sheet.group === 0;
          const line = (
            <Row
              {...props}
              key={row}
              row={row}
              begin={row * sheet.columns + first.column}
              height={sheet.span * metrics.pitch - SPACING}
            />
          );
          if (!isBreak) return [line];
          const height = `${metrics.gap - SPACING}px`;
          return [
            <tr key={`gap ${row}`} class="gap" aria-hidden="true" style={{ height }} />,
            line,
          ];
        })}
      </tbody>
    </table>
  );
}

interface RowProps extends SheetProps {
  readonly row: number;
  readonly begin: number;
  readonly height: number;
}

const Row = memo<RowProps>((props) => {
  const { lane, row, begin, height } = props;
  const cells: JSX.Element[] = [];
  for (let element = begin; element < begin + lane.columns; element++) {
    cells.push(cell(props, element));
  }
  return (
    <tr aria-rowindex={lane.isWindow ? row + 2 : undefined} style={{ height: `${height}px` }}>
      {lane.side > 0 && <th scope="row">{rowLabel(lane, row)}</th>}
      {cells}
    </tr>
  );
}, sameRow);

function sameRow(before: RowProps, after: RowProps): boolean {
  const { begin, lane } = after;
  if (
    before.begin !== begin ||
    before.lane !== lane ||
    before.height !== after.height ||
    before.tabs !== after.tabs ||
    before.hasTabs !== after.hasTabs ||
    before.faults !== after.faults ||
    before.others !== after.others
  ) {
    return false;
  }
  for (let element = begin; element < begin + lane.columns; element++) {
    if (
      before.values[element] !== after.values[element] ||
      before.tints[element] !== after.tints[element] ||
      hitsAt(before, element) !== hitsAt(after, element) ||
      (before.active === element) !== (after.active === element) ||
      editedIn(before, element) !== editedIn(after, element)
    ) {
      return false;
    }
  }
  return true;
}

const hitsAt = ({ hits }: Cells, element: number): number => hits?.[element] ?? 0;
const editedIn = ({ editing }: SheetProps, element: number): Editing | null =>
  editing?.element === element ? editing : null;

/** Draws a cell. This is a function instead of a component, because a tensor may have ten thousand cells. */
function cell(props: RowProps, element: number): JSX.Element {
  const { id, values, tabs, faults, others, active, lane } = props;
  const edited = editedIn(props, element);
  const tint = props.tints[element] ?? -1;
  const fault = faults.get(element);
  const other = others.get(element);
  const value = visible(values[element] ?? "");
  const classes = ["cell"];
  if (tint >= 0) classes.push(`hue-${tint}`);
  if (hitsAt(props, element) > 1) classes.push("several");
  if (other !== undefined) classes.push("other");
  // A cell has neither a colour nor a tab before its update is applied.
  const tab = tint < 0 || props.hasTabs ? undefined : tabs.get(element);
  const beside = (tab === undefined ? 0 : tabWidth(tab)) + (fault === undefined ? 0 : 1);
  const shown = cut(value, lane.digits - beside);
  return (
    <td
      key={element}
      id={cellId(id, element)}
      data-element={element}
      class={classes.join(" ")}
      tabIndex={active === element ? 0 : -1}
      aria-invalid={fault === undefined ? undefined : true}
      // Screen readers get the full value if it is longer than its cell.
      aria-label={shown === value ? undefined : value}
      title={visible(fault ?? titleOf(value, shown, other) ?? "") || undefined}
    >
      {edited === null ? (
        <>
          {shown}
          {tab !== undefined && <small class="tab">{tab}</small>}
          {fault !== undefined && <b class="sign">!</b>}
        </>
      ) : (
        <Editor {...edited} onEdited={props.onEdited} />
      )}
    </td>
  );
}

/** The width of a character in a tab and of a tab's padding, in characters of a value. */
const TAB = { character: 0.7, padding: 0.5 };

export const tabWidth = (tab: string): number => TAB.character * tab.length + TAB.padding;

const titleOf = (value: string, shown: string, other: string | undefined): string | undefined =>
  other === undefined ? (shown === value ? undefined : value) : `${value} here, ${other} there`;

/** Truncates a text without splitting a surrogate pair. */
const cut = (value: string, digits: number): string =>
  value.length > digits
    ? `${value.slice(0, Math.max(Math.floor(digits) - 1, 1)).replace(/[\uD800-\uDBFF]$/, "")}…`
    : value;

/** The text field of a cell that is being edited. Enter and Tab accept the text; Escape discards it. */
function Editor({
  element,
  text,
  isTyped,
  onEdited,
}: Pick<SheetProps, "onEdited"> & Editing): JSX.Element {
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
        input.setSelectionRange(isTyped ? input.value.length : 0, input.value.length);
      }}
      onKeyDown={(event) => {
        // The grid must not receive keys meant for the text field.
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
