/** The first update that goes where an earlier one went: what `duplicates: "error"` and `inspect` report. */

import { split, type Plan } from "./plan.ts";

/** Positions count slices of updates, in the order in which they are applied. */
export interface Repeat {
  /** The first update whose target an earlier update has. */
  readonly position: number;
  /** The first update of that target. */
  readonly earlier: number;
  /** Where the target begins in data, in elements. */
  readonly target: number;
  /** How many updates go where an earlier one went. */
  readonly count: number;
}

/** Null where no two updates have one target. The Plan has one slice for each update: it is not coarsened. */
export function firstRepeat(plan: Plan): Repeat | null {
  const { first, later } = split(plan);
  if (later.count === 0 || first.source === undefined || later.source === undefined) return null;
  const [target] = later.offsets;
  const [position] = later.source;
  const earlier = first.source[first.offsets.indexOf(target)];
  return { position, earlier, target, count: later.count };
}
