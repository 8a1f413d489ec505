/** A stable counting sort of positions by key. */

import { NOWHERE } from "./locate.ts";

/**
 * @param keys below `count`; positions with the key {@link NOWHERE} are left out
 * @param starts of length count + 1; receives the first entry in `order` of each key
 * @param order receives the positions sorted by key, stable
 * @returns the number of positions in `order`
 */
export function sortByKey(
  keys: Uint32Array,
  count: number,
  starts: Uint32Array,
  order: Uint32Array,
): number {
  starts.fill(0);
  for (let p = 0; p < keys.length; p++) {
    const key = keys[p];
    if (key !== NOWHERE) starts[key + 1]++;
  }
  for (let key = 0; key < count; key++) starts[key + 1] += starts[key];
  const total = starts[count];
  // Each start advances to its end while positions are placed, so afterwards all are one entry too far.
  for (let p = 0; p < keys.length; p++) {
    const key = keys[p];
    if (key !== NOWHERE) order[starts[key]++] = p;
  }
  starts.copyWithin(1, 0, count);
  starts[0] = 0;
  return total;
}
