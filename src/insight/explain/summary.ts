/** Summarizes a story with counts, the most frequent targets, and row ranges. */

import type { Plan } from "../../core/plan/plan.ts";
import { coordinatesOf, product } from "../../core/tensor/shape.ts";
import type { Summary } from "./explanation.ts";
import type { TargetGroups } from "./targets.ts";

const MAX_MOST = 10;
const MAX_RANGES = 100;

/**
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
      keepGreatest(most, group, size);
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

/** Inserts a group into a short list in descending order. If counts are equal, the earlier group comes first. */
function keepGreatest(
  most: { group: number; count: number }[],
  group: number,
  count: number,
): void {
  if (most.length === MAX_MOST && count <= most[MAX_MOST - 1].count) return;
  const place = most.findIndex((other) => other.count < count);
  most.splice(place === -1 ? most.length : place, 0, { group, count });
  if (most.length > MAX_MOST) most.pop();
}
