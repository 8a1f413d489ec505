/** Sorts positions by key with a stable counting sort. */

import { NOWHERE } from "./locate.ts";

/**
 * All keys are less than `count`, except for `NOWHERE`, whose positions are omitted. `starts` has length count + 1, and
 * receives the first entry in `order` for each key. `order` receives the sorted
 * positions. Returns the number of positions in `order`.
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
  // Placing positions has advanced each start to the next key's start, so all starts are shifted back by one.
  for (let p = 0; p < keys.length; p++) {
    const key = keys[p];
    if (key !== NOWHERE) order[starts[key]++] = p;
  }
  starts.copyWithin(1, 0, count);
  starts[0] = 0;
  return total;
}
