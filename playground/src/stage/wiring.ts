/** Computes the content of the gutters between tables: lines, tuple targets, and changed rows. */

import { LINES, type Layout } from "./layout.ts";
import type { Links } from "../cells/links.ts";
import { PLAIN } from "../cells/targets.ts";
import { MOST_WIRES, rowsOf, wiresOf, type Rows, type RowsOf, type Wire } from "./wires.ts";
import type { Picture } from "../cells/view.ts";

export interface Chip {
  readonly tuple: number;
  readonly row: number;
  readonly hue: number;
  /** The tuple's target, such as `3` or `(1, 0)`. */
  readonly text: string;
  /** True if the text differs from the tuple, for example because an index is negative. */
  readonly isResolved: boolean;
  readonly isOut: boolean;
}

export interface Mark {
  readonly rows: Rows;
  readonly hue: number;
  /** What happens where the updates meet, such as `2× add`. */
  readonly text: string;
  /** The number of updates of the row's most frequent target. */
  readonly count: number;
}

export interface Wiring {
  /** The lines in each gutter, by the role of the table on its left. */
  readonly wires: ReadonlyMap<string, readonly Wire[]>;
  readonly chips: readonly Chip[];
  readonly marks: readonly Mark[];
}

export const NO_WIRING: Wiring = { wires: new Map(), chips: [], marks: [] };

/** A large call draws only the lines of the highlighted updates or reads in `described`. */
export function wiringOf(
  picture: Picture,
  { lanes }: Layout,
  described: readonly number[],
): Wiring {
  const { links, targets, explanation } = picture;
  const isLarge = links.count > MOST_WIRES;
  const orders = isLarge
    ? described.slice(0, MOST_WIRES)
    : Array.from({ length: links.count }, (_, order) => order);
  const rowsIn = (role: string): RowsOf => {
    const lane = lanes.find((one) => one.role === role);
    if (lane === undefined) return () => null;
    return rowsOf(links, targets, role, {
      columns: lane.sheet.columns,
      size: sizeIn(picture, role),
    });
  };
  const between = (from: string, to: string): Wire[] => {
    const story = explanation.story;
    const keepsLast = story?.kind === "scatter" && story.reduction === "none";
    return wiresOf(links, targets, orders, [rowsIn(from), rowsIn(to)], keepsLast);
  };
  const wires = new Map(LINES[links.kind].map(([from, to]) => [from, between(from, to)]));
  return {
    wires,
    chips: isLarge ? [] : chipsOf(links, picture),
    marks: marksOf(picture, rowsIn("data"), isLarge),
  };
}

const sizeIn = ({ explanation: { inputs, output } }: Picture, role: string): number =>
  (role === "output" ? output : inputs.find((one) => one.role === role)?.tensor)?.size ?? 0;

const chipsOf = (links: Links, { targets }: Picture): Chip[] =>
  links.tuples.map(({ given, places, tab }, tuple) => ({
    tuple,
    row: rowOfTuple(links, tuple),
    hue: places === null ? PLAIN : targets.hueOf(targets.ofTuple[tuple]),
    text: tab,
    isResolved: places !== null && given.some((index, j) => Number(index) !== places[j]),
    isOut: places === null,
  }));

/** Returns a tuple's row in the table of indices. Tuples are numbered by first use, rows by position in indices. */
function rowOfTuple({ indexed, tuples }: Links, tuple: number): number {
  const begin = indexed.indexOf(tuple);
  return begin === -1 ? tuple : Math.floor((begin * tuples.length) / indexed.length);
}

/** Returns the marks of the rows of data that updates change. Targets in the same row share one mark. */
function marksOf(
  { links, targets, explanation }: Picture,
  rowsIn: RowsOf,
  isLarge: boolean,
): Mark[] {
  if (links.kind === "gather" || isLarge) return [];
  const found = new Map<string, { rows: Mark["rows"]; hues: Set<number>; most: number }>();
  for (const [slice, orders] of links.reached) {
    const rows = rowsIn(orders[0]);
    if (rows === null) continue;
    const key = `${rows.begin},${rows.end}`;
    const known = found.get(key) ?? { rows, hues: new Set<number>(), most: 0 };
    known.hues.add(targets.hueOf(slice));
    known.most = Math.max(known.most, orders.length);
    found.set(key, known);
  }
  const verb = explanation.story?.kind === "scatter" ? explanation.story.reduction : "none";
  return [...found.values()].map(({ rows, hues, most }) => ({
    rows,
    hue: hues.size === 1 ? ([...hues][0] ?? PLAIN) : PLAIN,
    text: meetingOf(verb, most),
    count: most,
  }));
}

/** Returns the verb above the lines from updates to data; an empty text for a gather. */
export function verbOf(picture: Picture | null): string {
  const story = picture?.explanation.story;
  if (story?.kind !== "scatter") return "";
  return story.reduction === "none" ? "replace" : story.reduction;
}

/** Returns the verb of updates that meet: how many they are, and what becomes of them. */
const meetingOf = (verb: string, count: number): string =>
  count === 1 ? (verb === "none" ? "⇒" : verb) : `${count}× ${verb === "none" ? "last" : verb}`;
