/**
 * Draws the space between two tables: each tuple's target, lines from updates to targets, and marks on changed rows.
 * Lines never cross a table. Screen readers skip this drawing, because the story states the same facts.
 */

import type { JSX } from "preact";
import { bandOf, type Corner, type Lane } from "./layout.ts";
import type { Metrics } from "./metrics.ts";
import type { Chip, Mark } from "./wiring.ts";
import type { Rows, Wire } from "./wires.ts";

/** A table next to a gutter. */
export interface Side {
  readonly lane: Lane;
  readonly corner: Corner;
}

interface Band {
  readonly top: number;
  readonly bottom: number;
}

const middle = ({ top, bottom }: Band): number => (top + bottom) / 2;

/** Returns the space between the left table and the gutter, because a header may be wider than its table. */
const slackOf = ({ lane }: Side): number => (lane.isWindow ? 0 : lane.width - lane.tableWidth);

const placeOf = ({ lane, corner }: Side, metrics: Metrics, { begin, end }: Rows): Band =>
  bandOf(lane, metrics, corner, begin, end);

const round = (value: number): number => Math.round(value * 10) / 10;

interface WiresProps {
  readonly width: number;
  readonly metrics: Metrics;
  readonly left: Side;
  readonly right: Side;
  readonly wires: readonly Wire[];
  /** The highlighted updates, or null. */
  readonly orders: ReadonlySet<number> | null;
  /** The number of completed updates; lines of later updates are faint. */
  readonly step: number;
  readonly height: number;
  readonly verb: string;
}

/**
 * Draws lines from the edge of one table to the edge of the next table. Lines with the same target end in one arrow.
 */
export function Wires(props: WiresProps): JSX.Element {
  const { width, metrics, left, right, wires, orders, height, verb, step } = props;
  const isOn = (wire: Wire): boolean =>
    orders === null || wire.orders.some((one) => orders.has(one));
  const isLater = (wire: Wire): boolean => wire.orders.every((one) => one >= step);
  // Lines begin at the table, even if the header above the table is wider.
  const begin = 3 - slackOf(left);
  const drawn = wires.toSorted((a, b) => Number(isOn(a)) - Number(isOn(b)));
  return (
    <div class="gutter" style={{ width: `${width}px` }} aria-hidden="true">
      <span class="verb">{verb}</span>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        {drawn.map((wire) => {
          const [from, to] = [placeOf(left, metrics, wire.from), placeOf(right, metrics, wire.to)];
          // Rows outside the visible part have no height.
          if (from.top === from.bottom || to.top === to.bottom) return null;
          const classes = ["wire", `hue-${wire.hue}`];
          if (!isOn(wire) || isLater(wire)) classes.push("off");
          else if (orders !== null) classes.push("on");
          if (wire.isLost) classes.push("lost");
          const [y1, y2] = [round(middle(from)), round(middle(to))];
          const head = width - 3;
          const reach = round((begin + head) / 2);
          return (
            <g
              key={`${wire.from.begin},${wire.from.end},${wire.to.begin},${wire.to.end}`}
              class={classes.join(" ")}
            >
              {bracket(wire.from, from, begin)}
              <path d={`M${begin} ${y1}C${reach} ${y1} ${reach} ${y2} ${head - 6} ${y2}`} />
              {wire.isLost && <path d={`M${head - 18} ${y2 - 4}l8 8m0-8l-8 8`} />}
              <path class="head" d={`M${head} ${y2}l-8-4.5v9z`} />
              {bracket(wire.to, to, width - 2)}
            </g>
          );
        })}
      </svg>
    </div>
  );
}

/** Returns the path of a bracket over several rows; an empty path for a single row. */
const bracket = ({ begin, end }: Rows, { top, bottom }: Band, x: number): JSX.Element | null =>
  end - begin < 2 || bottom - top < 46 ? null : (
    <path class="extent" d={`M${x} ${round(top + 2)}V${round(bottom - 2)}`} />
  );

interface ChipsProps {
  readonly width: number;
  readonly metrics: Metrics;
  readonly side: Side;
  readonly chips: readonly Chip[];
  readonly tuples: ReadonlySet<number> | null;
}

/** Shows each index tuple's target next to the tuple's row. */
export const Chips = ({ width, metrics, side, chips, tuples }: ChipsProps): JSX.Element => (
  <div class="gutter chips" style={{ width: `${width}px` }} aria-hidden="true">
    {chips.map(({ row, tuple, hue, letter, text, isResolved, isOut }) => {
      const band = placeOf(side, metrics, { begin: row, end: row + 1 });
      if (band.top === band.bottom) return null;
      const isFaint = tuples !== null && !tuples.has(tuple);
      return (
        <span
          key={row}
          class={`chip hue-${hue}${isFaint ? " off" : ""}${isOut ? " out" : ""}`}
          style={{ top: `${round(middle(band))}px`, left: `${6 - slackOf(side)}px` }}
        >
          {letter !== "" && <b>{letter}</b>}
          <i class={isResolved ? "resolved" : undefined}>→ {text}</i>
        </span>
      );
    })}
  </div>
);

interface MarksProps {
  readonly width: number;
  readonly metrics: Metrics;
  readonly side: Side;
  readonly marks: readonly Mark[];
}

/** Marks the rows of data that differ in the output, with the updates that change them. */
export const Marks = ({ width, metrics, side, marks }: MarksProps): JSX.Element => (
  <div class="gutter marks" style={{ width: `${width}px` }} aria-hidden="true">
    <span class="verb">⇒</span>
    {marks.map(({ rows, hue, letters, count }) => {
      const band = placeOf(side, metrics, rows);
      if (band.top === band.bottom) return null;
      return (
        <span
          key={rows.begin}
          class={`mark hue-${hue}${count > 1 ? " several" : ""}`}
          style={{ top: `${round(middle(band))}px` }}
        >
          {letters === "" ? (count > 1 ? `×${count}` : "⇒") : letters}
        </span>
      );
    })}
  </div>
);
