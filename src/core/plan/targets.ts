/**
 * The targets of a Plan, as gradients need them: the updates replaced by later ones, and the targets alone. These
 * functions take Plans as operators make them, never what `coarsen` returns.
 */

import { GRADIENTS, OFFSETS } from "../limits.ts";
import { absoluteOffsets, type Plan } from "./plan.ts";
import { targetSet } from "./repeats.ts";

/** A function of a Plan that computes its result once for a kept Plan. */
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
 * The slices of the sequential side that a later slice replaces: those of every position except the last of its target.
 */
export const replacedSlices = /* @__PURE__ */ once((plan): Uint32Array => {
  const { source, slice, batches, count } = plan;
  // Empty slices have no elements to write twice.
  if (slice === 0) return new Uint32Array();
  // Offsets that batches share repeat in every batch or in none.
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

/** A Plan whose targets lie side by side, in the order in which they are first addressed. */
export interface PackedPlan {
  /** The positions of the Plan, with offsets into the packed targets. The Plan has one batch. */
  readonly plan: Plan;
  /** The positions of the packed targets in data: a gather by this Plan packs them. No target repeats. */
  readonly targets: Plan;
  /** The number of positions of each target. */
  readonly counts: Uint32Array;
  /** A byte for each position: 1 where it is the first of its target. */
  readonly isFirst: Uint8Array;
}

/**
 * Like {@link packTargets}, but packs all of data if that is faster. The packed elements then include untouched ones,
 * so use it only for gradients in which an untouched element has its own gradient.
 */
export function packMost(plan: Plan): Omit<PackedPlan, "counts"> {
  const { slice, source, size } = plan;
  const offsets = absoluteOffsets(plan);
  const total = offsets.length;
  if (size > GRADIENTS.dense * slice * total) return packTargets(plan);
  const one = { offsets: new Uint32Array(1), slice: size, count: 1, size, batches: 1, span: size };
  const all = { offsets, slice, count: total, size, batches: 1, span: size };
  return { plan: { ...all, ...(source && { source }) }, targets: one, isFirst: NONE };
}

const NONE = new Uint8Array();

/** Packs the targets of a Plan, so that work on a few slices takes no memory of data's size. */
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
  const size = found * slice;
  const ofTargets = { offsets: targets.slice(0, found), count: found, size: plan.size };
  return {
    plan: {
      offsets: packed,
      slice,
      count: total,
      size,
      batches: 1,
      span: size,
      ...(source && { source }),
    },
    targets: { ...ofTargets, slice, batches: 1, span: plan.size },
    counts: counts.slice(0, found),
    isFirst,
  };
});

/** The positions of a Plan by target, in the order of the Plan. */
export interface SortedPlan {
  /** The targets in data, in elements. */
  readonly targets: Uint32Array;
  /** The end of each target's positions. */
  readonly ends: Uint32Array;
  /** Slices of the sequential side. */
  readonly positions: Uint32Array;
  /** True if the targets are all slices of data, in order, including those without a position. */
  readonly isWhole: boolean;
}

/** Without targets that have no position. */
export const sortByTarget = /* @__PURE__ */ once((plan) => sorted(plan, false));

/** With all slices of data as targets, which takes less time unless most of them have no position. */
export const sortAllTargets = /* @__PURE__ */ once((plan) => sorted(plan, true));

function sorted(plan: Plan, wantsAll: boolean): SortedPlan {
  const { slice, size, source } = plan;
  const offsets = absoluteOffsets(plan);
  // Merged rows may begin between the multiples of their length.
  const isWhole = wantsAll && size % slice === 0 && offsets.every((at) => at % slice === 0);
  const packed = isWhole ? null : packTargets(plan);
  const targets = packed?.targets.offsets ?? new Uint32Array(size / slice);
  if (isWhole) for (let t = 0; t < targets.length; t++) targets[t] = t * slice;
  const packedOffsets = packed?.plan.offsets ?? offsets;
  const ends = new Uint32Array(targets.length + 1);
  for (let p = 0; p < packedOffsets.length; p++) ends[packedOffsets[p] / slice + 1]++;
  for (let t = 1; t < ends.length; t++) ends[t] += ends[t - 1];
  // Each begin of a target moves to its end.
  const positions = new Uint32Array(packedOffsets.length);
  for (let p = 0; p < packedOffsets.length; p++) {
    positions[ends[packedOffsets[p] / slice]++] = source === undefined ? p : source[p];
  }
  return { targets, ends, positions, isWhole };
}

/**
 * Returns a function that gives the number of an offset's target, or `next` for a new offset. A table of all targets is
 * fastest; if the table would take far more memory than the offsets, a Map holds the offsets received.
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
    // Merged rows may begin between the multiples of their length, but never two at one multiple.
    const target = Math.floor(offset / slice);
    if (slots[target] === 0) slots[target] = next + 1;
    return slots[target] - 1;
  };
}
