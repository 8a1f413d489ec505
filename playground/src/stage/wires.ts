/**
 * Computes the lines from an update's rows to its target's rows, or from data to a gather's output. Updates with equal
 * source rows and equal target rows share one line.
 */

import type { Links } from "../cells/links.ts";
import { PLAIN, type Targets } from "../cells/targets.ts";

/** A range of table rows, including the first row and excluding the last. */
export interface Rows {
  readonly begin: number;
  readonly end: number;
}

export interface Wire {
  readonly from: Rows;
  readonly to: Rows;
  /** A colour number, or `PLAIN`. */
  readonly hue: number;
  /** The updates or reads that share this line. */
  readonly orders: readonly number[];
  /** True if later updates overwrite all updates of this line. */
  readonly isLost: boolean;
}

/** The maximum number of lines drawn at once; a larger call draws only the selection's lines. */
export const MOST_WIRES = 64;

/** Returns the rows of a tensor that an update or read touches, or null if no row is touched. */
export type RowsOf = (order: number) => Rows | null;

/** With `keepsLast`, later updates overwrite earlier updates. */
export function wiresOf(
  links: Links,
  targets: Targets,
  orders: Iterable<number>,
  [fromOf, toOf]: readonly [RowsOf, RowsOf],
  keepsLast: boolean,
): Wire[] {
  const found = new Map<string, { from: Rows; to: Rows; orders: number[] }>();
  for (const order of orders) {
    const from = fromOf(order);
    const to = toOf(order);
    if (from === null || to === null) continue;
    const key = `${from.begin},${from.end},${to.begin},${to.end}`;
    const known = found.get(key);
    if (known === undefined) found.set(key, { from, to, orders: [order] });
    else known.orders.push(order);
  }
  const isLost = (order: number): boolean => {
    const list = links.reached.get(targets.sliceOf[order]);
    return list !== undefined && list[list.length - 1] !== order;
  };
  return [...found.values()].map((wire) => {
    const hues = new Set(wire.orders.map((order) => targets.hueOf(targets.sliceOf[order])));
    const [hue] = hues;
    return {
      ...wire,
      hue: hues.size === 1 ? hue : PLAIN,
      isLost: keepsLast && wire.orders.every(isLost),
    };
  });
}

/** Returns, for each tensor, the rows that updates or reads touch. */
export function rowsOf(
  links: Links,
  targets: Targets,
  role: string,
  { columns, size }: { readonly columns: number; readonly size: number },
): RowsOf {
  const width = Math.max(columns, 1);
  const band = (begin: number, end: number): Rows => ({
    begin: Math.floor(begin / width),
    end: Math.ceil(end / width),
  });
  if (role === "data" || (role === "output" && links.kind === "scatter")) {
    const { slice } = links;
    return (order) => {
      const target = targets.sliceOf[order];
      return target < 0 ? null : band(target * slice, (target + 1) * slice);
    };
  }
  const isIndices = role === "indices";
  const list = isIndices ? links.indexed : links.carried;
  const count = isIndices ? links.tuples.length : links.count;
  // An update's elements are adjacent.
  const begins = new Int32Array(count).fill(-1);
  const ends = new Int32Array(count);
  for (let element = 0; element < size; element++) {
    const number = list[element] ?? -1;
    if (number < 0) continue;
    if (begins[number] < 0) begins[number] = element;
    ends[number] = element + 1;
  }
  return (order) => {
    const number = isIndices ? links.tupleOf[order] : order;
    return begins[number] < 0 || begins[number] === undefined
      ? null
      : band(begins[number], ends[number]);
  };
}
