/**
 * Frames all elements of a table that one update or read touches. The frame overlays the table, so a step or a moving
 * pointer redraws no cells. Screen readers skip the frame, because the story states the same facts.
 */

import type { JSX } from "preact";
import { bandOf, MINIMAP, type Corner, type Lane, type Layout } from "./layout.ts";
import { HEADS, SPACING } from "./metrics.ts";
import type { Session } from "../cells/session.ts";
import { touchedBy, type Range } from "../cells/touched.ts";
import { visible } from "../values/visible.ts";

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Returns the update or read of the selected cell, or else of the player's step; -1 for none. */
function orderOf({ spot, description, step, isStale }: Session): number {
  if (isStale) return -1;
  if (spot === null) return (step ?? 0) - 1;
  return description?.orders.length === 1 ? description.orders[0] : -1;
}

interface FrameProps {
  readonly session: Session;
  readonly layout: Layout;
  readonly lane: Lane;
  readonly corner: Corner;
}

export function Frame({ session, layout, lane, corner }: FrameProps): JSX.Element | null {
  const { picture } = session;
  const range =
    picture === null ? null : touchedBy(picture, orderOf(session), lane.role, lane.shape);
  const box = range === null ? null : boxOf(range, layout, lane, corner);
  if (box === null) return null;
  const style = Object.fromEntries(
    Object.entries(box).map(([name, pixels]) => [name, `${pixels}px`]),
  );
  return <div class="frame" style={style} aria-hidden="true" />;
}

/** Shows the first error of a tensor's cells beside its cell, until another cell is pointed at. */
export function Bubble({ session, layout, lane, corner }: FrameProps): JSX.Element | null {
  const { inputs, spot } = session;
  const { id } = lane;
  const [fault] = id === "output" ? [] : inputs[id].cells.faults;
  if (fault === undefined) return null;
  const [element, sentence] = fault;
  const isElsewhere = spot !== null && (spot.tensor !== id || spot.element !== element);
  const box = boxOf({ begin: element, end: element + 1 }, layout, lane, corner);
  if (isElsewhere || box === null) return null;
  const { isBefore, room } = besideOf(box, lane, layout);
  const side = isBefore
    ? { right: `${lane.width - box.left + GAP}px` }
    : { left: `${box.left + box.width + GAP}px` };
  return (
    <p
      class={`bubble${isBefore ? " before" : ""}`}
      style={{ ...side, top: `${box.top + box.height / 2}px`, maxWidth: `${room}px` }}
      // The story announces the error.
      aria-hidden="true"
    >
      {visible(sentence.replace(/^[\w-]+-\d+: /, ""))}
    </p>
  );
}

/** The distance between a cell and its bubble, and the widths of a bubble, in pixels. */
const GAP = 8;
const WIDTHS = { least: 96, enough: 170, most: 230 };

/** Returns the side of a cell that has room for a bubble, and the bubble's largest width. */
function besideOf(
  box: Box,
  lane: Lane,
  { tiers, lanes, gutters, metrics, bus }: Layout,
): { readonly isBefore: boolean; readonly room: number } {
  const at = lanes.indexOf(lane);
  const tier = tiers.find((one) => one.includes(at)) ?? [at];
  // Beside the last column, a bubble that fits into the gutter covers no cell.
  const gutter = tier.at(-1) === at ? 0 : metrics.gutters[gutters[at]];
  const free = lane.width - box.left - box.width + gutter - 2 * GAP;
  const isLast = box.left + box.width > lane.tableWidth - lane.cell;
  if (isLast && free >= WIDTHS.least) return { isBefore: false, room: Math.min(free, WIDTHS.most) };
  const widthOf = (tables: readonly number[]): number =>
    tables.reduce(
      (sum, one, i) => sum + lanes[one].width + (i === 0 ? 0 : metrics.gutters[gutters[one - 1]]),
      bus,
    );
  const begin = widthOf(tier.slice(0, tier.indexOf(at) + 1)) - lane.width;
  const before = begin + box.left - GAP;
  const after = Math.max(...tiers.map(widthOf)) - begin - box.left - box.width - GAP;
  const isBefore = after < WIDTHS.enough && before > after;
  const room = Math.max(WIDTHS.least, Math.min(WIDTHS.most, isBefore ? before : after));
  return { isBefore, room };
}

/** Returns the box around elements of a tensor; null if none is in view. */
export function boxOf(
  { begin, end }: Range,
  { metrics, head, hasMaps }: Pick<Layout, "metrics" | "head" | "hasMaps">,
  lane: Lane,
  corner: Corner,
): Box | null {
  const { sheet, cell, side, isWindow } = lane;
  const [row, last] = [Math.floor(begin / sheet.columns), Math.ceil(end / sheet.columns)];
  const from = isWindow ? corner.column : 0;
  const isPart = last - row === 1;
  const left = Math.max(isPart ? begin % sheet.columns : 0, from);
  const right = Math.min(isPart ? end - row * sheet.columns : sheet.columns, from + lane.columns);
  const band = bandOf(lane, metrics, corner, row, last);
  if (right <= left || band.top === band.bottom) return null;
  return {
    left: (side > 0 ? side + SPACING : 0) + SPACING + (left - from) * (cell + SPACING),
    top: HEADS[head] - SPACING + (hasMaps ? MINIMAP : 0) + band.top,
    width: (right - left) * (cell + SPACING) - SPACING,
    height: band.bottom - band.top,
  };
}
