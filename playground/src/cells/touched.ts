/** Finds each tensor's elements that take part in one update or read. */

import type { Links } from "./links.ts";
import type { Targets } from "./targets.ts";

/** A range of adjacent elements. */
export interface Range {
  readonly begin: number;
  readonly end: number;
}

/** Returns the range of elements that an update or read touches, or null if no element is touched. */
export function touchedBy(
  { links, targets }: { readonly links: Links; readonly targets: Targets },
  order: number,
  role: string,
  shape: readonly number[],
): Range | null {
  if (order < 0 || order >= links.count) return null;
  const isCarrier = role === (links.kind === "gather" ? "output" : "updates");
  if (isCarrier) return rangeOf(links.carried, order);
  if (role === "indices") {
    return shape.length === 0 ? { begin: 0, end: 1 } : rangeOf(links.indexed, links.tupleOf[order]);
  }
  const target = targets.sliceOf[order];
  if ((role !== "data" && role !== "output") || target < 0) return null;
  return { begin: target * links.slice, end: (target + 1) * links.slice };
}

function rangeOf(list: Int32Array, value: number): Range | null {
  const begin = list.indexOf(value);
  return begin === -1 ? null : { begin, end: list.lastIndexOf(value) + 1 };
}
