/**
 * Draws the space between two tables: each tuple's target, lines from updates to targets, and marks on changed rows.
 * Lines never cross a table. Screen readers skip this drawing, because the story states the same facts.
 */

import type { JSX } from "preact";
import { bandOf, MINIMAP, type Corner, type Lane, type Layout } from "./layout.ts";
import { HEADS, SPACING, type Metrics } from "./metrics.ts";
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
  // Lines begin at the table, even if the header above the table is wider.
  const begin = 3 - slackOf(left);
  const drawn = wires.toSorted((a, b) => Number(isOn(a, orders)) - Number(isOn(b, orders)));
  return (
    <div class="gutter" style={{ width: `${width}px` }} aria-hidden="true">
      <span class="verb">{verb}</span>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        {drawn.map((wire) => {
          const [from, to] = [placeOf(left, metrics, wire.from), placeOf(right, metrics, wire.to)];
          // Rows outside the visible part have no height.
          if (from.top === from.bottom || to.top === to.bottom) return null;
          const [y1, y2] = [round(middle(from)), round(middle(to))];
          const head = width - 3;
          const reach = round((begin + head) / 2);
          return (
            <g
              key={`${wire.from.begin},${wire.from.end},${wire.to.begin},${wire.to.end}`}
              class={classOf(wire, orders, step)}
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

type Orders = ReadonlySet<number> | null;

const isOn = (wire: Wire, orders: Orders): boolean =>
  orders === null || wire.orders.some((one) => orders.has(one));

function classOf(wire: Wire, orders: Orders, step: number): string {
  const classes = ["wire", `hue-${wire.hue}`];
  const isLater = wire.orders.every((one) => one >= step);
  if (!isOn(wire, orders) || isLater) classes.push("off");
  else if (orders !== null) classes.push("on");
  if (wire.isLost) classes.push("lost");
  return classes.join(" ");
}

/** Lines between tables in different tiers. */
export interface Lines {
  readonly from: Side;
  readonly to: Side;
  readonly tiers: readonly [from: number, to: number];
  readonly wires: readonly Wire[];
}

interface BusProps {
  readonly layout: Layout;
  readonly tier: number;
  readonly lines: readonly Lines[];
  readonly orders: Orders;
  readonly step: number;
}

/** The distance between vertical lines, and a length that reaches below any tier; what is below is cut off. */
const TRACK = 4;
const FAR = 99_999;

/** Draws one tier's part of the lines that leave a tier at its left edge and arrive at the left edge of another tier. */
export function Bus({ layout, tier, lines, orders, step }: BusProps): JSX.Element {
  const { bus, metrics, head, hasMaps, tierGap } = layout;
  const above = HEADS[head] - SPACING + (hasMaps ? MINIMAP : 0);
  const most = Math.max(1, Math.floor((bus - 12) / TRACK));
  return (
    <div class="bus" style={{ width: `${bus}px` }} aria-hidden="true">
      <svg width={bus} style={{ height: `calc(100% + ${tierGap}px)` }}>
        {lines.flatMap(({ from, to, tiers: [first, last], wires }) => {
          if (tier < first || tier > last) return [];
          const targets = [...new Set(wires.map((wire) => wire.to.begin))];
          return wires.map((wire) => {
            const [begin, end] = [placeOf(from, metrics, wire.from), placeOf(to, metrics, wire.to)];
            if (begin.top === begin.bottom || end.top === end.bottom) return null;
            const x = 3 + (targets.indexOf(wire.to.begin) % most) * TRACK;
            const [y1, y2] = [round(above + middle(begin)), round(above + middle(end))];
            const path =
              tier === first
                ? `M${bus - 3} ${y1}H${x + 5}q-5 0-5 5V${FAR}`
                : tier === last
                  ? `M${x} 0V${y2 - 5}q0 5 5 5H${bus - 8}`
                  : `M${x} 0V${FAR}`;
            return (
              <g
                key={`${first} ${wire.from.begin} ${wire.to.begin}`}
                class={classOf(wire, orders, step)}
              >
                <path d={path} />
                {tier === last && <path class="head" d={`M${bus - 2} ${y2}l-8-4.5v9z`} />}
              </g>
            );
          });
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
    {chips.map(({ row, tuple, hue, text, isResolved, isOut }) => {
      const band = placeOf(side, metrics, { begin: row, end: row + 1 });
      if (band.top === band.bottom) return null;
      const isFaint = tuples !== null && !tuples.has(tuple);
      return (
        <span
          key={row}
          class={`chip hue-${hue}${isFaint ? " off" : ""}${isOut ? " out" : ""}`}
          style={{ top: `${round(middle(band))}px`, left: `${6 - slackOf(side)}px` }}
        >
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
    {marks.map(({ rows, hue, text, count }) => {
      const band = placeOf(side, metrics, rows);
      if (band.top === band.bottom) return null;
      return (
        <span
          key={rows.begin}
          class={`mark hue-${hue}${count > 1 ? " several" : ""}`}
          style={{ top: `${round(middle(band))}px` }}
        >
          {text}
        </span>
      );
    })}
  </div>
);
