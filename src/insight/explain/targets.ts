/**
 * Groups Plan positions by target, and summarizes the groups. Positions are sorted only once and use 8 bytes each,
 * because a Plan may contain millions of positions.
 *
 * A target is the row-major number of a data slice. A group consists of a target and all positions that address it.
 * Groups are ordered by target, and positions within a group are in Plan order.
 */

import type { Plan } from "../../core/plan/plan.ts";
import { coordinatesOf, product } from "../../core/tensor/shape.ts";
import type { Summary } from "./explanation.ts";

export type TargetGroups = ReturnType<typeof groupByTarget>;

/**
 * `offsets` contains the offsets of all batches in data. Each offset is the first element of a slice with `slice`
 * elements.
 */
export function groupByTarget(offsets: Uint32Array, slice: number) {
  // Empty slices contain no elements to update or read.
  const total = slice === 0 ? 0 : offsets.length;
  // Each target and position form a 64-bit key, so that sorting needs no comparison callback. Sorting 10^6 keys takes
  // 65 ms instead of 280 ms.
  const keys = new BigUint64Array(total);
  const words = new Uint32Array(keys.buffer);
  for (let p = 0; p < total; p++) {
    words[2 * p] = p;
    words[2 * p + 1] = offsets[p] / slice;
  }
  keys.sort();
  const targetAt = (place: number): number => words[2 * place + 1];
  const begins = new Uint32Array(total + 1);
  let count = 0;
  for (let place = 0; place < total; place++) {
    if (place === 0 || targetAt(place) !== targetAt(place - 1)) begins[count++] = place;
  }
  begins[count] = total;
  const target = (group: number): number => targetAt(begins[group]);
  return {
    count,
    target,
    size: (group: number): number => begins[group + 1] - begins[group],
    /** Returns the `nth` position of a group, counted from 0. */
    position: (group: number, nth: number): number => words[2 * (begins[group] + nth)],
    /** Returns the group for a target, or -1 if no position addresses the target. */
    find: (wanted: number): number => searchAscending(count, target, wanted),
  };
}

/** Returns the position of a number in an ascending list of `count` numbers, or -1 if the number is not in the list. */
export function searchAscending(
  count: number,
  numberAt: (position: number) => number,
  wanted: number,
): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numberAt(middle) < wanted) low = middle + 1;
    else high = middle;
  }
  return low < count && numberAt(low) === wanted ? low : -1;
}

const MAX_MOST = 10;
const MAX_RANGES = 100;

/**
 * Summarizes a story with counts, the most frequent targets, and row ranges.
 *
 * `addressed` is the number of leading data axes that identify a target. `count` is the number of updates, or of output
 * slices.
 */
export function summaryOf(
  groups: TargetGroups,
  plan: Plan,
  dataShape: readonly number[],
  addressed: number,
  count: number,
): Summary {
  const most: { group: number; count: number }[] = [];
  const rows: [number, number][] = [];
  // Targets are counted per row, where a row is one coordinate on axis 0. If no axis is addressed, the only target
  // includes all rows.
  const inRow = addressed === 0 ? 0 : product(dataShape, 1, addressed);
  let repeats = 0;
  let rowRanges = 0;
  let lastRow = -2;
  for (let group = 0; group < groups.count; group++) {
    const size = groups.size(group);
    if (size > 1) {
      repeats++;
      if (most.length < MAX_MOST || size > most[MAX_MOST - 1].count) {
        // Sorting is stable, so groups with equal counts stay in order.
        most.push({ group, count: size });
        most.sort((a, b) => b.count - a.count).splice(MAX_MOST);
      }
    }
    const first = inRow === 0 ? 0 : Math.floor(groups.target(group) / inRow);
    const last = inRow === 0 ? dataShape[0] - 1 : first;
    if (first > lastRow + 1) {
      rowRanges++;
      if (rowRanges <= MAX_RANGES) rows.push([first, last]);
    } else if (rowRanges <= MAX_RANGES) {
      rows[rows.length - 1][1] = last;
    }
    lastRow = last;
  }
  return {
    count,
    targets: groups.count,
    repeats,
    most: most.map(({ group, count }) => ({
      coordinates: coordinatesOf(groups.target(group), dataShape.slice(0, addressed)),
      count,
    })),
    rows,
    rowRanges,
    untouched: plan.size - groups.count * plan.slice,
    filled: 0,
  };
}
