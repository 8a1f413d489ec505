/**
 * The tabs within cells: the place that an index names, where no tab is beside the index. An update of one cell, as in
 * ScatterElements, has its tab in its own cell.
 */

import { indexFormOf } from "../values/schema.ts";
import { positionOf, sizeOf } from "../values/shape.ts";
import type { Links, Tuple } from "./links.ts";

/** The maximum number of updates or reads with a tab each; more tabs could not be read. */
const MOST_TABS = 64;

/** Returns the tabs of a tensor's elements, such as `→3`. */
export function tabsOf(
  links: Links,
  op: string,
  role: string,
  shape: readonly number[],
): ReadonlyMap<number, string> {
  if (role === "indices") return resolved(links, shape);
  const isCarrier = role === (links.kind === "gather" ? "output" : "updates");
  const tabs = new Map<number, string>();
  if (!isCarrier || indexFormOf(op) !== "elements" || links.count > MOST_TABS) return tabs;
  const sign = links.kind === "gather" ? "←" : "→";
  links.carried.forEach((order, element) => {
    const tuple: Tuple | undefined = links.tuples[links.tupleOf[order]];
    const places = tuple?.places ?? null;
    if (places !== null) tabs.set(element, sign + places.join());
  });
  return tabs;
}

/** Returns the positive equivalent of each negative index. */
function resolved({ tuples }: Links, shape: readonly number[]): Map<number, string> {
  const tabs = new Map<number, string>();
  for (const { at, given, places } of tuples) {
    const isNegative = given.some((index) => index < 0);
    if (places === null || !isNegative || at.length > shape.length) continue;
    const begin = positionOf(at, shape) * sizeOf(shape.slice(at.length));
    given.forEach((index, j) => {
      if (Number(index) < 0) tabs.set(begin + j, `→${places[j]}`);
    });
  }
  return tabs;
}
