/** Which positions of a Plan meet which targets. Sorted once, 8 bytes a position: there may be millions of them. */

import type { Plan } from "../plan/plan.ts";
import { coordinatesOf, product } from "../tensor/shape.ts";
import type { Lazy, Summary } from "./explanation.ts";

export interface Meetings {
  /** How many different targets there are. */
  readonly targets: number;
  /** The number of the `group`-th target: slices of data are numbered in row-major order. */
  targetOf(group: number): number;
  /** The positions that meet the `group`-th target, in order: from `begin` to `end` of {@link positionAt}. */
  begin(group: number): number;
  end(group: number): number;
  positionAt(place: number): number;
  /** The group of a target; -1 where nothing meets it. */
  find(target: number): number;
}

/** @param offsets those of all batches, in slices of `slice` elements */
export function meetingsOf(offsets: Uint32Array, slice: number): Meetings {
  // Empty slices have no elements to meet.
  const total = slice === 0 ? 0 : offsets.length;
  // Target and position as one number, so that they sort without a callback: 10^6 in 65 ms instead of 280.
  const keys = new BigUint64Array(total);
  const words = new Uint32Array(keys.buffer);
  for (let p = 0; p < total; p++) {
    words[2 * p] = p;
    words[2 * p + 1] = offsets[p] / slice;
  }
  keys.sort();
  const targetAt = (place: number): number => words[2 * place + 1];
  const begins = new Uint32Array(total + 1);
  let targets = 0;
  for (let place = 0; place < total; place++) {
    if (place === 0 || targetAt(place) !== targetAt(place - 1)) begins[targets++] = place;
  }
  begins[targets] = total;
  const targetOf = (group: number): number => targetAt(begins[group]);
  return {
    targets,
    targetOf,
    begin: (group) => begins[group],
    end: (group) => begins[group + 1],
    positionAt: (place) => words[2 * place],
    find(target) {
      let low = 0;
      let high = targets;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (targetOf(middle) < target) low = middle + 1;
        else high = middle;
      }
      return low < targets && targetOf(low) === target ? low : -1;
    },
  };
}

const MOST_TARGETS = 10;
const MOST_RANGES = 100;

/** @param count of updates, or of slices of the output */
export function summaryOf(
  meetings: Meetings,
  plan: Plan,
  dataShape: readonly number[],
  addressed: number,
  count: number,
): Summary {
  const { targets, targetOf, begin, end } = meetings;
  const most: { group: number; count: number }[] = [];
  const rows: [number, number][] = [];
  // Slices in a row of data; where no axis is addressed the one slice is all rows.
  const inRow = addressed === 0 ? 0 : product(dataShape, 1, addressed);
  let repeats = 0;
  let rowRanges = 0;
  let lastRow = -2;
  for (let group = 0; group < targets; group++) {
    const met = end(group) - begin(group);
    if (met > 1) {
      repeats++;
      keepGreatest(most, group, met);
    }
    const first = inRow === 0 ? 0 : Math.floor(targetOf(group) / inRow);
    const last = inRow === 0 ? dataShape[0] - 1 : first;
    if (first > lastRow + 1) {
      rowRanges++;
      if (rowRanges <= MOST_RANGES) rows.push([first, last]);
    } else if (rowRanges <= MOST_RANGES) {
      rows[rows.length - 1][1] = last;
    }
    lastRow = last;
  }
  return {
    count,
    targets,
    repeats,
    most: most.map(({ group, count }) => ({
      coordinates: coordinatesOf(targetOf(group), dataShape.slice(0, addressed)),
      count,
    })),
    rows,
    rowRanges,
    untouched: plan.size - targets * plan.slice,
    filled: 0,
  };
}

/** Keeps the list of the greatest in order; of equals the earlier goes first. */
function keepGreatest(
  most: { group: number; count: number }[],
  group: number,
  count: number,
): void {
  if (most.length === MOST_TARGETS && count <= most[MOST_TARGETS - 1].count) return;
  const place = most.findIndex((other) => other.count < count);
  most.splice(place === -1 ? most.length : place, 0, { group, count });
  if (most.length > MOST_TARGETS) most.pop();
}

/** A list of `length` members, each made when it is asked for. */
export const lazyList = <T>(length: number, make: (position: number) => T): Lazy<T> => ({
  length,
  at(position) {
    const place = position < 0 ? position + length : position;
    return Number.isSafeInteger(place) && place >= 0 && place < length ? make(place) : undefined;
  },
  *[Symbol.iterator]() {
    for (let place = 0; place < length; place++) yield make(place);
  },
});
