/**
 * Finds repeated targets: positions of a Plan that write where an earlier position has written.
 *
 * Duplicates are detected per index, so runs must not be merged first: these functions accept Plans that operators
 * create, but not results of `coarsen`, whose slices may partly overlap.
 */

import { OFFSETS } from "../limits.ts";
import { absoluteOffsets, type Plan } from "./plan.ts";

/**
 * Two positions of a Plan with the same target. A position is the number of an index, or of a tuple, in row-major
 * order.
 */
export interface Repeat {
  readonly position: number;
  /** First position with the same target. */
  readonly earlier: number;
  /** Start of the target on the random side, in elements. */
  readonly target: number;
}

/** Finds the first position with the same target as an earlier position; returns null if no target is repeated. */
export function firstRepeat(plan: Plan): Repeat | null {
  // Empty slices have no elements, so nothing is written twice.
  if (plan.slice === 0) return null;
  const offsets = absoluteOffsets(plan);
  const isNew = targetSet(plan, offsets.length);
  const positionOf = (p: number): number => plan.source?.[p] ?? p;
  for (let p = 0; p < offsets.length; p++) {
    const target = offsets[p];
    if (isNew(target)) continue;
    return { position: positionOf(p), earlier: positionOf(offsets.indexOf(target)), target };
  }
  return null;
}

/**
 * Splits a Plan in two: `first` has the first position of each target, and `later` has all other positions, both in the
 * order of `plan`. Each part has one batch, and its `source` gives the update for each offset.
 */
export function split(plan: Plan): { first: Plan; later: Plan } {
  const { slice, size } = plan;
  const offsets = absoluteOffsets(plan);
  const total = offsets.length;
  const isNew = targetSet(plan, total);
  const positions = { first: new Uint32Array(total), later: new Uint32Array(total) };
  const targets = { first: new Uint32Array(total), later: new Uint32Array(total) };
  const filled = { first: 0, later: 0 };
  for (let p = 0; p < total; p++) {
    const target = offsets[p];
    // Empty slices have no elements, so nothing is written twice.
    const part = slice === 0 || isNew(target) ? "first" : "later";
    positions[part][filled[part]] = plan.source?.[p] ?? p;
    targets[part][filled[part]++] = target;
  }
  const planOf = (part: "first" | "later"): Plan => ({
    offsets: targets[part].slice(0, filled[part]),
    source: positions[part].slice(0, filled[part]),
    slice,
    count: filled[part],
    size,
    batches: 1,
    span: size,
  });
  return { first: planOf("first"), later: planOf("later") };
}

/**
 * Returns the number of positions with each target, in both parts of a `split` together, in the order of `first`.
 */
export function countTargets(first: Plan, later: Plan): Uint32Array {
  const repeats = new Map<number, number>();
  for (const target of later.offsets) repeats.set(target, (repeats.get(target) ?? 0) + 1);
  return first.offsets.map((target) => 1 + (repeats.get(target) ?? 0));
}

/**
 * Returns a function that returns true for an offset that it has not seen before. One bit per slice of the random side
 * is fastest; if the bits would take far more memory than the offsets, a Set stores the offsets seen.
 */
export function targetSet({ slice, size }: Plan, count: number): (offset: number) => boolean {
  const targets = slice === 0 ? 0 : size / slice;
  if (targets / 8 > OFFSETS.bits * count + OFFSETS.leastBits) {
    const seen = new Set<number>();
    return (offset) => seen.size < seen.add(offset).size;
  }
  const seen = new Uint32Array(Math.ceil(targets / 32));
  return (offset) => {
    const target = offset / slice;
    const word = Math.floor(target / 32);
    const bit = 1 << (target % 32);
    const isNew = (seen[word] & bit) === 0;
    seen[word] |= bit;
    return isNew;
  };
}
