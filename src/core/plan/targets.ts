/**
 * Facts about a Plan's targets: the positions that write where an earlier position has written, the updates that later
 * updates replace, and a packed and a sorted form of the targets, which gradients need.
 *
 * Duplicates are detected per index, so runs must not be merged first: these functions accept Plans that operators
 * create, but not results of `coarsen`, whose slices may partly overlap.
 */

import { GRADIENTS, OFFSETS } from "../limits.ts";
import { absoluteOffsets, planOf, type Plan } from "./plan.ts";

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
  const { slice, size, source } = plan;
  const offsets = absoluteOffsets(plan);
  const { length } = offsets;
  const isNew = targetSet(plan, length);
  const targets = new Uint32Array(length);
  const positions = new Uint32Array(length);
  // First positions fill the lists from the start, and later positions from the end.
  let end = 0;
  let begin = length;
  for (let p = 0; p < length; p++) {
    // Empty slices have no elements, so nothing is written twice.
    const at = slice === 0 || isNew(offsets[p]) ? end++ : --begin;
    targets[at] = offsets[p];
    positions[at] = source === undefined ? p : source[p];
  }
  const later = targets.slice(end).reverse();
  return {
    first: planOf(targets.slice(0, end), slice, size, positions.slice(0, end)),
    later: planOf(later, slice, size, positions.slice(end).reverse()),
  };
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
function targetSet({ slice, size }: Plan, count: number): (offset: number) => boolean {
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

/** Wraps a function of a Plan so that it computes its result only once for a kept Plan. */
const once =
  <T>(make: (plan: Plan) => T): ((plan: Plan) => T) =>
  (plan) => {
    const known = plan.derived?.get(make) as T | undefined;
    if (known !== undefined) return known;
    const made = make(plan);
    plan.derived?.set(make, made);
    return made;
  };

/**
 * Returns the slices of the sequential side that later slices replace: the slices of all positions that are not the
 * last with their target.
 */
export const replacedSlices: (plan: Plan) => Uint32Array = /* @__PURE__ */ once((plan) => {
  const { source, slice, batches, count } = plan;
  // Empty slices have no elements, so nothing is written twice.
  if (slice === 0) return new Uint32Array();
  // If batches share offsets, a target is repeated in every batch or in none.
  const isShared = plan.offsets.length === count;
  const offsets = isShared ? plan.offsets : absoluteOffsets(plan);
  const isNew = targetSet(plan, offsets.length);
  const replaced = new Uint32Array(offsets.length);
  let found = 0;
  for (let p = offsets.length - 1; p >= 0; p--) {
    if (!isNew(offsets[p])) replaced[found++] = source?.[p] ?? p;
  }
  const first = replaced.slice(0, found);
  if (!isShared || batches === 1 || found === 0) return first;
  return Uint32Array.from({ length: batches * found }, (_, p) => {
    const batch = Math.floor(p / found);
    return batch * count + first[p - batch * found];
  });
});

/** A Plan whose targets are contiguous, in the order in which they are first addressed. */
export interface PackedPlan {
  /** Original Plan with one batch, and with offsets into the packed targets. */
  readonly plan: Plan;
  /** Plan for packing the targets by a gather from data. No target is repeated. */
  readonly targets: Plan;
  /** Number of positions with each target. */
  readonly counts: Uint32Array;
  /** A byte for each position, which is 1 if the position is the first with its target. */
  readonly isFirst: Uint8Array;
}

/**
 * Packs targets like `packTargets`, or packs all of data if that is faster. The packed elements may then include
 * elements that no update changes, so use `packMost` only for gradients that handle such elements separately.
 */
export function packMost(plan: Plan): Omit<PackedPlan, "counts"> {
  const { slice, source, size } = plan;
  const offsets = absoluteOffsets(plan);
  const total = offsets.length;
  if (size > GRADIENTS.dense * slice * total) return packTargets(plan);
  const whole = planOf(new Uint32Array(1), size, size);
  return { plan: planOf(offsets, slice, size, source), targets: whole, isFirst: NONE };
}

const NONE = new Uint8Array();

/** Packs the targets of a Plan, so that work on a few slices does not need memory of data's size. */
export const packTargets = /* @__PURE__ */ once((plan): PackedPlan => {
  const { slice, source } = plan;
  const offsets = absoluteOffsets(plan);
  const total = offsets.length;
  const slotOf = slotTable(plan, total);
  const packed = new Uint32Array(total);
  const targets = new Uint32Array(total);
  const counts = new Uint32Array(total);
  const isFirst = new Uint8Array(total);
  let found = 0;
  for (let p = 0; p < total; p++) {
    const slot = slotOf(offsets[p], found);
    if (slot === found) {
      isFirst[p] = 1;
      targets[found++] = offsets[p];
    }
    counts[slot]++;
    packed[p] = slot * slice;
  }
  return {
    plan: planOf(packed, slice, found * slice, source),
    targets: planOf(targets.slice(0, found), slice, plan.size),
    counts: counts.slice(0, found),
    isFirst,
  };
});

/** The positions of a Plan, grouped by target, in Plan order within each group. */
export interface SortedPlan {
  /** Start of each target in data, in elements. */
  readonly targets: Uint32Array;
  /** End of each target's group in `positions`. */
  readonly ends: Uint32Array;
  /** Slices of the sequential side, grouped by target. */
  readonly positions: Uint32Array;
  /** True if the targets are all slices of data, in order, including slices without a position. */
  readonly isWhole: boolean;
}

/** Groups the positions of a Plan by target, for targets that have positions. */
export const sortByTarget = /* @__PURE__ */ once((plan) => sorted(plan, false));

/**
 * Groups the positions of a Plan by target, with all slices of data as targets, which takes less time unless most
 * slices have no position.
 */
export const sortAllTargets = /* @__PURE__ */ once((plan) => sorted(plan, true));

function sorted(plan: Plan, wantsAll: boolean): SortedPlan {
  const { slice, size, source } = plan;
  const offsets = absoluteOffsets(plan);
  // Merged rows may begin at offsets that are not multiples of their length.
  const isWhole = wantsAll && size % slice === 0 && offsets.every((at) => at % slice === 0);
  const packed = isWhole ? null : packTargets(plan);
  const targets = packed?.targets.offsets ?? new Uint32Array(size / slice);
  if (isWhole) for (let t = 0; t < targets.length; t++) targets[t] = t * slice;
  const packedOffsets = packed?.plan.offsets ?? offsets;
  const ends = new Uint32Array(targets.length + 1);
  for (let p = 0; p < packedOffsets.length; p++) ends[packedOffsets[p] / slice + 1]++;
  for (let t = 1; t < ends.length; t++) ends[t] += ends[t - 1];
  // Each entry of `ends` advances from the start of its target's group to the end.
  const positions = new Uint32Array(packedOffsets.length);
  for (let p = 0; p < packedOffsets.length; p++) {
    positions[ends[packedOffsets[p] / slice]++] = source === undefined ? p : source[p];
  }
  return { targets, ends, positions, isWhole };
}

/**
 * Returns a function that returns the number of an offset's target, or `next` for a new offset. A table of all targets
 * is fastest; if the table would take far more memory than the offsets, a Map stores the offsets seen.
 */
function slotTable({ slice, size }: Plan, count: number): (offset: number, next: number) => number {
  const targets = slice === 0 ? 0 : Math.ceil(size / slice);
  if (slice === 0 || 4 * targets > OFFSETS.bits * count + OFFSETS.leastBits) {
    const slots = new Map<number, number>();
    return (offset, next) => {
      const known = slots.get(offset);
      if (known === undefined) slots.set(offset, next);
      return known ?? next;
    };
  }
  const slots = new Uint32Array(targets);
  return (offset, next) => {
    // Merged rows may begin at offsets that are not multiples of their length, but different rows have different
    // quotients.
    const target = Math.floor(offset / slice);
    if (slots[target] === 0) slots[target] = next + 1;
    return slots[target] - 1;
  };
}
