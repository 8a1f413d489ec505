/** Computes the content of the gutters between tables: lines, tuple targets, and changed rows. */

import type { Layout } from "./layout.ts";
import { MOST_LETTERS } from "../cells/links.ts";
import type { Links } from "../cells/links.ts";
import { PLAIN } from "../cells/targets.ts";
import { MOST_WIRES, rowsOf, wiresOf, type Rows, type RowsOf, type Wire } from "./wires.ts";
import type { Picture } from "../cells/view.ts";

export interface Chip {
  readonly tuple: number;
  readonly row: number;
  readonly hue: number;
  readonly letter: string;
  /** The tuple's target, such as `3` or `(1, 0)`. */
  readonly text: string;
  /** True if the text differs from the tuple, for example because an index is negative. */
  readonly isResolved: boolean;
  readonly isOut: boolean;
}

export interface Mark {
  readonly rows: Rows;
  readonly hue: number;
  readonly letters: string;
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
  const wires = new Map(
    links.kind === "gather"
      ? [
          ["indices", between("indices", "data")],
          ["data", between("data", "output")],
        ]
      : [["updates", between("updates", "data")]],
  );
  return {
    wires,
    chips: isLarge ? [] : chipsOf(links, picture),
    marks: marksOf(picture, rowsIn("data"), isLarge),
  };
}

const sizeIn = ({ explanation: { inputs, output } }: Picture, role: string): number =>
  (role === "output" ? output : inputs.find((one) => one.role === role)?.tensor)?.size ?? 0;

function chipsOf(links: Links, { targets }: Picture): Chip[] {
  const hasLetters = links.tuples.length <= MOST_LETTERS;
  const chips: Chip[] = [];
  for (const [tuple, { given, places, letter }] of links.tuples.entries()) {
    const text = places === null ? "nowhere" : bare(places);
    chips.push({
      tuple,
      row: rowOfTuple(links, tuple),
      hue: places === null ? PLAIN : targets.hueOf(targets.ofTuple[tuple]),
      letter: hasLetters ? letter : "",
      text,
      isResolved: places !== null && bare(given) !== text,
      isOut: places === null,
    });
  }
  return chips;
}

/** Returns a tuple's row in the table of indices. Tuples are numbered by first use, rows by position in indices. */
function rowOfTuple({ indexed, tuples }: Links, tuple: number): number {
  const begin = indexed.indexOf(tuple);
  return begin === -1 ? tuple : Math.floor((begin * tuples.length) / indexed.length);
}

/** Prints coordinates, such as `3` or `(1, 0)`. */
const bare = (list: readonly (number | bigint)[]): string =>
  list.length === 1 ? String(list[0]) : `(${list.join(", ")})`;

/** Returns the marks of the rows of data that updates change. Targets in the same row share one mark. */
function marksOf({ links, targets }: Picture, rowsIn: RowsOf, isLarge: boolean): Mark[] {
  if (links.kind === "gather" || isLarge) return [];
  const found = new Map<
    string,
    { rows: Mark["rows"]; orders: number[]; hues: Set<number>; most: number }
  >();
  for (const [slice, orders] of links.reached) {
    const rows = rowsIn(orders[0]);
    if (rows === null) continue;
    const key = `${rows.begin},${rows.end}`;
    const known = found.get(key) ?? { rows, orders: [], hues: new Set(), most: 0 };
    known.orders.push(...orders);
    known.hues.add(targets.hueOf(slice));
    known.most = Math.max(known.most, orders.length);
    found.set(key, known);
  }
  const hasLetters = links.tuples.length <= MOST_LETTERS;
  return [...found.values()].map(({ rows, orders, hues, most }) => {
    const letters = [
      ...new Set(orders.toSorted((a, b) => a - b).map((order) => links.tupleOf[order])),
    ].map((tuple) => links.tuples[tuple].letter);
    const isOne = hues.size === 1;
    const more = letters.length > 3 ? `+${letters.length - 2}` : "";
    return {
      rows,
      hue: isOne ? ([...hues][0] ?? PLAIN) : PLAIN,
      letters: hasLetters ? letters.slice(0, more === "" ? 3 : 2).join(" ") + more : "",
      count: most,
    };
  });
}
