/**
 * Groups a Plan's positions by target. Positions are sorted only once and take 8 bytes each, because a Plan may have
 * millions of positions.
 *
 * A target is the number of a slice of data in row-major order. A group is a target with all positions that address it.
 * Groups are numbered in the order of their targets, and positions within a group are in the order of the Plan.
 */

export interface TargetGroups {
  /** The number of groups, which is the number of distinct targets. */
  readonly count: number;
  target(group: number): number;
  /** Returns the number of positions that address a group's target. */
  size(group: number): number;
  /** Returns the `nth` position of a group, counted from 0. */
  position(group: number, nth: number): number;
  /** Returns the group of a target; -1 if no position addresses it. */
  find(target: number): number;
}

/**
 * @param offsets offsets of all batches, in elements of data; each is the first element of a slice of `slice` elements
 */
export function groupByTarget(offsets: Uint32Array, slice: number): TargetGroups {
  // Empty slices have no elements to hit or read.
  const total = slice === 0 ? 0 : offsets.length;
  // Target and position form a 64-bit key, so that sorting needs no comparison callback: 10^6 keys take 65 ms instead
  // of 280 ms.
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
