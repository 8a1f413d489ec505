/** A stable counting sort of positions by the number that each has. */

import { NOWHERE } from "./locate.ts";

/**
 * @param keys below `count`, or {@link NOWHERE}, whose positions are left out
 * @param starts of length count + 1: afterwards, where the positions of each key begin in `order`
 * @param order afterwards, the positions by key, those of one key in their order
 * @returns how many positions there are in `order`
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
  // Each start moves to its end while its positions are placed; afterwards all are one place further.
  for (let p = 0; p < keys.length; p++) {
    const key = keys[p];
    if (key !== NOWHERE) order[starts[key]++] = p;
  }
  starts.copyWithin(1, 0, count);
  starts[0] = 0;
  return total;
}
