/** A stable counting sort of positions by key. */

import { NOWHERE } from "./locate.ts";

/**
 * All keys are less than `count`, except for `NOWHERE`, whose positions are omitted. `order` receives the positions
 *   sorted by key, stable. Returns the number of positions in `order`.
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
  // Placing positions advances each start to its end, so all starts must then be shifted by one entry.
  for (let p = 0; p < keys.length; p++) {
    const key = keys[p];
    if (key !== NOWHERE) order[starts[key]++] = p;
  }
  starts.copyWithin(1, 0, count);
  starts[0] = 0;
  return total;
}
